"""Connections into the open web, and into nothing else: to an address that was looked up and judged, or by a SOCKS proxy.

Above: `outside`. Below: httpcore2, imported when a connection is wanted. It refuses to know: what is fetched, and for whom.
A name is looked up once and its judged address is the one connected to, so that no second answer leads elsewhere.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import msgspec

from etui.errors import UsageError

if TYPE_CHECKING:
    import httpcore2

LOCAL = (".localhost", ".local", ".lan", ".internal", ".home.arpa")
"""Endings of names of this network."""
_REFUSED = {1: "it failed", 2: "its rules forbid it", 3: "the network cannot be reached", 4: "the host cannot be reached"}

Resolve = Callable[[str, int], Awaitable[list[str]]]
"""The addresses of a name. Raises OSError."""


class Proxy(msgspec.Struct, frozen=True):
    """A SOCKS 5 proxy."""

    host: str
    port: int
    user: str = ""
    password: str = ""


async def resolve(name: str, port: int) -> list[str]:
    """The addresses of a name, as this machine finds them. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


def is_open(address: str) -> bool:
    """Whether an address is one of the open web."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    for inner in (getattr(found, "ipv4_mapped", None), getattr(found, "sixtofour", None)):
        if inner is not None:
            return bool(inner.is_global)
    return found.is_global and not found.is_multicast


def address_of(host: str) -> str:
    """The address that a host's spelling is, in any of the ways in which one can be spelt; empty for a name."""
    bare = host.strip("[]")
    try:
        return str(ipaddress.ip_address(bare.partition("%")[0]))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(bare))
    except (OSError, ValueError):
        return ""


def check(host: str) -> None:
    """Raises UsageError for what is of this network by its spelling."""
    name = host.lower().rstrip(".")
    address = address_of(name)
    local = not is_open(address) if address else ("." not in name or name.endswith(LOCAL))
    if local:
        raise UsageError(f"{host!r} is in this network, and images are fetched from the open web only.")


class Lane:
    """Connects for httpcore2, in the place of its own backend."""

    def __init__(self, backend: httpcore2.AsyncNetworkBackend, proxy: Proxy | None, resolve: Resolve) -> None:
        self._backend = backend
        self._proxy = proxy
        self._resolve = resolve

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - as httpcore2 calls it
        **more: Any,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to that host, never beside the proxy where there is one. Raises UsageError."""
        check(host)
        if self._proxy is not None:
            stream = await self._backend.connect_tcp(self._proxy.host, self._proxy.port, timeout, **more)
            try:
                await _through(stream, self._proxy, host, port, timeout)
            except BaseException:
                await stream.aclose()
                raise
            return stream
        address = address_of(host)
        try:
            found = [address] if address else await self._resolve(host, port)
        except (OSError, UnicodeError):
            raise UsageError(f"{host!r} cannot be found.") from None
        inside = [one for one in found if not is_open(one)]
        if inside or not found:
            raise UsageError(f"{host!r} leads into this network, and images are fetched from the open web only.")
        return await self._backend.connect_tcp(found[0], port, timeout, **more)

    async def connect_unix_socket(self, path: str, **more: Any) -> httpcore2.AsyncNetworkStream:
        """Never. Raises UsageError."""
        raise UsageError("Images are fetched from the open web only.")

    async def sleep(self, seconds: float) -> None:
        """Between two tries, of which there are none."""
        await asyncio.sleep(seconds)


async def _through(stream: httpcore2.AsyncNetworkStream, proxy: Proxy, host: str, port: int, seconds: float | None) -> None:
    """Have the proxy connect this stream to the host; it looks the name up. Raises UsageError."""
    reader = _Reader(stream, seconds)
    methods = b"\x00\x02" if proxy.user else b"\x00"
    await stream.write(b"\x05" + bytes([len(methods)]) + methods, seconds)
    version, method = await reader.take(2)
    if version != 5 or method not in methods:
        raise UsageError("The SOCKS proxy does not take the way in which Etui signs in.")
    if method == 2:
        user, password = proxy.user.encode()[:255], proxy.password.encode()[:255]
        await stream.write(b"\x01" + bytes([len(user)]) + user + bytes([len(password)]) + password, seconds)
        if (await reader.take(2))[1] != 0:
            raise UsageError("The SOCKS proxy refused the user name or the password.")
    name = host.strip("[]").encode("idna") if not host.isascii() else host.strip("[]").encode()
    if len(name) > 255:
        raise UsageError(f"{host!r} is too long for a name.")
    await stream.write(b"\x05\x01\x00\x03" + bytes([len(name)]) + name + port.to_bytes(2, "big"), seconds)
    _, code, _, kind = await reader.take(4)
    if code != 0:
        raise UsageError(f"The SOCKS proxy did not connect to {host!r}: {_REFUSED.get(code, f'code {code}')}.")
    rest = {1: 4, 4: 16}.get(kind)
    await reader.take((rest if rest is not None else (await reader.take(1))[0]) + 2)


class _Reader:
    """Takes exactly so many bytes; nothing that belongs to the connection itself is read too early."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream, timeout: float | None) -> None:
        self._stream = stream
        self._timeout = timeout

    async def take(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            piece = await self._stream.read(count - len(found), self._timeout)
            if not piece:
                raise UsageError("The SOCKS proxy hung up.")
            found += piece
        return found
