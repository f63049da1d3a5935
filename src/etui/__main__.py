"""Where the program begins: the terminal, told how a host is opened. Above: nothing. Below: `host` and `surfaces.cli`.

The parts are imported inside: Ctrl-C while they load ends the program without a word, and a command that finds a running
host never loads one.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from etui.home import Home
    from etui.host import Host


def main() -> None:
    """Run `etui` with this process's arguments."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from etui.surfaces import cli

    signal.signal(signal.SIGINT, before)
    sys.exit(cli.main(open_lazily))


def open_lazily(home: Home, overrides: Mapping[str, object]) -> AbstractAsyncContextManager[Host]:
    """Open the host of a home, whose parts are only now imported."""
    import structlog

    from etui.host import open_host
    from etui.run.limits import shield

    # No worker, and no other program of this user, is to read this process's memory.
    shield()
    # What a command prints belongs to standard output; what the host notes on its way does not.
    structlog.configure(
        logger_factory=structlog.PrintLoggerFactory(sys.stderr), wrapper_class=structlog.make_filtering_bound_logger("warning")
    )
    return open_host(home, overrides)


if __name__ == "__main__":
    main()
