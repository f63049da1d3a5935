"""The contract `etui`: one call, from what a tool gives back to what travels, and everything that a tool may do wrong."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contracts.plugins import Host, Written

from etui.contracts import Caller, Ran, sized
from etui.contracts.etui import results
from etui.errors import ServiceError
from etui.outcome import File, Image, Status
from etui.run import wire
from etui.run.answer import answer

Write = Callable[..., Written]
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20

HEAD = """
import asyncio, collections, dataclasses, decimal, enum, math, pathlib, sys, uuid
from datetime import *
import msgspec
from etui import *

PNG = b"\\x89PNG\\r\\n\\x1a\\n" + b"0" * 20

@dataclasses.dataclass
class Spot:
    room: str
    when: date = date(2026, 4, 1)

class Box(msgspec.Struct):
    spot: Spot
    unset: int | msgspec.UnsetType = msgspec.UNSET

class Colour(enum.Enum):
    RED = "red"

Pair = collections.namedtuple("Pair", "a b")

def deep(n):
    out = []
    for _ in range(n):
        out = [out]
    return out

def circle():
    out = []
    out.append(out)
    return out

def gen(*values):
    yield from values

async def later(value):
    return value

async def stream(*values):
    for value in values:
        yield value

class Bad:
    def __str__(self): raise ValueError("no")
    __repr__ = __str__

class Trap(dict):
    def items(self): raise RuntimeError("trap")
