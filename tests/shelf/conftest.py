"""What every test of the shelf uses: a desk for a plugin, with a working folder of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .desk import Desk

DeskFor = Callable[..., Desk]


@pytest.fixture
def desk_for(tmp_path: Path) -> Iterator[DeskFor]:
    """Makes desks, `desk_for("lists")`, and closes their stores."""
    desks: list[Desk] = []

    def make(plugin: str, **options: object) -> Desk:
        desks.append(Desk(plugin, tmp_path, **options))  # type: ignore[arg-type]
        return desks[-1]

    yield make
    for desk in desks:
        desk.store.close()
