"""How long a worker looks for the next call before it sleeps: with a clock that each glance at it moves on."""

from __future__ import annotations

import errno
import os
import selectors
import socket
from collections.abc import Callable, Iterator

import pytest

from etui.run import kernel
from etui.run.cores import Place
from etui.run.patience import BUSY, GAP, HEAVY, LOOK, SOON, Patience
from etui.run.worth import REST, TRIES

TICK = 10e-6
SLEEP = 2 * LOOK
"""Seconds that a test's worker sleeps at the most, in earnest."""


class Clock:
    """Goes on by `TICK` whenever it is read, and does something once it has come so far."""

    def __init__(self) -> None:
        self.now = 100.0
        self.read = 0
        self.tick = TICK
        self.at = float("inf")
        self.then: Callable[[], object] = lambda: None

    def __call__(self) -> float:
        self.read += 1
        self.now += self.tick
        if self.now >= self.at:
            self.at = float("inf")
            self.then()
        return self.now


class Here(Place):
    """A place among as many cores as a test wants, which notes where its thread went."""

    def __init__(self, *, elsewhere: bool) -> None:
        super().__init__()
        self.elsewhere = elsewhere
        self.moves = 0
        self.aside: list[str] = []

    def step_aside(self) -> bool:
        self.moves += 1
        if self.elsewhere:
            self._others = {1}
        return self.elsewhere

    def stay_aside(self) -> None:
        if self._others:
            self.aside.append("stays")

    def roam(self) -> None:
        if self._others:
            self.aside.append("roams")


class Waiting:
    """A selector that waits for one end of a socket."""

    def __init__(self, *, cores: int = 2, elsewhere: bool = False) -> None:
        self.clock = Clock()
        self.place = Here(elsewhere=elsewhere)
        self.selector = Patience(self.clock, cores, self.place)
        self.near, self.far = socket.socketpair()
        self.selector.register(self.near, selectors.EVENT_READ)

    def close(self) -> None:
        self.selector.close()
        self.near.close()
        self.far.close()

    def take(self) -> None:
        self.near.recv(10)

    def call_at_once(self) -> None:
        """A call that is there when the worker begins to wait."""
        self.far.send(b"x")
        self.selector.expect()
        assert self.selector.select(None)
        self.take()

    def call_after(self, seconds: float) -> bool:
        """A call that comes when the clock, which only who looks reads, is so far; whether it was met."""
        self.clock.at, self.clock.then = self.clock.now + seconds, lambda: self.far.send(b"x")
        self.selector.expect()
        met = bool(self.selector.select(SLEEP))
        if met:
            self.take()
        return met

    def looks_at_a_busy_core(self) -> bool:
        """Another process takes the core while the worker looks, and has it for long; whether a call was met."""

        def hogged() -> None:
            self.clock.now += BUSY

        self.clock.at, self.clock.then = self.clock.now + 2 * TICK, hogged
        self.selector.expect()
        return bool(self.selector.select(SLEEP))

    def looks_in_vain(self) -> bool:
        """Nobody calls, for a moment; whether it looked."""
        before = self.clock.read
        self.selector.expect()
        assert not self.selector.select(SLEEP)
        return self.clock.read - before > 3


@pytest.fixture
def waiting() -> Iterator[Waiting]:
    made = Waiting()
    yield made
    made.close()


def test_a_call_that_comes_soon_after_one_that_came_at_once_is_met_awake(waiting: Waiting) -> None:
    waiting.call_at_once()
    assert waiting.call_after(LOOK / 2)


def test_the_first_call_is_not_looked_for(waiting: Waiting) -> None:
    assert not waiting.looks_in_vain()


def test_where_no_call_was_answered_nothing_is_looked_for(waiting: Waiting) -> None:
    waiting.call_at_once()
    before = waiting.clock.read
    assert not waiting.selector.select(SLEEP)
    assert waiting.clock.read == before


def test_a_short_wait_is_no_longer_than_it_says(waiting: Waiting) -> None:
    waiting.call_at_once()
    before = waiting.clock.read
    waiting.selector.expect()
    assert not waiting.selector.select(0)
    assert waiting.clock.read == before


def test_no_look_is_longer_than_it_may_be(waiting: Waiting) -> None:
    waiting.call_at_once()
    before = waiting.clock.now
    assert waiting.looks_in_vain()
    assert waiting.clock.now - before < LOOK + 5 * TICK


def test_after_a_long_sleep_the_next_call_is_not_looked_for(waiting: Waiting) -> None:
    waiting.call_at_once()
    waiting.clock.tick = LOOK + SOON
    waiting.selector.expect()
    assert not waiting.selector.select(SLEEP)
    waiting.clock.tick = TICK
    assert not waiting.looks_in_vain()


def test_looking_in_vain_again_and_again_ends_it_for_a_growing_number_of_calls(waiting: Waiting) -> None:
    waiting.call_at_once()
    looked = [waiting.looks_in_vain() for _ in range(TRIES + REST[0] + TRIES + 2 * REST[0])]
    assert looked == [True] * TRIES + [False] * REST[0] + [True] * TRIES + [False] * 2 * REST[0]


def test_a_look_that_pays_makes_up_for_one_in_vain(waiting: Waiting) -> None:
    waiting.call_at_once()
    for _ in range(2 * TRIES):
        assert waiting.looks_in_vain()
        assert waiting.call_after(LOOK / 2)


