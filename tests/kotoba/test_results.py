"""What `execute` gives back, and what the model, the person and the owner get of it."""

from __future__ import annotations

import base64
import json
import struct
import zlib

import pytest
from tests.agent.servers import ModelServer, Says
from tests.kotoba.homes import kinds, kotoba, ping, write
from tests.spine.homes import host_at

from etui.agent.scripted import call
from etui.events import Kind
from etui.outcome import Outcome, Status

NOTE = " [tool failed — do not retry the same call; try another approach.]"
NOTHING = "The tool returned nothing." + NOTE
ERRORED = "The tool errored." + NOTE


def png(size: int = 0, shade: int = 0) -> bytes:
    """A picture of one point, with so many bytes of comment."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    body = zlib.compress(bytes([0, shade]))
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"tEXt", b"x" * size) + part(b"IDAT", body) + part(b"IEND", b"")


def url(data: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(data).decode()


TOP = """
from kotoba.core.loop import note_tool_failure, note_tool_refusal
from kotoba.tools import ToolResult


class Odd:
    def __init__(self, **acts):
        self.acts = acts

    def __bool__(self):
        return self.acts.get("true", True)

    def __str__(self):
        if self.acts.get("raises"):
            raise ValueError("odd-7")
        return self.acts.get("text", "odd")
"""
GIVE = """
scope = {"circle": [], **globals()}
scope["circle"].append(scope["circle"])
if "refuse" in args:
    note_tool_refusal(ctx)
for number in range(args.get("fail", 0)):
    note_tool_failure(f"reason {number}")
if args.get("raise"):
    raise ValueError("boom")
