"""Hooks: asked in one order over all plugins around calls, turns and chats; what raises or hangs is passed over."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.sapphire.homes import Room, manifest, sapphire, save, tool
from tests.spine.homes import host_at

from etui.agent.scripted import call
from etui.events import Kind

pytestmark = pytest.mark.asyncio(loop_scope="module")
TOOL = tool(
    "echo",
    "mute",
    "fails",
    "said",
    properties={"text": {"type": "string"}, "count": {"type": "integer"}},
    head="""
    import json

    from core.plugin_loader import plugin_loader

    state = plugin_loader.get_plugin_state("talker")
    """,
    body="""
    if function_name == "said":
        if "set" in arguments:
            state.save("wanted", arguments["set"])
            state.delete("seen")
        return json.dumps(state.get("seen", [])), True
    state.update_with_lock("seen", lambda seen: [*seen, ["ran", function_name, arguments]], default=[])
    if function_name == "mute":
        return None
    if function_name == "fails":
        raise ValueError("no")
    return f"{arguments.get('text')} {arguments.get('count')}", True
    """,
)
"""What ran and what hooks saw goes into one list of the state, in its order; `wanted` says what each hook is to do."""
HOOKS = """
import time

from core.plugin_loader import plugin_loader

state = plugin_loader.get_plugin_state("talker")
ME = "NAME"
FIELDS = ("input", "skip_llm", "response", "ephemeral", "context_parts", "stop_propagation", "config", "metadata",
          "function_name", "arguments", "result", "tools", "chat_name", "chat_private")


def noted(hook, event, *more):
    for field in FIELDS:
        getattr(event, field)
    system = event.metadata.get("system")
    more = (*more, "system" if system is not None and system.llm_chat else "none")
    state.update_with_lock("seen", lambda seen: [*seen, [ME, hook, *more]], default=[])
    for step in state.get("wanted", {}).get(ME + "." + hook, []):
        exec(step, {"event": event, "time": time})


def pre_execute(event):
    noted("pre_execute", event, event.function_name, dict(event.arguments))


def post_execute(event):
    noted("post_execute", event, event.function_name, event.result)


def tools_filter(event):
    noted("tools_filter", event)


def pre_chat(event):
    noted("pre_chat", event, event.input)


def post_chat(event):
    noted("post_chat", event, event.input, event.response)


def prompt_inject(event):
    noted("prompt_inject", event)


def plugins_ready(event):
    noted("plugins_ready", event)


def provider_switched(event):
    noted("provider_switched", event)
"""
HANDLE = """
from core.plugin_loader import plugin_loader


def handle(event):
    state = plugin_loader.get_plugin_state("talker")
    state.update_with_lock("seen", lambda seen: [*seen, ["handle", "post_chat", event.input]], default=[])
"""
NAMES = (
    "pre_execute",
    "post_execute",
    "tools_filter",
    "pre_chat",
    "post_chat",
    "prompt_inject",
    "plugins_ready",
    "provider_switched",
)


def hooking(name: str, priority: int | str, place: str = "plugins", hooks: tuple[str, ...] = NAMES) -> dict[str, str]:
    """A plugin that hooks everywhere."""
    return {
        f"{place}/{name}/plugin.json": manifest(name, priority=priority, hooks=dict.fromkeys(hooks, "hooks/all.py")),
        f"{place}/{name}/hooks/all.py": HOOKS.replace("NAME", name),
    }


FILES = {
    "core/plugins/talker/tools/talker.py": TOOL,
    **hooking("middle", 50, "core/plugins"),
    **hooking("owners", 10, "user/plugins"),
    **hooking("first", 10, "core/plugins"),
    "user/plugins/other/plugin.json": manifest("other", priority=99, hooks={"post_chat": "handle.py", "pre_tts": "handle.py"}),
    "user/plugins/other/handle.py": HANDLE,
}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    """A host with a plugin that talks and four that hook, shipped and the owner's own."""
    async with sapphire(tmp_path_factory.mktemp("hooks"), FILES, checkout=True, limit=None) as opened:
        await opened.host.hooks.settled()
        yield opened


async def let(room: Room, **wanted: str | list[str]) -> None:
    """From now on these hooks do that (`first__pre_chat="event.input = 'x'"`), and what was seen is forgotten."""
    steps = {name.replace("__", "."): [one] if isinstance(one, str) else one for name, one in wanted.items()}
    await plain(room, {"set": steps})


