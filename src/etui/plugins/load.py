"""From a candidate to a plugin: what its bytes offer, as its worker described it now or at an earlier start.

Above: `catalogue` loads what it found. Below: the nouns, `contracts`, `sources`. It refuses to know: the registry, and who may
call. Every thing that was refused has one `Problem`.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from etui.contracts import VERSIONS, Description, Files
from etui.contracts.etui.grants import grant_for
from etui.plugins.candidates import Candidate
from etui.plugins.listed import TOLD, declared, lacking, listed
from etui.plugins.sources import holds
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


class Told(Protocol):
    """Who knows what the files of a plugin with a root are told."""

    def told(self, candidate: Candidate) -> dict[str, object]:
        """What they may know of the host when they are run."""
        ...

    def mark(self, candidate: Candidate) -> str:
        """Another one whenever that may change what they offer; empty for all others."""
        ...

    def seed(self, candidate: Candidate) -> None:
        """They are to be run."""
        ...


class Silent:
    """Tells nothing."""

    def told(self, candidate: Candidate) -> dict[str, object]:
        """Nothing."""
        return {}

    def mark(self, candidate: Candidate) -> str:
        """Always the same."""
        return ""

    def seed(self, candidate: Candidate) -> None:
        """Nothing is to be done."""


Describe = Callable[[Files, Grant], Awaitable[Description]]
NATIVE = "etui"
"""The contract whose tools declare all that they may touch, and name their own toolsets."""
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider takes for the name of a tool."""
DESCRIBED = 100_000
"""Characters of a tool's description, and of its arguments as JSON, with which a model can still be asked."""
CARRIED = 4 << 20
"""Bytes of code that a worker is told besides where it lies."""
MADE = "ai-toolmaker"
"""The author that a plugin has which an assistant wrote."""
REST = "It is switched off, so its code was not run."


