"""One MCP server's table in the settings, read: what to start, with the environment's values in the places that name them.

Above: `servers`. Below: the settings. It refuses to know: connections.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from etui.errors import SettingError
from etui.settings import McpServer

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def read(name: str, table: Mapping[str, object], environ: Mapping[str, str], home: Path) -> McpServer:
    """The server as it is to be started. Raises SettingError with what is wrong with its table."""
    if not NAME.fullmatch(name):
        raise SettingError(
            f"An MCP server cannot be called {name[:80]!r}: a name begins with a letter and has at most 32 letters, digits, "
            "underscores and hyphens."
        )
    try:
        server = msgspec.convert(dict(table), McpServer)
    except msgspec.ValidationError as error:
        raise SettingError(f"The table of the MCP server {name!r} cannot be used: {error}.") from None
    if bool(server.command) == bool(server.url):
        raise SettingError(f"The MCP server {name!r} needs either a `command` or a `url`.")
    if server.url and not server.url.startswith(("http://", "https://")):
        raise SettingError(f"The address of the MCP server {name!r} must begin with http:// or https://.")

    def put(text: str) -> str:
        return _VARIABLE.sub(lambda found: _value(name, found.group(1), environ), text)

    return McpServer(
        command=str(Path(put(server.command)).expanduser()) if server.command.startswith("~") else put(server.command),
        args=tuple(put(one) for one in server.args),
        env={key: put(value) for key, value in server.env.items()},
        cwd=str(home / Path(put(server.cwd)).expanduser()) if server.cwd else "",
        url=put(server.url),
        headers={key: put(value) for key, value in server.headers.items()},
    )


def _value(server: str, name: str, environ: Mapping[str, str]) -> str:
    if name not in environ:
        raise SettingError(f"The MCP server {server!r} needs the variable {name!r}, which Etui's environment does not have.")
    return environ[name]


def secrets_of(server: McpServer) -> tuple[str, ...]:
    """What was handed to it and is never to be shown again."""
    return tuple(value for value in (*server.env.values(), *server.headers.values()) if len(value) >= 6)
