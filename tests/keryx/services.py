"""Real HTTP servers on this machine that answer as Home Assistant, SearXNG and Brave document it."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit


class Asked(NamedTuple):
    """One request."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


Answer = tuple[int, Any]
"""A status, and what is sent: text as it is, headers of a redirect as `(301, {"location": ...})`, else JSON."""


class Service:
    """Where it listens, and what it was asked."""

    def __init__(self, address: str) -> None:
        self.url = address
        self.asked: list[Asked] = []


@contextmanager
def service(respond: Callable[[Asked], Answer], certificate: ssl.SSLContext | None = None) -> Iterator[Service]:
    """A server on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            sent = self.rfile.read(int(self.headers.get("content-length", 0)))
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, parts.path, query, headers, json.loads(sent) if sent else None)
            made.asked.append(asked)
            status, value = respond(asked)
            self.send_response(status)
            if 300 <= status < 400:
                for name, text in value.items():
                    self.send_header(name, text)
                value = ""
            content = value.encode() if isinstance(value, str) else json.dumps(value).encode()
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *args: object) -> None:
            """Nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that does not trust the certificate hangs up."""

    listening = Quiet(("127.0.0.1", 0), Handler)
    if certificate is not None:
        listening.socket = certificate.wrap_socket(listening.socket, server_side=True)
    made = Service(f"{'https' if certificate else 'http'}://127.0.0.1:{listening.server_address[1]}")
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


TOKEN = "eyJhbGciOiJIUzI1NiJ9.long-lived"


def entity(id: str, state: str, name: str = "", **attributes: Any) -> dict[str, Any]:
    """One row of `/api/states`, as the REST API's page shows it."""
    return {
        "entity_id": id,
        "state": state,
        "attributes": {**({"friendly_name": name} if name else {}), **attributes},
        "last_changed": "2026-11-30T09:00:00.000000+00:00",
        "last_reported": "2026-11-30T09:00:00.000000+00:00",
        "last_updated": "2026-11-30T09:00:00.000000+00:00",
        "context": {"id": "01HXYZ", "parent_id": None, "user_id": None},
    }


STATES = [
    entity("light.kitchen", "on", "Kitchen", brightness=153, color_mode="hs", supported_color_modes=["hs"]),
    entity("light.kitchen_table", "off", "Kitchen table", brightness=None, supported_color_modes=["brightness"]),
    entity("light.hue_7", "off", "Hue color lamp 7"),
    entity("light.cellar", "unavailable", "Cellar"),
    entity("switch.coffee_maker", "off", "Coffee maker"),
    entity("fan.bedroom", "off", "Bedroom"),
    entity("scene.movie_night", "2026-11-29T20:00:00+00:00", "Movie night"),
    entity("scene.bright", "unknown", "Bright"),
    entity("sensor.outside", "7.4", "Outside temperature", unit_of_measurement="°C", device_class="temperature"),
    entity("binary_sensor.front_door", "off", "Front door", device_class="door"),
    entity("lock.front_lock", "locked", "Front lock"),
    entity("sun.sun", "above_horizon"),
]


def home_assistant(asked: Asked) -> Answer:
    """Answers as Home Assistant's REST API."""
    if asked.headers.get("authorization") != f"Bearer {TOKEN}":
        return 401, "401: Unauthorized"
    if asked.method == "GET" and asked.path == "/api/states":
        return 200, STATES
    domain, _, act = asked.path.removeprefix("/api/services/").partition("/")
    if asked.method == "POST" and act:
        ids = asked.body["entity_id"] if isinstance(asked.body["entity_id"], list) else [asked.body["entity_id"]]
        rows = [row for row in STATES if row["entity_id"] in ids and domain != "scene"]
        known = {"turn_on": "on", "turn_off": "off"}
        turned = {"on": "off", "off": "on"}
        return 200, [{**row, "state": known.get(act) or turned.get(row["state"], "off")} for row in rows]
    return 404, {"message": "Entity not found."}


SEARXNG = {
    "query": "opening hours city library",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://www.library.example/hours",
            "title": "Opening hours &amp; holidays",
            "content": "Open 10 to 19, <b>Saturdays</b> 10 to 14.",
            "publishedDate": None,
            "engine": "duckduckgo",
            "template": "default.html",
            "parsed_url": ["https", "www.library.example", "/hours", "", "", ""],
            "engines": ["duckduckgo", "brave"],
            "positions": [1, 2],
            "score": 4.0,
            "category": "general",
        },
        {"url": "https://city.example/", "title": "City", "content": "The city.", "engine": "bing", "score": 1.0},
        {"url": "javascript:alert(1)", "title": "Bad", "content": "no site"},
    ],
    "answers": [{"url": "https://x.example", "engine": "wiki", "answer": "Until seven in the evening.", "template": "answer"}],
    "corrections": [],
    "infoboxes": [],
    "suggestions": ["city library parking"],
    "unresponsive_engines": [["google", "CAPTCHA"]],
}
BRAVE = {
    "type": "search",
    "query": {"original": "opening hours city library", "more_results_available": True},
    "mixed": {"type": "mixed", "main": [{"type": "web", "index": 0, "all": False}], "top": [], "side": []},
    "web": {
        "type": "search",
        "results": [
            {
                "title": "Opening hours",
                "url": "https://www.library.example/hours",
                "is_source_local": False,
                "description": "Open <strong>10 to 19</strong> &#x27;daily&#x27;.",
                "page_age": "2026-11-01T00:00:00",
                "profile": {"name": "Library", "long_name": "library.example"},
                "language": "en",
                "family_friendly": True,
                "type": "search_result",
                "subtype": "generic",
            }
        ],
        "family_friendly": True,
    },
}
