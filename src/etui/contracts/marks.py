"""Marks in a result's text that stand for something to be drawn: pictures, galleries, files, questions.

They are for the console, which draws them; whoever reads the text without drawing it gets it without them. Above: Sapphire's
results, and everything that tells a result in words. Below: json. It refuses to know: how they are drawn, and who writes them.
A mark lies in one line. However a text is made, reading it takes time in proportion to its length.
"""

from __future__ import annotations

import json
import re

_TAG = re.compile(r"<<[A-Z]++::(?:[^<>\n]++|<(?!<))++>>\s*")
_OPEN = re.compile(r"<!--(?:GALLERY:[\[{]|(?:FILES|ASK):\{)")
_NAMED = re.compile(r'"name": "((?:[^"\\\n]|\\.){1,200})"')
_FILES = re.compile(r"^<!--FILES:\{.*\}-->", re.MULTILINE)
_ONE = {kind: re.compile(rf"<!--{kind}:\{{") for kind in ("FILES", "ASK")}


def unmarked(text: str) -> str:
    """The text without them."""
    if "<" not in text:
        return text
    return _cut(_TAG.sub("", text), _OPEN)


def offered(text: str) -> list[str]:
    """The names of the files that such marks offer the person."""
    return [json.loads(f'"{name}"') for mark in _FILES.findall(text) for name in _NAMED.findall(mark)]


def without(text: str, kind: str) -> str:
    """The text without those of one kind, `FILES` or `ASK`."""
    return _cut(text, _ONE[kind])


def _cut(text: str, beginning: re.Pattern[str]) -> str:
    kept: list[str] = []
    at = 0
    while found := beginning.search(text, at):
        line = text.find("\n", found.end())
        line = len(text) if line < 0 else line
        end = text.rfind("}-->", found.end(), line)
        gallery = found[0].startswith("<!--G")
        if gallery:
            end = max(end, text.rfind("]-->", found.end(), line))
        if end < 0:
            kept.append(text[at:line])
            at = line
            continue
        kept.append(text[at : found.start()])
        at = _after(text, end + 4, everything=gallery)
    return "".join((*kept, text[at:])) if kept else text


def _after(text: str, at: int, *, everything: bool) -> int:
    """Where the text goes on: behind all white space, or behind blanks and one end of a line."""
    blank = " \t\r\n\f\v" if everything else " \t"
    while at < len(text) and text[at] in blank:
        at += 1
    return at + 1 if not everything and text[at : at + 1] == "\n" else at
