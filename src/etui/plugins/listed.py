"""A plugin as it is listed before any of it was run, by its manifest alone, and one that cannot be run for want of a package.

Above: `load`. Below: `candidates`, the nouns. It refuses to know: what its code offers.
"""

from __future__ import annotations

from typing import Any

import msgspec

from etui.contracts import Description
from etui.plugins.candidates import Candidate
from etui.plugins.manifests import NAME as MANIFEST
from etui.tool import Plugin, Problem, Scope

WHERE = "(into the environment that tools run in; `etui doctor` names it)."
TOLD = 2000
"""Characters of a reason, and reasons, that a plugin may have the owner read."""


def listed(candidate: Candidate) -> Plugin:
    """What is known of a plugin before any of it was run."""
    said = candidate.manifest
    return Plugin(
        name=candidate.name,
        contract=candidate.contract,
        source=candidate.place.name,
        path=str(candidate.lies),
        files=tuple(candidate.seen(str(file)) for file in candidate.files),
        digest=candidate.digest,
        family=candidate.family,
        problems=tuple(_warning(candidate, odd) for odd in candidate.odd),
        title=said.get("title", ""),
        icon=said.get("icon", ""),
        scopes=tuple(_scope(one) for one in said.get("scopes", ())),
        whole=bool(said),
        manifest=said,
    )


def lacking(candidate: Candidate) -> Plugin:
    """A plugin that wants packages which are not there: none of it was run."""
    problem = Problem(
        what=candidate.path.name,
        reason=f"Missing pip package: {', '.join(candidate.lacking)}.",
        hint=f"pip install {' '.join(map(repr, candidate.lacking))} {WHERE}",
        file=str(candidate.lies / MANIFEST),
        plugin=candidate.name,
        source=candidate.place.name,
    )
    plugin = listed(candidate)
    return msgspec.structs.replace(plugin, problems=(*plugin.problems, problem))


def declared(candidate: Candidate, description: Description) -> dict[str, Any]:
    """What stands for the manifest of a loose file that lets its owner set something."""
    return {"settings": list(description.settings[:TOLD])} if candidate.root and description.settings else {}


def _scope(said: dict[str, Any]) -> Scope:
    label, default = said.get("label"), said.get("default")
    return Scope(
        key=said["key"],
        label=label if isinstance(label, str) else "",
        default=default if isinstance(default, str) and default else "default",
        facts=said,
    )


def _warning(candidate: Candidate, odd: str) -> Problem:
    return Problem(
        what=candidate.path.name,
        reason=odd[:TOLD],
        file=str(candidate.lies / MANIFEST),
        plugin=candidate.name,
        source=candidate.place.name,
        refused=False,
    )
