"""Background jobs in the terminal: `etui jobs`, and their steps and ends beside a conversation.

Above: the command group, `talk`. Below: `following`, `reach`, `show`. It refuses to know: how a job is done.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import click
from rich.text import Text

from etui.surfaces.cli.following import Talk
from etui.surfaces.cli.reach import PATIENCE, Reach, Way, part
from etui.surfaces.cli.seen import one_line
from etui.surfaces.cli.show import console, cut, print_json, sign, step

ENDS = {
    "running": ("●", "cyan"),
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("■", "yellow"),
    "stopped": ("■", "yellow"),
}
"""Sign and colour of a job, by how it stands."""
HEARD = frozenset({"call_started", "call_ended", "card_opened", "card_closed", "said", "work_done"})
EARLY = 100
"""Events that are kept for a job whose beginning was not heard yet."""
SHORT = 500
"""Characters of a summary that are told beside a conversation."""


@click.command()
@click.option("--cancel", metavar="JOB", help="End the job of this id; `all` ends every one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def jobs(way: Way, cancel: str | None, as_json: bool) -> int:
    """List the background jobs, or cancel one."""

    async def work(reach: Reach) -> list[dict[str, Any]]:
        if cancel is not None:
            await _cancel(reach, cancel)
        return list(await reach.get("/api/jobs"))

    found = way.go(work)
    if as_json:
        print_json(found)
        return 0
    out = console()
    if not found:
        out.print("No job runs in the background.")
    for job in found:
        out.print(_line(job, out.room))
        if job.get("summary"):
            out.print(Text(f"      {cut(one_line(job['summary']), max(20, min(out.room, 200) - 6))}", style="dim"))
    return 0


async def _cancel(reach: Reach, wanted: str) -> None:
    """End a job, or all of them, and wait until they have ended."""
    left = {wanted}
    if wanted == "all":
        left = {job["id"] for job in await reach.get("/api/jobs") if job["state"] == "running"}
    ended = asyncio.Event()

    async def hear(event: Mapping[str, Any]) -> None:
        if event.get("kind") == "work_done":
            left.difference_update((event["data"]["job"], event["chat"]))
            if not left:
                ended.set()

    async with reach.hearing(hear):
        for job in sorted(left):
            await reach.delete(f"/api/jobs/{part(job)}", {})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE if left else 0):
                await ended.wait()


def _line(job: Mapping[str, Any], room: int) -> Text:
    mark, colour = ENDS.get(str(job["state"]), ("●", "white"))
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(job["started"]))
    head = f"{when}  {one_line(job['id'])}  "
    goal = cut(one_line(job["goal"]), max(20, room - len(head) - 14))
    return Text.assemble((f"{sign(mark)} ", colour), (head, "dim"), goal, (f"  {job['state']}", colour))


class Desk(Protocol):
    """Where the person is who answers a job's questions."""

    def opened(self, card: Mapping[str, Any]) -> None:
        """A job asks something."""
        ...

    def closed(self, card: str) -> None:
        """It was answered, or its time ran out."""
        ...


class Jobs:
    """The jobs of one conversation, told as they go on: that one has begun, its steps, how it ended.

    That one has begun is heard in the turn that began it; the rest from everything that happens.
    """

    def __init__(self, talk: Talk, desk: Desk, tell: Callable[[Text], None] | None = None) -> None:
        self._talk = talk
        talk.begun = self.begun
        self._desk = desk
        self._tell = tell or talk.line
        self._open: dict[str, str] = {}
        """Jobs that run, and what each is to do; a job's id is that of the chat in which it works."""
        self._early: deque[tuple[str, Mapping[str, Any]]] = deque(maxlen=EARLY)
        """What was heard of chats that are no job's as yet, for one of which the beginning may be on its way."""
        self._begun: dict[str, Mapping[str, Any]] = {}
        self._none = asyncio.Event()
        self._none.set()
        self.told: list[dict[str, Any]] = []
        """How those that are over ended."""

    async def hear(self, event: Mapping[str, Any]) -> None:
        """Take in what happened anywhere, and tell what belongs to a job of this conversation."""
        kind = event.get("kind")
        if kind not in HEARD:
            return
        job = event["data"]["job"] if kind == "work_done" else event["chat"]
        if job in self._open:
            self._take(job, event)
        elif job != self._talk.chat:
            self._early.append((job, event))

    @property
    def open(self) -> list[str]:
        """What those that run are to do."""
        return list(self._open.values())

    async def over(self) -> None:
        """Wait until none of them runs."""
        await self._none.wait()

    def begun(self, data: Mapping[str, Any]) -> None:
        """One was started in this conversation."""
        job, goal = str(data["job"]), one_line(str(data.get("goal") or ""))
        self._open[job] = goal
        self._none.clear()
        self._talk.line(Text.assemble((f"{sign('●')} ", "cyan"), f"Working in the background: {goal}", (f"  {job}", "dim")))
        early, self._early = self._early, deque(maxlen=EARLY)
        for chat, event in early:
            if chat == job:
                self._take(job, event)

    def _take(self, job: str, event: Mapping[str, Any]) -> None:
        data = event["data"]
        match event["kind"]:
            case "work_done":
                self._end(job, data)
            case "call_started":
                self._begun[event["call"]] = data
            case "call_ended":
                begun = self._begun.pop(event["call"], {})
                line = step({"risk": begun.get("risk", ""), **data}, begun.get("arguments"), console().room - 2)
                self._tell(Text.assemble("  ", line))
            case "card_opened":
                self._desk.opened(data["card"])
            case "card_closed":
                self._desk.closed(data["card"])
            case "said" if event.get("turn"):
                self._tell(Text.assemble((f"  {sign('●')} ", "yellow"), one_line(data["text"])))

    def _end(self, job: str, data: Mapping[str, Any]) -> None:
        goal = self._open.pop(job)
        self.told.append(dict(data))
        state = "cancelled" if data.get("cancelled") else "done" if data.get("ok") else "failed"
        mark, colour = ENDS[state]
        summary = cut(one_line(str(data.get("summary") or "")), SHORT)
        self._tell(Text.assemble((f"{sign(mark)} ", colour), f"{goal}: {summary}" if summary else f"{goal}: {state}"))
        if not self._open:
            self._none.set()
