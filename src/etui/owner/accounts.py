"""The owner's accounts, such as a mailbox or a key for a model, and which plugins may have which of them.

An account has a kind and, within that, a name, which is what a chat's scope stands for. What is secret in it goes in and never
comes out again but to a plugin to which its owner gave that account, at the moment in which it asks. Above: the services that a
running tool asks, `front` and the console. Below: `secrets`, which keeps it all, and the store, which keeps who was given what.
It refuses to know: what a plugin does with an account.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Mapping

import msgspec

from etui.errors import UsageError
from etui.owner.kinds import KINDS, Field, Kind
from etui.owner.secrets import SHORTEST, Secrets
from etui.store.values import Values

SPACE = "account"
"""Where it is kept who was given what, by plugin."""
EVERY = "*"
"""Given instead of an account's name: all of that kind, those to come too."""
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@ -]{0,63}")
"""What an account can be called."""
LONGEST = 4000
"""Characters of one value."""
SWITCHES = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """One account as its owner sees it: what is secret is only said to be there."""

    kind: str
    name: str
    values: dict[str, object]
    """What is no secret, by field."""
    set: tuple[str, ...]
    """The secret fields that were given."""
    plugins: tuple[str, ...]
    """The plugins that may have it."""


class Accounts:
    """The accounts of one host."""

    def __init__(self, secrets: Secrets, values: Values) -> None:
        """`secrets` are this room's own, and no plugin's variables."""
        self._secrets = secrets
        self._values = values
        self._lock = threading.RLock()
        """Held by whoever changes an account: a keyring takes its time, so that happens in threads."""
        self._giving = threading.Lock()
        """Held by whoever changes what was given, and only for a moment."""
        self._given: Mapping[str, frozenset[str]] = {
            plugin: frozenset(str(one) for one in kept) for plugin, kept in values.all(SPACE).items() if isinstance(kept, list)
        }
        self._hidden: dict[str, tuple[tuple[int, frozenset[str]], frozenset[str]]] = {}
        """By plugin, the secrets in its accounts, and what they were taken from."""

    def trouble(self) -> str:
        """Why none can be handed out; empty where they can. May ask the person to unlock a keyring, so not from a loop."""
        return self._secrets.trouble()

    def all(self) -> tuple[Account, ...]:
        """Every one, by kind and name."""
        found = []
        for kind in KINDS.values():
            for name, values in sorted(self._of(kind).items()):
                open_, shut = _parted(kind, values)
                plugins = tuple(sorted(plugin for plugin in self._given if self.may(plugin, kind.name, name)))
                found.append(Account(kind=kind.name, name=name, values=open_, set=shut, plugins=plugins))
        return tuple(found)

    def names(self, kind: str) -> tuple[str, ...]:
        """The names of the accounts of a kind."""
        known = KINDS.get(kind)
        return tuple(sorted(self._of(known))) if known is not None else ()

    def given(self) -> Mapping[str, frozenset[str]]:
        """By plugin, what was given: `kind:name`, or `kind:*`."""
        return self._given

    def may(self, plugin: str, kind: str, name: str) -> bool:
        """Whether the owner gave the plugin this account."""
        return not self._given.get(plugin, frozenset()).isdisjoint((f"{kind}:{name}", f"{kind}:{EVERY}"))

    def get(self, plugin: str, kind: str, name: str) -> dict[str, object] | None:
        """One account whole, for a plugin that was given it; None for any other, and where there is none of that name."""
        known = KINDS.get(kind)
        if known is None or not self.may(plugin, kind, name):
            return None
        values = self._of(known).get(name)
        return None if values is None else {**known.defaults(), **values}

    def mine(self, plugin: str, kind: str) -> dict[str, dict[str, object]]:
        """The accounts of a kind that the plugin was given, whole, by name."""
        known = KINDS.get(kind)
        if known is None:
            return {}
        return {name: {**known.defaults(), **one} for name, one in self._of(known).items() if self.may(plugin, kind, name)}

    def keep(self, kind: str, name: str, values: Mapping[str, object]) -> None:
        """Keep an account, over one of the same name; a secret that is not among the values stays as it was.

        Raises UsageError for what cannot be, EtuiError where it cannot be kept.
        """
        known = _kind(kind)
        name = known.only or name.strip()
        if not NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name for an account: at most 64 letters, digits, spaces and '_.@-'.")
        given = {}
        for field, value in values.items():
            if field not in known.fields:
                raise UsageError(f"{known.title} has no {field!r}; it has {', '.join(known.fields)}.")
            given[field] = _checked(known.fields[field], value)
        with self._lock:
            before = self._of(known).get(name, {})
            kept = {**{field: value for field, value in before.items() if field in known.secrets}, **given}
            lacking = [one.label for one in known.fields.values() if one.needed and kept.get(one.name) in (None, "")]
            if lacking:
                raise UsageError(f"{known.title} needs {' and '.join(lacking)}.")
            self._write(known, name, {field: value for field, value in kept.items() if value not in (None, "")})

    def renew(self, plugin: str, kind: str, name: str, values: Mapping[str, object]) -> bool:
        """New tokens that a plugin got for an account that it was given; False where it has no such account.

        Only fields that are there to be renewed are taken.
        """
        known = KINDS.get(kind)
        if known is None or not self.may(plugin, kind, name):
            return False
        new = {field: _checked(known.fields[field], value) for field, value in values.items() if field in known.renewed}
        with self._lock:
            before = self._of(known).get(name)
            if before is None:
                return False
            self._write(known, name, {**before, **{field: value for field, value in new.items() if value != ""}})
        return True

    def forget(self, kind: str, name: str) -> bool:
        """Forget an account; who was given it by its name loses that too. False if there is none."""
        known = _kind(kind)
        with self._lock:
            if name not in self._of(known):
                return False
            self._secrets.drop(_section(known), name)
            with self._giving:
                for plugin, given in self._given.items():
                    self._give(plugin, given - {f"{kind}:{name}"})
        return True

    def give(self, plugin: str, kind: str, name: str) -> None:
        """Let a plugin have an account, or with `*` all of a kind. Raises UsageError where there is none."""
        known = _kind(kind)
        with self._giving:
            if name != EVERY and name not in self._of(known):
                raise UsageError(f"There is no account {name!r} of the kind {kind!r}; `etui accounts` lists what there is.")
            self._give(plugin, self._given.get(plugin, frozenset()) | {f"{kind}:{name}"})

    def take(self, plugin: str, kind: str, name: str) -> None:
        """Take an account back from a plugin. Raises UsageError if it was not given."""
        with self._giving:
            given = self._given.get(plugin, frozenset())
            if f"{kind}:{name}" not in given:
                raise UsageError(f"{plugin} was never given {kind}:{name}.")
            self._give(plugin, given - {f"{kind}:{name}"})

    def take_all(self, plugin: str) -> None:
        """Take every account back from a plugin."""
        with self._giving:
            self._give(plugin, frozenset())

    def hidden(self, plugin: str) -> frozenset[str]:
        """The secrets in the accounts that the plugin was given, so that they can be kept out of what its tools say."""
        given = self._given.get(plugin)
        if not given:
            return frozenset()
        mark = self._secrets.number, given
        held = self._hidden.get(plugin)
        if held is None or held[0] != mark:
            held = self._hidden[plugin] = (mark, frozenset(self._told_to(plugin)))
        return held[1]

    def _told_to(self, plugin: str) -> set[str]:
        return {
            str(account[field])
            for kind in KINDS.values()
            for account in self.mine(plugin, kind.name).values()
            for field in kind.secrets
            if len(str(account.get(field, ""))) >= SHORTEST
        }

    def _of(self, kind: Kind) -> dict[str, dict[str, object]]:
        """The accounts of a kind with all their values; what cannot be read is not there."""
        found = {}
        for name, text in self._secrets.of(_section(kind)).items():
            try:
                values = json.loads(text)
            except ValueError:
                continue
            if isinstance(values, dict):
                found[name] = values
        return found

    def _write(self, kind: Kind, name: str, values: Mapping[str, object]) -> None:
        # JSON of the standard library, for it escapes all but ASCII: a secret is one printable line.
        self._secrets.give(_section(kind), name, json.dumps(values, separators=(",", ":")))

    def _give(self, plugin: str, given: frozenset[str]) -> None:
        """Another mapping each time, so that nobody looks through one that changes."""
        if given:
            self._given = {**self._given, plugin: given}
            self._values.put(SPACE, plugin, sorted(given))
        elif plugin in self._given:
            self._given = {other: kept for other, kept in self._given.items() if other != plugin}
            self._values.delete(SPACE, plugin)


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise UsageError(f"There is no kind of account {name!r}; it is one of {', '.join(KINDS)}.")
    return KINDS[name]


