"""`kotoba.core.deferred_exec`: here every card is waited for, since a person's time does not count, so nothing is put off."""

from __future__ import annotations

from typing import Any, NoReturn

from etui.contracts.kotoba.asking import DECLINED, noted
from etui.contracts.kotoba.witnesses import witness


class NothingRan(Exception):
    """A runner that ended before anything could run; its text is what is said about it."""


def _mark_no_execution(ctx: Any, call_id: str) -> None:
    """Note that the call did nothing; how it ended at a card stays as it was noted there."""
    found = witness()
    if call_id and found is not None and not found.verdict:
        noted(DECLINED)


def schedule(*_: object, **__: object) -> NoReturn:
    """Raises: putting a command off belongs to Kotoba's own calls by telephone."""
    raise NotImplementedError("kotoba.core.deferred_exec.schedule() belongs to Kotoba itself; here a card is waited for.")
