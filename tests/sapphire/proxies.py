"""What the network's tests reach: a local server L, and a SOCKS 5 proxy P by which `w.example.net` leads to it. Real sockets.

Both count. `L.asked` are the requests as (method, path), `L.through` says of each whether it came by P; `P.names` are the names
that P was asked for.
"""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import struct
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

WIDE = "w.example.net"


class L:
    """An HTTP server that echoes what it is asked, redirects (`/to?where=ADDRESS`) and gives cookies (`/cookies?n=COUNT`)."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.through: list[bool] = []
        self.connections = 0
        self.by_proxy: set[int] = set()
        """The ports from which P connects."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def forget(self) -> None:
        """Count anew."""
        self.asked.clear()
        self.through.clear()
        self.connections = 0

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        room = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                room.connections += 1
                super().setup()

            def log_message(self, *_: Any) -> None:
                return

            def answer(self) -> None:
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                room.asked.append((self.command, parts.path))
                room.through.append(self.client_address[1] in room.by_proxy)
                body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
                told = {"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body}
                data = json.dumps(told).encode()
                self.send_response(302 if parts.path == "/to" else 200)
                if parts.path == "/to":
                    self.send_header("Location", query["where"])
                for number in range(int(query.get("n", 0)) if parts.path == "/cookies" else 0):
                    self.send_header("Set-Cookie", f"c{number + int(query.get('from', 0))}=1; Path=/")
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer

        return Handler


class P:
    """A SOCKS 5 proxy; `leads` says to which port of this machine a name leads, all others are refused."""

    def __init__(self, target: L, password: str = "") -> None:
        self.names: list[str] = []
        self.leads = {WIDE: target.port}
        self.password = password
        self.tried: list[str] = []
        self._target = target
        room = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError, IndexError, struct.error):
                    room.serve(self.request)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Be dead: from now on a connection is refused. Once more does nothing."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def serve(self, end: socket.socket) -> None:
        """One connection."""
        _, count = take(end, 2)
        methods = take(end, count)
        method = 2 if self.password else 0
        if method not in methods:
            end.sendall(b"\x05\xff")
            return
        end.sendall(bytes([5, method]))
        if method:
            user = take(end, take(end, 2)[1]).decode()
            word = take(end, take(end, 1)[0]).decode()
            self.tried.append(f"{user}:{word}")
            end.sendall(b"\x01" + (b"\x00" if word == self.password else b"\x01"))
            if word != self.password:
                return
        _, _, _, kind = take(end, 4)
        name = take(end, take(end, 1)[0]).decode() if kind == 3 else socket.inet_ntoa(take(end, 4))
        take(end, 2)
        self.names.append(name)
        if name not in self.leads:
            end.sendall(b"\x05\x02\x00\x01" + bytes(6))
            return
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            self._target.by_proxy.add(other.getsockname()[1])
            other.connect(("127.0.0.1", self.leads[name]))
            end.sendall(b"\x05\x00\x00\x01" + bytes(6))
            back = threading.Thread(target=pump, args=(other, end), daemon=True)
            back.start()
            pump(end, other)
            back.join()


def take(end: socket.socket, count: int) -> bytes:
    """Exactly so many bytes. Raises OSError where they do not come."""
    found = b""
    while len(found) < count:
        piece = end.recv(count - len(found))
        if not piece:
            raise OSError("it hung up")
        found += piece
    return found


def pump(source: socket.socket, target: socket.socket) -> None:
    """Hand on what comes until it ends."""
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def net(password: str = "") -> Iterator[tuple[L, P]]:
    """Both, while the block runs."""
    near = L()
    proxy = P(near, password)
    try:
        yield near, proxy
    finally:
        proxy.close()
        near.close()
