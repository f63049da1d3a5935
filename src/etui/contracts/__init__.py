"""What a contract is, and which there are.

A contract is the shape in which a tool file is written. Its code runs only inside workers: it imports the file, describes what
the file offers, and runs one call. Above: `run.child`. Below: the nouns. It refuses to know: the host, the store, the gate.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Mapping
from typing import Protocol

import msgspec

from etui.outcome import File, Image, Status
from etui.tool import Grant, Handler, Problem, Tool

VERSIONS: Mapping[str, int] = {"etui": 3, "kotoba": 2, "keryx": 2, "sapphire": 2}
"""The contracts there are, in the order in which a file is tried against them. Raise a number to describe its files anew."""
REFRESH = "@tools"
"""The entry by which the host asks for descriptions and parameters anew; the answer is in `data`, each with its name."""
SHUTDOWN = "@shutdown"
"""Entry by which the host lets a plugin clear up before its worker goes."""


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """The plugin whose code this worker runs."""

    plugin: str
    source: str
    contract: str
    """A name from `VERSIONS`, or `auto`: the first contract that recognises a file."""
    path: str
    """The one file of a loose plugin, or the folder."""
    files: tuple[str, ...]
    """Absolute paths of the plugin's Python files, sorted; `path` itself for a loose one."""
    digest: str = ""
    work: str = ""
    """The working folder that tools are jailed in."""
    families: bool = False
    """Whether its tools keep the toolsets that their files name, as the owner trusts this source to."""
    entry: str = ""
    """What an entry point names, `package.module` or `package.module:object`; then nothing is imported by its path."""
    instance: str = ""
    """The session that this worker belongs to; empty where all sessions share it."""
    code: dict[str, bytes] = {}
    """By path, the bytes that the host has read and checked: they are run, and the path is not read again."""
    unread: bool = False
    """Nothing of them is to be run, in a contract that can tell without what their `code` visibly asks for."""
    taken: tuple[str, ...] = ()
    """Names of tools that no tool of these files may have, in a contract that checks that itself."""
    facts: dict[str, object] = {}
    """What the contract's files may know of the host, as JSON values: folders, settings, never a secret."""
    root: str = ""
    """The folder that its files take for the whole installation, and its working directory; empty where there is none."""
    manifest: dict[str, object] = {}
    """What its manifest says, checked by the host and flat (`plugins.manifests`); empty where it has none."""
    parting: bool = False
    """It wants to clear up before its worker goes: it is told by a call of the entry `SHUTDOWN`."""
    sealed: tuple[str, ...] = ()
    """Folders of plugins that other plugins may write: their code is read from `copies` and never from there."""
    copies: str = ""
    """The folder of those copies, which may be read; empty where nothing is sealed."""

    @property
    def loose(self) -> bool:
        """Whether it is one file by itself, which has nothing of the folder around it."""
        return self.files == (self.path,)


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """What a plugin offers, as learnt by importing it inside a worker."""

    contract: str = ""
    tools: tuple[Tool, ...] = ()
    problems: tuple[Problem, ...] = ()
    """One for each file or tool that was refused, and warnings."""
    wishes: Grant = Grant()
    """What the source asks for, read without running it; known even when the import failed."""
    notes: tuple[str, ...] = ()
    settings: tuple[dict[str, object], ...] = ()
    """What a file without a manifest lets its owner set, as a manifest would say it."""
    handlers: tuple[Handler, ...] = ()
    """What it wants run besides its tools; each is run by `invoke`, by its entry."""
    hung: bool = False
    """It was given up on while it was loaded; said by the host."""


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """How one call ended inside the worker."""

    status: Status
    """Only ok, refused, failed or cancelled: the rest is for the host to see."""
    text: str = ""
    notes: str = ""
    """Behind the text for the model, however long that is and wherever it is cut."""
    shown: str = ""
    why: str = ""
    data: object = None
    """JSON values only."""
    images: tuple[Image, ...] = ()
    files: tuple[File, ...] = ()
    silent: bool | None = None
    """None leaves it to the tool's declaration."""
    error: str = ""
    """The exception's kind, such as `ValueError`, where an unexpected one ended the call; its own text stays in `detail`."""
    detail: str = ""
    """For the owner: the exception's text and traceback."""


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool may know about who called it."""

    session: str = ""
    channel: str = "python"
    trust: str = "none"
    chat: str = ""
    mode: str = "conversation"
    private: bool = False
    user_text: str = ""
    """What the person said in this turn."""
    timezone: str = ""
    """IANA name of the person's time zone."""
    language: str = "en"
    turn: str = ""
    """The turn in which it was called; empty when a person called it directly."""
    attended: bool = False
    """Whether a person is there who can be asked and shown something."""
    caller: str = ""
    """Who called, by their number or name, as far as the channel knows it."""
    authorized: bool = False
    """The owner's PIN was given in this session."""
    keypressed: bool = False
    """A key was pressed in this session."""
    scopes: dict[str, object] = {}
    """By key, what the chat has chosen: a name, or None where the scope is closed."""
    more: dict[str, object] = {}
    """What the tool wants to be told besides, by the names in `Tool.wants`."""


class Line(Protocol):
    """The worker's side of the wire, as a contract sees it during one call."""

    call: str
    caller: Caller

    async def ask(self, service: str, **args: object) -> object:
        """Ask a host service and wait; raises `errors.ServiceError` with the host's sentence. From the worker's loop only."""
        ...

    def ask_sync(self, service: str, **args: object) -> object:
        """The same from any other thread of the worker; blocks that thread."""
        ...

    def say(self, text: str) -> None:
        """A line for the person, now. From any thread; never blocks."""
        ...

    def progress(self, fraction: float | None, text: str) -> None:
        """How far the call is, 0 to 1. From any thread; never blocks."""
        ...


class Contract(Protocol):
    """One contract's module, `contracts.<name>`, offers an object `CONTRACT` with these."""

    name: str

    def recognises(self, source: str) -> bool:
        """Whether a file with this text is written in this contract; cheap, nothing is run."""
        ...

    def describe(self, files: Files) -> Description:
        """Import the plugin and say what it offers. Raises nothing: what goes wrong is a `Problem` with file and line."""
        ...

    def invoke(self, tool: str, arguments: dict[str, object], line: Line) -> Awaitable[Ran]:
        """Run one call; `tool` is `Tool.entry` or the name. Blocking functions run in a thread. Raises only CancelledError."""
        ...

    def available(self, tool: str) -> Awaitable[bool]:
        """Whether a tool that is `checked` can be used now. Raises whatever its code raises."""
        ...


def find(name: str) -> Contract:
    """The contract of that name. Raises KeyError for one that there is not."""
    if name not in VERSIONS:
        raise KeyError(name)
    contract: Contract = importlib.import_module(f"etui.contracts.{name}").CONTRACT
    return contract
