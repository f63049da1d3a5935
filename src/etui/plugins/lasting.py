"""What goes on serving while a plugin's newest version does not load, or offers less: the last one that did, from its copy.

Above: `catalogue`. Below: `good`, which keeps the copies, and `load`, which reads them. It refuses to know: when a version is
given up, and what runs.
"""

from __future__ import annotations

import asyncio

import msgspec

from etui.contracts import Files
from etui.plugins.candidates import Candidate
from etui.plugins.good import Good
from etui.plugins.load import Loader
from etui.tool import Plugin, Problem


class Lasting:
    """The last good versions of one host's plugins."""

    def __init__(self, good: Good, loader: Loader) -> None:
        self._good = good
        self._loader = loader

    async def restored(self, candidate: Candidate, broken: Plugin) -> Plugin | None:
        """At a start, the last good version of a plugin that does not load."""
        if broken.tools or not any(problem.refused for problem in broken.problems):
            return None
        copy = await asyncio.to_thread(self._good.find, candidate)
        if copy is None:
            return None
        plugin = await self._loader.load(copy)
        return plugin if plugin is not None and plugin.tools else None

    def files(self, candidate: Candidate, digest: str) -> Files | None:
        """The copy of this version, for a worker that is to load it; None where another is kept, or none. Any thread."""
        copy = self._good.find(candidate)
        return self._loader.files(copy) if copy is not None and copy.digest == digest else None


def loses(before: Plugin, after: Plugin) -> bool:
    """Whether a tool that serves is missing from the new version."""
    return bool({tool.name for tool in before.tools} - {tool.name for tool in after.tools})


def with_problems(serving: Plugin, broken: Plugin) -> Plugin:
    """What serves, with what is wrong with the version that does not."""
    return msgspec.structs.replace(serving, problems=tuple(_still(problem) for problem in broken.problems))


def _still(problem: Problem) -> Problem:
    if not problem.refused:
        return problem
    return msgspec.structs.replace(problem, hint=f"{problem.hint} The last version that loaded goes on serving.".strip())
