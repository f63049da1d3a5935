"""The hub: everybody hears, nobody holds it up."""

from __future__ import annotations

from etui.events import Hub, Kind


async def test_a_listener_hears_what_is_told_from_then_on():
    hub = Hub(clock=lambda: 7.0)
    hub.tell(Kind.TEXT, {"text": "before"})
    async with hub.listen() as events:
        hub.tell(Kind.TEXT, {"text": "a"}, chat="c")
        event = await events.next()
    assert event is not None
    assert (event.kind, event.data, event.chat, event.at) == (Kind.TEXT, {"text": "a"}, "c", 7.0)


async def test_a_listener_hears_only_the_kinds_that_it_asked_for():
    hub = Hub()
    async with hub.listen(Kind.SAID) as events:
        hub.tell(Kind.TEXT)
        hub.tell(Kind.SAID)
        event = await events.next()
    assert event is not None
    assert event.kind is Kind.SAID


async def test_a_slow_listener_loses_its_own_events_and_is_told_how_many():
    hub = Hub(clock=lambda: 0.0)
    slow, quick = hub.listen(limit=3), hub.listen()
    for _ in range(10):
        hub.tell(Kind.TEXT)
    heard = [await slow.next() for _ in range(3)]
    hub.tell(Kind.TEXT)
    after = [await slow.next(), await slow.next()]
    assert [event.kind for event in heard if event] == [Kind.TEXT] * 3
    assert [event.kind for event in after if event] == [Kind.DROPPED, Kind.TEXT]
    assert after[0] is not None
    assert after[0].data == {"count": 7}
    assert [(await quick.next()).number for _ in range(11)] == list(range(1, 12))


async def test_a_page_that_was_away_over_a_restart_learns_what_was_said():
    before, after = Hub(clock=lambda: 100.0), Hub(clock=lambda: 200.0)
    last = before.tell(Kind.SAID, {"text": "heard"}).number
    missed = after.tell(Kind.SAID, {"text": "the timer is done"})
    after.tell(Kind.TEXT)
    assert after.said_after(last) == [missed]
    assert after.said_after(missed.number) == []


async def test_who_waits_is_let_go_when_the_listener_closes():
    hub = Hub()
    events = hub.listen(limit=1)
    hub.tell(Kind.TEXT)
    events.close()
    assert await events.next() is None


async def test_data_that_takes_time_is_made_once_and_only_where_somebody_takes_it():
    hub = Hub(clock=lambda: 7.0)
    made = []

    def make():
        made.append(True)
        return {"status": "ok"}

    where = {"session": "s", "chat": "c", "turn": "t", "call": "k"}
    hub.tell_made(Kind.CALL_ENDED, make, **where)
    one, other = hub.listen(), hub.listen()
    hub.tell(Kind.TEXT)
    hub.tell_made(Kind.CALL_ENDED, make, **where)
    assert made == []
    heard = [[await listener.next(), await listener.next()] for listener in (one, other)]
    assert heard[0] == heard[1]
    assert [event.kind for event in heard[0]] == [Kind.TEXT, Kind.CALL_ENDED]
    assert heard[0][1].data == {"status": "ok"} and heard[0][1].number > heard[0][0].number
    assert made == [True]


class Neighbours:
    """Tells a line before and after."""

    def __init__(self, hub: Hub, name: str) -> None:
        self.hub, self.name = hub, name

    def before(self, event):
        self.hub.tell(Kind.SAID, {"text": f"{self.name} before {event.data['tool']}"}, turn=event.turn)

    def after(self, event):
        self.hub.tell(Kind.SAID, {"text": f"{self.name} after {event.number}"}, turn=event.turn)


async def test_what_an_interpreter_tells_stands_right_around_the_event_of_a_turn():
    hub = Hub(clock=lambda: 0.0)
    for name in ("a", "b"):
        hub.interpret(Neighbours(hub, name), Kind.CALL_STARTED)
    async with hub.listen() as events:
        hub.tell_made(Kind.CALL_STARTED, lambda: {"tool": "t"}, session="", chat="", turn="", call="")
        hub.tell_made(Kind.CALL_STARTED, lambda: {"tool": "t"}, session="s", chat="c", turn="u", call="x")
        hub.tell(Kind.CALL_ENDED, turn="u")
        heard = [await events.next() for _ in range(7)]
    assert [(event.kind, event.data.get("text", "")) for event in heard] == [
        (Kind.CALL_STARTED, ""),
        (Kind.SAID, "a before t"),
        (Kind.SAID, "b before t"),
        (Kind.CALL_STARTED, ""),
        (Kind.SAID, "a after 4"),
        (Kind.SAID, "b after 4"),
        (Kind.CALL_ENDED, ""),
    ]
    assert [event.number for event in heard] == list(range(1, 8))
    assert (heard[3].session, heard[3].chat, heard[3].turn, heard[3].call) == ("s", "c", "u", "x")
