"""How alike sentences are by their words: TF-IDF over words and pairs of words, through an inverted index.

Above: choose. Below: words and numpy. It refuses to know meanings: that is what `vectors` is for.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from etui.agent.embedded.words import ARTICLES, STOP


def terms(roots: Sequence[str]) -> Counter[str]:
    """The words that count and the pairs of neighbours."""
    kept = [root for root in roots if root and root not in ARTICLES]
    return Counter([root for root in kept if root not in STOP] + [f"{one} {two}" for one, two in itertools.pairwise(kept)])


class Tfidf:
    """An index of sentences, each a sequence of roots."""

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        counts = [terms(sentence) for sentence in sentences]
        seen = Counter(term for count in counts for term in count)
        self._many = len(counts)
        self._weight = {term: math.log((1 + self._many) / (1 + often)) + 1 for term, often in seen.items()}
        postings: dict[str, list[tuple[int, float]]] = {}
        for number, count in enumerate(counts):
            weights = {term: (1 + math.log(often)) * self._weight[term] for term, often in count.items()}
            norm = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
            for term, weight in weights.items():
                postings.setdefault(term, []).append((number, weight / norm))
        self._postings = {
            term: (np.array([number for number, _ in rows]), np.array([weight for _, weight in rows], np.float32))
            for term, rows in postings.items()
        }

    def scores(self, roots: Sequence[str]) -> npt.NDArray[np.float32]:
        """The cosine with every sentence; words that the index never saw do not count."""
        found = np.zeros(self._many, np.float32)
        wanted = {
            term: (1 + math.log(often)) * self._weight[term] for term, often in terms(roots).items() if term in self._weight
        }
        norm = math.sqrt(sum(weight * weight for weight in wanted.values())) or 1.0
        for term, weight in wanted.items():
            numbers, weights = self._postings[term]
            found[numbers] += weights * np.float32(weight / norm)
        return found
