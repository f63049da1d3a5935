"""A store in a fresh folder, and a clock that stands still until it is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from etui.store import Store


class Clock:
    """Seconds since the epoch, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_775_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    opened = Store.open(tmp_path / "home" / "etui.db", clock)
    yield opened
    opened.close()
