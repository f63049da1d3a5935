"""Where things are kept: `ETUI_HOME`, its folders, and the configuration file.

Above: `host` and the command line. Below: `settings`. It refuses to know: what is in the folders.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import zoneinfo
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import platformdirs
import tomlkit
from tomlkit.exceptions import TOMLKitError

from etui import settings
from etui.errors import EtuiError, SettingError
from etui.settings import Settings, Unread

HEADER = """\
# Etui's settings. `etui config` lists every one with what it does; `etui config NAME VALUE` writes here.
"""


class Home:
    """One folder that holds everything of one Etui."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "config.toml"
        self.tools = path / "tools"
        self.plugins = path / "plugins"
        self.keryx = path / "keryx" / "tools"
        self.sapphire = path / "sapphire"
        self.files = path / "files"
        self.secrets = path / "secrets.toml"
        self.accounts = path / "accounts.toml"
        self.hidden_settings = path / "settings.secrets.toml"
        self.key = path / "key"
        self.database = path / "etui.db"
        self.good = path / "cache" / "good"
        self.accepted = path / "accepted"
        self.vectors = path / "cache" / "vectors.npz"
        self.env = path / "env"
        self.door = path / "run.json"
        self._lock = path / "lock"

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> Home:
        """`ETUI_HOME`, or the platform's data folder."""
        named = environ.get("ETUI_HOME")
        return cls(Path(named).expanduser().absolute() if named else Path(platformdirs.user_data_dir("etui", appauthor=False)))

    def make(self) -> None:
        """Make the folders, for the owner's eyes only. Raises EtuiError where that cannot be done."""
        try:
            for folder in (self.path, self.tools, self.plugins, self.files):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise EtuiError(
                f"Etui cannot keep its things in {str(self.path)!r}: {error.strerror}. "
                "Name a folder that you may write in ETUI_HOME."
            ) from None

    def read(
        self, environ: Mapping[str, str], overrides: Mapping[str, object] | None = None
    ) -> tuple[Settings, list[SettingError]]:
        """The settings in force, and what could not be used."""
        try:
            text = self.config.read_bytes().decode() if self.config.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            # Not knowing the rules is no reason to have none.
            values, errors = settings.read("=", environ, overrides)
            return values, [Unread(f"The configuration file {str(self.config)!r} cannot be read: {error}."), *errors[1:]]
        return settings.read(text, environ, overrides)

    def stamp(self) -> tuple[int, int, int] | None:
        """Something that changes with the configuration file; None where there is none."""
        try:
            found = self.config.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def write(self, name: str, value: object) -> None:
        """Put one setting into the file and keep everything else of it, comments too. None removes it. Raises SettingError."""
        if value is not None:
            value = settings.check(name, value)
        else:
            settings.row(name)
        try:
            text = self.config.read_text() if self.config.exists() else HEADER
            document = tomlkit.parse(text)
        except (OSError, UnicodeDecodeError, TOMLKitError) as error:
            raise SettingError(f"{str(self.config)!r} cannot be read, so nothing was written: {error}.") from None
        if value is None:
            document.pop(name, None)
        else:
            document[name] = _plain(value)
        write_private(self.config, tomlkit.dumps(document).encode())

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder: one host at a time. Raises EtuiError when another one holds it."""
        handle = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise EtuiError(
                    f"Another Etui is running on {str(self.path)!r}. Stop it first, or use another ETUI_HOME."
                ) from None
            yield
        finally:
            os.close(handle)


def machine_zone(environ: Mapping[str, str]) -> str:
    """The IANA name of the machine's time zone; UTC where it does not say."""
    wanted = [environ.get("TZ", "").lstrip(":")]
    with contextlib.suppress(OSError):
        wanted.append(str(Path("/etc/localtime").resolve()).rpartition("zoneinfo/")[2])
    with contextlib.suppress(OSError, UnicodeDecodeError):
        wanted.append(Path("/etc/timezone").read_text().strip())
    return next((name for name in wanted if _is_zone(name)), "UTC")


def _is_zone(name: str) -> bool:
    try:
        return bool(name) and zoneinfo.ZoneInfo(name).key == name
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False


def _plain(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return {key: item for key, item in msgspec.to_builtins(value).items() if item != ""}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def write_private(path: Path, content: bytes) -> None:
    """Write a file for the owner's eyes only, whole or not at all. Raises SettingError where that cannot be done."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # What it replaces may be the only other copy.
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink()
            raise
    except OSError as error:
        raise SettingError(f"{str(path)!r} cannot be written: {error.strerror}.") from None
