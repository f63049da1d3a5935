"""The last words of a program: a pipe for its standard error, read as it comes, of which only the end is kept.

Above: `link` hands the writing end to a server and asks what it said once it is gone. Below: the event loop.
It refuses to know: what the program is.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TextIO

KEPT = 4096
"""Bytes of the end that are kept."""


class Tail:
    """Keeps the end of what is written into its pipe; close it when nobody asks any more."""

    def __init__(self) -> None:
        self._kept = b""
        self._reading, writing = os.pipe()
        os.set_blocking(self._reading, False)
        self.end: TextIO = os.fdopen(writing, "w")
        """The end that is written; close it here once the program has its own."""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._reading, self._read)
        self._open = True

    def text(self) -> str:
        """What was said last, whole lines where they fit."""
        while self._open and self._read():
            pass
        text = self._kept.decode("utf-8", "replace")
        return (text.partition("\n")[2] or text).strip() if len(self._kept) == KEPT else text.strip()

    def close(self) -> None:
        """Let go of both ends."""
        self.end.close()
        if self._open:
            self._open = False
            self._loop.remove_reader(self._reading)
            os.close(self._reading)

    def _read(self) -> bool:
        """Take what is there; False if there is nothing more for now."""
        with contextlib.suppress(BlockingIOError):
            if piece := os.read(self._reading, 65_536):
                self._kept = (self._kept + piece)[-KEPT:]
                return True
            # Everybody has closed their end; a reader would be woken for ever.
            self._loop.remove_reader(self._reading)
        return False
