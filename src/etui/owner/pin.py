"""The owner's PIN: kept as an Argon2id hash, and tried by whoever wants to be let in.

One attempt at a time, each counted before its answer is known to anybody: some a session, some more over all of them.
Above: `host` offers it as a tool, hears what is said, and takes keys. Below: `guard`, `spoken`. It refuses to know: sessions,
but for what one has proved; and how the digits came.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Protocol
from weakref import WeakKeyDictionary

import msgspec
from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from etui.errors import UsageError
from etui.owner.guard import SPACE, Guard, Kept
from etui.owner.spoken import LONGEST, PARTIAL, SHORTEST, Found, chanced, expects, names, numbers, offered, whole, without

KEY = "hash"
NOT_CONFIGURED, AUTHORIZED, LOCKED, INCOMPLETE, INVALID = "not_configured", "authorized", "locked", "incomplete", "invalid"
"""What may become of an attempt."""
AGAIN = frozenset({INCOMPLETE, INVALID})
"""Those after which the PIN is asked for once more."""
NO_PIN = "The owner's PIN is needed for this, but none is configured. Only they can set one, at their own keyboard."


class Cost(msgspec.Struct, frozen=True):
    """How much work one comparison is."""

    memory: int = 64 * 1024
    """Kibibytes."""
    iterations: int = 3
    lanes: int = 4


class Proving(Protocol):
    """A session, as far as a PIN changes it."""

    @property
    def trust(self) -> str:
        """What it has proved: full, possession or none."""
        ...

    def authorize(self) -> None:
        """The PIN was given."""
        ...


class Tried(msgspec.Struct, frozen=True):
    """What became of an attempt."""

    status: str
    message: str
    """For the model: what it means, and what to say."""
    attempts_left: int | None = None
    """In this session, after a wrong one."""

    @property
    def payload(self) -> dict[str, object]:
        """As JSON values."""
        left = {} if self.attempts_left is None else {"attempts_left": self.attempts_left}
        return {"status": self.status, **left, "message": self.message}


class Heard(msgspec.Struct, frozen=True):
    """What was said, once a PIN in it was taken out."""

    text: str
    tried: Tried | None = None
    """What became of the PIN, where there was one."""
    meant: bool = False
    """Whether it was given on purpose, as far as one can tell."""


class Pins:
    """The PIN of one host, and who tries it."""

    def __init__(self, kept: Kept, guard: Guard, tries: Callable[[], int], *, cost: Cost = Cost()) -> None:  # noqa: B008
        """`tries` is how many wrong ones a session may give."""
        self._kept = kept
        self._guard = guard
        self._tries = tries
        self._cost = cost
        self._wrong: WeakKeyDictionary[Proving, int] = WeakKeyDictionary()
        """Wrong ones by session."""
        self._parts: WeakKeyDictionary[Proving, str] = WeakKeyDictionary()
        """Digits that were said since it was asked for, by session, while they are no whole one."""
        self._one = asyncio.Lock()
        self._hash, self.digits = self._read()
        """How many digits it has; 0 while none is set."""

    @property
    def is_set(self) -> bool:
        """Whether there is one."""
        return bool(self._hash)

    @property
    def locked_until(self) -> float | None:
        """Until when none is taken from anybody, in seconds since the epoch; None where they are."""
        return self._guard.locked_until

    async def set(self, digits: str) -> None:
        """Keep another one from now on. Raises UsageError where it is none; StoreError where it cannot be kept."""
        if not (digits.isascii() and digits.isdecimal() and SHORTEST <= len(digits) <= LONGEST):
            raise UsageError(f"A PIN has {SHORTEST} to {LONGEST} digits and nothing else; nothing was changed.")
        hashed = await asyncio.to_thread(self._derive, digits)
        self._kept.put(SPACE, KEY, {"hash": hashed, "digits": len(digits)})
        self._hash, self.digits = hashed, len(digits)

    def clear(self) -> None:
        """Have none from now on: what needs it is refused. Raises StoreError."""
        self._kept.put(SPACE, KEY, {})
        self._hash, self.digits = "", 0

    def locked(self, session: Proving) -> bool:
        """Whether this session may give no more of them."""
        return self._wrong.get(session, 0) >= self._tries()

    async def submit(self, session: Proving, text: str) -> Tried:
        """Try what was said, shown or keyed as the PIN. The attempt counts also if the caller goes away meanwhile."""
        return await asyncio.shield(asyncio.ensure_future(self._submit(session, text)))

    async def hear(self, session: Proving, text: str, *, asked: bool) -> Heard:
        """Take every PIN out of what was said, and try it; `asked` says that it was asked for.

        Where nothing in the conversation or the sentence speaks of one, a number that only looks like it and is wrong stays.
        """
        if not self.is_set or session.trust == "full":
            return Heard(text)
        meant = asked or expects(text)
        found = offered(text, parts=asked or names(text)) if meant else chanced(text, self.digits)
        before = self._parts.pop(session, "")
        tries = [one.digits for one in found]
        if asked and not any(one.is_whole for one in found):
            found, tries = self._in_parts(session, text, found, before)
        tried = None
        for digits in tries:
            barred = self.locked(session) or self.locked_until is not None
            now = await self.submit(session, digits)
            if meant or barred or now.status == AUTHORIZED:
                tried = now
            else:
                found = [one for one in found if one.digits != digits]
            if now.status in (AUTHORIZED, LOCKED):
                break
        return Heard(without(text, found), tried, meant)

    def _in_parts(self, session: Proving, text: str, found: list[Found], before: str) -> tuple[list[Found], list[str]]:
        """What to take out of a sentence that may hold a part of the PIN, and what to try together with the parts before it."""
        said = "".join(one.digits for one in numbers(text))
        if not found and said and len(before + said) >= PARTIAL:
            found = numbers(text)
        whole = before + said
        if len(whole) != self.digits:
            self._parts[session] = whole if len(whole) < self.digits else said if len(said) < self.digits else ""
        return found, [whole if len(whole) == self.digits else said] if found else []

    async def _submit(self, session: Proving, text: str) -> Tried:
        async with self._one:
            if not self.is_set:
                return Tried(NOT_CONFIGURED, f"{NO_PIN} Say so in one short sentence.")
            if session.trust == "full":
                return Tried(AUTHORIZED, "The owner's PIN is not needed here any more.")
            if self.locked(session):
                return _session_locked()
            if self.locked_until is not None:
                return Tried(
                    LOCKED, "Too many wrong PINs were given, so none is taken for a while. Say so in one short sentence."
                )
            if not (digits := whole(text)):
                return Tried(INCOMPLETE, _INCOMPLETE)
            if await asyncio.to_thread(self._is_right, digits):
                session.authorize()
                return Tried(AUTHORIZED, "The PIN was right. Go on at once: call the tool again that asked for it.")
            self._guard.failed()
            self._wrong[session] = self._wrong.get(session, 0) + 1
            left = self._tries() - self._wrong[session]
            return _wrong(left) if left > 0 else _session_locked()

    def _derive(self, digits: str) -> str:
        cost = self._cost
        kdf = Argon2id(salt=os.urandom(16), length=32, iterations=cost.iterations, lanes=cost.lanes, memory_cost=cost.memory)
        return kdf.derive_phc_encoded(digits.encode())

    def _is_right(self, digits: str) -> bool:
        """One comparison, whatever it is compared with; the library's takes the same time for every wrong one."""
        try:
            Argon2id.verify_phc_encoded(digits.encode(), self._hash)
        except InvalidKey:
            return False
        return True

    def _read(self) -> tuple[str, int]:
        value = self._kept.get(SPACE, KEY)
        if not isinstance(value, dict) or not value.get("hash"):
            return "", 0
        return str(value["hash"]), int(value.get("digits") or 0)


_INCOMPLETE = (
    f"That was no whole PIN, which has {SHORTEST} to {LONGEST} digits. Ask for all of it at once, in one short sentence."
)


def _wrong(left: int) -> Tried:
    tries = "one try is" if left == 1 else f"{left} tries are"
    return Tried(INVALID, f"That PIN was wrong; {tries} left. Ask for it once more, in one short sentence.", left)


def _session_locked() -> Tried:
    return Tried(LOCKED, "No more PINs are taken in this conversation. Say so in one short sentence, and say goodbye.")
