"""Images of the web for the person's browser: fetched by the host, for results that name them, from the open web alone."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import pytest
from tests.sapphire.homes import sapphire, tool
from tests.sapphire.pictures import LAB, png

from etui.errors import UsageError
from etui.front import lanes
from etui.front.lanes import Proxy, check
from etui.front.outside import MOST, Outside

NET = tool(
    "row",
    head="""
    import urllib.request
    from core import images as ci
    """,
    body="""return '<!--GALLERY:["' + ci.proxied(arguments["url"]) + '"]-->', True""",
    properties={"url": {"type": "string"}},
    network=True,
)
QUIET = NET.replace("import urllib.request", "").replace("'row'", "'quiet'")
"""It shows the same and uses no network itself."""
URL = "http://w.example.net/a.png?x=1&y=ä"


class Web:
    """A server of the open web, as far as a test can have one: HTTP in a few lines, on loopback."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.pages: dict[str, tuple[str, bytes]] = {}
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split(" ")[1]
        self.asked.append(head)
        line, body = self.pages.get(path.partition("?")[0], ("404 Gone", b""))
        status, _, more = line.partition("|")
        length = f"content-length: {len(body)}\r\n" if "length" not in more else ""
        writer.write(f"HTTP/1.1 {status}\r\n{more}{length}connection: close\r\n\r\n".encode() + body)
        await writer.drain()


class Socks:
    """A SOCKS 5 proxy for which every name leads to one port of this machine; it counts."""

    def __init__(self, leads_to: int, password: str = "") -> None:
        self.names: list[str] = []
        self.port = 0
        self._leads_to = leads_to
        self._password = password

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        method = 2 if self._password else 0
        writer.write(bytes([5, method if method in methods else 255]))
        if method == 2:
            await reader.readexactly((await reader.readexactly(2))[1])
            given = await reader.readexactly((await reader.readexactly(1))[0])
            writer.write(b"\x01\x00" if given.decode() == self._password else b"\x01\x01")
        _, _, _, kind = await reader.readexactly(4)
        assert kind == 3, "the proxy looks names up"
        name = await reader.readexactly((await reader.readexactly(1))[0])
        struct.unpack(">H", await reader.readexactly(2))
        self.names.append(name.decode())
        if name == b"closed.example.net":
            writer.write(b"\x05\x05\x00\x01" + bytes(6))
            return
        writer.write(b"\x05\x00\x00\x03\x01x" + bytes(2))
        there, back = await asyncio.open_connection("127.0.0.1", self._leads_to)
        await asyncio.gather(pipe(reader, back), pipe(there, writer))
        await ended(back)


async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def listening(it: Any) -> AsyncIterator[Any]:
    under_way: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        under_way.add(asyncio.current_task())  # type: ignore[arg-type]
        try:
            await it.serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            await ended(writer)

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    it.port = server.sockets[0].getsockname()[1]
    async with server:
        yield it
        await asyncio.gather(*under_way)


