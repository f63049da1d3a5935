"""A conversation as the terminal shows it: what is said and done in a turn, line by line, and the face it is done with.

Above: `talk`. Below: `keyboard`, `reach`, `show`. It refuses to know: who types, and what goes on outside the turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from rich.text import Text

from etui.errors import EtuiError
from etui.surfaces.cli.keyboard import Asking, attended
from etui.surfaces.cli.reach import Reach
from etui.surfaces.cli.seen import one_line, safe
from etui.surfaces.cli.show import Flow, console, cut, reason, sign, step, told

HERE = "terminal"
"""The channel of the terminal itself."""
STANDS = {"done": "✓", "completed": "✓", "in_progress": "→", "failed": "✗", "blocked": "✗", "cancelled": "■", "skipped": "■"}
"""The sign of a plan's step, by how it stands; any other is still to do."""


class Talk:
    """One conversation: says things, shows what happens, asks what is to be asked."""

    def __init__(self, reach: Reach, *, quiet: bool = False, channel: str = HERE) -> None:
        """`channel` is how whoever types here is taken to have come in."""
        self.reach = reach
        self.channel = channel
        self.chat = ""
        self.beginning = False
        """True from when something is said until its turn is known."""
        self._known = asyncio.Event()
        """Set once the turn of what was said last is known, or will never be."""
        self.turns: set[str] = set()
        """The turns that were begun here."""
        self.steps: list[dict[str, Any]] = []
        self.said: list[str] = []
        """The lines that were said around the calls."""
        self.face = ""
        """The expression that was told last."""
        self.begun: Callable[[Mapping[str, Any]], None] = lambda _: None
        """Told of each background job that is started here."""
        self._quiet = quiet
        self._out = console()
        self._lively = self._out.is_terminal and not self._out.is_dumb_terminal
        self._asking = Asking(reach)
        self._calls: dict[str, Mapping[str, Any]] = {}
        """What each call began with."""
        self._owed: dict[str, Any] = {}
        """The call that ended last, if it did not go well: what is said next may tell why, so its line waits for that."""
        self._plan: dict[object, object] = {}
        """How each step of the plan stood when it was shown last."""
        self._flow = Flow(self._out)
        self._passing = False

    async def say(self, text: str) -> dict[str, Any]:
        """Say one thing and follow the turn to its end; gives the answer."""
        answer: dict[str, Any] = {"text": "", "why": "failed"}
        body = {"text": text, "chat": self.chat, "channel": self.channel, "attended": attended()}
        said = False
        self.face, self.beginning = "", True
        self._known.clear()
        try:
            async for event in self.reach.lines("/api/chat", body):
                self.chat = event.get("chat") or self.chat
                if event["kind"] == "answer":
                    answer = event
                self.turns.add(event.get("turn", ""))
                self.beginning = False
                self._known.set()
                said = said or event["kind"] == "text"
                self.take(event)
            await self._asking.outlive()
        finally:
            await self._asking.close()
            self.beginning = False
            self._known.set()
            self._pay()
            self.rest()
        if not said and not self._quiet:
            self._flow.write(safe(answer["text"]))
            self._flow.end()
        if answer["why"] == "stopped":
            self.line(Text("Stopped.", style="dim"))
        return answer

    async def stop(self) -> None:
        """Stop the turn, as soon as it is known, or say that it goes on."""
        self._asking.drop()
        await self._known.wait()
        if not self.chat:
            return
        try:
            await self.reach.post(f"/api/chats/{self.chat}/stop", {})
        except EtuiError as error:
            self.line(Text(f"It could not be stopped: {safe(error)}", style="red"))

    async def hang_up(self) -> None:
        """Whoever was there goes, where they came in by a call; a conversation in the terminal goes on when they come back."""
        if self.chat and self.channel != HERE:
            await self.reach.post(f"/api/chats/{self.chat}/end", {"channel": self.channel})

    def line(self, text: Text | str) -> None:
        """A line of its own."""
        if not self._quiet:
            self.rest()
            self._out.print(text)

    def take(self, event: Mapping[str, Any]) -> None:
        """Show what happened in a turn."""
        data = event.get("data", {})
        self._pay(str(data.get("text") if event["kind"] == "text" else event.get("text") or ""))
        match event["kind"]:
            case "face":
                self._show_face(str(data.get("face") or ""), str(data.get("why") or ""))
            case "call_started":
                self._calls[event["call"]] = data
                self._pass(f"{sign('…')} {one_line(str(data.get('tool', '')))} {told(data.get('arguments'))}")
            case "call_progress":
                done = data.get("fraction")
                percent = f"{done:.0%} " if isinstance(done, int | float) else ""
                self._pass(f"{sign('…')} {percent}{one_line(str(data.get('text') or ''))}")
            case "call_ended":
                begun = self._calls.pop(event["call"], {})
                ended = {"risk": begun.get("risk", ""), **data, "arguments": begun.get("arguments")}
                self.steps.append(ended)
                if reason(ended):
                    self._pass(step(ended, begun.get("arguments")).plain.strip())
                    self._owed = ended
                else:
                    self.line(step(ended, begun.get("arguments"), self._out.room))
                if self.face:
                    self._pass("")
            case "card_opened" if attended():
                self.rest()
                self._asking.opened(data["card"])
            case "card_closed":
                self._asking.closed(data["card"])
            case "text" if not self._quiet and data["text"]:
                self._take_back()
                self._flow.write(safe(data["text"]))
            case "said" if event.get("turn"):
                self.said.append(data["text"])
                self.line(spoken(data["text"]))
            case "trust_changed" if data.get("trust") == "full":
                self.line(Text(f"{sign('✓')} The PIN was right: this conversation is yours.", style="green"))
            case "work_started":
                self.begun(data)
            case "tasks":
                self._show_plan(data.get("list"))

    def _pay(self, answer: str = "") -> None:
        """Print the line that waits, above what is said now."""
        if owed := self._owed:
            self._owed = {}
            self.line(step(owed, owed["arguments"], self._out.room, answer=answer))

    def _show_face(self, face: str, why: str) -> None:
        """The face of a reply stands before its words, or under those that came first; that of a call passes with it."""
        self.face = one_line(face)
        if why != "reply":
            self._pass("")
        elif self._lively and not self._quiet:
            self._take_back()
            self._flow.write("\n" if self._flow.open else "")
            self._flow.write(f"({self.face}) ")

    def _show_plan(self, plan: object) -> None:
        """The steps of a plan that stand otherwise than before."""
        if not isinstance(plan, Mapping):
            self._plan.clear()
            return
        tasks = [task for task in plan.get("tasks") or () if isinstance(task, Mapping)]
        news = [task for task in tasks if self._plan.get(task.get("order")) != task.get("status")]
        self._plan = {task.get("order"): task.get("status") for task in tasks}
        if news:
            self.line(Text(f"  {one_line(str(plan.get('title') or 'Plan'))}", style="bold"))
        for task in news:
            mark = sign(STANDS.get(str(task.get("status")), "○"))
            self.line(Text(cut(f"  {mark} {one_line(str(task.get('text') or ''))}", self._out.room)))

    def _pass(self, text: str) -> None:
        """A line that stands until the next one comes; only where lines can be taken back."""
        if self._lively and not self._quiet:
            self.rest()
            shown = f"({self.face}) {text}" if self.face else text
            self._out.print(Text(cut(f"  {shown}", self._out.width - 1), style="dim"), end="")
            self._passing = True

    def rest(self) -> None:
        """Let the next line begin at its left end."""
        self._take_back()
        self._flow.end()

    def _take_back(self) -> None:
        if self._passing:
            self._out.file.write("\r\x1b[K")
            self._passing = False


def spoken(text: str) -> Text:
    """A line that Etui says by itself."""
    return Text.assemble((f"{sign('●')} ", "yellow"), safe(text))
