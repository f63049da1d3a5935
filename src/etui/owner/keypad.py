"""The keys of a telephone, gathered into a PIN: as many as it has, or fewer and `#`; a pause begins anew.

Above: `host`, which is told each key. Below: nothing. It refuses to know: PINs, and what becomes of what was keyed.
"""

from __future__ import annotations

from collections.abc import Callable

PAUSE = 5.0
"""Seconds after which the next key begins anew."""
KEYS = frozenset("0123456789#*")


class Keypad:
    """What was keyed so far in one session."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives seconds that never go back."""
        self._clock = clock
        self._keyed = ""
        self._last = 0.0

    def press(self, key: str, length: int) -> str | None:
        """Take one key; gives all that was keyed once it is whole or `#` ends it, and None while more is awaited.

        `length` is how many digits the PIN has.
        """
        now = self._clock()
        if now - self._last > PAUSE:
            self._keyed = ""
        self._last = now
        if key == "#":
            return self._taken() if self._keyed else None
        if not (key.isascii() and key.isdecimal()):
            return None
        self._keyed += key
        return self._taken() if len(self._keyed) >= length else None

    def _taken(self) -> str:
        keyed, self._keyed = self._keyed, ""
        return keyed
