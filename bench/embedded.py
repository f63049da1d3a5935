"""How well the embedded default understands: a table of right, asked, declined and wrong for each set of sentences.

Run as `.venv/bin/python bench/embedded.py`; add `--misses` to see every sentence that was not right. The shelf's tools are read
from their own files. Times are of one sentence on a warm model, this machine's load included.
"""

import json
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.embedded.household import CASES, OTHERS, TOOLS  # noqa: E402
from tests.embedded.judge import ask, replied, said, tool_right, verdict, wanted  # noqa: E402

from etui.agent.embedded import EmbeddedModel  # noqa: E402
from etui.agent.embedded.chatter import CHATTER  # noqa: E402
from etui.agent.embedded.known import known  # noqa: E402
from etui.agent.embedded.vectors import Vectors, packed  # noqa: E402
from etui.agent.model import ToolView  # noqa: E402
from etui.contracts import Files  # noqa: E402
from etui.contracts.etui.contract import EtuiContract  # noqa: E402


def shelf() -> tuple[ToolView, ...]:
    """The tools that come with Etui, as a model sees them."""
    views = []
    for path in sorted((ROOT / "src/etui/shelf").iterdir()):
        files = (
            sorted(str(file) for file in path.glob("*.py")) if path.is_dir() else [str(path)] if path.suffix == ".py" else []
        )
        if not files or path.name.startswith("_"):
            continue
        plugin = Files(plugin=path.stem, source="shelf", contract="etui", path=str(path), files=tuple(files))
        views += [
            ToolView(
                name=tool.name,
                description=tool.description,
                parameters=tool.parameters,
                examples=tool.examples,
                risk=tool.risk,
                plugin=path.stem,
            )
            for tool in EtuiContract().describe(plugin).tools
        ]
    return tuple(views)


def ship() -> None:
    """Writes the vectors of the sentences that come with Etui, so that a first sentence does not wait for them."""
    texts = list(dict.fromkeys([*CHATTER, *[text for view in shelf() for text in known(view).texts]]))
    path = ROOT / "src/etui/agent/embedded/data/vectors.npz"
    model = Vectors()
    parts = [model.fresh(texts[start : start + 32]) for start in range(0, len(texts), 32)]
    with path.open("wb") as file:
        np.savez(file, **packed(texts, np.concatenate(parts)))
    print(f"{len(texts)} sentences, {path.stat().st_size:,} bytes")


def sets() -> list[tuple[str, tuple[ToolView, ...], list[dict]]]:
    """Every set of sentences with its tools."""
    found = [("plain (`cases/commands.json`)", TOOLS, CASES["requests"])]
    offered = shelf()
    for file in ("sentences", "blind", "idle", "final", "kinds"):
        path = ROOT / f"tests/embedded/{file}.json"
        if path.exists():
            for part, cases in json.loads(path.read_text(encoding="utf-8")).items():
                if isinstance(cases, list):  # else it says what the set is, or what tools it has
                    found.append((f"{file}, {part}", {"shelf": offered, **OTHERS}.get(part, TOOLS), cases))
    return found


def main() -> None:
    """Judges every set and prints the table; words on the command line choose the sets that hold one of them."""
    if "--ship" in sys.argv:
        ship()
        return
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    model = EmbeddedModel()
    print(
        "| sentences | tools | number | right | asked | declined | wrong | of these on idle talk "
        "| tool right | ms median | ms worst |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, tools, cases in sets():
        if words and not any(word in name for word in words):
            continue
        model.answer(ask(tools, said("is anybody there")))
        counted, times, misses, chosen, idle = Counter(), [], [], 0, 0
        for case in cases:
            start = time.perf_counter()
            reply = replied(model, tools, case)
            times.append((time.perf_counter() - start) * 1000)
            judged, happened = verdict(case, reply)
            counted[judged] += 1
            chosen += tool_right(case, reply)
            idle += judged == "wrong" and not wanted(case)
            if judged != "right":
                misses.append(f"    {judged}: {case['text']!r}: {happened}")
        figures = " | ".join(str(counted[one]) for one in ("right", "asked", "declined", "wrong"))
        share = f"{chosen / len(cases):.0%}"
        speed = f"{statistics.median(times):.1f} | {max(times):.0f}"
        print(f"| {name} | {len(tools)} | {len(cases)} | {figures} | {idle} | {share} | {speed} |")
        if "--misses" in sys.argv:
            print("\n".join(misses))


if __name__ == "__main__":
    main()
