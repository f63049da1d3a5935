"""What a declared risk decides: the grant, the row, the owner's policy, and never the mode."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.kotoba.homes import kotoba, ping
from tests.kotoba.wheel import TOOLS, files
from tests.spine.homes import until

from etui.agent.scripted import call
from etui.events import Kind
from etui.outcome import Status


@pytest.mark.promise("K165")
async def test_the_owners_policy_goes_by_the_risk_and_a_mode_does_not(tmp_path: Path) -> None:
    two = {"p/runs.py": ping(name="runs", head="RISK = 'exec'"), "p/writes.py": ping(name="writes", head="RISK = 'write'")}
    async with kotoba(tmp_path, two, allow_exec="ask") as room, room.host.hub.listen(Kind.CARD_OPENED) as cards:
        asked = asyncio.create_task(room.call("runs", channel="console", attended=True))
        card = (await until(cards, Kind.CARD_OPENED)).data["card"]
        assert isinstance(card, dict) and card["tool"] == "runs"
        assert room.host.cards.answer(str(card["id"]), "approve")
        assert (await asked).status is Status.OK
        await room.host.settings.set("allow_exec", "auto")
        assert (await room.call("runs", channel="console", attended=True)).status is Status.OK
        assert room.host.cards.open() == []
        for mode in ("conversation", "work"):
            session = room.host.session("python", mode=mode)
            assert "writes" in [tool.name for tool in session.tools()]


@pytest.mark.promise("K166")
async def test_network_is_a_full_value_and_an_action(tmp_path: Path) -> None:
    async with kotoba(tmp_path, {"p/ping.py": ping(head="RISK = 'network'")}) as room:
        await room.turn("go", [call("ping")], "Done.")
        assert "ping" in room.offered()
        rows = [event for event in await room.events() if event.kind in (Kind.CALL_STARTED, Kind.CALL_ENDED)]
        assert [(event.kind, event.data.get("risk"), event.data.get("mark")) for event in rows] == [
            (Kind.CALL_STARTED, "network", None),
            (Kind.CALL_ENDED, None, "green"),
        ]
        assert [(row.tool, row.risk, row.detail) for row in room.host.store.journal.actions()] == [
            ("ping", "network", "executed")
        ]
        assert room.host.plugins.grant("p")["has"].network is True


@pytest.mark.promise("K164")
async def test_kotobas_own_files_use_three_of_the_four_values(tmp_path: Path) -> None:
    async with kotoba(tmp_path, files(*TOOLS)) as room:
        risks = {tool.name: tool.risk.value for tool in room.host.tools.all()}
        assert risks.keys() == TOOLS.keys()
        assert set(risks.values()) == {"read", "write", "exec"}