"""


def tool(body: str, *, is_async: bool = False, head: str = "x=None") -> str:
    return HEAD + f"\n@tool\n{'async ' if is_async else ''}def f(ctx: Context, {head}):\n    'F.'\n    {body}\n"


async def outcome(write: Write, body: str, **options: Any) -> Any:
    plugin = write(tool(body, **options))
    assert plugin.refusals == []
    return await plugin.call("f")


VALUES: list[tuple[str, str, object]] = [
    ("'hello'", "hello", None),
    ("''", '""', ""),
    ("' '", '" "', " "),
    ("0", "0", 0),
    ("False", "false", False),
    ("[]", "[]", []),
    ("{}", "{}", {}),
    ("3.5", "3.5", 3.5),
    ("{'a': [1, None, True]}", '{"a":[1,null,true]}', {"a": [1, None, True]}),
    ("Spot('hall')", '{"room":"hall","when":"2026-04-01"}', {"room": "hall", "when": "2026-04-01"}),
    ("Box(Spot('a'))", '{"spot":{"room":"a","when":"2026-04-01"}}', {"spot": {"room": "a", "when": "2026-04-01"}}),
    ("Colour.RED", "red", "red"),
    ("Pair(1, 2)", '{"a":1,"b":2}', {"a": 1, "b": 2}),
    ("(1, 2)", "[1,2]", [1, 2]),
    ("{3, 1, 2}", "[1,2,3]", [1, 2, 3]),
    ("frozenset({'b', 'a'})", '["a","b"]', ["a", "b"]),
    ("range(3)", "[0,1,2]", [0, 1, 2]),
    ("{'a': 1}.keys()", '["a"]', ["a"]),
    ("collections.deque([1])", "[1]", [1]),
    ("date(2026, 4, 1)", "2026-04-01", "2026-04-01"),
    ("datetime(2026, 4, 1, 9)", "2026-04-01T09:00:00", "2026-04-01T09:00:00"),
    ("timedelta(minutes=1)", "PT60S", "PT60S"),
    ("pathlib.Path('a/b')", "a/b", "a/b"),
    ("decimal.Decimal('1.50')", "1.50", "1.50"),
    ("uuid.UUID(int=0)", "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000"),
    ("1 + 2j", "(1+2j)", "(1+2j)"),
    ("10**30", "1" + "0" * 30, "1" + "0" * 30),
    ("type('Mine', (str,), {})('mine')", "mine", None),
    ("__import__('fractions').Fraction(1, 3)", "1/3", "1/3"),
    ("__import__('ipaddress').ip_address('::1')", "::1", "::1"),
    ("__import__('types').SimpleNamespace(a=1)", '{"a":1}', {"a": 1}),
    ("{1: 'a', '1': 'b'}", '[["1","a"],["1","b"]]', [["1", "a"], ["1", "b"]]),
    ("{'mean': float('nan'), 'max': math.inf}", '{"mean":null,"max":null}', {"mean": None, "max": None}),
    ("float('nan')", "null", None),
    ("{1: 'a', True: 'b', None: 'c', Colour.RED: 'd', date(2026, 4, 1): 'e', (1, 'x'): 'f'}", None, {
        "1": "b", "null": "c", "red": "d", "2026-04-01": "e", "1,x": "f",
    }),
    ("'x\\udcff'", "x�", None),
    ("'\\ud83d\\ude00'", "😀", None),
    ("gen(1, 2)", "[1,2]", [1, 2]),
    ("later(5)", "5", 5),
    ("stream(1, 2)", "[1,2]", [1, 2]),
]  # fmt: skip


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("code", "text", "data"), VALUES, ids=[value[0] for value in VALUES])
async def test_every_value_reaches_the_model_as_itself(
    write: Write, code: str, text: str | None, data: object, is_async: bool
) -> None:
    ran = await outcome(write, f"return {code}", is_async=is_async)
    assert ran.status == "ok", ran
    assert ran.data == data
    assert type(ran.data) is type(data)
    if text is not None:
        assert ran.text == text
    msgspec.msgpack.encode(ran)
    json.loads(json.dumps(ran.data, allow_nan=False))


async def test_nothing_is_said_in_words(write: Write) -> None:
    ran = await outcome(write, "pass")
    assert (ran.status, ran.text, ran.data, ran.silent) == ("ok", results.NOTHING, None, None)


@pytest.mark.parametrize(
    "code",
    [
        "object()",
        "circle()",
        "deep(5000)",
        "Bad()",
        "{'a': [object()]}",
        "{object(): 1}",
        "Trap(a=1)",
        "lambda: 1",
        "sys",
        "Spot",
        "(i for i in circle())",
        "Result(data=object())",
        "Result(images=[b'nothing'])",
        "Result(files=['/nowhere/at/all'])",
        "Result(text=object())",
    ],
)
async def test_what_cannot_travel_is_a_failure_with_a_sentence(write: Write, code: str) -> None:
    ran = await outcome(write, f"return {code}")
    assert ran.status == "failed"
    assert ran.text.startswith("The tool ran, but its result cannot be passed on: ")
    assert (ran.error, bool(ran.detail)) == ("", True)  # the sentence is for everybody, and its owner finds the details


@pytest.mark.parametrize("code", ["'a' * 50_000_000 + 'z'", "['a' * 999] * 9_000", "Result('ä' * 9_000_000, data=['z'])"])
async def test_of_a_result_that_is_too_large_the_beginning_and_the_end_are_passed_on(write: Write, code: str) -> None:
    ran = await outcome(write, f"return {code}")
    assert (ran.status, ran.data) == ("ok", None)
    assert len(ran.text.encode()) < sized.LARGEST
    assert re.search(r"\n\[\.\.\. [\d,]+ characters are left out: the result is too large \.\.\.\]\n", ran.text)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("Result('Short.', data=['z' * 9_000_000])", "Short.\n[... its data are left out: they are too large ...]"),
        (
            "Result('Drawn.', images=[PNG, PNG + bytes(9_000_000)])",
            "Drawn.\n(Left out, as a whole result may have 8 MB: image 2 with 9.0 MB.)",
        ),
        (
            "Result('Made.', shown='Look.', files=[('a.bin', bytes(5_000_000)), ('b.bin', bytes(5_000_000)), ('c.txt', b'c')])",
            "Made.\n(Left out, as a whole result may have 8 MB: the file 'b.bin' with 5.0 MB.)",
        ),
    ],
)
async def test_what_is_too_large_beside_the_text_is_left_out_and_named(write: Write, code: str, text: str) -> None:
    ran = await outcome(write, f"return {code}")
    assert (ran.status, ran.text, ran.data) == ("ok", text, None)
    assert ran.shown in ("", text.replace("Made.", "Look."))
    assert [image.data for image in ran.images] == [PNG] * len(ran.images)
    assert [file.name for file in ran.files] in ([], ["a.bin", "c.txt"])


LENGTHS = st.sampled_from([0, 1, 100_000, 400_000, 2_000_000, 7_000_000])


@given(st.sampled_from("aä☕🍵"), *[LENGTHS] * 7)
@settings(max_examples=15)
def test_every_result_that_was_made_smaller_travels(
    letter: str, text: int, shown: int, why: int, detail: int, data: int, image: int, file: int
) -> None:
    ran = Ran(
        status=Status.OK,
        text=letter * text,
        shown=letter * shown,
        why=letter * why,
        detail=letter * detail,
        data=[letter * data],
        images=(Image("image/png", bytes(image)),) * 2,
        files=(File("a.bin", data=bytes(file)),) * 2,
    )
    assert len(wire.frame(answer(1, sized.within(ran)))) <= wire.LIMIT


async def test_pictures_and_bytes_are_taken_out_of_the_text(write: Write) -> None:
    encoded = base64.b64encode(PNG).decode()
    for code in (
        "PNG",
        "bytearray(PNG)",
        f"'data:image/png;base64,{encoded}'",
        f"{{'type': 'image', 'data': '{encoded}', 'mimeType': 'image/png'}}",
        "Result(images=[PNG])",
        "Result(images=PNG)",
        "[PNG]",
        "{'picture': PNG}",
        f"{{'picture': 'data:image/png;base64,{encoded}'}}",
    ):
        ran = await outcome(write, f"return {code}")
        assert ran.images == (Image("image/png", PNG),), code
        assert encoded[:20] not in ran.text + json.dumps(ran.data)
        assert ran.text
    ran = await outcome(write, "return b'\\0\\1\\2'")
    assert (ran.files[0].name, ran.files[0].data) == ("result-1.bin", b"\0\1\2")


async def test_a_result_carries_all_of_its_parts(write: Write, tmp_path: Any) -> None:
    (tmp_path / "plan.pdf").write_bytes(b"%PDF")
    ran = await outcome(
        write,
        f"return Result('Here.', {{'n': 1}}, images=[PNG], files=[('a.txt', b'hi'), {str(tmp_path / 'plan.pdf')!r}], "
        "silent=True, shown='S')",
    )
    assert (ran.text, ran.data, ran.silent, ran.shown) == ("Here.", {"n": 1}, True, "S")
    assert [(file.name, file.media_type, file.data) for file in ran.files] == [
        ("a.txt", "text/plain", b"hi"),
        ("plan.pdf", "application/pdf", b"%PDF"),
    ]
    assert (await outcome(write, "return Result()")).text == results.NOTHING
    assert (await outcome(write, "return Result(data=[1])")).text == "[1]"
    assert (await outcome(write, "return Result(files=[('a.txt', 'hi')])")).text == "(the file 'a.txt')"


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("body", "status", "text", "error"),
    [
        ("raise Refusal('Locked.')", "refused", "Locked.", ""),
        ("return Refusal('Locked.')", "refused", "Locked.", ""),
        ("raise Refusal()", "refused", "The tool refused and did not say why.", ""),
        ("ctx.refuse('No.')", "refused", "No.", ""),
        ("raise ToolError('The server is down.')", "failed", "The server is down.", ""),
        ("return ToolError('The server is down.')", "failed", "The server is down.", ""),
        ("raise ToolError('')", "failed", "The tool failed and did not say why.", ""),
        ("raise ValueError('secret /home/me')", "failed", "The tool failed with ValueError.", "ValueError"),
        ("raise TimeoutError()", "failed", "The tool failed with TimeoutError.", "TimeoutError"),
        ("raise Exception()", "failed", "The tool failed with Exception.", "Exception"),
        ("raise StopIteration", "failed", "The tool failed with", None),
        ("next(iter([]))", "failed", "The tool failed with", None),
        ("sys.exit(2)", "failed", "The tool tried to end the program (SystemExit: 2).", "SystemExit"),
        ("sys.exit()", "failed", "The tool tried to end the program (SystemExit).", "SystemExit"),
        ("raise KeyboardInterrupt", "failed", "The tool tried to end the program (KeyboardInterrupt).", "KeyboardInterrupt"),
        ("raise asyncio.CancelledError", "failed", "The tool cancelled itself.", "CancelledError"),
        ("raise GeneratorExit", "failed", "The tool failed with GeneratorExit.", "GeneratorExit"),
        ("raise ExceptionGroup('g', [ValueError(1)])", "failed", "The tool failed with ExceptionGroup.", "ExceptionGroup"),
        ("raise MemoryError", "failed", "The tool failed with MemoryError.", "MemoryError"),
        ("f = lambda: f(); f()", "failed", "The tool failed with RecursionError.", "RecursionError"),
        ("raise type('Bad', (Exception,), {'__str__': lambda self: 1 / 0})", "failed", "The tool failed with Bad.", "Bad"),
        ("raise ValueError('x\\udcff')", "failed", "The tool failed with ValueError.", "ValueError"),
    ],
)
async def test_each_way_to_go_wrong_has_one_end(
    write: Write, body: str, status: str, text: str, error: str | None, is_async: bool
) -> None:
    ran = await outcome(write, body, is_async=is_async)
    assert ran.status == status
    assert ran.text.startswith(text)
    if error is not None:
        assert ran.error == error
    assert "secret" not in ran.text
    msgspec.msgpack.encode(ran)


async def test_the_owner_sees_the_plugin_s_own_frames(write: Write) -> None:
    plugin = write(tool("return 1 / x", head="x: int = 0"))
    ran = await plugin.call("f")
    assert "ZeroDivisionError: division by zero" in ran.detail
    assert "main.py" in ran.detail
    assert "calling.py" not in ran.detail
    assert "thread.py" not in ran.detail


async def test_an_unknown_tool_is_a_failure(write: Write) -> None:
    ran = await write(tool("return 1")).call("gone")
    assert (ran.status, ran.text) == ("failed", "This plugin has no tool 'gone' any more.")


async def test_blocking_tools_run_beside_each_other_and_the_loop_goes_on(write: Write) -> None:
    plugin = write(
        """
        import threading
        from etui import tool

        gate = threading.Barrier(40)

        @tool
        def meet(n: int) -> list:
            "Meet."
            gate.wait(20)
            return [n, threading.current_thread() is threading.main_thread()]
        """
    )
    ran = await asyncio.gather(*(plugin.call("meet", {"n": n}) for n in range(40)))
    assert [one.data for one in ran] == [[n, False] for n in range(40)]


async def test_each_call_has_its_own_context_variables(write: Write) -> None:
    plugin = write(
        """
        import contextvars
        from etui import tool

        name = contextvars.ContextVar("name", default="nobody")

        @tool
        def swap(to: str) -> list:
            "Swap."
            before = name.get()
            name.set(to)
            return [before, name.get()]
        """
    )
    ran = await asyncio.gather(*(plugin.call("swap", {"to": str(n)}) for n in range(5)))
    assert [one.data for one in ran] == [["nobody", str(n)] for n in range(5)]


async def test_a_cancelled_call_is_cancelled(write: Write) -> None:
    plugin = write(
        """
        import asyncio
        from etui import tool, AsyncContext

        @tool
        async def wait(ctx: AsyncContext) -> str:
            "Wait."
            ctx.say("waiting")
            await asyncio.Event().wait()
        """
    )
    began = asyncio.Event()
    host = Host()
    host.say = lambda text: began.set()  # type: ignore[method-assign]
    call = asyncio.create_task(plugin.call("wait", host=host))
    await began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_blocking_call_that_is_cancelled_frees_its_caller_at_once(write: Write) -> None:
    plugin = write(
        """
        import threading
        from etui import tool, Context

        done = threading.Event()

        @tool
        def wait(ctx: Context) -> str:
            "Wait."
            ctx.say("waiting")
            done.wait(20)

        @tool
        def free() -> str:
            "Free."
            done.set()
        """
    )
    loop = asyncio.get_running_loop()
    began = asyncio.Event()
    host = Host()
    host.say = lambda text: loop.call_soon_threadsafe(began.set)  # type: ignore[method-assign]
    call = asyncio.create_task(plugin.call("wait", host=host))
    await began.wait()
    before = time.monotonic()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert time.monotonic() - before < 5
    await plugin.call("free")


BOTH = """
from datetime import *
from etui import *