async def plain(room: Room, arguments: dict[str, Any] | None = None) -> Any:
    """What was seen, read without any hook being asked."""
    await room.host.hooks.settled()
    hooks, room.host.hooks.of = room.host.hooks.of, lambda hook: ()  # type: ignore[method-assign]
    try:
        return await room.value("said", arguments)
    finally:
        room.host.hooks.of = hooks  # type: ignore[method-assign]


async def seen(room: Room, *kinds: str) -> list[Any]:
    """What was seen of these hooks, `ran` for calls; of all if none is named."""
    return [one for one in await plain(room) if not kinds or one[1] in kinds or one[0] in kinds]


@pytest_asyncio.fixture(loop_scope="module", autouse=True)
async def fresh(room: Room) -> None:
    room.chat = ""
    await let(room)


@pytest.mark.promise("S426")
async def test_handlers_run_by_priority_shipped_plugins_before_the_owners(room):
    priorities = {
        plugin.name: plugin.handlers[0].priority for plugin in room.host.registry.snapshot.plugins.values() if plugin.handlers
    }
    assert priorities == {"first": 10, "middle": 50, "owners": 110, "other": 199}
    await room.call("echo", {"text": "hi"})
    assert [one[0] for one in await seen(room, "pre_execute")] == ["first", "middle", "owners"]


@pytest.mark.promise("S357", "S425")
async def test_a_hook_has_a_copy_of_the_arguments_and_may_put_others_in_their_place(room):
    await let(room, first__pre_execute="event.arguments['text'] = 'changed in place'")
    assert await room.ran("echo", {"text": "hi", "count": 1}) == ("hi 1", True)
    assert (await seen(room, "ran")) == [["ran", "echo", {"text": "hi", "count": 1}]]
    await let(room, first__pre_execute="event.arguments = {'text': 'another', 'count': '2'}")
    outcome = await room.call("echo", {"text": "hi", "count": 1})
    assert outcome.text == "another 2"
    assert (await seen(room, "pre_execute"))[1] == [
        "middle",
        "pre_execute",
        "echo",
        {"text": "another", "count": "2"},
        "system",
    ]
    [entry] = room.host.store.journal.recent("echo", 1)
    assert entry.arguments == {"text": "another", "count": 2}
    await let(room, first__pre_execute="args = event.arguments; args['text'] = 'put back'; event.arguments = args")
    assert await room.ran("echo", {"text": "hi", "count": 1}) == ("put back 1", True)


async def test_arguments_that_a_hook_gave_are_checked_like_any_others(room):
    await let(room, first__pre_execute="event.arguments = {'count': 'many'}")
    outcome = await room.call("echo", {"text": "hi"})
    assert (outcome.status.value, outcome.rule, await seen(room, "ran")) == ("refused", "arguments", [])


@pytest.mark.promise("S357")
async def test_a_person_is_asked_about_the_arguments_with_which_it_would_run(tmp_path):
    files = {
        **hooking("first", 10, hooks=("pre_execute",)),
        "plugins/talker/tools/talker.py": TOOL.replace("'function'", "'function', 'writes': True", 1),
    }
    async with sapphire(tmp_path, files, allow_write="ask") as room:
        change = {"first.pre_execute": ["event.arguments = {'text': 'another'}"]}
        (room.user / "plugin_state" / "talker.json").write_text(json.dumps({"wanted": change}))
        session = room.host.session("console", attended=True)
        async with room.host.hub.listen(Kind.CARD_OPENED) as opened:
            running = asyncio.create_task(session.call(session.new_call("echo", {"text": "hi"})))
            card = (await opened.next()).data["card"]
        assert card["arguments"] == {"text": "another"}
        room.host.cards.answer(card["id"], "approve")
        assert (await running).text == "another None"


@pytest.mark.promise("S358")
async def test_a_hook_may_answer_a_call_instead_of_it(room):
    await let(room, first__pre_execute=["event.skip_llm = True", "event.result = 'from the cache'"])
    assert await room.ran("echo", {"text": "hi"}) == ("from the cache", True)
    await let(room, middle__pre_execute="event.skip_llm = True")
    assert await room.ran("echo", {"text": "hi"}) == ("Execution skipped by plugin.", True)
    assert await seen(room, "ran", "post_execute") == []


