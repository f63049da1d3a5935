"""Turning the plugins with settings on and off: two files in a Keryx folder, and whether they load.

`<name>.py` holds one call of the plugin's factory, `<name>.toml` its settings. Both are written whole, for the owner alone, in
an order in which every moment is a good one: settings first when it is turned on, the tool file first when it goes.
Above: `host`. Below: `extras.rows`, `extras.offers`, `settled`, `owned`. It refuses to know: where the folder is, how a tool
file is loaded, and how secrets are kept.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec

from etui.contracts.owned import fault
from etui.errors import EtuiError, UsageError
from etui.extras.offers import OFFERS, SECRETS
from etui.extras.rows import Offer, RowError, checked, read
from etui.plugins.settled import rendered

OFF = ".off"
"""What is put behind the name of the settings of a plugin that is turned off."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """How one plugin stands."""

    name: str
    on: bool
    """It is offered from the next conversation on."""
    installed: bool
    """Its tool file is there."""
    tool_file: str
    config_file: str
    """Where its settings are, or would be."""
    refused: str | None = None
    """Why it is not offered although it is installed."""
    settings: dict[str, object] = {}


Look = Callable[[Path], Awaitable[Mapping[str, str]]]
"""Reads a folder anew; by the names of its files, or the folder's own, why something in it gives no tool."""
Write = Callable[[Path, bytes], None]


class Keeper(Protocol):
    """Who keeps the secrets of plugins."""

    def of(self, plugin: str) -> Mapping[str, str]: ...

    def give(self, plugin: str, name: str, value: str) -> None: ...

    def forget(self, plugin: str) -> None: ...


class Packaged:
    """The plugins with settings, in one folder."""

    def __init__(
        self, folder: Callable[[], Path], look: Look, write: Write, keeper: Keeper, called: Callable[[str], str]
    ) -> None:
        """`write` puts a file in place whole, readable by the owner alone, and raises EtuiError where it cannot.

        `called` gives the name by which a plugin's file is known to the rest of the house, and to the keeper of its secrets.
        """
        self._folder = folder
        self._look = look
        self._write = write
        self._keeper = keeper
        self._called = called

    @property
    def folder(self) -> Path:
        """Where they are written."""
        return self._folder()

    async def all(self) -> list[State]:
        """Every one, in the order in which they are offered."""
        return await self._states(OFFERS)

    async def state(self, name: str) -> State:
        """How one stands now. Raises UsageError where there is none of that name."""
        return (await self._states([offered(name).name]))[0]

    def secrets(self, name: str) -> dict[str, bool]:
        """The secrets that it wants, and whether each was given. Raises UsageError."""
        given = self._keeper.of(self._called(name))
        return {secret.name: secret.name in given for secret in offered(name).secrets}

    async def install(self, name: str, wanted: Mapping[str, str], secrets: Mapping[str, str] | None = None) -> State:
        """Turn it on with these settings over those that it has, and these secrets. Raises UsageError, RowError, EtuiError."""
        await asyncio.to_thread(self._install, offered(name), wanted, secrets or {}, draft=False)
        return await self.state(name)

    async def draft(self, name: str, wanted: Mapping[str, str], secrets: Mapping[str, str] | None = None) -> State:
        """Write its settings, and its tool file as a draft that is passed over. Raises as `install` does."""
        await asyncio.to_thread(self._install, offered(name), wanted, secrets or {}, draft=True)
        return await self.state(name)

    async def waiting(self) -> list[str]:
        """Those that are off and whose settings lie in the folder."""
        return await asyncio.to_thread(lambda: [name for name in OFFERS if self._files(name).waiting])

    async def remove(self, name: str, *, forget: bool = False) -> State:
        """Turn it off; its settings stay aside, so does a tool file that was edited, and its secrets unless they are forgotten.

        Raises UsageError where there is nothing to be turned off or forgotten, EtuiError.
        """
        offer = offered(name)
        if forget:
            await asyncio.to_thread(self._keeper.forget, self._called(name))
        if not forget or self._files(name).installed:
            await asyncio.to_thread(self._remove, offer)
        return await self.state(name)

    async def _states(self, names: Iterable[str]) -> list[State]:
        """How some of them stand; the folder is read once, and only where one of them is in it."""
        files = {name: self._files(name) for name in names}
        installed = {name for name, its in files.items() if await asyncio.to_thread(its.tool.exists)}
        reasons = await self._look(self._folder()) if installed else {}
        return [await asyncio.to_thread(_state, name, its, name in installed, reasons) for name, its in files.items()]

    def _files(self, name: str) -> _Files:
        return _Files(self._folder(), name)

    def _install(self, offer: Offer, wanted: Mapping[str, str], secrets: Mapping[str, str], *, draft: bool) -> None:
        files = self._files(offer.name)
        if unknown := secrets.keys() - {secret.name for secret in offer.secrets}:
            raise UsageError(f"{offer.name} wants no secret called {sorted(unknown)[0]!r}.")
        with _told(files.tool):
            settings = _settled(offer, files, wanted)
            for name, value in secrets.items():
                self._keeper.give(self._called(offer.name), name, value)
            self._write(files.settings, settings)
            files.aside.unlink(missing_ok=True)
            if not files.tool.exists():
                self._place(offer, files, draft=draft)

    def _place(self, offer: Offer, files: _Files, *, draft: bool) -> None:
        """Write the tool file, or its draft; what the owner made of a draft is what the tool file then holds."""
        if not files.draft.exists():
            self._write(files.draft if draft else files.tool, source(offer).encode())
        elif not draft:
            self._write(files.tool, _own(files.draft).read_bytes())
            files.draft.unlink()

    def _remove(self, offer: Offer) -> None:
        files = self._files(offer.name)
        with _told(files.tool):
            if not files.installed:
                raise UsageError(f"{offer.name} is not installed.")
            if files.tool.exists() and files.tool.read_bytes() != source(offer).encode():
                files.tool.replace(files.draft)
            files.tool.unlink(missing_ok=True)
            if files.settings.exists():
                files.settings.replace(files.aside)