class Loader:
    """Turns candidates into plugins; asks `describe` only for bytes that it has not seen."""

    def __init__(
        self,
        describe: Describe,
        cache: Cache,
        work: Path,
        owner: Owner | None = None,
        installation: Told | None = None,
        sealed: Callable[[str], tuple[tuple[str, ...], str]] = lambda _: ((), ""),
    ) -> None:
        """`installation` knows what the files of a plugin with a root are told.

        `sealed` gives the folders of a root whose code is read from copies, and where those are.
        """
        self._sealed = sealed
        self._told: Told = installation or Silent()
        self._describe = describe
        self._cache = cache
        self._work = str(work)
        self._owner: Owner = owner or Lenient()

    async def load(self, candidate: Candidate) -> Plugin | None:
        """The plugin that these bytes make; one without tools has problems that say why. None if they changed meanwhile."""
        plugin = self.known(candidate)
        if plugin is not None:
            return plugin
        if candidate.lacking:
            return lacking(candidate)
        await asyncio.to_thread(self._told.seed, candidate)
        before = await asyncio.to_thread(_marks, candidate.files)
        description = await self._ask(self.files(candidate))
        # A file that was saved anew with the same bytes may have been gone, or closed to the worker, in between.
        if not await asyncio.to_thread(lambda: _marks(candidate.files) == before and holds(candidate.files, candidate.digest)):
            return None
        self._cache.put(candidate.key, self._stamp(candidate), description)
        return self._plugin(candidate, description)

    def known(self, candidate: Candidate) -> Plugin | None:
        """The plugin, if these bytes were described before: then nothing is run."""
        description = self._cache.get(candidate.key, self._stamp(candidate)) if not candidate.lacking else None
        return self._plugin(candidate, description) if description is not None else None

    def unread(self, candidate: Candidate) -> Plugin:
        """A plugin that is switched off and whose bytes nobody has described: it is listed, and nothing of it is run."""
        return msgspec.structs.replace(listed(candidate), notes=(REST,))

    def granted(self, plugin: Plugin) -> Plugin:
        """The plugin with what the owner lets it touch now."""
        return msgspec.structs.replace(plugin, grant=self._owner.of(plugin.name, plugin.wishes))

    def notes(self, plugin: Plugin) -> tuple[str, ...]:
        """What the owner should know about it now."""
        return (*plugin.notes, *self._owner.notes(plugin))

    def files(self, candidate: Candidate) -> Files:
        """What its worker needs to know."""
        files = self._files(candidate)
        return _as_it_lay(files, candidate) if candidate.original and candidate.root else files

    def _files(self, candidate: Candidate) -> Files:
        sealed, copies = self._sealed(candidate.root) if candidate.root else ((), "")
        return Files(
            plugin=candidate.name,
            source=candidate.place.name,
            contract=candidate.contract,
            path=str(candidate.path),
            files=tuple(str(file) for file in candidate.files if file.suffix == ".py"),
            digest=candidate.digest,
            work=candidate.root or self._work,
            families=candidate.place.families,
            entry=candidate.entry,
            root=candidate.root,
            manifest=candidate.manifest,
            facts=self._told.told(candidate) if candidate.root else {},
            parting=candidate.parting,
            sealed=sealed,
            copies=copies,
        )

    async def _ask(self, files: Files) -> Description:
        """Describe with nothing but what was given; again with what the source asks for, if it did not do without."""
        given = self._owner.of(files.plugin, Grant())
        description = await self._describe(files, given)
        if made_here(files.manifest):
            return description
        asked = self._owner.of(files.plugin, _asked(description, files.work, _written(files.root, self._work)))
        if any(problem.refused for problem in description.problems) and asked != given:
            return await self._describe(files, asked)
        return description

    def _plugin(self, candidate: Candidate, description: Description) -> Plugin:
        lent = {str(file) for file in candidate.lent}
        offered = [(tool, unfit(tool)) for tool in description.tools if tool.file not in lent]
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
                file=candidate.seen(problem.file or str(candidate.path)),
            )
            for problem in description.problems[:TOLD]
            if problem.file not in lent
        ]
        problems += [_refused(candidate, tool, why) for tool, why in offered if why]
        contract = _contract(candidate, description.contract)
        if not tools and not description.handlers and not any(problem.refused or contract != NATIVE for problem in problems):
            problems.append(_no_tool(candidate, contract))
        known = listed(candidate)
        return self.granted(
            msgspec.structs.replace(
                known,
                contract=contract,
                wishes=self._wishes(candidate, contract, tools, description),
                tools=tools,
                problems=(*known.problems, *problems),
                notes=(*_kept_from(candidate, description), *(note[:TOLD] for note in description.notes[:TOLD])),
                handlers=description.handlers,
                manifest=candidate.manifest or declared(candidate, description),
            )
        )

    def _wishes(self, candidate: Candidate, contract: str, tools: tuple[Tool, ...], description: Description) -> Grant:
        """What native tools declare is all that they get; a foreign source gets what it visibly uses as well."""
        if made_here(candidate.manifest):
            return Grant()
        writes = _written(candidate.root, self._work)
        declared = grant_for((tool.risk for tool in tools), writes)
        if contract == NATIVE:
            return msgspec.structs.replace(declared, env=description.wishes.env)
        return declared | _asked(description, candidate.root or self._work, writes)

    def _placed(self, candidate: Candidate, tool: Tool) -> Tool:
        contract = _contract(candidate, tool.contract)
        foreign = contract != NATIVE and not candidate.place.families
        return msgspec.structs.replace(
            tool,
            contract=contract,
            plugin=candidate.name,
            source=candidate.place.name,
            file=candidate.seen(tool.file),
            digest=candidate.digest,
            toolset=candidate.family if foreign else tool.toolset or candidate.family,
        )

    def _stamp(self, candidate: Candidate) -> str:
        """Everything that a description depends on."""
        mark = self._owner.mark(candidate.name)
        place = f"{candidate.contract}{'+' if candidate.place.families else ''}"
        told = self._told.mark(candidate)
        return f"{candidate.digest}:{place}:{VERSION}" + (f":{mark}" if mark else "") + (f":{told}" if told else "")

    def forget(self, candidate: Candidate) -> None:
        """Have its bytes described anew although they were described before."""
        self._cache.put(candidate.key, "", Description())


