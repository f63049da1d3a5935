"""`etui tools`, `etui audit` and `etui doctor`: what there is, what happened, what is enforced here.

Above: the command group. Below: `reach`, `show`. It refuses to know: how any of it is found out.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import click
from rich.text import Text

from etui.surfaces.cli.reach import Reach, Way
from etui.surfaces.cli.show import console, one_line, print_json, safe, sign, step, table


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document: tools, plugins and problems.")
@click.option("--all", "everything", is_flag=True, help="Warnings and notes too.")
@click.option("--on", metavar="NAME", help="Switch a tool on.")
@click.option("--off", metavar="NAME", help="Switch a tool off.")
@click.pass_obj
def tools(way: Way, as_json: bool, everything: bool, on: str | None, off: str | None) -> int:
    """List the tools, and what was refused and why. Exits with 1 if anything was refused."""

    async def work(reach: Reach) -> dict[str, Any]:
        for name, state in ((on, True), (off, False)):
            if name:
                await reach.post(f"/api/tools/{name}/switch", {"on": state})
        return dict(await reach.get("/api/tools"))

    found = way.go(work)
    if not everything:
        found["problems"] = [problem for problem in found["problems"] if problem["refused"]]
    if as_json:
        print_json(found)
    else:
        _print_tools(found, everything)
    return 1 if any(problem["refused"] for problem in found["problems"]) else 0


def _print_tools(found: Mapping[str, Any], everything: bool) -> None:
    out = console()
    if found["tools"]:
        head = ["tool", "plugin", "does", "what it is for"]
        rows = [
            [f"{tool['name']}{'' if tool['on'] else ' (off)'}", tool["plugin"], tool["does"], one_line(tool["description"], 70)]
            for tool in found["tools"]
        ]
        out.print(table(head, rows))
    else:
        out.print("There are no tools yet. Save a Python file with `@tool` in the tools folder.")
    for problem in found["problems"]:
        _print_problem(problem)
    if everything:
        for plugin in found["plugins"]:
            for note in plugin["notes"]:
                out.print(Text.assemble((f"{sign('●')} ", "yellow"), safe(f"{plugin['name']}: {note}")))


def _print_problem(problem: Mapping[str, Any]) -> None:
    out = console(error=True)
    where = f" ({problem['file']}:{problem['line']})" if problem["line"] else f" ({problem['file']})" if problem["file"] else ""
    mark, style = (sign("✗"), "red") if problem["refused"] else (sign("●"), "yellow")
    out.print(Text.assemble((f"{mark} {safe(problem['what'])}: ", style), safe(problem["reason"]), (safe(where), "dim")))
    if problem["hint"]:
        out.print(f"  {safe(problem['hint'])}", style="dim")


@click.command()
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 200), help="How many calls.")
@click.option("--tool", default="", help="Only calls of this tool.")
@click.option("--status", default="", help="Only calls that ended so, such as `refused`.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def audit(way: Way, limit: int, tool: str, status: str, as_json: bool) -> int:
    """Show the last calls: what ran, with what, how it ended, and which rule refused."""
    found = way.go(lambda reach: reach.get("/api/audit", limit=limit, tool=tool, status=status))
    if as_json:
        print_json(found["entries"])
        return 0
    out = console()
    if not found["entries"]:
        out.print("Nothing was called yet.")
    for entry in reversed(found["entries"]):
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry["started"]))
        out.print(Text.assemble((f"{when} {entry['channel'] or '-'}", "dim"), step(entry, entry["arguments"])))
        if entry["status"] != "ok":
            out.print(f"      {one_line(entry['text'], 160)}", style="dim")
    return 0


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def doctor(way: Way, as_json: bool) -> int:
    """Say what this machine enforces, where things are kept, and what is amiss."""
    report = way.go(lambda reach: reach.get("/api/doctor"))
    if as_json:
        print_json(report)
        return 0
    out = console()
    for title, lines in report.items():
        out.print(safe(title.replace("_", " ")), style="bold")
        out.print(_block(lines))
    return 0


def _block(lines: object) -> Any:
    if isinstance(lines, Mapping):
        return table(["", ""], [[f"  {key.replace('_', ' ')}", _words(value)] for key, value in lines.items()])
    if isinstance(lines, list):
        return "\n".join(f"  {_words(line)}" for line in lines) or "  none"
    return f"  {_words(lines)}"


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_words(item)}" for key, item in value.items())
    return safe(value)