@tool
def sync(ctx: Context, at: float = 60.0) -> list:
    "Use everything."
    ctx.say("hello"); ctx.progress(0.5, "half"); ctx.progress(None)
    ctx.state.put("n", 1)
    total = ctx.state.update("n", lambda n: n + 1)
    fresh = ctx.state.update("list", lambda items: items + ["x"], [])
    ctx.state.delete("gone")
    answer = ctx.ask("Sure?", ["yes", "no"])
    id = ctx.remind("Tea", at, kind="timer", label="tea")
    kept = ctx.reminders("timer")
    return [total, fresh, ctx.state.get("n"), ctx.state.get("none", 7), ctx.state.keys(), answer.state, answer.text, answer.yes,
            id, kept[0].text, kept[0].at.isoformat(), ctx.forget(id), ctx.settings.get("city"), ctx.settings.get("none", "d"),
            ctx.session.channel, ctx.session.trust]

@tool
async def asynchronous(ctx: {annotation}, at: float = 60.0) -> list:
    "Use everything."
    ctx.say("hello"); ctx.progress(0.5, "half"); ctx.progress(None)
    await ctx.state.put("n", 1)
    async def add(n): return n + 1
    total = await ctx.state.update("n", add)
    fresh = await ctx.state.update("list", lambda items: items + ["x"], [])
    await ctx.state.delete("gone")
    answer = await ctx.ask("Sure?", ["yes", "no"])
    id = await ctx.remind("Tea", at, kind="timer", label="tea")
    kept = await ctx.reminders("timer")
    return [total, fresh, await ctx.state.get("n"), await ctx.state.get("none", 7), await ctx.state.keys(),
            answer.state, answer.text, answer.yes, id, kept[0].text, kept[0].at.isoformat(), await ctx.forget(id),
            await ctx.settings.get("city"), await ctx.settings.get("none", "d"), ctx.session.channel, ctx.session.trust]
