"""The nouns of a tool: what it is, what it may touch, one call of it, and why something is no tool.

Above: `load`, `registry`, `session`, `run` and every surface pass these on unchanged.
Below: only `msgspec`. It refuses to know: how a tool runs, who may call it, where it is kept.

Note for readers: the package also exports a decorator named `tool` (see `contracts/etui/authoring.py`);
this module is always imported as `from etui.tool import Tool`.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

BUILT_IN = "built-in"
"""The contract, the plugin and the toolset of the few tools that the host itself runs; nobody can take their names."""
INLINE = "inline"
"""The plugin, and the contract, of functions that a program registered itself; nothing in a folder can have the name."""
FACES = (
    "neutral",
    "happy",
    "excited",
    "sad",
    "crying",
    "angry",
    "surprised",
    "embarrassed",
    "thinking",
    "sleepy",
    "affectionate",
    "confused",
    "scared",
    "determined",
)
"""The expressions that a face can show."""


class Risk(StrEnum):
    """The most that a tool does; each contains less than the next, and the kernel enforces it where it can."""

    READ = "read"
    WRITE = "write"
    NETWORK = "network"
    EXEC = "exec"


class Checks(StrEnum):
    """What happens to the arguments of a call before the tool gets them."""

    VALIDATE = "validate"
    """Repaired without loss, then checked against the whole schema (contract `etui`)."""
    COERCE = "coerce"
    """Coerced towards declared numbers and booleans; the impossible is refused (contract `sapphire`)."""
    PASS = "pass"
    """Passed as they came, as long as they are a JSON object (contracts `kotoba` and `keryx`)."""


class Voice(msgspec.Struct, frozen=True):
    """The lines that a tool wants said around a call; an empty one is not said."""

    announce: str = ""
    """Before the call."""
    heartbeat: tuple[str, ...] = ()
    """While it takes long, one after another; the last one repeats."""
    complete: str = ""
    """After it went well."""
    fail: str = ""
    """After it did not."""


class Words(msgspec.Struct, frozen=True):
    """What a model reads where a contract has sentences of its own; an empty one leaves the host's."""

    timed_out: str = ""
    """Instead of the host's sentence, when a call took too long."""
    note: str = ""
    """Behind the text of a call that the host ended or that died: timed out, crashed, unknown."""
    cut: str = ""
    """Behind a text that was cut at the front; `{more}` is how many characters are missing."""
    pin: str = ""
    """Instead of the host's sentence, when the owner's PIN is needed first."""
    no_pin: str = ""
    """The same, where it is needed and none is set."""
    not_chosen: str = ""
    """Instead of the host's sentence, when the chat has not chosen the tool `{tool}`; `{names}` are some that it has chosen."""
    no_json: str = ""
    """Instead of the host's sentence, for arguments that are no JSON object."""
    misfit: str = ""
    """The same, for arguments that cannot be made what is declared; `{faults}` in it is which."""
    payload: bool = False
    """What it gives is one JSON object: a failure's text stays as the contract wrote it, and the host says `{"error": ...}`."""


