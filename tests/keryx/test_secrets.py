"""Where the secrets of plugins are kept: the system's keyring, else one sealed file for the owner alone."""

from __future__ import annotations

import sys
import tomllib
import types
from pathlib import Path

import pytest

from etui.errors import EtuiError, UsageError
from etui.home import write_private
from etui.owner.grants import Grants
from etui.owner.secrets import Ring, Secrets, system_ring
from etui.store import Store
from etui.tool import Grant


class Memory:
    """A keyring that keeps what it is given; while it is locked it fails as keyrings do."""

    priority = 5

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        self._open()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._open()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._open()
        del self.kept[service, username]

    def _open(self) -> None:
        if self.locked:
            raise RuntimeError("locked")


def at(path: Path, ring: Ring | None = None) -> Secrets:
    return Secrets(path / "secrets.toml", lambda: ring, write_private)


def test_without_a_keyring_a_file_keeps_them_for_the_owner_alone(tmp_path):
    at(tmp_path).give("home.a", "TOKEN", " first \n")
    at(tmp_path).give("home.b", "KEY", 'two"\\')
    again = at(tmp_path)
    assert dict(again.of("home.a")) == {"TOKEN": "first"} and dict(again.of("home.b")) == {"KEY": 'two"\\'}
    assert again.of("home.c") == {}
    assert (tmp_path / "secrets.sealed").stat().st_mode & 0o777 == 0o600
    again.forget("home.a")
    assert at(tmp_path).of("home.a") == {} and dict(at(tmp_path).of("home.b")) == {"KEY": 'two"\\'}


def test_a_keyring_keeps_them_and_the_file_only_says_which(tmp_path):
    ring = Memory()
    at(tmp_path, ring).give("home.a", "TOKEN", "first")
    assert tomllib.loads((tmp_path / "secrets.toml").read_text()) == {"home.a": {"TOKEN": True}}
    assert list(ring.kept.values()) == ["first"]
    assert at(tmp_path, ring).of("home.a") == {"TOKEN": "first"}
    at(tmp_path, ring).forget("home.a")
    assert ring.kept == {} and at(tmp_path, ring).of("home.a") == {}


def test_what_a_locked_keyring_does_not_give_is_not_lost(tmp_path):
    ring = Memory()
    at(tmp_path, ring).give("home.a", "TOKEN", "first")
    ring.locked = True
    locked = at(tmp_path, ring)
    assert locked.of("home.a") == {}
    locked.give("home.b", "KEY", "two")
    assert tomllib.loads((tmp_path / "secrets.toml").read_text()) == {"home.a": {"TOKEN": True}}
    ring.locked = False
    unlocked = at(tmp_path, ring)
    assert unlocked.of("home.a") == {"TOKEN": "first"} and unlocked.of("home.b") == {"KEY": "two"}


def test_a_spoilt_file_hands_nothing_out_and_is_never_written_over(tmp_path):
    (tmp_path / "secrets.toml").write_text("= spoilt")
    secrets = at(tmp_path)
    assert secrets.of("home.a") == {} and "cannot be read" in secrets.trouble()
    with pytest.raises(EtuiError, match="cannot be read"):
        secrets.give("home.a", "TOKEN", "first")
    assert (tmp_path / "secrets.toml").read_text() == "= spoilt"


@pytest.mark.parametrize("value", ["", "  \n", "a\nb", "a\0b", "x" * 9000])
def test_what_is_no_line_of_text_is_no_secret(tmp_path, value):
    with pytest.raises(UsageError, match="TOKEN must be one line of text"):
        at(tmp_path).give("home.a", "TOKEN", value)
    assert list(tmp_path.iterdir()) == []


def test_a_secret_is_handed_to_its_plugin_and_marks_it_changed(tmp_path):
    secrets = at(tmp_path)
    with_one = Grants(Store.open(":memory:").values, {"OTHER": "o"}, "", secrets)
    assert with_one.mark("home.a") == "" and with_one.of("home.a", Grant()).env == ()
    secrets.give("home.a", "TOKEN", "first")
    first = with_one.mark("home.a")
    assert with_one.of("home.a", Grant()).env == ("TOKEN",) and with_one.environment("home.a") == {"TOKEN": "first"}
    assert with_one.of("home.b", Grant()).env == () and with_one.environment("home.b") == {}
    with_one.give("home.a", "OTHER")
    assert with_one.environment("home.a") == {"OTHER": "o", "TOKEN": "first"}
    secrets.give("home.a", "TOKEN", "two")
    assert first and with_one.mark("home.a") != first and "first" not in first


def test_the_systems_keyring_is_taken_where_somebody_is_logged_in_and_it_keeps_anything(monkeypatch):
    made = types.ModuleType("keyring")
    ring = Memory()
    made.get_keyring = lambda: ring
    monkeypatch.setitem(sys.modules, "keyring", made)
    here = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/bus", "HOME": "/home/me"}
    assert system_ring(here) is ring
    assert system_ring({}) is None
    ring.priority = 0
    assert system_ring(here) is None
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert system_ring(here) is None