def _marks(files: Iterable[Path]) -> list[object]:
    """What tells each of these files from one that is put in its place; None for one that is not there."""
    return [_mark(file) for file in files]


def _mark(file: Path) -> object:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def made_here(manifest: Mapping[str, object]) -> bool:
    """Whether an assistant wrote it: then it may touch nothing until its owner allows it, whatever its source asks for."""
    return manifest.get("author") == MADE


def _kept_from(candidate: Candidate, description: Description) -> tuple[str, ...]:
    """What code that an assistant wrote asks for and does not have by that, for the owner to know."""
    if not made_here(candidate.manifest):
        return ()
    parts = {"network": "the network", "subprocess": "other programs", "write": "to write"}
    asked = [words for part, words in parts.items() if getattr(description.wishes, part)]
    told = "An assistant wrote it, so it may touch nothing until you allow it."
    return (f"{told} Its source asks for {' and '.join(asked)}.",) if asked else (told,)


def _as_it_lay(files: Files, copy: Candidate) -> Files:
    """A copy told as if it lay where it was: its files find what else there is by where they lie."""
    top, original = Path(files.path), Path(copy.original)
    if not top.is_dir():
        top, original = top.parent, original.parent
    named = [str(original / Path(file).relative_to(top)) for file in files.files]
    inside = sorted(top.rglob("*.py")) if copy.accepted else map(Path, files.files)
    code = {str(original / file.relative_to(top)): file.read_bytes() for file in inside if file.is_file()}
    if sum(map(len, code.values())) > CARRIED:
        return files
    return msgspec.structs.replace(files, path=copy.original, files=tuple(named), code=code)


def retold(tools: tuple[Tool, ...], told: Iterable[Mapping[str, object]]) -> tuple[Tool, ...]:
    """The same tools, with the description and the parameters that are told of some, by what their code calls them."""
    said = {one.get("name"): one for one in told}
    return tuple(_retold(tool, said.get(tool.entry or tool.name)) for tool in tools)


def _retold(tool: Tool, said: Mapping[str, object] | None) -> Tool:
    description, parameters = (said or {}).get("description"), (said or {}).get("parameters")
    if not isinstance(description, str) or not isinstance(parameters, dict):
        return tool
    fresh = msgspec.structs.replace(tool, description=description, parameters=parameters)
    return tool if unfit(fresh) else fresh


def _written(root: str, work: str) -> str:
    """The folder that a plugin may write: of an installation only what is the user's."""
    return f"{root}/user" if root else work


def _asked(description: Description, work: str, writes: str) -> Grant:
    """What its source asks for, which code of its own has told us: never more than there is to ask for."""
    written = (writes,) if {work, writes} & {*description.wishes.write} else ()
    return msgspec.structs.replace(description.wishes, read=(), write=written)


def _contract(candidate: Candidate, said: str) -> str:
    """The contract of the place; where the place leaves it open, what the worker says, if there is one of that name."""
    if candidate.contract in VERSIONS:
        return candidate.contract
    return said if said in VERSIONS else candidate.contract


def unfit(tool: Tool) -> str:
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
        what=candidate.lies.name,
        reason="No tool was found in it.",
        hint=hint if contract in (NATIVE, "auto") else "",
        file=str(candidate.lies),
        plugin=candidate.name,
        source=candidate.place.name,
        refused=contract in (NATIVE, "auto"),
        quiet=contract not in (NATIVE, "auto"),
    )


VERSION = ",".join(f"{name}{version}" for name, version in VERSIONS.items()) + f":{sys.version_info[0]}.{sys.version_info[1]}"
"""The contracts and the Python of this Etui."""