class _Files:
    """Where one plugin's files are."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.tool = folder / f"{name}.py"
        self.draft = folder / f"_{name}.py"
        self.settings = folder / f"{name}.toml"
        self.aside = folder / f"{name}.toml{OFF}"

    @property
    def read_from(self) -> Path:
        """Where its settings are read: those that it has, else those that were put aside."""
        return self.settings if self.settings.exists() or not self.aside.exists() else self.aside

    @property
    def installed(self) -> bool:
        """There is something to be turned off."""
        return self.tool.exists() or self.settings.exists()

    @property
    def waiting(self) -> bool:
        """It is off, and its settings are there."""
        return not self.tool.exists() and self.read_from.exists()


def _settled(offer: Offer, files: _Files, wanted: Mapping[str, str]) -> bytes:
    """What its file of settings shall hold: these over those that it has, or had when it was turned off. Raises RowError."""
    if not files.folder.is_dir():
        files.folder.mkdir(parents=True, mode=0o700)
    _own(files.folder)
    before = _own(files.read_from).read_text("utf-8") if files.read_from.exists() else ""
    values = checked(offer, _over(offer, read(offer, files.read_from), wanted))
    return rendered(offer, values, before).encode()


def _own(path: Path) -> Path:
    """The same path. Raises EtuiError where others could have written what lies there."""
    if reason := fault(path.stat()):
        raise EtuiError(f"{path} is {reason}, so nothing was taken from it and nothing was written.")
    return path


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turns an error of the file system into a sentence."""
    try:
        yield
    except OSError as error:
        raise EtuiError(f"{str(error.filename or path)!r} cannot be used: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise EtuiError(f"The settings beside {str(path)!r} are no text, so nothing was written.") from None


def offered(name: str) -> Offer:
    """The plugin of that name. Raises UsageError that names those there are."""
    if name not in OFFERS:
        raise UsageError(f"there is no plugin called {name!r} ({', '.join(OFFERS)})")
    return OFFERS[name]


def source(offer: Offer) -> str:
    """The tool file: one call of the factory."""
    return (
        f'"""{offer.title}, as `etui plugins install {offer.name}` wrote it; its settings are in {offer.name}.toml."""\n\n'
        f"from pathlib import Path\n\nfrom etui.extras.{offer.name} import {offer.name}_tool\n\n"
        f'{offer.name} = {offer.name}_tool(Path(__file__).with_suffix(".toml"))\n'
    )


def refuse_secret(key: str) -> None:
    """Raises UsageError for a setting that is a secret, by its name or by what it looks like; its value is in no sentence."""
    table = key.partition(".")[0]
    if "." in key and any(row.kind == "table" for offer in OFFERS.values() if (row := offer.row(table))):
        return  # What a person calls a thing may be any word.
    secret = key.strip().upper().replace("-", "_")
    if secret in SECRETS:
        raise UsageError(
            f"{secret} is a secret and has no place on a command line: "
            f"`etui plugins install {SECRETS[secret].name} --secret {secret}` asks for it, or reads it from its input."
        )
    if set(secret.replace(".", "_").split("_")) & {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "KEY", "CREDENTIALS"}:
        raise UsageError(f"{key!r} sounds like a secret, which has no place on a command line; `etui plugins show` names them.")


def _over(offer: Offer, values: Mapping[str, object], wanted: Mapping[str, str]) -> dict[str, Any]:
    """The values with what is wanted; `TABLE.NAME` is an entry of a table, and a blank value takes it out. Raises RowError."""
    merged: dict[str, Any] = dict(values)
    for key, value in wanted.items():
        refuse_secret(key)
        table, dot, entry = key.partition(".")
        row = offer.row(table if dot else key)
        if row is None or (row.kind == "table") != bool(dot):
            names = ", ".join(f"{one.name}.NAME" if one.kind == "table" else one.name for one in offer.rows)
            raise RowError(f"{offer.name} has no setting {key!r} ({names})")
        if not dot:
            merged[key] = value
            continue
        entries = dict(merged[table])
        entry = " ".join(entry.lower().split())
        entries.pop(entry, None)
        merged[table] = {**entries, entry: value} if value.strip() else entries
    return merged


def _state(name: str, files: _Files, installed: bool, reasons: Mapping[str, str]) -> State:
    refused: str | None = None
    settings: dict[str, object] = {}
    try:
        settings = read(OFFERS[name], files.read_from)
    except RowError as error:
        refused = str(error) if installed else None
    if installed:
        refused = reasons.get(files.tool.name, reasons.get(files.folder.name, refused))
    return State(
        name=name,
        on=installed and refused is None,
        installed=installed,
        tool_file=str(files.tool),
        config_file=str(files.settings),
        refused=refused,
        settings=settings,
    )
