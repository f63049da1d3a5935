"""A command cut into words and operators, as a shell would. Above: what judges commands. It refuses to know: programs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec

LONGEST = 20_000
"""Characters of a command that are still read."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_SPECIAL = re.compile(r"[;&|`\n\r\0<>${}()\\]")
"""Characters by which a shell does more than run one program with the words that stand there."""
_TOKEN = re.compile(
    r"""\\\n | \\(?P<escaped>.) | '(?P<single>[^']*)' | "(?P<double>(?:\\.|[^"\\])*)" | (?P<end>[;&|()\n]+|<\(|>\()"""
    r"""| (?P<redirect>[<>]+&?) | (?P<blank>[ \t\r]+) | (?P<plain>.)""",
    re.VERBOSE | re.DOTALL,
)
_IN_DOUBLE = re.compile(r'\\(["\\$`\n])')
_KEYWORDS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{"})
_BACKTICKS = re.compile(r"`([^`]*)`")


class Line(msgspec.Struct, frozen=True):
    """One program of a command, with its words."""

    words: tuple[str, ...]
    handed: bool
    """Another program's output is put into it."""


def named(names: str) -> frozenset[str]:
    """The names in a text, as a set."""
    return frozenset(names.split())


def words(command: str) -> list[str]:
    """The words of a command as a shell takes them; none where it cannot be read."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def family(command: str) -> str:
    """The program that a command begins with; empty where it cannot be read."""
    return next(iter(words(command)), "")


def program(word: str) -> str:
    """What a program is called, without its folder and in small letters."""
    return Path(word).name.lower()


def is_plain(command: str) -> bool:
    """Whether it is one program with its words, and nothing that a shell would do besides."""
    return not _SPECIAL.search(command)


def lines(command: str) -> Iterator[Line]:
    """The single programs of a command, as they stand there; quotes are taken off, and nothing is filled in."""
    line: list[str] = []
    before = ""
    for text, operator in [*_tokens(command), (";", True)]:
        if not operator:
            line.append(text)
            continue
        if bare := _from_program(line):
            yield Line(tuple(bare), handed=("|" in before and "||" not in before) or text.startswith("<("))
        line, before = [], text


def inside(command: str) -> Iterator[str]:
    """Commands whose output is put into this one in backticks or within quotes."""
    yield from _BACKTICKS.findall(command)
    for found in _TOKEN.finditer(command):
        quoted = found["double"] or ""
        if "$(" in quoted:
            yield quoted.replace("$(", "(")


def _tokens(command: str) -> Iterator[tuple[str, bool]]:
    """Words, and the operators that end a program (True). What redirects is a word by itself."""
    word: str | None = None
    for found in _TOKEN.finditer(command):
        kind = found.lastgroup
        if kind in ("end", "redirect", "blank"):
            if word is not None:
                yield word, False
            word = None
            if kind != "blank":
                yield found[0], kind == "end"
        elif kind is not None:
            word = (word or "") + (_IN_DOUBLE.sub(r"\1", found[0][1:-1]) if kind == "double" else found[kind])
    if word is not None:
        yield word, False


def _from_program(line: list[str]) -> list[str]:
    """The line without what may stand before its program: assignments, keywords, redirections."""
    at = 0
    while at < len(line):
        word, then = line[at], line[at + 1] if at + 1 < len(line) else ""
        if _redirects(word):
            at += 2
        elif word in _KEYWORDS or _ASSIGNMENT.match(word) or (word.isdigit() and _redirects(then)):
            at += 1
        elif word == "function":
            at += 2
        else:
            break
    return line[at:]


def _redirects(word: str) -> bool:
    return word[:1] in ("<", ">") and not word.strip("<>&")
