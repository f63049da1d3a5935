"""`etui serve`, `etui config` and `etui setup`: running the host, its settings, the environment that tools run in.

Above: the command group. Below: `home`, `settings`, the console's server. It refuses to know: the host's parts.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import venv
from collections.abc import Mapping
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.text import Text

from etui import settings
from etui.errors import EtuiError, SettingError, UsageError
from etui.surfaces.cli.reach import Reach, Way, end_by_signal, find_running, part
from etui.surfaces.cli.seen import one_line, safe
from etui.surfaces.cli.show import beside, console, cut, error_line, print_json


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="Port of the console, for this start; 0 takes any.")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@click.pass_obj
def serve(way: Way, port: int | None, no_browser: bool) -> int:
    """Start the host and the console, until Ctrl-C."""
    overrides: dict[str, object] = {}
    if port is not None:
        overrides["port"] = port
    elif (row := settings.row("port")).env in os.environ:
        # Where no port can be had by what was asked for, none is as good as another.
        try:
            settings.from_variable(row, os.environ)
        except SettingError as error:
            raise UsageError(str(error)) from None
    if no_browser:
        overrides["open_browser"] = False
    asyncio.run(_serve(way, overrides))
    return 0


async def _serve(way: Way, overrides: Mapping[str, object]) -> None:
    from etui.surfaces.web.noting import note_problems  # Lazily: no other command needs a server, or has a log.
    from etui.surfaces.web.serve import serve as serve_console

    end_by_signal(signal.SIGHUP)  # The server itself takes the others.
    running = await find_running(way.home.door)
    if running is not None:
        async with running:
            path = (await running.post("/api/links", {}))["path"]
        raise EtuiError(f"Etui already runs on {str(way.home.path)!r}. Open {running.address}{path}, or stop it first.")
    async with way.host(overrides) as host:
        host.models.warm()
        shown = console()

        def tell(link: str) -> None:
            shown.print(f"Etui is here: {link}")
            shown.print(f"Tools are files in {safe(way.home.tools)}. Ctrl-C ends.", style="dim")

        noting = asyncio.create_task(note_problems(host), name="problems for the log")
        try:
            await serve_console(
                host, host.settings.now.listen, host.settings.now.port, host.settings.now.open_browser, tell=tell
            )
        finally:
            noting.cancel()


@click.command()
@click.argument("name", required=False)
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Go back to the default.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.pass_obj
def config(way: Way, name: str | None, value: str | None, unset: bool, as_json: bool) -> int:
    """List the settings, show NAME, or set NAME to VALUE."""
    if name is None:
        if unset:
            raise UsageError("Say which setting goes back to its default.")
        return _list(way, as_json)
    if unset and value is not None:
        raise UsageError("Either a value or --unset, not both.")
    wish = _wish(name, value)
    if value is not None or unset:
        asyncio.run(_set(way, name, wish))
        env = settings.row(name).env
        if env in os.environ:
            error_line(f"{env} is set in the environment and stands above what was written.")
    shown = _in_force(way)[name]
    if as_json:
        print_json({name: shown})
    else:
        console().print(one_line(shown))
    return 0


def _wish(name: str, value: str | None) -> object:
    """What the setting shall be. Raises UsageError for a name or a value that cannot be."""
    try:
        settings.row(name)
        return None if value is None else settings.from_text(name, value)
    except SettingError as error:
        raise UsageError(str(error)) from None


async def _set(way: Way, name: str, value: object) -> None:
    running = await find_running(way.home.door)
    if running is None:
        way.home.make()
        way.home.write(name, value)
        return
    async with running:
        await _set_running(running, name, value)


async def _set_running(running: Reach, name: str, value: object) -> None:
    await running.put(f"/api/settings/{part(name)}", {"value": msgspec.to_builtins(value)})


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
    out.print(f"Settings are kept in {safe(way.home.config)}; `etui config NAME VALUE` changes one.", style="dim")
    for row in settings.TABLE:
        changed = values[row.name] != msgspec.to_builtins(row.default)
        out.print(
            Text.assemble((row.name, "bold"), " = ", (cut(one_line(values[row.name]) or '""', 200), "cyan" if changed else ""))
        )
        out.print(Text(beside("", row.help, out, 0, 0), style="dim"))
    return 0


@click.command()
@click.pass_obj
def setup(way: Way) -> int:
    """Make the Python environment that tools run in.

    What a plugin needs then never reaches the host. Run it again to bring the environment up to date.
    """
    way.home.make()
    out = console()
    out.print(f"Making {safe(way.home.env)} ...", style="dim")
    try:
        venv.create(way.home.env, with_pip=True, clear=False)
        command = [str(way.home.env / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, *_wanted()], check=True, stdin=subprocess.DEVNULL)
    except subprocess.CalledProcessError as error:
        raise EtuiError(f"The environment could not be made: {_program(error)} ended with {error.returncode}.") from None
    except OSError as error:
        raise EtuiError(f"The environment could not be made in {str(way.home.env)!r}: {error.strerror or error}.") from None
    out.print("Done. Tools run in it from the next start.")
    return 0


def _program(error: subprocess.CalledProcessError) -> str:
    """What failed, by the name that a person knows."""
    return "making it, for which Debian and Ubuntu want the package python3-venv," if "ensurepip" in error.cmd else "pip"


def _wanted() -> list[str]:
    """What the shelf and the contracts promise their authors: the lock of the checkout, else this package's own list."""
    lock = Path(__file__).resolve().parents[4] / "requirements" / "tools.txt"
    if lock.is_file():
        return ["--require-hashes", "-r", str(lock)]
    wanted = [one for one in requires("etui") or () if re.search(r"extra == ['\"]tools['\"]", one)]
    return [one.split(";")[0].strip() for one in wanted]
