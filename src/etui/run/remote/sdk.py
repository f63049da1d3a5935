"""The one module that knows the official MCP SDK: it opens a connection, lists tools and calls one. Imported lazily by `link`.

Above: `link`. Below: the `mcp` package. What goes up is plain JSON; what goes wrong goes up as `Refused`, `Lost`, `Expired`,
or whatever the SDK raises, for which `reason` has words. It refuses to know: outcomes, and when a server is started again.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any, Protocol, TextIO

import httpx2
from anyio import CancelScope
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, Implementation, ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from etui.settings import McpServer

for _name in ("mcp", "client"):
    # What goes wrong is told as an outcome or a problem; it is not to be printed besides.
    logging.getLogger(_name).addHandler(logging.NullHandler())
importlib.import_module("jsonschema.validators")  # What the SDK would import in the middle of the first answer.
__all__ = ["CancelScope", "Client", "Expired", "Lost", "Refused", "call", "changes", "connected", "listed", "reason"]

MOST_PAGES = 50
"""Pages of a list of tools; a list that never ends is cut."""
HTTP_SECONDS = httpx2.Timeout(30.0, read=300.0)


class Progress(Protocol):
    """Told how far a call is."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """So much of the whole, if that is known, and in words."""
        ...


class Refused(Exception):
    """The server answered with an error of the protocol; the text is the server's."""


class Lost(Exception):
    """The connection ended before there was an answer."""


class Expired(Exception):
    """The server has forgotten the connection, as after a restart of its own; nothing was run."""


_ENDED = ("Connection closed", "SSE stream")
"""How the SDK begins what it says of its own where a connection ended: servers may use the same number for their errors."""
_EXPIRED = "Session terminated"


class _Watched:
    """A transport's reading end that tells when nothing more will come."""

    def __init__(self, stream: Any, over: Callable[[], None]) -> None:
        self._stream = stream
        self._over = over

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> _Watched:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except BaseException:
            self._over()
            raise

    async def __aenter__(self) -> _Watched:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc: Any) -> Any:
        return await self._stream.__aexit__(*exc)


@asynccontextmanager
async def connected(
    server: McpServer, errors: TextIO, over: Callable[[], None], changed: Callable[[], None]
) -> AsyncIterator[Client]:
    """A connection to that server, which is started if it is a program. `over` is called when it has ended, `changed` when
    its list of tools has. Raises whatever the SDK, the program or the network comes to."""

    async def heard(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed()

    who = Implementation(name="etui", version=version("etui"))
    async with Client(_transport(server, errors, over), client_info=who, message_handler=heard, cache=None) as client:
        yield client


@asynccontextmanager
async def _transport(server: McpServer, errors: TextIO, over: Callable[[], None]) -> AsyncIterator[tuple[Any, Any]]:
    async with AsyncExitStack() as stack:
        if server.command:
            program = StdioServerParameters(
                command=server.command,
                args=list(server.args),
                env=dict(server.env),
                cwd=server.cwd or None,
                encoding_error_handler="replace",
            )
            read, write = await stack.enter_async_context(stdio_client(program, errors))
            errors.close()  # The program has its own now; with ours open its end would never be seen.
        else:
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=dict(server.headers), timeout=HTTP_SECONDS))
            read, write = await stack.enter_async_context(streamable_http_client(server.url, http_client=http))
        yield _Watched(read, over), write


async def listed(client: Client) -> list[dict[str, Any]]:
    """Every tool that the server offers, as it says it: `name`, `description`, `inputSchema` and what else there is."""
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
        cursor = page.next_cursor
        if not cursor:
            break
    return found


async def call(client: Client, tool: str, arguments: dict[str, object], progress: Progress) -> dict[str, Any]:
    """The server's result as JSON: `content`, `structuredContent`, `isError`. Raises Refused, Lost, Expired."""
    try:
        result = await client.call_tool(tool, arguments, progress_callback=progress)
    except MCPError as error:
        if error.message == _EXPIRED:
            raise Expired(error.message) from None
        if error.code == CONNECTION_CLOSED and error.message.startswith(_ENDED):
            raise Lost(error.message) from None
        raise Refused(error.message) from None
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def changes(client: Client, changed: Callable[[], None]) -> None:
    """Tell each change of the list of tools, where the server speaks the version in which one asks for that."""
    capability = client.server_capabilities.tools
    if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or not (capability and capability.list_changed):
        return
    # Its end, and a server that does not take the question, only mean that nothing more is told.
    with contextlib.suppress(MCPError, RuntimeError):
        async with client.listen(tools_list_changed=True) as events:
            async for _ in events:
                changed()


def reason(error: BaseException) -> str:
    """What went wrong, in words, from the innermost of what the SDK wraps it in."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
        return "it ended before it had answered"
    if isinstance(error, FileNotFoundError):
        return f"there is no {error.filename!r}" if error.filename else "there is no such program"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"its answer breaks the protocol ({'.'.join(str(step) for step in first['loc'])}: {first['msg']})"
    return " ".join(str(error).split())[:1000] or type(error).__name__
