"""Which lane a host is on, by its spelling alone: no name is ever looked up for it.

Above: Sapphire's `lanes` and names, the extras. Below: the standard library. It refuses to know: what is sent.
A host that is spelt as a number is judged as the address that a connection to it would go to.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from collections.abc import Callable, Iterable
from urllib.request import getproxies_environment

LAN, WAN = "lan", "wan"
NETWORKS = tuple(
    ipaddress.ip_network(one)
    for one in (
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"),
        *("::1/128", "fc00::/7", "fe80::/10"),
    )
)
"""Loopback, private and link-local addresses."""
ENDINGS = (".local", ".lan", ".home.arpa")
_DOTS = str.maketrans({"\u3002": ".", "\uff0e": ".", "\uff61": "."})
_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+)){0,3}")
"""Every way in which an IPv4 address can be spelt, and what looks like one."""

Provider = Callable[[], Iterable[str]]
_direct: dict[str, Provider] = {}
"""By owner, who names the hosts with public-looking names that are of this network."""


def classify(host: object) -> str:
    """`lan` or `wan`; what is no host is `wan`."""
    name = _spelt(host)
    if not name:
        return WAN
    address = _address(name)
    if address is not None:
        inner = getattr(address, "ipv4_mapped", None) or address
        return LAN if any(inner in network for network in NETWORKS if network.version == inner.version) else WAN
    if _NUMERIC.fullmatch(name) or ":" in name:
        return WAN  # an address that there is not, so nothing of this network
    if "." not in name or name.endswith(ENDINGS):
        return LAN
    return LAN if name in _registered() else WAN


def proxy_for(host: str) -> str:
    """The owner's proxy, if there is one and this host is reached by it; else empty. Inside workers, which are told it."""
    return getproxies_environment().get("all", "") if classify(host) == WAN else ""


def register_direct_hosts(provider: Provider, owner: str = "") -> None:
    """From now on these names are of this network; what the owner registered before no longer counts."""
    if not callable(provider):
        raise TypeError("register_direct_hosts takes a function without arguments that returns host names")
    _direct[str(owner)] = provider


def unregister_direct_hosts(owner: str = "") -> None:
    """The names of this owner are judged by their spelling again."""
    _direct.pop(str(owner), None)


def local_ip() -> str:
    """The address that this machine has in its network; the loopback address where it is in none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def _spelt(host: object) -> str:
    """A host in the one spelling that is compared; empty for what is none."""
    if not isinstance(host, str):
        return ""
    name = unicodedata.normalize("NFKC", host.translate(_DOTS)).translate(_DOTS).strip().casefold()
    return name.removeprefix("[").removesuffix("]").partition("%")[0].rstrip(".")


def _registered() -> set[str]:
    found: set[str] = set()
    for provider in list(_direct.values()):
        try:
            names = provider()
            found |= {_spelt(names)} if isinstance(names, str) else {_spelt(name) for name in names}
        except Exception:  # a plugin's own function may raise anything; what it does not name stays on the wide lane
            continue
    return found - {""}


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        pass
    if not _NUMERIC.fullmatch(name):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(name))
    except OSError:
        return None
