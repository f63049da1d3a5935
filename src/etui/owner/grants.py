"""What a plugin may touch in the end: what it asks for, less what the owner forbids, with what they allow and give besides.

Network, programs and the working folder are a plugin's as soon as it asks for them; a variable of the environment, and a folder
of the owner's own, are only ever given. Above: `host`; the catalogue and the workers ask here through it. Below: `store`,
`opened`. It refuses to know: how a grant is enforced, and how it was found out what a plugin asks for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from etui.errors import UsageError
from etui.owner.opened import opened, real_path
from etui.owner.secrets import Secrets
from etui.store.values import Values
from etui.tool import Grant, Plugin, Risk

SPACE = "grant"
PARTS: Mapping[str, str] = {
    "network": "use the network",
    "subprocess": "start other programs",
    "write": "write in the working folder",
}
"""The parts of a grant that the owner can forbid or allow, and what they are."""
OPEN = frozenset({"PATH", "LANG", "HOME", "TZ"})
"""The variables that every worker has."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
LONGEST = 32_000
"""Characters of the longest value."""


class Decided(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the owner decided about one plugin."""

    env: dict[str, str | None] = {}
    """Variables that they gave; None where the value is the host environment's own."""
    forbidden: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    """Parts that it may have although nobody saw it ask for them."""
    read: tuple[str, ...] = ()
    """Folders and files of theirs that they let it read."""
    written: tuple[str, ...] = ()
    """The same, for reading and writing."""
    number: int = 0
    """Goes up with each decision."""


UNREADABLE = Decided(forbidden=tuple(PARTS))
"""What holds where a decision cannot be read any more."""


class Grants:
    """The owner's decisions, and the grants that follow from them."""

    def __init__(
        self,
        values: Values,
        environ: Mapping[str, str],
        work: str,
        secrets: Secrets | None = None,
        writes: Callable[[str], str] = lambda _: "",
        home: Path = Path(),
        code: Callable[[], Iterable[Path]] = tuple,
    ) -> None:
        """`secrets` are variables that were given by themselves, and that nobody is shown again.

        `writes` gives the folder that a plugin may write instead of the working folder; empty for that one. `home` is Etui's
        own folder, into which nobody is let besides, and `code` says where what it runs lies, which nobody may write.
        """
        self._home = home
        self._code = code
        self._writes = writes
        self._values = values
        self._secrets = secrets
        self._environ = environ
        self._work = work
        self._kept = {plugin: _read(value) for plugin, value in values.all(SPACE).items()}

    def of(self, plugin: str, asked: Grant) -> Grant:
        """What the plugin may touch if this is what it asks for."""
        decided = self._of(plugin)
        return Grant(
            read=(*asked.read, *decided.read),
            write=(*(() if "write" in decided.forbidden else self._written(plugin, asked, decided)), *decided.written),
            network="network" not in decided.forbidden and (asked.network or "network" in decided.allowed),
            subprocess="subprocess" not in decided.forbidden and (asked.subprocess or "subprocess" in decided.allowed),
            env=tuple(sorted({*decided.env, *self._secret(plugin)})),
            opened=(*decided.read, *decided.written),
        )

    def environment(self, plugin: str) -> dict[str, str]:
        """The variables that the owner gave the plugin, with their values; those that have none now are left out."""
        given = {name: self._environ.get(name) if value is None else value for name, value in self._of(plugin).env.items()}
        return {name: value for name, value in given.items() if value is not None} | self._secret(plugin)

    def mark(self, plugin: str) -> str:
        """Another one after each decision, and where a variable has come or gone; empty where nothing was decided."""
        decided = self._kept.get(plugin)
        secret = self._secrets.mark(plugin) if self._secrets is not None else ""
        if decided is None:
            return secret
        return f"{decided.number}:{','.join(sorted(self.environment(plugin)))}" + (f":{secret}" if secret else "")

    def view(self, plugin: Plugin) -> dict[str, object]:
        """What it has and what it asks for as grants, and by name what was given, is missing, forbidden and allowed."""
        decided = self._of(plugin.name)
        seen = self.environment(plugin.name)
        wanted = {*plugin.wishes.env, *decided.env} - seen.keys() - OPEN
        return {
            "has": plugin.grant,
            "asks": plugin.wishes,
            "given": sorted(decided.env),
            "missing": sorted(wanted),
            "forbidden": sorted(decided.forbidden),
            "allowed": sorted(decided.allowed),
            "opened": {"read": list(decided.read), "write": list(decided.written)},
        }

    def notes(self, plugin: Plugin) -> tuple[str, ...]:
        """What the owner should know about what it may touch and asks for, a sentence each."""
        decided = self._of(plugin.name)
        told = [f"You do not let it {PARTS[part]}." for part in PARTS if part in decided.forbidden]
        for part in _beyond(plugin, decided):
            who = "you let it" if part in decided.allowed else "its source asks for it"
            told.append(f"It may {PARTS[part]}: {who}, though no tool of it declares that.")
        for name in sorted({*plugin.wishes.env, *decided.env} - OPEN):
            if name not in decided.env:
                told.append(f"It asks for the variable {name}; `etui grant {plugin.name} {name}` gives it.")
            elif name not in self.environment(plugin.name):
                told.append(f"It was given {name}, which is not in Etui's environment.")
        if decided is UNREADABLE:
            told.append("What you decided about it cannot be read any more, so it may touch nothing; decide anew.")
        return tuple(told)

    def give(self, plugin: str, name: str, value: str | None = None) -> None:
        """Let it see a variable, as the host has it or with this value. Raises UsageError where that cannot be."""
        if not NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name of a variable: letters, digits and underscores.")
        if value is None and name not in self._environ:
            raise UsageError(f"{name} is not in Etui's environment. Give it with a value: `etui grant {plugin} {name}=VALUE`.")
        if value is not None and ("\0" in value or len(value) > LONGEST):
            raise UsageError(f"A variable's value has at most {LONGEST:,} characters, and no NUL among them.")
        decided = self._of(plugin)
        self._keep(plugin, env={**decided.env, name: value})

    def take(self, plugin: str, name: str) -> None:
        """Take a variable back. Raises UsageError if it was not given."""
        given = dict(self._of(plugin).env)
        if name not in given:
            raise UsageError(f"{plugin} was never given {name!r}.")
        del given[name]
        self._keep(plugin, env=given)

    def forbid(self, plugin: str, what: str, on: bool, asked: Grant) -> None:
        """Forbid a part, or with `on` false let it have the part, asked for or not. Raises UsageError for what is no part."""
        if what not in PARTS:
            raise UsageError(f"{what!r} cannot be forbidden or allowed; it is one of {', '.join(PARTS)}.")
        decided = self._of(plugin)
        forbidden = {*decided.forbidden, what} if on else {*decided.forbidden} - {what}
        unasked = not on and not _has(asked, what)
        allowed = {*decided.allowed, what} if unasked else {*decided.allowed} - {what}
        self._keep(plugin, forbidden=tuple(sorted(forbidden)), allowed=tuple(sorted(allowed)))

    def open(self, plugin: str, path: str, *, write: bool = False) -> None:
        """Let it read a folder or a file of the owner's, or write there too. Raises UsageError where nobody is let in."""
        real = opened(path, write=write, home=self._home, code=self._code())
        decided = self._of(plugin)
        read, written = {*decided.read} - {real}, {*decided.written} - {real}
        (written if write else read).add(real)
        self._keep(plugin, read=tuple(sorted(read)), written=tuple(sorted(written)))

    def shut(self, plugin: str, path: str) -> None:
        """Take a folder or a file back. Raises UsageError if it was not opened."""
        decided = self._of(plugin)
        named = {path, real_path(path)}
        read, written = {*decided.read} - named, {*decided.written} - named
        if (len(read), len(written)) == (len(decided.read), len(decided.written)):
            raise UsageError(f"{path!r} was never opened to {plugin}.")
        self._keep(plugin, read=tuple(sorted(read)), written=tuple(sorted(written)))

    def forget(self, plugin: str) -> None:
        """The owner decided nothing about it: another one has its name now. Raises EtuiError."""
        if self._secrets is not None:
            self._secrets.forget(plugin)
        if plugin in self._kept:
            self._keep(plugin, env={}, forbidden=(), allowed=(), read=(), written=())

    def _secret(self, plugin: str) -> dict[str, str]:
        return dict(self._secrets.of(plugin)) if self._secrets is not None else {}

    def _of(self, plugin: str) -> Decided:
        return self._kept.get(plugin, Decided())

    def _written(self, plugin: str, asked: Grant, decided: Decided) -> tuple[str, ...]:
        more = (self._writes(plugin) or self._work,) if "write" in decided.allowed else ()
        return tuple(sorted({*asked.write, *more}))

    def _keep(self, plugin: str, **changed: object) -> None:
        before = self._of(plugin)
        decided = msgspec.structs.replace(before, **changed, number=before.number + 1)
        self._kept[plugin] = decided
        self._values.put(SPACE, plugin, msgspec.to_builtins(decided))


def _read(value: object) -> Decided:
    try:
        return msgspec.convert(value, Decided)
    except msgspec.ValidationError:
        return UNREADABLE


def _has(grant: Grant, part: str) -> bool:
    return bool(getattr(grant, part))


def _beyond(plugin: Plugin, decided: Decided) -> Iterable[str]:
    """The parts that it has and that no risk of its tools stands for; what was opened to it is its owner's own word."""
    grant = msgspec.structs.replace(plugin.grant, write=tuple({*plugin.grant.write} - {*decided.written}))
    risks = {tool.risk for tool in plugin.tools}
    declared = {
        "network": risks & {Risk.NETWORK, Risk.EXEC},
        "subprocess": risks & {Risk.EXEC},
        "write": risks - {Risk.READ},
    }
    return [part for part in PARTS if _has(grant, part) and not declared[part]]
