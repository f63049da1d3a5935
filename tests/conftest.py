"""What holds for every test: hypothesis tries the same examples each time, and other ones with FRESH=1, as before a release.

It takes its time on a busy machine. What a program told the log is told to no other test's closed stream.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, settings
from tests.mother import Mother

from etui.run import forks

settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=not os.environ.get("FRESH")
)
settings.load_profile("house")


def pytest_collection_finish() -> None:
    """What was imported and collected stays until the end: the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_log() -> Iterator[None]:
    """The terminal's programs send the log to their own stderr, which ends with their test."""
    yield
    structlog.reset_defaults()


@pytest.fixture(autouse=True, scope="session")
def mothers() -> Iterator[None]:
    """From the second on, a zygote of a kind is forked rather than started, except where the start itself is asked about."""
    started = ("tests/run/test_zygote.py", "tests/run/test_native.py")
    real = forks._start
    seen: dict[tuple[object, ...], Mother | None] = {}

    def start(command: Sequence[str], environment: Mapping[str, str], control: int) -> Any:
        kind = (*command[:6], *sorted(environment.items()))
        first = kind not in seen
        mother = seen.setdefault(kind, None)
        if first or os.environ.get("PYTEST_CURRENT_TEST", "").startswith(started):
            return real(command, environment, control)
        if mother is None:
            mother = seen[kind] = Mother(command, environment)
        return mother.bear(command, control)

    forks._start = start
    yield
    forks._start = real
    for mother in seen.values():
        if mother is not None:
            mother.end()
