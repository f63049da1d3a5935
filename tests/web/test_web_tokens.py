"""One-time links, sessions that outlive a restart, the owner's file."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.web.sites import Site, site_at

from etui.errors import UsageError
from etui.store import Store
from etui.surfaces.web.guard import addresses, cookie_name
from etui.surfaces.web.serve import bind, remove_run_file, write_run_file
from etui.surfaces.web.tokens import LIFE, MOST, Tokens


class Memory:
    def __init__(self) -> None:
        self.values: dict[tuple[str, str], object] = {}

    def get(self, space: str, key: str) -> object:
        return self.values.get((space, key))

    def put(self, space: str, key: str, value: object) -> None:
        self.values[space, key] = value


def opened(tokens: Tokens) -> str:
    key = tokens.redeem(tokens.link())
    assert key is not None
    return key


def test_a_link_works_once() -> None:
    tokens = Tokens(Memory())
    link = tokens.link()
    assert tokens.redeem(link) is not None
    assert tokens.redeem(link) is None


@given(st.text())
def test_nothing_that_was_not_handed_out_opens_anything(text: str) -> None:
    tokens = Tokens(Memory())
    assert tokens.redeem(text) is None
    assert not tokens.is_session(text)
    assert not tokens.is_owner(text)


def test_sessions_outlive_a_restart_and_are_kept_only_as_hashes(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "etui.db")
    key = opened(Tokens(store.values))
    kept = json.dumps(store.values.all("meta"))
    assert Tokens(store.values).is_session(key)
    assert key not in kept
    store.close()


def test_links_and_the_owners_token_do_not_outlive_a_restart() -> None:
    memory = Memory()
    before = Tokens(memory)
    link = before.link()
    after = Tokens(memory)
    assert after.redeem(link) is None
    assert not after.is_owner(before.owner)


def test_a_session_ends_after_a_long_silence_and_lasts_while_it_is_used() -> None:
    now = [1000.0]
    tokens = Tokens(Memory(), lambda: now[0])
    used, silent = opened(tokens), opened(tokens)
    for _ in range(3):
        now[0] += LIFE * 0.6
        assert tokens.is_session(used)
    assert not tokens.is_session(silent)


def test_a_session_that_is_ended_opens_nothing_also_after_a_restart() -> None:
    memory = Memory()
    tokens = Tokens(memory)
    key = opened(tokens)
    tokens.end(key)
    tokens.end("unknown")
    assert not tokens.is_session(key) and not Tokens(memory).is_session(key)


def test_of_very_many_sessions_the_last_used_are_kept() -> None:
    now = [0.0]
    tokens = Tokens(Memory(), lambda: now[0])
    keys = []
    for _ in range(MOST + 5):
        now[0] += 1
        keys.append(opened(tokens))
    assert [tokens.is_session(key) for key in keys] == [False] * 5 + [True] * MOST


@pytest.mark.parametrize("kept", [None, "x", 3, ["a"], {"a": "b"}])
def test_what_cannot_be_read_as_sessions_is_none(kept: object) -> None:
    memory = Memory()
    memory.put("meta", "web.sessions", kept)
    assert not Tokens(memory).is_session("a")


def test_the_owners_file_is_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("old")
    path.chmod(0o644)
    write_run_file(path, port=1, address="http://127.0.0.1:1", token="t")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text()) == {"port": 1, "pid": os.getpid(), "address": "http://127.0.0.1:1", "token": "t"}
    assert [one.name for one in tmp_path.iterdir()] == ["run.json"]


def test_the_owners_file_of_another_host_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"pid": 1}')
    remove_run_file(path)
    assert path.exists()
    path.write_text(json.dumps({"pid": os.getpid()}))
    remove_run_file(path)
    remove_run_file(path)
    assert not path.exists()


def test_an_address_that_is_taken_is_told_in_a_sentence() -> None:
    first = bind("127.0.0.1", 0)
    with pytest.raises(UsageError, match=r"cannot listen on '127\.0\.0\.1', port"):
        bind("127.0.0.1", first.getsockname()[1])
    first.close()
    with pytest.raises(UsageError, match=r"not\.an\.address"):
        bind("not.an.address.invalid", 0)


def test_only_exact_names_with_our_port_are_addresses() -> None:
    assert set(addresses(8470)) == {"127.0.0.1:8470", "localhost:8470", "[::1]:8470"}
    assert addresses(8470)["localhost:8470"] == {"http://localhost:8470"}
    assert addresses(8470, ["etui.home"])["etui.home"] == {"http://etui.home", "https://etui.home"}
    assert "etui.home:8470" in addresses(8470, ["Etui.Home"])
    assert "localhost" in addresses(80) and "localhost" not in addresses(81)
    assert cookie_name(1) != cookie_name(2)


async def test_the_printed_link_signs_a_browser_in_once(tmp_path: Path) -> None:
    async with site_at(tmp_path, tools="") as site, site.client() as first, site.client() as second:
        path = site.link.removeprefix(site.base)
        assert (await first.head(path)).status_code == 204
        assert (await first.get(path, headers={"sec-purpose": "prefetch;prerender"})).status_code == 204
        answer = await first.get(path)
        cookie = answer.headers["set-cookie"]
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie and cookie.startswith(cookie_name(site.port))
        assert (await first.get("/api/state")).status_code == 200
        answer = await second.get(path)
        assert answer.status_code == 403 and "used already" in answer.text and "set-cookie" not in answer.headers
        assert (await first.get(path)).status_code == 303
        assert (await second.get("/api/state")).status_code == 401


async def test_a_browser_stays_signed_in_over_a_restart_until_it_signs_out(tmp_path: Path) -> None:
    async with site_at(tmp_path, tools="") as before, before.browser() as browser:
        key = browser.cookies[cookie_name(before.port)]
    async with site_at(tmp_path, tools="") as after:
        cookie = {"cookie": f"{cookie_name(after.port)}={key}"}
        async with after.client(**cookie) as client:
            assert (await client.get("/api/state")).status_code == 200
            assert (await client.post("/api/logout", json={}, headers={"x-etui": "1"})).status_code == 200
            assert (await client.get("/api/state")).status_code == 401


async def test_the_site_ends_at_once_though_pages_still_listen(tmp_path: Path) -> None:
    async with asyncio.timeout(10):
        async with site_at(tmp_path, tools="") as site:
            client = site.owner()
            stream = client.stream("GET", "/api/events")
            answer = await stream.__aenter__()
            lines = answer.aiter_lines()
            assert await anext(lines) == "retry: 1000"
        rest = [line async for line in lines]
        assert "event: bye" in rest
        await stream.__aexit__(None, None, None)
        await client.aclose()
    assert not (tmp_path / "run.json").exists()


async def test_the_owners_file_leads_to_the_running_host(tmp_path: Path) -> None:
    async with site_at(tmp_path, tools="") as site:
        told = json.loads((tmp_path / "run.json").read_text())
        assert told["pid"] == os.getpid() and told["port"] == site.port
        assert isinstance(site, Site) and (await site.get("/api/doctor"))["enforced"]
