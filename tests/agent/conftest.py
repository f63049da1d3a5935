from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.agent.rooms import Room


@pytest.fixture
def room() -> Iterator[Room]:
    made = Room()
    yield made
    made.store.close()