@pytest.mark.promise("S359")
async def test_after_a_call_its_name_and_result_are_seen_once(room):
    await room.call("mute")
    await room.call("fails")
    await room.call("nowhere")
    found = [one for one in await seen(room, "post_execute") if one[0] == "first"]
    assert found == [
        ["first", "post_execute", "mute", "(no output)", "none"],
        ["first", "post_execute", "fails", "Error executing fails: no", "none"],
    ]


@pytest.mark.promise("S427")
@pytest.mark.parametrize(
    ("step", "why"), [("raise RuntimeError('broken hook')", "broken hook"), ("event.context_parts = 7", "TypeError")]
)
async def test_a_handler_that_raises_or_leaves_nonsense_is_logged_and_the_next_one_runs(room, step, why):
    await let(room, first__pre_execute=step)
    assert await room.ran("echo", {"text": "hi", "count": 1}) == ("hi 1", True)
    assert [one[0] for one in await seen(room, "pre_execute")] == ["first", "middle", "owners"]
    assert any(why in reason for reason in room.reasons("first"))


@pytest.mark.promise("S428")
async def test_a_handler_may_end_the_chain(room):
    await let(room, middle__pre_execute="event.stop_propagation = True")
    await room.call("echo", {"text": "hi"})
    assert [one[0] for one in await seen(room, "pre_execute")] == ["first", "middle"]


async def test_a_handler_that_hangs_is_ended_and_the_call_goes_on(room):
    await let(room, first__pre_execute="time.sleep(60)")
    room.host.hooks._seconds, usual = 0.3, room.host.hooks._seconds
    try:
        assert await room.ran("echo", {"text": "hi", "count": 1}) == ("hi 1", True)
    finally:
        room.host.hooks._seconds = usual
    assert [one[0] for one in await seen(room, "pre_execute")] == ["first", "middle", "owners"]
    assert any("took longer" in reason for reason in room.reasons("first"))


@pytest.mark.promise("S429")
async def test_a_filter_takes_tools_away_and_adds_none_and_one_that_raises_takes_none(room):
    extra = "event.tools = [one for one in event.tools if one['function']['name'] != 'mute'] + [{'function': {'name': 'new'}}]"
    await let(room, first__tools_filter=extra)
    await room.turn("hello", [call("mute")], "Done.")
    assert room.offered(0) == ["echo", "fails", "said"] == room.offered(1)
    assert "withheld" in room.results()[-1].text and await seen(room, "ran") == []
    await let(room, first__tools_filter=[extra, "raise RuntimeError('no')"])
    await room.turn("hello", "Done.")
    assert room.offered() == ["echo", "fails", "mute", "said"]


@pytest.mark.promise("S430")
async def test_what_a_hook_injects_is_told_to_the_model_in_that_turn(room):
    await let(room, first__prompt_inject="event.context_parts.append('It is raining')")
    await room.turn("hello", "Hi.")
    assert "It is raining" in room.requests[-1].system
    endless = "event.context_parts.append('x' * 3_000_000)"
    await let(room, first__prompt_inject=endless, first__pre_chat="event.input = 'x' * 200_001")
    await room.turn("hello", "Hi.")
    assert 200_000 <= len(room.requests[-1].system) < 210_000
    assert room.requests[-1].messages[-1].text == "hello"
    await let(room)
    await room.turn("hello", "Hi.")
    assert "It is raining" not in room.requests[-1].system


@pytest.mark.promise("S431", "S424", "S425")
async def test_what_was_said_may_be_changed_or_answered_before_a_model_is_asked(room):
    await let(room, first__pre_chat="event.input = event.input.upper()")
    assert await room.turn("hello", "Hi.") == "Hi."
    assert [message.text for message in room.requests[-1].messages] == ["HELLO"]
    assert (await seen(room, "pre_chat"))[1] == ["middle", "pre_chat", "HELLO", "system"]
    assert [one for one in await seen(room, "post_chat") if one[0] in ("first", "handle")] == [
        ["first", "post_chat", "HELLO", "Hi.", "system"],
        ["handle", "post_chat", "HELLO"],
    ]
    asked = len(room.requests)
    await let(room, middle__pre_chat=["event.skip_llm = True", "event.response = 'Done it myself.'"])
    assert await room.turn("lights on", "never said") == "Done it myself."
    assert len(room.requests) == asked
    assert [one[0] for one in await seen(room, "pre_chat")] == ["first", "middle"]
    await let(room)
    await room.turn("and now?", "Hm.")
    assert [message.text for message in room.requests[-1].messages][-3:] == ["lights on", "Done it myself.", "and now?"]


