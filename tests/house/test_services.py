"""The services that a running tool may ask for: made for each call, some of them for the tools of one contract only."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from tests.house.test_session import House

from etui.cards import Cards
from etui.errors import ServiceError
from etui.events import Hub
from etui.owner.confirming import Confirming
from etui.registry import Snapshot
from etui.services import FAMILIES, Services
from etui.services.desk import Family, table
from etui.services.needs import Needs
from etui.session import Session
from etui.settings import Settings
from etui.store import Store
from etui.tool import Call, Tool

NUMBERS = itertools.count(1)


class Lamp:
    """A family of a contract's own, which remembers which one it is."""

    def __init__(self, plugin: str) -> None:
        self._plugin = plugin
        self._number = next(NUMBERS)

    async def light(self, room: str) -> object:
        return f"{self._plugin} lights {room}"

    async def number(self) -> object:
        return self._number


LAMPS = Family(
    lambda desk: Lamp(desk.plugin), {"lamp.light": Lamp.light, "lamp.number": Lamp.number}, only=frozenset({"sapphire"})
)


class Room:
    """The services of a small host, with the lamps among them."""

    def __init__(self, store: Store) -> None:
        hub = Hub()
        cards = Cards(hub, clock=lambda: 0.0, seconds=lambda: 1.0)

        async def activate(session: Session, server: str) -> dict[str, list[str]]:
            return {server: []}

        needs = Needs(
            store=store,
            hub=hub,
            cards=cards,
            settings=Settings,
            clock=lambda: 0.0,
            woken=lambda: None,
            confirming=Confirming(store.values, cards, None, store.journal.decided),
            spoken=lambda session, text: None,
            activate=activate,
            jobs=lambda: None,
            snapshot=Snapshot,
            off=frozenset,
            selections=None,
            accounts=None,
            keys=None,
            time=lambda: None,
            maker=lambda: None,
            note=lambda problem: None,
            register=None,
            installed=None,
        )
        self._services = Services(needs, (*FAMILIES, LAMPS))
        self._session = House(store).session()

    def call(self, contract: str):
        """What serves one call of a tool of this contract."""
        tool = Tool(
            name="glow",
            description="",
            parameters={},
            contract=contract,
            plugin="lights",
            toolset="plugin:lights",
            digest="1",
        )
        return self._services.desk(tool, Call(id="c", tool="glow"), self._session)


@pytest.fixture
def room(tmp_path) -> Iterator[Room]:
    store = Store.open(tmp_path / "etui.db")
    yield Room(store)
    store.close()


async def test_a_family_of_one_contract_serves_its_tools(room):
    assert await room.call("sapphire")("lamp.light", {"room": "the hall"}) == "lights lights the hall"


async def test_a_family_of_one_contract_refuses_the_tools_of_another_with_a_sentence(room):
    serve = room.call("kotoba")
    with pytest.raises(ServiceError) as refusal:
        await serve("lamp.light", {"room": "the hall"})
    assert str(refusal.value) == "The service 'lamp.light' is for sapphire tools only; 'glow' is a kotoba tool."
    await serve("state.put", {"key": "k", "value": 1})
    assert await serve("state.get", {"key": "k"}) == (1, 1)


async def test_a_service_that_nobody_offers_is_refused(room):
    with pytest.raises(ServiceError, match=r"There is no service 'lamp\.dim'"):
        await room.call("sapphire")("lamp.dim", {})


async def test_wrong_arguments_are_told_in_a_sentence(room):
    with pytest.raises(ServiceError, match=r"'lamp\.light' was asked with wrong arguments"):
        await room.call("sapphire")("lamp.light", {"door": "left"})


async def test_a_family_is_made_once_for_each_call(room):
    first, second = room.call("sapphire"), room.call("sapphire")
    numbers = [await first("lamp.number", {}), await first("lamp.number", {}), await second("lamp.number", {})]
    assert numbers[0] == numbers[1] != numbers[2]


def test_two_families_cannot_share_a_name():
    with pytest.raises(ValueError, match=r"'lamp\.light'"):
        table((*FAMILIES, LAMPS, LAMPS))


def test_the_names_on_the_wire_are_a_closed_set():
    assert sorted(table(FAMILIES)) == [
        "accounts.all",
        "accounts.get",
        "accounts.renew",
        "addresses.key",
        "approve",
        "ask",
        "audit.recent",
        "card.open",
        "chats.active",
        "chats.choices",
        "chats.count",
        "chats.list",
        "chats.names",
        "chats.recent",
        "chats.search",
        "confirm",
        "daemon.event",
        "event.mind",
        "event.publish",
        "functions.all",
        "functions.enabled",
        "functions.resolve",
        "images.get",
        "images.last",
        "images.stash",
        "input",
        "mcp.activate",
        "owner.note",
        "plugins.folders",
        "plugins.info",
        "plugins.names",
        "plugins.reload",
        "plugins.rescan",
        "plugins.settings",
        "progress",
        "remind.add",
        "remind.cancel",
        "remind.list",
        "rows.append",
        "rows.delete",
        "rows.everywhere",
        "rows.get",
        "rows.keys",
        "rows.meta",
        "rows.put",
        "rows.read",
        "rows.replace",
        "say",
        "session.end",
        "session.tried",
        "settings.get",
        "show",
        "state.delete",
        "state.get",
        "state.keys",
        "state.put",
        "state.search",
        "state.swap",
        "tasks.create",
        "tasks.delete",
        "tasks.list",
        "tasks.update",
        "tools.load",
        "tools.read",
        "tools.register",
        "tools.save",
        "work.cancel",
        "work.start",
    ]
