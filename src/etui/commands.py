"""What a shell command or a piece of Python does, as far as its text shows: does it only read here, could it destroy?

Above: `confirming` decides by it whether a person is asked, `contracts/kotoba` offers it to tools. Below: the standard library.
It refuses to know: who wants to run it. What cannot be read for certain counts as the worse; the kernel's confinement stands
behind every answer, so that a trick in the text opens nothing that the worker was not granted.
"""

from __future__ import annotations

import ast
import glob
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

LONGEST = 20_000
"""Characters of a command that are still read."""
_SPECIAL = re.compile(r"[;&|`\n\r<>${}()\\]")
"""Characters by which a shell does more than run one program with the words that stand there."""
_ENDS = frozenset({";", "&", "&&", "|", "||", ";;", "(", ")", "\n"})
_INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


def _named(programs: str) -> frozenset[str]:
    return frozenset(programs.split())


READERS = _named(
    "ls pwd echo cat head tail wc grep rg find stat whoami id date uname true printf sort uniq cut tr mkdir base64 xxd od "
    "strings hexdump tac nl"
)
"""Programs that only read (`mkdir` makes what was not there), if no option says otherwise and every path is inside."""
_NOT_READING = {
    "find": {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-fprint0", "-fls", "-L", "-files0-from"},
    "rg": {"--pre", "--pre-glob", "--hostname-bin", "--follow", "-L"},
    "grep": {"-R", "--dereference-recursive"},
    "sort": {"-o", "--output", "--compress-program", "--files0-from", "-T", "--temporary-directory"},
    "tail": {"-f", "-F", "--follow", "--retry"},
    "date": {"-s", "--set"},
    "wc": {"--files0-from"},
    "xxd": {"-r", "-revert"},
}
"""Options with which they write, start something, never end, or leave the folder."""
_ONE_OPERAND = frozenset({"uniq", "xxd"})
"""Readers that write into a second file."""

_INTERPRETERS = (
    "sh bash zsh dash ksh fish ash csh tcsh busybox python pypy perl ruby node nodejs deno bun php lua tclsh rscript osascript "
    "awk gawk mawk nawk java jshell ghci sqlite psql"
)
_WRAPPERS = (
    "sudo doas su pkexec env xargs parallel nohup time timeout ssh docker podman setsid stdbuf nice ionice chroot unshare "
    "exec eval command source script watch flock"
)
_READING_ALOUD = "less more most pg vi vim view vimdiff rvim rview nvim nano pico emacs ed ex man"
_TRANSFER = "curl wget aria scp sftp rsync ftp lftp nc ncat netcat socat telnet rclone"
UNSAVEABLE = _named(f"{_INTERPRETERS} {_WRAPPERS} {_READING_ALOUD} {_TRANSFER}")
"""Programs whose name does not say what runs, or what leaves the machine: a yes to one line is no yes to the next."""
_OTHERS_RIGHTS = frozenset({"sudo", "su", "doas", "pkexec"})
_DISKS = frozenset({"fdisk", "parted", "wipefs", "sfdisk", "cfdisk", "shred", "truncate", "mkswap", "blkdiscard"})
_POWER = frozenset({"shutdown", "reboot", "halt", "poweroff"})
_FETCHING = frozenset({"curl", "wget", "fetch", "aria2c"})
_SHELLS = _named("sh bash zsh dash ksh fish ash")


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


def can_be_saved(family: str) -> bool:
    """Whether a yes to this program may stand for every later line of it."""
    name = program(family).rstrip("0123456789.")
    return bool(name) and name not in UNSAVEABLE and program(family) not in UNSAVEABLE


def only_reads(command: str, folder: Path) -> bool:
    """Whether it is one reading program, and everything it names lies in the folder."""
    if len(command) > LONGEST or not is_plain(command):
        return False
    line = words(command)
    if not line or line[0] not in READERS:
        return False
    name, rest = line[0], line[1:]
    if name in _ONE_OPERAND and sum(not word.startswith("-") for word in rest) > 1:
        return False
    refused = _NOT_READING.get(name, set())
    return not any(_takes(word, refused, name) or not _stays(word, folder) for word in rest)


def _takes(word: str, refused: set[str], name: str) -> bool:
    """Whether the word is one of these options, shortened, with its value, or among others in one cluster."""
    if not word.startswith("-") or word == "-":
        return False
    option = word.split("=", 1)[0]
    if option in refused:
        return True
    if option.startswith("--"):
        return len(option) > 2 and any(one.startswith(option) for one in refused)
    return name != "find" and any(f"-{letter}" in refused for letter in option[1:])


def _stays(word: str, folder: Path) -> bool:
    """Whether the word, or what an option carries, names nothing outside of the folder."""
    if word.startswith("--"):
        word = word.partition("=")[2]
    elif word.startswith("-"):
        after = word.partition("=")[2]
        return all(_inside(one, folder) for one in (after, word[2:]) if one)
    return not word or _inside(word, folder)


def _inside(word: str, folder: Path) -> bool:
    if word.startswith("~"):
        return False
    try:
        root = folder.resolve()
        named = [word]
        if any(char in word for char in "*?["):
            named += glob.glob(word, root_dir=root, include_hidden=True)  # noqa: PTH207 (as the shell reads it)
        return all((root / one).resolve().is_relative_to(root) for one in named)
    except (OSError, ValueError, RuntimeError, re.error):
        return False


def destroys(command: str) -> str:
    """In a few words why this command could do harm that cannot be undone; empty if nothing of that kind shows."""
    if len(command) > LONGEST:
        return "it is too long to be read"
    if re.search(r":\s*\(\s*\)\s*\{", command):
        return "it starts itself without end"
    before = ""
    for line in _lines(command):
        name = program(line[0])
        if why := _harm(name, line[1:]):
            return why
        if name in _SHELLS and before in _FETCHING:
            return "it runs what it fetched"
        before = name
    if re.search(r">\s*(/dev/(sd|hd|nvme|vd|disk|mapper)|~?/?\S*\.(bash_history|ssh/|aws/|gnupg/))", command):
        return "it writes over a disk or keys"
    return next((why for inner in _INNER.findall(command) for why in [destroys(inner[0] or inner[1])] if why), "")


def _lines(command: str) -> Iterator[list[str]]:
    """The single programs of a command, each with its words; what a wrapper or a shell is given to run, too."""
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=";&|()<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        found = list(lexer)
    except ValueError:
        found = re.split(r"\s+", command)
    line: list[str] = []
    for word in [*found, ";"]:
        if word not in _ENDS and not set(word) <= set(";&|()"):
            line.append(word)
            continue
        while line and _ASSIGNMENT.match(line[0]):
            line = line[1:]
        if line:
            yield line
            yield from _given(line)
        line = []


def _given(line: list[str]) -> Iterator[list[str]]:
    name, rest = program(line[0]), line[1:]
    if name in _SHELLS or name == "eval":
        for word in rest:
            if " " in word:
                yield from _lines(word)
    elif name in _WRAPPERS.split():
        for at, word in enumerate(rest):
            if not word.startswith("-"):
                yield rest[at:]


def _harm(name: str, rest: list[str]) -> str:
    options = [word for word in rest if word.startswith("-")]
    letters = "".join(word[1:] for word in options if not word.startswith("--"))
    if name == "rm" and (set(letters) & {"r", "R"} or any("--recursive".startswith(word) for word in options if len(word) > 3)):
        return "it deletes whole folders"
    if name == "rm" and any(word.rstrip("/*") in ("", "~", "$HOME", ".", "..") for word in rest if word not in options):
        return "it deletes a whole folder"
    if name in _OTHERS_RIGHTS:
        return "it acts with another user's rights"
    if name in _DISKS or name.startswith("mkfs") or name == "mke2fs" or (name == "dd" and any("of=" in one for one in rest)):
        return "it overwrites files or disks"
    if name in _POWER or (name in ("init", "telinit") and "0" in rest) or (name == "systemctl" and set(rest) & _POWER):
        return "it switches the machine off"
    if name == "find" and {"-delete", "-exec", "-execdir", "-ok", "-okdir"} & set(rest):
        return "it deletes or runs something for every file that it finds"
    if name in ("chmod", "chown", "chgrp") and ("R" in letters or "--recursive" in options):
        return "it changes the rights of whole folders"
    if name == "git" and (rest[:1] == ["clean"] or (rest[:1] == ["reset"] and "--hard" in rest)):
        return "it throws away changes"
    return ""


_PATHS = frozenset({"unlink", "rmdir", "rmtree", "write_text", "write_bytes", "symlink_to", "hardlink_to", "touch", "mkdir"})
"""Methods that change files, whatever they are called on."""
_SYSTEM = frozenset({"os", "shutil"})
_CHANGING = frozenset(
    {
        *("remove", "unlink", "rmdir", "removedirs", "rmtree", "copy", "copy2", "copyfile", "copytree", "move", "rename"),
        *("renames", "replace", "chmod", "chown", "symlink", "link", "truncate", "makedirs", "mkdir", "write", "mkfifo"),
    }
)
_STARTING = ("system", "popen", "posix_spawn", "fork", "startfile", "exec", "spawn")
_MODULES = {
    "subprocess": "it starts programs",
    "pty": "it starts programs",
    "ctypes": "it leaves Python",
    "cffi": "it leaves Python",
    "importlib": "it runs code by name",
    "socket": "it opens connections of its own",
    "smtplib": "it sends data",
    "ftplib": "it sends data",
    "paramiko": "it sends data",
}
_SENDING = frozenset({"post", "put", "patch", "sendall", "sendto"})
_PRIVATE = re.compile(r"\.ssh\b|id_rsa|id_ed25519|/etc/(shadow|passwd)|\.aws/|\.netrc|\.gnupg|\.env\b|keystore")


def code_harms(code: str) -> str:
    """In a few words why a person should see this Python before it runs; empty if it shows only reading and computing."""
    if len(code) > LONGEST * 10:
        return "it is too long to be read"
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "it cannot be read as Python" if code.strip() else ""
    owners = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return next((why for node in ast.walk(tree) for why in [_node_harms(node, owners)] if why), "")


def _node_harms(node: ast.AST, owners: set[int]) -> str:
    match node:
        case ast.Import(names=names):
            tops = [(one.name.split(".")[0], one.asname) for one in names]
            hidden = "it gives the system another name" if any(top in _SYSTEM and alias for top, alias in tops) else ""
            return next((_MODULES[top] for top, _ in tops if top in _MODULES), hidden)
        case ast.ImportFrom(module=module, names=names):
            top = (module or "").split(".")[0]
            changing = [one.name for one in names if top in _SYSTEM and (one.name == "*" or _system_harms(one.name))]
            return _MODULES.get(top, "it changes files or starts programs" if changing else "")
        case ast.Call(func=ast.Name(id="eval" | "exec" | "compile" | "__import__" | "getattr" | "globals" | "vars")):
            return "it runs code that it makes itself"
        case ast.Call(func=ast.Name(id="open")):
            return "it writes files" if _opens_to_write(node, 1) else ""
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="open")):
            return "it writes files" if _opens_to_write(node, 1 if owner in ("os", "io", "gzip", "bz2", "lzma") else 0) else ""
        case ast.Call(func=ast.Attribute(attr="open")):
            return "it writes files" if _opens_to_write(node, 0) else ""
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in _SYSTEM:
            return _system_harms(name)
        case ast.Attribute(attr=name) if name in _PATHS:
            return "it changes files"
        case ast.Attribute(attr=name) if name in _SENDING:
            return "it sends data"
        case ast.Name(id=name) if name in _SYSTEM and id(node) not in owners:
            return "it gives the system another name"
        case ast.Constant(value=str(text)) if _PRIVATE.search(text):
            return "it names private files"
    return ""


def _system_harms(name: str) -> str:
    if name in _CHANGING:
        return "it changes files"
    return "it starts programs" if name.startswith(_STARTING) else ""


def _opens_to_write(call: ast.Call, place: int) -> bool:
    """Whether an `open` may write: its mode, the argument at that place, says so or cannot be read."""
    modes = [*call.args[place : place + 1], *(one.value for one in call.keywords if one.arg in ("mode", None))]
    if any(isinstance(one, ast.Starred) for one in call.args):
        return True
    return any(
        not isinstance(mode, ast.Constant) or not isinstance(mode.value, str) or bool(set(mode.value) & set("wax+"))
        for mode in modes
    )
