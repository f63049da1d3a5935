"""Workers as a whole: describing, swapping under load, dying, retrying, resting, and what reaches a worker from the host."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from tests.run.kit import QUICK, TOOLS, Desk, files, job, workers

from etui.events import Kind
from etui.outcome import Status
from etui.run.workers import Timing, Workers
from etui.tool import Grant, Risk

HOSTILE = Path(__file__).with_name("hostile.py")


@pytest.fixture(params=["zygote", "spawn"])
def zygote(request: pytest.FixtureRequest) -> bool:
    return request.param == "zygote"


def plugin(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def version(number: int) -> str:
    return f"async def which(arguments, line):\n    return {number}\n"


def living(made: Workers, name: str = "odd") -> list[int]:
    return [alive.pid for alive in made.report() if alive.plugin == name]


async def test_a_plugin_is_described_in_a_worker_that_goes_again(zygote):
    async with workers(zygote=zygote) as made:
        description = await made.describe(files(TOOLS), Grant())
        assert "add" in {tool.name for tool in description.tools}
        assert made.report() == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import os\nos._exit(3)\n", "Its process died while it was loaded: it ended itself with code 3."),
        ("import ctypes\nctypes.string_at(0)\n", "Its process died while it was loaded: it was killed by SIGSEGV."),
        ("while True: pass\n", "It was not loaded after 0.5 s."),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n", "It was not loaded after 0.5 s."),
        ("raise SystemExit(2)\n", "It tried to end the program while it was loaded."),
        ("raise KeyboardInterrupt\n", "It tried to end the program while it was loaded."),
        ("class Odd(BaseException): pass\nraise Odd\n", "It could not be loaded: Odd."),
        ("def broken(:\n", "SyntaxError"),
    ],
)
async def test_what_goes_wrong_while_loading_is_a_problem_that_names_the_file(tmp_path, text, words):
    path = plugin(tmp_path / "bad.py", text)
    async with workers(timing=Timing(grace=0.2, describe=0.5)) as made:
        description = await made.describe(files(path, "bad"), Grant())
    [problem] = description.problems
    assert words in problem.reason
    assert problem.file == str(path)
    assert description.tools == ()


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("import os\nos._exit(3)\n", 0, "Remove what ends the program"),
        ("import ctypes\n\nctypes.string_at(0)\n", 3, "import the packages one by one"),
        ("import ctypes\n\ndef crash():\n    ctypes.string_at(0)\n\ncrash()\n", 4, "import the packages one by one"),
    ],
)
async def test_a_process_that_dies_while_it_loads_is_told_with_its_line_and_what_may_help(tmp_path, text, line, hint):
    path = plugin(tmp_path / "bad.py", text)
    async with workers() as made:
        [problem] = (await made.describe(files(path, "bad"), Grant())).problems
    assert (problem.file, problem.line) == (str(path), line)
    assert hint in problem.hint
    assert ("Segmentation fault" in problem.trace) == bool(line)


async def test_many_are_described_at_once(tmp_path):
    async with workers() as made:
        paths = [plugin(tmp_path / f"p{number}.py", version(number)) for number in range(12)]
        described = await asyncio.gather(*(made.describe(files(path, path.stem), Grant()) for path in paths))
    assert [len(description.tools) for description in described] == [1] * 12


async def test_describing_can_be_cancelled(tmp_path):
    path = plugin(tmp_path / "slow.py", "while True: pass\n")
    async with workers() as made:
        describing = asyncio.create_task(made.describe(files(path), Grant()))
        while not made.report():
            await asyncio.sleep(0)
        describing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await describing
        assert made.report() == []


async def test_describing_that_is_cancelled_just_as_its_worker_dies_is_cancelled(tmp_path):
    path = plugin(tmp_path / "slow.py", "while True: pass\n")
    async with workers() as made:
        describing = asyncio.create_task(made.describe(files(path), Grant()))
        while not list(made._living):
            await asyncio.sleep(0)
        (worker,) = made._living
        await asyncio.sleep(0)
        worker.described.add_done_callback(lambda _: describing.cancel())
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(asyncio.CancelledError):
            await describing


async def test_a_worker_starts_at_the_first_call_and_keeps_its_state(zygote):
    async with workers(zygote=zygote) as made:
        made.set_plugin(files(TOOLS), Grant())
        assert made.report() == []
        assert [(await made.run(job("count"))).data for _ in range(3)] == [1, 2, 3]
        assert len(living(made)) == 1


async def test_a_worker_can_be_started_before_it_is_needed():
    async with workers() as made:
        made.set_plugin(files(TOOLS), Grant())
        await made.prewarm("odd")
        before = living(made)
        await made.run(job("count"))
        assert living(made) == before != []


async def test_calls_that_come_at_once_share_one_start():
    async with workers() as made:
        made.set_plugin(files(TOOLS), Grant())
        outcomes = await asyncio.gather(*(made.run(job("count")) for _ in range(50)))
        assert sorted(outcome.data for outcome in outcomes) == list(range(1, 51))


async def test_the_same_version_again_changes_nothing():
    async with workers() as made:
        made.set_plugin(files(TOOLS, digest="d"), Grant())
        await made.run(job("count"))
        made.set_plugin(files(TOOLS, digest="d"), Grant())
        assert (await made.run(job("count"))).data == 2


async def test_the_next_call_runs_the_new_version_and_the_old_one_finishes(tmp_path):
    path = tmp_path / "p.py"
    slow = (
        "import asyncio\nasync def slow(arguments, line):\n    line.say('in')\n    await asyncio.sleep(0.3)\n    return 'old'\n"
    )
    plugin(path, slow + version(1))
    async with workers() as made:
        made.set_plugin(files(path, digest="1"), Grant())
        desk = Desk()
        old = asyncio.create_task(made.run(job("slow", desk=desk)))
        await desk.next("say")
        plugin(path, version(2))
        made.set_plugin(files(path, digest="2"), Grant())
        assert (await made.run(job("which"))).data == 2
        assert not old.done()
        assert (await old).data == "old"
        while len(living(made)) > 1:
            await asyncio.sleep(0.01)
        assert (await made.run(job("which"))).data == 2


async def test_no_call_is_lost_over_reloads_under_load(tmp_path, zygote):
    path = plugin(tmp_path / "p.py", version(0))
    async with workers(zygote=zygote) as made:
        made.set_plugin(files(path, digest="0"), Grant())
        seen: list[object] = []
        over = asyncio.Event()

        async def client():
            while not over.is_set():
                outcome = await made.run(job("which"))
                assert outcome.status is Status.OK, outcome
                seen.append(outcome.data)

        clients = [asyncio.create_task(client()) for _ in range(8)]
        for number in (1, 2, 3):
            count = len(seen)
            while len(seen) < count + 100:
                await asyncio.sleep(0.001)
            plugin(path, version(number))
            made.set_plugin(files(path, digest=str(number)), Grant())
        while not seen or seen[-1] != 3:
            await asyncio.sleep(0.001)
        over.set()
        await asyncio.gather(*clients)
        assert set(seen) >= {0, 3}
        assert (await made.run(job("which"))).data == 3


async def test_a_removed_plugin_finishes_what_it_has():
    async with workers() as made:
        made.set_plugin(files(TOOLS), Grant())
        desk = Desk()
        call = asyncio.create_task(made.run(job("sleeps", {"seconds": 0.2}, desk=desk)))
        await desk.next("say")
        made.remove_plugin("odd")
        assert (await made.run(job("count"))).status is Status.REFUSED
        assert (await call).data == "slept"


async def test_a_plugin_that_changes_while_it_starts_is_started_anew(tmp_path):
    path = plugin(tmp_path / "p.py", "import time\ntime.sleep(0.3)\n" + version(1))
    async with workers() as made:
        made.set_plugin(files(path, digest="1"), Grant())
        first = asyncio.create_task(made.run(job("which")))
        while not made.report():
            await asyncio.sleep(0)
        plugin(path, version(2))
        made.set_plugin(files(path, digest="2"), Grant())
        assert (await made.run(job("which"))).data == 2
        assert (await first).status is Status.OK
        assert (await made.run(job("which"))).data == 2


async def test_a_call_that_only_reads_is_tried_once_more_in_a_new_worker(tmp_path):
    text = (
        "import os\n"
        "def dies_once(arguments, line):\n"
        "    if line.ask_sync('state.get', key='died') is None:\n"
        "        os._exit(1)\n"
        "    return 'second try'\n"
    )
    desk = Desk()

    async def answer(service, arguments):
        return None if len(desk.asked) == 1 else True

    desk.answer = answer
    async with workers() as made:
        made.set_plugin(files(plugin(tmp_path / "p.py", text)), Grant())
        assert (await made.run(job("dies_once", risk=Risk.READ, desk=desk))).data == "second try"
        outcome = await made.run(job("dies_once", risk=Risk.WRITE, desk=Desk()))
        assert outcome.status is Status.UNKNOWN
        assert "may have happened" in outcome.text


async def test_a_call_that_only_reads_is_not_tried_for_ever():
    async with workers() as made:
        made.set_plugin(files(HOSTILE), Grant())
        desk = Desk()
        outcome = await made.run(job("leaves", risk=Risk.READ, desk=desk))
        assert outcome.status is Status.CRASHED
        assert "it ended itself with code 3" in outcome.text


async def test_the_other_calls_of_a_killed_worker_end_and_those_that_read_are_tried_again():
    async with workers() as made:
        made.set_plugin(files(TOOLS), Grant())
        reader, writer = Desk(), Desk()
        reading = asyncio.create_task(made.run(job("sleeps", {"seconds": 0.6}, risk=Risk.READ, desk=reader)))
        writing = asyncio.create_task(made.run(job("sleeps", {"seconds": 0.6}, risk=Risk.WRITE, desk=writer)))
        await asyncio.gather(reader.next("say"), writer.next("say"))
        assert (await made.run(job("blocks", seconds=0.1))).status is Status.TIMED_OUT
        assert (await writing).status is Status.UNKNOWN
        assert (await reading).data == "slept"
        assert len(reader.of("say")) == 2


async def test_a_call_to_a_worker_that_died_meanwhile_just_works(zygote):
    async with workers(zygote=zygote) as made:
        made.set_plugin(files(TOOLS), Grant())
        await made.run(job("count"))
        [pid] = living(made)
        os.kill(pid, signal.SIGKILL)
        outcome = await made.run(job("add", {"a": 1, "b": 2}, risk=Risk.READ, seconds=5))
        assert outcome.data == 3


async def test_a_stopped_worker_is_killed_at_the_deadline(zygote):
    async with workers(zygote=zygote) as made:
        made.set_plugin(files(TOOLS), Grant())
        await made.run(job("count"))
        [pid] = living(made)
        os.kill(pid, signal.SIGSTOP)
        assert (await made.run(job("count", seconds=0.2))).status is Status.TIMED_OUT
        assert (await made.run(job("count"))).data == 1


async def test_a_plugin_that_dies_at_start_is_left_alone_until_it_changes(tmp_path):
    path = plugin(tmp_path / "p.py", "import os\nos._exit(7)\n")
    async with workers() as made:
        made.set_plugin(files(path, digest="1"), Grant())
        for _ in range(3):
            outcome = await made.run(job("which"))
            assert outcome.status is Status.CRASHED
            assert "died while it started: it ended itself with code 7" in outcome.text
        outcome = await made.run(job("which"))
        assert "is not started again for" in outcome.text
        assert "it ended itself with code 7" in outcome.text
        plugin(path, version(2))
        made.set_plugin(files(path, digest="2"), Grant())
        assert (await made.run(job("which"))).data == 2


async def test_a_plugin_that_hangs_at_start_is_killed(tmp_path):
    path = plugin(tmp_path / "p.py", "while True: pass\n")
    async with workers(timing=Timing(grace=0.2, start=0.3)) as made:
        made.set_plugin(files(path), Grant())
        outcome = await made.run(job("which"))
        assert outcome.status is Status.CRASHED
        assert "it had not loaded its plugin after 0.3 s" in outcome.text
        assert made.report() == []


async def test_a_plugin_that_no_longer_loads_says_so_at_each_call(tmp_path):
    path = plugin(tmp_path / "p.py", "raise SystemExit\n")
    async with workers() as made:
        made.set_plugin(files(path), Grant())
        outcome = await made.run(job("which"))
        assert outcome.status is Status.FAILED
        assert "It tried to end the program while it was loaded." in outcome.text


async def test_a_dead_zygote_is_replaced_and_takes_its_workers_along():
    async with workers(zygote=True) as made:
        made.set_plugin(files(TOOLS), Grant())
        await made.run(job("count"))
        [pid] = living(made)
        zygote = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        call = asyncio.create_task(made.run(job("sleeps")))
        await asyncio.sleep(0)
        os.kill(zygote, signal.SIGKILL)
        assert (await call).status is Status.UNKNOWN
        assert (await made.run(job("count"))).data == 1
        assert living(made) != [pid]


async def test_a_tools_python_that_cannot_start_is_one_clear_sentence(tmp_path, zygote):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'No module named msgspec' >&2\nexit 1\n")
    python.chmod(0o755)
    async with workers(zygote=zygote, tools_python=str(python)) as made:
        made.set_plugin(files(TOOLS), Grant())
        outcome = await made.run(job("count"))
        assert outcome.status is Status.CRASHED
        if zygote:
            assert "No module named msgspec" in outcome.text
    async with workers(zygote=zygote, tools_python=str(tmp_path / "nothing")) as made:
        description = await made.describe(files(TOOLS), Grant())
        assert "could not be started" in description.problems[0].reason


SPY = """
import os, sys
async def environment(arguments, line):
    return dict(os.environ)
