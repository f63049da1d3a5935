"""What a tool says, without the secrets that the host keeps for its plugin: they reach no model, no chat and no record.

Above: `host` hands it to sessions, handlers and services. Below: the store's masking. It refuses to know: how a tool came by
them. A plugin can disguise what it was given, and no search finds that: which plugin gets an account is what protects it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import msgspec

from etui.outcome import File, Outcome
from etui.store.redact import without
from etui.tool import Tool

T = TypeVar("T")


class Hiding:
    """Keeps the secrets of one host out of what its tools say."""

    def __init__(self, *kept: Callable[[str], frozenset[str]]) -> None:
        """Each of `kept` gives secrets that a plugin was given."""
        self._kept = kept

    def hide(self, tool: Tool, outcome: Outcome) -> Outcome:
        """The outcome with a mask where one of them stood; the very same one where there is none."""
        known = self._known(tool.plugin)
        if not known:
            return outcome
        told = (outcome.text, outcome.shown, outcome.notes, outcome.detail, outcome.why)
        text, shown, notes, detail, why = (str(without(one, known)) for one in told)
        data = without(outcome.data, known)
        files = tuple(_readable(file, known) for file in outcome.files)
        return msgspec.structs.replace(
            outcome, text=text, shown=shown, notes=notes, detail=detail, why=why, data=data, files=files
        )

    def line(self, plugin: str, told: T) -> T:
        """The same for what a plugin tells besides: a text, or JSON values."""
        known = self._known(plugin)
        return cast(T, without(told, known)) if known else told

    def _known(self, plugin: str) -> frozenset[str]:
        known = frozenset[str]()
        for kept in self._kept:
            found = kept(plugin)
            known = known | found if known and found else known or found
        return known


def _readable(file: File, known: frozenset[str]) -> File:
    """A file without them where it is plain text, such as a result that was too long; any other as it is."""
    if file.media_type != "text/plain" or not file.data:
        return file
    text = file.data.decode(errors="surrogateescape")
    return msgspec.structs.replace(file, data=str(without(text, known)).encode(errors="surrogateescape"))
