"""Keys by which tools ask this host over HTTP, as older files do: each opens what its plugin may ask for anyway, to be read.

A key is made for one plugin in one conversation, lives in memory, and stands for the desk at which it was asked for. Above: the
console lets keys in. Below: the nouns. It refuses to know: HTTP, and what a desk answers.
"""

from __future__ import annotations

import hashlib
import secrets

import msgspec

from etui.run import Serve

MOST = 200
"""Keys that are known; the oldest goes first."""


class Holder(msgspec.Struct, frozen=True):
    """Who asks with a key."""

    serve: Serve
    plugin: str
    chat: str
    """The chat of the conversation in which it was made; empty outside of one."""


class Keys:
    """The keys of one host."""

    def __init__(self) -> None:
        self._holders: dict[str, Holder] = {}
        """By the hash of the key."""
        self._made: dict[tuple[str, str], str] = {}
        """By plugin and session, the key that there is."""

    def give(self, holder: Holder, session: str) -> str:
        """The key of that plugin in that session; always the same one."""
        known = self._made.pop((holder.plugin, session), None)
        key = known or secrets.token_urlsafe(24)
        self._made[holder.plugin, session] = key
        self._holders[_hash(key)] = holder
        while len(self._made) > MOST:
            self._holders.pop(_hash(self._made.pop(next(iter(self._made)))), None)
        return key

    def of(self, key: str) -> Holder | None:
        """Whose key it is; None for one that opens nothing."""
        return self._holders.get(_hash(key))


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
