"""`etui plugins`: the plugins with settings, listed, turned on with their settings and secrets, and turned off.

Above: the command group. Below: `reach`, `show`, and what there is to set. It refuses to know: where the files lie, and how a
secret is kept. No secret is taken from the command line, where others could read it; and only the owner installs or removes, at
their own terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.cells import set_cell_size
from rich.text import Text

from etui.errors import EtuiError, UsageError
from etui.extras.offers import OFFERS
from etui.plugins.packaged import offered, refuse_secret
from etui.surfaces.cli.listing import lists
from etui.surfaces.cli.reach import Reach, Way, part
from etui.surfaces.cli.seen import one_line, safe
from etui.surfaces.cli.show import beside, console, print_json

ACTOR = "KERYX_ACTOR"
"""The variable that says who runs a command; in the process of a plugin it is `service`."""
NAMES, STATES = 16, 8
"""Columns of a name and of how it stands."""


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_context
def plugins(context: click.Context, as_json: bool) -> int:
    """List plugins with settings; turn one on or off, or show it."""
    return lists(context, as_json, _list)


@plugins.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def list_plugins(way: Way, as_json: bool) -> int:
    """List them: on, off, or refused and why."""
    _list(way, as_json)
    return 0


@plugins.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def show(way: Way, name: str, as_json: bool) -> int:
    """Show one: what can be set, what is set, its secrets' names."""
    found = way.go(lambda reach: reach.get(f"/api/extras/{part(name)}"))
    if as_json:
        print_json({**found["plugin"], "secrets": found["secrets"]})
    else:
        _show(found["plugin"], found["secrets"])
    return 0


@plugins.command()
@click.argument("name", required=False)
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A setting, or TABLE.NAME=VALUE; any number of them.")
@click.option(
    "--secret", "secrets", multiple=True, metavar="NAME", help="Ask for this secret, or read it as a line of the input."
)
@click.option("--template", is_flag=True, help="Only write the settings and a draft, for you to finish by hand.")
@click.option("--from-settings", is_flag=True, help="Turn on what is off and has settings in the folder: NAME, or all of them.")
@click.pass_obj
def install(
    way: Way, name: str | None, pairs: Sequence[str], secrets: Sequence[str], template: bool, from_settings: bool
) -> int:
    """Turn a plugin on; it is there from the next call.

    Run it again to change a setting. A tool file that you edited is left as it is.
    """
    _only_the_owner("install")
    wanted = _pairs(pairs)
    if name is None:
        if not from_settings or pairs or secrets or template:
            raise UsageError("Say which plugin: `etui plugins` lists them.")
        return _told(way.go(lambda reach: reach.post("/api/extras", {})))
    if from_settings and (pairs or template):
        raise UsageError("--from-settings takes the settings as they are: leave out --set and --template.")
    offer = _offer(name)
    if unknown := [one for one in secrets if one not in {secret.name for secret in offer.secrets}]:
        raise EtuiError(f"{name} wants no secret called {unknown[0]!r}.")
    wish = {"set": wanted, "secrets": ask_secrets(secrets), "draft": template, "waiting": from_settings}
    state = way.go(lambda reach: reach.post(f"/api/extras/{part(name)}", wish))
    if template and not state["installed"]:
        console().print(f"Fill in {safe(state['config_file'])}, then `etui plugins install {name}`.")
        return 0
    return _told([state])


@plugins.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--forget", is_flag=True, help="Forget its secrets too.")
@click.pass_obj
def remove(way: Way, name: str, yes: bool, forget: bool) -> int:
    """Turn a plugin off; its settings are kept aside for the next time."""
    _only_the_owner("remove")
    _offer(name)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError(f"Nobody can be asked here: `etui plugins remove {name} --yes` does it.")
        click.confirm(f"Turn {name} off?", abort=True)

    async def work(reach: Reach) -> Any:
        return await reach.delete(f"/api/extras/{part(name)}", {"forget": forget})

    state = way.go(work)
    console().print(f"{name} is off, from the next call; its settings are in {safe(state['config_file'])}.off.")
    return 0


def _only_the_owner(act: str) -> None:
    """Raises EtuiError where a plugin, or what it started, runs this."""
    if os.environ.get(ACTOR, "").strip().lower() == "service":
        raise EtuiError(f"only the owner may {act} a plugin, at their own terminal.")


def _offer(name: str) -> Any:
    try:
        return offered(name)
    except UsageError as error:
        raise EtuiError(str(error)) from None  # It fails; the command as such makes sense.


def _pairs(pairs: Sequence[str]) -> dict[str, str]:
    """The settings that are wanted. Raises EtuiError before a secret among them goes anywhere."""
    wanted = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        try:
            refuse_secret(key)
        except UsageError as error:
            raise EtuiError(str(error)) from None
        if not equals or not key.strip():
            raise UsageError("--set wants KEY=VALUE.")
        wanted[key.strip()] = value
    return wanted


def ask_secrets(names: Sequence[str]) -> dict[str, str]:
    """Each secret, typed unseen at a terminal, else a line of the input. Raises UsageError where none comes."""
    given = {}
    for name in names:
        if sys.stdin.isatty():
            value = click.prompt(name, hide_input=True, err=True)
        else:
            value = sys.stdin.readline()
        if not value.strip():
            raise UsageError(f"No {name} came: it is read as a line of the input.")
        given[name] = value.strip()
    return given


def _told(states: Sequence[Mapping[str, Any]]) -> int:
    """Say how each stands after it was turned on."""
    out = console()
    if not states:
        out.print("Nothing waits to be turned on.")
    for state in states:
        if state["on"]:
            out.print(f"{state['name']} is on, from the next call")
        else:
            out.print(f"{state['name']} is installed but refused: {safe(state['refused'])}")
    return 0 if all(state["on"] for state in states) else 1


def _list(way: Way, as_json: bool) -> None:
    found = way.go(lambda reach: reach.get("/api/extras"))["plugins"]
    if as_json:
        print_json(found)
        return
    out = console()
    for state in found:
        name = set_cell_size(state["name"], NAMES) + set_cell_size(_word(state), STATES)
        out.print(Text.assemble((name, "bold"), OFFERS[state["name"]].summary))
        if state["refused"]:
            out.print(Text(beside("", f"refused: {one_line(state['refused'])}", out, NAMES - 2, 0), style="yellow"))
        if state["installed"]:
            out.print(Text(beside("", f"settings: {one_line(state['config_file'])}", out, NAMES - 2, 0), style="dim"))


def _word(state: Mapping[str, Any]) -> str:
    return "on" if state["on"] else "refused" if state["installed"] else "off"


def _show(state: Mapping[str, Any], given: Mapping[str, bool]) -> None:
    out, offer = console(), OFFERS[state["name"]]
    out.print(Text.assemble((f"{offer.title} ", "bold"), f"({offer.name}) is {_word(state)}. {offer.summary}."))
    if state["refused"]:
        out.print(Text(beside("", one_line(state["refused"]), out, 0, 0), style="yellow"))
    for row in offer.rows:
        value = state["settings"].get(row.name, row.default)
        out.print(Text.assemble((f"  {row.name}", "bold"), " = ", (one_line(value) or '""', "cyan")))
        out.print(Text(beside("", row.help, out, 4, 0), style="dim"))
    for secret in offer.secrets:
        how = "is set" if given[secret.name] else f"is not set; `etui plugins install {offer.name} --secret {secret.name}`"
        out.print(Text.assemble((f"  {secret.name}", "bold"), f" {how}"))
        out.print(Text(beside("", secret.help, out, 4, 0), style="dim"))
