"""`etui grant`: what a plugin may touch, what it asks for, and the owner's decisions about it.

Above: the command group. Below: `reach`, `show`. It refuses to know: how a decision is kept, and what a worker does with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from etui.errors import UsageError
from etui.surfaces.cli.reach import Reach, Way, part
from etui.surfaces.cli.seen import safe
from etui.surfaces.cli.show import console, print_json, sign

PARTS = click.Choice(["network", "subprocess", "write"])


@click.command()
@click.argument("plugin")
@click.argument("variables", nargs=-1, metavar="[NAME[=VALUE]]...")
@click.option("--no", "forbidden", multiple=True, type=PARTS, metavar="PART", help="Forbid network, subprocess or write.")
@click.option("--yes", "allowed", multiple=True, type=PARTS, metavar="PART", help="Allow it, asked for or not.")
@click.option("--read", "read", multiple=True, metavar="PATH", help="Let it read a folder or file of yours.")
@click.option("--write", "written", multiple=True, metavar="PATH", help="Let it write there, too.")
@click.option("--take", "taken", multiple=True, metavar="NAME", help="Take a variable or a path back.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def grant(
    way: Way,
    plugin: str,
    variables: tuple[str, ...],
    forbidden: tuple[str, ...],
    allowed: tuple[str, ...],
    read: tuple[str, ...],
    written: tuple[str, ...],
    taken: tuple[str, ...],
    as_json: bool,
) -> int:
    """Show what PLUGIN may touch, or decide it.

    NAME gives it that variable of Etui's own environment, NAME=VALUE one with a value of its own, which is never shown again.
    """
    if twice := {*forbidden} & {*allowed}:
        raise UsageError(f"{sorted(twice)[0]!r} can be forbidden or allowed, not both.")
    wishes: list[dict[str, object]] = [{"shut": _whole(one)} if _is_path(one) else {"take": one} for one in taken]
    wishes += [{"read": _whole(path)} for path in read]
    wishes += [{"write": _whole(path)} for path in written]
    wishes += [{"forbid": one} for one in forbidden]
    wishes += [{"allow": one} for one in allowed]
    wishes += [_given(one) for one in variables]
    path = f"/api/plugins/{part(plugin)}/grant"

    async def work(reach: Reach) -> dict[str, Any]:
        for wish in wishes:
            await reach.post(path, wish)
        return dict(await reach.get(path))

    found = way.go(work)
    if as_json:
        print_json(found)
    else:
        _print(found)
    return 0


def _is_path(text: str) -> bool:
    """Whether it is no name of a variable; a folder in this one is named as ./FOLDER."""
    return re.fullmatch(r"\w+", text) is None


def _whole(path: str) -> str:
    """The path as it is meant here, for a host that runs in another folder."""
    try:
        return str(Path.cwd() / Path(path).expanduser())
    except RuntimeError:  # ~somebody whom this machine does not know; the host says so
        return path


def _given(text: str) -> dict[str, object]:
    name, equals, value = text.partition("=")
    return {"give": name, "value": value} if equals else {"give": name}


def _print(found: Mapping[str, Any]) -> None:
    out = console()
    out.print(Text(safe(found["plugin"]), style="bold"))
    for row in found["touches"]:
        mark, style = (sign("✓"), "green") if row["given"] else ("-", "dim")
        out.print(Text.assemble((f"  {mark} ", style), safe(row["words"])))
    for words, key in (("You let it read", "read"), ("You let it read and write", "write")):
        for path in found["opened"][key]:
            out.print(Text.assemble((f"  {sign('●')} ", "yellow"), safe(f"{words} {path}.")))
    for name in found["missing"]:
        how = f"`etui grant {found['plugin']} {name}` gives it"
        if name in found["given"]:
            how = "it was given, and has no value"
        out.print(Text.assemble((f"  {sign('●')} ", "yellow"), safe(f"Asks for the variable {name}; {how}.")))
    for words, key in (("You forbade it", "forbidden"), ("You allowed it besides", "allowed")):
        if found[key]:
            out.print(Text.assemble((f"  {sign('●')} ", "yellow"), safe(f"{words}: {', '.join(found[key])}.")))
