"""Starting the console: the socket, the one-time address, the owner's file, and the end in good order.

Above: the terminal's `etui serve`. Below: uvicorn and `app`. It refuses to know: what is served.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import uvicorn

from etui.errors import UsageError
from etui.surfaces.web.app import make_app
from etui.surfaces.web.needs import House
from etui.surfaces.web.stream import Streams
from etui.surfaces.web.tokens import Tokens

RUN_FILE = "run.json"
"""Where the terminal finds a running host: port, pid, address and the owner's token."""


PATIENCE = 0.5
"""Seconds that a page has, when the host ends, to read what was sent to it."""


class Server(uvicorn.Server):
    """uvicorn's server; it ends quietly and at once when told to, and open streams do not hold it up."""

    def __init__(self, config: uvicorn.Config, streams: Streams, ready: Callable[[], None], signals: bool) -> None:
        super().__init__(config)
        self._streams = streams
        self._ready = ready
        self._signals = signals
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def main_loop(self) -> None:
        """Serve until it is over; once a second is enough for the header with the date."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self._over.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams first: they would never end by themselves; and whoever does not read is not waited for."""
        self._streams.close()
        self._loop.call_later(PATIENCE, self._abandon)
        await super().shutdown(sockets)

    def _abandon(self) -> None:
        for connection in list(self.server_state.connections):
            transport = getattr(connection, "transport", None)
            if isinstance(transport, asyncio.Transport) and transport.get_write_buffer_size():
                transport.abort()

    def end(self) -> None:
        """Let it be over; from any thread and from signal handlers."""
        self.should_exit = True
        self._loop.call_soon_threadsafe(self._over.set)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal; the second Ctrl-C does not wait for open requests."""
        super().handle_exit(sig, frame)
        self.end()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take Ctrl-C and SIGTERM as the wish to end; the caller goes on and closes the host."""
        ours = self._signals and threading.current_thread() is threading.main_thread()
        before = [(one, signal.signal(one, self.handle_exit)) for one in (signal.SIGINT, signal.SIGTERM) if ours]
        try:
            yield
        finally:
            for one, handler in before:
                signal.signal(one, handler)


async def serve(
    host: House,
    listen: str,
    port: int,
    open_browser: bool,
    *,
    tell: Callable[[str], None] | None = None,
    signals: bool = True,
) -> None:
    """Serve the console until a signal or a cancellation, and end in good order either way.

    `tell` gets the one-time address once it answers; without `signals` they are left to the caller. Raises UsageError where the
    address cannot be had.
    """
    taken = bind(listen, port)
    port = taken.getsockname()[1]
    tokens = Tokens(host.store.values)
    address = f"http://{_shown(listen)}:{port}"
    link = f"{address}/login/{tokens.link()}"
    names = () if _is_loopback(listen) else _names(listen)
    app = make_app(host, tokens=tokens, port=port, names=names)
    run_file = host.home / RUN_FILE

    def ready() -> None:
        host.addressed(address)
        write_run_file(run_file, port=port, address=address, token=tokens.owner)
        (tell or _print)(link)
        if open_browser and _has_screen():
            asyncio.get_running_loop().run_in_executor(None, webbrowser.open, link)

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="on",
        ws="none",
        http="h11",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=5,
        log_config=None,
    )
    server = Server(config, app.state.streams, ready, signals)
    serving = asyncio.create_task(server.serve([taken]), name="console")
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.end()
        await serving
        raise
    finally:
        taken.close()
        remove_run_file(run_file)


def bind(listen: str, port: int) -> socket.socket:
    """A listening socket of our own. Raises UsageError with what to do."""
    family = socket.AF_INET6 if ":" in listen else socket.AF_INET
    # The protocol is named because asyncio sends at once (TCP_NODELAY) only where it is.
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((listen, port))
        taken.listen(128)
        taken.setblocking(False)
    except (OSError, OverflowError) as error:
        taken.close()
        raise UsageError(
            f"The console cannot listen on {listen!r}, port {port}: is something else there? Choose another port with "
            f"PORT= or the setting 'port'. ({error})"
        ) from None
    return taken


def write_run_file(path: Path, *, port: int, address: str, token: str) -> None:
    """Write the owner's file, readable by the owner alone from its first moment."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"port": port, "pid": os.getpid(), "address": address, "token": token}, file)
    fresh.replace(path)


def remove_run_file(path: Path) -> None:
    """Take the owner's file away, if it is still ours."""
    with contextlib.suppress(OSError, ValueError):
        if json.loads(path.read_text("utf-8")).get("pid") == os.getpid():
            path.unlink()


def _is_loopback(listen: str) -> bool:
    if listen == "localhost":
        return True
    try:
        return ipaddress.ip_address(listen).is_loopback
    except ValueError:
        return False


def _shown(listen: str) -> str:
    if listen in ("0.0.0.0", "::"):
        return "127.0.0.1"
    return f"[{listen}]" if ":" in listen else listen


def _names(listen: str) -> tuple[str, ...]:
    """The address itself; for "every address" none, so that the owner names the ones that browsers may use."""
    return () if listen in ("0.0.0.0", "::") else (_shown(listen),)


def _has_screen() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _print(link: str) -> None:
    sys.stdout.write(f"Etui is here: {link}\n")
    sys.stdout.flush()
