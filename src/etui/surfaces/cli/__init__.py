"""The terminal: `etui` and its commands.

Every command that needs the host goes through the console's API: of the host that runs, or of one started for it alone. So
there is one way in, and what works in the console works here.
Above: `__main__`, which says how a host is opened. Below: `reach`, `show` and the commands. It refuses to know: the host's parts.
"""

from __future__ import annotations

import sys
from importlib.metadata import version

import click

from etui.errors import EtuiError, UsageError
from etui.surfaces.cli.asking import call, chat, teach
from etui.surfaces.cli.looking import audit, doctor, tools
from etui.surfaces.cli.owning import config, serve, setup
from etui.surfaces.cli.reach import Opener, Way
from etui.surfaces.cli.show import error_line, ready_streams


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(version("etui"), prog_name="etui")
def etui() -> None:
    """Tools for your assistant: drop in a Python file, say what you want, and the right tool runs."""


for command in (serve, chat, tools, call, teach, audit, config, doctor, setup):
    etui.add_command(command)


def main(opener: Opener, arguments: list[str] | None = None) -> int:
    """Run one command and give its exit code: 0 done, 1 failed or refused, 2 a command that makes no sense, 130 stopped."""
    ready_streams()
    try:
        code = etui.main(args=arguments, prog_name="etui", standalone_mode=False, obj=Way.here(opener))
    except click.exceptions.Exit as end:
        return end.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        # Whoever read the output has enough; the interpreter must not complain about it at its end.
        sys.stdout = None
        return 0
    except UsageError as error:
        error_line(str(error))
        return 2
    except EtuiError as error:
        error_line(str(error))
        return 1
    return code if isinstance(code, int) else 0
