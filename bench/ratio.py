"""Two things timed side by side in one run, and told as a ratio with its spread. Every bench prints its lines through here."""

from __future__ import annotations

import signal
import statistics
from collections.abc import Sequence

LONGEST = 58
"""Seconds after which a bench that hangs is ended."""

signal.alarm(LONGEST)


def line(name: str, ours: Sequence[float], theirs: Sequence[float], against: str, aim: str) -> str:
    """`ours` and `theirs` are seconds, taken in turns; the ratio is of medians, its spread of the pairs' quartiles."""
    ratio = statistics.median(ours) / statistics.median(theirs)
    pairs = sorted(one / other for one, other in zip(ours, theirs, strict=False))
    low, high = pairs[len(pairs) // 4], pairs[(3 * len(pairs)) // 4]
    return (
        f"{name}: {ratio:.2f} times {against} [{low:.2f} to {high:.2f}], "
        f"median {_unit(statistics.median(ours))} against {_unit(statistics.median(theirs))}; aim: {aim}"
    )


def medians(times: Sequence[float], block: int) -> list[float]:
    """The median of each block of so many."""
    return [statistics.median(times[at : at + block]) for at in range(0, len(times), block)]


def _unit(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
