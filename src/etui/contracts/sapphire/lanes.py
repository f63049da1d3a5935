"""Sessions of `requests` that keep to their lane: this network directly, all else by the owner's proxy while there is one.

Above: `names/core/net`, `names/core/socks_proxy`. Below: `requests`, `hosts`, `settings`. It refuses to know: who asks.
No failure ever leads to the other lane. Each hop of a redirect is judged anew, so none leaves a lane unseen.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from http.cookiejar import Cookie, DefaultCookiePolicy
from typing import Any

import requests
from requests.cookies import RequestsCookieJar
from requests.exceptions import InvalidURL, ProxyError, RequestException
from urllib3.util import parse_url

from etui.contracts.faults import causes
from etui.contracts.hosts import LAN, WAN, classify
from etui.contracts.sapphire import settings

PLAIN, BROWSER = "plain", "browser"
COOKIES = 400
"""Cookies that the browser profile keeps at most; the oldest goes first."""
HEADERS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en-US,en;q=0.5",
}
"""What a browser sends."""
_POSITIONAL = 7
"""Where `allow_redirects` stands among what `Session.request` takes behind the address."""
_PROXY = os.environ.get("ALL_PROXY", "")
"""The owner's proxy, as this worker was started with it."""


class SocksAuthError(ProxyError):
    """The proxy did not take the user name or the password."""


class Jar(RequestsCookieJar):
    """A jar with so many cookies at most."""

    def __init__(self) -> None:
        super().__init__()
        self._order: OrderedDict[tuple[str, str, str], None] = OrderedDict()

    def set_cookie(self, cookie: Cookie, *args: Any, **kwargs: Any) -> Any:
        """Keep one, and let the oldest go where there are too many."""
        kept = super().set_cookie(cookie, *args, **kwargs)
        with self._cookies_lock:
            key = (cookie.domain, cookie.path, cookie.name)
            self._order.pop(key, None)
            self._order[key] = None
            while len(self._order) > COOKIES:
                oldest, _ = self._order.popitem(last=False)
                try:
                    self.clear(*oldest)
                except KeyError:
                    continue  # it was taken out, or had run out, before
        return kept


_jar = Jar()
_held = threading.local()
"""By thread, the session that `get_session` gives."""


class LaneSession(requests.Session):
    """A pooled session on one lane; without one, each request goes by its own host's."""

    def __init__(self, lane: str = "", profile: str = PLAIN) -> None:
        super().__init__()
        self._lane = lane
        self.trust_env = lane != LAN
        if profile == BROWSER:
            self.headers.update(HEADERS)
            self.cookies = _jar
        else:
            self.cookies = RequestsCookieJar(policy=DefaultCookiePolicy(allowed_domains=()))

    def request(self, method: Any, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        """As `requests` has it; on the lane of this network no redirect is followed unless `allow_redirects` says so."""
        if len(args) <= _POSITIONAL:
            kwargs.setdefault("allow_redirects", self._lane != LAN)
        return super().request(method, url, *args, **kwargs)

    def get(self, url: Any, params: Any = None, **kwargs: Any) -> requests.Response:
        """The same for GET."""
        return self.request("GET", url, params=params, **kwargs)

    def options(self, url: Any, **kwargs: Any) -> requests.Response:
        """The same for OPTIONS."""
        return self.request("OPTIONS", url, **kwargs)

    def send(self, request: requests.PreparedRequest, **kwargs: Any) -> requests.Response:
        """Send one request, by its lane. Raises what `requests` raises, and SocksAuthError."""
        if self._lane != WAN and lane_of(request.url) == LAN:
            kwargs["proxies"] = {}
        elif getattr(settings.config(), "SOCKS_ENABLED", False):
            kwargs["proxies"] = dict.fromkeys(("http", "https", "all"), _proxy())
        try:
            return super().send(request, **kwargs)
        except RequestException as error:
            if any(type(one).__name__ == "SOCKS5AuthError" for one in causes(error)):
                raise SocksAuthError("The SOCKS proxy refused the user name or the password.") from error
            raise

    def rebuild_proxies(self, prepared_request: requests.PreparedRequest, proxies: Any) -> Any:
        """As `requests` has it, but the proxy's password is for the proxy, and never for whom a redirect leads to."""
        rebuilt = super().rebuild_proxies(prepared_request, proxies)
        prepared_request.headers.pop("Proxy-Authorization", None)
        return rebuilt


def request(method: str, url: str, profile: str = PLAIN, **kwargs: Any) -> requests.Response:
    """One request by its lane. Raises InvalidURL for what is no address."""
    with LaneSession(lane_of(url), profile) as session:
        return session.request(method, url, **kwargs)


def session_for(url: str, profile: str = PLAIN) -> LaneSession:
    """A pooled session that is fixed to this address's lane. Raises InvalidURL."""
    return LaneSession(lane_of(url), profile)


def wan_session(profile: str = BROWSER) -> LaneSession:
    """A pooled session on the wide lane, for when there is no address yet."""
    return LaneSession(WAN, profile)


def get_session() -> LaneSession:
    """The thread's own session with a browser's headers; each request goes by its lane."""
    if getattr(_held, "session", None) is None:
        _held.session = LaneSession("", BROWSER)
    session: LaneSession = _held.session
    return session


def clear_session_cache() -> None:
    """The next `get_session` of this thread gives a fresh one."""
    session = getattr(_held, "session", None)
    _held.session = None
    if session is not None:
        session.close()


def lane_of(url: object) -> str:
    """The lane of an address, by the host that `requests` would connect to. Raises InvalidURL for what is no address."""
    if isinstance(url, bytes):
        url = url.decode("utf-8", "replace")
    try:
        prepared = requests.Request("GET", url if isinstance(url, str) else "").prepare().url
        host = parse_url(prepared or "").host
    except (ValueError, RequestException) as error:
        raise InvalidURL(str(error)) from None
    if not host:
        raise InvalidURL(f"Invalid URL {url!r}: No host supplied")
    return classify(host)


def _proxy() -> str:
    """The owner's proxy. Raises ProxyError where this worker was not told it: nothing then goes beside it."""
    if not _PROXY:
        raise ProxyError("The SOCKS proxy is on, and this plugin was started without it.")
    return _PROXY
