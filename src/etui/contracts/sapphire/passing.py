"""Where a plugin's temporary files lie: in the part of the installation that is the user's, since nothing else may be written.

Above: `reading`, once it is known that the plugin writes. Below: `current`. It refuses to know: what is put there.
"""

from __future__ import annotations

import contextlib
import os
import tempfile

from etui.contracts.sapphire import current


def offer() -> None:
    """Let `tempfile` and the programs that the plugin starts use `user/tmp`; where that cannot be made, nothing changes."""
    folder = current.root() / "user" / "tmp"
    with contextlib.suppress(OSError):  # the owner may have forbidden it to write
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["TMPDIR"] = str(folder)
        tempfile.tempdir = None
