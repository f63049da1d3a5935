"""What a tool may reach during one call: who asked, the working folder, its own state and settings, the person.

`Context` is for `def` tools, which run in a thread, so that its methods simply give the answer. `AsyncContext` is for
`async def` tools: there the methods that ask the host are awaited. Both are thin: a method says which host service it asks and
how the answer is read. Above: tool files. Below: the worker's side of the wire. It refuses to know: how services are served.
"""

from __future__ import annotations

import copy
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from etui.contracts import Caller, Line
from etui.contracts.etui.authoring import Answer, Refusal, Reminder, ToolError
from etui.contracts.etui.files import Folder
from etui.contracts.etui.results import plain

_TRIES = 100
"""How often an update is tried again because somebody else wrote in between."""


class _Common:
    """What both contexts have that needs no waiting."""

    def __init__(self, line: Line, work: str = "", clock: Callable[[], float] = time.time) -> None:
        self._line = line
        self._clock = clock
        self.files = Folder(work)
        """The working folder; nothing outside it can be named."""

    @property
    def session(self) -> Caller:
        """Who asked, and where: channel, trust, chat, mode, private, user_text, timezone, language."""
        return self._line.caller

    def say(self, text: str) -> None:
        """Say a line to the person now, while the tool goes on."""
        self._line.say(str(text))

    def progress(self, fraction: float | None, text: str = "") -> None:
        """Tell how far the work is, from 0 to 1; None if that is not known."""
        self._line.progress(None if fraction is None else min(1.0, max(0.0, float(fraction))), str(text))

    def refuse(self, sentence: str) -> NoReturn:
        """End the call without having done anything, and say why."""
        raise Refusal(sentence)

    def _zone(self) -> tzinfo:
        try:
            return ZoneInfo(self._line.caller.timezone or "UTC")
        except (ZoneInfoNotFoundError, ValueError):
            return UTC

    def _moment(self, at: datetime | timedelta | float, zone: tzinfo) -> datetime:
        """The time that is meant, aware. Raises ValueError, OverflowError and OSError for none that there is."""
        if isinstance(at, datetime):
            return at if at.tzinfo else at.replace(tzinfo=zone)
        seconds = at.total_seconds() if isinstance(at, timedelta) else float(at)
        return datetime.fromtimestamp(self._clock() + seconds, zone)

    def _reminder(self, text: str, at: datetime | timedelta | float, kind: str, label: str, repeat: str) -> dict[str, object]:
        """The arguments of the service `remind.add`."""
        zone = self._zone()
        try:
            moment = self._moment(at, zone)
        except (ValueError, OverflowError, OSError) as error:
            raise ToolError("A reminder takes a time, or a number of seconds from now, before the year 10000.") from error
        name = getattr(moment.tzinfo, "key", "") or getattr(zone, "key", "UTC")
        wall = moment.astimezone(ZoneInfo(name)).replace(tzinfo=None, fold=0)
        exact = isinstance(at, datetime) and not moment.microsecond and not moment.fold
        return {
            "text": str(text),
            "at": moment.timestamp(),
            "kind": kind,
            "label": label,
            "repeat": repeat,
            "wall": wall.isoformat(timespec="seconds" if wall.second else "minutes") if exact or repeat else "",
            "zone": name,
        }


class Context(_Common):
    """Given to a `def` tool as the parameter that is annotated with it; lives as long as the call."""

    @property
    def state(self) -> State:
        """The plugin's own values, kept between calls and restarts."""
        return State(self._line)

    @property
    def settings(self) -> Settings:
        """The plugin's own settings, as the owner wrote them."""
        return Settings(self._line)

    def ask(self, question: str, choices: Sequence[str] | None = None, default: str = "") -> Answer:
        """Ask the person and wait; the answer says whether they answered, declined, or nobody was there."""
        return _answer(self._line.ask_sync("ask", **_question(question, choices, default)))

    def remind(
        self, text: str, at: datetime | timedelta | float, *, kind: str = "reminder", label: str = "", repeat: str = ""
    ) -> str:
        """Say `text` to the person at a time, or in so many seconds, also after a restart. Returns the reminder's id."""
        return str(self._line.ask_sync("remind.add", **self._reminder(text, at, kind, label, repeat)))

    def reminders(self, kind: str = "") -> list[Reminder]:
        """The plugin's reminders that are still to come, of one kind or of all."""
        return _reminders(self._line.ask_sync("remind.list", kind=kind))

    def forget(self, id: str) -> bool:
        """Cancel a reminder; False if there is none with that id."""
        return bool(self._line.ask_sync("remind.cancel", id=str(id)))

    def start_work(self, goal: str) -> str:
        """Start a background job for this conversation; returns its id, and ends as a refusal where there can be none."""
        return _job(self._line.ask_sync("work.start", goal=str(goal)))

    def cancel_work(self) -> bool:
        """Cancel this conversation's background job; False if there is none."""
        return bool(self._line.ask_sync("work.cancel"))

    def save_tool(self, name: str, code: str) -> str:
        """Save a tool file of Sapphire's kind, once a person has seen and approved it; says what was done, else it fails."""
        return _said(self._line.ask_sync("tools.save", name=str(name), code=str(code)))

    def read_tool(self, name: str = "") -> str:
        """The code of a tool file that was saved so; without a name, the list of them."""
        return _said(self._line.ask_sync("tools.read", name=str(name)))

    def load_tools(self) -> str:
        """Look at the plugins' folders now, and let this conversation use what was saved so."""
        return _said(self._line.ask_sync("tools.load"))

    def activate(self, server: str) -> dict[str, list[str]]:
        """Let this background job use the tools of an MCP server, by its name or a word of it; gives their names, by server."""
        return _named(self._line.ask_sync("mcp.activate", server=str(server)))


