"""What code that an assistant wrote may say before anybody runs it, at three levels: read as text, nothing of it is run.

It keeps mistakes out, and is no jail: that is the worker's. Above: the tool maker, and Sapphire's `core.code_validator`. Below:
the standard library. It refuses to know: whose code it is, and what its worker may touch.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping

STRICT, MODERATE, SYNTAX = "strict", "moderate", "system_killer"
_ALLOWED = """
__future__ abc array ast base64 binascii bisect bs4 calendar cmath collections colorsys configparser contextlib copy csv
dataclasses datetime decimal difflib email enum fnmatch fractions functools glob graphlib hashlib heapq hmac html io
ipaddress itertools json keyword locale logging math mimetypes numbers numpy operator os pathlib pprint queue random re
requests secrets statistics string stringprep struct textwrap threading time timeit tomllib types typing unicodedata
urllib uuid warnings wave xml zlib zoneinfo
"""
ALLOWED = frozenset(_ALLOWED.split())
"""What may be imported where the level is strict."""
_BLOCKED = """
_ctypes _posixsubprocess _socket builtins code codeop ctypes gc imp importlib multiprocessing nt posix pty runpy shutil
signal socket
"""
BLOCKED = frozenset(_BLOCKED.split())
"""What may not be imported where it is moderate."""
_CALLS = """
eval exec compile globals locals vars getattr setattr delattr open __import__ __builtins__ __loader__
__spec__
"""
CALLS = frozenset(_CALLS.split())
"""Names of Python's own that may not be used, by whatever name they are called then."""
_OS = """
system popen remove unlink rmdir removedirs rename renames replace kill killpg environ environb putenv unsetenv getenv
fork forkpty abort _exit chmod chown startfile
"""
OS = frozenset(_OS.split())
IO = frozenset(("open", "open_code", "FileIO"))
OS_BEGINNINGS = ("exec", "spawn", "posix_spawn")
"""Of `os`, what may not be used, and how more of it begins."""
_INNER = """
__builtins__ __globals__ __subclasses__ __code__ __closure__ __loader__ __bases__ __mro__ __getattribute__ f_globals
f_locals f_builtins tb_frame gi_frame cr_frame
"""
INNER = frozenset(_INNER.split())
"""Attributes by which code gets at what it was not given."""
SUBMODULES = {"os", "io", "sys"}
LEAKED = frozenset(("os", "sys", "modules", "builtins", "importlib", "socket", "shutil"))
"""What harmless modules hold besides, and is not to be taken from them."""


def validate_code(code: str, level: str = STRICT) -> tuple[bool, str]:
    """Whether the code passes, and else the first thing that is wrong with it. An unknown level is the strict one."""
    try:
        # A file is run from its bytes: where it said that they mean other characters, other code would be run than was read.
        plain = code.replace("\r\n", "\n").replace("\r", "\n").encode()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(plain).readline)
        if encoding != "utf-8":
            return False, f"Blocked encoding: {encoding}"
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
        return False, f"Syntax error: {getattr(error, 'msg', error)}{where}"
    if level == SYNTAX:
        return True, ""
    try:
        wrong = min(_faults(tree, level), default=None)
    except RecursionError:
        return False, "It is nested too deeply"
    return (True, "") if wrong is None else (False, wrong[1])


def _faults(tree: ast.Module, level: str) -> Iterator[tuple[int, str]]:
    """Each fault with its line."""
    nodes = list(ast.walk(tree))
    modules = _aliases(nodes)
    for node in nodes:
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Import):
            yield from ((line, why) for alias in node.names if (why := _import(alias.name, level)))
        elif isinstance(node, ast.ImportFrom):
            yield from ((line, why) for why in _import_from(node, level))
        elif isinstance(node, ast.Name) and node.id in CALLS:
            yield line, f"Blocked call: {node.id}"
        elif isinstance(node, ast.Attribute):
            if node.attr in INNER:
                yield line, f"Blocked attribute: {node.attr}"
            module = _module(node.value, modules)
            if _blocked(module, node.attr):
                yield line, f"Blocked call: {module}.{node.attr}"
            elif module and node.attr in LEAKED:
                yield line, f"Blocked attribute: {module}.{node.attr}"


def _import(name: str, level: str) -> str:
    top = name.partition(".")[0]
    if top in BLOCKED:
        return f"Blocked import: {name}"
    return f"Blocked import: {name} (not among what strict code may import)" if level != MODERATE and top not in ALLOWED else ""


def _import_from(node: ast.ImportFrom, level: str) -> Iterator[str]:
    module = node.module or ""
    if node.level:
        yield "Blocked import: relative imports"
        return
    if why := _import(module, level):
        yield why
        return
    for alias in node.names:
        if module.partition(".")[0] in SUBMODULES and alias.name == "*":
            yield f"Blocked import: {module}.*"
        elif _blocked(module, alias.name):
            yield f"Blocked call: {module}.{alias.name}"
        elif alias.name in LEAKED:
            yield f"Blocked import: {module}.{alias.name}"


def _blocked(module: str, name: str) -> bool:
    """Whether this part of a module that may be imported may not be used."""
    if module == "io":
        return name in IO
    return module == "os" and (name in OS or name.startswith(OS_BEGINNINGS))


def _aliases(nodes: list[ast.AST]) -> Mapping[str, str]:
    """By name, the module that it stands for; what is assigned from such a name stands for the same."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
    pairs = [(target, node.value) for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    pairs += [
        (node.target, node.value)
        for node in nodes
        if isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None
    ]
    named: dict[str, list[str]] = defaultdict(list)
    for target, value in pairs:
        if isinstance(target, ast.Name) and isinstance(value, ast.Name):
            named[value.id].append(target.id)
    ahead = list(found)
    while ahead:
        name = ahead.pop()
        fresh = [other for other in named[name] if other not in found]
        found.update(dict.fromkeys(fresh, found[name]))
        ahead += fresh
    return found


def _module(node: ast.expr, modules: Mapping[str, str]) -> str:
    return modules.get(node.id, "") if isinstance(node, ast.Name) else ""
