"""Does a command only read, and only in its folder? Below: `words`. What a pattern stands for is looked up as a shell would."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from pathlib import Path

from etui.commands.words import LONGEST, is_plain, named, words

READERS = named(
    "ls pwd echo cat head tail wc grep rg find stat whoami id date uname true printf sort uniq cut tr mkdir base64 xxd od "
    "strings hexdump tac nl"
)
"""Programs that only read (`mkdir` makes what was not there), if no option says otherwise and every path is inside."""
_NOT_READING = {
    "find": named("-exec -execdir -ok -okdir -delete -fprint -fprintf -fprint0 -fls -L -follow -files0-from"),
    "rg": named("--pre --pre-glob --hostname-bin --follow -L"),
    "grep": named("-R --dereference-recursive"),
    "sort": named("-o --output --compress-program --files0-from -T --temporary-directory"),
    "tail": named("-f -F --follow --retry"),
    "date": named("-s --set"),
    "wc": named("--files0-from"),
    "xxd": named("-r -revert"),
}
"""Options with which they write, start something, never end, or leave the folder."""
_ONE_OPERAND = frozenset({"uniq", "xxd"})
"""Readers that write into a second file."""
_DATE_VALUE = re.compile(r"-\w*[dfr]|--(date|file|reference)")
"""Options of `date` whose value follows; every other operand that is no format sets the clock."""
_PATTERN = re.compile(r"[*?\[]")
_BRACKETS = re.compile(r"\[.*")
_LOOKED_AT = 5000
"""Names of files among which a pattern is looked up."""
_OPTION = 200
"""Characters of an option that are still read."""


def only_reads(command: str, folder: Path) -> bool:
    """Whether it is one reading program, and everything it names lies in the folder."""
    if len(command) > LONGEST or not is_plain(command):
        return False
    line = words(command)
    if not line or line[0] not in READERS:
        return False
    try:
        root = folder.resolve()
        rest = [one for word in line[1:] for one in (word, *_stands_for(word, root))]
    except (OSError, ValueError, RuntimeError):
        return False
    if _writes(line[0], rest):
        return False
    refused = _NOT_READING.get(line[0], frozenset())
    return not any(_takes(word, refused, line[0]) or not _stays(word, root) for word in rest)


def _writes(name: str, rest: list[str]) -> bool:
    """Whether one of its operands is what it writes to, or sets."""
    if name == "date":
        pairs = zip(["", *rest], rest, strict=False)
        return any(word[:1] not in ("-", "+") and not _DATE_VALUE.fullmatch(before) for before, word in pairs)
    after = rest.index("--") if "--" in rest else len(rest)
    operands = [word for word in rest[:after] if word == "-" or not word.startswith("-")] + rest[after + 1 :]
    return name in _ONE_OPERAND and len(operands) > 1


def _takes(word: str, refused: frozenset[str], name: str) -> bool:
    """Whether the word is one of these options, shortened, with its value, or among others in one cluster."""
    if not word.startswith("-") or word == "-":
        return False
    option = word.split("=", 1)[0]
    if option in refused:
        return True
    if option.startswith("--"):
        return len(option) > 2 and any(one.startswith(option) for one in refused)
    return name != "find" and any(f"-{letter}" in refused for letter in option[1:])


def _stays(word: str, root: Path) -> bool:
    """Whether the word, or what an option carries, names nothing outside of the folder."""
    if word.startswith("--"):
        word = word.partition("=")[2]
    elif word.startswith("-"):
        # The value of the last option in a cluster may begin at any place.
        return len(word) <= _OPTION and all(_inside(word[at:].lstrip("="), root) for at in range(2, len(word)))
    return _inside(word, root)


def _inside(word: str, root: Path) -> bool:
    if word.startswith("~"):
        return False
    try:
        return not word or (root / word).resolve().is_relative_to(root)
    except (OSError, ValueError, RuntimeError):
        return False


def _stands_for(word: str, root: Path) -> Iterator[str]:
    """What a shell may put in place of a pattern, rather more than less. Raises ValueError where that is too much."""
    if not _PATTERN.search(word):
        return
    found, looked = [""], 0
    for part in word.split("/"):
        if not _PATTERN.search(part):
            found = [os.path.join(base, part) for base in found]  # noqa: PTH118 (a word, not a place)
            continue
        pattern, bases, found = _BRACKETS.sub("*", part), found, []
        for base in bases:
            if not _inside(base, root):
                raise ValueError("it leads out of the folder")
            if not (root / base).is_dir():
                continue
            with os.scandir(root / base) as entries:
                for entry in entries:
                    looked += 1
                    if looked > _LOOKED_AT:
                        raise ValueError("it stands for too much")
                    if fnmatch.fnmatchcase(entry.name, pattern):
                        found.append(os.path.join(base, entry.name))  # noqa: PTH118
    yield from found
