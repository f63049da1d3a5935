"""The keys of a telephone, and the PIN that is said: how a call is let in, and what is kept of the digits."""

from __future__ import annotations

import asyncio

import pytest
from tests.keryx.homes import Room, keryx, save, timeless, tool
from tests.keryx.pins import RIGHT, Clock, holds, pin_in
from tests.spine.homes import LONG, host_at, until

from etui.agent.embedded import EmbeddedModel
from etui.agent.scripted import Step, call
from etui.errors import UsageError
from etui.events import Event, Kind
from etui.owner import spoken
from etui.owner.keypad import Keypad
from etui.session import Session

GATED = tool(name="open_door", options='description="Open the door."')


async def keyed(room: Room, session: Session, keys: str) -> list[str]:
    """What became of the PIN, each time something did."""
    return [status for key in keys if (status := await room.host.entrance.key(session, key))]


async def on_the_phone(room: Room, *said: str, steps: list[Step]) -> list[str]:
    """The answers to what a caller says, one turn after the other; the model plays the steps."""
    room.script(*steps)
    room.chat = room.chat or room.host.store.chats.create("", "phone").id
    return [await room.host.conversations.turn(room.chat, one, channel="phone") for one in said]


async def told(room: Room, answer: str) -> list[Event]:
    """Wait for a turn that ends with this answer; gives everything that was told until then."""
    events: list[Event] = []
    while (event := await asyncio.wait_for(room._heard.next(), LONG)) is not None:
        events.append(event)
        if event.kind is Kind.TURN_ENDED and event.data["text"] == answer:
            break
    return events