return eval(args["value"], scope)
"""
LINES = "ANNOUNCE = 'Start.'\nCOMPLETE = 'Good.'\nFAIL = 'Bad.'\nRISK = 'write'\n"
FILES = {
    "p/give.py": ping(GIVE, name="give", top=TOP),
    "p/act.py": ping(GIVE, name="act", top=TOP, head=LINES),
    "p/late.py": ping("import asyncio\nawait asyncio.sleep(60)", name="late", head=LINES + "TIMEOUT = 0.1\n"),
    "p/browser.py": ping(GIVE, name="browser__x", top=TOP),
    "p/waits.py": ping(GIVE, name="waits", top=TOP, head="INTERACTIVE = True\nTIMEOUT = 0.1\n"),
}


@pytest.mark.promise("K025", "K107", "K242", "K246", "K247", "K248", "K262", "K260", "K261", "K241")
async def test_each_kind_of_value_has_its_one_meaning(tmp_path):
    def ended(outcome: Outcome) -> tuple[str, str]:
        return outcome.status.value, outcome.text

    async with kotoba(tmp_path, FILES) as room:
        for value, text in {
            "'pong'": "pong",
            "'  a\\nb '": "  a\nb ",
            "7": "7",
            "True": "True",
            "b'abc'": "b'abc'",
            "(1, 2)": "(1, 2)",
            "[1, 2]": "[1, 2]",
            "10**40": str(10**40),
            "float('nan')": "nan",
            "Odd()": "odd",
            "circle": "[[...]]",
            "'x\\udcff'": "x�",
            "ToolResult('a')": "a",
            "ToolResult(42)": "42",
            "str(ToolResult('a')) + str(bool(ToolResult())) + str(bool(ToolResult(images=['data:'])))": "aFalseTrue",
        }.items():
            assert ended(await room.call("give", {"value": value})) == ("ok", text), value
        outcome = await room.call("give", {"value": "{'a': True, 'b': 'é', 'c': [None, 1.5]}"})
        assert json.loads(outcome.text) == outcome.data == {"a": True, "b": "é", "c": [None, 1.5]}
        assert "é" in outcome.text
        for value in ("None", "''", "'  '", "0", "0.0", "False", "{}", "[]", "()", "b''", "ToolResult()", "Odd(true=False)"):
            assert ended(await room.call("give", {"value": value})) == ("failed", NOTHING), value
        assert ended(await room.call("give", {"value": "Odd(text=' ')"})) == ("failed", NOTHING)
        outcome = await room.call("give", {"value": "Odd(raises=True)"})
        assert ended(outcome) == ("failed", ERRORED)
        assert "odd-7" in outcome.detail
        assert ended(await room.call("give", {"value": "'No.'", "refuse": 1})) == ("refused", "No.")
        assert ended(await room.call("give", {"value": "'Down.'", "fail": 1})) == ("failed", "Down." + NOTE)
        assert ended(await room.call("give", {"value": "'x'", "raise": 1})) == ("failed", ERRORED)
        assert ended(await room.call("give", {"value": "None", "refuse": 1})) == ("refused", "The tool returned nothing.")


@pytest.mark.promise("K249", "K250", "K251")
async def test_a_failure_of_an_action_is_graded_in_every_way_at_once(tmp_path):
    ends = [
        (call("act", {"value": "None"}), "failed", NOTHING),
        (call("act", {"value": "'x'", "raise": 1}), "failed", ERRORED),
        (call("late"), "timed_out", "The tool timed out." + NOTE),
    ]
    async with kotoba(tmp_path, FILES) as room:
        for number, (wanted, status, text) in enumerate(ends, 1):
            await room.events()
            await room.turn("go", [wanted], "Done.")
            assert room.results()[-1].text == text
            told = await room.events()
            (end,) = [data for _, data in kinds(told, Kind.CALL_ENDED)]
            assert (end["status"], end["mark"]) == (status, "red")
            assert [data["text"] for _, data in kinds(told, Kind.SAID)] == ["Start.", "Bad."]
            assert "sad" in [data["face"] for _, data in kinds(told, Kind.FACE)]
            actions = room.host.store.journal.actions()
            assert [action.detail for action in actions] == ["executed:failed"] * number
        await room.turn("go", [ends[0][0]], [ends[1][0]], "Done.")
        assert room.requests[-2].tools
        assert not room.requests[-1].tools


@pytest.mark.promise("K243", "K244", "K245", "K264", "K266")
async def test_pictures_reach_the_model_and_are_kept_for_the_person_by_name(tmp_path):
    first, second = png(), png(shade=255)
    big = png(1 << 20)
    async with kotoba(tmp_path, FILES) as room:
        store = room.host.store
        given = [
            ("give", f"ToolResult('Two.', [{url(first)!r}, {url(second)!r}])", "Two.", [first, second]),
            ("waits", f"ToolResult(images=[{url(first)!r}])", "[image below]", [first]),
            ("give", f"ToolResult('  ', [{url(first)!r}])", "[image below]", [first]),
            ("give", f"ToolResult('x' * 16000, [{url(big)!r}])", "x" * 16_000, [big]),
        ]
        for tool, value, text, pictures in given:
            await room.turn("go", [call(tool, {"value": value})], "Done.")
            result = room.results()[-1]
            assert result.meta["status"] == "ok"
            kept = [store.blobs.get(image) for image in result.images]
            assert [blob.data for blob in kept if blob] == pictures
            assert result.text == f"{text}\n[kept for the person as {', '.join(blob.name for blob in kept if blob)}]"
            assert all(blob and blob.name.startswith(tool) and blob.name.endswith(".png") for blob in kept)
            request = room.requests[-1].messages
            assert [message.images for message in request if message.role == "tool"][-1] == result.images
        assert (await room.call("waits", {"value": "None"})).text == NOTHING
        assert (await room.call("waits", {"value": "'x'", "raise": 1})).text == ERRORED
        outcome = await room.call("give", {"value": "ToolResult('t', ['http://x/y.png'])"})
        assert (outcome.status, outcome.text) == (Status.OK, "t\n[1 image could not be read]")
        large = "'data:image/png;base64,' + 'A' * 10_000_000"
        outcome = await room.call("give", {"value": f"ToolResult('t', [{large}])"})
        assert (outcome.status, outcome.text) == (Status.OK, "t\n[1 image left out: all together may have 7 MB]")
        outcome = await room.call("give", {"value": f"ToolResult('No.', [{url(first)!r}])", "refuse": 1})
        assert (outcome.status, outcome.text, outcome.images) == (Status.REFUSED, "No.", ())
        outcome = await room.call("give", {"value": f"ToolResult('Half.', [{url(first)!r}])", "fail": 1})
        assert outcome.text == f"Half.\n[kept for the person as {outcome.images[0].name}]" + NOTE


@pytest.mark.promise("K243", "K244", "K248", "K260", "K261")
async def test_a_providers_request_holds_each_text_as_it_is_and_one_part_for_each_picture(tmp_path):
    first, second = url(png()), url(png(shade=255))
    wanted = [
        {"value": f"ToolResult('Two.', [{first!r}, {second!r}])"},
        {"value": f"ToolResult(images=[{second!r}])"},
        {"value": "None"},
    ]
    more = [{"value": "'No.'", "refuse": 1}, {"value": "'Down.'", "fail": 1}]
    calls = [(f"c{at}", "give", arguments) for at, arguments in enumerate(wanted)]
    write(tmp_path / "kotoba", FILES)
    sources = [{"path": str(tmp_path / "kotoba"), "contract": "kotoba"}]
    steps = [Says([], calls), Says([], [(f"d{at}", "act", arguments) for at, arguments in enumerate(more)]), Says(["Done."])]
    with ModelServer(*steps) as server:
        async with host_at(tmp_path / "home", sources=sources, model_base_url=f"{server.url}/v1") as host:
            await host.settings.set("model", "openai-responses:m")
            assert await host.conversations.turn(host.store.chats.create("", "python").id, "go", channel="python") == "Done."
        outputs = [item["output"] for item in server.seen[-1]["input"] if item.get("type") == "function_call_output"]
    two, below, *texts = outputs
    assert [part["type"] for part in two] == ["input_text", "input_image", "input_image"]
    assert two[0]["text"].startswith("Two.\n[kept for the person as give-")
    assert [part["image_url"] for part in two[1:]] == [first, second]
    assert below[0]["text"].startswith("[image below]\n[kept")
    assert [part["image_url"] for part in below[1:]] == [second]
    assert texts == [NOTHING, "No.", "Down." + NOTE]


@pytest.mark.promise("K028", "K029", "K265", "K267")
async def test_long_text_is_cut_where_the_contract_cuts_it(tmp_path):
    cut = "\n\n[…truncated {} more chars — summarize what you have or fetch a more specific item]"
    async with kotoba(tmp_path, FILES) as room:
        for tool, long, most in (
            ("give", 16_000, 16_000),
            ("give", 20_000, 16_000),
            ("browser__x", 24_000, 24_000),
            ("browser__x", 24_001, 24_000),
        ):
            await room.events()
            outcome = await room.call(tool, {"value": f"'x' * {long}"})
            tail = cut.format(long - most) if long > most else ""
            assert outcome.text == "x" * most + tail
            (end,) = [data for _, data in kinds(await room.events(), Kind.CALL_ENDED)]
            assert end["text"] == outcome.text
            await room.turn("go", [call(tool, {"value": f"'x' * {long}"})], "Done.")
            assert room.requests[-1].messages[-1].text == outcome.text
            assert (end["full"], end["line"]) == (outcome.text, "x" * 160)
        failed = await room.call("give", {"value": "'x' * 20000", "fail": 1})
        assert failed.text == "x" * 16_000 + cut.format(4000) + NOTE
        # As many in one turn as it may make.
        several = [call(tool, {"value": f"'{at}' * 16000"}, at) for at, tool in enumerate(["give", "browser__x"] * 3)]
        await room.turn(
            "go", several, [call("act", {"value": "'6' * 16000"})], [call("act", {"value": "'7' * 16000"})], "Done."
        )
        assert [message.text for message in room.results()[-8:]] == [str(at) * 16_000 for at in range(8)]


@pytest.mark.promise("K269")
async def test_eight_reasons_are_kept_for_the_owner_and_it_is_one_failure(tmp_path):
    async with kotoba(tmp_path, FILES) as room:
        await room.turn("go", [call("give", {"value": "'Down.'", "fail": 12})], "Done.")
        (end,) = [data for _, data in kinds(await room.events(), Kind.CALL_ENDED)]
        assert end["why"] == "; ".join(f"reason {number}" for number in range(8))
        assert room.results()[-1].text == "Down." + NOTE
        assert room.requests[-1].tools


async def test_a_failed_command_marks_the_call_and_its_text_goes_on_without_a_note(tmp_path):
    body = "from etui.contracts.kotoba.witnesses import witness\nwitness().exited(args['code'])\nreturn 'exit'"
    async with kotoba(tmp_path, {"p/ping.py": ping(body)}) as room:
        outcome = await room.call("ping", {"code": 3})
        assert (outcome.status, outcome.text, outcome.why) == (Status.FAILED, "exit", "A command ended with exit code 3.")
        assert (await room.call("ping", {"code": 0})).status is Status.OK


@pytest.mark.promise("K026")
async def test_the_owner_learns_in_one_line_what_an_exception_was_and_no_person_is_told_a_note_for_models(tmp_path):
    half = ping("import model\nreturn model.half(args['n'])", name="give")
    async with kotoba(tmp_path, {"p/give.py": half, "p/model.py": "def half(n):\n    return 2 / n\n"}) as room:
        outcome = await room.call("give", {"n": 0})
        assert (outcome.text, outcome.shown) == (ERRORED, "The tool errored.")
        assert outcome.why == "ZeroDivisionError: division by zero (model.py, line 2)."
        assert outcome.detail.startswith("Traceback")
        assert (await room.call("give")).why == "KeyError: 'n' (give.py, line 8)."