def test_a_core_that_another_process_keeps_busy_is_given_up_at_once(waiting: Waiting) -> None:
    waiting.call_at_once()
    assert not waiting.looks_at_a_busy_core()
    assert [waiting.looks_in_vain() for _ in range(REST[0] + 1)] == [False] * REST[0] + [True]


def test_where_there_is_another_core_a_busy_one_is_put_up_with_a_few_times() -> None:
    waiting = Waiting(elsewhere=True)
    waiting.call_at_once()
    for _ in range(TRIES // HEAVY):
        assert not waiting.looks_at_a_busy_core()
    assert [waiting.looks_in_vain() for _ in range(REST[0] + 1)] == [False] * REST[0] + [True]
    waiting.close()


def test_a_core_that_is_wanted_for_a_moment_ends_the_look_and_no_more(waiting: Waiting) -> None:
    waiting.call_at_once()
    waiting.clock.tick = 2 * GAP
    before = waiting.clock.now
    assert not waiting.looks_in_vain()
    assert waiting.clock.now - before < LOOK + 2 * GAP
    waiting.clock.tick = TICK
    assert waiting.looks_in_vain()


def test_from_a_core_that_another_process_wants_it_steps_aside_and_looks_there() -> None:
    waiting = Waiting(elsewhere=True)
    waiting.call_at_once()
    waiting.clock.tick = 2 * GAP
    assert not waiting.looks_in_vain()
    waiting.clock.tick = TICK
    assert waiting.place.moves == 1
    assert waiting.call_after(LOOK / 2)
    waiting.close()


def test_where_every_core_is_wanted_it_steps_aside_no_more_often_than_it_may_look_in_vain() -> None:
    waiting = Waiting(elsewhere=True)
    waiting.call_at_once()
    waiting.clock.tick = 2 * GAP
    for _ in range(TRIES + REST[0]):
        waiting.looks_in_vain()
    assert waiting.place.moves == TRIES - 1
    waiting.close()


def test_while_calls_come_in_a_row_it_sleeps_beside_the_core_that_was_wanted_and_is_bound_to_none_awake() -> None:
    waiting = Waiting(elsewhere=True)
    waiting.call_at_once()
    assert waiting.place.aside == []
    waiting.clock.tick = 2 * GAP
    waiting.looks_in_vain()
    waiting.clock.tick = TICK
    waiting.looks_in_vain()
    assert waiting.place.aside == ["stays", "roams"] * 2
    waiting.clock.tick = LOOK + SOON  # now comes a long rest, and whoever wanted that core then is forgotten
    waiting.looks_in_vain()
    waiting.place.aside.clear()
    waiting.looks_in_vain()
    assert waiting.place.aside == []
    waiting.close()


def test_a_thread_that_steps_aside_is_elsewhere_stays_there_asleep_and_is_bound_to_nothing_awake() -> None:
    if (before := kernel.core()) is None or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("The system does not say on which core a thread runs, or there is one core only.")
    allowed, place = os.sched_getaffinity(0), Place()
    place.stay_aside()
    assert os.sched_getaffinity(0) == allowed
    os.sched_setaffinity(0, {before})
    try:
        assert not place.step_aside()
    finally:
        os.sched_setaffinity(0, allowed)
    assert place.step_aside()
    assert os.sched_getaffinity(0) == allowed
    place.stay_aside()
    try:
        assert len(os.sched_getaffinity(0)) == len(allowed) - 1
    finally:
        place.roam()
    assert os.sched_getaffinity(0) == allowed
    place.forget()
    place.stay_aside()
    assert os.sched_getaffinity(0) == allowed


class Cores:
    """The system's word on where this thread may run, as it may change while the thread sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.there = {0, 1, 2}
        self.bound = {0, 1, 2}
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: self.bound & self.there)
        monkeypatch.setattr(os, "sched_setaffinity", self.bind)
        monkeypatch.setattr(kernel, "core", lambda: 0)

    def bind(self, _: int, cores: set[int]) -> None:
        if not cores & self.there:
            raise OSError(errno.EINVAL, "Invalid argument")
        self.bound = set(cores)


def test_cores_that_are_taken_away_end_no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    cores, place = Cores(monkeypatch), Place()
    assert place.step_aside()
    cores.there = {0}
    place.stay_aside()
    place.roam()
    assert cores.bound == {0, 1, 2}
    cores.there = {0, 1, 2}
    assert place.step_aside()
    place.stay_aside()
    cores.there = cores.bound = {3}
    place.roam()
    assert cores.bound == {3}


def test_where_somebody_else_binds_the_thread_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    cores, place = Cores(monkeypatch), Place()
    assert place.step_aside()
    cores.bound = {0, 1}
    place.stay_aside()
    assert cores.bound == {0, 1}
    cores.bound = {0, 1, 2}
    assert place.step_aside()
    place.stay_aside()
    assert cores.bound == {1, 2}
    cores.bound = {2}
    place.roam()
    assert cores.bound == {2}


def test_a_core_that_cannot_be_left_is_stayed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    cores, place = Cores(monkeypatch), Place()
    cores.bound = {0, 7}
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cores.bound)
    assert not place.step_aside()
    assert cores.bound == {0, 7}


def test_on_one_core_nothing_is_looked_for() -> None:
    waiting = Waiting(cores=1)
    waiting.call_at_once()
    assert not waiting.looks_in_vain()
    waiting.close()
