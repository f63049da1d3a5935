"""Sealed files: what lies in them nobody reads without the key, and what cannot be opened is never lost or written over."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.keryx.test_secrets import Memory
from tests.spine.homes import host_at

from etui.errors import EtuiError, UsageError
from etui.home import write_private
from etui.owner.accounts import Accounts
from etui.owner.sealed import Cost, HomeKey, Sealed
from etui.owner.secrets import Ring, Secrets, place
from etui.store import Store

CHEAP = Cost(n=2, r=1, p=1)
VALUE = "swordfish-4711"


def home_key(home: Path, passphrase: str = "") -> HomeKey:
    return HomeKey(home / "key", passphrase, write_private, cost=CHEAP)


def at(
    home: Path,
    passphrase: str = "",
    *,
    ring: Ring | None = None,
    name: str = "secrets",
    write: Callable[[Path, bytes], None] = write_private,
) -> Secrets:
    return Secrets(home / f"{name}.toml", lambda: ring, write, home_key(home, passphrase))


def put(path: Path, content: bytes) -> None:
    """Writes as plainly as can be, for tests that write very often."""
    path.write_bytes(content)


def files(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in home.iterdir() if path.suffix != ".lock"}


def refuses(secrets: Secrets) -> str:
    """What is said by one that hands nothing out and keeps nothing; every file stays as it is."""
    home = secrets.sealed.parent
    before = files(home)
    assert secrets.of("home.a") == {}
    for change in (lambda: secrets.give("home.a", "TOKEN", "new"), lambda: secrets.forget("home.a")):
        with pytest.raises(EtuiError) as refusal:
            change()
        assert str(refusal.value) == secrets.trouble()
    assert files(home) == before
    return secrets.trouble()


def test_names_and_values_are_readable_nowhere_and_the_key_lies_in_a_file_of_its_own(tmp_path):
    at(tmp_path).give("home.lamp", "TOKEN", VALUE)
    assert sorted(files(tmp_path)) == ["key", "secrets.sealed"]
    sealed, key = tmp_path / "secrets.sealed", tmp_path / "key"
    assert sealed.stat().st_mode & 0o777 == key.stat().st_mode & 0o777 == 0o600
    for word in (VALUE.encode(), b"home.lamp", b"TOKEN", key.read_bytes().strip(), bytes.fromhex(key.read_text())):
        assert word not in sealed.read_bytes()
    assert at(tmp_path).of("home.lamp") == {"TOKEN": VALUE}


def test_a_passphrase_needs_no_key_file_and_nothing_opens_without_it(tmp_path):
    at(tmp_path, "tide and moon").give("home.a", "TOKEN", VALUE)
    assert sorted(files(tmp_path)) == ["secrets.sealed"]
    place = str(tmp_path / "secrets.sealed")
    unset = refuses(at(tmp_path))
    assert place in unset and "ETUI_KEY is not set: set it to that passphrase and start Etui again" in unset
    wrong = refuses(at(tmp_path, "tide and sun"))
    assert place in wrong and "another passphrase than the one in ETUI_KEY" in wrong
    assert "tide" not in unset + wrong
    assert at(tmp_path, "tide and moon").of("home.a") == {"TOKEN": VALUE}


def test_a_key_file_that_is_gone_spoilt_or_another_ones_loses_nothing(tmp_path):
    at(tmp_path).give("home.a", "TOKEN", VALUE)
    key = tmp_path / "key"
    right = key.read_bytes()
    key.unlink()
    gone = at(tmp_path)
    told = refuses(gone)
    assert str(tmp_path / "secrets.sealed") in told and f"{str(key)!r}, which is not there: put it back" in told
    with pytest.raises(EtuiError, match="put it back, or move that file away, and only then can a new key be made"):
        at(tmp_path, name="accounts").give("account:mail", "work", VALUE)
    assert not key.exists()
    for spoilt in (b"", b"key\n", b"ab\n", b"\xff\n"):
        key.write_bytes(spoilt)
        assert f"The key in {str(key)!r}" in refuses(at(tmp_path))
    key.write_bytes(b"00" * 32 + b"\n")
    assert f"another key than the one in {str(key)!r}" in refuses(at(tmp_path))
    key.write_bytes(right)
    assert gone.of("home.a") == {"TOKEN": VALUE}  # Without another start.


def test_a_passphrase_that_comes_later_takes_the_place_of_the_key_file(tmp_path):
    at(tmp_path).give("home.a", "TOKEN", VALUE)
    assert at(tmp_path, "tide").of("home.a") == {"TOKEN": VALUE}
    (tmp_path / "key").unlink()
    assert at(tmp_path, "tide").of("home.a") == {"TOKEN": VALUE}
    assert "sealed with a passphrase" in refuses(at(tmp_path))


def test_one_passphrase_opens_every_sealed_file_of_a_home(tmp_path):
    for name in ("secrets", "accounts"):
        at(tmp_path, "tide", name=name).give("home.a", "TOKEN", name)
    key = home_key(tmp_path, "tide")
    kept = [Secrets(tmp_path / f"{name}.toml", lambda: None, write_private, key) for name in ("secrets", "accounts")]
    assert [one.of("home.a")["TOKEN"] for one in kept] == ["secrets", "accounts"]


@settings(max_examples=60)
@given(st.data())
def test_whatever_became_of_a_file_it_is_called_damaged_and_left_alone(tmp_path_factory, data):
    home = tmp_path_factory.mktemp("home")
    at(home).give("home.a", "TOKEN", VALUE)
    sealed = home / "secrets.sealed"
    whole = sealed.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    kind = data.draw(st.sampled_from(["cut", "changed", "put in"]))
    other = bytes([data.draw(st.integers(0, 255).filter(lambda one: kind != "changed" or one != whole[place]))])
    sealed.write_bytes(
        whole[:place] + {"cut": b"", "changed": other + whole[place + 1 :], "put in": other + whole[place:]}[kind]
    )
    secrets = at(home)
    if secrets.trouble():  # White space between two parts of it changes nothing.
        told = refuses(secrets)
        assert str(sealed) in told and ("are damaged: put back a copy" in told or "are sealed with " in told)
    else:
        assert secrets.of("home.a") == {"TOKEN": VALUE}


@pytest.mark.parametrize("cost", [{"n": 3, "r": 8, "p": 1}, {"n": 2**40, "r": 8, "p": 1}, {"n": 2, "r": 8}, None])
def test_a_head_that_asks_for_senseless_work_is_a_damaged_file(tmp_path, cost):
    at(tmp_path, "tide").give("home.a", "TOKEN", VALUE)
    sealed = tmp_path / "secrets.sealed"
    shut = msgspec.json.decode(sealed.read_bytes())
    sealed.write_bytes(msgspec.json.encode({**shut, "head": {**shut["head"], "cost": cost}}))
    assert "put back a copy" in refuses(at(tmp_path, "tide")) or "another passphrase" in refuses(at(tmp_path, "tide"))


@settings(max_examples=60)
@given(st.dictionaries(st.text(), st.dictionaries(st.text(), st.text(), min_size=1), max_size=4))
def test_any_names_and_texts_come_out_as_they_went_in(tmp_path_factory, values):
    home = tmp_path_factory.mktemp("home")
    key = HomeKey(home / "key", "", put)
    Sealed(home / "a.sealed", key, put).write(values)
    assert Sealed(home / "a.sealed", key, put).read() == values


CLEAR = '["home.a"]\nTOKEN = "swordfish-4711"\nIN_RING = true\n["home.b"]\nKEY = "two"\n'


def test_an_old_file_in_the_clear_is_taken_over_once_and_removed(tmp_path):
    (tmp_path / "secrets.toml").write_text(CLEAR.replace("IN_RING = true\n", ""))
    assert at(tmp_path).of("home.a") == {"TOKEN": VALUE}
    assert sorted(files(tmp_path)) == ["key", "secrets.sealed"]
    assert at(tmp_path).of("home.b") == {"KEY": "two"}


def test_an_old_file_goes_into_the_keyring_where_there_is_one(tmp_path):
    ring = Memory()
    ring.kept[f"etui:{tmp_path}", "home.a/IN_RING"] = "rung"
    (tmp_path / "secrets.toml").write_text(CLEAR)
    assert at(tmp_path, ring=ring).of("home.a") == {"TOKEN": VALUE, "IN_RING": "rung"}
    assert sorted(files(tmp_path)) == ["secrets.toml"]
    assert VALUE not in (tmp_path / "secrets.toml").read_text() and VALUE in ring.kept.values()
    assert at(tmp_path, ring=ring).of("home.b") == {"KEY": "two"}


def failing(after: int) -> Callable[[Path, bytes], None]:
    """Writes so many files, and then the disk is full."""
    left = itertools.count(after, -1)

    def write(path: Path, content: bytes) -> None:
        if next(left) <= 0:
            raise EtuiError(f"{path} cannot be written: full.")
        write_private(path, content)

    return write


@pytest.mark.parametrize("after", [0, 1, 2])
def test_an_old_file_that_cannot_be_taken_over_stays(tmp_path, after):
    (tmp_path / "secrets.toml").write_text(CLEAR)
    full = at(tmp_path, write=failing(after))
    full._key._write = full._write
    assert "full" in full.trouble() and (tmp_path / "secrets.toml").read_text() == CLEAR
    assert at(tmp_path).of("home.a") == {"TOKEN": VALUE}
    assert "swordfish" not in (tmp_path / "secrets.toml").read_text()


@pytest.mark.parametrize("to_ring", [True, False])
@pytest.mark.parametrize("after", [0, 1, 2])
def test_between_keyring_and_file_a_secret_is_the_old_or_the_new_one_and_never_gone(tmp_path, to_ring, after):
    ring = Memory()
    at(tmp_path, ring=None if to_ring else ring).give("home.a", "TOKEN", "old")
    at(tmp_path).give("home.a", "OTHER", "stays")
    ring.locked = not to_ring
    try:
        at(tmp_path, ring=ring, write=failing(after)).give("home.a", "TOKEN", "new")
    except EtuiError as error:
        assert "full" in str(error)
    ring.locked = False
    now = at(tmp_path, ring=ring).of("home.a")
    assert now["TOKEN"] in ("old", "new") and now["OTHER"] == "stays"
    at(tmp_path, ring=ring).give("home.a", "TOKEN", "last")
    assert at(tmp_path, ring=ring).of("home.a") == {"TOKEN": "last", "OTHER": "stays"}
    assert at(tmp_path).of("home.a") == {"OTHER": "stays"}


def test_with_a_keyring_alone_there_is_neither_key_nor_sealed_file(tmp_path):
    secrets = at(tmp_path, ring=Memory())
    secrets.give("home.a", "TOKEN", VALUE)
    assert sorted(files(tmp_path)) == ["secrets.toml"]
    secrets.drop("home.a", "TOKEN")
    assert files(tmp_path) == {}


def test_many_who_write_at_once_lose_nothing_of_each_other(tmp_path):
    """Threads that share nothing but the files, and processes."""
    code = (
        "import sys; from pathlib import Path; from etui.home import write_private; from etui.owner.secrets import Secrets\n"
        "kept = Secrets(Path(sys.argv[1]) / 'secrets.toml', lambda: None, write_private)\n"
        "for number in range(5): kept.give(sys.argv[2], f'N{number}', 'value')\n"
    )
    others = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), f"home.process{one}"]) for one in range(2)]

    def write(one: int) -> None:
        secrets = at(tmp_path)
        for number in range(5):
            secrets.give(f"home.thread{one}", f"N{number}", "value")

    threads = [threading.Thread(target=write, args=(one,)) for one in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [other.wait() for other in others] == [0, 0]
    kept = at(tmp_path)
    names = [*(f"home.thread{one}" for one in range(4)), *(f"home.process{one}" for one in range(2))]
    assert [sorted(kept.of(name)) for name in names] == [[f"N{number}" for number in range(5)]] * 6


def test_what_can_be_opened_only_later_is_then_kept_out_of_what_is_said(tmp_path):
    values = Store.open(":memory:").values
    before = Accounts(at(tmp_path), values)
    before.keep("llm", "claude", {"api_key": VALUE})
    before.give("home.a", "llm", "claude")
    (tmp_path / "key").rename(tmp_path / "elsewhere")
    secrets = at(tmp_path)
    accounts = Accounts(secrets, values)
    assert accounts.hidden("home.a") == secrets.hidden("account:llm") == frozenset()
    (tmp_path / "elsewhere").rename(tmp_path / "key")
    assert accounts.get("home.a", "llm", "claude") == {"api_key": VALUE}
    assert accounts.hidden("home.a") == {VALUE}
    assert secrets.hidden("account:llm")


def test_the_owner_is_told_in_words_where_secrets_lie(tmp_path):
    secrets, key = at(tmp_path), home_key(tmp_path)
    assert place([secrets], None, key).startswith(f"no secrets yet; they will be sealed in {tmp_path}")
    assert place([secrets], Memory(), key) == "the system's keyring"
    secrets.give("home.a", "TOKEN", VALUE)
    sealed = f"sealed in {tmp_path / 'secrets.sealed'}, the key in {str(tmp_path / 'key')!r}"
    assert place([secrets], None, key) == sealed
    assert place([secrets], Memory(), key) == f"the system's keyring; what it does not keep, {sealed}"
    assert place([secrets], None, home_key(tmp_path, "tide")).endswith("the key from the passphrase in ETUI_KEY")


async def test_the_doctor_says_it_and_nobody_is_handed_the_passphrase(tmp_path):
    async with host_at(tmp_path / "home", environ={"ETUI_KEY": "tide and moon"}) as host:
        await host.packaged.install("home_assistant", {}, {"HOME_ASSISTANT_TOKEN": VALUE})
        report = await host.report.whole()
        sealed = tmp_path / "home" / "secrets.sealed"
        assert report["kept_in"]["secrets"] == f"sealed in {sealed}, the key from the passphrase in ETUI_KEY"
        with pytest.raises(UsageError, match="ETUI_KEY is not in Etui's environment"):
            host._tooling.grants.give("home.mine", "ETUI_KEY")
    async with host_at(tmp_path / "home") as host:
        [told] = [one.reason for one in host.problems.all() if one.what == "secrets"]
        assert str(sealed) in told and "ETUI_KEY is not set" in told
        assert "tide" not in told and "tide" not in str(report)
