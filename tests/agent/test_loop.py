from __future__ import annotations

import asyncio

import pytest
from tests.agent.rooms import Room, ok

from etui.agent.model import CallPart, End, Meta, Text
from etui.agent.scripted import Scripted, call
from etui.errors import ModelError
from etui.events import Kind
from etui.outcome import Outcome, Status
from etui.tool import Risk


async def _sunny(arguments: dict[str, object]) -> str:
    return f"sunny in {arguments.get('city', '?')}"


async def test_words_are_told_as_they_come_and_stored_once(room: Room) -> None:
    ended = await room.turn(Scripted([[Text("Good "), Text("day.")]]), "hi")
    assert (ended.text, ended.why) == ("Good day.", "done")
    assert [event.data.get("text") for event in room.told] == ["hi", "Good ", "day.", "Good day."]
    assert [event.kind for event in room.told] == [Kind.TURN_STARTED, Kind.TEXT, Kind.TEXT, Kind.TURN_ENDED]
    assert [(message.role, message.text) for message in room.messages()] == [("user", "hi"), ("assistant", "Good day.")]
    assert room.store.chats.unfinished() == []
    assert room.door.user_text == "hi"


async def test_calls_run_and_their_results_reach_the_model(room: Room) -> None:
    room.door.add("weather", _sunny)
    model = Scripted(
        [[Text("Let me look."), call("weather", {"city": "Oslo"}), call("weather", {"city": "Rome"}, 1)], "Both sunny."]
    )
    ended = await room.turn(model)
    assert ended.text == "Let me look.\n\nBoth sunny." == room.words()
    assert [message.text for message in room.results()] == ["sunny in Oslo", "sunny in Rome"]
    asked = model.asked[1].messages
    assert [message.role for message in asked] == ["user", "assistant", "tool", "tool"]
    assert {call.id for call in asked[1].calls} == {asked[2].call, asked[3].call}
    assert asked[1].text == "Let me look."
    assert "Europe/Berlin" in model.asked[0].system and model.asked[0].now.tzinfo is not None


async def test_calls_that_only_read_run_at_the_same_time_and_others_in_order(room: Room) -> None:
    both = asyncio.Barrier(2)
    order: list[str] = []

    async def look(arguments: dict[str, object]) -> str:
        await both.wait()
        order.append("look")
        return "seen"

    async def write(arguments: dict[str, object]) -> str:
        order.append(f"write {arguments['n']}")
        return "written"

    room.door.add("look", look)
    room.door.add("write", write, Risk.WRITE)
    wanted = [call("look", {"n": 1}), call("look", {"n": 2}, 1), call("write", {"n": 1}, 2), call("write", {"n": 2}, 3)]
    async with asyncio.timeout(5):
        await room.turn(Scripted([wanted, "Done."]))
    assert order == ["look", "look", "write 1", "write 2"]


async def test_the_same_call_is_answered_from_the_first(room: Room) -> None:
    room.door.add("weather", _sunny)
    steps = [[call("weather", '{"city":"Oslo","days":2}')], [call("weather", ' {"days": 2, "city": "Oslo"}')], "Sunny."]
    await room.turn(Scripted(steps))
    assert len(room.door.ran) == 1
    assert "Not run again" in room.results()[1].text and "sunny in Oslo" in room.results()[1].text


async def test_the_same_call_twice_in_one_step_runs_once(room: Room) -> None:
    room.door.add("weather", _sunny)
    await room.turn(Scripted([[call("weather", {"city": "Oslo"}), call("weather", {"city": "Oslo"}, 1)], "Sunny."]))
    assert len(room.door.ran) == 1
    assert len(room.results()) == 2


async def test_reading_again_after_a_change_reads_anew(room: Room) -> None:
    things: list[str] = []

    async def show(arguments: dict[str, object]) -> str:
        return f"{len(things)} things"

    async def add(arguments: dict[str, object]) -> str:
        things.append("milk")
        return "added"

    room.door.add("show", show)
    room.door.add("add", add, Risk.WRITE)
    steps = [[call("show")], [call("add", {"what": "milk"})], [call("show")], [call("add", {"what": "milk"})], "Done."]
    await room.turn(Scripted(steps))
    assert [message.text for message in room.results()][:3] == ["0 things", "added", "1 things"]
    assert len(things) == 1


