"""Which tools a sentence may mean: strict templates first, then nearness in meaning and in words.

Above: understand. Below: known, templates, vectors, tfidf. It refuses to fill arguments and to decide: it ranks. A thousand
tools are no burden: templates are found by the words they need, and vectors are made once, the likeliest first.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

import msgspec
import numpy as np
import numpy.typing as npt

from etui.agent.embedded.align import Match, align
from etui.agent.embedded.chatter import CHATTER
from etui.agent.embedded.durations import UNITS
from etui.agent.embedded.known import Known, known, strength
from etui.agent.embedded.parameters import Kind
from etui.agent.embedded.reading import Reading
from etui.agent.embedded.spelling import spelt
from etui.agent.embedded.templates import Template
from etui.agent.embedded.tfidf import Tfidf
from etui.agent.embedded.vectors import Vector, Vectors
from etui.agent.embedded.words import NUMBER_WORDS, Word, bare, cut
from etui.agent.model import ToolView

AT_ONCE = 300
"""Texts whose vectors a first sentence waits for; the rest are made behind its back."""


_MOST_WORDS = 5000
_TELLING = {Kind.SUM, Kind.UNIT, Kind.DURATION, Kind.ADDRESS}


class Ranked(msgspec.Struct, frozen=True):
    """A tool and how near a sentence is to it."""

    known: Known
    score: float
    """0 to 1: meaning and words together."""
    meaning: float
    words: float


class Ranking(msgspec.Struct, frozen=True):
    """The tools, nearest first, and how near the sentence is to idle talk."""

    tools: tuple[Ranked, ...]
    chatter: float


class Index:
    """The tools of one session, ready to be chosen from."""

    def __init__(self, tools: Sequence[ToolView], vectors: Vectors) -> None:
        self.tools = tuple(known(view) for view in tools)
        self._vectors = vectors
        self._rows: list[tuple[int, str]] = [(number, text) for number, tool in enumerate(self.tools) for text in tool.texts]
        self._owners = np.array([number for number, _ in self._rows], np.int64)
        self._matrix: npt.NDArray[np.float32] | None = None
        self._chatter: npt.NDArray[np.float32] | None = None
        self._words: dict[str, Vector] = {}
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._tfidf = Tfidf([[bare(word.text) for word in cut(text)] for _, text in self._rows])
        self._templates: list[tuple[Known, Template]] = [
            (tool, one) for tool in self.tools for one in tool.templates if not one.derived
        ]
        self._needing: dict[str, list[int]] = defaultdict(list)
        self._free: list[int] = []
        for number, (_, template) in enumerate(self._templates):
            for root in template.needs:
                self._needing[root].append(number)
            if not template.needs:
                self._free.append(number)

    @cached_property
    def _common(self) -> frozenset[str]:
        """The words of the tools' own sentences, and those of time and number."""
        own = {item for _, template in self._templates for item in template.items if isinstance(item, str)}
        return frozenset(own | NUMBER_WORDS | set(UNITS) | {"tomorrow", "tonight", "morning", "evening", "afternoon"})

    def spelt(self, words: Sequence[Word]) -> list[Word]:
        """The words with slips of the finger put right."""
        return spelt(words, self._common)

    def by_name(self, name: str) -> Known | None:
        """The tool of that name, if the session has it."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def strict(self, reading: Reading) -> list[tuple[Known, Match]]:
        """The templates into which the whole sentence fits, the one that explains most first; one for each tool."""
        counts: dict[int, int] = defaultdict(int)
        for root in set(reading.roots):
            for number in self._needing.get(root, ()):
                counts[number] += 1
        hits = [number for number, count in counts.items() if count == len(self._templates[number][1].needs)] + self._free
        best: dict[str, tuple[Known, Match]] = {}
        for number in sorted(hits):
            tool, template = self._templates[number]
            match = align(template, tool.parameters, reading, strict=True)
            if match and (tool.name not in best or strength(tool, match) > strength(tool, best[tool.name][1])):
                best[tool.name] = tool, match
        return sorted(best.values(), key=lambda pair: -strength(*pair))

    def rank(self, reading: Reading, sentence: str, most: int = 5, also: Sequence[Known] = ()) -> Ranking:
        """The tools nearest to the sentence, and `also` these."""
        if not self._rows:
            return Ranking((), 0.0)
        words = self._tfidf.scores(reading.roots)
        vector = self._vectors.of(sentence)
        meaning = self._meanings(words) @ vector
        scores = 0.65 * meaning + 0.35 * words
        best = np.full(len(self.tools), -1.0, np.float32)
        np.maximum.at(best, self._owners, scores)
        ranked = []
        order = [int(number) for number in np.argsort(-best)]
        fitting = [number for number in order if self._takes(self.tools[number], reading)][:2]
        named = [number for number in order if self.tools[number] in also] if also else []
        for number in dict.fromkeys([*order[:most], *fitting, *named]):
            rows = np.flatnonzero(self._owners == number)
            ranked.append(Ranked(self.tools[number], float(best[number]), float(meaning[rows].max()), float(words[rows].max())))
        return Ranking(tuple(ranked), float((self._idle() @ vector).max()))

    def _takes(self, tool: Known, reading: Reading) -> bool:
        """True if the sentence holds a value that only few tools want: a sum, units, a length of time, an address."""
        return any(
            parameter.kind in _TELLING and any(reading.values(parameter, at) for at in range(len(reading.words)))
            for parameter in tool.parameters.values()
        )

    def framed(self, frames: Sequence[tuple[Known, str, Sequence[str]]]) -> list[tuple[float, float, float]]:
        """How near frames are to their tools: sentences whose values gave way to the likely ones of the tool's own sentences.

        Each is a tool, a sentence and the roots of its words; each gives its nearness in meaning and in words, and that of
        idle talk.
        """
        vectors = self._vectors.fresh([sentence for _, sentence, _ in frames])
        found = []
        for (tool, _, roots), vector in zip(frames, vectors, strict=True):
            rows = [row for row, (owner, _) in enumerate(self._rows) if self.tools[owner] is tool]
            meaning = float((self._vectors.of_all([self._rows[row][1] for row in rows]) @ vector).max())
            words = float(self._tfidf.scores(roots)[rows].max())
            found.append((meaning, words, float((self._idle() @ vector).max())))
        return found

    def alike(self, words: Sequence[str], others: Sequence[str]) -> float:
        """How near the nearest two of some words and some others are in meaning."""
        if len(self._words) > _MOST_WORDS:
            self._words.clear()
        new = [word for word in dict.fromkeys([*words, *others]) if word not in self._words]
        self._words.update(zip(new, self._vectors.fresh(new), strict=True))
        pairs = ((self._words[one], self._words[two]) for one in words for two in others)
        return max((float(one @ two) for one, two in pairs), default=0.0)

    def warm(self, stop: threading.Event) -> None:
        """Makes every vector now, unless `stop` is set before."""
        self._vectors.make([*CHATTER, *[text for _, text in self._rows]], stop)

    def stop(self) -> None:
        """Ends what is made behind the back of a sentence, and waits for it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _idle(self) -> npt.NDArray[np.float32]:
        if self._chatter is None:
            self._chatter = self._vectors.of_all(CHATTER)
        return self._chatter

    def _meanings(self, words: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The vectors of all rows; while those of many tools are still being made, the rows nearest in words and zeros."""
        if self._matrix is not None:
            return self._matrix
        texts = [text for _, text in self._rows]
        missing = self._vectors.missing(texts)
        if len(missing) <= AT_ONCE:
            self._matrix = self._vectors.of_all(texts)
            return self._matrix
        if self._thread is None:
            # No daemon: one that is inside onnxruntime while the interpreter ends takes the process down with it.
            self._thread = threading.Thread(target=self._vectors.make, args=(missing, self._stop), name="etui-vectors")
            self._thread.start()
        near = [texts[row] for row in np.argsort(-words)[:64] if words[row] > 0]
        self._vectors.of_all(near)
        return self._vectors.known(texts)
