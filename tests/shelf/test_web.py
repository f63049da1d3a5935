"""Pages of the web, from a real server on this machine."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator

import pytest

from etui.outcome import Status

from .desk import Desk
from .server import Server, serving

LOCAL = """127.0.0.1 localhost [::1] 0.0.0.0 10.0.0.1 192.168.1.1 172.16.0.1 169.254.169.254 2130706433 0x7f.1
[::ffff:127.0.0.1] [fe80::1] [fd00::1] [64:ff9b::7f00:1] [2002:7f00:1::] 100.64.0.1 224.0.0.1"""
ARTICLE = """<!doctype html><html><head><title>Bread &amp; butter</title></head><body>
<nav><a href="/">Home</a> <a href="/shop">Shop</a> <a href="/login">Log in</a></nav>
<article><h1>Bread</h1>
<p>Bread is made from flour, water, salt and yeast, and it has fed people for thousands of years in every land.</p>
<p>Knead the dough for ten minutes, let it rise for an hour in a warm place, and bake it until it is brown.</p>
</article><script>alert("boo")</script><footer>Copyright nobody. All rights reserved. Cookies.</footer></body></html>"""


def answer(path: str, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    """What the test's server has."""
    html = {"Content-Type": "text/html; charset=utf-8"}
    pages: dict[str, tuple[int, dict[str, str], bytes]] = {
        "/article": (200, html, ARTICLE.encode()),
        "/plain": (200, {"Content-Type": "text/plain; charset=latin-1"}, "Grüße".encode("latin-1")),
        "/json": (200, {"Content-Type": "application/json"}, b'{"a": 1}'),
        "/old": (302, {"Location": "/article"}, b""),
        "/loop": (302, {"Location": "/loop"}, b""),
        "/file": (302, {"Location": "file:///etc/passwd"}, b""),
        "/photo": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
        "/large": (200, html, b"<p>" + b"x" * 6_000_000),
        "/empty": (200, html, b""),
        "/missing": (404, html, b"no"),
        "/broken": (500, html, b"no"),
        "/long": (200, {"Content-Type": "text/plain"}, b"word " * 10_000),
        "/badcharset": (200, {"Content-Type": "text/plain; charset=klingon"}, b"hello"),
        "/away": (302, {"Location": query.get("to", "")}, b""),
    }
    return pages[path]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(answer) as running:
        yield running


@pytest.fixture
def web(desk_for) -> Desk:
    desk = desk_for("web")
    desk.settings["allow_lan"] = True
    return desk


def test_a_page_is_given_as_its_title_and_text(web, server) -> None:
    ran = web.run("web_page", url=f"{server.url}/article")
    assert ran.status is Status.OK, ran.text
    assert ran.text.startswith("Bread & butter\n\n")
    assert "Knead the dough for ten minutes" in ran.text
    assert "boo" not in ran.text and "Log in" not in ran.text
    assert ran.data["title"] == "Bread & butter"


def test_the_server_sees_its_own_name(web, server) -> None:
    port = server.url.rpartition(":")[2]
    web.say_of("web_page", url=f"http://localhost:{port}/article")
    assert server.headers[-1]["Host"] == f"localhost:{port}"


def test_plain_text_and_json_are_given_as_they_are(web, server) -> None:
    assert web.say_of("web_page", url=f"{server.url}/plain") == "Grüße"
    assert web.say_of("web_page", url=f"{server.url}/json") == '{"a": 1}'
    assert web.say_of("web_page", url=f"{server.url}/badcharset") == "hello"


def test_redirects_are_followed_and_end(web, server) -> None:
    assert web.run("web_page", url=f"{server.url}/old").data["url"] == f"{server.url}/article"
    assert web.fail_of("web_page", url=f"{server.url}/loop") == "127.0.0.1 sends me from page to page without end."
    assert web.run("web_page", url=f"{server.url}/file").status is Status.REFUSED


def test_a_long_page_is_read_on(web, server) -> None:
    first = web.run("web_page", url=f"{server.url}/long", characters=1000)
    assert first.text.endswith("go on with start=1000.")
    assert web.say_of("web_page", url=f"{server.url}/long", start=1000, characters=500).startswith("word ")
    assert "ends at character" in web.fail_of("web_page", url=f"{server.url}/long", start=10**6)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/photo", "gives image/png and no text"),
        ("/large", "larger than 5 MB"),
        ("/empty", "has no text that I can read"),
        ("/missing", "answers 404: there is no such page."),
        ("/broken", "answers 500: its server has a fault."),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(web, server, path, why) -> None:
    assert why in web.fail_of("web_page", url=f"{server.url}{path}")


@pytest.mark.parametrize("url", ["", "two words", "http://", "https://[::1", "http://a..b/"])
def test_what_is_no_address_is_said(web, url) -> None:
    ran = web.run("web_page", url=url)
    assert ran.status is Status.FAILED and not ran.error, ran.detail


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://example.org/", "javascript:alert(1)", "data:text/plain,hi", "mailto:a@b.c"]
)
def test_only_http_is_opened(web, url) -> None:
    assert "only open http and https" in web.run("web_page", url=url).text


@pytest.mark.parametrize(
    "host",
    LOCAL.split(),
)
def test_this_machine_and_its_network_are_refused_without_being_asked(desk_for, server, host) -> None:
    port = server.url.rpartition(":")[2]
    asked = len(server.asked)
    ran = desk_for("web").run("web_page", url=f"http://{host}:{port}/article")
    assert ran.status in {Status.REFUSED, Status.FAILED} and not ran.error, ran.detail
    assert "local network" in ran.text or "can't find" in ran.text
    assert len(server.asked) == asked


def test_a_redirect_into_the_local_network_is_refused(desk_for, server, monkeypatch) -> None:
    desk = desk_for("web")
    monkeypatch.setattr(sys.modules["etui_plugin_web.web"], "_is_public", lambda address: address == "127.0.0.1")
    with serving(answer, host="127.0.0.2") as hidden:
        ran = desk.run("web_page", url=f"{server.url}/away?to={hidden.url}/article")
        assert ran.status is Status.REFUSED
        assert hidden.asked == []


def test_the_address_that_was_checked_is_the_one_connected_to(desk_for, server, monkeypatch) -> None:
    desk = desk_for("web")
    module = sys.modules["etui_plugin_web.web"]
    desk.settings["allow_lan"] = True
    asked = []

    def once(host: str, port: int, *more: object, **named: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(module.socket, "getaddrinfo", once)
    port = server.url.rpartition(":")[2]
    assert "Knead" in desk.say_of("web_page", url=f"http://rebinding.example:{port}/article")
    assert asked.count("rebinding.example") == 1


def test_nobody_listening_is_said(web) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        assert web.fail_of("web_page", url=f"http://127.0.0.1:{port}/") == "I can't reach 127.0.0.1: the connection failed."
