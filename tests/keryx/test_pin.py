"""The PIN: how it is kept and said, and how often it may be wrong."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.keryx.homes import MOON, keryx, timeless, tool
from tests.keryx.pins import RIGHT, Clock, Door, Kept, Somebody, holds, pin_in, submit
from tests.spine.homes import host_at

from etui.agent.scripted import call
from etui.errors import StoreError, UsageError
from etui.owner import pin, spoken
from etui.owner.guard import KEY, SPACE, Limits
from etui.owner.pin import Cost

GATED = tool(options='description="Do it."')
STATUSES = {"authorized", "invalid", "incomplete", "locked", "not_configured"}


@pytest.mark.promise("X238")
@pytest.mark.parametrize("digits", ["12345", "123456789", "12345a", "123 456", "", "١٢٣٤٥٦"])
async def test_what_has_not_six_to_eight_digits_is_no_pin(digits):
    door = Door()
    with pytest.raises(UsageError, match="6 to 8 digits"):
        await door.pins.set(digits)
    assert not door.pins.is_set
    assert not door.kept


@pytest.mark.promise("X238")
@pytest.mark.parametrize("digits", ["123456", "1234567", "12345678"])
async def test_six_seven_and_eight_digits_are_one(digits):
    door = await Door().set(digits)
    assert await door.status(digits) == "authorized"
    assert await door.status(digits[:-1] + "0") == "invalid"


@pytest.mark.promise("X239")
async def test_only_a_hash_is_kept(tmp_path):
    files = {"dump.py": tool("import os; return {'env': dict(os.environ)}", name="dump")}
    async with keryx(tmp_path, files) as room:
        await pin_in(room.host, "739518")
        assert "739518" not in str(await room.payload(await room.open(), "dump"))
        kept = room.host.store.values.get("pin", "hash")
        assert isinstance(kept, dict)
        assert str(kept["hash"]).startswith("$argon2id$")
    assert holds(tmp_path / "home", "739518") == []


def test_a_comparison_is_dear():
    cost = Cost()
    assert cost.memory >= 64 * 1024
    assert cost.iterations >= 3


@pytest.mark.promise("X240")
async def test_what_becomes_of_a_pin_is_the_first_that_fits():
    assert await Door().status() == "not_configured"
    door = await Door().set()
    let_in = Somebody()
    assert await door.tries(let_in, RIGHT, "no", "000000", "") == ["authorized"] * 4
    locked = Somebody()
    assert await door.tries(locked, "000000", "000001", "000002") == ["invalid", "invalid", "locked"]
    assert await door.tries(locked, RIGHT, "no") == ["locked", "locked"]
    await door.wrong(7)
    assert await door.tries(Somebody(), RIGHT, "no") == ["locked", "locked"]
    fresh = await Door().set()
    assert await fresh.tries(Somebody(), "no", "000000", RIGHT) == ["incomplete", "invalid", "authorized"]


@pytest.mark.promise("X241")
async def test_every_wrong_pin_is_one_comparison_of_the_hash(monkeypatch):
    door, seen = await Door().set(), []
    real = pin.Argon2id.verify_phc_encoded

    class Watched:
        @staticmethod
        def verify_phc_encoded(given: bytes, hashed: str) -> None:
            seen.append(given)
            real(given, hashed)

    monkeypatch.setattr(pin, "Argon2id", Watched)
    assert [await door.status(digits) for digits in ("923456", "123459")] == ["invalid", "invalid"]
    assert seen == [b"923456", b"123459"]


@pytest.mark.promise("X242")
async def test_what_is_no_whole_pin_is_neither_compared_nor_counted():
    door, who = await Door().set(), Somebody()
    for text in ("", "12", "my pin"):
        assert await door.tries(who, text, text, text) == ["incomplete"] * 3
    assert ("pin", "failures") not in door.kept
    assert await door.tries(who, RIGHT) == ["authorized"]


@pytest.mark.promise("X243")
@pytest.mark.parametrize(
    "said",
    [
        "1 2 3 4 5 6",
        "12-34.56",
        "12, 34, 56",
        "12–34–56",
        "one two three four five six",
        "One, two, three. Four, five, six.",
        "twelve thirty-four fifty-six",
        "twelve thirty four fifty six",
        "123 four 56",
    ],
)
async def test_a_pin_may_be_said_in_many_ways(said):
    assert await (await Door().set()).status(said) == "authorized"


@pytest.mark.promise("X243")
@pytest.mark.parametrize("nothing", ["oh", "o", "zero", "nought"])
async def test_nothing_has_four_names(nothing):
    assert await (await Door().set("102030")).status(f"one {nothing} two {nothing} three {nothing}") == "authorized"


@pytest.mark.promise("X243")
@pytest.mark.parametrize(
    "said", ["one two three four five six please", "double one two three four five", "123456!", "a1b23456"]
)
async def test_any_other_word_makes_it_no_whole_pin(said):
    assert await (await Door().set()).status(said) == "incomplete"


@given(st.text("0123456789", min_size=6, max_size=8), st.lists(st.sampled_from([" ", ", ", "-", ".", " – ", ""]), min_size=8))
def test_digits_are_read_however_they_are_set_apart(digits, gaps):
    text = "".join(digit + gap for digit, gap in zip(digits, gaps, strict=False))
    assert spoken.whole(text) == digits


@given(st.text())
def test_any_text_can_be_looked_through(text):
    found = spoken.offered(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert spoken.offered(spoken.without(text, found)) == [] or found


@pytest.mark.promise("X244")
async def test_ten_wrong_pins_lock_for_an_hour_over_sessions_and_restarts():
    clock, kept = Clock(), Kept()
    door = await Door(kept, clock).set()
    assert await door.tries(Somebody(), "000000", "000001", "000002") == ["invalid", "invalid", "locked"]
    assert await door.tries(Somebody(), "000000", "000001") == ["invalid", "invalid"]
    again = Door(kept, clock)
    assert await again.tries(Somebody(), "000000", "000001", "000002") == ["invalid", "invalid", "locked"]
    assert await again.tries(Somebody(), "000000", "000001") == ["invalid", "invalid"]
    assert await again.status() == "locked"
    clock.now += 3599
    assert await Door(kept, clock).status() == "locked"
    clock.now += 2
    assert await Door(kept, clock).status() == "authorized"


@pytest.mark.promise("X244")
async def test_what_is_older_than_the_window_does_not_count():
    door = await Door().set()
    await door.wrong(9)
    door.clock.now += 24 * 3600 + 1
    assert await door.status("000000") == "invalid"
    assert await door.status() == "authorized"


@pytest.mark.promise("X244")
async def test_ten_attempts_at_once_are_ten_attempts(tmp_path):
    async with host_at(tmp_path) as host:
        await pin_in(host)
        sessions = [host.session("phone") for _ in range(12)]
        found = await asyncio.gather(*(submit(host, one, f"90000{number % 10}") for number, one in enumerate(sessions)))
        assert [one["status"] for one in found].count("locked") == 2
        assert (await submit(host, host.session("phone"), RIGHT))["status"] == "locked"


@pytest.mark.promise("X244")
async def test_the_three_numbers_are_settings(tmp_path):
    rows = {"pin_failures": 2, "pin_window_hours": 1, "pin_lockout_minutes": 5}
    clock = Clock()
    async with host_at(tmp_path, clock=clock, **rows) as host:
        await pin_in(host)
        for _ in range(2):
            await submit(host, host.session("phone"), "000000")
        assert (await submit(host, host.session("phone"), RIGHT))["status"] == "locked"
        clock.now += 301
        assert (await submit(host, host.session("phone"), RIGHT))["status"] == "authorized"


@pytest.mark.promise("X245")
async def test_a_right_pin_forgives_nothing():
    door = await Door().set()
    await door.wrong(9)
    assert await door.status() == "authorized"
    assert await door.status("000000") == "invalid"
    assert await door.status() == "locked"
    door.clock.now += 3601
    assert await door.status("000000") == "invalid"
    assert await door.status() == "locked"


@pytest.mark.promise("X246")
async def test_a_record_that_cannot_be_read_is_one_lockout():
    for odd in ("nonsense", {"failures": "many"}, [1]):
        kept = Kept()
        kept.put(SPACE, KEY, odd)
        door = await Door(kept).set()
        assert await door.status() == "locked"
        door.clock.now += 3601
        assert await door.status() == "authorized"


@pytest.mark.promise("X246")
async def test_a_missing_record_starts_afresh():
    door = await Door().set()
    assert await door.tries(Somebody(), "000000", "000001", RIGHT) == ["invalid", "invalid", "authorized"]


@pytest.mark.promise("X246")
async def test_a_record_that_cannot_be_written_goes_on_in_memory():
    class Full(Kept):
        def put(self, space: str, key: str, value: object) -> None:
            if key == KEY:
                raise StoreError("The disk is full.")
            super().put(space, key, value)

    door = await Door(Full()).set()
    await door.wrong(10)
    assert await door.status() == "locked"


@pytest.mark.promise("X247")
async def test_the_owner_is_told_once_a_window():
    door = await Door().set()
    await door.wrong(10)
    door.clock.now += 3601
    await door.wrong(1)
    assert len(door.alerts) == 1
    door.clock.now += 24 * 3600 + 1
    await door.wrong(10)
    assert len(door.alerts) == 2


@pytest.mark.promise("X247")
async def test_the_owner_sees_why_no_pin_is_taken(tmp_path):
    async with keryx(tmp_path, {"moon.py": MOON}, pin_failures=1, clock=Clock()) as room:
        await pin_in(room.host)
        await submit(room.host, room.host.session("phone"), "000000")
        told = [event.data["problem"] for event in await room.events() if event.kind == "problem"]
        assert [one["what"] for one in told] == ["pin"]
        assert [one.what for one in room.host.problems.all()] == ["pin"]
        assert room.host.entrance.pins.locked_until == Clock().now + 3600


async def test_a_clock_that_was_set_back_locks_nobody_out_for_ever():
    door = await Door().set()
    await door.wrong(10)
    door.clock.now -= 1_000_000
    assert door.pins.locked_until == door.clock.now + 3600


@pytest.mark.promise("X237")
async def test_submit_pin_wants_a_pin_and_answers_with_a_status_and_a_message(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        session = await room.open("phone")
        (offered,) = [one for one in session.tools() if one.name == "submit_pin"]
        assert offered.parameters["required"] == ["pin"]
        answers = [await submit(room.host, session, RIGHT)]
        await pin_in(room.host)
        answers += [await submit(room.host, session, text) for text in ("12", "000000", RIGHT, RIGHT)]
        answers.append(await submit(room.host, await room.open("phone"), "000000"))
        assert {str(one["status"]) for one in answers} <= STATUSES
        assert all(one["message"] for one in answers)
        for odd in ({}, {"pin": 123456}, {"pin": None}, {"pin": ["1"]}, "nonsense", [1]):
            outcome = await room.run(await room.open("phone"), "submit_pin", odd)
            assert outcome.status in ("ok", "refused")


@pytest.mark.promise("X240", "X097")
async def test_who_was_let_in_is_told_so_and_is_offered_it_no_more(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        session = await room.open("phone")
        assert (await submit(room.host, session, RIGHT))["status"] == "authorized"
        assert "submit_pin" not in [one.name for one in session.tools()]
        assert (await submit(room.host, session, "000000"))["status"] == "authorized"


@pytest.mark.promise("X344")
async def test_three_tries_a_session(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        session = await room.open("voice")
        found = [await submit(room.host, session, text) for text in ("000000", "000001", "000002", RIGHT)]
        assert [one["status"] for one in found] == ["invalid", "invalid", "locked", "locked"]
        assert [one.get("attempts_left") for one in found] == [2, 1, None, None]
        assert session.trust == "none"


@pytest.mark.promise("X345")
async def test_the_guard_counts_across_sessions():
    door = await Door(limits=Limits(failures=4)).set()
    assert await door.tries(Somebody(), "000000", "000001", "000002") == ["invalid", "invalid", "locked"]
    assert await door.status("000003") == "invalid"
    assert await door.status("000004") == "locked"
    assert await door.status() == "locked"


@pytest.mark.promise("X239")
async def test_what_a_model_hands_over_is_written_down_nowhere(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host, "739518")
        steps = [[call("submit_pin", {"pin": "739519"})], [call("submitPin", '{"pin": "739518"')], "ok"]
        assert await room.turn("let me in", *steps, channel="phone") == "ok"
        asked = str([request.messages for request in room.requests])
        told = timeless(await room.events())
        audit = timeless(room.host.store.journal.audit(50), room.host.store.journal.recent())
        assert not [where for where in (asked, told, audit) if "73951" in where]
    assert holds(tmp_path, "739518", "739519") == []


async def test_clearing_the_pin_leaves_none(tmp_path):
    async with host_at(tmp_path) as host:
        await pin_in(host)
        host.entrance.pins.clear()
        assert (host.entrance.is_set(), host.entrance.pins.locked_until) == (False, None)
    async with host_at(tmp_path) as host:
        assert not host.entrance.is_set()


async def test_the_pin_outlives_a_restart(tmp_path):
    async with host_at(tmp_path) as host:
        await pin_in(host)
    async with host_at(tmp_path) as host:
        assert (await submit(host, host.session("phone"), RIGHT))["status"] == "authorized"