async def test_a_turn_ends_at_its_limit_of_calls_with_a_last_word(room: Room) -> None:
    room.door.add("weather", _sunny)
    model = Scripted([[Text("Hm."), call("weather", {"city": str(number)})] for number in range(20)])
    ended = await room.turn(model)
    assert ended.why == "limit"
    assert len(room.door.ran) == 8
    assert "8 tool calls" in ended.text and ended.text == room.words()
    assert room.messages()[-1].role == "assistant" and "8 tool calls" in room.messages()[-1].text


async def test_calls_beyond_the_limit_in_one_step_get_a_result_and_do_not_run(room: Room) -> None:
    room.door.add("weather", _sunny)
    many = [call("weather", {"city": str(number)}, number) for number in range(12)]
    ended = await room.turn(Scripted([many, "Enough."]))
    assert len(room.door.ran) == 8 and len(room.results()) == 12
    assert (ended.text, ended.why) == ("Enough.", "done")


async def test_a_turn_ends_after_three_failures_with_a_last_word(room: Room) -> None:
    async def broken(arguments: dict[str, object]) -> Outcome:
        return Outcome(status=Status.FAILED, text="The lamp is out.")

    room.door.add("lamp", broken, Risk.WRITE)
    ended = await room.turn(Scripted([[call("lamp", {"try": number})] for number in range(9)]))
    assert ended.why == "limit"
    assert len(room.door.ran) == 3
    assert "The lamp is out." in ended.text


async def test_a_call_in_the_text_is_no_answer_where_no_tools_are_offered_any_more(room: Room) -> None:
    room.door.add("weather", _sunny)
    step = [Text('{"name": "weather", "arguments": {"city": "Oslo"}}')]
    ended = await room.turn(Scripted([[call("weather", {"city": str(number)}, number) for number in range(8)], step]))
    assert ended.why == "limit" and "Oslo" not in ended.text
    assert len(room.door.ran) == 8


async def test_past_its_limit_the_model_answers_without_tools(room: Room) -> None:
    room.door.add("weather", _sunny)
    model = Scripted([[call("weather", {"city": str(number)}, number) for number in range(8)], "Eight cities."])
    ended = await room.turn(model)
    assert (ended.text, ended.why) == ("Eight cities.", "done")
    assert [len(ask.tools) for ask in model.asked] == [1, 0]


async def test_an_unknown_tool_is_answered_with_the_nearest_and_repeats_end_the_turn(room: Room) -> None:
    room.door.add("weather", _sunny)
    ended = await room.turn(Scripted([[call("wether", {"city": "Oslo"})]] * 6))
    assert "weather" in room.results()[0].text
    assert ended.why == "limit" and len(room.results()) == 3
    assert room.door.ran == []


async def test_a_name_with_another_separator_or_prefix_is_resolved(room: Room) -> None:
    room.door.add("memory__read_graph", _sunny)
    wanted = [call("memory:read_graph", {"city": "a"}), call("functions.memory__read_graph", {"city": "b"}, 1)]
    await room.turn(Scripted([wanted, "Done."]))
    assert [name for name, _ in room.door.ran] == ["memory__read_graph"] * 2


async def test_only_silent_calls_end_the_turn_without_words(room: Room) -> None:
    async def face(arguments: dict[str, object]) -> Outcome:
        return ok("smiling", silent=True)

    room.door.add("face", face, silent=True)
    model = Scripted([[call("face"), Text("Okay, staying "), Text("quiet.")], "Never asked."])
    ended = await room.turn(model)
    assert (ended.text, ended.why) == ("", "done")
    assert len(model.asked) == 1 and room.words() == ""
    assert all("quiet" not in message.text for message in room.messages())


async def test_words_behind_a_call_are_told_after_it_and_kept(room: Room) -> None:
    room.door.add("weather", _sunny)
    ended = await room.turn(Scripted([[call("weather"), Text("One moment.")], "Sunny."]))
    assert ended.text == "One moment.\n\nSunny." == room.words()
    assert room.messages()[-1].text == "One moment.\n\nSunny."


async def test_a_silent_call_that_failed_is_reported(room: Room) -> None:
    async def face(arguments: dict[str, object]) -> Outcome:
        return Outcome(status=Status.FAILED, text="No face.", silent=True)

    room.door.add("face", face, silent=True)
    ended = await room.turn(Scripted([[call("face")], "The face is missing."]))
    assert ended.text == "The face is missing."


