"""A real HTTP server on this machine, whose answers a test gives."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, dict[str, str], bytes]
Respond = Callable[[str, dict[str, str]], Answer]


class Server:
    """Where it listens, and what it was asked."""

    def __init__(self, address: str) -> None:
        self.url = address
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.headers: list[dict[str, str]] = []


@contextmanager
def serving(respond: Respond, host: str = "127.0.0.1") -> Iterator[Server]:
    """A server that answers each GET with `respond(path, query)`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            server.asked.append((parts.path, query))
            server.headers.append(dict(self.headers))
            status, headers, body = respond(parts.path, query)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except ConnectionError:
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            """Nothing."""

    listening = ThreadingHTTPServer((host, 0), Handler)
    listening.daemon_threads = True
    server = Server(f"http://{host}:{listening.server_address[1]}")
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()