class AsyncContext(_Common):
    """Given to an `async def` tool; what asks the host is awaited."""

    @property
    def state(self) -> AsyncState:
        """The plugin's own values, kept between calls and restarts."""
        return AsyncState(self._line)

    @property
    def settings(self) -> AsyncSettings:
        """The plugin's own settings, as the owner wrote them."""
        return AsyncSettings(self._line)

    async def ask(self, question: str, choices: Sequence[str] | None = None, default: str = "") -> Answer:
        """Ask the person and wait; the answer says whether they answered, declined, or nobody was there."""
        return _answer(await self._line.ask("ask", **_question(question, choices, default)))

    async def remind(
        self, text: str, at: datetime | timedelta | float, *, kind: str = "reminder", label: str = "", repeat: str = ""
    ) -> str:
        """Say `text` to the person at a time, or in so many seconds, also after a restart. Returns the reminder's id."""
        return str(await self._line.ask("remind.add", **self._reminder(text, at, kind, label, repeat)))

    async def reminders(self, kind: str = "") -> list[Reminder]:
        """The plugin's reminders that are still to come, of one kind or of all."""
        return _reminders(await self._line.ask("remind.list", kind=kind))

    async def forget(self, id: str) -> bool:
        """Cancel a reminder; False if there is none with that id."""
        return bool(await self._line.ask("remind.cancel", id=str(id)))

    async def start_work(self, goal: str) -> str:
        """Start a background job for this conversation; returns its id, and ends as a refusal where there can be none."""
        return _job(await self._line.ask("work.start", goal=str(goal)))

    async def cancel_work(self) -> bool:
        """Cancel this conversation's background job; False if there is none."""
        return bool(await self._line.ask("work.cancel"))

    async def save_tool(self, name: str, code: str) -> str:
        """Save a tool file of Sapphire's kind, once a person has seen and approved it; says what was done, else it fails."""
        return _said(await self._line.ask("tools.save", name=str(name), code=str(code)))

    async def read_tool(self, name: str = "") -> str:
        """The code of a tool file that was saved so; without a name, the list of them."""
        return _said(await self._line.ask("tools.read", name=str(name)))

    async def load_tools(self) -> str:
        """Look at the plugins' folders now, and let this conversation use what was saved so."""
        return _said(await self._line.ask("tools.load"))

    async def activate(self, server: str) -> dict[str, list[str]]:
        """Let this background job use the tools of an MCP server, by its name or a word of it; gives their names, by server."""
        return _named(await self._line.ask("mcp.activate", server=str(server)))


class State:
    """The plugin's key-value store: keys are text, values are JSON."""

    def __init__(self, line: Line) -> None:
        self._ask = line.ask_sync

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or the default."""
        return _value(self._ask("state.get", key=key), default)[0]

    def put(self, key: str, value: object) -> None:
        """Set the value, whatever was there."""
        self._ask("state.put", key=key, value=plain(value))

    def delete(self, key: str) -> None:
        """Remove the value; one that is not there is fine."""
        self._ask("state.delete", key=key)

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that begin so."""
        return _keys(self._ask("state.keys", prefix=prefix))

    def search(self, query: str, prefix: str = "", limit: int = 20) -> list[dict[str, Any]]:
        """What matches in the values' text, best first: `key`, `value` and `snippet` of each."""
        return _found(self._ask("state.search", query=query, prefix=prefix, limit=limit))

    def update(self, key: str, change: Callable[[Any], Any], default: Any = None) -> Any:
        """Set the value to `change(value)` and return it; nobody's write is lost, so `change` may run more than once."""
        for _ in range(_TRIES):
            value, version = _value(self._ask("state.get", key=key), copy.deepcopy(default))
            new = plain(change(value))
            if self._ask("state.swap", key=key, value=new, version=version):
                return new
        raise ToolError(f"{key!r} is being changed by too many at once; try again.")