async def test_a_model_that_fails_says_so_in_a_sentence(room: Room) -> None:
    room.door.add("weather", _sunny)
    ended = await room.turn(Scripted([[Text("Let me see."), call("weather")], ModelError("The server is gone; start it.")]))
    assert (ended.why, ended.text) == ("failed", "Let me see.\n\nThe server is gone; start it.")
    assert room.messages()[-1].text == "The server is gone; start it."


async def test_a_model_that_fails_in_the_middle_keeps_what_was_said(room: Room) -> None:
    ended = await room.turn(Scripted([[Text("The answer is"), ModelError("The line broke.")]]))
    assert ended.text == "The answer is\n\nThe line broke." == room.messages()[-1].text


async def test_a_fault_in_a_model_is_a_sentence_too(room: Room) -> None:
    ended = await room.turn(Scripted([ZeroDivisionError("x")]))
    assert ended.why == "failed" and "Something went wrong" in ended.text and "ZeroDivision" not in ended.text


@pytest.mark.parametrize("step", [[], [Text("  \n ")], [Text("<think>hm</think>")]])
async def test_a_model_that_says_nothing_still_gets_words(room: Room, step: list[Text]) -> None:
    ended = await room.turn(Scripted([list(step)]))
    assert ended.why == "failed" and "no answer" in ended.text


async def test_results_are_told_where_the_model_says_nothing_about_them(room: Room) -> None:
    async def empty(arguments: dict[str, object]) -> Outcome:
        return ok("[]", shown="The list is empty.")

    room.door.add("list", empty)
    ended = await room.turn(Scripted([[call("list")], []]))
    assert (ended.text, ended.why) == ("The list is empty.", "done")


async def test_an_answer_that_was_cut_off_says_so(room: Room) -> None:
    ended = await room.turn(Scripted([[Text("Once upon"), End(why="length")]]))
    assert ended.text.startswith("Once upon") and "cut off" in ended.text


async def test_half_json_is_refused_and_the_model_may_mend_it(room: Room) -> None:
    room.door.add("save", _sunny, Risk.WRITE)
    model = Scripted(
        [[CallPart(0, name="save", arguments='{"content": "partial han')], [call("save", {"city": "x"})], "Saved."]
    )
    ended = await room.turn(model)
    assert room.door.ran == [("save", {"city": "x"})]
    assert "cut off" in room.results()[0].text and ended.text == "Saved."


async def test_results_are_capped_each_and_all_together() -> None:
    room = Room(result_chars=1000, turn_chars=2500)

    async def long(arguments: dict[str, object]) -> str:
        return "x" * 100_000

    room.door.add("long", long)
    await room.turn(Scripted([[call("long", {"n": number}, number) for number in range(6)], "Done."]))
    sizes = [len(message.text) for message in room.results()]
    assert sizes[:2] == [1000, 1000] and all(size <= 500 for size in sizes[2:])
    assert "left out" in room.results()[5].text
    room.store.close()


async def test_the_way_back_and_the_status_stay_with_the_result(room: Room) -> None:
    async def add(arguments: dict[str, object]) -> Outcome:
        return ok("added", data={"undo": {"tool": "remove", "arguments": {"item": 1}}}, seconds=0.5)

    room.door.add("add", add, Risk.WRITE)
    await room.turn(Scripted([[call("add")], "Done."]))
    meta = room.results()[0].meta
    assert meta == {"status": "ok", "seconds": 0.5, "undo": {"tool": "remove", "arguments": {"item": 1}}}


async def test_what_a_model_wants_kept_comes_back_with_its_message(room: Room) -> None:
    model = Scripted([[Text("Which list?"), Meta({"open": "list_add"})], "Thanks."])
    await room.turn(model)
    await room.turn(model, "the shopping list")
    assert model.asked[1].messages[1].meta == {"open": "list_add"}


async def test_values_that_are_false_reach_the_model_as_themselves(room: Room) -> None:
    for name, text in (("zero", "0"), ("no", "false"), ("nothing", "null"), ("empty", '""'), ("none", "[]")):

        async def body(arguments: dict[str, object], text: str = text) -> str:
            return text

        room.door.add(name, body)
    names = ["zero", "no", "nothing", "empty", "none"]
    ended = await room.turn(Scripted([[call(name, index=at) for at, name in enumerate(names)], "Five results."]))
    assert [message.text for message in room.results()] == ["0", "false", "null", '""', "[]"]
    assert ended.text == "Five results."


