"""Which plugins with a root are off until somebody switches them on, and what an older installation had switched on.

What stands in a root's `user/webui/plugins.json` is taken over once, when that root is first seen, and so is code that lies
where plugins may write: later a plugin could have written it. From then on the owner's own switches say it, of what lies in
one place: where another plugin comes to have the same name, it does not inherit them. Above: the catalogue tells it what lies
there. Below: `candidates`. It refuses to know: where switches are kept, and what follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from etui.plugins import strict
from etui.plugins.candidates import Candidate

FILE = Path("user", "webui", "plugins.json")
LARGEST = 1 << 20
"""Bytes of it."""
SPACE = "root"
"""Where it is kept which roots were seen."""
HELD = "held"
"""Where it is kept, by family, of which plugin its switch was said."""


class Switched(Protocol):
    """The owner's switches."""

    def switch(self, name: str, on: bool) -> None: ...

    def said(self, name: str) -> bool | None: ...

    def withdraw(self, name: str) -> None: ...

    def rest(self, names: frozenset[str]) -> None: ...


class Values(Protocol):
    """Small named values, kept."""

    def get(self, space: str, key: str) -> object: ...

    def put(self, space: str, key: str, value: object) -> None: ...

    def delete(self, space: str, key: str) -> object: ...

    def all(self, space: str) -> dict[str, object]: ...


class Enabled:
    """The plugins with a manifest of one host, as far as they are on or off."""

    def __init__(self, switches: Switched, values: Values) -> None:
        self._switches = switches
        self._values = values

    def look(self, candidates: Iterable[Candidate]) -> None:
        """These are there now."""
        found = [candidate for candidate in candidates if candidate.root]
        self._switches.rest(frozenset(candidate.family for candidate in found if candidate.resting))
        self._follow(found)
        for root in {candidate.root for candidate in found}:
            if self._values.get(SPACE, root) is None:
                self._values.put(SPACE, root, True)
                self._take_over(Path(root), [candidate for candidate in found if candidate.root == root])

    def _follow(self, found: list[Candidate]) -> None:
        """Switches go with the plugins that they were said of, whatever those are called now."""
        held = self._values.all(HELD)
        before = {place: family for family, place in held.items()}
        # All of it is read before any of it is said anew: two plugins may have changed places.
        others = [one for one in found if held.get(one.family) != _place(one)]
        said = [(one, before.get(_place(one))) for one in others]
        known = [(one, old, None if old is None else self._switches.said(old)) for one, old in said]
        for _, old, _ in known:
            if old is not None:
                self._switches.withdraw(old)
                self._values.delete(HELD, old)
        for one, _, on in known:
            if one.family in held:
                self._switches.withdraw(one.family)
            if on is not None:
                self._switches.switch(one.family, on)
            self._values.put(HELD, one.family, _place(one))

    def _take_over(self, root: Path, candidates: list[Candidate]) -> None:
        on, off = _said(root)
        for candidate in candidates:
            name = candidate.manifest.get("name", "")
            wanted = name in on or (candidate.wanted and name not in off)
            if wanted == candidate.resting:
                self._switches.switch(candidate.family, wanted)


def _place(candidate: Candidate) -> str:
    """What tells it from another plugin of its name, and stays the same where the whole home is moved."""
    return f"{candidate.place.name}/{candidate.path.name}"


def _said(root: Path) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a file switches on, and those that it switches off; none where it cannot be read."""
    try:
        said = strict.decoded(strict.content_of(root / FILE.parts[0], FILE.parts[1:], LARGEST))
    except (OSError, ValueError):
        return frozenset(), frozenset()
    if not isinstance(said, dict):
        return frozenset(), frozenset()
    on, off = (said.get(key) for key in ("enabled", "disabled"))
    return _names(on), _names(off)


def _names(listed: object) -> frozenset[str]:
    return frozenset(one for one in listed if isinstance(one, str)) if isinstance(listed, list) else frozenset()
