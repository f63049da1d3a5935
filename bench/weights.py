"""Learns the weights of `etui/agent/embedded/weigh.py` from the development sentences and writes them there.

Run as `.venv/bin/python bench/weights.py`, then `bench/embedded.py` to see what they are worth. First it shows, for each set,
how the weights of all the other sets do on it. The set `final` is never learnt from.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(ROOT / "bench")]

from tests.embedded.judge import NOW  # noqa: E402

from embedded import sets  # noqa: E402
from etui.agent.embedded import understand as understanding  # noqa: E402
from etui.agent.embedded.choose import Index  # noqa: E402
from etui.agent.embedded.vectors import Vectors  # noqa: E402
from etui.agent.embedded.weigh import NAMES, Candidate, weighed  # noqa: E402

IDLE = 0.5
"""How much a sentence of the set of idle talk counts: there are more of them than people say."""
LOOSE = 0.3
"""How strongly weights are held near 0."""
NEVER_NEGATIVE = [NAMES.index(name) for name in ("covered", "opens", "met", "kin", "meaning", "words")]
NEVER_POSITIVE = [NAMES.index(name) for name in ("unexplained", "missing", "cost", "odd", "thin")]


class Row(NamedTuple):
    """One reading of a sentence: the signs of each candidate, and which of them is right; -1 if none is."""

    part: str
    signs: np.ndarray
    right: int


def rows() -> list[Row]:
    """What there is to learn from: the sentences that fit no template firmly."""
    vectors, weigh, seen = Vectors(), understanding.candidates, []

    def watched(*args):
        seen.append(weigh(*args))
        return seen[-1]

    understanding.candidates = watched
    found = []
    for part, tools, cases in sets():
        index = Index(tools, vectors)
        for case in cases if not part.startswith("final") else ():
            if case.get("before") or "calls" in case:
                continue
            seen.clear()
            understanding.understand(index, case["text"], NOW)
            found += _rows(part, case["tool"], seen)
    understanding.candidates = weigh
    return found


def _rows(part: str, tool: str | None, readings: list[list[Candidate]]) -> list[Row]:
    if tool is None:
        return [Row(part, np.array([one.signs for one in reading]), -1) for reading in readings]
    best = max(readings, key=lambda reading: _best(reading, tool), default=[])
    names = [one.filled.known.name for one in best]
    return [Row(part, np.array([one.signs for one in best]), names.index(tool))] if tool in names else []


def _best(reading: list[Candidate], tool: str) -> float:
    return max((weighed(one.signs) for one in reading if one.filled.known.name == tool), default=-99.0)


def learnt(learn: list[Row], steps: int = 1500) -> np.ndarray:
    """The weights under which the right candidates are likeliest, by gradient descent (Adam)."""
    most = max(len(row.signs) for row in learn)
    signs, there, right = np.zeros((len(learn), most, len(NAMES))), np.zeros((len(learn), most)), np.zeros((len(learn), most))
    for at, row in enumerate(learn):
        signs[at, : len(row.signs)], there[at, : len(row.signs)] = row.signs, 1
        if row.right >= 0:
            right[at, row.right] = 1
    counts = np.array([IDLE if row.part.startswith("idle") else 1.0 for row in learn])
    weights, pace, spread = np.zeros(len(NAMES)), np.zeros(len(NAMES)), np.zeros(len(NAMES))
    for step in range(1, steps + 1):
        powers = np.where(there > 0, signs @ weights, -1e9)
        top = np.maximum(powers.max(1), 0)
        shares = np.exp(powers - top[:, None])
        shares /= (shares.sum(1) + np.exp(-top))[:, None]
        slope = ((shares - right)[:, :, None] * signs * counts[:, None, None]).sum((0, 1)) + LOOSE * weights
        pace, spread = 0.9 * pace + 0.1 * slope, 0.999 * spread + 0.001 * slope**2
        weights -= 0.03 * (pace / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
        weights[NEVER_NEGATIVE] = np.maximum(weights[NEVER_NEGATIVE], 0)
        weights[NEVER_POSITIVE] = np.minimum(weights[NEVER_POSITIVE], 0)
    return weights


def told(part: str, judged: list[Row], weights: np.ndarray) -> str:
    """How often the likeliest candidate is at least so likely, and right, wrong, or a call on idle talk."""
    outcomes = []
    for row in judged:
        powers = row.signs @ weights
        shares = np.exp(powers) / (1 + np.exp(powers).sum())
        outcomes.append((float(shares.max()), int(shares.argmax()) == row.right, row.right >= 0))
    line = f"{part}: {len(judged)} readings"
    for least in (0.3, 0.6, 0.8):
        over = [(good, meant) for share, good, meant in outcomes if share >= least]
        good, bad = sum(one for one, _ in over), sum(not one for one, meant in over if meant)
        line += f" | from {least}: {good} right, {bad} wrong, {sum(not meant for _, meant in over)} idle"
    return line


def main() -> None:
    """Learns, tells and writes."""
    found = rows()
    for part in dict.fromkeys(row.part for row in found):
        others = [row for row in found if row.part != part]
        print(told(part, [row for row in found if row.part == part], learnt(others)))
    weights = learnt(found)
    path = ROOT / "src/etui/agent/embedded/weigh.py"
    body = "".join(f"    {weight + 0.0:.2f},  # {name}\n" for weight, name in zip(weights, NAMES, strict=True))
    table = f"WEIGHTS: tuple[float, ...] = (\n{body})\n"
    path.write_text(
        re.sub(r"WEIGHTS: tuple\[float, \.\.\.\] = \(\n.*?\n\)\n", lambda _: table, path.read_text(), flags=re.DOTALL)
    )


if __name__ == "__main__":
    main()
