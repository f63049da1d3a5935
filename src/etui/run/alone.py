"""A worker that was started by itself, where there is no zygote: its `Birth` comes first on its wire.

Above: `spawn` starts it through `boot`. Below: `enter`. It refuses to know: everything else.
"""

from __future__ import annotations

import os
import socket
import struct

from etui.run import birth, limits
from etui.run.enter import enter


def main(arguments: list[str]) -> None:
    """`WIRE OUTPUT`: two descriptors."""
    wire, output = map(int, arguments)
    limits.die_with_parent()
    end = socket.socket(fileno=wire)
    (size,) = struct.unpack(">I", end.recv(4, socket.MSG_WAITALL))
    wanted = birth.to_zygote.decode(end.recv(size, socket.MSG_WAITALL))
    os.set_inheritable(output, False)
    enter(wanted, end.detach(), output)
