"""What a model is shown of images, and for how long: over a real model server's wire, and by what a scripted one is asked."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.agent.servers import Fails, ModelServer, Says
from tests.sapphire.homes import sapphire, save, tool
from tests.sapphire.pictures import LAB, LOOK, bytes_of
from tests.spine.homes import host_at

from etui.agent.calls import _ended
from etui.agent.scripted import call
from etui.host import Host
from etui.settings import ROWS

CAMERA = tool(
    "shoot",
    "fail",
    "secret",
    head="""
    import io
    from core import images as ci


    def taken(colour):
        from PIL import Image
        made = io.BytesIO()
        Image.new("RGB", (64, 48), colour).save(made, "PNG")
        return made.getvalue()
    """,
    body="""
    if function_name == "secret":
        return ci.result("For your eyes only.", [taken((9, 9, 9))], display_only=True), True
    if function_name == "fail":
        return ci.result("It is blurred.", [ci.for_chat(taken((1, 2, 3)))]), False
    return ci.result("Here's the camera.", [ci.for_chat(taken((200, 0, 0))), taken((0, 0, 200))]), True
    """,
)
ROW = tool(
    "row",
    head="""
    import io, json
    from core import images as ci


    def taken(shade):
        from PIL import Image
        made = io.BytesIO()
        Image.new("RGB", (40, 40), (shade, 0, 0)).save(made, "PNG")
        return made.getvalue()
    """,
    body="""
    page = "https://example.org/"
    entries = [{"raw": taken(20 * number), "title": f"Number {number}", "page": page} for number in range(1, 10)]
    images, tail = ci.gallery("Nine", entries, view=arguments.get("view", True))
    lines = [f"{number}. {entry['title']} — {entry['handle']}" for number, entry in enumerate(entries, 1)]
    text = "\\n".join(lines) + "\\n" + tail
    return (ci.result(text, images) if images else text), True
    """,
    properties={"view": {"type": "boolean"}},
)
FILES = {
    "plugins/camera/tools/camera.py": CAMERA,
    "plugins/row/tools/row.py": ROW,
    "plugins/viewer/tools/look.py": LOOK,
    "plugins/lab/tools/lab.py": LAB,
}
HANDLE = re.compile(r"img:[0-9a-f]{12}\.(?:jpg|png)")


def parts(request: dict[str, Any]) -> list[bytes]:
    """The image parts of a request of Chat Completions, in their order."""
    found = []
    for message in request["messages"]:
        content = message.get("content")
        for part in content if isinstance(content, list) else []:
            if part["type"] == "image_url":
                found.append(base64.b64decode(part["image_url"]["url"].partition("base64,")[2]))
    return found


@asynccontextmanager
async def wired(path: Path, server: ModelServer, **settings: object) -> AsyncIterator[Host]:
    """A host whose model is asked at this server."""
    home = path / "home"
    save(home / "sapphire", FILES)
    (home / "config.toml").write_text(f'model = "openai-chat:m"\nmodel_base_url = "{server.url}"\n')
    async with host_at(home, **settings) as host:
        yield host


async def say(host: Host, chat: str, *texts: str) -> None:
    for text in texts:
        await host.conversations.turn(chat, text, channel="python")


@pytest.mark.promise("S041")
@pytest.mark.promise("S048")
@pytest.mark.promise("S050")
@pytest.mark.promise("S051")
async def test_an_image_is_replayed_exactly_for_three_turns_and_looked_at_again_by_its_handle(tmp_path):
    handle = ""

    def again(body: dict[str, Any]) -> Says:
        nonlocal handle
        handle = HANDLE.findall(json.dumps(body["messages"]))[0]
        return Says(calls=[("c2", "look", {"image_id": handle})])

    words = [Says(words=[f"Turn {number}."]) for number in range(1, 5)]
    with ModelServer(Says(calls=[("c1", "shoot", {})]), Says(words=["Seen."]), *words, again, Says(words=["Again."])) as server:
        async with wired(tmp_path, server) as host:
            chat = host.store.chats.create("", "python").id
            await say(host, chat, "zero", "one", "two", "three", "four", "five")
            images = next(one.images for one in host.store.chats.messages(chat) if one.role == "tool")
            kept = [host.store.blobs.get(image).data for image in images]
    before, live, *rest = server.seen
    assert parts(before) == [] and parts(live) == kept and len(kept) == 2
    result = next(one for one in live["messages"] if one["role"] == "tool")
    assert result["content"].startswith("Here's the camera.\n(image img:") and "IMG::" not in json.dumps(live)
    assert [parts(request) for request in rest] == [kept, kept, kept, [], [], [kept[0]]]
    for request in rest[:3]:
        assert request["messages"][: len(live["messages"])] == live["messages"], "the same place, order and bytes"


@pytest.mark.promise("S041")
@pytest.mark.promise("S046")
async def test_what_is_for_the_person_alone_no_request_ever_holds(tmp_path):
    words = [Says(words=[f"Turn {number}."]) for number in range(5)]
    calls = [("c1", "secret", {}), ("c2", "fail", {})]
    with ModelServer(Says(calls=calls), *words) as server:
        async with wired(tmp_path, server) as host:
            chat = host.store.chats.create("", "python").id
            await say(host, chat, "zero", "one", "two", "three", "four")
            turn = host.store.chats.messages(chat)[0].turn
            secret, failed = host.store.journal.of_turn(turn)
            hidden = host.store.blobs.get(secret.images[0]).data
            blurred = host.store.blobs.get(failed.images[0]).data
    assert secret.withheld == secret.images and HANDLE.search(secret.text), "the person sees it, and its handle is told"
    assert failed.status == "failed" and failed.text.startswith("It is blurred.") and failed.shown.startswith("<<IMG::tool:")
    assert [parts(request) for request in server.seen] == [[], [blurred], [blurred], [blurred], [blurred], []]
    assert all(base64.b64encode(hidden).decode() not in json.dumps(request) for request in server.seen)


@pytest.mark.promise("S049")
async def test_the_number_of_turns_is_a_setting(tmp_path):
    async with sapphire(tmp_path, FILES, image_memory_turns=1) as room:
        await room.turn("zero", [call("shoot")], "Seen.", "One.", "Two.")
        for text in ("one", "two"):
            await room.host.conversations.turn(room.chat, text, channel="python")
        shown = [next((len(one.images) for one in ask.messages if one.role == "tool"), 0) for ask in room.requests]
        assert shown == [0, 2, 2, 0]
        await room.host.settings.set("image_memory_turns", 0)
        await room.turn("three", [call("shoot")], "Seen.", "Four.")
        await room.host.conversations.turn(room.chat, "four", channel="python")
        assert [sum(len(one.images) for one in ask.messages) for ask in room.requests[4:]] == [0, 2, 0]


@pytest.mark.promise("S049")
async def test_the_setting_is_in_the_console_under_its_name(tmp_path):
    async with sapphire(tmp_path, {}) as room:
        row = ROWS["image_memory_turns"]
        assert (row.default, row.kind) == (3, "number") and room.host.settings.now.image_memory_turns == 3


@pytest.mark.promise("S067")
@pytest.mark.promise("S072")
@pytest.mark.promise("S075")
@pytest.mark.promise("S083")
@pytest.mark.promise("S088")
@pytest.mark.promise("S089")
async def test_many_pictures_are_one_image_to_the_model_and_handles_in_its_text(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        await room.turn("show me", [call("row")], "There.", [call("row", {"view": False})], "Tiles only.", "Later.")
        await room.host.conversations.turn(room.chat, "and again", channel="python")
        await room.host.conversations.turn(room.chat, "later", channel="python")
        seen, unseen = room.results()
        handles = HANDLE.findall(seen.text)
        assert len(seen.images) == 1 and len(handles) == 10, "nine of its lines, and the receipt of the sheet"
        assert seen.text.splitlines()[2] == f"3. Number 3 — {handles[2]}"
        chat = room.host.session("python", chat=room.chat)
        looked = [await chat.call(chat.new_call("look", {"image_id": handle})) for handle in handles[:9]]
        assert all(one.ok for one in looked) and len({bytes_of(room, one.images[0].id) for one in looked}) == 9
        assert "you see them on one sheet with the same numbers" in seen.text
        assert unseen.images == () and "(The user sees a row of 9 pictures, numbered 1 to 9.)" in unseen.text
        asked = "".join(message.text for ask in room.requests for message in ask.messages)
        assert "GALLERY" not in asked and "<!--" not in asked and "<<" not in asked
        for turn in dict.fromkeys(one.turn for one in room.results()):
            (entry,) = room.host.store.journal.of_turn(turn)
            assert entry.shown.count("<!--GALLERY:") == 1


@pytest.mark.promise("S071")
@pytest.mark.promise("S377")
async def test_a_stash_is_shown_by_its_handle_alone_unless_it_is_visible(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        code = "ci.stash(drawn()); ci.stash(drawn((9, 9)), visible=arguments['raw'] == 'yes'); out = ('kept', True)"
        for raw, wanted in (("no", [0] * 5), ("yes", [0, 1, 1, 1, 1])):
            room.chat = ""
            first = len(room.requests)
            await room.turn("keep", [call("lab", {"code": code, "raw": raw})], "Kept.", "1", "2", "3")
            for text in ("one", "two", "three"):
                await room.host.conversations.turn(room.chat, text, channel="python")
            counts = [sum(len(one.images) for one in ask.messages) for ask in room.requests[first:]]
            assert counts == wanted, raw


@pytest.mark.promise("S075")
@pytest.mark.promise("S083")
async def test_all_forms_of_the_marker_are_kept_from_the_model(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        forms = [
            '<!--GALLERY:{"title": "t", "items": [{"handle": "img:0123456789ab.png"}]}-->',
            '<!--GALLERY:[{"thumb": "/api/plugin/p/a.jpg", "full": "", "title": "a", "page": ""}]-->',
            '<!--GALLERY:["/api/plugin/p/a.jpg"]-->',
        ]
        code = f"out = ('Three rows.\\n' + '\\n'.join({forms!r}), True)"
        await room.turn("rows", [call("lab", {"code": code})], "Done.", "Later.")
        (result,) = room.results()
        assert (result.text, result.images) == ("Three rows.", ()), "what it would be without them"
        assert "GALLERY" not in "".join(one.text for ask in room.requests for one in ask.messages)


@pytest.mark.promise("S370")
async def test_a_model_without_vision_is_told_what_it_is_not_shown(tmp_path):
    async with sapphire(tmp_path, FILES, vision="never") as room:
        await room.turn("look", [call("shoot")], "Fine.")
        told = next(one for one in room.requests[-1].messages if one.role == "tool")
        assert told.images == () and len(HANDLE.findall(told.text)) == 2
        assert told.text.endswith("\n(2 images were withheld here: the current model does not support image inputs.)")
        (kept,) = room.results()
        assert len(kept.images) == 2, "the person sees them"


@pytest.mark.promise("S370")
async def test_a_server_that_refuses_images_is_asked_without_them_and_told_so(tmp_path):
    refusal = json.dumps({"error": {"message": "This model does not support image input."}})
    first = [Says(calls=[("c1", "shoot", {})]), Fails(400, refusal), Says(words=["I cannot see it."])]
    with ModelServer(*first, Says(words=["No."])) as server:
        async with wired(tmp_path, server) as host:
            chat = host.store.chats.create("", "python").id
            await say(host, chat, "look", "and now?")
            answers = [one.text for one in host.store.chats.messages(chat) if one.role == "assistant" and one.text]
    assert answers == ["I cannot see it.", "No."]
    assert [len(parts(request)) for request in server.seen] == [0, 2, 0, 0], "it is not tried again"
    result = next(one for one in server.seen[2]["messages"] if one["role"] == "tool")["content"]
    assert len(HANDLE.findall(result)) == 2
    assert result.endswith("(2 images were withheld here: the current model does not support image inputs, or not this one.)")


@pytest.mark.promise("S047")
@pytest.mark.promise("S052")
async def test_the_person_sees_every_image_ten_turns_and_a_restart_later(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        await room.turn("look", [call("shoot")], *["Seen."] * 11)
        for number in range(10):
            await room.host.conversations.turn(room.chat, f"turn {number}", channel="python")
        chat, turn = room.chat, room.results()[0].turn
        before = [bytes_of(room, image) for image in room.host.store.journal.of_turn(turn)[0].images]
    async with sapphire(tmp_path, FILES) as room:
        (entry,) = room.host.store.journal.of_turn(turn)
        assert [bytes_of(room, image) for image in entry.images] == before and len(before) == 2
        names = [handle.removeprefix("img:") for handle in HANDLE.findall(entry.text)]
        assert [room.host.store.images.find(chat, name).data for name in names] == before


async def test_a_death_between_the_call_and_its_message_shows_the_model_nothing_that_is_withheld(tmp_path):
    async with sapphire(tmp_path, FILES) as room:
        await room.turn("look", [call("secret")], "Seen.")
        (result,) = room.results()
        (entry,) = room.host.store.journal.of_turn(result.turn)
        assert [(image.id, image.withheld) for image in _ended(entry).images] == [(entry.images[0], True)]
