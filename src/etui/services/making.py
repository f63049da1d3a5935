"""Tool files that an assistant writes: none is saved, or run, before a person has seen it and said yes.

Above: the table of services. Below: `owner.confirming`, which asks, and whoever saves them, handed in. It refuses to know: what
a tool file may say, and where it goes.
"""

from __future__ import annotations

from collections.abc import Callable

from etui.errors import ServiceError, UsageError
from etui.owner.confirming import APPROVED, DECLINED, UNREACHABLE, Confirming
from etui.services.desk import Family
from etui.services.needs import Maker
from etui.session import Session
from etui.tool import Call, Tool

LONGEST = 90_000
"""Characters of code that a person can be asked about."""
NOTICE = "An assistant wrote this. Once saved it runs by itself when it is called, and may touch nothing until you allow it."
_NOT = {DECLINED: "the person declined it. Do not try again unless they ask", UNREACHABLE: "nobody is there to approve it"}


class Making:
    """What one call does about tools that are written."""

    def __init__(self, tool: Tool, call: Call, session: Session, confirming: Confirming, maker: Callable[[], Maker]) -> None:
        self._tool = tool
        self._call = call
        self._session = session
        self._confirming = confirming
        self._maker = maker

    async def save(self, name: str, code: str) -> object:
        """Save a tool file; whether it was saved, and what to say of it."""
        if not isinstance(code, str) or not isinstance(name, str) or len(code) > LONGEST:
            raise ServiceError(f"A tool file is a name and a text of at most {LONGEST:,} characters.")
        try:
            draft = self._maker().draft(name, code)
            # No family and nothing to remember: each text is asked about by itself.
            decision = await self._confirming.approve(self._tool, self._call, self._session, draft.shown, "", NOTICE)
            if decision.verdict != APPROVED:
                return _told(False, f"Not saved: {_NOT.get(decision.verdict, 'nobody approved it')}.")
            return _told(True, await self._maker().keep(draft, self._session.chat))
        except UsageError as error:
            return _told(False, str(error))

    async def read(self, name: str = "") -> object:
        """The code of one, or the list."""
        try:
            return _told(True, await self._maker().read(str(name)))
        except UsageError as error:
            return _told(False, str(error))

    async def load(self) -> object:
        """Look at the folders anew."""
        try:
            return _told(True, await self._maker().load(self._session.chat))
        except UsageError as error:
            return _told(False, str(error))


def _told(ok: bool, text: str) -> dict[str, object]:
    return {"ok": ok, "text": text}


FAMILY = Family(
    lambda desk: Making(desk.tool, desk.call, desk.session, desk.needs.confirming, desk.needs.maker),
    {"tools.save": Making.save, "tools.read": Making.read, "tools.load": Making.load},
    only=frozenset({"etui"}),
)
