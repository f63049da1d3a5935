"""Promises that every tool of the shelf keeps."""

from __future__ import annotations

import ast
import re
import string
import sys
from pathlib import Path

import pytest

from .desk import SHELF

FOLDERS = {entry.name for entry in SHELF.iterdir() if entry.is_dir() and any(entry.glob("*.py"))}
PLUGINS = sorted(FOLDERS | {entry.stem for entry in SHELF.glob("*.py")})
ALLOWED = {"etui", "httpx2", "pint", "simpleeval", "trafilatura", "dateparser", "tzdata", "numpy"}


def test_the_shelf_holds_what_it_promises() -> None:
    assert PLUGINS == [
        "calculator",
        "clock",
        "files",
        "lists",
        "memory",
        "notes",
        "servers",
        "toolmaker",
        "weather",
        "web",
        "work",
    ]


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_plugin_loads_without_a_problem(plugin, desk_for) -> None:
    desk = desk_for(plugin)
    assert desk.tools
    assert desk.description.problems == ()


@pytest.mark.parametrize("plugin", PLUGINS)
def test_every_tool_has_examples_whose_slots_are_its_parameters(plugin, desk_for) -> None:
    for tool in desk_for(plugin).tools.values():
        assert 6 <= len(tool.examples) <= 12, tool.name
        assert len(set(tool.examples)) == len(tool.examples)
        slots = {slot for example in tool.examples for _, slot, _, _ in string.Formatter().parse(example) if slot}
        properties = tool.parameters.get("properties", {})
        assert slots <= set(properties), tool.name
        assert set(tool.parameters.get("required", ())) <= slots, f"{tool.name}: a required parameter is in no example"


@pytest.mark.parametrize("plugin", PLUGINS)
def test_every_tool_and_parameter_is_described_and_few(plugin, desk_for) -> None:
    for tool in desk_for(plugin).tools.values():
        assert re.fullmatch(r"[A-Z][^\n]{15,200}\.", tool.description), tool.name
        properties = tool.parameters.get("properties", {})
        assert len(properties) <= 4
        for name, schema in properties.items():
            assert schema.get("description"), f"{tool.name}.{name}"


def test_no_two_tools_share_a_name(desk_for) -> None:
    names = [name for plugin in PLUGINS for name in desk_for(plugin).tools]
    assert len(set(names)) == len(names)


def test_no_two_tools_share_an_example(desk_for) -> None:
    owners: dict[str, str] = {}
    for plugin in PLUGINS:
        for tool in desk_for(plugin).tools.values():
            for example in tool.examples:
                plain = re.sub(r"\{\w+\}", "{}", example)
                assert owners.setdefault(plain, tool.name) == tool.name, plain


def test_only_what_needs_the_network_asks_for_it(desk_for) -> None:
    asking = {plugin for plugin in PLUGINS if desk_for(plugin).description.wishes.network}
    assert asking == {"weather", "web"}


@pytest.mark.parametrize("file", sorted(SHELF.rglob("*.py")), ids=lambda file: file.name)
def test_a_file_imports_nothing_that_workers_do_not_have(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
        for name in names:
            head = name.partition(".")[0]
            assert head in ALLOWED or head in sys.stdlib_module_names, name
            assert head != "etui" or name == "etui", "only what authors may import"
