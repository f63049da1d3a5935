"""Whether a file's text makes it a Kotoba module: it gives its module a `SCHEMA`, in whichever way Python has for that.

Above: the contract, which is asked in a worker before anything of the file has run. Below: `ast`.
It refuses to know: what is in the SCHEMA, and whether the module has an `execute`.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

_PLAIN = re.compile(r"^\ufeff?SCHEMA[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def gives_schema(source: str) -> bool:
    """Whether the module has a SCHEMA once the text has run; of a text that is no Python only the plain way is seen."""
    if _PLAIN.search(source):
        return True
    if "SCHEMA" not in source or "execute" not in source:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(source.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(map(_sets, _at_the_top(module))) or any(map(_reaches_out, ast.walk(module)))


def _at_the_top(module: ast.Module) -> Iterator[ast.AST]:
    """What runs when the module does: also in an `if`, a `try` or a `with`, but in no function and no class."""
    waiting: list[ast.AST] = [module]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, _INNER)]


def _sets(node: ast.AST) -> bool:
    match node:
        case ast.Name(id="SCHEMA", ctx=ast.Store()):
            return True
        case ast.ImportFrom(names=names):
            return any((alias.asname or alias.name) == "SCHEMA" for alias in names)
    return False


def _reaches_out(node: ast.AST) -> bool:
    """Whether it sets a name of the module from wherever it stands: a decorator that makes a tool of what is below it."""
    match node:
        case ast.Global(names=names):
            return "SCHEMA" in names
        case ast.Subscript(value=ast.Call(func=ast.Name(id="globals")), slice=ast.Constant(value="SCHEMA"), ctx=ast.Store()):
            return True
    return False
