"""`keryx.config` as tool files know it: where the data lies, and whether there is a PIN. Never the PIN itself.

Above: `custom`, `names`. Below: the standard library. It refuses to know: Keryx's many other settings, and any secret.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_NO = frozenset({"0", "false", "f", "no", "n", "off"})


class Pin:
    """Stands where Keryx has the digits: true if a PIN is set, and nothing more."""

    def __init__(self, is_set: bool) -> None:
        self._is_set = is_set

    def __bool__(self) -> bool:
        return self._is_set

    def __repr__(self) -> str:
        return "<set>" if self._is_set else "<not set>"


class Settings:
    """What a tool file may know of how its host is set up. What is not said follows the host, then the environment."""

    def __init__(
        self,
        *,
        data_dir: str | os.PathLike[str] | None = None,
        pin: object = None,
        owner_label: str | None = None,
        briefing_before_pin: bool | None = None,
    ) -> None:
        facts = _host
        self.data_dir = Path(data_dir or str(facts.get("data_dir") or "") or _usual()).expanduser()
        """The folder of everything that the owner keeps."""
        self.pin = Pin(bool(facts.get("has_pin")) if pin is None else bool(pin))
        """True if there is a PIN."""
        self.owner_label = str(facts.get("owner_label") or "the owner") if owner_label is None else owner_label
        """How the owner is spoken of."""
        told = facts.get("briefing_before_pin", os.environ.get("BRIEFING_BEFORE_PIN", "true").strip().lower() not in _NO)
        self.briefing_before_pin = bool(told) if briefing_before_pin is None else briefing_before_pin
        """Whether things may be read to somebody who has not given the PIN."""

    @property
    def custom_tools_dir(self) -> Path:
        """The folder of the owner's own tools."""
        return self.data_dir / "tools"

    @property
    def reads_before_pin(self) -> bool:
        """Whether things may be read before the PIN, which there has to be."""
        return self.briefing_before_pin and bool(self.pin)

    def ensure_dirs(self) -> None:
        """Make the folders, for the owner alone. Raises OSError."""
        for folder in (self.data_dir, self.custom_tools_dir):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"The setting {name!r} is Keryx's own and has no counterpart here.", name=name, obj=self)

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def _usual() -> Path:
    """Where Keryx keeps its data."""
    if named := os.environ.get("DATA_DIR"):
        return Path(named)
    shared = os.environ.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "keryx"


_host: Mapping[str, object] = {}


def told(facts: Mapping[str, object]) -> Settings:
    """Take these as the host's in this process: data_dir, has_pin, owner_label, briefing_before_pin."""
    global _host  # one worker, one host
    _host = dict(facts)
    return Settings()
