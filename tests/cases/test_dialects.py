"""Section E: odd streams of calls, through a whole turn of a whole host. `tests/agent` asks the servers' own wire formats."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from etui.agent.history import NO_RESULT, Reply, replay
from etui.agent.model import Ask, CallPart, End, Part, Text
from etui.agent.scripted import Scripted
from etui.home import Home
from etui.host import Host, open_host
from etui.store.chats import Message

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOLS = '''
from etui import tool

@tool
def f(p: str) -> str:
    """F."""
    return "f got " + p

@tool
def g(q: int) -> str:
    """G."""
    return f"g got {q}"

@tool(risk="write")
def save(path: str, content: str = "") -> str:
    """Saves."""
    return f"saved {path}"

@tool(risk="write")
def lamp_on(room: str) -> str:
    """Switches a lamp on."""
    return f"on in {room}"

@tool(risk="exec")
def unlock_door(which: str = "front") -> str:
    """Unlocks."""
    return "unlocked"
'''


class Stage:
    """A model that plays whatever is on."""

    name = "stage"

    def __init__(self) -> None:
        self.on = Scripted([])

    def stream(self, ask: Ask) -> AsyncIterator[Part]:
        """The next step of what is on."""
        return self.on.stream(ask)

    async def close(self) -> None:
        """Nothing is held."""


class Talk:
    """One chat of a host whose model plays these steps."""

    def __init__(self, host: Host, model: Scripted) -> None:
        self.host = host
        self.model = model
        self.chat = host.store.chats.create(channel="console").id

    async def say(self, text: str = "go") -> str:
        """Take a turn."""
        return await self.host.conversations.turn(self.chat, text, channel="console")

    def messages(self, role: str) -> list[Message]:
        """What is kept of one side."""
        return [message for message in self.host.store.chats.messages(self.chat) if message.role == role]

    def ran(self) -> list[tuple[str, object]]:
        """The calls that went through the door and ran."""
        entries = [entry for entry in reversed(self.host.store.journal.recent(limit=50)) if entry.chat == self.chat]
        return [(entry.tool, entry.arguments) for entry in entries if entry.status == "ok"]

    def is_well_formed(self) -> bool:
        """Whether what goes to the model last has for each call an id of its own, a name, an object, and its own result."""
        calls = [call for entry in replay(self.model.asked[-1].messages) if isinstance(entry, Reply) for call in entry.calls]
        assert all(call.id and call.name and isinstance(call.arguments, dict) and call.result != NO_RESULT for call in calls)
        results = [message for message in self.model.asked[-1].messages if message.role == "tool"]
        return len({call.id for call in calls}) == len(calls) == len(results)


@asynccontextmanager
async def talk_at(home: Path, *steps: object) -> AsyncIterator[Talk]:
    """A host of its own, for what is asked over a restart."""
    (home / "tools").mkdir(exist_ok=True)
    (home / "tools" / "dialects.py").write_text(TOOLS)
    model = Scripted([*steps])
    async with open_host(Home(home), {"shelf": False, "unconfined": "allow"}, environ={}, model=model) as host:
        yield Talk(host, model)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def talk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Callable[..., Talk]]:
    """Opens a chat of the one host of this file, with a script of its own."""
    home = tmp_path_factory.mktemp("home")
    (home / "tools").mkdir()
    (home / "tools" / "dialects.py").write_text(TOOLS)
    stage = Stage()
    async with open_host(Home(home), {"shelf": False, "unconfined": "allow"}, environ={}, model=stage) as host:

        def begin(*steps: object) -> Talk:
            stage.on = Scripted([*steps])
            return Talk(host, stage.on)

        yield begin


FP, GQ = json.dumps({"p": "x"}), json.dumps({"q": 1})
BOTH = {
    "no ids": [CallPart(0, "", "f", FP), CallPart(1, "", "g", GQ)],
    "empty ids in pieces": [
        CallPart(0, "", "f", ""),
        CallPart(0, "", "", FP),
        CallPart(1, "", "g", ""),
        CallPart(1, "", "", GQ),
    ],
    "the same id twice": [CallPart(0, "a", "f", FP), CallPart(1, "a", "g", GQ)],
    "all at place 0": [CallPart(0, "a", "f", FP), CallPart(0, "b", "g", GQ)],
    "all at place 0 without ids": [CallPart(0, "", "f", FP), CallPart(0, "", "g", GQ)],
    "no places, in pieces": [CallPart(-1, "", "f", '{"p":'), CallPart(-1, "", "", '"x"}'), CallPart(-1, "", "g", GQ)],
    "a place for each piece": [
        CallPart(0, "a", "f", ""),
        CallPart(1, "", "", FP),
        CallPart(2, "b", "g", ""),
        CallPart(3, "", "", GQ),
    ],
    "a ghost between": [CallPart(0, "a", "f", FP), CallPart(1, "", "", ""), CallPart(2, "b", "g", GQ)],
    "interleaved": [
        CallPart(0, "a", "f", '{"p"'),
        CallPart(1, "b", "g", '{"q"'),
        CallPart(0, "", "", ':"x"}'),
        CallPart(1, "", "", ":1}"),
    ],
    "names and ids with every piece": [
        CallPart(0, "a", "f", '{"p":'),
        CallPart(0, "a", "f", '"x"}'),
        CallPart(1, "b", "g", GQ),
    ],
    "letter by letter": [
        CallPart(0, "a", "f", ""),
        *(CallPart(0, "", "", letter) for letter in FP),
        CallPart(1, "b", "g", ""),
        *(CallPart(1, "", "", letter) for letter in GQ),
    ],
}


@pytest.mark.parametrize("dialect", BOTH)
async def test_two_calls_are_two_calls_in_every_dialect(talk, dialect: str):
    """R052 R055 R056: each with its own arguments and its own result; the next turn replays them well-formed."""
    chat = talk(BOTH[dialect], "Both done.", "And good.")
    assert await chat.say() == "Both done."
    assert sorted(chat.ran()) == [("f", {"p": "x"}), ("g", {"q": 1})]
    assert {message.tool: message.text for message in chat.messages("tool")} == {"f": "f got x", "g": "g got 1"}
    assert await chat.say("fine?") == "And good."
    assert chat.is_well_formed()


GHOSTS = {
    "nothing": [CallPart(0, "", "", "")],
    "an id": [CallPart(0, "call_1", "", "")],
    "arguments": [CallPart(0, "", "", "{}")],
    "spaces": [CallPart(0, " ", "  ", " ")],
    "two": [CallPart(0, "", "", ""), CallPart(1, "", "", "")],
}


@pytest.mark.parametrize("ghost", GHOSTS)
async def test_a_ghost_of_a_call_is_dropped_and_the_words_survive(tmp_path, ghost: str):
    """R053 R062: in its turn, in the next, and after a restart."""
    async with talk_at(tmp_path, [Text("Hello there."), *GHOSTS[ghost]], "Second.") as chat:
        assert "Hello there." in await chat.say()
        assert chat.ran() == []
        assert await chat.say("again")
        assert chat.is_well_formed()
        id = chat.chat
    async with talk_at(tmp_path, "Third.") as chat:
        chat.chat = id
        assert await chat.say("still?") == "Third."
        assert chat.is_well_formed()
        assert "Hello there." in " ".join(message.text for message in chat.model.asked[0].messages)


HALL = '{"name": "lamp_on", "arguments": {"room": "hall"}}'
HIDDEN = [
    f"Sure. <tool_call>{HALL}</tool_call>",
    f"Sure. <tool_call>\n{HALL}\n</tool_call>",
    'Sure. [lamp_on]\n{"room": "hall"}\n[END_TOOL_REQUEST]',
    f"Sure. [TOOL_REQUEST]\n{HALL}\n[END_TOOL_REQUEST]",
]


@pytest.mark.parametrize("text", HIDDEN, ids=range(len(HIDDEN)))
@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_a_call_in_the_words_runs_and_is_never_spoken(talk, text: str, size: int):
    """R058: however the words are cut."""
    pieces = [Text(text[start : start + size]) for start in range(0, len(text), size)]
    chat = talk(pieces, "It is on.")
    answer = await chat.say()
    assert chat.ran() == [("lamp_on", {"room": "hall"})]
    assert "Sure." in answer and "It is on." in answer
    assert not any(mark in answer for mark in ("lamp_on", "tool_call", "TOOL_REQUEST", "{"))


@pytest.mark.parametrize("name", ["lamp-on", "LAMP_ON", "nothing", "rm", "functions.lamp_on "])
async def test_a_call_in_the_words_by_no_exact_name_does_not_run(talk, name: str):
    """R058: the block is hidden."""
    block = json.dumps({"name": name, "arguments": {"room": "hall"}})
    chat = talk([Text(f"Sure. <tool_call>{block}</tool_call>")], "I could not.")
    answer = await chat.say()
    assert chat.ran() == []
    assert "<tool_call>" not in answer and "hall" not in answer


DOOR = '<tool_call>{"name": "lamp_on", "arguments": {"room": "front"}}</tool_call>'
MENTIONS = [
    f"Write it so:\n```\n{DOOR}\n```\nThat is all.",
    f"Write it so:\n```xml\n{DOOR}\n```",
    f"~~~\n{DOOR}\n~~~",
    f"Use `{DOOR}` for that.",
    f"<think>I could say {DOOR} now.</think>Hello.",
    f"<thinking>{DOOR}</thinking>Hello.",
    f"You said:\n> {DOOR}\nDid you mean it?",
    f'You said "{DOOR}", did you not?',
]


@pytest.mark.parametrize("text", MENTIONS, ids=range(len(MENTIONS)))
@pytest.mark.parametrize("size", [1, 1000])
async def test_words_that_only_mention_a_call_run_nothing(talk, text: str, size: int):
    """R059"""
    pieces = [Text(text[start : start + size]) for start in range(0, len(text), size)]
    chat = talk(pieces, "More.")
    answer = await chat.say()
    assert chat.ran() == []
    assert answer.strip()
    assert chat.model.asked[-1].messages[-1].role == "user"


CUT = [
    '{"content": "partial han',
    '{"path": "a", "content": ',
    "{",
    '{"path": "a"',
    '{"path": "a",}',
    '["path"',
    '{"path": "a"}}',
]


@pytest.mark.parametrize("arguments", CUT, ids=range(len(CUT)))
@pytest.mark.parametrize("why", ["tool_calls", "stop"])
async def test_a_call_that_is_cut_off_never_runs(talk, arguments: str, why: str):
    """R061: whatever the finish reason says; the model may mend it, and the history stays well-formed."""
    whole = CallPart(0, "b", "save", '{"path": "a", "content": "all"}')
    chat = talk([CallPart(0, "a", "save", arguments), End(why)], [whole], "Saved.", "Yes.")
    assert "Saved." in await chat.say()
    assert chat.ran() == [("save", {"path": "a", "content": "all"})]
    assert await chat.say("sure?") == "Yes."
    assert chat.is_well_formed()


async def test_valid_json_that_lacks_what_is_needed_is_told_what(talk):
    """R061"""
    chat = talk([CallPart(0, "a", "save", '{"content": "x"}')], "I see.")
    await chat.say()
    assert chat.ran() == []
    assert "'path' is missing" in chat.messages("tool")[0].text


async def test_a_call_without_words_is_replayed_with_its_result(tmp_path):
    """R062: nothing said beside the call, in the next turn and after a restart; no call is an orphan."""
    async with talk_at(tmp_path, [CallPart(0, "a", "f", FP)], "Done.", "Again.") as chat:
        assert await chat.say() == "Done."
        assert await chat.say("and?") == "Again."
        assert chat.is_well_formed()
        assert len([call for message in chat.model.asked[-1].messages for call in message.calls]) == 1
        id = chat.chat
    async with talk_at(tmp_path, "Third.") as chat:
        chat.chat = id
        assert await chat.say("still?") == "Third."
        assert chat.is_well_formed()
        assert len([call for message in chat.model.asked[-1].messages for call in message.calls]) == 1
