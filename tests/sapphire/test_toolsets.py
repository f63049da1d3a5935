"""Categories, the words of a toolset, saved toolsets, hidden tools, kinds of prompt: what a model is sent because of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from structlog.testing import capture_logs
from tests.sapphire.homes import Room, sapphire, schema, tool

from etui.agent.scripted import call
from etui.errors import UsageError

pytestmark = pytest.mark.asyncio(loop_scope="module")
WORDS = [
    "web",
    "memory",
    "knowledge",
    "people",
    "goals",
    "files",
    "system",
    "devices",
    "comms",
    "media",
    "meta_danger",
    "agents",
]
"""The twelve categories."""
MANAGER = """
import json
from core.chat.function_manager import FunctionManager
manager = FunctionManager()
"""


def of(category: str, *entries: dict[str, Any]) -> str:
    """A tool file of this category with these entries."""
    return f"""
TOOL_CATEGORY = {category!r}
TOOLS = {list(entries)!r}


def execute(function_name, arguments, config):
    return function_name, True
"""


FILES = {
    **{f"plugins/words/tools/{word}.py": of(word, schema(f"{word}_one"), schema(f"{word}_two")) for word in WORDS},
    "plugins/mixed/tools/mixed.py": of("web", schema("mixed_a", writes=True), schema("mixed_b", category="files")),
    "plugins/my-plugin/tools/plain.py": tool("plain"),
    "plugins/bitcoin/tools/bitcoin_tool.py": of("bitcoin", schema("get_wallet")),
    "plugins/fetch/tools/fetch.py": "import urllib.request\n" + of("files", schema("fetch_page")),
    "plugins/secretive/tools/hid.py": tool("shown_one") + "\nTOOLS += [" + repr(schema("hidden_one", hidden=True)) + "]\n",
    "plugins/clock/tools/clock_tools.py": tool("tick", "tock"),
    "plugins/modes/tools/modes.py": tool("in_monolith", "in_assembled", "in_both")
    + "\nMODE_FILTER = {'monolith': ['in_monolith', 'in_both'], 'assembled': ['in_assembled', 'in_both']}\n",
    "plugins/asker/tools/asker.py": tool(
        "ask_manager",
        head=MANAGER,
        body="""
        what = arguments["what"]
        found = getattr(manager, what)(*arguments.get("args", []), **arguments.get("more", {}))
        return json.dumps(found), True
        """,
    ),
    "plugins/system/tools/system.py": tool(
        "by_system",
        body="""
        from core.api_fastapi import get_system

        chat = get_system().llm_chat
        meta = chat.function_manager.tool_meta(arguments["name"])
        return f"{meta['category']} {chat.tool_engine.tool_meta(arguments['name'])['writes']}", True
        """,
    ),
    "functions/pad.py": tool("pad_read", "pad_write"),
    "plugins/later/tools/later.py": tool("later_one"),
}
ON = ("words", "mixed", "my-plugin", "bitcoin", "fetch", "secretive", "clock", "modes", "asker", "system")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("sapphire"), FILES, on=ON, limit=None) as opened:
        yield opened


async def sent(room: Room, *, fresh: bool = True, **choices: object) -> set[str]:
    """The names that a model is sent in a chat with these choices; a new one, or with `fresh` false the last."""
    if fresh:
        room.chat = room.host.store.chats.create("", "python").id
    for key, value in choices.items():
        room.host.choosing.choose(room.chat, key, value)
    room.model.asked.clear()
    await room.turn("hello", "Hello.")
    return set(room.offered())


async def asked(room: Room, what: str, *args: object, **more: object) -> Any:
    """What the manager of functions says to a plugin."""
    return await room.value("ask_manager", {"what": what, "args": list(args), "more": more})


def tools_of(*words: str) -> set[str]:
    return {f"{word}_{number}" for word in words for number in ("one", "two")}


@pytest.mark.promise("S025")
async def test_the_twelve_categories_are_there(room):
    assert set(WORDS) <= set(await asked(room, "categories"))


@pytest.mark.promise("S026", "S277")
async def test_words_by_commas_are_a_toolset(room):
    assert await sent(room, toolset="web, files") == tools_of("web", "files") | {"mixed_a", "mixed_b", "fetch_page"}


@pytest.mark.promise("S277")
async def test_extra_toolsets_are_united_with_the_toolset(room):
    files = tools_of("files") | {"mixed_b", "fetch_page"}
    assert await sent(room, toolset="none", extra_toolsets=["files"]) == files
    assert await sent(room, toolset="goals", extra_toolsets=["files"]) == files | tools_of("goals")


@pytest.mark.promise("S028")
async def test_a_category_can_be_closed_where_no_plugin_declares_its_scope(room):
    everything = await sent(room)
    for word in ("none", " None "):
        assert everything - await sent(room, memory_scope=word) == tools_of("memory")


@pytest.mark.promise("S031")
async def test_meta_danger_resolves_by_that_word_and_stands_in_that_group_only(room):
    assert await sent(room, toolset="meta_danger") == tools_of("meta_danger")
    groups = [group.name for group in room.host.choosing.groups() for row in group.tools if row.name == "meta_danger_one"]
    assert groups == ["meta_danger"]


@pytest.mark.promise("S032")
async def test_the_host_goes_by_the_category_that_is_declared(room):
    assert "fetch_page" in await sent(room, toolset="files")
    assert "fetch_page" not in await sent(room, toolset="web")
    assert (await asked(room, "tool_meta", "fetch_page"))["category"] == "files"


@pytest.mark.promise("S033")
async def test_a_plugins_own_name_is_a_category(room):
    assert await sent(room, toolset="bitcoin") == {"get_wallet"}
    assert [group.name for group in room.host.choosing.groups() if group.name == "bitcoin"] == ["bitcoin"]


@pytest.mark.promise("S273", "S275", "S274", "S276", "S279")
async def test_a_tools_metadata_has_its_category_and_whether_it_writes(room):
    assert (await asked(room, "tool_meta", "web_one"))["category"] == "web"
    first, second = await asked(room, "tool_meta", "mixed_a"), await asked(room, "tool_meta", "mixed_b")
    assert (first["category"], first["writes"]) == ("web", True)
    assert (second["category"], second["writes"]) == ("files", False)
    assert "mixed_b" not in await sent(room, toolset="web")
    assert (await asked(room, "tool_meta", "plain"))["category"] == "my-plugin"
    assert await sent(room, toolset="my-plugin") == {"plain"}
    assert await asked(room, "tool_meta", "nobody") == {}


@pytest.mark.promise("S478")
async def test_the_running_system_hands_out_the_manager_of_functions(room):
    assert await room.ran("by_system", {"name": "mixed_a"}) == ("web True", True)


@pytest.mark.promise("S281")
async def test_a_categorys_tools_can_be_asked_for_by_whether_they_write(tmp_path):
    files = {
        "plugins/p/tools/p.py": of("files", schema("reader"), schema("writer", writes=True)),
        "plugins/asker/tools/asker.py": FILES["plugins/asker/tools/asker.py"],
    }
    async with sapphire(tmp_path, files) as room:
        assert await asked(room, "tools_in_category", "files") == ["reader", "writer"]
        assert await asked(room, "tools_in_category", "files", writes=True) == ["writer"]
        assert await asked(room, "tools_in_category", "files", False) == ["reader"]


@pytest.mark.promise("S280", "S447")
async def test_categories_and_modules_of_a_small_host(tmp_path):
    """A loose module's word is its stem, a plugin file's `plugin_<plugin>_<stem>`."""
    files = {
        "plugins/clock/tools/clock_tools.py": of("", schema("tick"), schema("tock", category="devices")),
        "functions/web.py": tool(
            "search",
            "ask_manager",
            head="TOOL_CATEGORY = 'system'\n" + MANAGER,
            body="""
            if function_name == "search":
                return "found", True
            return json.dumps(getattr(manager, arguments["what"])(*arguments["args"])), True
            """,
        ),
    }
    async with sapphire(tmp_path, files) as room:
        assert await asked(room, "categories") == ["clock", "devices", "system"]
        assert await sent(room, toolset="web") == {"search", "ask_manager"}
        assert await sent(room, toolset="plugin_clock_clock_tools") == {"tick", "tock"}


@pytest.mark.promise("S446", "S251", "S272", "S332", "S447")
async def test_each_of_the_six_kinds_of_selection(room):
    room.host.choosing.save("desk", ["tick", "hidden_one"], "🛠")
    everything = {name for name in room.tools() if name not in ("hidden_one", "in_assembled", "later_one")}
    assert await sent(room) == everything
    assert await sent(room, toolset="all") == everything
    assert await sent(room, toolset="none") == set()
    assert await sent(room, toolset="plugin_clock_clock_tools") == {"tick", "tock"}
    assert await sent(room, toolset="pad") == {"pad_read", "pad_write"}
    assert await sent(room, toolset="desk") == {"tick", "hidden_one"}
    assert await sent(room, toolset="people") == tools_of("people")
    assert await sent(room, toolset=["tock", "plain", "hidden_one"]) == {"tock", "plain"}
    assert await sent(room, toolset="plugin_secretive_hid") == {"shown_one"}
    assert await sent(room, toolset=[]) == set()
    assert room.host.choosing.of(room.chat).toolset == "none"
    assert await sent(room, toolset="") == everything


@pytest.mark.promise("S272", "S332")
async def test_a_hidden_tool_is_registered_and_called_where_a_saved_toolset_names_it(room):
    room.host.choosing.save("hide", ["hidden_one"])
    assert "hidden_one" in room.tools()
    await sent(room, toolset="hide")
    room.model.asked.clear()
    await room.turn("call it", [call("hidden_one")], "Done.")
    assert room.results()[-1].text == "done"


@pytest.mark.promise("S354")
async def test_a_call_outside_the_toolset_names_what_there_is(room):
    await sent(room, toolset="web")
    room.model.asked.clear()
    await room.turn("call it", [call("tick")], "Sorry.")
    said = room.results()[-1].text
    assert said.startswith("Error: 'tick' is not in the active toolset, so it cannot run.")
    assert all(name in said for name in ("mixed_a", "web_one", "web_two"))
    entry = room.host.store.journal.recent("tick", 1)[0]
    assert (entry.status, entry.rule) == ("refused", "not_chosen")
    await sent(room, toolset=sorted(name for name in room.tools() if name != "tick"))
    room.model.asked.clear()
    await room.turn("call it", [call("tick")], "Sorry.")
    told = [name for name in room.tools() if f"{name}," in room.results()[-1].text or f"{name}. " in room.results()[-1].text]
    assert len(told) == 10


@pytest.mark.promise("S252")
async def test_the_model_calls_what_it_was_sent_without_being_told_to(room):
    await sent(room, toolset="clock")
    room.model.asked.clear()
    await room.turn("What time is it?", [call("tick")], "Noon.")
    assert room.results()[-1].text == "done"


@pytest.mark.promise("S448")
async def test_an_unknown_word_gives_no_tools_and_is_told(room):
    assert await sent(room, toolset="nope") == set()
    assert room.host.choosing.of(room.chat).unknown == ("nope",)
    assert any("'nope'" in reason and "unknown" in reason for reason in room.reasons())
    assert await sent(room, fresh=False, toolset="bitcoin") == {"get_wallet"}
    assert not any("'nope'" in reason for reason in room.reasons())


@pytest.mark.promise("S449", "S450")
async def test_the_file_of_toolsets_is_watched_and_what_it_names_in_vain_is_logged(room):
    file = room.user / "toolsets" / "toolsets.json"
    file.write_text(json.dumps({"own": {"emoji": "🐸", "functions": ["tick"]}}))
    assert await sent(room, toolset="own") == {"tick"}
    file.write_text(json.dumps({"own": {"emoji": "🐸", "functions": ["plain", "zzz"]}}))
    with capture_logs() as logs:
        assert await sent(room, fresh=False) == {"plain"}
    assert any(entry.get("tool") == "zzz" for entry in logs)
    file.write_text("{")
    assert await sent(room, fresh=False) == set()
    assert "no JSON" in room.host.choosing.trouble()
    with pytest.raises(UsageError, match="no JSON"):
        room.host.choosing.save("other", ["tick"])
    file.unlink()


@pytest.mark.promise("S449")
async def test_a_saved_toolset_is_written_beside_what_somebody_else_wrote(room):
    file = room.user / "toolsets" / "toolsets.json"
    file.write_text(json.dumps({"theirs": {"emoji": "", "functions": ["tick"], "note": "mine"}}))
    room.host.choosing.save("ours", ["tock"], "🐢")
    kept = json.loads(file.read_text())
    assert kept["theirs"]["note"] == "mine"
    assert kept["ours"] == {"emoji": "🐢", "functions": ["tock"]}
    assert room.host.choosing.remove("ours")
    assert not room.host.choosing.remove("ours")
    file.unlink()


@pytest.mark.parametrize("name", ["all", "None", "a, b", "", "x" * 65, "a\nb"])
async def test_a_toolset_cannot_be_called_what_means_something_else(room, name):
    with pytest.raises(UsageError):
        room.host.choosing.save(name, ["tick"])


@pytest.mark.promise("S451")
async def test_the_tools_of_a_plugin_just_switched_on_are_in_at_once(room):
    room.host.choosing.save("soon", ["later_one", "tick"])
    assert "later_one" not in await sent(room)
    everything = room.chat
    assert await sent(room, toolset="soon") == {"tick"}
    async with room.host.hub.listen() as events:
        room.host.tools.switch("plugin:later", True)
        while "later_one" not in room.tools():
            await events.next()
    assert await sent(room, fresh=False) == {"tick", "later_one"}
    room.chat = everything
    assert "later_one" in await sent(room, fresh=False)
    room.host.tools.switch("plugin:later", False)


@pytest.mark.promise("S320")
async def test_a_tool_for_one_kind_of_prompt_is_sent_with_that_kind_only(room):
    assert await sent(room, toolset="modes") == {"in_monolith", "in_both"}
    assert await sent(room, toolset="modes", prompt_mode="assembled") == {"in_assembled", "in_both"}


async def test_a_plugin_whose_name_is_taken_in_the_house_keeps_its_own_for_categories_and_modules(tmp_path):
    """The shelf has a plugin `clock` too."""
    files = {
        "plugins/clock/tools/clock_tools.py": tool("tick"),
        "plugins/asker/tools/asker.py": FILES["plugins/asker/tools/asker.py"],
    }
    async with sapphire(tmp_path, files, shelf=True) as room:
        meta = await asked(room, "tool_meta", "tick")
        assert (meta["category"], meta["module"], meta["plugin"]) == ("clock", "plugin_clock_clock_tools", "clock")
        assert await sent(room, toolset="plugin_clock_clock_tools") == {"tick"}
        assert {"tick", "set_timer"} <= await sent(room, toolset="clock")


@pytest.mark.promise("S266", "S270")
async def test_no_flag_but_the_selection_keeps_a_tool_from_a_public_chat(tmp_path):
    flags: dict[str, dict[str, Any]] = {
        "on_machine": {"is_local": True},
        "outside": {"is_local": False},
        "somewhere": {"is_local": "endpoint"},
        "unsaid": {},
        "networked": {"network": True},
    }
    entries = [schema(name, **more) for name, more in flags.items()]
    async with sapphire(tmp_path, {"plugins/p/tools/p.py": of("web", *entries)}) as room:
        assert await sent(room) == set(flags)
        for name in flags:
            room.model.asked.clear()
            await room.turn(name, [call(name)], "Done.")
            assert room.results()[-1].text == name
        assert {room.tool(name).risk for name in flags} == {room.tool("unsaid").risk}


@pytest.mark.promise("S276")
async def test_a_tool_that_writes_runs_beside_no_other_call_and_not_again_after_a_crash(tmp_path):
    body = """
    import os, threading
    with open("user/begun", "a") as file:
        file.write("b")
    if arguments.get("die"):
        os._exit(1)
    threading.Event().wait(0.05)
    with open("user/begun", "a") as file:
        file.write("e")
    return "acted", True
    """
    async with sapphire(tmp_path, {"plugins/p/tools/p.py": tool("act", body=body, writes=True)}) as room:
        await room.turn("twice", [call("act", {"number": 1}), call("act", {"number": 2}, index=1)], "Done.")
        assert (room.user / "begun").read_text() == "bebe"
        assert (await room.call("act", {"die": True})).status.value == "unknown"
        assert (room.user / "begun").read_text() == "bebeb"


async def test_selections_hold_for_the_tools_of_every_contract(tmp_path):
    mine = '''from etui import tool

@tool
def roll() -> int:
    """Roll a die."""
    return 4
'''
    folder = tmp_path / "home" / "tools"
    folder.mkdir(parents=True)
    (folder / "dice.py").write_text(mine)
    async with sapphire(tmp_path, {"plugins/p/tools/p.py": of("web", schema("look"))}) as room:
        assert await sent(room) == {"look", "roll"}
        assert await sent(room, toolset="dice") == {"roll"}
        assert await sent(room, toolset="web") == {"look"}
        room.model.asked.clear()
        await room.turn("roll", [call("roll")], "Sorry.")
        assert room.results()[-1].text == (
            "roll is not among the tools that were chosen for this chat; its owner can choose it there."
        )


async def test_what_cannot_be_chosen_is_refused(room):
    chat = room.host.store.chats.create("", "python").id
    for key, value in (
        ("toolset", 3),
        ("private_scope", "x"),
        ("color", "red"),
        ("prompt_mode", "odd"),
        ("toolset", ["x" * 201]),
    ):
        with pytest.raises(UsageError):
            room.host.choosing.choose(chat, key, value)
