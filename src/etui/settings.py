"""Every setting there is: one table, from which the file, the environment, `etui config`, the console and the docs are made.

Above: `host` reads the file and hands `Settings` on; nobody else reads the environment. Below: `msgspec`.
It refuses to know: where the file lies, and what a setting does.

`read` takes the text of `config.toml` and the environment (`ETUI_<NAME>`), and gives `Settings` with one `SettingError` for
each row that cannot be used; the rest go on. A row that governs what may run falls back to the strictest value.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from etui.errors import SettingError

Policy = Literal["allow", "ask", "refuse"]
ExecPolicy = Literal["auto", "allow", "ask", "refuse"]
Effort = Literal["auto", "off", "low", "medium", "high"]
Vision = Literal["auto", "never"]
Narrate = Literal["auto", "always", "never"]
Level = Literal["strict", "moderate", "system_killer"]


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A place to look for plugins."""

    path: str = ""
    """A folder; `~` is the person's home; a relative one is taken from `ETUI_HOME`."""
    contract: str = "auto"
    """The contract its files are written in, or `auto`."""
    name: str = ""
    """What the owner calls it; by default the folder's name, or the group's."""
    families: bool = False
    """Tools of a foreign contract keep the toolsets that their files name, not `plugin:<name>`: for files that you trust."""
    entry_points: str = ""
    """A group of entry points of the packages in the tools' environment, such as `kotoba.tools`; then no folder is needed."""

    def __post_init__(self) -> None:
        if not self.path and not self.entry_points:
            raise ValueError("A source needs a `path`, or a group of `entry_points`.")


class McpServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A server of tools that speaks the Model Context Protocol: a program, or an address. `${NAME}` is a variable of Etui's."""

    command: str = ""
    """The program; it speaks over its standard input and output."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """What is added to the few environment variables that it gets."""
    cwd: str = ""
    """The folder in which it starts; `~` is the person's home, a relative one is taken from `ETUI_HOME`."""
    url: str = ""
    """Address of one that runs elsewhere (streamable HTTP), instead of a program."""
    headers: dict[str, str] = {}
    """Sent with each request to the address."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings in force."""

    listen: Annotated[
        str, Meta(description="Address that the console listens on. Anything but loopback lets other machines in.")
    ] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port of the console; 0 takes any free one.")] = 8470
    hosts: Annotated[
        tuple[str, ...], Meta(description="Further names by which a browser may call the console, such as `etui.home`.")
    ] = ()
    open_browser: Annotated[bool, Meta(description="Open the console in the browser when `etui serve` starts.")] = True
    model: Annotated[
        str,
        Meta(description="What answers: `embedded`, or `openai-chat`, `openai-responses`, `anthropic`, `google` with `:NAME`."),
    ] = "embedded"
    model_base_url: Annotated[str, Meta(description="Address of a compatible server; empty for the provider's own.")] = ""
    sources: Annotated[
        tuple[Source, ...], Meta(description="Further folders of plugins, besides `tools/` and `plugins/` in `ETUI_HOME`.")
    ] = ()
    mcp_servers: Annotated[
        dict[str, dict[str, Any]],
        Meta(
            description="MCP servers, as tables `[mcp_servers.NAME]` with `command`, `args`, `env`, `cwd`, or with `url`, "
            "`headers`; `${NAME}` stands for a variable of Etui's environment."
        ),
    ] = {}
    shelf: Annotated[bool, Meta(description="Load the tools that come with Etui.")] = True
    tools_env: Annotated[
        str,
        Meta(
            description="Python environment in which tools run; empty for `env/` in `ETUI_HOME`, else the one that `make run` "
            "made, else the host's own."
        ),
    ] = ""
    timezone: Annotated[str, Meta(description="Your time zone, such as `Europe/Berlin`; empty for the machine's.")] = ""
    language: Annotated[str, Meta(description="Your language, as a two-letter code.")] = "en"
    allow_read: Annotated[Policy, Meta(description="Calls of tools that only read.")] = "allow"
    allow_write: Annotated[Policy, Meta(description="Calls of tools that write in the working folder.")] = "allow"
    allow_network: Annotated[Policy, Meta(description="Calls of tools that use the network.")] = "allow"
    allow_exec: Annotated[
        ExecPolicy,
        Meta(
            description="Calls of tools that start other programs; `auto` asks, but for tools whose contract leaves it to the "
            "tool to ask, as Kotoba's does."
        ),
    ] = "auto"
    unconfined: Annotated[
        Policy, Meta(description="Calls of tools that this machine's kernel cannot hold to what they declare.")
    ] = "ask"
    socks: Annotated[
        bool,
        Meta(
            description="Tools reach the open web through a SOCKS 5 proxy, and so does what the console fetches for them; it "
            "looks names up too. What is in your own network is reached directly."
        ),
    ] = False
    socks_host: Annotated[str, Meta(min_length=1, description="Address of the SOCKS proxy.")] = "127.0.0.1"
    socks_port: Annotated[int, Meta(ge=1, le=65535, description="Its port.")] = 1080
    socks_user: Annotated[str, Meta(description="The name that it wants, if any.")] = ""
    socks_password: Annotated[
        str,
        Meta(
            pattern=r"^(\$\{[A-Za-z_][A-Za-z0-9_]*\})?$",
            description="The password that it wants, as `${NAME}`: a variable of Etui's environment, so that no file holds it.",
        ),
    ] = ""
    tool_maker: Annotated[
        Level,
        Meta(
            description="How strictly code is checked that the assistant writes as a tool: `strict` lets it import a few "
            "harmless modules, `moderate` all but dangerous ones, `system_killer` anything. It is never saved without your yes."
        ),
    ] = "strict"
    calls_a_turn: Annotated[int, Meta(ge=1, le=200, description="Tool calls that one turn may make.")] = 8
    failures_a_turn: Annotated[
        int, Meta(ge=1, le=100, description="Failed calls after which a turn gets no more tools and has to answer.")
    ] = 3
    calls_a_job: Annotated[int, Meta(ge=1, le=1000, description="Tool calls that one background job may make.")] = 40
    failures_a_job: Annotated[
        int, Meta(ge=1, le=100, description="Failed calls after which a background job gets no more tools.")
    ] = 6
    job_seconds: Annotated[
        float, Meta(gt=0, le=86_400, description="Seconds that a background job may work; waiting for a person does not count.")
    ] = 3600.0
    only_in_jobs: Annotated[
        tuple[str, ...],
        Meta(
            description="Families of tools that are kept out of conversations and run in background jobs only, such as "
            "`plugin:NAME`, `plugin:*` or `contract:kotoba`."
        ),
    ] = ()
    before_pin: Annotated[
        tuple[str, ...],
        Meta(
            description="Tools for whoever rings, before they have given the PIN: names of tools, `plugin:NAME`, `mcp:NAME` or "
            "`contract:NAME`, each also as a pattern; toolsets that files name count for nothing. "
            "Keryx's files say it themselves."
        ),
    ] = ("plugin:calculator", "time_in", "time_difference", "date_today", "weekday_of", "days_until")
    briefing_before_pin: Annotated[
        bool, Meta(description="Keryx tools that ask `read_gate` may read before the PIN was given, where one is set.")
    ] = True
    pin_tries: Annotated[int, Meta(ge=1, le=10, description="Wrong PINs that one conversation may give.")] = 3
    pin_failures: Annotated[
        int, Meta(ge=1, le=1000, description="Wrong PINs, over all conversations, after which none is taken for a while.")
    ] = 10
    pin_window_hours: Annotated[float, Meta(gt=0, le=720, description="Hours in which wrong PINs count together.")] = 24.0
    pin_lockout_minutes: Annotated[
        float, Meta(gt=0, le=10_080, description="Minutes in which no PIN is taken after too many wrong ones.")
    ] = 60.0
    result_chars: Annotated[int, Meta(ge=200, le=1_000_000, description="Characters of one result that a model sees.")] = 16_000
    sapphire_result_chars: Annotated[
        int,
        Meta(
            ge=0,
            le=5_000_000,
            description="Characters of one result that a model sees of Sapphire's tools, whose `config` has it as "
            "`TOOL_RESULT_MAX_CHARS`; 0 is all of them.",
        ),
    ] = 200_000
    turn_chars: Annotated[
        int, Meta(ge=1000, le=5_000_000, description="Characters of all results of a turn that a model sees.")
    ] = 132_000
    job_chars: Annotated[
        int, Meta(ge=1000, le=5_000_000, description="Characters of all results of a background job that a model sees.")
    ] = 200_000
    image_memory_turns: Annotated[
        int, Meta(ge=0, le=1000, description="Turns after its own in which a model is shown an image of a tool again.")
    ] = 3
    vision: Annotated[
        Vision,
        Meta(
            description="Whether the model is shown images; `auto` shows them until its server refuses, `never` withholds them."
        ),
    ] = "auto"
    session_minutes: Annotated[
        float, Meta(gt=0, le=10_080, description="Minutes after which a conversation in which nothing is said begins anew.")
    ] = 30.0
    ask_seconds: Annotated[float, Meta(gt=0, le=86_400, description="Seconds that a card waits for a person.")] = 300.0
    grace_seconds: Annotated[
        float, Meta(ge=0, le=60, description="Seconds between asking a late call to stop and killing it.")
    ] = 1.0
    memory_mb: Annotated[int, Meta(ge=64, le=65_536, description="Memory in megabytes that one worker may use.")] = 512
    personality: Annotated[
        str,
        Meta(
            description="Markdown file whose section `## Tool voice patterns` overrides the lines of tools; a relative path is "
            "taken from `ETUI_HOME`."
        ),
    ] = "personality.md"
    effort: Annotated[
        Effort, Meta(description="How long the model thinks before it answers, where it can; `auto` leaves it to the model.")
    ] = "auto"
    narrate: Annotated[
        Narrate,
        Meta(
            description="The lines that tools say around their calls; `auto` leaves them out where the model thinks, since it "
            "tells by itself what it does."
        ),
    ] = "auto"
    speak: Annotated[bool, Meta(description="The console says lines with the browser's voice.")] = False
    plugin: Annotated[
        dict[str, dict[str, Any]], Meta(description="Settings of single plugins, as tables `[plugin.NAME]`.")
    ] = {}


