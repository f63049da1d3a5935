"""The plugins with settings over the API: how each stands, turned on and off, and requests that make no sense."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.web.sites import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_plugin_is_turned_on_and_off_and_its_secret_is_in_no_answer(site: Site) -> None:
    wish = {"set": {"timeout_s": "3"}, "secrets": {"HOME_ASSISTANT_TOKEN": "t-o-k-e-n"}}
    state = await site.post("/api/extras/home_assistant", wish)
    assert state["on"] is True and state["settings"]["timeout_s"] == 3
    shown = await site.get("/api/extras/home_assistant")
    assert shown["secrets"] == {"HOME_ASSISTANT_TOKEN": True} and shown["plugin"] == state
    listed = await site.get("/api/extras")
    assert [one["name"] for one in listed["plugins"]] == ["home_assistant", "search_web"]
    assert "t-o-k-e-n" not in str((state, shown, listed))
    async with site.owner() as owner:
        off = await owner.request("DELETE", "/api/extras/home_assistant", json={"forget": True})
    assert off.json()["installed"] is False
    assert (await site.get("/api/extras/home_assistant"))["secrets"] == {"HOME_ASSISTANT_TOKEN": False}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "sentence"),
    [
        ("GET", "/api/extras/x", None, 422, "there is no plugin called 'x'"),
        ("POST", "/api/extras/x", {}, 422, "there is no plugin called 'x'"),
        ("POST", "/api/extras/search_web", {"set": {"results": "many"}}, 422, "search_web: results must be a number"),
        ("POST", "/api/extras/search_web", {"set": {"BRAVE_SEARCH_KEY": "k"}}, 422, "is a secret"),
        ("POST", "/api/extras/search_web", {"set": {"results": 4}}, 400, "'set' must be an object of texts."),
        ("POST", "/api/extras/search_web", {"secrets": []}, 400, "'secrets' must be an object of texts."),
        ("POST", "/api/extras/search_web", {"draft": "yes"}, 400, "'draft' must be true or false."),
        ("POST", "/api/extras/search_web", {"secrets": {"BRAVE_SEARCH_KEY": "a\nb"}}, 422, "must be one line of text"),
        ("DELETE", "/api/extras/search_web", {"forget": 1}, 400, "'forget' must be true or false."),
    ],
)
async def test_what_cannot_be_is_a_sentence(site: Site, method, path, body, status, sentence) -> None:
    async with site.owner() as owner:
        answer = await owner.request(method, path, json=body)
    assert answer.status_code == status and sentence in answer.json()["error"]
    folder = Path((await site.get("/api/extras"))["folder"])
    assert [path.name for path in folder.glob("*search_web*")] == []
