"""`etui toolsets`: the saved toolsets, and which tools and accounts a chat has.

Above: the command group. Below: `reach`, `show`. It refuses to know: what a choice leads to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.text import Text

from etui.errors import EtuiError, UsageError
from etui.surfaces.cli.listing import lists
from etui.surfaces.cli.reach import Reach, Way, part
from etui.surfaces.cli.seen import safe
from etui.surfaces.cli.show import block, console, print_json

SETS = "/api/toolsets"


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_context
def toolsets(context: click.Context, as_json: bool) -> int:
    """List and save toolsets; choose the tools of a chat."""
    return lists(context, as_json, _list)


@toolsets.command()
@click.argument("name")
@click.argument("tools", nargs=-1, required=True)
@click.option("--emoji", default="", help="An emoji that stands for it.")
@click.pass_obj
def save(way: Way, name: str, tools: tuple[str, ...], emoji: str) -> int:
    """Save TOOLS as the toolset NAME, over one of the same name."""
    wanted = [one.strip() for word in tools for one in word.split(",") if one.strip()]
    wish = {"functions": wanted, "emoji": emoji}

    async def work(reach: Reach) -> tuple[Any, Any]:
        return await reach.put(f"{SETS}/{part(name)}", wish), await reach.get(SETS)

    saved, found = way.go(work)
    known = {tool["name"] for group in found["groups"] for tool in group["tools"]}
    for one in wanted:
        if one not in known:
            console(error=True).print(Text(safe(f"No tool is called {one!r} now."), style="yellow"))
    count = len(saved["functions"])
    console().print(f"{safe(saved['name'])} has {count} {'tool' if count == 1 else 'tools'}.")
    return 0


@toolsets.command()
@click.argument("name")
@click.pass_obj
def remove(way: Way, name: str) -> int:
    """Forget the toolset NAME; its tools stay."""
    way.go(lambda reach: reach.delete(f"{SETS}/{part(name)}", {}))
    console().print(f"{safe(name)} is gone.")
    return 0


@toolsets.command()
@click.argument("chat")
@click.option("--toolset", metavar="WORDS", help="Toolsets, categories, modules or tools, by commas; all, or none.")
@click.option("--extra", metavar="WORDS", help="What is added to them.")
@click.option("--scope", "scopes", multiple=True, metavar="KEY=NAME", help="An account for a scope; none closes it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def chat(way: Way, chat: str, toolset: str | None, extra: str | None, scopes: Sequence[str], as_json: bool) -> int:
    """Show what CHAT, a title or an id, has, or choose it.

    An empty text goes back to the default.
    """
    wishes: list[dict[str, object]] = []
    if toolset is not None:
        wishes.append({"key": "toolset", "value": toolset or None})
    if extra is not None:
        wishes.append({"key": "extra_toolsets", "value": [one.strip() for one in extra.split(",") if one.strip()] or None})
    for one in scopes:
        key, equals, name = one.partition("=")
        if not equals or not key:
            raise UsageError("--scope wants KEY=NAME.")
        wishes.append({"key": f"{key.removesuffix('_scope')}_scope", "value": name or None})

    async def work(reach: Reach) -> dict[str, Any]:
        path = f"/api/chats/{part(await _find(reach, chat))}/choices"
        for wish in wishes:
            await reach.put(path, wish)
        return dict(await reach.get(path))

    found = way.go(work)
    if as_json:
        print_json(found)
    else:
        _show(found)
    return 0


async def _find(reach: Reach, chat: str) -> str:
    """The id of the chat that is meant. Raises EtuiError."""
    chats = await reach.get("/api/chats")
    found = [one["id"] for one in chats if chat in (one["id"], one["title"])]
    if len(found) != 1:
        raise EtuiError(
            f"There is no chat {chat!r}." if not found else f"Several chats are called {chat!r}: {', '.join(found)}."
        )
    return str(found[0])


def _list(way: Way, as_json: bool) -> None:
    found = way.go(lambda reach: reach.get(SETS))
    if as_json:
        print_json(found)
        return
    out = console()
    if found["trouble"]:
        out.print(Text(safe(found["trouble"]), style="yellow"))
    if found["toolsets"]:
        out.print(Text("Saved", style="bold"))
        block(out, [(f"{one['emoji']} {one['name']}".strip(), ", ".join(one["functions"])) for one in found["toolsets"]])
    out.print(Text("Categories and groups", style="bold"))
    block(out, [(one["name"], ", ".join(tool["name"] for tool in one["tools"])) for one in found["groups"]])


def _show(found: Mapping[str, Any]) -> None:
    out = console()
    toolset = found["toolset"] if isinstance(found["toolset"], str) else ", ".join(found["toolset"])
    rows = [("toolset", toolset), ("extra", ", ".join(found["extra_toolsets"]) or "none")]
    rows += [(one["key"], one["stands_for"] or "closed") for one in found["scopes"]]
    block(out, [*rows, ("tools", ", ".join(found["tools"]) or "none")])
    for word in found["unknown"]:
        out.print(Text(safe(f"Nothing is called {word!r}."), style="yellow"))
