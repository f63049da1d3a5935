"""What a tool file asks for: what it names itself, and what the files beside it name that it takes code from.

Above: the contract. Below: `wishes`. It refuses to know: who may read them: the host did, and nothing of them runs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from etui.contracts.wishes import parsed_text, wishes
from etui.tool import Grant


def asked(path: str, code: Mapping[str, bytes], text: bytes, work: str) -> Grant:
    """What one file asks for; its settings and keys lie beside it, under names of its own choosing."""
    grant = Grant(read=(str(Path(path).parent),))
    left = {other: _called(other) for other in code if other != path}
    todo = [parsed_text(text, path)]
    while todo:
        nodes = todo.pop()
        grant |= wishes(nodes, work)
        names = set(_named(nodes))
        for other in [other for other, name in left.items() if name in names]:
            del left[other]
            todo.append(parsed_text(code[other], other))
    return grant


def _called(path: str) -> str:
    """What an import calls that file."""
    file = Path(path)
    return file.parent.name if file.stem == "__init__" else file.stem


def _named(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """The words of what is imported and is no part of Python, and the files of Python code that are named."""
    for node in nodes:
        dotted: list[str] = []
        match node:
            case ast.Import(names=names):
                dotted = [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names):
                dotted = [f"{module or ''}.{alias.name}" for alias in names]
            case ast.Call(
                func=ast.Name(id="__import__") | ast.Attribute(attr="import_module") | ast.Name(id="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                dotted = [name]
            case ast.Constant(value=str(text)) if text.endswith(".py"):
                yield text.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
        for name in dotted:
            words = name.split(".")
            if words[0] not in sys.stdlib_module_names:
                yield from words
