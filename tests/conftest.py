"""What holds for every test: hypothesis tries the same examples each time, and other ones with FRESH=1, as before a release.

It takes its time on a busy machine. What a program told the log is told to no other test's closed stream.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, settings

settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not os.environ.get("FRESH")
)
settings.load_profile("house")


@pytest.fixture(autouse=True)
def own_log() -> Iterator[None]:
    """The terminal's programs send the log to their own stderr, which ends with their test."""
    yield
    structlog.reset_defaults()