"""


class Everything(Host):
    def settings_get(self, name: str) -> object:
        return "Bonn" if name == "city" else None

    def remind_add(self, **args: object) -> str:
        return "r1"

    def remind_list(self, kind: str) -> object:
        return [
            {
                "id": "r1",
                "text": "Tea",
                "due": 1_775_000_000.0,
                "kind": kind,
                "zone": "Europe/Berlin",
                "repeat": "",
                "label": "",
            }
        ]

    def remind_cancel(self, id: str) -> bool:
        return True


@pytest.mark.parametrize("annotation", ["AsyncContext", "Context"])
@pytest.mark.parametrize("name", ["sync", "asynchronous"])
async def test_the_context_serves_both_kinds_of_tools(write: Write, name: str, annotation: str) -> None:
    host = Everything()
    host.answers["ask"] = {"state": "answered", "answer": "Yes"}
    ran = await write(BOTH.replace("{annotation}", annotation)).call(name, host=host)
    assert ran.data == [
        2, ["x"], 2, 7, ["list", "n"], "answered", "Yes", True, "r1", "Tea", "2026-04-01T01:33:20+02:00", True, "Bonn", "d",
        "console", "full",
    ], ran  # fmt: skip
    assert host.said == ["hello"]
    assert host.steps == [(0.5, "half"), (None, "")]
    asked = next(args for service, args in host.asked if service == "ask")
    assert asked == {"question": "Sure?", "choices": ["yes", "no"], "default": ""}


async def test_an_update_loses_nobody_s_write(write: Write) -> None:
    plugin = write(tool("return ctx.state.update('n', lambda n: n + [1], [])"))
    host = Host()
    host.before_swap = [[7], [7, 8]]
    assert (await plugin.call("f", host=host)).data == [7, 8, 1]
    assert host.values["n"][0] == [7, 8, 1]


async def test_an_update_gives_up_in_the_end(write: Write) -> None:
    plugin = write(tool("return ctx.state.update('n', lambda n: 1)"))
    host = Host()
    host.before_swap = list(range(1000))
    ran = await plugin.call("f", host=host)
    assert (ran.status, "'n' is being changed" in ran.text) == ("failed", True)


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_a_service_refuses_is_told(write: Write, is_async: bool) -> None:
    host = Host()
    host.answers["state.get"] = ServiceError("The store is full.")
    plugin = write(tool(f"return {'await ' if is_async else ''}ctx.state.get('a')", is_async=is_async))
    ran = await plugin.call("f", host=host)
    assert (ran.status, ran.text) == ("failed", "The store is full.")


async def test_a_setting_that_is_missing_is_named(write: Write) -> None:
    host = Host()
    host.answers["settings.get"] = None
    ran = await write(tool("return ctx.settings['city']")).call("f", host=host)
    assert ran.text == "This tool needs the setting 'city', which is not set."


@pytest.mark.parametrize(
    ("told", "state", "text", "yes"),
    [
        ({"state": "declined", "answer": ""}, "declined", "", False),
        ({"state": "nobody", "answer": "d"}, "nobody", "d", False),
        ({"state": "answered", "answer": "no"}, "answered", "no", False),
        ({"state": "answered", "answer": "OK!"}, "answered", "OK!", True),
        ({"state": "odd"}, "nobody", "", False),
        (None, "nobody", "", False),
    ],
)
async def test_answers_are_read_as_they_are(write: Write, told: object, state: str, text: str, yes: bool) -> None:
    host = Host()
    host.answers["ask"] = told
    ran = await write(tool("a = ctx.ask('Q?'); return [a.state, a.text, a.yes]")).call("f", host=host)
    assert ran.data == [state, text, yes]


async def test_an_answer_is_not_taken_for_true(write: Write) -> None:
    host = Host()
    host.answers["ask"] = {"state": "declined"}
    ran = await write(tool("return 'done' if ctx.ask('Q?') else 'no'")).call("f", host=host)
    assert (ran.status, ran.error) == ("failed", "TypeError")


@pytest.mark.parametrize(
    ("at", "due", "wall", "zone"),
    [
        ("datetime(2026, 4, 1, 9)", "2026-04-01T07:00:00+00:00", "2026-04-01T09:00", "Europe/Berlin"),
        ("datetime(2026, 3, 28, 9)", "2026-03-28T08:00:00+00:00", "2026-03-28T09:00", "Europe/Berlin"),
        ("datetime(2026, 4, 1, 9, tzinfo=timezone.utc)", "2026-04-01T09:00:00+00:00", "2026-04-01T11:00", "Europe/Berlin"),
        (
            "datetime(2026, 4, 1, 9, tzinfo=__import__('zoneinfo').ZoneInfo('Asia/Tokyo'))",
            "2026-04-01T00:00:00+00:00",
            "2026-04-01T09:00",
            "Asia/Tokyo",
        ),
    ],
)
async def test_a_reminder_keeps_its_wall_time_and_zone(write: Write, at: str, due: str, wall: str, zone: str) -> None:
    host = Host()
    host.answers["remind.add"] = "r1"
    await write(tool(f"return ctx.remind('Tea', {at})")).call("f", host=host)
    ((_, args),) = host.asked
    assert datetime.fromtimestamp(args["at"], UTC).isoformat() == due  # type: ignore[arg-type]
    assert (args["wall"], args["zone"]) == (wall, zone)


async def test_a_reminder_in_seconds_has_no_wall_time(write: Write) -> None:
    host = Host(Caller(timezone="Nowhere/None"))
    host.answers["remind.add"] = "r1"
    before = time.time()
    await write(tool("return ctx.remind('Tea', timedelta(seconds=90))")).call("f", host=host)
    ((_, args),) = host.asked
    assert before + 90 <= args["at"] <= time.time() + 90  # type: ignore[operator]
    assert (args["wall"], args["zone"]) == ("", "UTC")


@pytest.mark.parametrize("at", ["1e20", "float('nan')", "float('inf')", "'tomorrow'"])
async def test_what_is_no_time_for_a_reminder_is_a_failure_with_a_sentence(write: Write, at: str) -> None:
    ran = await write(tool(f"return ctx.remind('Tea', {at})")).call("f", host=Host())
    assert (ran.status, ran.error) == ("failed", "")
    assert ran.text == "A reminder takes a time, or a number of seconds from now, before the year 10000."


async def test_files_are_jailed_in_the_working_folder(write: Write) -> None:
    plugin = write(tool("ctx.files.write_text('a/b.txt', 'hi'); return [ctx.files.read_text('a/b.txt'), ctx.files.list('**')]"))
    assert (await plugin.call("f")).data == ["hi", ["a/", "a/b.txt"]]
    assert (plugin.work / "a" / "b.txt").read_text() == "hi"
    plugin = write(tool("return ctx.files.read_text('../secret')"))
    ran = await plugin.call("f")
    assert (ran.status, ran.text) == ("refused", "'../secret' leads out of the working folder.")


async def test_a_decorated_function_stays_a_function() -> None:
    from etui import tool as decorate

    @decorate(risk="write")
    def add(a: int, b: int = 2) -> int:
        """Add."""
        return a + b

    @decorate
    async def later(a: int) -> int:
        """Later."""
        return a

    assert add(1) == 3
    assert await later(4) == 4
    with pytest.raises(TypeError, match="@tool goes on a function"):
        decorate(3)  # type: ignore[type-var]


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates() | st.timedeltas()
    | st.decimals(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.booleans(), inner) | st.tuples(inner, inner),
    max_leaves=20,
))  # fmt: skip
def test_any_value_has_an_end_that_can_travel(value: object) -> None:
    ran = results.ran(value)
    assert ran.status == "ok"
    assert ran.text
    msgspec.msgpack.encode(ran)
    json.dumps(ran.data, allow_nan=False)
    assert threading.current_thread() is threading.main_thread()


@given(st.text(st.characters()))
def test_cleaned_text_can_always_be_encoded(text: str) -> None:
    cleaned = results.clean(text)
    cleaned.encode()
    assert results.clean(cleaned) == cleaned
