"""Fixtures of the contract tests."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.contracts.plugins import Written

LENT = re.compile(r"(etui_plugin_|kotoba_plugin_|keryx_custom_tools)|(sapphire|config|core|plugins)(\.|$)")
"""What the contracts make importable, in workers alone but for these tests."""


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Callable[..., Written]]:
    """Writes a plugin and describes it: `write("text of main.py")` or `write({"a.py": "...", "b.py": "..."})`."""
    made: list[str] = []

    def make(texts: str | dict[str, str | bytes], *, contract: str = "etui", plugin: str = "") -> Written:
        plugin = plugin or f"plugin_{len(made)}"
        made.append(plugin)
        folder = tmp_path / plugin
        folder.mkdir(exist_ok=True)
        return Written(folder, texts if isinstance(texts, dict) else {"main.py": texts}, contract, plugin)

    meta_path, path = list(sys.meta_path), list(sys.path)
    modules = set(sys.modules)
    yield make
    sys.meta_path[:], sys.path[:] = meta_path, path
    for name in set(sys.modules) - modules:
        if LENT.match(name):
            del sys.modules[name]
