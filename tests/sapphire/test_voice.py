"""Voice commands: what the person said is meant by its trigger, in chat as by voice, and its handler answers or changes it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.sapphire.homes import Room, manifest, sapphire

pytestmark = pytest.mark.asyncio(loop_scope="module")
LIGHTS = """
def pre_chat(event):
    event.skip_llm = True
    event.response = "Heard: " + event.input


def louder(event):
    event.input = event.input.upper()


def silent(event):
    event.response = "Only the answer."
"""
COMMANDS = [
    {"triggers": ["lights"], "match": "starts_with", "bypass_llm": True, "handler": "voice/lights.py", "description": "Lights"},
    {"triggers": ["stop", "be quiet"], "match": "exact", "bypass_llm": True, "handler": "voice/lights.py:silent"},
    {"triggers": ["What's up, doc?"], "match": "starts_with", "handler": "voice/lights.py"},
    {"triggers": ["please"], "match": "contains", "handler": "voice/lights.py:louder"},
    {"triggers": [r"^play (track|song) \d+$"], "match": "regex", "handler": "voice/lights.py"},
    {"triggers": [r"^(a+)+$"], "match": "regex", "handler": "voice/lights.py"},
]
HOOK = """
from core.plugin_loader import plugin_loader


def pre_chat(event):
    plugin_loader.get_plugin_state("hooked").save("heard", event.input)
"""
FILES = {
    "plugins/commands/plugin.json": manifest("commands", priority=99, voice_commands=COMMANDS),
    "plugins/commands/voice/lights.py": LIGHTS,
    "plugins/hooked/plugin.json": manifest("hooked", priority=0, hooks={"pre_chat": "hook.py"}),
    "plugins/hooked/hook.py": HOOK,
}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("voice"), FILES, limit=None) as opened:
        yield opened


@pytest.mark.promise("S411")
async def test_a_command_that_bypasses_the_model_answers_before_everything_else(room):
    asked = len(room.requests)
    assert await room.turn("LIGHTS on", "never said") == "Heard: LIGHTS on"
    assert (len(room.requests), list(room.user.glob("plugin_state/hooked.json"))) == (asked, [])
    assert await room.turn("the lights are on", "Nice.") == "Nice."


@pytest.mark.promise("S411")
@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Stop!", "Only the answer."),
        ("be QUIET", "Only the answer."),
        ("stop it", "From the model."),
        ("play song 12", "Heard: play song 12"),
        ("play something", "From the model."),
        ("what's up, doc?", "Heard: what's up, doc?"),
    ],
)
async def test_a_command_is_meant_exactly_at_the_start_within_or_by_a_pattern(room, said, answer):
    assert await room.turn(said, "From the model.") == answer


async def test_a_command_may_only_change_what_was_said(room):
    assert await room.turn("tell me please", "Fine.") == "Fine."
    assert room.requests[-1].messages[-1].text == "TELL ME PLEASE"


async def test_a_pattern_that_takes_for_ever_is_ended_and_the_turn_goes_on(room):
    room.host.hooks._seconds, usual = 0.3, room.host.hooks._seconds
    try:
        assert await room.turn("a" * 60 + "!", "Done.") == "Done."
    finally:
        room.host.hooks._seconds = usual
    assert any("took longer" in reason for reason in room.reasons("commands"))
