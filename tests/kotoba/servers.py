"""MCP servers for tests: real programs on real pipes that speak the protocol line by line, without the SDK, so that they start
at once; each notes its starts, what it was asked and by which process in files that a test reads."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

SERVER = r"""
import json, os, sys, time

folder, tools = sys.argv[1], json.loads(sys.argv[2])
held = []


def note(what):
    with open(os.path.join(folder, "notes"), "a") as notes:
        notes.write(f"{what} {os.getpid()}\n")


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def called(id, name, arguments):
    note(name)
    if name == "add":
        return {**text(str(arguments["a"] + arguments["b"])), "structuredContent": {"sum": arguments["a"] + arguments["b"]}}
    if name == "wrong":
        return {**text("no such city"), "isError": True}
    if name == "mute":
        return {"content": [], "isError": True}
    if name == "empty":
        return {"content": []}
    if name == "give":
        return {"content": arguments["content"]}
    if name == "hold":
        held.append(id)
        told = {"progressToken": id, "progress": 1, "total": 4, "message": "held"}
        send({"method": "notifications/progress", "params": told})
        return None
    if name == "release":
        for one in held:
            send({"id": one, "result": text("released")})
        held.clear()
        return text("ok")
    if name == "flood":
        for step in range(3000):
            told = {"progressToken": id, "progress": step, "total": 3000, "message": "m" * 900}
            send({"method": "notifications/progress", "params": told})
            if not step % 50:
                send({"method": "notifications/tools/list_changed"})
        return text("ok")
    if name == "grow":
        tools.append({"name": "grown", "inputSchema": {"type": "object"}})
        send({"method": "notifications/tools/list_changed"})
        return text("ok")
    if name == "hang":
        while True:
            time.sleep(60)
    if name == "die":
        sys.stderr.write("the disk is full\n")
        sys.stderr.flush()
        os._exit(3)
    return text(" ".join([name, *(os.environ.get(one, "-") for one in arguments.get("env", ())), os.getcwd()]))


if os.path.exists(os.path.join(folder, "gate")):
    open(os.path.join(folder, "gate")).read()
note("start")
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        info = {"serverInfo": {"name": "test", "version": "1"}, "capabilities": {"tools": {"listChanged": True}}}
        send({"id": id, "result": {"protocolVersion": "2025-06-18", **info}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": tools}})
    elif method == "tools/call" and params["name"] == "fault":
        send({"id": id, "error": {"code": -32000, "message": "the shelf is locked"}})
    elif method == "tools/call":
        result = called(id, params["name"], params.get("arguments") or {})
        if result is not None:
            send({"id": id, "result": result})
    elif method == "notifications/cancelled":
        note("cancelled")
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "there is no " + method}})
"""


def server(folder: Path, *tools: str | dict[str, object], **table: object) -> dict[str, object]:
    """The settings' table of a server that offers these tools; what it notes is read with `noted`."""
    folder.mkdir(parents=True, exist_ok=True)
    offered = [{"name": one, "inputSchema": {"type": "object"}} if isinstance(one, str) else one for one in tools]
    return {"command": sys.executable, "args": ["-c", SERVER, str(folder), json.dumps(offered)], **table}


def noted(folder: Path) -> list[str]:
    """What the server did, in order: `start`, the names of the tools that were called, `cancelled`."""
    file = folder / "notes"
    return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []


def processes(folder: Path) -> list[int]:
    """Its processes, in the order of their starts."""
    return [int(line.split()[1]) for line in (folder / "notes").read_text().splitlines() if line.startswith("start ")]


class Distant:
    """A server at an address on this machine, which offers `add` to whoever has the key, and can forget its connections."""

    KEY = "Bearer of-the-library"

    def __init__(self) -> None:
        self.port = 0
        self.called = 0
        self.sessions: set[str] = set()
        self.lost = False
        """Whether it lets go of the line instead of answering a call."""
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen, on the same port each time."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            for writer in list(self._writers):
                writer.transport.abort()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                lines = dict(line.split(": ", 1) for line in head.splitlines()[1:] if line)
                headers = {name.lower(): value for name, value in lines.items()}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                if self.lost and b"tools/call" in body:
                    return
                writer.write(self._answer(head.split()[0], headers, json.loads(body or b"{}")))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    def _answer(self, method: str, headers: dict[str, str], message: dict[str, object]) -> bytes:
        if headers.get("authorization") != self.KEY:
            return _http("401 Unauthorized")
        if method != "POST":
            return _http("405 Method Not Allowed")
        id, asked = message.get("id"), message.get("method")
        if asked == "initialize":
            session = secrets.token_hex(4)
            self.sessions.add(session)
            info = {"serverInfo": {"name": "distant", "version": "1"}, "capabilities": {"tools": {}}}
            return _http("200 OK", {"id": id, "result": {"protocolVersion": "2025-06-18", **info}}, session)
        if asked == "server/discover":
            return _http("200 OK", {"id": id, "error": {"code": -32601, "message": "unknown"}})
        if headers.get("mcp-session-id") not in self.sessions:
            return _http("404 Not Found")
        if id is None:
            return _http("202 Accepted")
        if asked == "tools/list":
            return _http("200 OK", {"id": id, "result": {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}})
        self.called += 1
        return _http("200 OK", {"id": id, "result": {"content": [{"type": "text", "text": f"call {self.called}"}]}})


def _http(status: str, message: dict[str, object] | None = None, session: str = "") -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode() if message else b""
    more = f"mcp-session-id: {session}\r\n" if session else ""
    return f"HTTP/1.1 {status}\r\n{more}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
