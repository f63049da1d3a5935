"""From a candidate to a plugin: what its bytes offer, as its worker described it now or at an earlier start.

Above: `catalogue` loads what it found. Below: the nouns, `contracts`, `sources`. It refuses to know: the registry, and who may
call. Every thing that was refused has one `Problem`.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

import msgspec

from etui.contracts import VERSIONS, Description, Files
from etui.contracts.etui.grants import grant_for
from etui.plugins.sources import Candidate, holds
from etui.tool import Grant, Plugin, Problem, Tool


class Cache(Protocol):
    """Where descriptions are kept between starts."""

    def get(self, place: str, stamp: str) -> Description | None:
        """The description of what lies in that place, if it was made of exactly this."""
        ...

    def put(self, place: str, stamp: str, description: Description) -> None:
        """Keep it instead of the one before."""
        ...


class Owner(Protocol):
    """What the owner lets a plugin touch."""

    def of(self, plugin: str, asked: Grant) -> Grant:
        """What it may touch if this is what it asks for."""
        ...

    def mark(self, plugin: str) -> str:
        """Another one after each decision; empty where nothing was decided."""
        ...

    def notes(self, plugin: Plugin) -> tuple[str, ...]:
        """What the owner should know about it, a sentence each."""
        ...


class Lenient:
    """An owner who decided nothing."""

    def of(self, plugin: str, asked: Grant) -> Grant:
        """What it asks for, and no variable."""
        return msgspec.structs.replace(asked, env=())

    def mark(self, plugin: str) -> str:
        """Always the same."""
        return ""

    def notes(self, plugin: Plugin) -> tuple[str, ...]:
        """None."""
        return ()


Describe = Callable[[Files, Grant], Awaitable[Description]]
NATIVE = "etui"
"""The contract whose tools declare all that they may touch, and name their own toolsets."""
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider takes for the name of a tool."""
DESCRIBED = 100_000
"""Characters of a tool's description, and of its arguments as JSON, with which a model can still be asked."""
TOLD = 2000
"""Characters of a reason, and reasons, that a plugin may have the owner read."""
REST = "It is switched off, so its code was not run."


