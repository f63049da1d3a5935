"""Images of the web, fetched for the console, whose browser asks nobody but this host.

Only what a call's own result names is fetched, and only if the plugin of that call may use the network: else a plugin without
it could send what it knows away in an address. Above: the console. Below: `lanes`, the journal, the grants in force.
It refuses to know: how the image is drawn. Nothing of it is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote, urljoin, urlsplit

import msgspec

from etui.contracts.media import picture_type
from etui.errors import UsageError
from etui.front.lanes import Lane, Proxy, Resolve, check, resolve
from etui.store.journal import Journal

if TYPE_CHECKING:
    import httpcore2

PATH = "/api/outside"
MOST = 20 * 1024 * 1024
"""Bytes of one image."""
SECONDS, REDIRECTS, AT_ONCE = 20.0, 5, 4
DRAWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"})
HEADERS = ((b"accept", b"image/avif,image/webp,image/png,image/*;q=0.8"), (b"user-agent", b"Mozilla/5.0 (compatible; Etui)"))


class Fetched(msgspec.Struct, frozen=True):
    """An image that was fetched."""

    media_type: str
    data: bytes


class Outside:
    """Fetches images of the web that results name."""

    def __init__(
        self,
        journal: Journal,
        *,
        may: Callable[[str], bool],
        allowed: Callable[[], bool],
        proxy: Callable[[], Proxy | None],
        resolve: Resolve = resolve,
    ) -> None:
        """`may` says whether a plugin may use the network, `allowed` whether anything may; `proxy` is the owner's, or None."""
        self._journal = journal
        self._may = may
        self._allowed = allowed
        self._proxy = proxy
        self._resolve = resolve
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def image(self, call: str, quoted: str) -> Fetched:
        """The image at this address, written as in the result of that call. Raises UsageError with a sentence."""
        entry = self._journal.get(call) if call else None
        if entry is None or not quoted or f"{PATH}?u={quoted}" not in entry.shown:
            raise UsageError("No result names this image.")
        if not self._allowed() or not self._may(entry.plugin):
            raise UsageError(f"The plugin {entry.plugin!r} may not use the network, so nothing is fetched for it.")
        async with self._slots:
            try:
                async with asyncio.timeout(SECONDS):
                    return await self._fetched(unquote(quoted))
            except TimeoutError:
                raise UsageError("The image did not come in time.") from None

    async def _fetched(self, url: str) -> Fetched:
        import httpcore2  # Lazily: most people never look at such an image.

        # A lane is a backend in all but its base class, which would have to be imported to be named.
        lane = cast("httpcore2.AsyncNetworkBackend", Lane(httpcore2.AnyIOBackend(), self._proxy(), self._resolve))
        async with httpcore2.AsyncConnectionPool(network_backend=lane, max_connections=1) as pool:
            try:
                for _ in range(REDIRECTS + 1):
                    found = await self._asked(pool, _checked(url))
                    if isinstance(found, Fetched):
                        return found
                    url = urljoin(url, found)
            except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, OSError) as error:
                raise UsageError(f"The image could not be fetched: {str(error) or type(error).__name__}.") from None
        raise UsageError("The image leads from place to place without end.")

    async def _asked(self, pool: httpcore2.AsyncConnectionPool, url: str) -> Fetched | str:
        """The image, or where it is to be found instead."""
        async with pool.stream("GET", url, headers=list(HEADERS)) as answer:
            headers = {name.lower(): value for name, value in answer.headers}
            if 300 <= answer.status < 400 and b"location" in headers:
                return headers[b"location"].decode("latin-1")
            if answer.status != 200:
                raise UsageError(f"The image could not be fetched: its server answered {answer.status}.")
            length = headers.get(b"content-length", b"0")
            if length.isdigit() and int(length) > MOST:
                raise UsageError("The image is over 20 MB.")
            data = bytearray()
            async for piece in answer.aiter_stream():
                data += piece
                if len(data) > MOST:
                    raise UsageError("The image is over 20 MB.")
        kind = picture_type(bytes(data[:64]))
        if kind not in DRAWN:
            raise UsageError("What is there is no image that is drawn here.")
        return Fetched(kind, bytes(data))


def _checked(url: str) -> str:
    """The address without names and passwords in it. Raises UsageError."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UsageError("That is no address of the web.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError("That is no address of the web.")
    check(host)
    try:
        where = f"[{host}]" if ":" in host else host.encode("idna").decode()
    except UnicodeError:
        raise UsageError("That is no address of the web.") from None
    bare = parts._replace(netloc=where if port is None else f"{where}:{port}", fragment="").geturl()
    return quote(bare, safe="%/:=&?~+!$,;'@()*[]|")
