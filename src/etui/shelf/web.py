"""A page of the web as plain text.

Above: whoever speaks to the assistant. Below: `httpx2` fetches, `trafilatura` finds the text that people came for. An
ordinary tool file with the risk "network". Every address that it connects to is checked, and the checked one is the one
connected to: this machine and the local network are refused unless the owner sets `allow_lan`. Where the owner has a proxy, it
alone looks names up, and of this network is what is spelt so. It refuses to know: how to
log in, and how to run a page's scripts.
"""

from __future__ import annotations

import html
import ipaddress
import re
import socket
import time
from typing import Annotated
from urllib.parse import urljoin
from urllib.request import getproxies_environment

import httpx2

from etui import Context, Refusal, Result, ToolError, tool

MOST_BYTES = 5_000_000
MOST_SECONDS = 20.0
MOST_REDIRECTS = 5
SHOWN = 12_000
"""Characters of the page that are given unless more are asked for."""
AGENT = "Mozilla/5.0 (compatible; Etui/1; personal assistant)"
READABLE = re.compile(r"text/|application/(json|xml|xhtml|rss|atom|[\w.-]+\+(json|xml))")


class Page:
    """What was fetched."""

    def __init__(self, url: str, media_type: str, body: bytes, charset: str) -> None:
        self.url = url
        self.media_type = media_type
        self.body = body
        self.charset = charset

    @property
    def text(self) -> str:
        """The body as it was sent."""
        try:
            return self.body.decode(self.charset or "utf-8", "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")


@tool(
    risk="network",
    timeout=40,
    examples=[
        "read the page {url}",
        "open the page {url}",
        "what does the page {url} say",
        "read {url} to me",
        "fetch {url}",
        "get me the text of {url}",
        "show me the web page {url}",
        "what's on the page {url}",
        "what does it say on {url}",
        "open {url}",
    ],
)
def web_page(
    ctx: Context,
    url: Annotated[str, "Address of the page, such as https://example.org/news; https is assumed."],
    start: Annotated[int, "Character to begin at, for long pages."] = 0,
    characters: Annotated[int, "How many characters at most."] = SHOWN,
) -> Result:
    """Fetch a page of the web and give its title and main text without navigation and advertisements."""
    page = _fetch(_address(url), allow_lan=bool(ctx.settings.get("allow_lan", False)))
    title, text = _readable(page)
    if not text:
        raise ToolError(f"The page {page.url} has no text that I can read.")
    first, most = max(0, start), max(200, min(characters, 50_000))
    part = text[first : first + most]
    if not part:
        raise ToolError(f"The page's text ends at character {len(text):,}.")
    rest = len(text) - first - len(part)
    more = f"\n… {rest:,} more characters: go on with start={first + len(part)}." if rest > 0 else ""
    head = f"{title}\n\n" if title and first == 0 else ""
    return Result(f"{head}{part}{more}", data={"url": page.url, "title": title, "characters": len(text)})


def _address(said: str) -> httpx2.URL:
    """The address as a URL. Raises ToolError or Refusal with a sentence."""
    text = said.strip().strip("<>\"'").rstrip(".,")
    text = re.sub(r"\s+dot\s+", ".", text)
    if not text or re.search(r"\s", text):
        raise ToolError(f"{said.strip()[:60]!r} is no web address.")
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://", text):
        if re.match(r"(?!localhost:)[a-zA-Z][a-zA-Z0-9+-]*:(?!\d)", text):
            raise Refusal(f"I only open http and https addresses, not {text.partition(':')[0]}.")
        text = f"https://{text}"
    try:
        url = httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError, UnicodeError):
        raise ToolError(f"{text[:60]!r} is no web address.") from None
    if url.scheme not in {"http", "https"}:
        raise Refusal(f"I only open http and https addresses, not {url.scheme}.")
    if not url.host:
        raise ToolError(f"{text[:60]!r} is no web address.")
    return url.copy_with(username=None, password=None, fragment=None)


def _fetch(url: httpx2.URL, *, allow_lan: bool) -> Page:
    """The page at the end of the redirects, each hop of which is checked. Raises ToolError or Refusal with a sentence."""
    deadline = time.monotonic() + MOST_SECONDS
    for _ in range(MOST_REDIRECTS + 1):
        proxy = None if _is_local(url.host) else getproxies_environment().get("all")
        with httpx2.Client(timeout=10.0, follow_redirects=False, trust_env=False, proxy=proxy) as client:
            answer = _ask(client, url, url.host if proxy else _resolved(url, allow_lan), deadline)
        if isinstance(answer, Page):
            return answer
        url = _address(answer)
    raise ToolError(f"{url.host} sends me from page to page without end.")


