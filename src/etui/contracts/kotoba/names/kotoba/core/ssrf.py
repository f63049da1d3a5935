"""`kotoba.core.ssrf`: addresses that a tool must not fetch, since they lead into this machine or its network."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urljoin, urlsplit

_NAMES = ("localhost", "metadata", "instance-data")
_ENDINGS = (".localhost", ".local", ".internal", ".home.arpa")


def url_block_reason(url: str) -> str | None:
    """Why this address must not be fetched, or None: only http and https, and only names that lead into the open network."""
    try:
        parts = urlsplit(str(url or "").strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return "it is no address"
    if parts.scheme.lower() not in ("http", "https"):
        return f"{parts.scheme or 'nothing'!r} is no scheme of the web"
    if not host:
        return "it names no host"
    name = host.lower().rstrip(".")
    if name in _NAMES or name.endswith(_ENDINGS):
        return f"{host!r} is a name of this network"
    try:
        found = [one[4][0] for one in socket.getaddrinfo(host, port or 443, proto=socket.IPPROTO_TCP)]
    except (OSError, UnicodeError):
        return f"{host!r} cannot be found"
    inside = next((address for address in found if not _open(str(address))), None)
    return f"{host!r} leads to {inside}, which is not in the open network" if inside is not None or not found else None


def check_redirect(base_url: str, location: str) -> tuple[str | None, str | None]:
    """Where a redirect leads, and None; or None, and why it must not be followed."""
    target = urljoin(base_url, location or "")
    reason = url_block_reason(target)
    return (None, reason) if reason else (target, None)


def _open(address: str) -> bool:
    """Whether the address is one of the open network."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    inner = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    if inner is not None:
        return bool(inner.is_global)
    return found.is_global and not found.is_multicast
