"""One answer of a model, heard to its end: words told as they come, calls put together and named as they were offered.

Above: `loop`. Below: `model`, asked through `patience`; `sieve` and `tags` for its words, `odd` for its calls. It refuses to
know: sessions, the store, and whether a call will run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing

import msgspec

from etui.agent.history import Picture, clean
from etui.agent.model import Ask, CallPart, End, Meta, Model, Text, ToolView
from etui.agent.odd import Joiner, arguments_of, resolve
from etui.agent.patience import patient
from etui.agent.sieve import Sieve
from etui.agent.tags import Tags
from etui.agent.told import Told
from etui.agent.written import several, unwrapped

PLAIN = "embedded"
"""The model that writes no tags: what stands in its words is what a tool gave, or a person wrote."""
QUOTING = (PLAIN, Told.name)
"""Those in whose words no call counts: they say what tools and plugins gave them, and call by other means."""


class Wanted(msgspec.Struct, frozen=True):
    """A call that the model wants."""

    tool: str
    arguments: object
    """An object, or the raw text where it could not be read as one."""
    known: bool = True
    """False for a call in the text whose name is not exactly one that was offered: it is reported and never run."""


class Answer(msgspec.Struct):
    """What was heard so far; whole once `listen` returns, and what there is of it when that is cut short."""

    text: str = ""
    """The words, as they were told."""
    after: str = ""
    """Words behind a call, which wait for its result: they may have to be dropped."""
    calls: list[Wanted] = msgspec.field(default_factory=list)
    pictures: list[Picture] = msgspec.field(default_factory=list)
    meta: dict[str, object] = msgspec.field(default_factory=dict)
    why: str = "stop"
    unreadable: int = 0
    """Calls in the text that could not be read."""


def nobody(what: str) -> None:
    """For whom it is all the same."""


async def listen(
    answer: Answer,
    model: Model,
    ask: Ask,
    say: Callable[[str], None],
    look: Callable[[str], None] = nobody,
    known: Sequence[ToolView] = (),
    unsay: Callable[[str], None] = nobody,
    waits: Callable[[str], None] = nobody,
) -> None:
    """Hear the model out, filling `answer` and saying its words as they come; raises ModelError.

    `known` are tools that were offered before: a call of one of them is a call where none are offered any more, and no words.
    Tags such as `[happy]` are no words; `look` is told the face of the first one, before the words that follow it.
    `unsay` is told the words of this answer that turned out to be thinking; `waits`, in a line, that the provider is busy.
    """
    tools = ask.tools or known
    sieve = Sieve({tool.name: tool.parameters for tool in tools})
    quoting = model.name in QUOTING
    tags = Tags() if model.name != PLAIN else None
    joiner = Joiner()
    called = False

    halves = _Halves()

    def heard(words: str, last: bool = False) -> None:
        if tags is not None:
            before = tags.face
            words = tags.feed(words) + (tags.close() if last else "")
            if tags.face and not before:
                look(tags.face)
        if called or sieve.calls:
            answer.after += words
        elif words:
            answer.text += words
            say(words)

    def sifted(words: str) -> str:
        nonlocal tags
        if quoting:
            return words
        shown = sieve.feed(words)
        if sieve.mistaken:
            sieve.mistaken = False
            unsay(answer.text)
            answer.text = answer.after = ""
            tags = Tags() if tags is not None else None
        return shown

    async with aclosing(patient(model, ask, waits)) as stream:
        async for part in stream:
            if isinstance(part, Text):
                heard(sifted(halves.joined(part.text)))
            elif isinstance(part, CallPart):
                if not called:
                    heard("", last=True)
                called = True
                joiner.add(part.index, part.id, part.name, part.arguments)
            elif isinstance(part, Picture):
                answer.pictures.append(part)
            elif isinstance(part, Meta):
                answer.meta |= part.data
            elif isinstance(part, End):
                answer.why = part.why
    heard(sieve.close(), last=True)
    answer.calls = _wanted(joiner, sieve, tools)
    answer.unreadable = sieve.unreadable


class _Halves:
    """Joins characters that a server cut in two, and replaces what is no character at all."""

    def __init__(self) -> None:
        self._half = ""

    def joined(self, text: str) -> str:
        text, self._half = self._half + text, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return clean(text)


def _wanted(joiner: Joiner, sieve: Sieve, tools: Sequence[ToolView]) -> list[Wanted]:
    schemas = {tool.name: tool.parameters for tool in tools}
    native: list[Wanted] = []
    for call in joiner.calls():
        name, arguments = resolve(call.name, schemas), arguments_of(call.arguments)
        inner = [] if name in schemas else several(arguments)
        called = [(resolve(one.name, schemas), one.arguments) for one in inner] or [(name, arguments)]
        native += [Wanted(tool, unwrapped(tool, given, schemas.get(tool, {}))) for tool, given in called]
    written = [Wanted(call.name, arguments_of(call.arguments), call.name in schemas) for call in sieve.calls]
    return native + written
