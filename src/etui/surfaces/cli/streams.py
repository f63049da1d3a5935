"""The three standard streams, whatever they are: closed, full, a pipe that nobody reads, a terminal that is not UTF-8.

Above: `main`. Below: the operating system. It refuses to know: what is read and written.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys

from etui.errors import EtuiError


def ready_streams() -> None:
    """Let every stream exist, show what it can, and never fail on the rest."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            _fill(number)
    # Whatever is opened later must not get the number of a stream, or what is printed ends up in the database.
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Write out what is still held back. Raises OSError where nobody takes it."""
    sys.stdout.flush()
    sys.stderr.flush()


def hush() -> None:
    """From here on nobody listens: the rest is thrown away, and the interpreter has nothing to complain about at its end."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def read_all() -> str:
    """Everything on standard input, without the mark that some programs put before it. Raises EtuiError where it is no text."""
    try:
        return sys.stdin.read().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise EtuiError(f"Standard input is no {error.encoding.upper()} text: {error.reason} at byte {error.start}.") from None
    except OSError as error:
        raise EtuiError(f"Standard input cannot be read: {error.strerror}.") from None


def _fill(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere == number:
        os.set_inheritable(number, True)
    else:
        os.dup2(nowhere, number)
        os.close(nowhere)
