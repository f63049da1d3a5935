"""`etui serve`, `etui config` and `etui setup`: running the host, its settings, the environment that tools run in.

Above: the command group. Below: `home`, `settings`, the console's server. It refuses to know: the host's parts.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import venv
from collections.abc import Mapping
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import click
import msgspec

from etui import settings
from etui.errors import EtuiError, UsageError
from etui.surfaces.cli.reach import Reach, Way, find_running
from etui.surfaces.cli.show import console, error_line, one_line, print_json, safe, table
from etui.surfaces.web.serve import serve as serve_console


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), help="Port of the console, for this start.")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@click.pass_obj
def serve(way: Way, port: int | None, no_browser: bool) -> int:
    """Start the host and the console, until Ctrl-C."""
    overrides: dict[str, object] = {}
    if port is not None:
        overrides["port"] = port
    if no_browser:
        overrides["open_browser"] = False
    asyncio.run(_serve(way, overrides))
    return 0


async def _serve(way: Way, overrides: Mapping[str, object]) -> None:
    running = await find_running(way.home.door)
    if running is not None:
        async with running:
            path = (await running.post("/api/links", {}))["path"]
        raise EtuiError(f"Etui already runs on {str(way.home.path)!r}. Open {running.address}{path}, or stop it first.")
    async with way.opener(way.home, overrides) as host:
        shown = console()

        def tell(link: str) -> None:
            shown.print(f"Etui is here: {link}")
            shown.print(f"Tools are files in {way.home.tools}. Ctrl-C ends.", style="dim")

        await serve_console(host, host.settings.listen, host.settings.port, host.settings.open_browser, tell=tell)


@click.command()
@click.argument("name", required=False)
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Go back to the default.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def config(way: Way, name: str | None, value: str | None, unset: bool, as_json: bool) -> int:
    """List the settings, show NAME, or set NAME to VALUE."""
    if name is None:
        return _list(way, as_json)
    settings.row(name)
    if unset and value is not None:
        raise UsageError("Either a value or --unset, not both.")
    if value is not None or unset:
        asyncio.run(_set(way, name, None if value is None else settings.from_text(name, value)))
    shown = _in_force(way)[name]
    if as_json:
        print_json({name: shown})
    else:
        console().print(safe(shown if isinstance(shown, str) else one_line(shown, 10_000)))
    return 0


async def _set(way: Way, name: str, value: object) -> None:
    running = await find_running(way.home.door)
    if running is None:
        way.home.make()
        way.home.write(name, value)
        return
    async with running:
        await _set_running(running, name, value)


async def _set_running(running: Reach, name: str, value: object) -> None:
    await running.put(f"/api/settings/{name}", {"value": msgspec.to_builtins(value)})


def _in_force(way: Way) -> dict[str, Any]:
    values, errors = way.home.read(os.environ)
    for error in errors:
        error_line(str(error))
    return dict(msgspec.to_builtins(values))


def _list(way: Way, as_json: bool) -> int:
    values = _in_force(way)
    if as_json:
        print_json(values)
        return 0
    out = console()
    out.print(f"Settings are kept in {way.home.config}", style="dim")
    rows = [[row.name, one_line(values[row.name], 40), row.help] for row in settings.TABLE]
    out.print(table(["setting", "value", "what it does"], rows))
    return 0


@click.command()
@click.pass_obj
def setup(way: Way) -> int:
    """Make the Python environment that tools run in, so that what a plugin needs never reaches the host."""
    way.home.make()
    out = console()
    out.print(f"Making {way.home.env} ...", style="dim")
    venv.create(way.home.env, with_pip=True, clear=False)
    command = [str(way.home.env / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, *_wanted()], check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise EtuiError("The environment could not be made; what went wrong stands above.")
    out.print("Done. Tools run in it from the next start.")
    return 0


def _wanted() -> list[str]:
    """What the shelf and the contracts promise their authors: the lock of the checkout, else this package's own list."""
    lock = Path(__file__).resolve().parents[4] / "requirements" / "tools.txt"
    if lock.is_file():
        return ["--require-hashes", "-r", str(lock)]
    wanted = [one for one in requires("etui") or () if re.search(r"extra == ['\"]tools['\"]", one)]
    return [one.split(";")[0].strip() for one in wanted]
