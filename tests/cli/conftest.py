"""One running host for each module of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.processes import serving, tools_in


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path: Path = tmp_path_factory.mktemp("etui")
    tools_in(path)
    with serving(path):
        yield path
