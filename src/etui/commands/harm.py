"""Could a command do harm that cannot be undone? It sees through wrappers, shells, quotes, substitutions. Below: `words`."""

from __future__ import annotations

import re

from etui.commands.saving import INTERPRETERS, WRAPPERS
from etui.commands.words import LONGEST, Line, inside, lines, named, program

MOST = 300
"""Words of a line that is given to another program, and programs of a command, that are still read."""
_DEEPEST = 4
"""Commands within commands."""
_TOO_LONG = "it is too long to be read"
_OTHERS_RIGHTS = named("sudo su doas pkexec runuser")
_DISKS = named("fdisk parted wipefs sfdisk cfdisk shred truncate mkswap blkdiscard")
_POWER = named("shutdown reboot halt poweroff")
_SHELLS = named("sh bash zsh dash ksh fish ash")
_RECURSIVE = named("chmod chown chgrp")
_OPEN = re.compile(r"[$`*?]|\{.*,")
"""A word that is another one when it runs."""
_BOMB = re.compile(r":\s*\(\s*\)\s*\{")
_OVER = re.compile(r">\s*(/dev/(sd|hd|nvme|vd|disk|mapper)|[^\s<>]{0,200}\.(bash_history|ssh/|aws/|gnupg/))")
_SAID = named("--version -V --help")
_GIT_VALUE = named("-C -c --git-dir --work-tree --namespace --config-env --super-prefix")


def destroys(command: str) -> str:
    """In a few words why this command could do harm that cannot be undone; empty if nothing of that kind shows."""
    return _within(command, _DEEPEST)


def _within(command: str, deep: int) -> str:
    if len(command) > LONGEST or not deep:
        return _TOO_LONG
    if _BOMB.search(command):
        return "it starts itself without end"
    for count, line in enumerate(lines(command)):
        if count == MOST:
            return _TOO_LONG
        if why := _line_harms(line, deep):
            return why
    if _OVER.search(command):
        return "it writes over a disk or keys"
    return next((why for inner in inside(command) if (why := _within(inner, deep - 1))), "")


def _line_harms(line: Line, deep: int) -> str:
    name, rest = program(line.words[0]), list(line.words[1:])
    if _OPEN.search(line.words[0]):
        return "what it runs does not show before it runs"
    if why := _harm(name, rest):
        return why
    if line.handed and _takes_code(name, rest):
        return "it runs what another program hands it"
    shell = name in _SHELLS
    if not shell and name not in WRAPPERS:
        return ""
    if len(rest) > MOST:
        return _TOO_LONG
    if not shell:
        given = (_harm(program(word), rest[at + 1 :]) for at, word in enumerate(rest) if not word.startswith("-"))
        if why := next((why for why in given if why), ""):
            return why
    texts = [" ".join(rest)] if name == "eval" else [word for word in rest if re.search(r"[\s$`;&|]", word)]
    return next((why for text in texts if (why := _within(text.partition("=")[2] if name == "alias" else text, deep - 1))), "")


def _takes_code(name: str, rest: list[str]) -> bool:
    """Whether it runs what comes in, because it is told to run nothing else."""
    told = [program(word) for word in rest if not word.startswith("-")]
    last = told[-1] if told and name in WRAPPERS else name if not told else ""
    return last.rstrip("0123456789.") in INTERPRETERS and not _SAID & set(rest)


def _harm(name: str, rest: list[str]) -> str:
    options = [word for word in rest if word.startswith("-")]
    letters = {letter for word in options if not word.startswith("--") for letter in word[1:]}
    if name == "rm" and (letters & {"r", "R"} or _has(options, "--recursive")):
        return "it deletes whole folders"
    if name == "rm" and any(word.rstrip("/*") in ("", "~", "$HOME", ".", "..") for word in rest if word not in options):
        return "it deletes a whole folder"
    if name in _OTHERS_RIGHTS:
        return "it acts with another user's rights"
    if name in _DISKS or name.startswith("mkfs") or name == "mke2fs" or (name == "dd" and any("of=" in one for one in rest)):
        return "it overwrites files or disks"
    if name in _POWER or (name in ("init", "telinit") and "0" in rest) or (name == "systemctl" and _POWER & set(rest)):
        return "it switches the machine off"
    if name == "find" and {"-delete", "-exec", "-execdir", "-ok", "-okdir"} & set(rest):
        return "it deletes or runs something for every file that it finds"
    if name in _RECURSIVE and ("R" in letters or _has(options, "--recursive")):
        return "it changes the rights of whole folders"
    if (name == "rsync" and any(word.startswith("--del") for word in options)) or (name == "crontab" and "r" in letters):
        return "it deletes what is not there any more"
    return _git_harms(rest) if name == "git" else ""


def _git_harms(rest: list[str]) -> str:
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _GIT_VALUE else rest[1:]
    verb, rest = (rest[0], rest[1:]) if rest else ("", [])
    letters = {letter for word in rest if re.match(r"-\w", word) for letter in word[1:]}
    forced = "f" in letters or any(word.startswith("--force") for word in rest)
    gone = (
        verb == "clean"
        or (verb == "reset" and _has(rest, "--hard"))
        or (verb in ("checkout", "switch") and (forced or {"--", "."} & set(rest) or _has(rest, "--discard-changes")))
        or (verb == "restore" and not _has(rest, "--staged"))
        or (verb == "push" and (forced or _has(rest, "--delete") or _has(rest, "--mirror") or any(w[:1] == "+" for w in rest)))
        or (verb == "branch" and ("D" in letters or (_has(rest, "--delete") and forced)))
        or (verb == "stash" and rest[:1] in (["drop"], ["clear"]))
    )
    return "it throws away changes" if gone else ""


def _has(rest: list[str], option: str) -> bool:
    """Whether the option is there, perhaps shortened."""
    return any(len(word) > 3 and option.startswith(word) for word in rest)
