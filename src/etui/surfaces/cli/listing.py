"""What a group of commands does where none of them is named: it lists what it is about.

Above: such groups. Below: `click`. It refuses to know: what is listed.
"""

from __future__ import annotations

from collections.abc import Callable

import click

from etui.errors import UsageError
from etui.surfaces.cli.reach import Way


def lists(context: click.Context, as_json: bool, listing: Callable[[Way, bool], object]) -> int:
    """List, unless a command is named: then it has its own `--json`. Raises UsageError for one that stands before it."""
    if context.invoked_subcommand is None:
        listing(context.obj, as_json)
    elif as_json:
        raise UsageError(f"--json belongs behind {context.invoked_subcommand!r}.")
    return 0
