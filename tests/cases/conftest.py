"""One host for all cases of a file; a case that needs a host of its own opens one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.cases.desk import Desk, desk_at


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    """A host that the cases of one file share; each uses names of its own."""
    async with desk_at(tmp_path_factory.mktemp("home")) as made:
        yield made
