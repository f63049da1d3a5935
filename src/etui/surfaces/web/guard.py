"""Who may talk to the console: the first thing that every request meets, whatever its path.

A request must name this very address as its Host, come from no other site, carry a session or the owner's token where it
touches `/api`, and, where it changes something with a session's cookie, carry a header that no other site's page can send.
Web sockets are refused.
A tool's own key opens a few paths, to be read, and nothing else.
Above: `app` wraps everything in it. Below: `tokens`, the keys of tools. It refuses to know: what any path does.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from etui.services.keys import Keys
from etui.surfaces.web.own_api import TABLE
from etui.surfaces.web.replies import refusal
from etui.surfaces.web.tokens import Tokens

HEADER = "x-etui"
"""Must be sent, with any value, by a page that changes something."""
TOOLS_KEY = "x-api-key"
"""In which a tool sends the key that it was given."""
OPEN = frozenset(TABLE)
"""The paths that such a key opens, to be read."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SAFE = frozenset({"GET", "HEAD"})
POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; "
    "font-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), payment=(), usb=()",
    "cache-control": "no-store",
}
"""What every answer says, unless it says it itself."""


def cookie_name(port: int) -> str:
    """The session's cookie; browsers share cookies between the ports of one address, so each port has its own."""
    return f"etui-{port}"


def addresses(port: int, names: Iterable[str] = ()) -> dict[str, frozenset[str]]:
    """Every value that the Host header may have, with the origins that its pages have.

    Loopback is meant with our port; a configured name also bare, as it comes through something that speaks HTTPS for us.
    """
    known: dict[str, frozenset[str]] = {}
    for name in (one.lower() for one in names if one):
        for host in (name, f"{name}:{port}"):
            known[host] = frozenset({f"http://{host}", f"https://{host}"})
    for name in LOOPBACK:
        for host in (f"{name}:{port}", *([name] if port == 80 else ())):
            known[host] = frozenset({f"http://{host}"})
    return known


class Guard:
    """ASGI middleware; what it lets through has passed every rule above."""

    def __init__(self, app: ASGIApp, *, tokens: Tokens, keys: Keys, port: int, names: Iterable[str] = ()) -> None:
        self._app = app
        self._tokens = tokens
        self._keys = keys
        self._hosts = addresses(port, names)
        self._cookie = cookie_name(port)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a refusal, or pass the request on."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "The console uses no web sockets."})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(raw=message["headers"])
                if scope["path"].startswith("/static/"):
                    answer.setdefault("cache-control", "no-cache")
                seal(answer)
            await send(message)

        headers = Headers(scope=scope)
        wrong = self._wrong(scope, headers)
        if wrong is None:
            await self._app(scope, receive, sealed)
        else:
            status, sentence = wrong
            await refusal(status, sentence, scope["path"])(scope, receive, sealed)

    def _wrong(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        hosts = headers.getlist("host")
        known = self._hosts.get(hosts[0].lower()) if len(hosts) == 1 else None
        if known is None:
            return 421, "This address is not one that the console answers to; open it by the address that `etui serve` printed."
        origins = headers.getlist("origin")
        if origins and (len(origins) != 1 or origins[0].lower() not in known):
            return 403, "Another site's page tried to use the console; that is refused."
        if not _is_api(scope["path"]):
            return None
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "Another site's page tried to use the console; that is refused."
        return self._unknown(scope, headers)

    def _unknown(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        if (key := headers.get(TOOLS_KEY)) is not None:
            return self._tool(scope, key)
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._tokens.is_owner(token.strip()):
            scope["etui.key"] = ""
            return None
        key = cookie_parser(headers.get("cookie", "")).get(self._cookie, "")
        if not key or not self._tokens.is_session(key):
            return 401, "You are not signed in here; open the one-time link that `etui serve` printed."
        if scope["method"] not in SAFE and HEADER not in headers:
            return 403, "A request that changes something needs the header 'X-Etui'."
        scope["etui.key"] = key
        return None

    def _tool(self, scope: Scope, key: str) -> tuple[int, str] | None:
        holder = self._keys.of(key)
        if holder is None:
            return 401, "This key is none that Etui gave to a tool, or it is too old."
        if scope["path"] not in OPEN or scope["method"] not in SAFE:
            return 403, "A tool's key does not open this."
        scope["etui.key"], scope["etui.holder"] = "", holder
        return None


def seal(headers: MutableHeaders) -> None:
    """Put the headers that keep a page harmless on an answer; one that is there already stays."""
    for name, value in HEADERS.items():
        headers.setdefault(name, value)


def _is_api(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")
