"""`etui call` and `etui teach`: calling a tool by its name, teaching it a sentence.

Above: the command group. Below: `keyboard`, `reach`, `show`. It refuses to know: gates and runners.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click
from rich.text import Text

from etui.contracts.marks import offered, unmarked
from etui.errors import EtuiError, UsageError
from etui.outcome import BAD
from etui.surfaces.cli.keyboard import Asking, attended
from etui.surfaces.cli.reach import Reach, Way, part
from etui.surfaces.cli.seen import one_line, safe
from etui.surfaces.cli.show import console, print_json, sign
from etui.surfaces.cli.streams import read_all

CHANNELS = ("console", "terminal", "voice", "phone", "mcp", "http", "python")


@click.command()
@click.argument("name")
@click.argument("arguments", metavar="[JSON]", required=False, default="{}")
@click.option("--json", "as_json", is_flag=True, help="One JSON document: the whole outcome.")
@click.option("--channel", default="terminal", type=click.Choice(CHANNELS), metavar="NAME", help="As if called from there.")
@click.option("--plugin", default="", metavar="NAME", help="Only if the tool belongs to this plugin.")
@click.pass_obj
def call(way: Way, name: str, arguments: str, as_json: bool, channel: str, plugin: str) -> int:
    """Call the tool NAME.

    JSON is an object with its arguments, such as '{"count": 3}', or - to read it from standard input.
    Exits with 0 if all went well, with 1 if the call failed or was refused.
    """
    given = _object(_read() if arguments == "-" else arguments)
    outcome = way.go(lambda reach: _call(reach, {"tool": name, "arguments": given, "channel": channel, "plugin": plugin}))
    if as_json:
        print_json(outcome)
    else:
        _print_outcome(outcome)
    return 0 if outcome["status"] == "ok" else 1


def _read() -> str:
    try:
        return read_all()
    except EtuiError as error:
        raise UsageError(str(error)) from None


def _object(text: str) -> dict[str, Any]:
    """The JSON object in a text. Raises UsageError with what is wrong with it."""
    try:
        text = text.removeprefix("\ufeff")  # as some editors and shells begin a file
        given = json.loads(text, parse_constant=_no_number) if text.strip() else {}
    except RecursionError:
        raise UsageError("The arguments are nested too deeply.") from None
    except ValueError as error:
        raise UsageError(f"The arguments are no JSON: {error}.") from None
    if not isinstance(given, dict):
        raise UsageError("The arguments must be a JSON object, such as '{\"count\": 3}'.")
    return given


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number that JSON knows")


async def _call(reach: Reach, wish: dict[str, object]) -> dict[str, Any]:
    if not attended():
        return dict(await reach.post("/api/call", wish))
    asking = Asking(reach)

    async def hear(event: dict[str, Any]) -> None:
        data = event.get("data", {})
        # A call from here belongs to no chat.
        if event.get("kind") == "card_opened" and data["card"]["tool"] == wish["tool"] and not event.get("chat"):
            asking.opened(data["card"])
        elif event.get("kind") == "card_closed":
            asking.closed(data["card"])

    try:
        async with reach.hearing(hear):
            return dict(await reach.post("/api/call", {**wish, "attended": True}))
    finally:
        await asking.close()


def _print_outcome(outcome: Mapping[str, Any]) -> None:
    good = outcome["status"] == "ok"
    out = console(error=not good)
    line = Text()
    if not good:
        rule = f" by {one_line(outcome['rule'])}" if outcome["rule"] else ""
        line.append(f"{outcome['status'].replace('_', ' ')}{rule}: ", style="bold red")
    out.print(line + Text(safe(unmarked(outcome["shown"]).rstrip() or outcome["text"])))
    if not good and outcome["why"] and outcome["status"] in BAD:
        out.print(Text(safe(outcome["why"])))
    if not good and outcome["detail"] not in ("", outcome["why"]):
        out.print(Text(safe(outcome["detail"].rstrip()), style="dim"))
    for kept in (*outcome["images"], *outcome["files"]):
        name = kept.get("name") or kept.get("alt") or kept.get("media_type")
        out.print(Text(f"  {sign('→')} {one_line(name)} ({kept['id']})", style="dim"))
    for name in offered(outcome["shown"]):
        out.print(Text(f"  {sign('→')} {one_line(name)}, to be had in the console", style="dim"))


@click.command()
@click.argument("name")
@click.argument("sentence", required=False)
@click.option("--forget", is_flag=True, help="Take the sentence back.")
@click.pass_obj
def teach(way: Way, name: str, sentence: str | None, forget: bool) -> int:
    """Teach the tool NAME a SENTENCE that also means it.

    What stands in braces is an argument, as in "wake me at {time}". Without SENTENCE: list what was taught.
    """
    if sentence is None and forget:
        raise UsageError("Say which sentence to forget.")

    async def work(reach: Reach) -> list[str]:
        path = f"/api/tools/{part(name)}"
        if sentence is None:
            return list((await reach.get(path))["taught"])
        answer = await (reach.delete if forget else reach.post)(f"{path}/teach", {"sentence": sentence})
        return list(answer["taught"])

    taught = way.go(work)
    out = console()
    out.print(f"{safe(name)} is also meant by:" if taught else f"Nothing is taught for {safe(name)}.")
    for one in taught:
        out.print(f"  {one_line(one)}")
    return 0
