"""What a plugin asks of the host outside of any call, over the line that is its own."""

from __future__ import annotations

from pathlib import Path

from tests.run.kit import QUICK, Desk, files, job

from etui.run.workers import Workers
from etui.tool import Grant

PLUGIN = """
import threading
from etui.contracts import apart
from etui.errors import ServiceError

try:
    apart.line()
    EARLY = ""
except ServiceError as error:
    EARLY = str(error)

later = threading.Event()
answers = []
heard = threading.Event()

def _ask():
    later.wait()
    try:
        answers.append(apart.line().ask_sync("state.get", key="x"))
    except ServiceError as error:
        answers.append(str(error))
    heard.set()

async def early(arguments, line):
    return EARLY

async def begin(arguments, line):
    threading.Thread(target=_ask, daemon=True).start()
    return None

def answer(arguments, line):
    later.set()
    heard.wait()
    return answers
"""


async def asked(tmp_path: Path, desk: Desk | None) -> object:
    """What a thread was answered that outlives the call which started it."""
    path = tmp_path / "odd.py"
    path.write_text(PLUGIN)
    contract = str(Path(__file__).with_name("plain_contract.py"))
    apart = None if desk is None else lambda files: desk.serve
    made = Workers(timing=QUICK, contract_path=contract, environ={}, apart=apart)
    await made.start()
    try:
        made.set_plugin(files(path), Grant())
        early = await made.run(job("early"))
        assert "once the plugin has been loaded" in str(early.data)
        await made.run(job("begin"))
        return (await made.run(job("answer"))).data
    finally:
        await made.close()


async def test_a_thread_that_outlives_its_call_is_answered_over_the_plugins_own_line(tmp_path):
    desk = Desk()

    async def seven(service: str, arguments: dict[str, object]) -> object:
        return 7

    desk.answer = seven
    assert await asked(tmp_path, desk) == [7]
    assert desk.of("state.get") == [{"key": "x"}]


async def test_where_the_host_answers_nothing_outside_of_calls_it_says_so(tmp_path):
    assert await asked(tmp_path, None) == ["'state.get' can only be asked for in a call."]