class Grant(msgspec.Struct, frozen=True):
    """What a worker may touch. Nothing is granted that is not named here."""

    read: tuple[str, ...] = ()
    """Folders and files that may be read, besides Python itself and the plugin's own files."""
    write: tuple[str, ...] = ()
    """Folders that may be written."""
    network: bool = False
    """May open sockets."""
    subprocess: bool = False
    """May start other programs."""
    env: tuple[str, ...] = ()
    """Names of environment variables that are handed in."""
    opened: tuple[str, ...] = ()
    """Those to read or write that the owner opened by their real path: no link that lies there now is followed."""

    def __or__(self, other: Grant) -> Grant:
        """The two taken together."""
        return Grant(
            read=tuple(sorted({*self.read, *other.read})),
            write=tuple(sorted({*self.write, *other.write})),
            network=self.network or other.network,
            subprocess=self.subprocess or other.subprocess,
            env=tuple(sorted({*self.env, *other.env})),
            opened=tuple(sorted({*self.opened, *other.opened})),
        )


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """A name, a description, a JSON Schema for its arguments, and where the thing that runs is found."""

    name: str
    """Unique in the host: a letter or underscore, then letters, digits, underscores, in foreign names hyphens; at most 64."""
    description: str
    """What it does, for the model and the person; the first paragraph of the docstring."""
    parameters: dict[str, object]
    """JSON Schema of an object, self-contained: it holds no `$ref`."""
    contract: str
    """The shape its file is written in: `etui`, `kotoba`, `keryx`, `sapphire`, `mcp`, or `inline`."""
    plugin: str
    """The plugin whose code runs; one worker belongs to it."""
    instance: str = ""
    """The session whose own worker runs it; empty where all sessions share the plugin's one worker."""
    source: str = ""
    """The source in which the plugin was found."""
    entry: str = ""
    """What the plugin's own code calls it, where that differs from the name."""
    file: str = ""
    """Path of the file that defines it."""
    line: int = 0
    """Line in that file, counted from 1."""
    digest: str = ""
    """SHA-256 of the plugin's code; remembered approvals are bound to it."""
    risk: Risk = Risk.READ
    checks: Checks = Checks.VALIDATE
    pin: bool = False
    """Needs the owner's PIN first."""
    timeout: float | None = 30.0
    """Seconds that a call may take; None is no limit."""
    arg_timeout: str = ""
    """Name of an argument that says how many seconds this call may take, up to `max_timeout`."""
    max_timeout: float = 600.0
    """Upper limit in seconds for `arg_timeout`."""
    arg_default: float = 0.0
    """Seconds that count where the argument of `arg_timeout` is missing or no number; 0 leaves `timeout`."""
    headroom: bool = False
    """Its time covers a person's answer too: the channel's window for answers and a little more."""
    examples: tuple[str, ...] = ()
    """Sentences that mean this tool, with `{argument}` where a value stands."""
    voice: Voice = Voice()
    face: str = ""
    """The expression shown while it runs; empty for the usual one."""
    fail_face: str = ""
    """The expression shown when it failed; empty for the usual one."""
    silent: bool = False
    """Its result joins the conversation and asks for no new words."""
    interactive: bool = False
    """Waits for a person; time spent waiting for them does not count."""
    toolset: str = ""
    """The family with which it is switched on and off; by default `plugin:<name>`."""
    words: Words = Words()
    chars: int = 0
    """Characters of a result that the model gets; 0 is the owner's setting."""
    most: int = 0
    """How often it may run in one turn; 0 is as often as the turn may call."""
    failures: int = 0
    """How many calls of a conversation's turn may fail if one of them is of this tool; 0 is the owner's setting."""
    mode: str = ""
    """The one mode in which it is offered, `conversation` or `work`; empty for both."""
    checked: bool = False
    """Its code is asked whether it is usable before it is offered."""
    provided: bool = False
    """The model's provider runs it; here it never runs, and a call of it ends well with nothing."""
    secrets: tuple[str, ...] = ()
    """Arguments whose values are written down nowhere and told to nobody."""
    asks: bool = False
    """Its code asks the person itself before it does what needs a yes: then its risk alone asks nobody."""
    wants: tuple[str, ...] = ()
    """What its code wants to be told with each call, by the names in `briefing.py`."""
    category: str = ""
    """The word that groups it with others, such as `web` or `memory`; a selection of tools may name it."""
    module: str = ""
    """The word for all tools that were registered together, where no file lists them; a selection may name it too."""
    scope: str = ""
    """The scope that must be open in a chat for it, such as `memory` or `email`; empty where none is needed."""
    local: bool | None = None
    """Whether it keeps what it is told on this machine, as its file says; None where it does not say."""
    badges: tuple[str, ...] = ()
    """Words that the person is shown beside it, such as `network`; whether a call may run never goes by them."""
    hidden: bool = False
    """In no selection but one that names it; it can be called all the same."""
    group: str = ""
    """Under which heading the person finds it, where that is not its category."""
    icon: str = ""
    """An emoji that stands for it."""
    gated: str = ""
    """The owner's setting without which it is not offered."""
    prompt: str = ""
    """The one kind of prompt with which it is offered, `monolith` or `assembled`; empty for both."""
    in_reply: int = 0
    """How many calls of one reply run if one of them is of this tool, and then one after another; 0 is as many as there are."""
    rounds: int = 0
    """How many replies of a turn may call once one has called this tool; 0 is as many as the turn may."""
    spare: bool = False
    """If its name is taken it is left out, and the rest of its plugin stays."""
    warn_after: int = 0
    """From which call in one turn on `warning` stands behind its result: 2 is the second; 0 is never."""
    warning: str = ""
    """`{count}` in it is how often it was called."""


