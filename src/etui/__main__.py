"""Where the program begins: the terminal, told how a host is opened. Above: nothing. Below: `host` and `surfaces.cli`."""

from __future__ import annotations

import sys

from etui.host import open_host
from etui.surfaces import cli


def main() -> None:
    """Run `etui` with this process's arguments."""
    sys.exit(cli.main(open_host))


if __name__ == "__main__":
    main()
