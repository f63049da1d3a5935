"""`etui accounts`: the owner's mailboxes, wallets, servers and keys, and which plugins may have which.

No secret is taken from the command line, where others could read it. Above: the command group. Below: `reach`, `show`. It
refuses to know: how an account is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.text import Text

from etui.errors import UsageError
from etui.owner.kinds import KINDS, Kind
from etui.surfaces.cli.listing import lists
from etui.surfaces.cli.plugging import ask_secrets
from etui.surfaces.cli.reach import Way, part
from etui.surfaces.cli.seen import one_line, safe
from etui.surfaces.cli.show import beside, block, console, print_json, sign

PATH = "/api/accounts"
KIND = click.Choice(list(KINDS))


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_context
def accounts(context: click.Context, as_json: bool) -> int:
    """List your accounts, keep or forget one, give one to a plugin."""
    return lists(context, as_json, _list)


@accounts.command()
@click.argument("kind", type=KIND)
@click.argument("name", default="default")
@click.option("--set", "pairs", multiple=True, metavar="FIELD=VALUE", help="A field that is no secret; any number of them.")
@click.option("--secret", "secrets", multiple=True, metavar="FIELD", help="Ask for this secret, or read a line of the input.")
@click.pass_obj
def keep(way: Way, kind: str, name: str, pairs: Sequence[str], secrets: Sequence[str]) -> int:
    """Keep an account of KIND, called NAME.

    A secret that is left out stays as it was.
    """
    known = KINDS[kind]
    values: dict[str, object] = _pairs(known, pairs)
    if unknown := [one for one in secrets if one not in known.secrets]:
        raise UsageError(f"{known.title} has no secret {unknown[0]!r}: {', '.join(sorted(known.secrets))}.")
    values |= ask_secrets(secrets)
    path = _path(kind, known.only or name)
    way.go(lambda reach: reach.put(path, {"values": values}))
    console().print(f"{known.title} {safe(known.only or name)} is kept.")
    return 0


@accounts.command()
@click.argument("kind", type=KIND)
@click.argument("name", default="default")
@click.pass_obj
def forget(way: Way, kind: str, name: str) -> int:
    """Forget an account, and who was given it."""
    way.go(lambda reach: reach.delete(_path(kind, name), {}))
    console().print(f"{KINDS[kind].title} {safe(name)} is forgotten.")
    return 0


@accounts.command()
@click.argument("plugin")
@click.argument("kind", type=KIND)
@click.argument("name", default="*")
@click.pass_obj
def give(way: Way, plugin: str, kind: str, name: str) -> int:
    """Let PLUGIN have the account NAME, or all of KIND."""
    return _decide(way, plugin, kind, name, True)


@accounts.command()
@click.argument("plugin")
@click.argument("kind", type=KIND)
@click.argument("name", default="*")
@click.pass_obj
def take(way: Way, plugin: str, kind: str, name: str) -> int:
    """Take the account NAME, or all of KIND, back from PLUGIN."""
    return _decide(way, plugin, kind, name, False)


def _decide(way: Way, plugin: str, kind: str, name: str, on: bool) -> int:
    way.go(lambda reach: reach.post(f"{_path(kind, name)}/grant", {"plugin": plugin, "on": on}))
    what = f"every account of the kind {kind}" if name == "*" else f"{kind}:{name}"
    console().print(f"{safe(plugin)} {'may have' if on else 'was given, and has no more,'} {safe(what)}.")
    return 0


def _path(kind: str, name: str) -> str:
    return f"{PATH}/{part(kind)}/{part(name)}"


def _pairs(kind: Kind, pairs: Sequence[str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for pair in pairs:
        field, equals, value = pair.partition("=")
        if not equals or field not in kind.fields:
            raise UsageError(f"--set wants FIELD=VALUE; {kind.title} has {', '.join(kind.fields)}.")
        if field in kind.secrets:
            raise UsageError(f"{field!r} is a secret, which others could read on the command line: use --secret {field}.")
        values[field] = value
    return values


def _list(way: Way, as_json: bool) -> None:
    found = way.go(lambda reach: reach.get(PATH))
    if as_json:
        print_json(found)
        return
    out = console()
    if found["trouble"]:
        out.print(Text(safe(found["trouble"]), style="yellow"))
    for kind in found["kinds"]:
        mine = [one for one in found["accounts"] if one["kind"] == kind["name"]]
        out.print(Text.assemble((kind["title"], "bold"), f" ({kind['name']})"))
        if not mine:
            out.print(Text(beside("", "none", out, 0, 0), style="dim"))
        for one in mine:
            shown = [f"{field} {one_line(value)}" for field, value in one["values"].items()]
            shown += [f"{field} {sign('●')}" for field in one["set"]]
            block(out, [(one["name"], ", ".join(shown))])
            told = f"for {', '.join(one['plugins'])}" if one["plugins"] else "for no plugin"
            out.print(Text(beside("", told, out, 4, 0), style="dim"))
