"""`etui chat`, `etui call` and `etui teach`: saying something, calling a tool by its name, teaching a sentence.

Above: the command group. Below: `reach`, `show`. It refuses to know: models, gates and runners.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Mapping
from typing import Any

import click
from rich.text import Text

from etui.cards import ALWAYS_CALL, ALWAYS_TOOL, APPROVE, DECLINE
from etui.errors import UsageError
from etui.surfaces.cli.reach import Reach, Way
from etui.surfaces.cli.show import console, print_json, safe, sign, step


@click.command()
@click.argument("text", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document: the answer and the steps.")
@click.pass_obj
def chat(way: Way, text: str | None, as_json: bool) -> int:
    """Say something; without TEXT, talk until Ctrl-D."""
    if text is None and as_json:
        text = sys.stdin.read().strip()
    if text is not None:
        if not text.strip():
            raise UsageError("There is nothing to say: the text is empty.")
        said = text
        return way.go(lambda reach: Talk(reach, as_json=as_json).once(said))
    return way.go(lambda reach: Talk(reach, as_json=False).until_end())


class Talk:
    """One conversation in the terminal."""

    def __init__(self, reach: Reach, *, as_json: bool) -> None:
        self._reach = reach
        self._as_json = as_json
        self._chat = ""
        self._out = console()
        self._arguments: dict[str, object] = {}
        self._steps: list[dict[str, Any]] = []
        self._open_line = False
        self._asking: asyncio.Task[None] | None = None

    async def once(self, text: str) -> int:
        """Say one thing; 0 if it was answered."""
        answer = await self._say(text)
        if self._as_json:
            print_json({"answer": answer["text"], "why": answer["why"], "chat": self._chat, "steps": self._steps})
        return 0 if answer["why"] == "done" else 1

    async def until_end(self) -> int:
        """Read lines and answer each, until the input ends. What comes due meanwhile is said too."""
        quiet = not sys.stdin.isatty()
        if not quiet:
            self._out.print("Say what you want; Ctrl-D ends.", style="dim")
        hearing = asyncio.create_task(self._reach.events(self._hear))
        try:
            while True:
                line = await _read_line("" if quiet else f"{sign('→')[:1] if quiet else '>'} ")
                if line is None:
                    return 0
                if line.strip():
                    await self._say(line)
        finally:
            hearing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await hearing

    async def _hear(self, event: dict[str, Any]) -> None:
        """Lines that belong to no turn: a timer that ends, a reminder that comes due."""
        if event.get("kind") == "said" and not event.get("turn"):
            self._line(Text.assemble((f"{sign('●')} ", "yellow"), safe(event["data"]["text"])))

    async def _say(self, text: str) -> dict[str, Any]:
        answer: dict[str, Any] = {"text": "", "why": "failed"}
        body = {"text": text, "chat": self._chat, "channel": "terminal", "attended": _attended()}
        async for event in self._reach.lines("/api/chat", body):
            self._chat = event.get("chat") or self._chat
            if event["kind"] == "answer":
                answer = event
            else:
                self._take(event)
        if not self._as_json:
            self._finish(answer)
        return answer

    def _take(self, event: Mapping[str, Any]) -> None:
        data = event.get("data", {})
        match event["kind"]:
            case "call_started":
                self._arguments[event["call"]] = data.get("arguments")
            case "call_ended":
                arguments = self._arguments.get(event["call"])
                self._steps.append({**data, "arguments": arguments})
                self._line(step(data, arguments))
            case "card_opened" if _attended():
                self._asking = asyncio.create_task(ask(self._reach, data["card"]))
            case "text" if not self._as_json:
                self._out.print(safe(data["text"]), end="")
                self._open_line = not data["text"].endswith("\n")
            case "said" if event.get("turn"):
                self._line(Text.assemble((f"{sign('●')} ", "yellow"), safe(data["text"])))

    def _finish(self, answer: Mapping[str, Any]) -> None:
        if self._open_line:
            self._out.print()
        elif answer["text"]:
            self._out.print(safe(answer["text"]))
        self._open_line = False

    def _line(self, text: Text) -> None:
        if self._as_json:
            return
        if self._open_line:
            self._out.print()
            self._open_line = False
        self._out.print(text)


def _attended() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


async def _read_line(prompt: str) -> str | None:
    """One line from the person, or None at the end of the input."""

    def read() -> str | None:
        try:
            return input(prompt)
        except EOFError:
            return None

    # A thread that waits for the keyboard must not hold up Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return await asyncio.to_thread(read)


async def ask(reach: Reach, card: Mapping[str, Any]) -> None:
    """Put a card's question to the person and send the answer."""
    out = console(error=True)
    out.print(Text.assemble(("? ", "bold yellow"), (safe(card["question"]), "bold")))
    if card["kind"] == "approval":
        out.print(safe(json.dumps(card["arguments"], ensure_ascii=False, indent=2)))
        if card.get("reason"):
            out.print(safe(card["reason"]), style="dim")
        out.print("y = yes, n = no, c = always for this exact call, t = always for this tool here", style="dim")
        choices = {"y": APPROVE, "yes": APPROVE, "n": DECLINE, "no": DECLINE, "c": ALWAYS_CALL, "t": ALWAYS_TOOL}
    else:
        choices = {str(number): choice for number, choice in enumerate(card["choices"], 1)}
        for number, choice in choices.items():
            out.print(f"  {number} {safe(choice)}")
    answer = await _read_line("? ")
    said = (answer or "").strip()
    choice = choices.get(said.lower(), said if card["kind"] == "question" and said else DECLINE)
    await reach.post(f"/api/cards/{card['id']}", {"choice": choice})


