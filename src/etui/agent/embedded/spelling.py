"""Slips of the finger put right: "tmer" is "timer" where the tools know that word and nobody knows "tmer".

Above: understand. Below: the vocabulary of the model, which holds the common words of English. It refuses to change what is
handed on: only the word that is matched changes, an argument keeps what was typed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from etui.agent.embedded.wordpiece import vocabulary
from etui.agent.embedded.words import STOP, Word


def spelt(words: Sequence[Word], known: Collection[str]) -> list[Word]:
    """The words, each that is no word put right by the one word of `known` that is a slip away."""
    return [word._replace(text=_right(word.text, known)) if _strange(word.text, known) else word for word in words]


def _strange(text: str, known: Collection[str]) -> bool:
    return (
        len(text) >= 4
        and text.isalpha()
        and text.isascii()
        and text not in known
        and text not in STOP
        and text not in vocabulary()
    )


def _right(text: str, known: Collection[str]) -> str:
    most = 2 if len(text) >= 8 else 1
    near: list[tuple[int, str]] = []
    for word in known:
        if len(word) >= 4 and abs(len(word) - len(text)) <= most and {word[0], word[1]} & {text[0], text[1]}:
            slips = _slips(text, word, most)
            if slips <= most:
                near.append((slips, word))
    near.sort()
    return near[0][1] if near and (len(near) == 1 or near[1][0] > near[0][0]) else text


def _slips(one: str, two: str, most: int) -> int:
    """Letters left out, put in, changed, or swapped with their neighbour; counted no further than just above `most`."""
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, letter in enumerate(one, 1):
        line = [i]
        for j, other in enumerate(two, 1):
            cost = min(row[j] + 1, line[j - 1] + 1, row[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == two[j - 2] and one[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            line.append(cost)
        if min(line) > most:
            return most + 1
        before, row = row, line
    return row[-1]
