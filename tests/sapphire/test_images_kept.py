"""Images in the chat's store: what a tool returns and what it stashes, found again by handles, gone with the chat."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from tests.sapphire.homes import Room, sapphire, tool
from tests.sapphire.pictures import LAB, LOOK, bytes_of, png

from etui.outcome import Outcome
from etui.store.images import OUTSIDE

pytestmark = pytest.mark.asyncio(loop_scope="module")
HANDLE = re.compile(r"img:([0-9a-f]{12}\.(?:jpg|png))")
SHOT = tool("shot", head="from core import images as ci", body="return ci.result('x', [bytes.fromhex(arguments['raw'])]), True")
PLUGINS = {"plugins/lab/tools/lab.py": LAB, "plugins/viewer/tools/look.py": LOOK, "plugins/shot/tools/shot.py": SHOT}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("images"), PLUGINS, limit=None) as opened:
        yield opened


def chat(room: Room, title: str = "") -> str:
    return room.host.store.chats.create(title, "python").id


async def lab(room: Room, chat: str, code: str, **more: Any) -> Outcome:
    """One call of the lab in that chat."""
    session = room.host.session("python", chat=chat)
    return await session.call(session.new_call("lab", {"code": textwrap.dedent(code), **more}))


async def value(room: Room, chat: str, code: str, **more: Any) -> Any:
    outcome = await lab(room, chat, code, **more)
    assert outcome.ok, outcome.text
    return json.loads(outcome.text)


async def look(room: Room, chat: str, handle: str) -> Outcome:
    """A tool of another plugin is given the handle."""
    session = room.host.session("python", chat=chat)
    return await session.call(session.new_call("look", {"image_id": handle}))


@pytest.mark.promise("S052")
@pytest.mark.promise("S054")
@pytest.mark.promise("S055")
@pytest.mark.promise("S056")
@pytest.mark.promise("S374")
async def test_what_a_tool_returns_is_kept_in_its_chat_and_found_by_its_handle(room):
    here, there = chat(room), chat(room)
    outcome = await lab(room, here, "out = (ci.result('Two.', [drawn(), ci.for_chat(drawn((60, 60)))]), True)")
    names = HANDLE.findall(outcome.text)
    assert [name[12:] for name in names] == [".png", ".jpg"]
    assert outcome.text == f"Two.\n(image img:{names[0]})\n(image img:{names[1]})"
    assert outcome.shown == f"<<IMG::tool:{names[0]}>>\n<<IMG::tool:{names[1]}>>\nTwo."
    assert [(image.name, image.data) for image in outcome.images] == [(name, b"") for name in names]
    images = room.host.store.images
    assert [images.id_of(here, name) for name in names] == [image.id for image in outcome.images]
    assert [images.id_of(there, name) for name in names] == ["", ""]
    seen = await look(room, here, f"img:{names[0]}")
    raw = bytes_of(room, outcome.images[0].id)
    assert seen.ok and seen.text.startswith(f"This is img:{names[0]}, of {len(raw)} bytes.")
    assert bytes_of(room, seen.images[0].id) == raw
    elsewhere = await look(room, there, f"img:{names[0]}")
    assert not elsewhere.ok and elsewhere.text == f"I could not look: no image img:{names[0]} in this chat."


@pytest.mark.promise("S055")
async def test_receipts_stand_behind_a_text_that_was_cut(room):
    session = room.host.session("python", chat=chat(room))
    code = "out = (ci.result('x' * 250_000, [drawn(), drawn()]), True)"
    outcome = await session.call(session.new_call("lab", {"code": code}))
    assert len(outcome.text) < 205_000 and re.search(r"(\n\(image img:\w{12}\.png\)){2}\Z", outcome.text)


@pytest.mark.promise("S367")
async def test_hand_built_dicts_count_and_what_cannot_be_taken_is_told_of(room):
    outcome = await lab(
        room,
        chat(room),
        """
        raw = base64.b64encode(drawn()).decode()
        images = [{"type": "image", "data": raw, "media_type": "image/png"}, {"type": "image", "media_type": "image/png"},
                  {"data": ""}, "no dict", {"data": "%%%", "media_type": "image/png"},
                  {"data": base64.b64encode(b"<svg onload=alert(1)></svg>").decode(), "media_type": "image/svg+xml"},
                  {"data": base64.b64encode(b"x" * 6_100_000).decode(), "media_type": "image/png"}]
        out = ({"text": "Some.", "images": images}, False)
        """,
    )
    assert not outcome.ok and len(outcome.images) == 1, "kept, though the tool did not succeed"
    told = outcome.text.splitlines()
    assert told[0] == "Some." and told[1] == "(Image 5 was left out: its data is no base64 text.)"
    assert told[2] == "(Image 6 was left out: it is not an image of a form that is known.)"
    assert told[3].startswith("(Image 7 was left out: it has 6.1 MB, and 6 MB is the most")
    assert HANDLE.search(told[4])


@pytest.mark.promise("S041")
async def test_a_picture_that_is_too_large_or_of_a_rare_form_is_kept_as_a_jpeg_for_chats(room):
    outcome = await lab(
        room,
        chat(room),
        """
        from PIL import Image
        made = io.BytesIO(); Image.frombytes("RGB", (1800, 1200), os.urandom(1800 * 1200 * 3)).save(made, "PNG")
        raw = made.getvalue()
        entries = [{"raw": raw, "title": "Noise"}, {"raw": raw, "title": "Noise", "thumb": "/api/plugin/lab/t.jpg"}]
        _, tail = ci.gallery("Large", entries, view=False)
        items = json.loads(tail.split("GALLERY:")[1].removesuffix("-->"))["items"]
        sizes = [seen(ci.resolve(items[0]["handle"]).data).size, sorted(items[1])]
        odd = {"data": base64.b64encode(drawn(form="TIFF")).decode(), "media_type": "image/tiff"}
        assert ci.last_image_id("Nobody's") is None
        out = (ci.result(json.dumps(sizes), [raw, drawn(), drawn(form="BMP"), drawn(form="PPM"), odd]), True)
        """,
    )
    told = outcome.text.splitlines()
    assert json.loads(told[0]) == [[1536, 1024], ["thumb", "title"]], "what can stand for it does"
    assert told[1] == "(Image 1 was made smaller: it had 6.5 MB.)"
    kinds = ["image/jpeg", "image/png", *["image/jpeg"] * 3]
    assert [image.media_type for image in outcome.images] == kinds, "every form is one that models and browsers take"


@pytest.mark.promise("S068")
@pytest.mark.promise("S073")
async def test_a_stash_is_there_before_the_tool_returns_and_nowhere_else(room):
    here = chat(room)
    before = {path for path in room.root.rglob("*") if path.is_file()}
    same, kind, handles = await value(
        room,
        here,
        """
        raw = drawn((30, 30))
        handle = ci.stash(raw)
        found = ci.resolve(handle)
        images, tail = ci.gallery("Row", [{"raw": raw, "title": "a", "page": "https://example.org/"}] * 1)
        out = [found.data == raw, found.media_type, [handle]]
        """,
    )
    assert same is True and kind == "image/png" and len(handles) == 1
    after = {path for path in room.root.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert after <= before, "no file anew under the root"


@pytest.mark.promise("S069")
async def test_a_stash_goes_with_its_chat(room):
    here = chat(room)
    (handle,) = await value(room, here, "out = [ci.stash(drawn())]")
    name = handle.removeprefix("img:")
    id = room.host.store.images.id_of(here, name)
    assert room.host.store.images.find(here, name) is not None
    room.host.conversations.delete(here)
    assert room.host.store.images.find(here, name) is None and room.host.store.blobs.get(id) is None
    gone = await look(room, here, handle)
    assert not gone.ok and gone.text == f"I could not look: no image {handle} in this chat."


@pytest.mark.promise("S377")
async def test_stash_takes_a_type_a_name_of_a_chat_and_visible(room):
    here, other = chat(room), chat(room, "The other one")
    outcome = await lab(
        room,
        here,
        """
        hidden = ci.stash(drawn(), "image/webp")
        there = ci.stash(drawn(), chat_name="The other one")
        seen = ci.stash(drawn((9, 9)), visible=True)
        why = said(ci.stash, drawn(), chat_name="Nobody's")
        out = (json.dumps([hidden, there, seen, why]), True)
        """,
    )
    hidden, there, seen, why = json.loads(outcome.text.splitlines()[0])
    names = [one.removeprefix("img:") for one in (hidden, there, seen)]
    images = room.host.store.images
    assert images.find(here, names[0]).media_type == "image/webp"
    assert images.id_of(other, names[1]) and not images.id_of(here, names[1])
    assert why == 'There is no chat "Nobody\'s".'
    assert [image.name for image in outcome.images] == [names[2]], "a visible one comes with the result"
    assert outcome.text.endswith(f"\n(image {seen})") and bytes_of(room, outcome.images[0].id)


async def test_a_visible_stash_of_a_thread_stands_in_the_chat_as_a_notice(room):
    other = chat(room, "Doorbell")
    (handle,) = await value(
        room,
        "",
        """
        found = []
        thread = threading.Thread(target=lambda: found.append(ci.stash(drawn(), visible=True, chat_name="Doorbell")))
        thread.start(); thread.join()
        out = found
        """,
    )
    (notice,) = room.host.store.chats.messages(other)
    assert (notice.role, notice.text) == ("notice", f"(image {handle})")
    assert notice.images == (room.host.store.images.id_of(other, handle.removeprefix("img:")),)


@pytest.mark.promise("S068")
async def test_threads_and_pools_that_a_call_starts_keep_and_find_in_its_chat_while_it_runs(room):
    code = """
        from concurrent.futures import ThreadPoolExecutor
        if "POOL" not in os.environ:
            os.environ["POOL"] = "begun"
            ci.pool, ci.go, ci.done, ci.late = ThreadPoolExecutor(2), threading.Event(), threading.Event(), []
        raws = [drawn((10 + number, 9)) for number in range(4)]
        handles = list(ci.pool.map(ci.stash, raws))
        found = list(ci.pool.map(lambda handle: ci.resolve(handle).data, handles))
        one = []
        thread = threading.Thread(target=lambda: one.append(ci.stash(drawn((7, 7)))))
        thread.start(); thread.join()
        out = [found == raws, ci.resolve(one[0]).origin, ci.last_image_id() == one[0][4:], handles + one]
        """
    for here in (chat(room), chat(room)):
        same, origin, newest, handles = await value(room, here, code)
        assert (same, origin, newest) == (True, "chat", True)
        assert all(room.host.store.images.id_of(here, handle.removeprefix("img:")) for handle in handles)
    begun = """
        def late():
            ci.go.wait()
            ci.late.append(ci.stash(drawn()))
            ci.done.set()
        threading.Thread(target=late).start()
        out = []
        """
    await value(room, here, begun)
    (late,) = await value(room, chat(room), "ci.go.set(); ci.done.wait(); out = ci.late")
    assert room.host.store.images.find("", late.removeprefix("img:")) is not None, "it is in no chat any more"


async def test_a_plugin_that_makes_up_names_or_sends_too_much_is_refused(room):
    found = await value(
        room,
        chat(room),
        """
        from etui.contracts.sapphire import current
        from etui.errors import ServiceError
        raw = base64.b64encode(drawn()).decode()
        def asked(**args):
            try:
                given = {"data": raw, "media_type": "image/png", "name": "0123456789ab.png", **args}
                return current.ask("images.stash", **given)
            except ServiceError as error:
                return str(error)
        out = [asked(name="../../x.png"), asked(media_type="image/svg+xml"), asked(data="%"), asked(), asked(), asked(data=7),
               said(ci.stash, b"x" * 6_000_001, "image/png"), said(ci.stash, b"only words, and no picture")]
        """,
    )
    assert found[0].startswith("'../../x.png' of the type") and "svg" in found[1] and found[2] == "The image is no base64."
    assert found[3] is None and found[4] == "There is an image '0123456789ab.png' already." and "wrong arguments" in found[5]
    assert found[6].startswith("The image has 6.0 MB, and 6 MB is the most that can be kept") and "not an image" in found[7]


async def test_no_image_of_a_private_chat_is_found_from_elsewhere(room):
    images, name = room.host.store.images, "0123456789ab.png"
    hidden = room.host.store.chats.create("Hidden", "python", private=True).id
    images.keep(png(8, 8), "image/png", name, hidden)
    asks = """
        from etui.contracts.sapphire import current
        from etui.errors import ServiceError
        out = []
        for service, more in (("images.last", {}), ("images.get", {"name": "0123456789ab.png"})):
            try:
                out.append(bool(current.ask(service, chat="Hidden", **more)))
            except ServiceError as error:
                out.append(str(error))
    """
    assert await value(room, chat(room), asks) == ["There is no chat 'Hidden'."] * 2
    assert await value(room, hidden, asks) == [True, True]


@pytest.mark.promise("S369")
async def test_outside_of_chats_the_newest_300_are_files(room):
    folder = room.user / "tool_images"
    session = room.host.session("python")
    names = []
    for number in range(OUTSIDE + 1):
        outcome = await session.call(session.new_call("shot", {"raw": png(colour=(number % 256, number // 256, 9)).hex()}))
        names += HANDLE.findall(outcome.text)
    kept = {path.name for path in folder.iterdir()}
    assert len(names) == OUTSIDE + 1 and kept == set(names[1:])
    images = room.host.store.images
    assert images.last("") == names[-1] and images.find("", names[0]) is None
    assert (await look(room, "", f"img:{names[-1]}")).ok
    assert not (await look(room, chat(room), f"img:{names[-1]}")).ok, "what belongs to no chat is in none"
    gone = await look(room, "", f"img:{names[0]}")
    assert gone.text == f"I could not look: no image img:{names[0]} in this chat."


async def test_no_link_in_the_folder_outside_of_chats_is_followed(room, tmp_path):
    """A plugin may write there; the host is not held as it is."""
    folder = room.user / "tool_images"
    folder.mkdir(parents=True, exist_ok=True)
    secret = tmp_path / "secret.png"
    secret.write_bytes(png())
    (folder / "aaaaaaaaaaaa.png").symlink_to(secret)
    (folder / "bbbbbbbbbbbb.png").write_text("no picture at all, but words")
    images = room.host.store.images
    assert images.find("", "aaaaaaaaaaaa.png") is None and images.find("", "bbbbbbbbbbbb.png") is None
    for name in ("aaaaaaaaaaaa.png", "bbbbbbbbbbbb.png"):
        (folder / name).unlink()
    moved = folder.rename(folder.with_name("moved"))
    folder.symlink_to(tmp_path)
    try:
        session = room.host.session("python")
        outcome = await session.call(session.new_call("shot", {"raw": png().hex()}))
        assert outcome.ok and [path.name for path in tmp_path.iterdir()] == ["secret.png"]
    finally:
        folder.unlink()
        moved.rename(folder)


@pytest.mark.promise("S084")
@pytest.mark.promise("S085")
@pytest.mark.promise("S086")
@pytest.mark.promise("S087")
@pytest.mark.promise("S091")
async def test_a_gallery_keeps_every_picture_and_makes_one_sheet_and_one_marker(room):
    here = chat(room)
    kinds, sheet, marker, same, one, single, fallback, outside = await value(
        room,
        here,
        """
        raws = [drawn((50, 50), (number, 0, 0)) for number in (60, 120, 180)]
        def entry(raw, **more):
            return {"raw": raw, "title": "A --> <b>title</b>", "page": "https://example.org/p", **more}
        served = {"full": "/api/plugin/lab/f.jpg", "thumb": "/api/plugin/lab/t.jpg"}
        entries = [entry(raws[0]), entry(raws[1], **served), entry(raws[2], show=raws[0])]
        images, tail = ci.gallery("Three", entries)
        note, marker = tail.split("\\n")
        same = [ci.resolve(one["handle"]).data == one["raw"] for one in entries]
        one, single_tail = ci.gallery("One", [entry(raws[0])])
        broken = [entry(raws[0]), entry(b"words", thumb="/api/plugin/lab/t.jpg"), entry(None, thumb="https://example.org/t.jpg")]
        _, fallen = ci.gallery("Fallen", broken, view=False)
        out = [[type(images).__name__, type(tail).__name__, len(images)], [seen(images[0]).size, note],
               [marker[:12], marker.count("-->"), json.loads(marker[12:-3])], same,
               [len(one), seen(one[0]).size, single_tail.split("\\n")[0]], single_tail.count("handle"),
               json.loads(fallen.split("GALLERY:")[1].removesuffix("-->"))["items"], ci.gallery("None", [])]
        """,
    )
    assert kinds == ["list", "str", 1]
    assert sheet == [
        [800, 800],
        "(The user sees a row of 3 pictures, numbered 1 to 3; you see them on one sheet with the same numbers.)",
    ]
    start, ends, mark = marker
    assert (
        (start, ends) == ("<!--GALLERY:", 1)
        and mark["title"] == "Three"
        and [item["title"] for item in mark["items"]] == ["A --> <b>title</b>"] * 3
    )
    assert mark["items"][1]["full"] == "/api/plugin/lab/f.jpg" and "thumb" not in mark["items"][1] and same == [True] * 3
    assert one == [1, [50, 50], "(The user sees one picture; you see it.)"] and single == 1
    assert "handle" in fallback[0] and fallback[1]["thumb"] == "/api/plugin/lab/t.jpg"
    assert fallback[2]["thumb"] == "/api/outside?u=https%3A%2F%2Fexample.org%2Ft.jpg", "the browser asks this host alone"
    assert outside == [[], ""]


@pytest.mark.promise("S090")
async def test_an_entry_that_is_not_to_be_stashed_is_kept_nowhere(room):
    here = chat(room)
    handle, items, last = await value(
        room,
        here,
        """
        entry = {"raw": drawn(), "title": "served", "page": "", "stash": False, "thumb": "/api/plugin/lab/t.jpg"}
        _, tail = ci.gallery("Row", [entry])
        out = [entry.get("handle"), json.loads(tail.split("GALLERY:")[1].removesuffix("-->"))["items"], ci.last_image_id()]
        """,
    )
    assert handle is None and items == [{"thumb": "/api/plugin/lab/t.jpg", "title": "served"}] and last is None


async def test_what_is_given_out_by_name_is_journalled_with_what_is_withheld(room):
    here = chat(room)
    session = room.host.session("python", chat=here)
    code = (
        "both = [ci.result('', [drawn()], hidden)['images'][0] for hidden in (True, False)]; out = (ci.result('t', both), True)"
    )
    wish = session.new_call("lab", {"code": code})
    outcome = await session.call(wish)
    entry = room.host.store.journal.get(wish.id)
    assert entry.images == tuple(image.id for image in outcome.images) and entry.withheld == entry.images[:1]
    assert msgspec.to_builtins(outcome.images[0])["withheld"] is True