class Unread(SettingError):
    """The file as a whole could not be read."""


STRICTEST: Mapping[str, object] = {
    "listen": "127.0.0.1",
    "hosts": (),
    "allow_read": "ask",
    "allow_write": "refuse",
    "allow_network": "refuse",
    "allow_exec": "refuse",
    "unconfined": "refuse",
    "socks": True,
    "tool_maker": "strict",
    "only_in_jobs": ("contract:kotoba",),
    "before_pin": (),
    "briefing_before_pin": False,
}
"""What a row that governs what may run falls back to when what stands there cannot be read."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    name: str
    kind: str
    """text, number, switch, choice, list or table."""
    default: object
    help: str
    env: str
    choices: tuple[str, ...] = ()
    type: Any = None


def _kind(hint: Any) -> str:
    origin = get_origin(hint)
    if origin is Literal:
        return "choice"
    if origin is tuple:
        return "list"
    if origin is dict:
        return "table"
    return {bool: "switch", int: "number", float: "number"}.get(hint, "text")


def _table() -> tuple[Row, ...]:
    rows = []
    defaults = Settings()
    for name, hint in get_type_hints(Settings, include_extras=True).items():
        bare, meta = get_args(hint)
        rows.append(
            Row(
                name=name,
                kind=_kind(bare),
                default=getattr(defaults, name),
                help=meta.description,
                env=f"ETUI_{name.upper()}",
                choices=get_args(bare) if _kind(bare) == "choice" else (),
                type=hint,
            )
        )
    return tuple(rows)


TABLE: tuple[Row, ...] = _table()
ROWS: Mapping[str, Row] = {row.name: row for row in TABLE}


def row(name: str) -> Row:
    """The row of that name. Raises SettingError that names the nearest ones."""
    if name in ROWS:
        return ROWS[name]
    near = sorted(other for other in ROWS if other.startswith(name[:3]) or name in other)
    hint = f" Did you mean {', '.join(repr(one) for one in near)}?" if near else " `etui config` lists them all."
    raise SettingError(f"There is no setting {name!r}.{hint}")


def check(name: str, value: object) -> Any:
    """The value as the row wants it. Raises SettingError with what was expected."""
    wanted = row(name)
    try:
        return msgspec.convert(value, wanted.type, strict=False)
    except msgspec.ValidationError as error:
        raise SettingError(f"The setting {name!r} cannot be {value!r}.{_expected(wanted, str(error))}") from None


WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "on or off",
    "str": "a text",
    "array": "a list",
    "object": "a table",
}
LIMITS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}
WANTED = re.compile(r"Expected `(\w+)`(?: ([<>]=?) (\S+?)(?:\.0)?|, got `\w+`)")
"""What msgspec says where a value has another type or lies outside of its bounds."""


def _expected(wanted: Row, reason: str) -> str:
    """What could stand there, as a sentence; the reason itself where it says something else."""
    if wanted.choices:
        return f" It is one of {', '.join(wanted.choices)}."
    if (found := WANTED.fullmatch(reason)) is None:
        return f" ({reason})"
    kind, sign, bound = found.groups()
    return f" It must be {LIMITS[sign]} {bound}." if sign else f" It must be {WORDS.get(kind, kind)}."


def from_text(name: str, text: str) -> Any:
    """The value that a person wrote on a command line or in the environment."""
    wanted = row(name)
    if wanted.kind == "list":
        items: object = (
            _toml(text) if text.lstrip().startswith("[") else [part.strip() for part in text.split(",") if part.strip()]
        )
        return check(name, items)
    if wanted.kind == "table":
        return check(name, _toml(text))
    if wanted.kind == "switch":
        words = {"on": True, "yes": True, "true": True, "1": True, "off": False, "no": False, "false": False, "0": False}
        if text.strip().lower() not in words:
            raise SettingError(f"The setting {name!r} is a switch: on or off, not {text!r}.")
        return words[text.strip().lower()]
    return check(name, text)


def _toml(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{text!r} is no TOML value ({error}).") from None


def from_variable(wanted: Row, environ: Mapping[str, str]) -> Any:
    """What the environment says. Raises SettingError that names the variable."""
    try:
        return from_text(wanted.name, environ[wanted.env])
    except SettingError as error:
        raise SettingError(f"{error} The variable {wanted.env} says so.") from None


def read(
    text: str, environ: Mapping[str, str], overrides: Mapping[str, object] | None = None
) -> tuple[Settings, list[SettingError]]:
    """Settings from the text of a file, then the environment, then a program's own; and what could not be used."""
    errors: list[SettingError] = []
    values: dict[str, Any] = {}
    try:
        entries = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        errors.append(Unread(f"The configuration file is no TOML ({error}). Until it is mended the strictest rules apply."))
        entries = {}
        values.update(STRICTEST)
    for name, value in entries.items():
        _take(values, errors, name, lambda name=name, value=value: check(name, value))
    for one in TABLE:
        if one.env in environ:
            _take(values, errors, one.name, lambda one=one: from_variable(one, environ))
    for name, value in (overrides or {}).items():
        _take(values, errors, name, lambda name=name, value=value: check(name, value))
    return Settings(**values), errors


def _take(values: dict[str, Any], errors: list[SettingError], name: str, get: Any) -> None:
    try:
        values[name] = get()
    except SettingError as error:
        errors.append(error)
        if name in STRICTEST:
            values[name] = STRICTEST[name]