def _section(kind: Kind) -> str:
    """Under which name the accounts of a kind are kept; no plugin can have it."""
    return f"account:{kind.name}"


def _parted(kind: Kind, values: Mapping[str, object]) -> tuple[dict[str, object], tuple[str, ...]]:
    """What may be shown, and the names of the secrets that there are."""
    shown = {field: value for field, value in values.items() if field in kind.fields and field not in kind.secrets}
    return shown, tuple(field for field in kind.fields if field in kind.secrets and values.get(field))


def _checked(field: Field, value: object) -> object:
    """The value as the field wants it. Raises UsageError."""
    if value is None:
        return ""
    if field.kind == "number":
        if value == "":
            return ""
        try:
            number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise UsageError(f"{field.label} must be a number.")
        return int(number) if number == int(number) else number
    if field.kind == "switch":
        found = value if isinstance(value, bool) else SWITCHES.get(str(value).strip().lower())
        if found is None:
            raise UsageError(f"{field.label} must be true or false.")
        return found
    if not isinstance(value, str) or len(value) > LONGEST or "\0" in value:
        raise UsageError(f"{field.label} must be text, with at most {LONGEST:,} characters.")
    text = value.strip()
    if field.choices and text and text not in field.choices:
        raise UsageError(f"{field.label} is one of {', '.join(field.choices)}.")
    return text