async def test_a_character_cut_in_two_is_whole_and_half_a_one_is_replaced(room: Room) -> None:
    ended = await room.turn(Scripted([[Text("A \ud83d"), Text("\ude00 and \ud835 and \x00.")]]))
    assert ended.text == "A \U0001f600 and \ufffd and \ufffd." == room.words()
    ended.text.encode()


async def test_stop_keeps_what_was_said_and_gives_every_call_a_result(room: Room) -> None:
    started = asyncio.Event()
    ended: list[str] = []

    async def slow(arguments: dict[str, object]) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return "never"

    room.door.add("slow", slow)
    room.door.add("weather", _sunny, Risk.WRITE)
    task = asyncio.create_task(room.turn(Scripted([[Text("Wait."), call("slow"), call("weather", index=1)], "Never."])))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["cancelled"]
    assert [message.meta["status"] for message in room.results()] == ["cancelled", "cancelled"]
    last = room.told[-1]
    assert (last.kind, last.data["why"], last.data["text"]) == (Kind.TURN_ENDED, "stopped", "Wait.")
    assert room.store.chats.unfinished() == []


async def test_stop_while_the_model_speaks_keeps_its_words(room: Room) -> None:
    speaking = asyncio.Event()

    async def hang() -> None:
        speaking.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(room.turn(Scripted([[Text("Once upon a time"), hang]])))
    await speaking.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert room.messages()[-1].text == "Once upon a time"
    again = Scripted(["Hello again."])
    assert (await room.turn(again)).text == "Hello again."


async def test_a_chat_deleted_in_mid_turn_ends_the_turn_without_a_crash(room: Room) -> None:
    async def delete(arguments: dict[str, object]) -> str:
        room.store.chats.delete(room.chat)
        return "gone"

    room.door.add("delete", delete)
    ended = await room.turn(Scripted([[call("delete")], "Never stored."]))
    assert ended.why == "failed"
    assert room.told[-1].kind is Kind.TURN_ENDED


async def test_a_call_in_the_text_runs_only_by_an_exact_name(room: Room) -> None:
    room.door.add("lamp_on", _sunny, Risk.WRITE)
    block = '<tool_call>{"name": "lamp_on", "arguments": {"room": "hall"}}</tool_call>'
    ended = await room.turn(Scripted([[Text("Sure. "), Text(block[:20]), Text(block[20:])], "It is on."]))
    assert room.door.ran == [("lamp_on", {"room": "hall"})]
    assert ended.text == "Sure. \n\nIt is on." and "<" not in room.words()


async def test_a_call_in_the_text_by_another_name_is_hidden_reported_and_not_run(room: Room) -> None:
    room.door.add("lamp_on", _sunny, Risk.WRITE)
    ended = await room.turn(Scripted([[Text('<tool_call>{"name": "lamp-on", "arguments": {}}</tool_call>')], "Sorry."]))
    assert room.door.ran == []
    assert "lamp_on" in room.results()[0].text
    assert ended.text == "Sorry."


async def test_a_stop_that_a_call_takes_for_its_own_still_ends_the_turn(room: Room) -> None:
    started = asyncio.Event()

    async def stubborn(arguments: dict[str, object]) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "ended well"
        return "never"

    room.door.add("stubborn", stubborn)
    model = Scripted([[call("stubborn")], "Never asked."])
    task = asyncio.create_task(room.turn(model))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(model.asked) == 1 and [message.text for message in room.results()] == ["ended well"]
    assert (room.told[-1].kind, room.told[-1].data["why"]) == (Kind.TURN_ENDED, "stopped")


async def test_words_that_turn_out_to_be_thinking_are_neither_kept_nor_told_at_the_end(room: Room) -> None:
    room.door.add("weather", _sunny)
    leak = [Text("They ask for rain"), Text(".\n</think>\n\n"), Text("It is dry.")]
    ended = await room.turn(Scripted([[Text("Let me look."), call("weather")], list(leak)]))
    assert ended.text == "Let me look.\n\nIt is dry." == room.told[-1].data["text"]
    assert room.messages()[-1].text == "It is dry."
