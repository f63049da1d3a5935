"""Older tools ask the assistant over HTTP: with a key of their own, which opens a few paths to be read and nothing else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.sapphire.homes import save, tool
from tests.web.sites import Site, site_at

from etui.services.keys import MOST, Holder, Keys

pytestmark = pytest.mark.asyncio(loop_scope="module")
META = tool(
    "list_tools",
    "fetch",
    "key",
    head="""
    import json
    import urllib.error
    import urllib.request

    import config
    from core.setup import get_password_hash


    def asked(path, key, method="GET"):
        headers = {"X-API-Key": key, "X-Etui": "1", "Content-Type": "application/json"}
        request = urllib.request.Request(config.API_URL + path, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
    """,
    body="""
    key = get_password_hash()
    if function_name == "key":
        return key, True
    if function_name == "fetch":
        path, method = arguments["path"], arguments.get("method", "GET")
        return json.dumps(asked(path, arguments.get("key") or key, method)), True
    status, current = asked("/api/toolsets/current", key)
    if status != 200:
        return f"Failed: {status}", False
    names = current["enabled_functions"]
    status, every = asked("/api/functions", key)
    told = {one["name"]: one["description"] for module in every["modules"].values() for one in module["functions"]}
    lines = [f"Enabled tools ({len(names)}) - {current['name']}"]
    return "\\n".join(lines + [f"  {name}: {told[name]}" for name in sorted(names)]), True
    """,
    properties={"path": {}, "method": {}, "key": {}},
)
FILES = {"functions/meta.py": META, "plugins/door/tools/d.py": tool("open_door", "shut_door", writes=False)}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    home: Path = tmp_path_factory.mktemp("addresses")
    save(home / "sapphire", FILES)
    async with site_at(home, tools="") as opened:
        yield opened


async def called(site: Site, name: str, chat: str = "", **arguments: Any) -> str:
    session = site.host.session("console", chat=chat)
    outcome = await session.call(session.new_call(name, arguments))
    assert outcome.ok, outcome.text
    return outcome.text


async def fetched(site: Site, path: str, chat: str = "", **more: Any) -> tuple[int, Any]:
    status, answer = json.loads(await called(site, "fetch", chat, path=path, **more))
    return status, answer


@pytest.mark.promise("S488")
async def test_a_tool_lists_the_active_tools_by_the_address_and_its_key(site: Site) -> None:
    chat = site.host.store.chats.create("Tea", "console").id
    names = sorted(tool.name for tool in site.host.session("console", chat=chat).tools())
    assert {"open_door", "shut_door", "list_tools"} <= set(names)
    listed = (await called(site, "list_tools", chat)).splitlines()
    assert listed[0] == f"Enabled tools ({len(names)}) - all"
    assert [line.split(":")[0].strip() for line in listed[1:]] == names
    assert (await fetched(site, "/api/chats/active", chat))[1] == {"active_chat": site.host.store.names.of(chat)}
    await site.host.conversations.turn(chat, "Is there tea?", channel="console", attended=False)
    status, said = await fetched(site, "/api/history/messages", chat)
    assert (status, [(one["role"], one["content"]) for one in said["messages"]]) == (
        200,
        [("user", "Is there tea?"), ("assistant", "You said: Is there tea?")],
    )
    for path in ("/api/prompts", "/api/tts/voices"):
        status, answer = await fetched(site, path, chat)
        assert (status, "Etui has nothing of this kind" in answer["error"]) == (404, True)


@pytest.mark.promise("S488")
async def test_the_key_opens_nothing_else_and_no_other_key_opens_this(site: Site) -> None:
    for method, path in (
        ("GET", "/api/state"),
        ("GET", "/api/chats"),
        ("GET", "/api/settings"),
        ("GET", "/api/plugin/door/x"),
        ("GET", "/api/audit"),
        ("POST", "/api/tools/open_door/call"),
        ("POST", "/api/call"),
        ("POST", "/api/links"),
        ("PUT", "/api/toolsets/current"),
        ("DELETE", "/api/toolsets/current"),
        ("DELETE", "/api/chats/active"),
    ):
        status, answer = await fetched(site, path, method=method)
        assert (status, answer["error"]) == (403, "A tool's key does not open this."), path
    assert (await fetched(site, "/api/functions", key="wrong"))[0] == 401
    key = await called(site, "key")
    async with site.client(**{"x-api-key": key, "origin": "https://example.invalid"}) as other:
        assert (await other.get("/api/functions")).status_code == 403
    async with site.owner() as owner:
        refused = await owner.get("/api/functions")
        assert (refused.status_code, "for tools" in refused.json()["error"]) == (403, True)
        assert key not in json.dumps((await owner.get("/api/state")).json())


@pytest.mark.promise("S488")
async def test_what_a_private_chat_holds_is_not_told(site: Site) -> None:
    chat = site.host.store.chats.create("Secret", "console", private=True).id
    await site.host.conversations.turn(chat, "the treasure", channel="console", attended=False)
    session = site.host.session("console", chat=chat)
    outcome = await session.call(session.new_call("fetch", {"path": "/api/history/messages"}))
    assert "treasure" not in outcome.text


async def test_the_key_of_a_plugin_that_is_off_opens_nothing(site: Site) -> None:
    key = await called(site, "key")
    family = site.host.registry.snapshot.plugins["meta"].family
    async with site.client(**{"x-api-key": key}) as tool:
        for on, status in ((False, 403), (True, 200)):
            site.host.tools.switch(family, on)
            assert (await tool.get("/api/functions")).status_code == status


async def test_keys_are_few_one_for_each_plugin_and_session_and_the_oldest_goes() -> None:
    async def serve(service: str, arguments: dict[str, object]) -> object:
        return None

    keys = Keys()
    first = keys.give(Holder(serve, "p", ""), "s")
    assert keys.give(Holder(serve, "p", "c"), "s") == first
    holder = keys.of(first)
    assert holder is not None and holder.chat == "c"
    others = [keys.give(Holder(serve, "p", ""), str(number)) for number in range(MOST)]
    assert keys.of(first) is None and keys.of("") is None
    assert all(keys.of(one) for one in others)