class Handler(msgspec.Struct, frozen=True, kw_only=True):
    """What a plugin wants run besides its tools: at an event, a time, an address, or for as long as it is on."""

    kind: str
    """`hook`, `route`, `schedule`, `daemon` or `voice`."""
    name: str
    """The hook's name, the route's path, the schedule's name; what tells it from the plugin's others of its kind."""
    entry: str
    """What the contract calls it; it begins with `@`, which no tool does."""
    priority: int = 50
    """Lower ones run first."""
    facts: dict[str, object] = {}
    """What else the manifest says of it, as JSON values."""


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """One of several accounts or slots of which a chat uses one: which key chooses it, and where the choices come from."""

    key: str
    """Such as `email`; the chat's choice stands under `<key>_scope`."""
    label: str = ""
    default: str = "default"
    facts: dict[str, object] = {}
    """What else the manifest says of it: the route that lists the choices, and what they are called there."""


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One wish to run one tool."""

    id: str
    """Unique in the host; the key in the journal."""
    tool: str
    """The name as it was asked for."""
    arguments: object = msgspec.field(default_factory=dict)
    """As they were sent: usually an object or JSON text, but anything may come."""
    turn: str = ""
    """The turn in which a model asked, or empty when a person called the tool directly."""
    plugin: str = ""
    """Only a tool of this plugin will do; empty for any."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was refused or is odd, and why: one reason for each."""

    what: str
    """The file, plugin or tool that it is about, as a person calls it."""
    reason: str
    """One sentence: what is wrong."""
    hint: str = ""
    """One sentence: what to do."""
    file: str = ""
    line: int = 0
    plugin: str = ""
    source: str = ""
    refused: bool = True
    """False for a warning about something that works all the same."""
    quiet: bool = False
    """True where nothing is amiss: only who asks for everything is told."""
    trace: str = ""
    """The traceback, for the owner's eyes only."""


class Plugin(msgspec.Struct, frozen=True, kw_only=True):
    """A tool file or a folder of tool files, and what was found in it."""

    name: str
    contract: str
    source: str
    path: str
    """The file, or the folder."""
    files: tuple[str, ...] = ()
    """Every file whose bytes the digest covers."""
    digest: str = ""
    grant: Grant = Grant()
    """What its worker may touch: what it asks for, as far as the owner lets it, and the variables that they gave it."""
    wishes: Grant = Grant()
    """What it asks for: what its tools declare, and what a foreign source visibly uses; variables by their names."""
    family: str = ""
    """The toolset that switches the whole plugin on and off: `plugin:<name>`."""
    tools: tuple[Tool, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    """What the owner should know, such as an environment variable that the source asks for."""
    title: str = ""
    """What the person reads; empty for the name."""
    icon: str = ""
    handlers: tuple[Handler, ...] = ()
    """What it wants run besides its tools."""
    scopes: tuple[Scope, ...] = ()
    """What it adds to the choices of each chat."""
    whole: bool = False
    """If one of its names is taken, all of it is refused."""
    manifest: dict[str, object] = {}
    """What its manifest says, as JSON values; empty where it has none."""
