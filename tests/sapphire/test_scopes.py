"""Scopes: which account or slot a chat's calls use, which tools a closed one sheds, and what the ContextVars say in a tool."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.sapphire.homes import Room, manifest, sapphire, schema, tool

from etui.agent.embedded import EmbeddedModel
from etui.agent.scripted import call
from etui.outcome import Status

pytestmark = pytest.mark.asyncio(loop_scope="module")
READ = """
import json
import threading

from core.chat.function_manager import scope_email, scope_private, scope_rag, tool_context


def told():
    return {"email": scope_email.get(), "rag": scope_rag.get(), "private": scope_private.get(), "context": tool_context.get()}


def in_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(told()))
    thread.start()
    thread.join()
    return found[0]
"""
MAIL = tool(
    "scopes",
    "set_scope",
    "thread_scopes",
    head=READ,
    body="""
    if function_name == "set_scope":
        scope_email.set("elsewhere")
    return json.dumps(in_thread() if function_name == "thread_scopes" else told()), True
    """,
)
BORROWER = tool(
    "borrow",
    "nope",
    body="""
    try:
        if function_name == "nope":
            from core.chat.function_manager import scope_nope
        else:
            from core.chat.function_manager import scope_github
            return str(scope_github.get()), True
    except ImportError:
        return "disabled", False
    return "enabled", True
    """,
)
BARE = tool(
    "bare",
    head="from core.chat.function_manager import scope_private, scope_rag",
    body='return f"{scope_rag.get()} {scope_private.get()}", True',
)
CATEGORIES = {"memory": "memory", "knowledge": "knowledge", "people": "people", "goals": "goal"}
MANAGER = tool(
    "scope_of",
    "resolved",
    head="import json\nfrom core.chat.function_manager import FunctionManager\n",
    body="""
    if function_name == "scope_of":
        return json.dumps(FunctionManager().tool_scope(arguments["name"])), True
    if not arguments["name"]:
        manager = FunctionManager()
        return json.dumps([manager.resolve_tools("all", closed_scopes=none) for none in (None, (), set())]), True
    return json.dumps(FunctionManager().resolve_tools("all", closed_scopes={arguments["name"]})), True
    """,
)
FILES = {
    "plugins/email/plugin.json": manifest("email", "tools/email_tool.py", scopes=[{"key": "email", "label": "Mailbox"}]),
    "plugins/email/tools/email_tool.py": MAIL,
    "plugins/github/plugin.json": manifest("github", "tools/github.py", scopes=[{"key": "github"}]),
    "plugins/github/tools/github.py": tool(
        "repo", head="from core.chat.function_manager import scope_github", body="return str(scope_github.get()), True"
    ),
    "plugins/house/plugin.json": manifest("house", "tools/house.py", scopes=[{"key": "house", "default": "home"}]),
    "plugins/house/tools/house.py": tool(
        "house_scope", head="from core.chat.function_manager import scope_house", body="return str(scope_house.get()), True"
    ),
    # Run before the files of the scopes' own plugins: what is imported at the top is there all the same.
    "functions/ahead.py": tool(
        "ahead",
        head="""
        import threading
        from core.chat.function_manager import scope_github
        try:
            from core.chat.function_manager import scope_house
        except ImportError:
            scope_house = None
        """,
        body="""
        found = []
        thread = threading.Thread(target=lambda: found.append(scope_house.get()))
        thread.start()
        thread.join()
        return f"{scope_github.get()} {scope_house.get()} {found[0]}", True
        """,
    ),
    "functions/nowhere.py": tool("nowhere", head="from core.chat.function_manager import scope_nowhere"),
    "plugins/two/plugin.json": manifest("two", "tools/two.py", scopes=[{"key": "one"}, {"key": "other"}]),
    "plugins/two/tools/two.py": tool("twofold"),
    "plugins/borrower/tools/borrower.py": BORROWER,
    "plugins/bare/tools/bare.py": BARE,
    "plugins/manager/tools/manager.py": MANAGER,
    "plugins/mind/plugin.json": manifest(
        "mind",
        *(f"tools/{category}.py" for category in CATEGORIES),
        scopes=[{"key": key} for key in CATEGORIES.values()],
    ),
    **{
        f"plugins/mind/tools/{category}.py": tool(
            f"use_{category}",
            head=f"TOOL_CATEGORY = {category!r}\nfrom core.chat.function_manager import scope_{key}",
            body=f"open('user/ran', 'a').write('x')\nreturn str(scope_{key}.get()), True",
        )
        for category, key in CATEGORIES.items()
    },
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("sapphire"), FILES, limit=None) as opened:
        yield opened


def chat(room: Room, title: str = "", **choices: object) -> str:
    """A new chat with these choices."""
    made = room.host.store.chats.create(title, "python").id
    for key, value in choices.items():
        room.host.choosing.choose(made, key, value)
    return made


async def told(room: Room, chat: str = "", name: str = "scopes", **session: Any) -> Any:
    return await room.value(name, chat=chat, **session)


def seen(room: Room, chat: str) -> set[str]:
    """The names that a model is offered there."""
    return {tool.name for tool in room.host.session("python", chat=chat).tools()}


@pytest.mark.promise("S169", "S392")
async def test_the_chats_choice_is_what_the_scope_stands_for(room):
    first, second = chat(room, email_scope="work"), chat(room, email_scope="home")
    assert (await told(room, first))["email"] == "work"
    assert (await told(room, second))["email"] == "home"
    room.host.choosing.choose(first, "email_scope", None)
    assert (await told(room, first))["email"] == "default"


@pytest.mark.promise("S170")
async def test_two_chats_at_once_each_read_their_own(room):
    chats = {name: chat(room, email_scope=name) for name in ("a", "b")}
    answers = await asyncio.gather(*(told(room, chats[name]) for name in ("a", "b") * 50))
    assert [one["email"] for one in answers] == ["a", "b"] * 50


@pytest.mark.promise("S172", "S293")
async def test_two_scopes_are_always_there(tmp_path):
    async with sapphire(tmp_path, {"plugins/bare/tools/bare.py": BARE}) as room:
        assert await room.ran("bare") == ("None False", True)


@pytest.mark.promise("S173", "S174", "S175", "S293")
async def test_a_scope_is_there_while_the_plugin_that_has_it_is_on(room):
    assert await room.ran("repo") == ("default", True)
    assert await room.ran("borrow") == ("default", True)
    room.host.tools.switch("plugin:github", False)
    assert await room.ran("borrow") == ("disabled", False)
    room.host.tools.switch("plugin:github", True)
    assert await room.ran("borrow") == ("default", True)


@pytest.mark.promise("S173", "S174", "S293", "S397")
async def test_another_plugins_scope_is_there_at_the_top_of_a_file_already(room):
    assert await room.ran("ahead") == ("default home home", True)
    mine = chat(room, github_scope="work", house_scope="villa")
    assert await room.ran("ahead", chat=mine) == ("work villa home", True)
    assert "nowhere" not in room.tools()
    [told] = room.reasons("nowhere")
    assert told.startswith("nowhere.py: it imports the scope 'nowhere', and no plugin that is on has one of that name. ")


@pytest.mark.promise("S390")
async def test_a_fresh_chat_has_the_defaults(room):
    fresh = chat(room)
    found = await told(room, fresh)
    assert (found["rag"], found["private"], found["email"]) == (None, False, "default")
    assert await room.ran("house_scope", chat=fresh) == ("home", True)


@pytest.mark.promise("S391")
async def test_a_chat_with_documents_of_its_own_has_a_scope_for_them(room):
    assert (await told(room, chat(room, "A", rag_scope="chat")))["rag"] == "__rag__:A"


async def test_a_private_session_says_so(room):
    assert (await told(room, chat(room), private=True))["private"] is True


@pytest.mark.promise("S393")
async def test_an_unknown_scope_is_an_import_error(room):
    assert await room.ran("nope") == ("disabled", False)


@pytest.mark.promise("S394")
async def test_the_word_none_closes_and_an_empty_text_is_the_default(room):
    assert await room.ran("house_scope", chat=chat(room, house_scope="")) == ("home", True)
    assert "scopes" not in seen(room, chat(room, email_scope=" None "))
    closed = chat(room, email_scope="none")
    session = room.host.session("python", chat=closed)
    assert room.host._selections.chosen(closed).scopes["email"] is None
    outcome = await session.call(session.new_call("scopes", {}))
    assert (outcome.status, outcome.rule) == (Status.REFUSED, "scope_closed")
    # A tool that needs another scope still reads the closed one.
    assert await room.ran("borrow", chat=chat(room, github_scope="none")) == ("None", True)


@pytest.mark.promise("S395")
async def test_what_a_tool_sets_itself_is_gone_with_its_call(room):
    mine = chat(room, email_scope="work")
    assert (await told(room, mine, "set_scope"))["email"] == "elsewhere"
    assert (await told(room, mine))["email"] == "work"


@pytest.mark.promise("S397")
async def test_a_thread_that_a_tool_starts_reads_the_defaults(room):
    found = await told(room, chat(room, email_scope="work"), "thread_scopes")
    assert (found["email"], found["context"]) == ("default", None)


@pytest.mark.promise("S398")
async def test_the_context_says_in_whose_conversation_the_call_is(room):
    found = (await told(room, chat(room, "Letters")))["context"]
    assert found == {"chat": "Letters", "persona": "Etui", "model": "scripted", "channel": "python"}
    assert (await told(room))["context"] is None


@pytest.mark.promise("S028", "S278")
async def test_the_four_categories_need_a_scope_each_and_a_closed_one_sheds_only_them(room):
    everything = seen(room, chat(room))
    for category, key in CATEGORIES.items():
        assert await room.value("scope_of", {"name": f"use_{category}"}) == key
        assert everything - seen(room, chat(room, **{f"{key}_scope": "none"})) == {f"use_{category}"}


@pytest.mark.promise("S030", "S278", "S282")
async def test_any_other_tool_needs_the_one_scope_of_its_plugin(room):
    everything = seen(room, chat(room))
    assert everything - seen(room, chat(room, email_scope="none")) == {"scopes", "set_scope", "thread_scopes"}
    assert seen(room, chat(room, one_scope="none")) == everything
    assert await room.value("scope_of", {"name": "scopes"}) == "email"
    assert await room.value("scope_of", {"name": "bare"}) is None
    assert await room.value("scope_of", {"name": "twofold"}) is None


@pytest.mark.promise("S029")
async def test_a_closed_scope_sheds_its_tools_and_the_rule_holds_for_a_call_all_the_same(room):
    room.chat = chat(room, memory_scope="none")
    room.model.asked.clear()
    await room.turn("remember it", [call("use_memory")], "I cannot.")
    assert "use_memory" not in room.offered(0) and "use_goals" in room.offered(0)
    entry = room.host.store.journal.recent("use_memory", 1)[0]
    assert (entry.status, entry.rule) == ("refused", "scope_closed")
    assert not (room.user / "ran").exists()


@pytest.mark.promise("S029")
async def test_a_background_job_has_what_its_conversation_has(room):
    """An agent sent by a chat that closed a scope is no way around that."""
    room.chat = chat(room, memory_scope="none", email_scope="work")
    room.model.asked.clear()
    room.script([call("scopes"), call("use_memory", index=1)], "Done.")
    session = room.host.session("python", chat=room.chat)
    async with room.host.hub.listen() as events:
        job = room.host.jobs.start(session, "look around")
        while (event := await events.next()) is not None and event.kind.value != "work_done":
            pass
    assert "use_memory" not in room.offered(0)
    results = {one.tool: one for one in room.host.store.chats.messages(job.id) if one.role == "tool"}
    assert json.loads(results["scopes"].text)["email"] == "work"
    assert "use_memory needs the scope 'memory'" in results["use_memory"].text


@pytest.mark.promise("S283")
async def test_a_selection_can_be_resolved_without_the_tools_of_closed_scopes(room):
    found = await room.value("resolved", {"name": "memory"})
    assert set(room.tools()) - set(found) == {"use_memory"}
    assert [set(one) for one in await room.value("resolved", {"name": ""})] == [set(room.tools())] * 3


MEMORY = tool(
    "save_memory",
    "find_memory",
    head="""
    TOOL_CATEGORY = "memory"
    import json
    from pathlib import Path

    import config
    from core.chat.function_manager import scope_memory

    ROWS = Path(config.__file__).parent / "user" / "rows.json"


    def rows():
        return json.loads(ROWS.read_text()) if ROWS.exists() else []
    """,
    body="""
    scope = scope_memory.get()
    if scope is None:
        return "Memory is disabled for this chat.", False
    if function_name == "save_memory":
        if scope == "global":
            return "Cannot write to the global scope.", False
        ROWS.write_text(json.dumps([*rows(), [scope, arguments["text"]]]))
        return "Saved.", True
    found = [text for where, text in rows() if where in (scope, "global")]
    return ", ".join(found) or "No memories stored.", True
    """,
)


@pytest.mark.promise("S396", "S508")
async def test_memories_follow_the_scope_of_the_chat(tmp_path):
    files = {
        "plugins/memory/plugin.json": manifest("memory", "tools/memory_tools.py", scopes=[{"key": "memory"}]),
        "plugins/memory/tools/memory_tools.py": MEMORY,
    }
    async with sapphire(tmp_path, files) as room:
        work, fresh = chat(room, memory_scope="work"), chat(room)
        everywhere, closed = chat(room, memory_scope="global"), chat(room, memory_scope="none")
        assert await room.ran("save_memory", {"text": "tea"}, chat=work) == ("Saved.", True)
        assert await room.ran("find_memory", chat=fresh) == ("No memories stored.", True)
        text, ok = await room.ran("save_memory", {"text": "all"}, chat=everywhere)
        assert (text, ok) == ("Cannot write to the global scope.", False)
        (room.user / "rows.json").write_text(json.dumps([["work", "tea"], ["global", "everybody's"]]))
        assert await room.ran("find_memory", chat=work) == ("tea, everybody's", True)
        assert await room.ran("find_memory", chat=fresh) == ("everybody's", True)
        text, ok = await room.ran("find_memory", chat=closed)
        assert not ok and "closed in this chat" in text


async def test_a_session_says_of_tools_that_its_chat_has_not_where_that_is_changed_and_a_stranger_learns_nothing(room):
    def lacks(chat: str, **session: Any) -> dict[str, str]:
        return {tool.name: why for tool, why in room.host.session("console", chat=chat, **session).elsewhere()}

    where = "Change that under “Tools of this chat” in the console, or with `etui toolsets chat`."
    few = chat(room, toolset="bare", email_scope="none")
    assert "bare" not in lacks(few)
    assert lacks(few)["repo"] == f"This chat does not have the tool 'repo'. {where}"
    assert lacks(few, trust="none") == {} == lacks(chat(room))
    shut = lacks(chat(room, email_scope="none"))
    assert shut["scopes"] == f"'scopes' needs the scope 'email', which is closed in this chat. {where}"
    room.host.tools.switch("bare", False)
    assert lacks(few)["bare"] == "'bare' is switched off. Switch it on on the console's Tools page or with `etui tools`."
    room.host.tools.switch("bare", True)


async def test_in_a_chat_without_a_tool_the_matcher_says_so(tmp_path):
    mail = [schema("check_mail")]
    mail[0]["function"]["description"] = "Check the mail."
    text = f"TOOLS = {mail!r}\n\n\ndef execute(name, arguments, config):\n    return 'None.', True\n"
    async with sapphire(tmp_path, {"plugins/post/tools/post.py": text, "plugins/bare/tools/bare.py": tool("other")}) as room:
        said = []
        for choices in ({}, {"toolset": "bare"}):
            room.chat = chat(room, **choices)
            await room.turn("check the mail", "Hm.")
            said.append(await asyncio.to_thread(EmbeddedModel().answer, room.requests[-1]))
        assert [one.tool for one in said[0].calls] == ["check_mail"]
        assert said[1].text.startswith("This chat does not have the tool 'check_mail'. Change that under “Tools of this chat”")


async def test_the_scopes_of_a_plugin_that_is_off_are_not_shown_and_what_was_chosen_is_kept(room):
    def keys(chat: str) -> dict[str, str]:
        return {one.key: one.chosen for one in room.host.choosing.of(chat).scopes}

    own = chat(room, email_scope="work")
    assert keys(own)["email"] == "work"
    room.host.tools.switch("plugin:email", False)
    assert "email" not in keys(own) and "github" in keys(own)
    room.host.tools.switch("plugin:email", True)
    assert keys(own)["email"] == "work"
