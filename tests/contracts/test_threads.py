"""A pool that goes on where the system gives no more threads."""

from __future__ import annotations

import threading

import pytest

from etui.contracts.threads import Threads


def refuse(self) -> None:
    raise RuntimeError("can't start new thread")


def test_work_waits_for_a_thread_where_no_more_can_be_had(monkeypatch):
    pool, go, begun = Threads(4), threading.Event(), threading.Event()
    first = pool.submit(lambda: begun.set() or go.wait(30))
    assert begun.wait(30)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    second = pool.submit(lambda: "done")
    assert not second.done()
    go.set()
    assert (first.result(30), second.result(30)) == (True, "done")
    pool.shutdown()


def test_a_pool_that_has_no_thread_at_all_says_so(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError, match="thread"):
        Threads(4).submit(int)
