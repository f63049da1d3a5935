"""The owner's SOCKS proxy: what the settings say of it, and the variables by which programs go through it.

Above: `tooling` gives them to workers that may use the network, `host` to what it fetches itself. Below: the settings. It
refuses to know: how anything connects. The password stands in no file: the settings name the variable that holds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from etui.front.lanes import Proxy
from etui.settings import Settings
from etui.tool import Problem

SETTINGS = frozenset({"socks", "socks_host", "socks_port", "socks_user", "socks_password"})
SHORTEST = 6
"""Characters of a password that is looked for in results: a shorter one stands in many by chance."""
DIRECT = "localhost,127.0.0.1,127.0.0.0/8,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,169.254.0.0/16,.local,.lan,.home.arpa"
"""What is in the owner's own network, as `NO_PROXY` has it. No IPv6: programs compare the ends of names."""


def proxy(settings: Settings, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy, or None where the open web is reached directly."""
    if not settings.socks:
        return None
    password = environ.get(_variable(settings), "")
    return Proxy(settings.socks_host, settings.socks_port, settings.socks_user, password)


def problem(settings: Settings, environ: Mapping[str, str]) -> Problem | None:
    """What is missing of it, for the owner to know."""
    name = _variable(settings)
    if not settings.socks or not name or name in environ:
        return None
    return Problem(
        what="socks_password",
        reason=f"The variable {name} that holds the SOCKS proxy's password is not in Etui's environment.",
        hint="Start Etui with it, or take it out of the setting `socks_password`.",
        refused=False,
    )


def secret(proxy: Proxy | None) -> frozenset[str]:
    """What of it no tool's result is to hold."""
    if proxy is None or len(proxy.password) < SHORTEST:
        return frozenset()
    return frozenset((proxy.password, quote(proxy.password, safe="")))


def variables(proxy: Proxy | None) -> dict[str, str]:
    """By which programs know it, in both spellings; names are looked up by the proxy."""
    if proxy is None:
        return {}
    host = f"[{proxy.host}]" if ":" in proxy.host else proxy.host
    who = f"{quote(proxy.user, safe='')}:{quote(proxy.password, safe='')}@" if proxy.user or proxy.password else ""
    address = f"socks5h://{who}{host}:{proxy.port}"
    found = {"HTTP_PROXY": address, "HTTPS_PROXY": address, "ALL_PROXY": address, "NO_PROXY": DIRECT}
    return found | {name.lower(): value for name, value in found.items()}


def _variable(settings: Settings) -> str:
    return settings.socks_password.removeprefix("${").removesuffix("}")