async def place(arguments, line):
    return {"cwd": os.getcwd(), "path": sys.path, "stdin": os.readlink("/proc/self/fd/0"), "argv": sys.argv}
async def descriptors(arguments, line):
    return sorted(int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}"))
async def status(arguments, line):
    return dict(row.split(":\\t", 1) for row in open("/proc/self/status").read().splitlines() if ":\\t" in row)
async def prints(arguments, line):
    print("to the owner", flush=False)
    print("oops \\ud800", file=sys.stderr)
"""


async def test_a_worker_gets_nothing_of_the_hosts_environment_but_what_was_granted(tmp_path, zygote):
    environ = {"PATH": "/bin", "LANG": "C.UTF-8", "HOME": "/h", "TZ": "UTC", "OPENAI_API_KEY": "sk-1", "WEATHER": "w"}
    path = plugin(tmp_path / "spy.py", SPY)
    async with workers(zygote=zygote, environ=environ) as made:
        made.set_plugin(files(path), Grant(env=("WEATHER", "ABSENT")))
        seen = (await made.run(job("environment"))).data
    assert seen.pop("WEATHER") == "w"
    seen.pop("LC_CTYPE", None)
    assert {name: seen[name] for name in ("PATH", "LANG", "HOME", "TZ")} == {
        k: environ[k] for k in ("PATH", "LANG", "HOME", "TZ")
    }
    fixed = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "PYTHONDONTWRITEBYTECODE", "GIT_CONFIG_GLOBAL", "KERYX_ACTOR"}
    assert set(seen) == {"PATH", "LANG", "HOME", "TZ", *fixed}


async def test_a_worker_starts_in_its_folder_with_its_streams_and_no_stray_descriptor(tmp_path, zygote):
    work = tmp_path / "work"
    path = plugin(tmp_path / "spy.py", SPY)
    async with workers(zygote=zygote) as made:
        made.set_plugin(files(path, work=work), Grant(write=(str(work),)))
        place = (await made.run(job("place"))).data
        assert place["cwd"] == str(work)
        assert place["stdin"] == "/dev/null"
        assert str(Path(TOOLS).parents[2]) not in place["path"]
        open_ = (await made.run(job("descriptors"))).data
        assert len(open_) <= 8
        status = (await made.run(job("status"))).data
        assert status["CapEff"] == status["CapPrm"] == status["CapBnd"] == "0" * 16 or os.getuid()
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


async def test_what_a_tool_prints_is_kept_for_the_owner(tmp_path, zygote):
    path = plugin(tmp_path / "spy.py", SPY)
    async with workers(zygote=zygote) as made:
        made.set_plugin(files(path), Grant())
        await made.run(job("prints"))
        while "oops" not in made.logs("odd"):
            await asyncio.sleep(0)
        assert made.logs("odd") == "to the owner\noops \\ud800\n"
        assert made.logs("nobody") == ""


async def test_the_owner_sees_what_is_enforced_and_who_is_alive():
    told: list[tuple[Kind, dict[str, object]]] = []
    async with workers(tell=lambda kind, data: told.append((kind, data))) as made:
        made.set_plugin(files(TOOLS), Grant())
        assert made.enforced("odd") is None
        await made.run(job("count"))
        enforced = made.enforced("odd")
        assert enforced is not None and enforced.whole
        [alive] = made.report()
        assert (alive.plugin, alive.calls, alive.leaving) == ("odd", 0, False)
        assert 1 << 20 < alive.memory < 512 << 20
    assert [kind for kind, _ in told] == [Kind.WORKER_STARTED, Kind.WORKER_GONE]
    assert told[0][1]["pid"] == alive.pid


async def test_closing_ends_the_calls_under_way(zygote):
    async with workers(zygote=zygote) as made:
        made.set_plugin(files(TOOLS), Grant())
        desk = Desk()
        calls = [asyncio.create_task(made.run(job("sleeps", desk=desk, risk=risk))) for risk in (Risk.READ, Risk.WRITE)]
        await desk.next("say")
    assert [(await call).status for call in calls] == [Status.CRASHED, Status.UNKNOWN]
    assert (await made.run(job("count"))).status is Status.CRASHED


async def test_a_late_answer_is_dropped():
    async with workers(timing=Timing(grace=5)) as made:
        made.set_plugin(files(TOOLS), Grant())
        outcome = await made.run(job("stubborn", seconds=0.1))
        assert outcome.status is Status.TIMED_OUT
        assert outcome.data is None
        assert (await made.run(job("count"))).data == 1
    assert QUICK.grace < 1
