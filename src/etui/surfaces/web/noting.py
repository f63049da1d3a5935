"""What a host that serves writes to its log: each tool file that was refused, with its reason and its traceback.

Above: the terminal's `etui serve`. Below: the events of the hub. It refuses to know: who mends the file, and how.
"""

from __future__ import annotations

import msgspec
import structlog

from etui.events import Kind
from etui.surfaces.web.needs import House
from etui.tool import Problem

log = structlog.get_logger(__name__)


async def note_problems(host: House) -> None:
    """Write down what was refused at the start, and from then on what is, until cancelled."""
    async with host.hub.listen(Kind.PROBLEM) as events:
        for problem in host.problems.all():
            _note(problem)
        async for event in events:
            _note(msgspec.convert(event.data["problem"], Problem))


def _note(problem: Problem) -> None:
    if problem.refused:
        place = f"{problem.file}:{problem.line}" if problem.line else problem.file
        # Under this name the log shows a traceback line by line.
        more = {"exception": problem.trace.rstrip()} if problem.trace else {}
        what = "setting refused" if problem.file.endswith(".toml") and not problem.plugin else "tool file refused"
        log.error(what, plugin=problem.plugin, file=place, reason=problem.reason, **more)