@pytest.mark.promise("X248")
async def test_as_many_digits_as_the_pin_has_are_sent_by_themselves(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        session = await room.open("phone")
        assert await keyed(room, session, "123#") == ["incomplete"]
        assert await keyed(room, session, "12345") == []
        assert await keyed(room, session, "6") == ["authorized"]
        assert session.trust == "full"
        other = await room.open("phone")
        assert await keyed(room, other, "000000") == ["invalid"]
        assert await keyed(room, other, "#*") == []


@pytest.mark.promise("X248")
async def test_a_pin_of_eight_digits_is_awaited_whole(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host, "12345678")
        session = await room.open("phone")
        assert await keyed(room, session, "123456#") == ["invalid"]
        assert await keyed(room, session, "12345678") == ["authorized"]


@pytest.mark.promise("X249")
async def test_a_pause_begins_the_entry_anew(tmp_path):
    clock = Clock()
    async with keryx(tmp_path, {"x.py": GATED}, clock=clock) as room:
        await pin_in(room.host)
        session = await room.open("phone")
        assert await keyed(room, session, "123") == []
        clock.now += 6
        assert await keyed(room, session, RIGHT) == ["authorized"]
        assert room.host.store.values.get("pin", "failures") is None


@pytest.mark.promise("X249")
def test_five_seconds_are_no_pause():
    clock = Clock()
    keypad = Keypad(clock)
    for digit in "12345":
        assert keypad.press(digit, 6) is None
        clock.now += 5
    assert keypad.press("6", 6) == RIGHT


async def test_a_key_is_a_digit_a_hash_or_a_star(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        session = await room.open("phone")
        for key in ("", "12", "a", "٣"):
            with pytest.raises(UsageError):
                await room.host.entrance.key(session, key)
        assert not session.keypressed
        assert await room.host.entrance.key(session, "*") == ""
        assert session.keypressed


@pytest.mark.promise("X250")
async def test_keyed_digits_are_nowhere(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host, "739518")
        assert await on_the_phone(room, "open the door", steps=[[call("open_door")], "Your PIN?"]) == ["Your PIN?"]
        room.script("Again?", [call("open_door")], "It is open.")
        (session,) = room.host.sessions.all()
        assert await keyed(room, session, "739519") == ["invalid"]
        events = await told(room, "Again?")
        assert await keyed(room, session, "739518") == ["authorized"]
        events += await told(room, "It is open.")
        asked = str([request.messages for request in room.requests])
        audit = str(room.host.store.journal.audit(50)) + str(room.host.store.chats.messages(room.chat))
        assert [where for where in (asked, audit, str(events)) if "73951" in where] == []
    assert holds(tmp_path, "739518", "739519") == []


async def test_a_call_that_is_over_is_let_in_by_no_key(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        session = await room.open("phone")
        assert await keyed(room, session, RIGHT[:5]) == []
        assert room.host.sessions.end_by_id(session.id)
        assert await keyed(room, session, RIGHT[5]) == []
        session.authorize()
        assert session.trust == "none"


async def test_after_the_right_keys_the_call_that_waited_is_made(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        await on_the_phone(room, "open the door", steps=[[call("open_door")], "Your PIN?"])
        room.script([call("open_door")], "It is open.")
        await keyed(room, room.host.sessions.all()[0], RIGHT)
        await told(room, "It is open.")
        assert [one.text for one in room.results()][-1] == '{"ok": true}'
        said = [(one.role, one.text) for one in room.host.store.chats.messages(room.chat) if one.role in ("user", "notice")]
        assert said[1] == ("user", "[PIN]")
        assert said[2][0] == "notice"


@pytest.mark.promise("X252")
async def test_no_first_pin_is_keyed_in(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        session = await room.open("phone")
        assert await keyed(room, session, "123456#123456#") == []
        assert not room.host.entrance.is_set()
        assert (await room.payload(session, "open_door"))["status"] == "refused"


@pytest.mark.promise("X251")
@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("739518", "[PIN]"),
        ("it's seven three nine five one eight, please", "it's [PIN], please"),
        ("seventy-three ninety-five eighteen", "[PIN]"),
        ("My PIN is 73 95 18. What now?", "My PIN is [PIN]. What now?"),
        ("Hello, 739518, open the door", "Hello, [PIN], open the door"),
        ("739518 739518", "[PIN] [PIN]"),
    ],
)
async def test_a_pin_that_is_said_is_kept_nowhere(tmp_path, said, kept):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host, "739518")
        await on_the_phone(room, said, steps=["Thank you."])
        (message,) = [one for one in room.host.store.chats.messages(room.chat) if one.role == "user"]
        assert message.text == kept
        assert room.host.sessions.all()[0].trust == "full"
        assert not [word for word in ("739518", "seven", "73 95 18") if word in str(room.requests[-1].messages)]
        assert not [word for word in ("739518", "seven", "73 95 18") if word in timeless(await room.events())]
    assert holds(tmp_path / "home", "739518", "seven three", "seventy-three", "73 95 18") == []


async def test_a_wrong_pin_that_was_asked_for_is_kept_nowhere_either(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        await on_the_phone(
            room,
            "open the door",
            "I think it was 739518 or so",
            "hm, then 7395",
            steps=[[call("open_door")], "PIN?", "Again?", "Again?"],
        )
        said = [one.text for one in room.host.store.chats.messages(room.chat) if one.role == "user"]
        assert said[1:] == ["I think it was [PIN] or so", "hm, then [PIN]"]
        notices = [one.meta["pin"] for one in room.host.store.chats.messages(room.chat) if one.role == "notice"]
        assert notices == ["invalid", "incomplete"]


@pytest.mark.parametrize(
    "said",
    ["what is 739518 times 2", "remind me on 12.04.2026", "call 0049 739518 11", "see example.org/739518", "add 1,234.56"],
)
async def test_numbers_that_are_no_pin_stay_as_they_were_said(tmp_path, said):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        await on_the_phone(room, said, steps=["Well."])
        assert [one.text for one in room.host.store.chats.messages(room.chat)] == [said, "Well."]


@pytest.mark.promise("X243", "X251")
@pytest.mark.parametrize(
    "said",
    [
        "7/3/9/5/1/8",
        "7_3_9_5_1_8",
        "7 and 3 and 9 and 5 and 1 and 8",
        "739, um, 518",
        "(7)(3)(9)(5)(1)(8)",
        "7\u200b3\u200b9\u200b5\u200b1\u200b8",
        "my PIN is seven three nine dash five one eight",
        "seven hundred thirty nine five hundred eighteen",
    ],
)
async def test_a_pin_is_taken_whatever_stands_between_its_digits(tmp_path, said):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host, "739518")
        await on_the_phone(room, "open the door", said, steps=[[call("open_door")], "PIN?", "Once more?"])
        kept = room.host.store.chats.messages(room.chat)
        assert [one.text for one in kept if one.role == "user"][-1].removeprefix("my PIN is ").strip("()") == "[PIN]"
        assert [one.meta["pin"] for one in kept if one.role == "notice"] == ["authorized"]
        assert said.removeprefix("my PIN is ") not in str(room.requests[-1].messages) + str(await room.events())


@pytest.mark.promise("X242", "X251")
async def test_a_pin_that_comes_in_parts_is_kept_nowhere_and_taken_once_it_is_whole(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host, "739518")
        steps: list[Step] = [[call("open_door")], "PIN?", "All of it?", "At noon.", "All of it?", "Thank you."]
        await on_the_phone(room, "open the door", "seven", "what is at 12:30?", "39", "five one eight", steps=steps)
        kept = room.host.store.chats.messages(room.chat)
        assert [one.text for one in kept if one.role == "user"][1:] == ["[PIN]", "what is at 12:30?", "[PIN]", "[PIN]"]
        assert [one.meta["pin"] for one in kept if one.role == "notice"] == ["incomplete", "incomplete", "authorized"]
        assert room.host.store.values.get("pin", "failures") is None


@pytest.mark.parametrize("said", ["it's code:739518 open up", "use -739518- at the door", "the door, please; pin739518"])
async def test_a_right_pin_is_found_whatever_stands_beside_it(tmp_path, said):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host, "739518")
        await on_the_phone(room, said, steps=["Thank you."])
        assert room.host.sessions.all()[0].trust == "full"
        assert "739518" not in str(room.requests) + str(await room.events())
    assert holds(tmp_path / "home", "739518") == []


@pytest.mark.parametrize("said", ["12:30", "5+7", "7", "one or two"])
async def test_a_short_answer_is_no_part_of_a_pin_that_nobody_asked_for(tmp_path, said):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        await on_the_phone(room, said, steps=["Well."])
        assert [one.text for one in room.host.store.chats.messages(room.chat)] == [said, "Well."]


async def test_guesses_that_are_hidden_in_other_sentences_count(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        guesses = [f"what is 90000{number} times 2" for number in range(3)]
        await on_the_phone(room, *guesses, "what is 123456 times 2", steps=["Well."] * 4)
        assert [one.trust for one in room.host.sessions.all()] == ["none"]
        assert "123456" not in str(room.requests[-1].messages)


async def test_who_is_known_already_may_say_any_number(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        await room.turn("123456", "Well.", channel="terminal")
        assert room.host.store.chats.messages(room.chat)[0].text == "123456"


@pytest.mark.promise("X344")
async def test_a_call_ends_after_the_goodbye(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        await on_the_phone(room, "000000", "000001", "000002", steps=["Again?", "Again?", "Goodbye."])
        events = [(event.kind, event.data) for event in await room.events()]
        kinds = [kind for kind, _ in events]
        assert kinds.index(Kind.SESSION_ENDED) > max(at for at, kind in enumerate(kinds) if kind is Kind.TURN_ENDED)
        assert [data for kind, data in events if kind is Kind.SESSION_ENDED] == [{"reason": "pin"}]
        assert [data["text"] for kind, data in events if kind is Kind.TURN_ENDED][-1] == "Goodbye."


@pytest.mark.promise("X344")
async def test_a_call_in_which_nobody_says_goodbye_ends_a_little_later(tmp_path):
    async with keryx(tmp_path, {"x.py": GATED}) as room:
        await pin_in(room.host)
        waited: list[tuple[float, object]] = []

        class Timer:
            def cancel(self) -> None:
                waited.clear()

        def later(seconds, act):
            waited.append((seconds, act))
            return Timer()

        room.host.entrance.later = later
        forever = asyncio.Event()
        talking = asyncio.create_task(
            on_the_phone(room, "000000", "000001", "000002", steps=["Again?", "Again?", [forever.wait]])  # type: ignore[list-item]
        )
        while not waited:
            await until(room._heard, Kind.TURN_STARTED)
        ((seconds, act),) = waited
        assert seconds == 10
        assert room.host.sessions.all()
        act()
        await asyncio.wait([talking])
        assert not room.host.sessions.all()


async def test_the_embedded_model_asks_for_the_pin_and_does_what_waited(tmp_path):
    door = tool(
        'return {"message": "The door of the shed is open."}',
        name="open_shed",
        options='description="Open the door of the shed."',
    )
    folder = tmp_path / "data" / "tools"

    save(folder, {"x.py": door})
    rows = [{"path": str(folder), "contract": "keryx"}]
    async with host_at(tmp_path / "home", model=EmbeddedModel(), sources=rows) as host:
        await pin_in(host)
        chat = host.store.chats.create("", "phone").id
        answer = await host.conversations.turn(chat, "open the door of the shed", channel="phone")
        if "yes/no" in answer:
            answer = await host.conversations.turn(chat, "yes", channel="phone")
        assert answer == "What is your PIN?"
        assert "wrong" in await host.conversations.turn(chat, "000000", channel="phone")
        assert "six to eight" in await host.conversations.turn(chat, "1234", channel="phone")
        assert "The door of the shed is open." in await host.conversations.turn(
            chat, "one two three four five six", channel="phone"
        )


def test_titles_hold_no_pin():
    assert spoken.blanked("my pin is 123456") == "my pin is [PIN]"
