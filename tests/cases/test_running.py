"""Section F: what blocks, hangs, is stopped, or outlives its call. Through the one door of a whole host."""

from __future__ import annotations

import asyncio
import os
import time

import pytest
from tests.cases.desk import SAYS, Desk, desk_at, running

from etui.agent.model import Text
from etui.agent.scripted import Scripted, call
from etui.events import Kind
from etui.home import Home
from etui.host import open_host
from etui.outcome import Status

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEAD = "from etui import Context, tool\nimport asyncio, time\n"

SLOW = (
    HEAD
    + '''
@tool(timeout=0.3)
def sleeps(seconds: float = 60) -> str:
    """Sleeps."""
    time.sleep(seconds)
    return "woke"

@tool(timeout=0.3)
async def sly(seconds: float = 60) -> str:
    """Blocks its own loop."""
    time.sleep(seconds)
    return "woke"

@tool(timeout=0.3)
def swallows() -> str:
    """Will not be told."""
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass

@tool(timeout=0.3)
async def shielded() -> str:
    """Will not be told either."""
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            pass

@tool
def quick() -> str:
    """Answers at once."""
    return "quick"
'''
)
TICK = 0.02


class Ticker:
    """How many ticks were missed in one go: the longest time in which the loop did nothing else, in ticks."""

    async def __aenter__(self) -> Ticker:
        self.worst = 0.0
        self._task = asyncio.create_task(self._run())
        return self

    async def _run(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(TICK)
            self.worst = max(self.worst, (time.monotonic() - before) / TICK)

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()


@pytest.mark.parametrize("tool", ["sleeps", "sly", "swallows", "shielded"])
async def test_a_tool_that_blocks_stops_neither_the_loop_nor_anybody_else(desk: Desk, tool: str):
    """R064: blocking in a thread and in its own loop; the neighbour answers meanwhile, and the owner sees why it was ended."""
    desk.save("slow.py", SLOW)
    desk.save("neighbour.py", SAYS.format(name="neighbour", word="here"))
    await desk.offered("shielded", "neighbour")
    await desk.value("neighbour")
    async with Ticker() as ticker:
        blocked = asyncio.create_task(desk.call(tool))
        answers = [await desk.value("neighbour") for _ in range(20)]
        outcome = await blocked
    assert answers == ["here"] * 20
    assert ticker.worst < 20
    assert outcome.status is Status.TIMED_OUT
    assert "took longer than 0.3 s" in outcome.text
    assert await desk.value("quick") == "quick"


async def test_forty_hung_calls_end_in_time_and_leave_nothing(desk: Desk):
    """R065: together, some a plain function, some a coroutine; and then one that answers at once."""
    desk.save("slow.py", SLOW)
    await desk.offered("quick")
    began = time.monotonic()
    outcomes = await asyncio.gather(*(desk.call("sleeps" if number % 2 else "swallows") for number in range(40)))
    assert {outcome.status for outcome in outcomes} == {Status.TIMED_OUT}
    assert time.monotonic() - began < 0.3 * 40
    assert await desk.value("quick") == "quick"
    [alive] = [alive for alive in desk.host.workers.report() if alive.plugin == "slow" and not alive.leaving]
    assert alive.calls == 0
    assert len(os.listdir(f"/proc/{alive.pid}/task")) < 10


ENDS = (
    HEAD
    + '''from etui import ToolError, Refusal

@tool(timeout=0.6)
async def long_enough() -> str:
    """Needs a while."""
    await asyncio.sleep(0.4)
    return "done"

@tool(timeout=0.2)
async def too_short() -> str:
    """Needs a while."""
    await asyncio.sleep(0.4)
    return "done"

@tool(timeout=0.2, arg_timeout="wait")
async def by_argument(wait: float = 0.1) -> str:
    """Takes the time that it is given."""
    await asyncio.sleep(0.4)
    return "done"

@tool(timeout=None)
async def unlimited() -> str:
    """Has no limit."""
    await asyncio.sleep(0.4)
    return "done"
'''
)
EMPTY = [
    "TimeoutError()",
    "Exception()",
    "asyncio.TimeoutError",
    "ToolError('')",
    "Refusal('')",
    "ValueError('  ')",
    "AssertionError",
]
EMPTY += ["OSError()", "KeyError('')", "StopIteration", "RuntimeError(None)", "ExceptionGroup('', [ValueError()])"]


async def test_each_tool_has_its_own_limit(desk: Desk):
    """R067"""
    desk.save("ends.py", ENDS)
    await desk.offered("unlimited")
    names = [("long_enough", {}), ("unlimited", {}), ("by_argument", {"wait": 5}), ("too_short", {}), ("by_argument", {})]
    outcomes = await asyncio.gather(*(desk.call(name, arguments) for name, arguments in names))
    assert [outcome.status.value for outcome in outcomes] == ["ok", "ok", "ok", "timed_out", "timed_out"]
    assert "0.2 s" in outcomes[3].text


async def test_no_failure_is_without_words_and_each_names_its_kind(desk: Desk):
    """R067: exceptions that have no text of their own."""
    text = HEAD + "from etui import ToolError, Refusal\n"
    for number, raised in enumerate(EMPTY):
        text += f"\n@tool\ndef empty_{number}() -> str:\n    'Raises.'\n    raise {raised}\n"
        text += f"\n@tool\nasync def async_empty_{number}() -> str:\n    'Raises.'\n    raise {raised}\n"
    desk.save("empties.py", text)
    await desk.offered("async_empty_0")
    for number, raised in enumerate(EMPTY):
        for name in (f"empty_{number}", f"async_empty_{number}"):
            outcome = await desk.call(name)
            kind = raised.partition("(")[0].removeprefix("asyncio.")
            assert outcome.status in (Status.FAILED, Status.REFUSED), raised
            assert len(outcome.text.strip()) > 10, (raised, outcome.text)
            if kind not in ("ToolError", "Refusal", "StopIteration"):
                assert kind in outcome.text and outcome.reference and "Traceback" in outcome.detail, (raised, outcome)
            assert "Traceback" not in outcome.text


TREES = {
    "run": "subprocess.run(['bash', '-c', f'sleep {mark} & sleep {mark}'], capture_output=True)",
    "popen": "subprocess.Popen(['bash', '-c', f'sleep {mark} & sleep {mark}'], stdout=subprocess.PIPE).communicate()",
    "session": "subprocess.run(['setsid', '--wait', 'bash', '-c', f'sleep {mark} & sleep {mark}'], capture_output=True)",
    "system": "os.system(f'sleep {mark} & sleep {mark}')",
    "double": "os.system(f'(setsid sleep {mark} >/dev/null 2>&1 &) ; sleep {mark}')",
    "nohup": "subprocess.run(['bash', '-c', f'trap \"\" TERM HUP INT; nohup sleep {mark} & sleep {mark}; sleep {mark}'])",
}


async def test_a_limit_ends_the_whole_tree(desk: Desk):
    """R068: the grandchild that holds the pipe, one in a session of its own, one that ignores signals."""
    marks = {way: f"61.06{number}" for number, way in enumerate(TREES)}
    for way, mark in marks.items():
        head = HEAD + f"import subprocess, os\nmark = {mark!r}\n\n@tool(risk='exec', timeout=0.5)\n"
        desk.save(
            f"tree_{way}.py", head + f"def tree_{way}() -> str:\n    'Starts a tree.'\n    {TREES[way]}\n    return 'over'\n"
        )
    await desk.offered(*(f"tree_{way}" for way in TREES))
    began = time.monotonic()
    outcomes = await asyncio.gather(*(desk.call(f"tree_{way}") for way in TREES))
    assert [outcome.status for outcome in outcomes] == [Status.TIMED_OUT] * len(TREES)
    assert time.monotonic() - began < 6
    assert {way: running(mark) for way, mark in marks.items()} == {way: [] for way in TREES}


async def test_a_limit_ends_an_asyncio_subprocess_too(desk: Desk):
    """R068"""
    body = "    process = await asyncio.create_subprocess_shell('sleep 61.068 & sleep 61.068', stdout=-1)\n"
    body += "    ctx.say('started') if say else None\n    await process.communicate()\n"
    head = HEAD + "\n@tool(risk='exec', timeout=0.5)\n"
    desk.save(
        "tree_async.py",
        head + f"async def tree_async(ctx: Context, say: bool = False) -> str:\n    'Starts.'\n{body}    return 'over'\n",
    )
    await desk.offered("tree_async")
    assert (await desk.call("tree_async")).status is Status.TIMED_OUT
    assert not running("61.068")
    since = len(desk.told)
    task = asyncio.create_task(desk.call("tree_async", {"say": True}))
    await desk.until(lambda: desk.events(Kind.SAID, since))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not running("61.068")


OWN = (
    HEAD
    + "\n@tool\ndef {name}(ctx: Context) -> list:\n    'Says.'\n    return [ctx.settings['who'], ctx.settings.get('extra')]\n"
)


@pytest.mark.parametrize("order", [["mine", "yours"], ["yours", "mine"]])
async def test_each_plugin_sees_its_own_settings_whatever_the_order(tmp_path, order: list[str]):
    """R070: both called in one message of the model, and over again."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in order:
        (tools / f"{name}.py").write_text(OWN.format(name=name))
    settings = {"mine": {"who": "me", "extra": {"n": 1}}, "yours": {"who": "you"}}
    model = Scripted([[call(name, index=at) for at, name in enumerate(order)], "Both."])
    rows = {"shelf": False, "unconfined": "allow", "plugin": settings}
    async with open_host(Home(tmp_path), rows, environ={}, model=model) as host:
        chat = host.store.chats.create(channel="console")
        assert await host.conversations.turn(chat.id, "go") == "Both."
        told = {message.tool: message.text for message in host.store.chats.messages(chat.id) if message.role == "tool"}
        assert "me" in told["mine"] and "you" in told["yours"] and "you" not in told["mine"].replace("yours", "")
        session = host.session("python")
        outcomes = await asyncio.gather(*(session.call(session.new_call(name, {})) for name in order * 10))
        assert [outcome.data for outcome in outcomes] == [
            ["me", {"n": 1}] if name == "mine" else ["you", None] for name in order * 10
        ]


NESTED = (
    HEAD
    + '''import contextvars

CURRENT = contextvars.ContextVar("current", default="original")
SHARED = {"value": "original"}

@tool
async def swaps(value: str, seconds: float) -> list:
    """Swaps a value for the length of a call."""
    token = CURRENT.set(value)
    try:
        await asyncio.sleep(seconds)
        return [CURRENT.get(), value]
    finally:
        CURRENT.reset(token)

@tool
def swaps_in_thread(value: str, seconds: float) -> list:
    """The same in a thread."""
    CURRENT.set(value)
    time.sleep(seconds)
    return [CURRENT.get(), value]

@tool
async def now() -> str:
    """What it is now."""
    return CURRENT.get()

@tool
def now_in_thread() -> str:
    """What it is now."""
    return CURRENT.get()

@tool
def who(ctx: Context, seconds: float = 0) -> list:
    """Who asks."""
    before = [ctx.session.session, ctx.session.channel, ctx.session.user_text]
    time.sleep(seconds)
    return [before, [ctx.session.session, ctx.session.channel, ctx.session.user_text]]
'''
)


async def test_what_one_call_sets_no_other_call_sees(desk: Desk):
    """R071: five calls at once of different lengths, in both kinds of tools; afterwards the value is the original one."""
    desk.save("nested.py", NESTED)
    await desk.offered("swaps", "who")
    lengths = [0.2, 0.02, 0.1, 0.05, 0.15]
    for tool in ("swaps", "swaps_in_thread"):
        calls = [desk.value(tool, value=str(seconds), seconds=seconds) for seconds in lengths]
        assert await asyncio.gather(*calls) == [[str(seconds), str(seconds)] for seconds in lengths]
    assert await desk.value("now") == await desk.value("now_in_thread") == "original"


async def test_each_of_many_calls_at_once_knows_its_own_caller(desk: Desk):
    """R071: sessions with different channels and words, side by side in one worker."""
    desk.save("nested.py", NESTED)
    await desk.offered("swaps", "who")
    sessions = [desk.host.session("python" if number % 2 else "terminal") for number in range(10)]
    for number, session in enumerate(sessions):
        session.user_text = f"words {number}"
    outcomes = await asyncio.gather(
        *(session.call(session.new_call("who", {"seconds": 0.01 * (10 - at)})) for at, session in enumerate(sessions))
    )
    for session, outcome in zip(sessions, outcomes, strict=True):
        assert outcome.data == [[session.id, session.channel, session.user_text]] * 2


STOPPED = (
    HEAD
    + '''
@tool
def sleeps_five(ctx: Context) -> str:
    """Sleeps."""
    ctx.say("asleep")
    time.sleep(5)
    return "slept"

@tool
async def cooperates(ctx: Context) -> str:
    """Sees that it was stopped."""
    ctx.say("waiting")
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        await ctx.state.put("seen", "cancelled")
        raise
    return "waited"

@tool
async def seen(ctx: Context) -> str:
    """What it saw."""
    return str(await ctx.state.get("seen"))
'''
)


@pytest.mark.parametrize("tool", ["sleeps_five", "cooperates"])
async def test_stop_frees_the_caller_soon_and_has_one_end(desk: Desk, tool: str):
    """R073: by the person's stop; the tool is written down as cancelled, and the next call works."""
    desk.save("stopped.py", STOPPED)
    await desk.offered(tool)
    since = len(desk.told)
    task = asyncio.create_task(desk.call(tool))
    await desk.until(lambda: desk.events(Kind.SAID, since))
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 2.5
    await desk.until(lambda: desk.events(Kind.CALL_ENDED, since))
    [ended] = desk.events(Kind.CALL_ENDED, since)
    assert (ended.data["tool"], ended.data["status"]) == (tool, "cancelled")
    entry = desk.host.store.journal.recent(tool, 1)[0]
    assert entry.status == "cancelled" and entry.ended
    assert await desk.value("seen")


async def test_a_person_who_stops_a_turn_is_free_at_once_and_the_chat_goes_on(tmp_path):
    """R073 R074: the words before the call are there; the call ends as cancelled; the next turn works."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "stopped.py").write_text(STOPPED)
    model = Scripted([[Text("I will wait."), call("sleeps_five")], "Never said.", "Here again."])
    rows = {"shelf": False, "unconfined": "allow"}
    async with open_host(Home(tmp_path), rows, environ={}, model=model) as host:
        desk = Desk(host)
        chat = host.store.chats.create(channel="console")
        host.conversations.say(chat.id, "wait for me")
        await desk.until(lambda: desk.events(Kind.SAID))
        assert "".join(str(event.data["text"]) for event in desk.events(Kind.TEXT)).startswith("I will wait.")
        began = time.monotonic()
        assert host.conversations.stop(chat.id)
        await desk.until(lambda: desk.events(Kind.TURN_ENDED))
        assert time.monotonic() - began < 2.5
        assert desk.events(Kind.TURN_ENDED)[0].data["why"] == "stopped"
        assert host.store.journal.recent("sleeps_five", 1)[0].status == "cancelled"
        assert "I will wait." in " ".join(message.text for message in host.store.chats.messages(chat.id))
        assert await host.conversations.turn(chat.id, "still there?")
        await desk.close()


TIMER = (
    HEAD
    + '''
@tool(timeout=1)
def set_a_timer(ctx: Context, seconds: float) -> str:
    """Sets a timer."""
    ctx.remind("Time is up.", seconds, kind="timer")
    return "It runs."
'''
)


async def test_long_work_outlives_the_call_the_session_and_the_host(tmp_path):
    """R074: a timer returns at once, goes on without its session, also over a restart, and is said once."""
    now = [time.time()]
    async with desk_at(tmp_path, clock=lambda: now[0]) as desk:
        desk.save("timer.py", TIMER)
        await desk.offered("set_a_timer")
        assert await desk.value("set_a_timer", seconds=3) == "It runs."
        assert await desk.value("set_a_timer", seconds=3600) == "It runs."
        now[0] += 4
        desk.host._reminding.wake()
        await desk.until(lambda: desk.events(Kind.SAID))
        assert [event.data["text"] for event in desk.events(Kind.SAID)] == ["Time is up."]
    now[0] += 7200
    async with desk_at(tmp_path, clock=lambda: now[0]) as desk:
        assert desk.host.store.reminders.upcoming() == []


async def test_a_call_that_nobody_waits_for_any_more_still_has_an_end(tmp_path):
    """R074: the session hangs up; the host closes in the middle; the journal knows what became of it."""
    async with desk_at(tmp_path) as desk:
        desk.save("stopped.py", STOPPED)
        await desk.offered("sleeps_five")
        task = asyncio.create_task(desk.call("sleeps_five"))
        await desk.until(lambda: desk.events(Kind.SAID))
    outcome = await task
    assert outcome.status in (Status.CRASHED, Status.UNKNOWN, Status.CANCELLED)
    async with desk_at(tmp_path) as desk:
        assert desk.host.store.journal.running() == []


async def test_a_loose_file_that_reads_a_neighbour_is_told_to_move_into_a_folder_and_then_it_works(desk: Desk):
    text = """
from pathlib import Path

from etui import tool

@tool
def greeting() -> str:
    \"\"\"Say what the file beside this one says.\"\"\"
    return Path(__file__).with_name("words.txt").read_text()
"""
    desk.save("words.txt", "hello")
    desk.save("greet.py", text)
    await desk.offered("greeting")
    outcome = await desk.call("greeting")
    assert (outcome.status, "put both into a folder of their own" in outcome.text) == (Status.FAILED, True)
    assert "'words.txt' lies beside 'greet.py'" in outcome.why
    desk.save("greet/words.txt", "hello")
    desk.save("greet/greet.py", text)
    (desk.tools / "greet.py").unlink()
    await desk.serves("greeting", "hello")
