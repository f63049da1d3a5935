"""Who may come in: one-time links for browsers, the sessions that they open, and the owner's token for the terminal.

Only hashes of what was handed out are held. Links live in memory and work once; sessions are kept in the store, so that they
outlive a restart.
Above: `guard` asks whether a request carries one, `app` redeems links. Below: the store's values.
It refuses to know: HTTP, cookies and addresses.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import Protocol

SPACE = "meta"
KEY = "web.sessions"
LIFE = 90 * 86_400.0
"""Seconds that a session lasts after its last use."""
FRESH = 3600.0
"""Seconds between two notes of when a session was last used."""
MOST = 50
"""Sessions that are kept; the one unused for longest goes first."""


class Kept(Protocol):
    """The two methods of `store.Values` that sessions need."""

    def get(self, space: str, key: str) -> object: ...

    def put(self, space: str, key: str, value: object) -> None: ...


class Tokens:
    """Every secret that opens the console."""

    def __init__(self, values: Kept, clock: Callable[[], float] = time.time) -> None:
        self._values = values
        self._clock = clock
        self._links: set[str] = set()
        self._sessions = _read(values.get(SPACE, KEY))
        self.owner = secrets.token_urlsafe(32)
        """The token that the terminal sends; new at each start."""

    def link(self) -> str:
        """A new token for `/login/<token>`; it works once, until the host ends."""
        token = secrets.token_urlsafe(24)
        self._links.add(_hash(token))
        return token

    def redeem(self, token: str) -> str | None:
        """The key of a new session for a token that was not used yet, else None."""
        digest = _hash(token)
        if digest not in self._links:
            return None
        self._links.discard(digest)
        key = secrets.token_urlsafe(32)
        self._sessions[_hash(key)] = self._clock()
        self._keep()
        return key

    def is_session(self, key: str) -> bool:
        """Whether this is the key of a session that is still open."""
        digest = _hash(key)
        used = self._sessions.get(digest)
        if used is None:
            return False
        now = self._clock()
        if now - used > LIFE:
            self.end(key)
            return False
        if now - used > FRESH:
            self._sessions[digest] = now
            self._keep()
        return True

    def is_owner(self, token: str) -> bool:
        """Whether this is the token in the owner's file; takes the same time for every wrong one."""
        return secrets.compare_digest(_hash(token), _hash(self.owner))

    def end(self, key: str) -> None:
        """Close a session; its key opens nothing any more."""
        if self._sessions.pop(_hash(key), None) is not None:
            self._keep()

    def _keep(self) -> None:
        newest = sorted(self._sessions.items(), key=lambda item: item[1], reverse=True)[:MOST]
        self._sessions = dict(newest)
        self._values.put(SPACE, KEY, dict(newest))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _read(kept: object) -> dict[str, float]:
    if not isinstance(kept, dict):
        return {}
    return {str(key): float(used) for key, used in kept.items() if isinstance(used, int | float)}
