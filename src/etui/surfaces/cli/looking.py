"""`etui tools`, `etui audit` and `etui doctor`: what there is, what happened, what is enforced here.

Above: the command group. Below: `reach`, `show`. It refuses to know: how any of it is found out.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Set
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from etui.contracts.marks import unmarked
from etui.errors import UsageError
from etui.outcome import Status
from etui.surfaces.cli.reach import Reach, Way, part
from etui.surfaces.cli.seen import one_line, safe
from etui.surfaces.cli.show import Out, block, console, cut, print_json, sign, step


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document: tools, plugins and problems.")
@click.option("--all", "everything", is_flag=True, help="Warnings and notes too.")
@click.option("--on", metavar="NAME", help="Switch a tool or a toolset on.")
@click.option("--off", metavar="NAME", help="Switch a tool or a toolset off.")
@click.pass_obj
def tools(way: Way, as_json: bool, everything: bool, on: str | None, off: str | None) -> int:
    """List the tools, and what was refused and why.

    Exits with 1 if anything was refused. With --on or --off only the switch is thrown.
    """
    wanted = {name: state for name, state in ((on, True), (off, False)) if name is not None}
    if on is not None and on == off:
        raise UsageError(f"{on!r} can be on or off, not both.")

    async def work(reach: Reach) -> dict[str, Any]:
        for name, state in wanted.items():
            await reach.post(f"/api/tools/{part(name)}/switch", {"on": state})
        return dict(await reach.get("/api/tools"))

    found = way.go(work)
    if not everything:
        found["problems"] = [problem for problem in found["problems"] if problem["refused"]]
    if as_json:
        print_json(found)
    elif wanted:
        for name, state in wanted.items():
            console().print(f"{safe(name)} is {'on' if state else 'off'}.")
    else:
        _print_tools(found, everything)
    return 1 if not wanted and any(problem["refused"] for problem in found["problems"]) else 0


def _print_tools(found: Mapping[str, Any], everything: bool) -> None:
    out = console()
    off = {tool["name"] for tool in found["tools"] if not tool["on"]}
    hints = {problem["file"]: problem["hint"] for problem in found["problems"] if problem["refused"] and problem["hint"]}
    for folder in found["folders"]:
        _print_folder(folder, off, hints, out)
    listed = {tool["name"] for folder in found["folders"] for tool in folder["tools"]}
    rows = [tool for tool in found["tools"] if tool["name"] not in listed]
    rows.sort(key=lambda tool: (tool["source"] == "shelf", tool["plugin"], tool["name"]))
    if not rows and not found["folders"]:
        out.print("There are no tools yet. Save a Python file with `@tool` in the tools folder; `etui doctor` names it.")
    widest = max((cell_len(one_line(tool["name"])) for tool in rows), default=0)
    for plugin, group in groupby(rows, key=lambda tool: tool["plugin"]):
        out.print(Text(one_line(plugin), style="bold"))
        for tool in group:
            out.print(_tool_line(tool, min(widest, max(12, out.room // 3)), out))
    for family in found["families"]:
        if not family["on"] and not family["tools"]:
            # None of its code runs, so nobody knows what it offers.
            out.print(
                Text.assemble(
                    (one_line(", ".join(family["plugins"]) or family["name"]), "bold"),
                    ("  off", "yellow"),
                    (f"  `etui tools --on {one_line(family['name'])}` switches it on", "dim"),
                )
            )
    places = {folder["directory"] for folder in found["folders"]}
    for problem in found["problems"]:
        if problem["file"] not in places and str(Path(problem["file"]).parent) not in places:
            _print_problem(problem)
    for plugin in found["plugins"]:
        asked = [f"It asks for the variable {name}; `etui grant {plugin['name']} {name}` gives it." for name in plugin["asks"]]
        for note in plugin["notes"] if everything else asked:
            out.print(Text.assemble((f"{sign('●')} ", "yellow"), safe(f"{plugin['name']}: {note}")))


def _print_folder(folder: Mapping[str, Any], off: Set[str], hints: Mapping[str, str], out: Out) -> None:
    """What one flat folder of tool files holds: its tools, whether each waits for the PIN, and what was refused.

    `off` names the tools that are switched off, `hints` says by path what to do about a file that was refused.
    """
    out.print(f"# {safe(folder['directory'])}")
    if not folder["tools"] and not folder["refused"]:
        out.print("no custom tools")
    for tool in folder["tools"]:
        pin = "needs PIN" if tool["needs_pin"] else "no PIN"
        line = Text(f"{safe(tool['name']):<24} {pin:<10} {one_line(tool['file'])}")
        out.print(line.append("  off", "yellow") if tool["name"] in off else line)
    for refused in folder["refused"]:
        out.print(Text(f"refused {one_line(refused['file'])}: {safe(refused['reason'].replace(chr(10), ' '))}"))
        if hint := hints.get(str(Path(folder["directory"], refused["file"]))):
            console(error=True).print(f"  {safe(hint)}", style="dim")


def _tool_line(tool: Mapping[str, Any], name_room: int, out: Out) -> Text:
    """A tool on one line: its name, its risk, and what it is for as far as there is room."""
    name = one_line(tool["name"])
    line = Text("  " + set_cell_size(name, max(name_room, cell_len(name))) + "  ")
    line.append(f"{tool['risk'] if tool['on'] else 'off':<7}", style="cyan" if tool["on"] else "yellow")
    room = max(12, out.room - cell_len(line.plain) - 2)
    return line.append(f"  {cut(one_line(tool['description']), room)}".rstrip(), style="dim" if not tool["on"] else "")


def _print_problem(problem: Mapping[str, Any]) -> None:
    out = console(error=True)
    place = one_line(problem["file"]) if problem["file"] else ""
    where = f" ({place}:{problem['line']})" if problem["line"] else f" ({place})" if place else ""
    mark, style = (sign("✗"), "red") if problem["refused"] else (sign("●"), "yellow")
    out.print(Text.assemble((f"{mark} {one_line(problem['what'])}: ", style), safe(problem["reason"]), (where, "dim")))
    if problem["hint"]:
        out.print(f"  {safe(problem['hint'])}", style="dim")


@click.command()
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1, 200), metavar="N", help="How many calls.")
@click.option("--tool", default="", metavar="NAME", help="Only calls of this tool.")
@click.option(
    "--status",
    metavar="END",
    type=click.Choice(["running", *(one.value for one in Status)]),
    help="Only calls that ended so: refused…",
)
@click.option("--actions", is_flag=True, help="What was done and decided instead, and who permitted it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def audit(way: Way, limit: int, tool: str, status: str | None, actions: bool, as_json: bool) -> int:
    """List the last calls and how each ended.

    What ran, with which arguments, how long it took, and which rule refused it. Secrets are masked.
    """
    if actions:
        if tool or status:
            raise UsageError("--actions lists what all tools did: leave out --tool and --status.")
        return _actions(way.go(lambda reach: reach.get("/api/actions", limit=limit))["actions"], as_json)
    found = way.go(lambda reach: reach.get("/api/audit", limit=limit, tool=tool, status=status or ""))
    if as_json:
        print_json(found["entries"])
        return 0
    out = console()
    if not found["entries"]:
        out.print("No call fits." if tool or status else "Nothing was called yet.")
    for entry in reversed(found["entries"]):
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry["started"]))
        start = f"{when} {one_line(entry['channel']) or '-':<8}"
        out.print(Text.assemble((start, "dim"), step(entry, entry["arguments"], out.room - len(start))))
        if entry["status"] != "ok" and (said := unmarked(entry["shown"]) or entry["text"]):
            out.print(Text(f"      {cut(one_line(said), max(20, min(out.room, 200) - 6))}", style="dim"))
    return 0


def _actions(rows: list[dict[str, Any]], as_json: bool) -> int:
    if as_json:
        print_json(rows)
        return 0
    out = console()
    if not rows:
        out.print("Nothing was done yet: calls that only read are no actions.")
    for row in reversed(rows):
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row["at"]))
        start = f"{when} {row['risk']:<8}{row['detail']:<19}"
        out.print(Text.assemble((start, "dim"), cut(one_line(row["action"]), max(20, out.room - len(start)))))
        out.print(Text(f"      {one_line(row['authority'])}", style="dim"))
    return 0


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def doctor(way: Way, as_json: bool) -> int:
    """Say what is enforced here, where things are kept, what is amiss."""

    async def work(reach: Reach) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        return await reach.get("/api/doctor"), (await reach.get("/api/tools"))["problems"]

    report, problems = way.go(work)
    if as_json:
        print_json(report)
        return 0
    out = console()
    about = report["etui"]
    out.print(f"Etui {about['version']} with Python {about['python']} on {safe(about['system'])}.")
    _heading(out, "Where things are kept")
    block(out, [(key.replace("_", " "), safe(path)) for key, path in report["kept_in"].items()])
    _heading(out, "What a tool is held to here")
    block(out, [(words, _held(report["enforced"], name)) for name, words in HELD.items()])
    _heading(out, "What runs")
    block(out, _running(report))
    _heading(out, "What is amiss")
    if not problems:
        out.print("  Nothing.")
    for problem in problems:
        out.print(f"  {one_line(problem['what'])}: {one_line(problem['reason'])}")
    return 0


HELD = {
    "files": "writes only where it may",
    "reads": "reads only what it may",
    "network": "opens connections only if it may",
    "subprocess": "starts programs only if it may",
    "memory": "takes no more memory than it may",
}
"""What each line of the report about the machine means."""


def _held(enforced: Mapping[str, Any], name: str) -> str:
    by = enforced.get(name, "none")
    if by == "none":
        return "only a promise: nothing on this machine enforces it, so such calls are asked about first"
    landlock = f", Landlock {enforced['landlock']}" if name in ("files", "reads") and enforced.get("landlock") else ""
    return f"enforced by the {'kernel' if by == 'kernel' else 'limit on its process'}{landlock}"


def _running(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    counts = report["tools"]
    refused = f"; {counts['refused']} refused, which `etui tools` explains" if counts["refused"] else ""
    workers = [f"{one_line(worker['plugin'])} ({worker['pid']})" for worker in report["workers"]]
    return [
        ("tools", f"{counts['tools']} from {counts['plugins']} plugins{refused}"),
        ("they run in", str(report["tools_run_in"])),
        ("workers", ", ".join(workers) or "none at the moment; each starts at its first call"),
        ("what answers", str(report["answers"]["model"])),
        ("time zone", str(report["answers"]["time_zone"])),
    ]


def _heading(out: Out, text: str) -> None:
    out.print()
    out.print(text, style="bold")
