"""The worker's own event loop: what is known of the threads of a call that is called off."""

from __future__ import annotations

import asyncio
import threading

from etui.run.toolloop import CALL, ToolLoop


def test_a_call_that_is_called_off_ends_as_soon_as_its_thread_has():
    loop, begun, gate = ToolLoop(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        gate.wait()

    async def call() -> str:
        CALL.set(1)
        try:
            await asyncio.to_thread(work)
        except asyncio.CancelledError:
            loop.call_soon(gate.set)
            await loop.threads_ended(1)
            return "its thread has ended"
        return "it was not called off"

    async def stopped() -> str:
        running = loop.create_task(call())
        while not begun.is_set():
            await asyncio.sleep(0)
        running.cancel()
        return await asyncio.wait_for(running, 10)

    try:
        assert loop.run_until_complete(stopped()) == "its thread has ended"
    finally:
        gate.set()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
