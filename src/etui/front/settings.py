"""The settings in force: read at the start, set one by one, and read again when the owner has edited the file.

Above: surfaces and every part that looks at a setting. Below: `home`, which reads and writes the file. It refuses to know: what
follows from a setting, which whoever is told of the change sees to.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Set

import msgspec

from etui.errors import SettingError
from etui.events import Hub, Kind
from etui.home import Home, machine_zone
from etui.plugins.watching import Watching
from etui.settings import STRICTEST, Settings, Unread
from etui.tool import Problem

QUIET = 0.2
"""Seconds for which the configuration file is left alone once it has changed: an editor may still be writing."""


class LiveSettings:
    """The settings of one host."""

    def __init__(
        self,
        home: Home,
        environ: Mapping[str, str],
        overrides: Mapping[str, object],
        hub: Hub,
        changed: Callable[[Set[str]], Awaitable[None]],
    ) -> None:
        """`changed` is told which rows have another value, and lets them hold at once."""
        self._home = home
        self._environ = environ
        self._overrides = dict(overrides)
        self._hub = hub
        self._changed = changed
        self._now, self._problems = self._read()
        self._following = Watching(list, self._edited, home.stamp)

    @property
    def now(self) -> Settings:
        """What is in force; another object once something has changed."""
        return self._now

    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with them."""
        return self._problems

    async def open(self) -> None:
        """Follow the file from now on."""
        await self._following.open()

    async def close(self) -> None:
        """Follow it no more."""
        await self._following.close()

    async def set(self, name: str, value: object) -> None:
        """Set one row, in the file and at once. Raises SettingError and changes nothing if it cannot be so."""
        self._home.write(name, value)
        self._overrides.pop(name, None)
        self._now, self._problems = self._read()
        await self._changed({name})

    async def _edited(self) -> None:
        """Let hold what the owner wrote into the file by hand, once it is written."""
        await asyncio.sleep(QUIET)
        before, known = self._now, self._problems
        self._now, self._problems = self._read(before)
        for problem in self._problems:
            if problem not in known:
                self._hub.tell(Kind.PROBLEM, {"problem": msgspec.to_builtins(problem)})
        if known and not self._problems:
            self._hub.tell(Kind.PROBLEM_GONE, {"plugin": ""})
        if names := {row for row in before.__struct_fields__ if getattr(before, row) != getattr(self._now, row)}:
            await self._changed(names)

    def _read(self, held: Settings | None = None) -> tuple[Settings, tuple[Problem, ...]]:
        """The settings and what is wrong with them; of a file that cannot be read the strictest rules, and else what `held`."""
        settings, errors = self._home.read(self._environ, self._overrides)
        if held is not None and any(isinstance(error, Unread) for error in errors):
            settings = msgspec.structs.replace(held, **STRICTEST)
        if not settings.timezone:
            settings = msgspec.structs.replace(settings, timezone=machine_zone(self._environ))
        return settings, tuple(self._problem(error) for error in errors)

    def _problem(self, error: SettingError) -> Problem:
        line = re.search(r"\(at line (\d+)", str(error))
        return Problem(
            what="settings",
            reason=str(error),
            file=str(self._home.config),
            line=int(line[1]) if line else 0,
            hint="`etui config` shows every setting.",
        )
