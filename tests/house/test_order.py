"""The order of imports and the one door, kept as tests."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import etui

PACKAGE = Path(etui.__file__).parent
ORDER = [
    ("errors",),
    ("tool", "outcome"),
    ("events",),
    ("settings",),
    ("commands",),
    ("contracts",),
    ("extras",),
    ("run",),
    ("registry",),
    ("plugins",),
    ("selection",),
    ("arguments",),
    ("cards",),
    ("budgets", "keeping", "modes", "rows", "verdict"),
    ("availability",),
    ("session",),
    ("sessions",),
    ("gate", "builtins"),
    ("home",),
    ("store",),
    ("owner",),
    ("briefing",),
    ("services",),
    ("reminding",),
    ("agent",),
    ("handlers",),
    ("hooks", "scheduling", "daemons"),
    ("entrance",),
    ("front",),
    ("surfaces",),
    ("host",),
    ("testing", "__main__"),
]
"""From the nouns to the program: a module imports only from its own room and from rooms before it."""
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
AUTHORING = "contracts.etui"
"""What the package's own front page re-exports for authors."""


@cache
def modules() -> list[tuple[str, ast.Module]]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if not name.startswith("shelf"):
            found.append((name.removesuffix(".__init__"), ast.parse(path.read_text())))
    return found


@cache
def imports(tree: ast.Module) -> list[tuple[str, int, bool]]:
    """Every module of Etui that is imported, the line, and whether only for types."""
    nodes = list(ast.walk(tree))
    typed: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            typed |= {id(child) for body in node.body for child in ast.walk(body)}
    found = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "etui":
            inside = node.module.removeprefix("etui").lstrip(".")
            names = [inside] if inside else [alias.name for alias in node.names]
            found += [(name, node.lineno, id(node) in typed) for name in names]
        elif isinstance(node, ast.Import):
            found += [
                (alias.name[5:], node.lineno, id(node) in typed) for alias in node.names if alias.name.startswith("etui.")
            ]
    return found


def test_every_module_has_its_place_in_the_order():
    unknown = {name.split(".")[0] for name, _ in modules()} - RANK.keys() - {"__init__"}
    assert not unknown


def test_a_module_imports_only_from_its_own_room_and_from_rooms_before_it():
    wrong = []
    for name, tree in modules():
        room = name.split(".")[0]
        for other, line, _ in imports(tree):
            target = other.split(".")[0]
            if name == "__init__":
                if not other.startswith("contracts.etui") and target not in ("tool", "contracts"):
                    wrong.append(f"{name}:{line} imports {other}")
            elif target != room and RANK.get(target, -1) >= RANK[room] and target != "__init__":
                wrong.append(f"{name}:{line} imports {other}")
    assert wrong == []


def test_workers_see_only_the_nouns_and_the_wire():
    allowed = {"errors", "tool", "outcome", "events", "settings", "commands", "contracts", "run"}
    for name, tree in modules():
        if name.split(".")[0] == "contracts" or name in ("run.child", "run.zygote"):
            assert {other.split(".")[0] for other, _, _ in imports(tree)} <= allowed, name


@pytest.mark.promise("X077")
def test_only_the_session_reaches_the_gate_and_the_runners():
    """`decide` and `Runner.run` are handed in by the host and called in one place."""
    for name, tree in modules():
        room = name.split(".")[0]
        for other, line, typed in imports(tree):
            target = other.split(".")[0]
            if target == "gate":
                assert room == "host", f"{name}:{line} reaches the gate"
            if target == "run" and room not in ("run", "session", "host", "testing", "__main__"):
                assert typed or other == "run", f"{name}:{line} reaches a runner"
    source = {name: ast.unparse(tree) for name, tree in modules()}
    assert [name for name, text in source.items() if ".decide(" in text] == ["session"]
    assert [name for name, text in source.items() if "parts.runner(" in text] == ["session"]


def test_every_module_says_what_it_is():
    silent = [name for name, tree in modules() if len((ast.get_docstring(tree) or "").split()) < 8 and name != "__init__"]
    assert silent == []


def test_there_is_no_room_for_odds_and_ends():
    assert [
        name for name, _ in modules() if any(part in ("utils", "helpers", "common", "misc") for part in name.split("."))
    ] == []


def test_importing_etui_brings_in_nothing_heavy():
    code = "import sys, etui; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {
        "pydantic",
        "openai",
        "mcp",
        "onnxruntime",
        "numpy",
        "starlette",
        "httpx2",
        "jsonschema_rs",
        "rich",
        "docstring_parser",
    }
    assert heavy.isdisjoint(loaded)
