"""The session that a call runs in: its background job, the MCP servers that a job may use, and its end.

Above: the table of services. Below: `session`, and whoever runs jobs and servers, who is handed in. It refuses to know: how a
job works.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from etui.errors import ServiceError, UsageError
from etui.services.desk import Family
from etui.services.needs import Jobs
from etui.session import Session

LONGEST_REASON = 100
"""Characters of a tool's reason for the end of its session."""


class Work:
    """What one call may do with its session."""

    def __init__(
        self, session: Session, jobs: Callable[[], Jobs], activate: Callable[[Session, str], Awaitable[dict[str, list[str]]]]
    ) -> None:
        """`activate` lets a job see the tools of the MCP servers that are meant; raises UsageError with a sentence."""
        self._session = session
        self._jobs = jobs
        self._activate = activate

    async def start(self, goal: str) -> object:
        """Start a background job for this conversation; gives its id as `job`, or says `why` there is none."""
        try:
            return {"job": self._jobs().start(self._session, goal).id}
        except UsageError as error:
            return {"why": str(error)}

    async def cancel(self) -> object:
        """Cancel the background job of this conversation; False if there is none."""
        return self._jobs().cancel(self._session.chat)

    async def activate(self, server: str) -> object:
        """Let this job use the tools of the MCP servers that are meant; gives their names, by server."""
        try:
            return await self._activate(self._session, server)
        except UsageError as error:
            raise ServiceError(str(error)) from None

    async def end(self, reason: str = "user") -> object:
        """Let the session end once its turn is over: what is being said is said to its end."""
        self._session.end(reason[:LONGEST_REASON])
        return None


FAMILY = Family(
    lambda desk: Work(desk.session, desk.needs.jobs, desk.needs.activate),
    {"work.start": Work.start, "work.cancel": Work.cancel, "mcp.activate": Work.activate, "session.end": Work.end},
    told=True,
)