async def ended(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


class Calls:
    """A journal in which every call's result names every address."""

    plugin = "net"

    def get(self, call: str) -> Any:
        return self if call else None

    shown = property(lambda self: Named())


class Named:
    def __contains__(self, text: object) -> bool:
        return str(text).startswith("/api/outside?u=")


def outside(**more: Any) -> Outside:
    given: dict[str, Any] = {"may": lambda plugin: True, "allowed": lambda: True, "proxy": lambda: None, **more}
    return Outside(Calls(), **given)  # type: ignore[arg-type]


async def refused(it: Outside, url: str, call: str = "c") -> str:
    with pytest.raises(UsageError) as error:
        await it.image(call, quote(url, safe=""))
    return str(error.value)


async def test_an_image_comes_by_the_proxy_alone_with_nothing_of_the_person_in_the_request(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with listening(Web()) as web, listening(Socks(web.port, "secret")) as socks:
        web.pages = {
            "/a.png": ("302 Moved|location: http://other.example.net/b.png\r\n", b""),
            "/b.png": ("200 OK|content-type: text/html\r\n", png()),
            "/page": ("200 OK|content-type: image/png\r\n", b"<html><script>alert(1)</script></html>"),
        }

        async def nowhere(name: str, port: int) -> list[str]:
            raise AssertionError("with a proxy no name is looked up here")

        right = outside(proxy=lambda: Proxy("127.0.0.1", socks.port, "me", "secret"), resolve=nowhere)
        found = await right.image("c", quote(URL, safe=""))
        assert (found.media_type, found.data) == ("image/png", png())
        assert socks.names == ["w.example.net", "other.example.net"]
        assert web.asked[0].startswith("GET /a.png?x=1&y=%C3%A4 HTTP/1.1")
        assert all(word not in "".join(web.asked).lower() for word in ("cookie", "referer", "authorization"))
        assert await refused(right, "http://w.example.net/page") == "What is there is no image that is drawn here."
        assert await refused(right, "http://w.example.net/none") == "The image could not be fetched: its server answered 404."
        assert "did not connect to 'closed.example.net': code 5" in await refused(right, "http://closed.example.net/")
        wrong = outside(proxy=lambda: Proxy("127.0.0.1", socks.port, "me", "guess"))
        assert await refused(wrong, URL) == "The SOCKS proxy refused the user name or the password."
        dead = outside(proxy=lambda: Proxy("127.0.0.1", 1))
        asked = len(web.asked)
        assert (await refused(dead, URL)).startswith("The image could not be fetched: ")
        assert len(web.asked) == asked, "a dead proxy is no reason to go beside it"


async def test_nothing_of_this_network_is_asked_by_whatever_name(monkeypatch):
    async with listening(Web()) as web:
        web.pages = {"/a.png": ("200 OK|", png()), "/away": (f"302 Moved|location: http://127.0.0.1:{web.port}/a.png\r\n", b"")}
        leads: dict[str, list[str]] = {"inside.example.net": ["127.0.0.1"], "both.example.net": ["93.184.216.34", "10.0.0.1"]}

        async def resolve(name: str, port: int) -> list[str]:
            return leads.get(name, [])

        it = outside(resolve=resolve)
        for url in (
            f"http://127.0.0.1:{web.port}/a.png",
            f"http://localhost:{web.port}/a.png",
            f"http://2130706433:{web.port}/a.png",
            f"http://0x7f.1:{web.port}/a.png",
            f"http://[::1]:{web.port}/a.png",
            f"http://[::ffff:127.0.0.1]:{web.port}/a.png",
            "http://router/a.png",
            "http://nas.local/a.png",
            f"http://inside.example.net:{web.port}/a.png",
            f"http://both.example.net:{web.port}/a.png",
        ):
            assert "the open web only" in await refused(it, url), url
        for odd in (
            "file:///etc/passwd",
            "ftp://w.example.net/",
            "http://",
            "http://w.example.net:99999/",
            "javascript:alert(1)",
        ):
            assert await refused(it, odd) == "That is no address of the web."
        assert web.asked == []
        monkeypatch.setattr(lanes, "is_open", lambda address: address == "127.0.0.1" or address.startswith("93."))
        leads["w.example.net"] = ["127.0.0.1"]
        assert (await it.image("c", quote(f"http://w.example.net:{web.port}/a.png", safe=""))).data == png()


async def test_a_redirect_into_this_network_ends_there():
    async with listening(Web()) as web, listening(Socks(web.port)) as socks:
        web.pages = {
            "/away": (f"302 Moved|location: http://127.0.0.1:{web.port}/a.png\r\n", b""),
            "/round": ("302 Moved|location: /round\r\n", b""),
            "/a.png": ("200 OK|", png()),
        }
        it = outside(proxy=lambda: Proxy("127.0.0.1", socks.port))
        assert "the open web only" in await refused(it, "http://w.example.net/away")
        assert await refused(it, "http://w.example.net/round") == "The image leads from place to place without end."


async def test_what_is_too_large_is_not_read_to_its_end():
    async with listening(Web()) as web, listening(Socks(web.port)) as socks:
        web.pages = {
            "/said": (f"200 OK|content-length: {MOST + 1}\r\n", png()),
            "/sent": ("200 OK|x-length: none\r\n", png() + bytes(MOST)),
        }
        it = outside(proxy=lambda: Proxy("127.0.0.1", socks.port))
        assert await refused(it, "http://w.example.net/said") == "The image is over 20 MB."
        assert await refused(it, "http://w.example.net/sent") == "The image is over 20 MB."


@pytest.mark.parametrize("host", ["w.example.net", "93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"])
def test_what_is_of_the_open_web_by_its_spelling(host: str) -> None:
    check(host)


async def test_only_what_a_result_names_is_fetched_and_only_for_a_plugin_that_may_use_the_network(tmp_path):
    files = {"plugins/net/tools/row.py": NET, "plugins/quiet/tools/quiet.py": QUIET}
    async with sapphire(tmp_path, files) as room:
        session = room.host.session("python", chat=room.host.store.chats.create("", "python").id)
        ids = {}
        for name in ("row", "quiet"):
            wish = session.new_call(name, {"url": URL})
            ids[name] = wish.id
            assert (await session.call(wish)).ok
        proxied = quote(URL, safe="")
        it = room.host.outside
        assert room.host.store.journal.get(ids["row"]).shown == f'<!--GALLERY:["/api/outside?u={proxied}"]-->'
        assert await refused(it, "http://w.example.net/other.png", ids["row"]) == "No result names this image."
        assert await refused(it, URL, "") == "No result names this image."
        quiet = await refused(it, URL, ids["quiet"])
        assert quiet == "The plugin 'quiet' may not use the network, so nothing is fetched for it."
        monkey = it._resolve

        async def found(name: str, port: int) -> list[str]:
            raise OSError

        it._resolve = found
        assert await refused(it, URL, ids["row"]) == "'w.example.net' cannot be found.", "it came as far as asking for it"
        it._resolve = monkey
        await room.host.settings.set("allow_network", "refuse")
        assert "may not use the network" in await refused(it, URL, ids["row"])


@pytest.mark.promise("S064")
async def test_resolve_takes_the_lane_of_the_address_and_so_does_what_the_console_fetches(tmp_path):
    code = "found = resolve(arguments['raw']); out = [found.origin, found.size, ci.stash(found.data) != '']"
    async with listening(Web()) as web, listening(Socks(web.port)) as socks:
        web.pages = {"/a.png": ("200 OK|content-type: image/png\r\n", png())}
        files = {"plugins/lab/tools/lab.py": LAB, "plugins/net/tools/row.py": NET}
        async with sapphire(tmp_path, files, socks=True, socks_port=socks.port) as room:
            near = f"http://127.0.0.1:{web.port}/a.png"
            assert await room.value("lab", {"code": code, "raw": near}) == ["web", len(png()), True]
            assert socks.names == [] and len(web.asked) == 1
            assert await room.value("lab", {"code": code, "raw": "http://w.example.net/a.png"}) == ["web", len(png()), True]
            assert socks.names == ["w.example.net"] and len(web.asked) == 2
            session = room.host.session("python", chat=room.host.store.chats.create("", "python").id)
            wish = session.new_call("row", {"url": "http://v.example.net/a.png"})
            assert (await session.call(wish)).ok
            found = await room.host.outside.image(wish.id, quote("http://v.example.net/a.png", safe=""))
            assert found.data == png() and socks.names == ["w.example.net", "v.example.net"]
