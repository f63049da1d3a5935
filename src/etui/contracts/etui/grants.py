"""From the risks that a native plugin declares to what its worker may touch, and the reading of those risks from source.

Nothing here runs a plugin's code: the source is parsed, never imported, so that a grant is known even when the import failed
for lack of it. Above: the contract inside the worker, and the host, which may use `grant_for` directly. Below: the nouns.
It refuses to know: how a grant is enforced.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from etui.tool import Grant, Risk

_CONTAINED = {
    Risk.READ: frozenset[Risk](),
    Risk.WRITE: frozenset({Risk.WRITE}),
    Risk.NETWORK: frozenset({Risk.WRITE, Risk.NETWORK}),
    Risk.EXEC: frozenset({Risk.WRITE, Risk.NETWORK, Risk.EXEC}),
}


def grant_for(risks: Iterable[str], work: str = "") -> Grant:
    """What a worker of tools with these risks may touch; `work` is the working folder. Words that are no risk grant nothing."""
    held: set[Risk] = set()
    for risk in risks:
        if risk in _CONTAINED:
            held |= _CONTAINED[Risk(risk)]
    return Grant(
        write=(work,) if work and Risk.WRITE in held else (),
        network=Risk.NETWORK in held,
        subprocess=Risk.EXEC in held,
    )


def declared_risks(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """The risks that a parsed file, given as all of its nodes, declares in so many words: `@tool(risk="network")`."""
    names, modules = _imported(nodes)
    return frozenset(
        keyword.value.value
        for call in nodes
        if isinstance(call, ast.Call) and _is_tool(call.func, names, modules)
        for keyword in call.keywords
        if keyword.arg == "risk" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    )


def _imported(nodes: Sequence[ast.AST]) -> tuple[set[str], set[str]]:
    """The names by which a file knows the decorator and the package."""
    names: set[str] = set()
    modules: set[str] = set()
    for node, alias in _aliases(nodes):
        if isinstance(node, ast.Import):
            if alias.name.split(".")[0] == "etui":
                modules.add(alias.asname or "etui")
        elif (node.module or "").split(".")[0] == "etui" and alias.name in ("tool", "*"):
            names.add(alias.asname or "tool")
    return names, modules


def _aliases(nodes: Sequence[ast.AST]) -> Iterator[tuple[ast.Import | ast.ImportFrom, ast.alias]]:
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield node, alias


def _is_tool(func: ast.expr, names: set[str], modules: set[str]) -> bool:
    if isinstance(func, ast.Name):
        return func.id in names
    return (
        isinstance(func, ast.Attribute)
        and func.attr == "tool"
        and isinstance(func.value, ast.Name)
        and func.value.id in modules
    )