def _ask(client: httpx2.Client, url: httpx2.URL, address: str, deadline: float) -> Page | str:
    """The page, or the address that it redirects to."""
    headers = {"Host": url.netloc.decode("ascii"), "User-Agent": AGENT, "Accept": "text/html,text/plain;q=0.9,*/*;q=0.5"}
    request = client.build_request("GET", url.copy_with(host=address), headers=headers, extensions={"sni_hostname": url.host})
    request.extensions["timeout"] = httpx2.Timeout(10.0).as_dict()
    try:
        response = client.send(request, stream=True)
        try:
            if response.is_redirect and response.headers.get("location"):
                return urljoin(str(url), response.headers["location"])
            return _page(url, response, deadline)
        finally:
            response.close()
    except httpx2.TimeoutException:
        raise ToolError(f"{url.host} takes too long to answer.") from None
    except httpx2.HTTPError:
        raise ToolError(f"I can't reach {url.host}: the connection failed.") from None


def _page(url: httpx2.URL, response: httpx2.Response, deadline: float) -> Page:
    if response.status_code >= 400:
        reasons = {
            401: "it wants a login",
            403: "it refuses me",
            404: "there is no such page",
            410: "the page is gone",
            429: "it is too busy",
        }
        reason = reasons.get(response.status_code) or (
            "its server has a fault" if response.status_code >= 500 else "it refuses the request"
        )
        raise ToolError(f"{url.host} answers {response.status_code}: {reason}.")
    media_type = response.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    if not READABLE.match(media_type):
        raise ToolError(f"That address gives {media_type or 'something'} and no text, which I can't read out.")
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > MOST_BYTES:
            raise ToolError(f"The page is larger than {MOST_BYTES // 1_000_000} MB, which is too much for me.")
        if time.monotonic() > deadline:
            raise ToolError(f"{url.host} takes too long to send the page.")
    return Page(str(url), media_type, bytes(body), response.charset_encoding or "")


def _resolved(url: httpx2.URL, allow_lan: bool) -> str:
    """An address of the host that may be connected to; if one of them may not, none may. Raises ToolError or Refusal."""
    port = url.port or {"http": 80, "https": 443}[url.scheme]
    try:
        found = socket.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ToolError(f"I can't find {url.host[:80]}: there is no such host, or this machine is offline.") from None
    addresses = [str(entry[4][0]).partition("%")[0] for entry in found]
    if not allow_lan and not all(_is_public(address) for address in addresses):
        raise Refusal(
            f"{url.host[:80]} is on this machine or the local network, which I only open if the owner sets 'allow_lan'."
        )
    return addresses[0]


def _is_local(host: str) -> bool:
    """Whether a host is spelt as one of this machine or its network."""
    try:
        return not _is_public(host)
    except ValueError:
        pass
    try:
        return not _is_public(socket.inet_ntoa(socket.inet_aton(host)))
    except OSError:
        name = host.rstrip(".").lower()
        return "." not in name or name.endswith((".local", ".lan", ".home.arpa", ".internal", ".localhost"))


def _is_public(address: str) -> bool:
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        # An IPv4 address may be wrapped up in one of version 6.
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in ipaddress.ip_network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return _is_public(str(inner))
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def _readable(page: Page) -> tuple[str, str]:
    """The title and the text that people came for."""
    if "html" not in page.media_type and not page.body.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        return "", page.text.strip()
    import trafilatura  # half a second to import, needed only once there is a page

    text = trafilatura.extract(page.text, url=page.url, include_comments=False, include_tables=True, favor_recall=True)
    found = re.search(r"<title[^>]*>(.*?)</title>", page.text, flags=re.IGNORECASE | re.DOTALL)
    title = " ".join(html.unescape(found[1]).split())[:200] if found else ""
    return title, (text or _bare(page.text)).strip()


def _bare(page: str) -> str:
    """All the words of a page in which no main text was found."""
    from trafilatura import html2txt  # see above

    return str(html2txt(page) or "")
