"""The thread beside the person: what it waits for, and Ctrl-C meanwhile."""

from __future__ import annotations

import asyncio
import signal
import threading
from concurrent.futures import Future

import pytest
from tests.cli.processes import LONG

from etui.errors import EtuiError
from etui.surfaces.cli.beside import Beside
from etui.surfaces.cli.following import Talk


def test_ctrl_c_is_heard_whichever_thread_is_given_the_signal():
    heard = threading.Event()
    work: Future[str] = Future()

    def elsewhere() -> None:
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        heard.wait(LONG)
        work.set_result("nobody heard it")

    thread = threading.Thread(target=elsewhere)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        Beside(None).wait(work)
    heard.set()
    thread.join()


def test_what_was_waited_for_is_given_as_it_ended():
    done: Future[int] = Future()
    done.set_result(42)
    assert Beside(None).wait(done) == 42
    failed: Future[int] = Future()
    failed.set_exception(TimeoutError("its own"))
    with pytest.raises(TimeoutError, match="its own"):
        Beside(None).wait(failed)


class Far:
    """A host that takes its time to begin a turn, and ends it when it is told to."""

    def __init__(self) -> None:
        self.begins = asyncio.Event()
        self.stopped = asyncio.Event()
        self.posted: list[str] = []

    async def lines(self, path, body):
        await self.begins.wait()
        yield {"kind": "turn_started", "chat": "c1", "turn": "t1", "data": {}}
        await self.stopped.wait()
        yield {"kind": "answer", "chat": "c1", "turn": "t1", "text": "", "why": "stopped"}

    async def post(self, path, body):
        self.posted.append(path)
        self.stopped.set()


async def test_a_stop_before_the_turn_is_known_stops_it_once_it_is():
    far = Far()
    talk = Talk(far, quiet=True)
    saying = asyncio.create_task(talk.say("hang around"))
    stopping = asyncio.create_task(talk.stop())
    await asyncio.sleep(0)
    far.begins.set()
    await asyncio.wait_for(asyncio.gather(saying, stopping), LONG)
    assert far.posted == ["/api/chats/c1/stop"] and saying.result()["why"] == "stopped"


async def test_a_stop_of_a_turn_that_never_came_ends_too():
    class Gone(Far):
        async def lines(self, path, body):
            raise EtuiError("The host is gone.")
            yield

    talk = Talk(Gone(), quiet=True)
    saying = asyncio.create_task(talk.say("hang around"))
    stopping = asyncio.create_task(talk.stop())
    with pytest.raises(EtuiError):
        await saying
    await asyncio.wait_for(stopping, LONG)
