"""The terminal: `etui` and its commands.

Every command that needs the host goes through the console's API: of the host that runs, or of one started for it alone. So
there is one way in, and what works in the console works here. Above: `__main__`, which says how a host is opened.
Below: `reach`, `show` and the commands. It refuses to know: the host's parts.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import traceback
from difflib import get_close_matches
from importlib.metadata import version
from itertools import takewhile

import click

from etui.errors import EtuiError, UsageError
from etui.surfaces.cli.accounting import accounts
from etui.surfaces.cli.asking import call, teach
from etui.surfaces.cli.choosing import toolsets
from etui.surfaces.cli.granting import grant
from etui.surfaces.cli.jobs import jobs
from etui.surfaces.cli.looking import audit, doctor, tools
from etui.surfaces.cli.owning import config, serve, setup
from etui.surfaces.cli.pinning import pin
from etui.surfaces.cli.plugging import plugins
from etui.surfaces.cli.reach import Opener, Way
from etui.surfaces.cli.seen import safe
from etui.surfaces.cli.show import error_line, print_json
from etui.surfaces.cli.streams import flush, hush, ready_streams
from etui.surfaces.cli.talk import chat

DONE, FAILED, USAGE, STOPPED, ENDED = 0, 1, 2, 130, 143


class InOrder(click.Group):
    """The commands in the order in which a newcomer needs them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and (near := get_close_matches(args[0], self.commands, 1)):
            ctx.fail(f"No such command {args[0]!r}; did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)


@click.group(cls=InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(version("etui"), prog_name="etui")
def etui() -> None:
    """Tools for your assistant: drop in a Python file, say what you want, and the right tool runs."""


for command in (serve, chat, tools, call, teach, jobs, grant, plugins, toolsets, accounts, pin, audit, config, doctor, setup):
    etui.add_command(command)


def main(opener: Opener, arguments: list[str] | None = None) -> int:
    """Run one command and give its exit code: 0 done, 1 failed or refused, 2 a command that makes no sense, 130 stopped."""
    given = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in takewhile(lambda one: one != "--", given)
    ready_streams()
    try:
        code = _run(opener, given, as_json)
        flush()
    except BrokenPipeError:
        code = DONE  # Whoever read the output has enough of it.
    except OSError as error:
        code = FAILED
        with contextlib.suppress(OSError):
            error_line(f"What was to be printed could not be written: {error.strerror or error}.")
    hush()
    return code


def _run(opener: Opener, arguments: list[str], as_json: bool) -> int:
    try:
        # Not by click's own `main`, which has its own mind about closed pipes.
        with etui.make_context("etui", list(arguments), obj=Way.here(opener)) as context:
            code = etui.invoke(context)
        return code if isinstance(code, int) else DONE
    except click.exceptions.Exit as end:
        return end.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _tell("Stopped.", STOPPED, as_json, quiet=True)
    except asyncio.CancelledError:
        return _tell("Ended by a signal.", ENDED, as_json, quiet=True)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return USAGE
    except click.ClickException as error:
        if isinstance(error, click.UsageError) and error.ctx is not None:
            click.echo(f"{error.ctx.get_usage()}\nTry '{error.ctx.command_path} --help'.", err=True)
        return _tell(error.format_message().rstrip(".") + ".", error.exit_code, as_json)
    except UsageError as error:
        return _tell(str(error), USAGE, as_json)
    except EtuiError as error:
        return _tell(str(error), FAILED, as_json)
    except OSError:
        raise
    except Exception as error:  # A defect: whoever reads the JSON still gets a document, and the traceback goes to the person.
        traceback.print_exc()
        return _tell(f"Something went wrong inside Etui ({type(error).__name__}: {error}).", FAILED, as_json)


def _tell(sentence: str, code: int, as_json: bool, *, quiet: bool = False) -> int:
    if not quiet:
        error_line(sentence)
    if as_json:
        print_json({"error": safe(sentence)})
    return code
