"""Plugins with a manifest, and loose modules that take the same root: told by their files, and which of two of a name is meant.

Above: `sources` asks for each folder and file. Below: `manifests`, `candidates`. It refuses to know: what else a place holds,
and what of it is on.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from etui.contracts.listing import lists_tools
from etui.plugins import installed, manifests
from etui.plugins.candidates import MANIFESTS, Candidate, Place, Read
from etui.plugins.manifests import Manifest, ManifestError
from etui.tool import Problem

OTHERS = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(?:etui|keryx|kotoba)\b|^SCHEMA[ \t]*=", re.MULTILINE)
"""Text of a file of another contract."""
PARTS = re.compile(rb"^(?:def[ \t]+shutdown\b|shutdown[ \t]*=|from[ \t].*\bimport\b.*\bshutdown\b)", re.MULTILINE)
"""Text of a file that has a `shutdown`."""
TELLS = re.compile(rb"^(?:def[ \t]+get_tools\b|get_tools[ \t]*=|from[ \t].*\bimport\b.*\bget_tools\b)", re.MULTILINE)
"""Text of a file that has a `get_tools`."""


def manifest_of(place: Place, path: Path, read: Read) -> Manifest | None:
    """The manifest of a folder that has one. Raises OSError, ManifestError."""
    if place.root is None or place.contract not in ("auto", MANIFESTS):
        return None
    said = path / manifests.NAME
    return manifests.read(read.bytes_of(said)) if said.exists() else None


def without_manifest(place: Place, name: str, path: Path, reason: str) -> Problem:
    """A folder whose manifest cannot be used."""
    return Problem(what=name, reason=reason, file=str(path / manifests.NAME), plugin=name, source=place.name)


def with_manifest(candidate: Candidate, manifest: Manifest, read: Read) -> Candidate:
    """The candidate with all that its manifest says of it."""
    candidate = _living(candidate, read)
    place = candidate.place
    band = "system" if place.shipped else "user"
    return msgspec.structs.replace(
        candidate,
        contract=MANIFESTS,
        root=str(place.root),
        manifest={**manifest.said, "band": band},
        parting=candidate.parting or bool(manifest.said.get("daemon")),
        resting=not manifest.said["default_enabled"] or exposed(candidate),
        wanted=manifest.said["default_enabled"],
        lacking=installed.lacking(manifest.said["pip_dependencies"], place.packages),
        odd=manifest.warnings,
    )


def rooted(candidate: Candidate, read: Read) -> Candidate:
    """A loose module of such an installation knows its root, wherever it lies."""
    place = candidate.place
    if place.root is None or candidate.path.is_dir() or place.contract not in ("auto", MANIFESTS):
        return candidate
    if place.contract == "auto" and not _lists_tools(read.bytes_of(candidate.path)):
        return candidate
    found = msgspec.structs.replace(
        candidate, contract=MANIFESTS, root=str(place.root), resting=exposed(candidate), wanted=True
    )
    return _living(found, read)


def as_copied(candidate: Candidate, copy: Candidate) -> Candidate | None:
    """The accepted copy of a candidate with what its own files say of it; None where it calls itself something else."""
    read = Read()
    try:
        if candidate.manifest:
            manifest = manifests.read(read.bytes_of(copy.path / manifests.NAME))
            if manifest.name != candidate.manifest["name"]:
                return None
            copy = with_manifest(copy, manifest, read)
        else:
            copy = rooted(copy, read)
    except (OSError, ManifestError):
        return None
    return msgspec.structs.replace(copy, resting=candidate.resting, wanted=candidate.wanted, accepted=True)


def exposed(candidate: Candidate) -> bool:
    """Whether it lies where the plugins of its root may write: what appears there may be of their making."""
    root = candidate.place.root
    return root is not None and candidate.path.resolve().is_relative_to((root / "user").resolve())


def _living(candidate: Candidate, read: Read) -> Candidate:
    """With what its files visibly are prepared for."""
    texts = [read.bytes_of(file) for file in candidate.files if file.suffix == ".py"]
    parting, lively = (any(pattern.search(text) for text in texts) for pattern in (PARTS, TELLS))
    return msgspec.structs.replace(candidate, parting=parting, lively=lively)


def _lists_tools(content: bytes) -> bool:
    """Whether a file with these bytes is a module of that kind, and none that an earlier contract would take."""
    if b"execute" not in content or OTHERS.search(content):
        return False
    return lists_tools(content.decode("utf-8", "replace"))


class Shadows:
    """Plugins of one root that have the same name: a later place's takes the place of a shipped one."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], Candidate] = {}
        self._gone: dict[str, Candidate] = {}
        """By the key of what is left out, what takes its place."""

    def second(self, candidate: Candidate) -> Problem | None:
        """Why this one is not taken, where another one of its name is."""
        if not candidate.manifest:
            return None
        known = candidate.root, str(candidate.manifest["name"])
        first = self._first.setdefault(known, candidate)
        if first is candidate:
            return None
        if first.place.shipped and not candidate.place.shipped:
            self._gone[first.key] = self._first[known] = candidate
            return None
        reason = f"Another plugin calls itself {known[1]!r} too, in {str(first.path)!r}."
        hint = "Give one of the two another name in its plugin.json."
        return Problem(
            what=candidate.path.name, reason=reason, hint=hint, file=str(candidate.path), source=candidate.place.name
        )

    def without(self, found: list[Candidate], problems: list[Problem]) -> list[Candidate]:
        """Those that are left, under their own names."""
        kept = []
        for candidate in found:
            if (other := self._gone.get(candidate.key)) is not None:
                reason = f"Your own copy in {str(other.path)!r} takes its place."
                problems.append(
                    Problem(what=candidate.path.name, reason=reason, file=str(candidate.path), refused=False, quiet=True)
                )
            else:
                kept.append(candidate)
        names = {other.key: candidate.name for candidate in found if (other := self._gone.get(candidate.key)) is not None}
        return [_renamed(candidate, names[candidate.key]) if candidate.key in names else candidate for candidate in kept]


def _renamed(candidate: Candidate, name: str) -> Candidate:
    return msgspec.structs.replace(candidate, name=name, family=f"plugin:{name}")