async def test_an_answer_for_the_moment_is_never_told_to_a_model(room):
    await let(room, first__pre_chat=["event.skip_llm = True", "event.response = 'psst'", "event.ephemeral = True"])
    assert await room.turn("secret", "never said") == "psst"
    await let(room)
    await room.turn("hello", "Hi.")
    assert [message.text for message in room.requests[-1].messages] == ["hello"]


async def test_what_nobody_known_says_is_told_to_no_plugin_and_nothing_is_told_them(room):
    await let(room, first__prompt_inject="event.context_parts.append('The owner is away')")
    room.chat = room.host.store.chats.create("", "phone").id
    room.script("Hello.")
    await room.host.conversations.turn(room.chat, "who is there?", channel="phone")
    assert "away" not in room.requests[-1].system
    assert await seen(room, "pre_chat", "prompt_inject", "post_chat") == []


@pytest.mark.promise("S433")
async def test_plugins_are_told_when_all_are_ready_and_again_when_that_changes(room):
    before = len(await seen(room, "plugins_ready"))
    assert before == 0  # what the start told was forgotten by now
    await room.host.installed.rescan()
    assert [one[0] for one in await seen(room, "plugins_ready")] == ["first", "middle", "owners"]


async def test_plugins_are_not_told_that_they_are_ready_when_only_what_they_offer_changes(room):
    room.host._tooling.catalogue.stir()
    assert await seen(room, "plugins_ready") == []


async def test_plugins_are_told_that_they_are_ready_at_the_start(tmp_path):
    files = {**hooking("one", 50, hooks=("plugins_ready",)), "plugins/talker/tools/talker.py": TOOL}
    async with sapphire(tmp_path, files) as room:
        assert [one[:2] for one in await seen(room)] == [["one", "plugins_ready"]]


async def test_a_hook_that_is_never_called_here_is_named(room):
    notes = room.host.registry.snapshot.plugins["other"].notes
    assert [note for note in notes if "pre_tts" in note] == ["Its hook 'pre_tts' is never called here."]


async def test_hooks_of_a_plugin_that_is_off_are_not_asked_and_in_a_private_chat_none_that_does_not_care(room):
    room.host.tools.switch("plugin:first", False)
    await room.call("echo", {"text": "hi"})
    assert [one[0] for one in await seen(room, "pre_execute")] == ["middle", "owners"]
    room.host.tools.switch("plugin:first", True)
    await let(room)
    await room.call("echo", {"text": "hi"}, private=True)
    assert await seen(room, "pre_execute") == []


@pytest.mark.promise("S479", "S483")
async def test_plugins_may_tell_events_and_they_are_nothing_but_events(tmp_path):
    teller = tool(
        "tell",
        head="""
        from core.event_bus import Events, publish
        from core.mind_events import publish_mind_changed
        """,
        body="""
        publish(Events.TOOLSET_CHANGED)
        publish(Events.TTS_STOPPED, {"any": "thing"})
        publish_mind_changed("memory", "default", "save")
        return "told", True
        """,
    )
    async with sapphire(tmp_path, {"plugins/teller/tools/t.py": teller}) as room:
        await room.events()
        assert await room.ran("tell") == ("told", True)
        events = [event for event in await room.events() if event.kind in (Kind.TOOLS_CHANGED, Kind.MIND_CHANGED)]
        assert [event.kind for event in events] == [Kind.TOOLS_CHANGED, Kind.MIND_CHANGED]
        assert events[1].data == {"domain": "memory", "scope": "default", "action": "save", "plugin": "teller"}


async def test_plugins_are_told_when_another_model_answers(tmp_path):
    hook = """
    from core.plugin_loader import plugin_loader

    def provider_switched(event):
        plugin_loader.get_plugin_state("models").save("now", event.metadata["provider"])
    """
    plugin = manifest("models", hooks={"provider_switched": "hook.py"})
    save(tmp_path / "sapphire", {"plugins/models/plugin.json": plugin, "plugins/models/hook.py": textwrap.dedent(hook)})
    async with host_at(tmp_path) as host:
        await host.settings.set("model", "openai-chat:gpt-test")
        await host.hooks.settled()
        kept = json.loads((tmp_path / "sapphire" / "user" / "plugin_state" / "models.json").read_text())
        assert "gpt-test" in kept["now"]
