"""`ctx.db`: the person's own chats, a plugin's own keys, and what is not here."""

from __future__ import annotations

import pytest
from tests.kotoba.homes import kotoba, ping

from etui.agent.scripted import call
from etui.outcome import Status
from etui.store import Store
from etui.store.chats import Message

CHATS = ping(
    """
    db = ctx.db
    await db.ensure_session(ctx.session_id)
    found = await db.search_turns(args["query"], 5)
    recent = await db.fetch_recent_turns(ctx.session_id, 3)
    chats = await db.list_sessions()
    return repr({"found": [one["content"] for one in found], "keys": sorted(found[0]) if found else [],
                 "recent": recent, "count": await db.count_turns(), "chats": [one["opened"] for one in chats]})
    """,
    name="chats",
)
KEYS = ping(
    """
    for name, value in args.get("save", {}).items():
        await ctx.db.save_key(name, value)
    for name in args.get("delete", []):
        await ctx.db.delete_key(name)
    names = [one["name"] for one in await ctx.db.list_key_names()]
    return repr((names, [await ctx.db.get_key(name) for name in args.get("get", [])]))
    """,
    name="NAME",
)
JOBS = ping("return str(await ctx.db.insert_cronjob('x', 'y'))", name="jobs")
ODD = ping("return repr((hasattr(ctx.db, 'nosuch'), hasattr(ctx.db, 'insert_cronjob')))", name="odd")
PROFILE = ping(
    """
    await ctx.db.upsert_user_profile("name", "Ada")
    rows = await ctx.db.fetch_audit_log(5)
    return repr((await ctx.db.fetch_user_profile(), await ctx.db.fetch_user_profile_as_markdown(),
                 [(one["action"], one["detail"], one["risk_kind"]) for one in rows]))
    """,
    name="profile",
    head='RISK = "write"',
)


@pytest.mark.promise("K238")
async def test_what_was_said_a_turn_earlier_is_found_and_nothing_of_private_chats(tmp_path):
    async with kotoba(tmp_path, {"p/chats.py": CHATS}) as room:
        chats = room.host.store.chats
        hidden = chats.create("", "console", private=True)
        chats.add(Message(chat=hidden.id, role="user", text="my secret tea"))
        await room.turn("I like green tea", "So do I.")
        await room.turn("Did I mention tea?", [call("chats", {"query": '"tea" *'})], "You did.")
        told = eval(room.results()[-1].text)
        assert told["found"] == ["I like green tea"]
        assert told["keys"] == ["content", "created_at", "role", "session_id", "started_at"]
        assert [(one["role"], one["content"]) for one in told["recent"]] == [
            ("user", "I like green tea"),
            ("assistant", "So do I."),
            ("user", "Did I mention tea?"),
        ]
        assert (told["count"], told["chats"]) == (3, ["I like green tea"])


@pytest.mark.promise("K239")
async def test_a_plugin_has_keys_of_its_own_and_sees_no_others(tmp_path):
    files = {"p/mine.py": KEYS.replace("NAME", "mine"), "q/other.py": KEYS.replace("NAME", "other")}
    async with kotoba(tmp_path, files) as room:
        await room.call("other", {"save": {"owner": "hush", "shared": "theirs"}})
        told = await room.call("mine", {"save": {"shared": "ours"}, "get": ["shared", "owner"]})
        assert told.text == "(['shared'], ['ours', None])"
        assert (await room.call("mine", {"delete": ["shared"]})).text == "([], [])"
        assert (await room.call("other", {"get": ["shared"]})).text == "(['owner', 'shared'], ['theirs'])"


@pytest.mark.promise("K240")
async def test_what_belongs_to_the_product_is_one_failed_call_or_a_refused_file_that_names_it(tmp_path):
    files = {"p/jobs.py": JOBS, "p/odd.py": ODD, "p/states.py": ping(top="import kotoba.discord.state", name="states")}
    async with kotoba(tmp_path, files) as room:
        outcome = await room.call("jobs")
        assert outcome.status is Status.FAILED
        assert "ctx.db.insert_cronjob() belongs to Kotoba itself and has no counterpart here." in outcome.detail
        assert (await room.call("odd")).text == "(False, True)"
        [(what, reason, refused)] = room.problems()
        assert (what, refused) == ("states.py", True) and "kotoba.discord.state" in reason


async def test_a_plugin_keeps_what_it_learnt_of_the_person_and_sees_only_its_own_deeds(tmp_path):
    files = {"p/profile.py": PROFILE, "q/other.py": ping(name="other", head='RISK = "write"')}
    async with kotoba(tmp_path, files) as room:
        await room.call("other")
        await room.call("profile")
        known, listed, deeds = eval((await room.call("profile")).text)
        assert (known, listed) == ({"name": "Ada"}, "- name: Ada")
        assert deeds == [("profile {}", "executed", "write")]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("latencia", ["la latencia"]),
        ('"latencia" *', ["las latencias", "la latencia"]),
        ("JESUS", ["Jesús vive"]),
        ("latencia OR vive", ["Jesús vive", "la latencia"]),
        ("la latencia", ["la latencia"]),
        ('"la latencia"', ["la latencia"]),
        ('"latencia la"', []),
        ("", []),
        ('"" * ( " )', []),
        ("tool words", []),
    ],
)
def test_a_search_finds_what_has_every_word_the_newest_first(query, found):
    store = Store.open(":memory:")
    chat = store.chats.create().id
    for text in ("la latencia", "las latencias", "Jesús vive"):
        store.chats.add(Message(chat=chat, role="user", text=text))
    store.chats.add(Message(chat=chat, role="tool", text="tool words"))
    assert [said.text for said in store.said.search(query)] == found
    store.close()