@click.command()
@click.argument("name")
@click.argument("arguments", metavar="[JSON]", required=False, default="{}")
@click.option("--json", "as_json", is_flag=True, help="One JSON document: the whole outcome.")
@click.option("--channel", default="terminal", show_default=True, help="The channel to call from.")
@click.option("--plugin", default="", help="Only if the tool belongs to this plugin.")
@click.pass_obj
def call(way: Way, name: str, arguments: str, as_json: bool, channel: str, plugin: str) -> int:
    """Call the tool NAME with arguments as a JSON object, or `-` to read them from standard input."""
    text = sys.stdin.read() if arguments == "-" else arguments
    try:
        given = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The arguments are no JSON: {error}") from None
    if not isinstance(given, dict):
        raise UsageError("The arguments must be a JSON object, such as '{\"count\": 3}'.")
    outcome = way.go(lambda reach: _call(reach, {"tool": name, "arguments": given, "channel": channel, "plugin": plugin}))
    if as_json:
        print_json(outcome)
    else:
        _print_outcome(outcome)
    return 0 if outcome["status"] == "ok" else 1


async def _call(reach: Reach, wish: dict[str, object]) -> dict[str, Any]:
    if not _attended():
        return dict(await reach.post("/api/call", wish))

    async def hear(event: dict[str, Any]) -> None:
        if event.get("kind") == "card_opened" and event.get("data", {}).get("card", {}).get("tool") == wish["tool"]:
            await ask(reach, event["data"]["card"])

    hearing = asyncio.create_task(reach.events(hear))
    try:
        return dict(await reach.post("/api/call", {**wish, "attended": True}))
    finally:
        hearing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await hearing


def _print_outcome(outcome: Mapping[str, Any]) -> None:
    good = outcome["status"] == "ok"
    out = console(error=not good)
    text = outcome["shown"] or outcome["text"]
    if not good:
        rule = f" by {outcome['rule']}" if outcome["rule"] else ""
        out.print(Text(f"{outcome['status'].replace('_', ' ')}{rule}: ", style="bold red"), end="")
    out.print(safe(text))
    for kept in (*outcome["images"], *outcome["files"]):
        out.print(f"  {sign('→')} {safe(kept.get('name') or kept.get('media_type'))} ({kept['id']})", style="dim")


@click.command()
@click.argument("name")
@click.argument("sentence", required=False)
@click.option("--forget", is_flag=True, help="Take the sentence back.")
@click.pass_obj
def teach(way: Way, name: str, sentence: str | None, forget: bool) -> int:
    """Teach the tool NAME a SENTENCE, such as "wake me at {time}"; without one, list what was taught."""
    if sentence is None and forget:
        raise UsageError("Say which sentence to forget.")

    async def work(reach: Reach) -> list[str]:
        path = f"/api/tools/{name}/teach"
        if sentence is None:
            return list((await reach.get(f"/api/tools/{name}"))["taught"])
        answer = await (reach.delete if forget else reach.post)(path, {"sentence": sentence})
        return list(answer["taught"])

    taught = way.go(work)
    out = console()
    out.print(f"{name} is also meant by:" if taught else f"Nothing is taught for {name}.")
    for one in taught:
        out.print(f"  {safe(one)}")
    return 0
