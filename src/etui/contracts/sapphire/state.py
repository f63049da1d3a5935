"""`get_plugin_state`: a plugin's own keys and JSON values, in one file under `user/plugin_state/`, whole at every moment.

Threads share one object, and processes one lock beside the file; a change reads the file anew, and puts a new one in its
place. Above: `names/core/plugin_loader`. Below: `current`, files. It refuses to know: what is kept.
"""

from __future__ import annotations

import copy
import fcntl
import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from etui.contracts.sapphire import current, telling

NAME = re.compile(r"[^\W_][\w. -]{0,99}")
"""What a state can be called: its file is named after it."""
_known: dict[str, PluginState] = {}
_knowing = threading.Lock()


def of(name: str) -> PluginState:
    """The state of the plugin with that name; always the same object. Raises ValueError for what is no name."""
    with _knowing:
        if name not in _known:
            _known[name] = PluginState(name)
        return _known[name]


def checked(name: object) -> str:
    """The name of a plugin. Raises ValueError for what cannot be one."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ValueError(f"{str(name)[:80]!r} is no plugin's name")
    return name


class PluginState:
    """One plugin's state."""

    def __init__(self, name: str) -> None:
        self.name = checked(name)
        self.path: Path = current.root() / "user" / "plugin_state" / f"{self.name}.json"
        self._lock = threading.RLock()
        self._held = 0
        self._draft: dict[str, Any] | None = None
        """The values while they are changed."""
        self._seen: tuple[int, int, int] | None = None
        self._values: dict[str, Any] = {}
        """What the file held when it was `_seen`."""

    def get(self, key: str, default: Any = None) -> Any:
        """The value under a key, yours to change; the default where there is none."""
        with self._lock:
            values, key = self._fresh(), str(key)
            return copy.deepcopy(values[key]) if key in values else default

    def save(self, key: str, value: Any) -> None:
        """Keep a value; it is in the file when this returns. Raises TypeError or ValueError for what JSON has no word for."""
        kept = json.loads(json.dumps(value, allow_nan=False))
        with self._changing() as values:
            values[str(key)] = kept

    def delete(self, key: str) -> bool:
        """Forget a key; False if there was none."""
        with self._changing() as values:
            return values.pop(str(key), _MISSING) is not _MISSING

    def all(self) -> dict[str, Any]:
        """Everything, yours to change."""
        with self._lock:
            return copy.deepcopy(self._fresh())

    def clear(self) -> None:
        """Forget everything."""
        with self._changing() as values:
            values.clear()

    def update_with_lock(self, key: str, mutator: Callable[[Any], Any], default: Any = None) -> Any:
        """Keep what `mutator` makes of the value, while nobody else may change anything; gives the new value."""
        key = str(key)
        with self._changing() as values:
            made = mutator(copy.deepcopy(values[key]) if key in values else default)
            values[key] = json.loads(json.dumps(made, allow_nan=False))
            return made

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        """The values, to be changed and then written, unless an exception ends it; nobody else changes them meanwhile."""
        with self._lock, self._alone():
            outermost = self._draft is None
            if self._draft is None:
                self._draft = dict(self._fresh())  # what lies in it is never changed in place
            try:
                yield self._draft
                self._write(self._draft)
            finally:
                if outermost:
                    self._draft = None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock that processes share; one thread may do so several times at once."""
        if self._held:
            self._held += 1
            try:
                yield
            finally:
                self._held -= 1
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.path.parent / f".{self.name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            self._held = 1
            yield
        finally:
            self._held = 0
            os.close(handle)

    def _fresh(self) -> dict[str, Any]:
        """What the file holds now."""
        if self._draft is not None:
            return self._draft
        try:
            found = self.path.stat()
            stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
            if stamp != self._seen:
                self._values = self._read()
                self._seen = stamp
        except FileNotFoundError:
            self._seen, self._values = None, {}
        return self._values

    def _read(self) -> dict[str, Any]:
        try:
            return _values(self.path)
        except (ValueError, RecursionError):
            with self._alone():  # another process may be putting a whole one in its place
                return self._read_alone()

    def _read_alone(self) -> dict[str, Any]:
        try:
            return _values(self.path)
        except (ValueError, RecursionError) as error:
            stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 1_000_000:06d}"
            aside = self.path.with_name(f"{self.path.name}.bad-{stamp}")
            self.path.rename(aside)
            telling.note(
                f"The state of plugin {self.name!r} could not be read, so it began anew; the old file is {aside.name!r}.",
                str(error),
            )
            return {}

    def _write(self, values: dict[str, Any]) -> None:
        # Whoever writes is alone, so what a killed one left behind is simply written over.
        temporary = self.path.with_name(f".{self.name}.tmp")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
            json.dump(values, file, ensure_ascii=False, allow_nan=False, indent=1)
            file.flush()
            found = os.fstat(file.fileno())
        temporary.replace(self.path)
        self._values = dict(values)
        self._seen = (found.st_ino, found.st_mtime_ns, found.st_size)


def _values(path: Path) -> dict[str, Any]:
    """What the file holds. Raises ValueError for anything but an object, FileNotFoundError."""
    values = json.loads(path.read_bytes())
    if not isinstance(values, dict):
        raise ValueError("it holds no object")
    return values


_MISSING = object()
