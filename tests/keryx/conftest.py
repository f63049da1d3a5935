"""Fixtures of these tests: what the contract changes in this process is as before, after each test."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from etui.contracts.keryx import product, settings


@pytest.fixture(autouse=True)
def own_process() -> Iterator[None]:
    """The names are importable, and the host has said nothing yet."""
    path, meta_path, modules = list(sys.path), list(sys.meta_path), set(sys.modules)
    settings.told({})
    product.offer_names()
    yield
    sys.path[:], sys.meta_path[:] = path, meta_path
    for name in set(sys.modules) - modules:
        if name.startswith("keryx_custom_tools"):
            del sys.modules[name]