class AsyncState:
    """The same for `async def` tools; every method is awaited."""

    def __init__(self, line: Line) -> None:
        self._ask = line.ask

    async def get(self, key: str, default: Any = None) -> Any:
        """The value, or the default."""
        return _value(await self._ask("state.get", key=key), default)[0]

    async def put(self, key: str, value: object) -> None:
        """Set the value, whatever was there."""
        await self._ask("state.put", key=key, value=plain(value))

    async def delete(self, key: str) -> None:
        """Remove the value; one that is not there is fine."""
        await self._ask("state.delete", key=key)

    async def keys(self, prefix: str = "") -> list[str]:
        """The keys that begin so."""
        return _keys(await self._ask("state.keys", prefix=prefix))

    async def search(self, query: str, prefix: str = "", limit: int = 20) -> list[dict[str, Any]]:
        """What matches in the values' text, best first: `key`, `value` and `snippet` of each."""
        return _found(await self._ask("state.search", query=query, prefix=prefix, limit=limit))

    async def update(self, key: str, change: Callable[[Any], Any], default: Any = None) -> Any:
        """Set the value to `change(value)`, awaited where it must be, and return it; nobody's write is lost."""
        for _ in range(_TRIES):
            value, version = _value(await self._ask("state.get", key=key), copy.deepcopy(default))
            changed = change(value)
            new = plain(await changed if inspect.isawaitable(changed) else changed)
            if await self._ask("state.swap", key=key, value=new, version=version):
                return new
        raise ToolError(f"{key!r} is being changed by too many at once; try again.")


class Settings:
    """The plugin's own settings by name."""

    def __init__(self, line: Line) -> None:
        self._ask = line.ask_sync

    def get(self, name: str, default: Any = None) -> Any:
        """The setting, or the default where the owner set none."""
        value = self._ask("settings.get", name=name)
        return default if value is None else value

    def __getitem__(self, name: str) -> Any:
        value = self._ask("settings.get", name=name)
        if value is None:
            raise ToolError(_unset(name))
        return value

    def __contains__(self, name: str) -> bool:
        return self._ask("settings.get", name=name) is not None


class AsyncSettings:
    """The same for `async def` tools."""

    def __init__(self, line: Line) -> None:
        self._ask = line.ask

    async def get(self, name: str, default: Any = None) -> Any:
        """The setting, or the default where the owner set none."""
        value = await self._ask("settings.get", name=name)
        return default if value is None else value

    async def need(self, name: str) -> Any:
        """The setting; where the owner set none the call fails and says so."""
        value = await self._ask("settings.get", name=name)
        if value is None:
            raise ToolError(_unset(name))
        return value


def _job(told: object) -> str:
    """The id of the job, or the refusal that says why there is none."""
    told = told if isinstance(told, Mapping) else {}
    if not told.get("job"):
        raise Refusal(str(told.get("why", "")))
    return str(told["job"])


def _said(told: object) -> str:
    """What was done; where it was not, the call fails with the reason."""
    told = told if isinstance(told, Mapping) else {}
    if not told.get("ok"):
        raise ToolError(str(told.get("text", "")))
    return str(told["text"])


def _unset(name: str) -> str:
    return f"This tool needs the setting {name!r}, which is not set."


def _value(found: object, default: Any) -> tuple[Any, int]:
    """The value and its version; version 0 is "not there"."""
    if isinstance(found, list | tuple) and len(found) == 2:
        return found[0], int(found[1])
    return default, 0


def _keys(found: object) -> list[str]:
    return [str(key) for key in found] if isinstance(found, list | tuple) else []


def _named(found: object) -> dict[str, list[str]]:
    return {str(name): [str(one) for one in tools] for name, tools in found.items()} if isinstance(found, Mapping) else {}


def _found(found: object) -> list[dict[str, Any]]:
    hits = []
    for hit in found if isinstance(found, list | tuple) else ():
        if isinstance(hit, Mapping):
            hits.append(dict(hit))
        elif isinstance(hit, list | tuple):
            hits.append(dict(zip(("key", "value", "snippet"), hit, strict=False)))
    return hits


def _question(question: str, choices: Sequence[str] | None, default: str) -> dict[str, object]:
    return {
        "question": str(question),
        "choices": None if choices is None else [str(choice) for choice in choices],
        "default": str(default),
    }


def _answer(told: object) -> Answer:
    told = told if isinstance(told, Mapping) else {}
    state = str(told.get("state", "nobody"))
    return Answer(state if state in ("answered", "declined") else "nobody", str(told.get("answer") or ""))


def _reminders(told: object) -> list[Reminder]:
    return [_one_reminder(one) for one in told if isinstance(one, Mapping)] if isinstance(told, list | tuple) else []


def _one_reminder(told: Mapping[str, Any]) -> Reminder:
    try:
        zone: tzinfo = ZoneInfo(str(told.get("zone") or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        zone = UTC
    return Reminder(
        id=str(told["id"]),
        text=str(told.get("text", "")),
        at=datetime.fromtimestamp(float(told.get("due", 0.0)), zone),
        kind=str(told.get("kind", "reminder")),
        label=str(told.get("label", "")),
        repeat=str(told.get("repeat", "")),
    )
