"""One running host for each module of tests, and commands that run in the test's own process, which is quick."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.processes import serving, tools_in

from etui.__main__ import open_lazily
from etui.surfaces.cli import main

Here = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path: Path = tmp_path_factory.mktemp("etui")
    tools_in(path)
    with serving(path):
        yield path


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """Runs a command on a home; gives its exit code, what it printed, and what it complained about."""
    monkeypatch.setenv("ETUI_SHELF", "off")
    monkeypatch.setenv("COLUMNS", "80")

    def run(home: Path, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setenv("ETUI_HOME", str(home))
        code = main(open_lazily, list(arguments))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.fixture
def said(home: Path, here: Here) -> Here:
    """The same, on the home whose host runs."""
    return lambda *arguments: here(home, *arguments)