class Loader:
    """Turns candidates into plugins; asks `describe` only for bytes that it has not seen."""

    def __init__(self, describe: Describe, cache: Cache, work: Path, owner: Owner | None = None) -> None:
        self._describe = describe
        self._cache = cache
        self._work = str(work)
        self._owner: Owner = owner or Lenient()

    async def load(self, candidate: Candidate) -> Plugin | None:
        """The plugin that these bytes make; one without tools has problems that say why. None if they changed meanwhile."""
        plugin = self.known(candidate)
        if plugin is not None:
            return plugin
        description = await self._ask(self.files(candidate))
        if not await asyncio.to_thread(holds, candidate.files, candidate.digest):
            return None
        self._cache.put(candidate.key, self._stamp(candidate), description)
        return self._plugin(candidate, description)

    def known(self, candidate: Candidate) -> Plugin | None:
        """The plugin, if these bytes were described before: then nothing is run."""
        description = self._cache.get(candidate.key, self._stamp(candidate))
        return self._plugin(candidate, description) if description is not None else None

    def unread(self, candidate: Candidate) -> Plugin:
        """A plugin that is switched off and whose bytes nobody has described: it is listed, and nothing of it is run."""
        return Plugin(
            name=candidate.name,
            contract=candidate.place.contract,
            source=candidate.place.name,
            path=str(candidate.path),
            files=tuple(str(file) for file in candidate.files),
            digest=candidate.digest,
            family=candidate.family,
            notes=(REST,),
        )

    def granted(self, plugin: Plugin) -> Plugin:
        """The plugin with what the owner lets it touch now."""
        return msgspec.structs.replace(plugin, grant=self._owner.of(plugin.name, plugin.wishes))

    def notes(self, plugin: Plugin) -> tuple[str, ...]:
        """What the owner should know about it now."""
        return (*plugin.notes, *self._owner.notes(plugin))

    def files(self, candidate: Candidate) -> Files:
        """What its worker needs to know."""
        return Files(
            plugin=candidate.name,
            source=candidate.place.name,
            contract=candidate.place.contract,
            path=str(candidate.path),
            files=tuple(str(file) for file in candidate.files if file.suffix == ".py"),
            digest=candidate.digest,
            work=self._work,
            families=candidate.place.families,
            entry=candidate.entry,
        )

    async def _ask(self, files: Files) -> Description:
        """Describe with nothing but what was given; again with what the source asks for, if it did not do without."""
        given = self._owner.of(files.plugin, Grant())
        description = await self._describe(files, given)
        asked = self._owner.of(files.plugin, self._asked(description))
        if any(problem.refused for problem in description.problems) and asked != given:
            return await self._describe(files, asked)
        return description

    def _plugin(self, candidate: Candidate, description: Description) -> Plugin:
        lent = {str(file) for file in candidate.lent}
        offered = [(tool, _unfit(tool)) for tool in description.tools if tool.file not in lent]
        tools = tuple(self._placed(candidate, tool) for tool, why in offered if not why)
        problems = [
            msgspec.structs.replace(
                problem,
                what=problem.what[:TOLD],
                reason=problem.reason[:TOLD],
                hint=problem.hint[:TOLD],
                trace=problem.trace[-10 * TOLD :],
                plugin=candidate.name,
                source=candidate.place.name,
                file=problem.file or str(candidate.path),
            )
            for problem in description.problems[:TOLD]
            if problem.file not in lent
        ]
        problems += [_refused(candidate, tool, why) for tool, why in offered if why]
        contract = _contract(candidate, description.contract)
        if not tools and not any(problem.refused or contract != NATIVE for problem in problems):
            problems.append(_no_tool(candidate, contract))
        return self.granted(
            Plugin(
                name=candidate.name,
                contract=contract,
                source=candidate.place.name,
                path=str(candidate.path),
                files=tuple(str(file) for file in candidate.files),
                digest=candidate.digest,
                wishes=self._wishes(contract, tools, description),
                family=candidate.family,
                tools=tools,
                problems=tuple(problems),
                notes=tuple(note[:TOLD] for note in description.notes[:TOLD]),
            )
        )

    def _wishes(self, contract: str, tools: tuple[Tool, ...], description: Description) -> Grant:
        """What native tools declare is all that they get; a foreign source gets what it visibly uses as well."""
        declared = grant_for((tool.risk for tool in tools), self._work)
        if contract == NATIVE:
            return msgspec.structs.replace(declared, env=description.wishes.env)
        return declared | self._asked(description)

    def _asked(self, description: Description) -> Grant:
        """What its source asks for, which code of its own has told us: never more than there is to ask for."""
        written = tuple(folder for folder in description.wishes.write if folder == self._work)
        return msgspec.structs.replace(description.wishes, read=(), write=written)

    def _placed(self, candidate: Candidate, tool: Tool) -> Tool:
        contract = _contract(candidate, tool.contract)
        foreign = contract != NATIVE and not candidate.place.families
        return msgspec.structs.replace(
            tool,
            contract=contract,
            plugin=candidate.name,
            source=candidate.place.name,
            digest=candidate.digest,
            toolset=candidate.family if foreign else tool.toolset or candidate.family,
        )

    def _stamp(self, candidate: Candidate) -> str:
        """Everything that a description depends on."""
        mark = self._owner.mark(candidate.name)
        place = f"{candidate.place.contract}{'+' if candidate.place.families else ''}"
        return f"{candidate.digest}:{place}:{VERSION}" + (f":{mark}" if mark else "")


def _contract(candidate: Candidate, said: str) -> str:
    """The contract of the place; where the place leaves it open, what the worker says, if there is one of that name."""
    if candidate.place.contract in VERSIONS:
        return candidate.place.contract
    return said if said in VERSIONS else candidate.place.contract


def _unfit(tool: Tool) -> str:
    """Why no model can be offered it; empty if it can."""
    if not NAME.fullmatch(tool.name):
        return f"Its name {tool.name[:80]!r} cannot be offered to a model."
    size = len(tool.description) + len(msgspec.json.encode(tool.parameters))
    if size > DESCRIBED:
        return f"It is described with {size:,} characters, its arguments included, and {DESCRIBED:,} are the most."
    return ""


def _refused(candidate: Candidate, tool: Tool, why: str) -> Problem:
    return Problem(
        what=tool.name[:80], reason=why, file=tool.file, line=tool.line, plugin=candidate.name, source=candidate.place.name
    )


def _no_tool(candidate: Candidate, contract: str) -> Problem:
    hint = "Put `@tool` on a function (`from etui import tool`), or name the file with a leading underscore."
    return Problem(
        what=candidate.path.name,
        reason="No tool was found in it.",
        hint=hint if contract in (NATIVE, "auto") else "",
        file=str(candidate.path),
        plugin=candidate.name,
        source=candidate.place.name,
        refused=contract in (NATIVE, "auto"),
        quiet=contract not in (NATIVE, "auto"),
    )


VERSION = ",".join(f"{name}{version}" for name, version in VERSIONS.items()) + f":{sys.version_info[0]}.{sys.version_info[1]}"
"""The contracts and the Python of this Etui."""
