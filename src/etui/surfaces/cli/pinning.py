"""`etui pin`: the owner's PIN, set at their own keyboard, forgotten, or asked after.

The digits are typed unseen or read from standard input, never an argument. Above: the command group. Below: `reach`, `streams`.
It refuses to know: how a PIN is kept.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import click

from etui.errors import EtuiError, UsageError
from etui.surfaces.cli.keyboard import attended
from etui.surfaces.cli.reach import Way
from etui.surfaces.cli.show import console, print_json

PATH = "/api/pin"


@click.group()
def pin() -> None:
    """Set the PIN that lets you in by phone and elsewhere."""


@pin.command("set")
@click.pass_obj
def set_(way: Way) -> int:
    """Set the PIN: six to eight digits.

    They are typed unseen, or read from standard input.
    """
    typed = _typed() if attended() else sys.stdin.readline().strip()

    async def work(reach: Any) -> Any:
        return await reach.put(PATH, {"pin": typed})

    if not typed:
        raise EtuiError("No PIN was given, so nothing was changed.")
    try:
        way.go(work)
    except UsageError as error:
        raise EtuiError(str(error)) from None
    console().print("The PIN is set.")
    return 0


@pin.command()
@click.pass_obj
def clear(way: Way) -> int:
    """Forget the PIN: what needs it is refused until another one is set."""
    way.go(lambda reach: reach.delete(PATH, {}))
    console().print("There is no PIN any more.")
    return 0


@pin.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def status(way: Way, as_json: bool) -> int:
    """Say whether a PIN is set, and whether any is taken now."""
    found = way.go(lambda reach: reach.get(PATH))
    if as_json:
        print_json(found)
    else:
        console().print(_words(found))
    return 0


def _words(found: Mapping[str, Any]) -> str:
    words = "A PIN is set." if found["set"] else "No PIN is set; `etui pin set` sets one."
    if found["locked_until"] is None:
        return words
    until = datetime.fromtimestamp(found["locked_until"]).astimezone()
    return f"{words} After too many wrong ones none is taken until {until:%H:%M}."


def _typed() -> str:
    """The digits, typed twice and unseen."""
    first = getpass.getpass("PIN (six to eight digits): ")
    if getpass.getpass("Once more: ") != first:
        raise EtuiError("The two are not the same, so nothing was changed.")
    return first.strip()
