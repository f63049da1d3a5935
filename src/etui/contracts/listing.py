"""Whether a file lists its tools in TOOLS, or in `get_tools`, and has one `execute` for them: told from its text alone.

Both sides ask it: the contract `sapphire` inside a worker, and the host, which has to know where such a file takes its root.
Above: that contract, `plugins.sources`. Below: `re`, `ast`. It refuses to know: what is listed.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator

_LISTED = re.compile(r"^\ufeff?(?:TOOLS[ \t]*(?::[^=\n]+)?=(?!=)|(?:async[ \t]+)?def get_tools\b)", re.MULTILINE)
_EXECUTES = re.compile(r"^(?:(?:async[ \t]+)?def execute\b|execute[ \t]*=)", re.MULTILINE)
_LISTS = frozenset({"TOOLS", "get_tools"})
_BLOCKS = ("body", "handlers", "orelse", "finalbody")


def lists_tools(source: str) -> bool:
    """Whether the text does both at its top level."""
    if _LISTED.search(source) is not None and _EXECUTES.search(source) is not None:
        return True
    if "execute" not in source or not any(name in source for name in _LISTS):
        return False
    bound = set(_bound(_body(source)))
    return "execute" in bound and not bound.isdisjoint(_LISTS)


def _body(source: str) -> list[ast.stmt]:
    """The statements of the file; none of one that is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source.removeprefix("\ufeff")).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _bound(statements: Iterable[ast.AST]) -> Iterator[str]:
    """The names that they give the module, in `if`, `try` and the like too."""
    for one in statements:
        match one:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef():
                continue
            case ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name for alias in names)
            case ast.Assign(targets=targets):
                yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                yield name
            case _:
                for block in _BLOCKS:
                    yield from _bound(getattr(one, block, ()))
