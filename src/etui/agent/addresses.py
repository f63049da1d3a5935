"""The address of a model's server: what a person may write for it, and where it may send a request on to.

Above: `chat`. Below: `errors`. It refuses to know: what is asked there.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from etui.errors import ModelError


def endpoint(base_url: str) -> str:
    """Where to ask, from an address with or without scheme, `/v1` and the rest of the path; raises ModelError."""
    url = base_url.strip()
    url = (url if "://" in url else f"http://{url}").rstrip("/")
    if not _usable(url):
        example = "http://127.0.0.1:11434/v1"
        raise ModelError(f"The address {base_url!r} cannot be used; set `model_base_url` to one such as {example}.")
    url += "" if urlsplit(url).path else "/v1"
    return url if url.endswith("/chat/completions") else f"{url}/chat/completions"


def may_move(asked: str, to: str) -> bool:
    """Whether a request may follow its server there: not out of encryption, and not from elsewhere onto this machine."""
    if not _usable(to) or (asked.startswith("https:") and not to.startswith("https:")):
        return False
    return on_this_machine(asked) or not on_this_machine(to)


def on_this_machine(url: str) -> bool:
    """Whether the address is one of this very machine."""
    host = urlsplit(url).hostname or ""
    return host == "localhost" or host.endswith(".localhost") or host in ("::1", "0.0.0.0", "::") or host.startswith("127.")


def _usable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
