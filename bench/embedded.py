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

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.embedded.household import CASES, TOOLS  # noqa: E402
from tests.embedded.judge import ask, judge, said  # noqa: E402

from etui.agent.embedded import EmbeddedModel  # noqa: E402
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


def main() -> None:
    """Judges every set and prints the table."""
    own = json.loads((ROOT / "tests/embedded/sentences.json").read_text(encoding="utf-8"))
    offered = shelf()
    sets = [
        ("plain (`cases/commands.json`)", TOOLS, CASES["requests"]),
        ("household, hard and idle talk", TOOLS, own["household"]),
        ("shelf, hard and idle talk", offered, own["shelf"]),
        ("fresh", TOOLS, own["fresh"]),
    ]
    model = EmbeddedModel()
    for tools in (TOOLS, offered):
        model.answer(ask(tools, said("is anybody there")))
    print("| sentences | tools | number | right | asked back | declined | wrong | ms median | ms worst |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, tools, cases in sets:
        model.answer(ask(tools, said("is anybody there")))
        counted, times, misses = Counter(), [], []
        for case in cases:
            start = time.perf_counter()
            verdict, happened = judge(model, tools, case)
            times.append((time.perf_counter() - start) * 1000)
            counted[verdict] += 1
            if verdict != "right":
                misses.append(f"    {verdict}: {case['text']!r}: {happened}")
        figures = " | ".join(str(counted[verdict]) for verdict in ("right", "asked", "declined", "wrong"))
        print(f"| {name} | {len(tools)} | {len(cases)} | {figures} | {statistics.median(times):.1f} | {max(times):.0f} |")
        if "--misses" in sys.argv:
            print("\n".join(misses))


if __name__ == "__main__":
    main()
