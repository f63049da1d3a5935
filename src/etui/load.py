"""From a candidate to a plugin: what its bytes offer, as its worker described it now or at an earlier start.

Above: `catalogue` loads what it found. Below: the nouns, `contracts`, `sources`. It refuses to know: the registry, and who may
call. Every thing that was refused has one `Problem`.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import msgspec

from etui.contracts import VERSIONS, Description, Files
from etui.contracts.etui.grants import grant_for
from etui.sources import Candidate, holds
from etui.tool import Grant, Plugin, Problem, Tool


class Cache(Protocol):
    """Where descriptions are kept between starts."""

    def get(self, place: str, stamp: str) -> Description | None:
        """The description of what lies in that place, if it was made of exactly this."""
        ...

    def put(self, place: str, stamp: str, description: Description) -> None:
        """Keep it instead of the one before."""
        ...


Describe = Callable[[Files, Grant], Awaitable[Description]]


class Loader:
    """Turns candidates into plugins; asks `describe` only for bytes that it has not seen."""

    def __init__(self, describe: Describe, cache: Cache, work: Path) -> None:
        self._describe = describe
        self._cache = cache
        self._work = str(work)

    async def load(self, candidate: Candidate) -> Plugin | None:
        """The plugin that these bytes make; one without tools has problems that say why. None if they changed meanwhile."""
        plugin = self.known(candidate)
        if plugin is not None:
            return plugin
        description = await self._ask(self.files(candidate))
        if not await asyncio.to_thread(holds, candidate.files, candidate.digest):
            return None
        self._cache.put(str(candidate.path), _stamp(candidate), description)
        return self._plugin(candidate, description)

    def known(self, candidate: Candidate) -> Plugin | None:
        """The plugin, if these bytes were described before: then nothing is run."""
        description = self._cache.get(str(candidate.path), _stamp(candidate))
        return self._plugin(candidate, description) if description is not None else None

    def files(self, candidate: Candidate) -> Files:
        """What its worker needs to know."""
        return Files(
            plugin=candidate.name,
            source=candidate.place.name,
            contract=candidate.place.contract,
            path=str(candidate.path),
            files=tuple(str(file) for file in candidate.files),
            digest=candidate.digest,
            work=self._work,
        )

    async def _ask(self, files: Files) -> Description:
        """Describe with nothing granted; again with what the source asks for, if that is more and it did not do without."""
        description = await self._describe(files, Grant())
        if any(problem.refused for problem in description.problems) and description.wishes != Grant():
            return await self._describe(files, description.wishes)
        return description

    def _plugin(self, candidate: Candidate, description: Description) -> Plugin:
        lent = {str(file) for file in candidate.lent}
        tools = tuple(self._placed(candidate, tool) for tool in description.tools if tool.file not in lent)
        problems = [
            msgspec.structs.replace(
                problem,
                plugin=candidate.name,
                source=candidate.place.name,
                file=problem.file or str(candidate.path),
            )
            for problem in description.problems
            if problem.file not in lent
        ]
        if not tools and not any(problem.refused for problem in problems):
            reason = "No tool was found in it."
            hint = "Put `@tool` on a function (`from etui import tool`), or name the file with a leading underscore."
            problems.append(
                Problem(
                    what=candidate.path.name,
                    reason=reason,
                    hint=hint,
                    file=str(candidate.path),
                    plugin=candidate.name,
                    source=candidate.place.name,
                )
            )
        return Plugin(
            name=candidate.name,
            contract=description.contract or candidate.place.contract,
            source=candidate.place.name,
            path=str(candidate.path),
            files=tuple(str(file) for file in candidate.files),
            digest=candidate.digest,
            grant=grant_for((tool.risk for tool in tools), self._work),
            tools=tools,
            problems=tuple(problems),
            notes=description.notes,
        )

    def _placed(self, candidate: Candidate, tool: Tool) -> Tool:
        return msgspec.structs.replace(
            tool,
            plugin=candidate.name,
            source=candidate.place.name,
            digest=candidate.digest,
            toolset=tool.toolset or f"plugin:{candidate.name}",
        )


def _stamp(candidate: Candidate) -> str:
    """Everything that a description depends on."""
    return f"{candidate.digest}:{candidate.place.contract}:{VERSION}"


VERSION = ",".join(f"{name}{version}" for name, version in VERSIONS.items()) + f":{sys.version_info[0]}.{sys.version_info[1]}"
"""The contracts and the Python of this Etui."""
