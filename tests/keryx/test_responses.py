"""What goes back to a model server that speaks OpenAI's Responses, over real HTTP: each result as its documented item."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.agent.servers import ModelServer, Says
from tests.keryx.homes import MOON, save, tool
from tests.keryx.pins import pin_in
from tests.spine.homes import host_at

from etui.agent.models import Models
from etui.contracts.keryx.trust import PIN_REQUIRED

ECHO = tool(
    "return {'got': args['n'], 'when': object, 'odd': float('nan')}",
    name="echo",
    options="""description="Echo.", needs_pin=False, parameters={"type": "object",
        "properties": {"n": {"type": "integer"}}, "required": ["n"]}""",
)
SEVEN = tool("return 7", name="seven", kind="def")
FAILS = tool("raise ValueError('nope')", name="fails")
GATED = tool(name="gated", options='description="Do it."')
SILENT = tool("return {'kept': True}", name="keep", options='description="Keep it.", needs_pin=False, silent=True')
FILES = {"echo.py": ECHO, "fails.py": FAILS, "gated.py": GATED, "keep.py": SILENT, "moon.py": MOON, "seven.py": SEVEN}


async def sent(path: Path, *steps: Says, turns: int = 1) -> list[list[dict[str, Any]]]:
    """The input items of each request of a phone call in which the model answers with these steps."""
    save(path / "tools", FILES)
    rows = [{"path": str(path / "tools"), "contract": "keryx"}]
    with ModelServer(*steps) as server:
        model = Models({}).open("openai-responses:m", base_url=f"{server.url}/v1", key="k")
        async with host_at(path / "home", model=model, sources=rows) as host:
            await pin_in(host)
            chat = host.store.chats.create("", "phone").id
            for _ in range(turns):
                await host.conversations.turn(chat, "go on", channel="phone")
        await model.close()
    assert all(path.endswith("/responses") for path in server.paths)
    assert all(body["stream"] is True for body in server.seen)
    return [body["input"] for body in server.seen]


def of(items: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The items of one type, in their order."""
    return [item for item in items if item.get("type") == kind]


@pytest.mark.promise("X213")
async def test_a_result_goes_back_as_function_call_output_with_the_calls_id_and_json_text(tmp_path):
    calls = [
        ("call_a", "echo", {"n": 3}),
        ("call_b", "seven", {}),
        ("call_c", "fails", {}),
        ("call_d", "moon_phase", {}),
        ("call_e", "gated", {}),
    ]
    _, items = await sent(tmp_path, Says(["One moment."], calls), Says(["There."]))
    wanted, given = of(items, "function_call"), of(items, "function_call_output")
    assert [json.loads(one["arguments"]) for one in wanted] == [arguments for _, _, arguments in calls]
    assert [one["call_id"] for one in given] == [one["call_id"] for one in wanted]
    assert len({one["call_id"] for one in given}) == len(calls)
    assert all(items.index(call) < items.index(result) for call, result in zip(wanted, given, strict=True))
    assert all(isinstance(one["output"], str) for one in given)
    assert [json.loads(one["output"]) for one in given] == [
        {"got": 3, "when": "<class 'object'>", "odd": None},
        {"result": 7},
        {"error": "ValueError: nope"},
        {"phase": "waxing gibbous"},
        PIN_REQUIRED,
    ]


@pytest.mark.promise("X213")
async def test_a_silent_result_is_handed_over_with_the_next_turn_and_asks_for_none_itself(tmp_path):
    requests = await sent(tmp_path, Says([], [("call_k", "keep", {})]), Says(["Hello."]), turns=2)
    assert len(requests) == 2
    (call,), (given,) = of(requests[1], "function_call"), of(requests[1], "function_call_output")
    assert given["call_id"] == call["call_id"]
    assert json.loads(given["output"]) == {"kept": True}
