"""`core.images` as tool files have it: what it makes of pictures, and what it says of what is none."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

import pytest
import pytest_asyncio
from tests.sapphire.homes import Room, sapphire
from tests.sapphire.pictures import LAB, png

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def room(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Room]:
    async with sapphire(tmp_path_factory.mktemp("images"), {"plugins/lab/tools/lab.py": LAB}, limit=None) as opened:
        yield opened


async def lab(room: Room, code: str, **more: Any) -> Any:
    """What the code puts into `out`, run in the worker."""
    return await room.value("lab", {"code": textwrap.dedent(code), **more})


@pytest.mark.promise("S042")
@pytest.mark.promise("S375")
async def test_the_functions_come_from_core_and_only_workers_load_pillow(room):
    code = "out = [ci.ImageError.__mro__[1].__name__, sorted(ci.__all__)]"
    base, names = await lab(room, code)
    assert base == "ValueError"
    assert {"result", "for_chat", "contact_sheet", "stash", "resolve", "gallery", "proxied"} <= set(names)
    host = "import sys, etui.host, etui.surfaces.web.app, etui.surfaces.cli; print('PIL' in sys.modules)"
    said = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", host], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"


@pytest.mark.promise("S043")
async def test_every_usual_form_of_image_becomes_a_jpeg(room):
    made = await lab(
        room,
        """
        out = [list(ci.for_chat(drawn(form=form))[:2]) for form in ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")]
        """,
    )
    assert made == [[0xFF, 0xD8]] * 6


@pytest.mark.promise("S058")
async def test_a_picture_is_turned_upright_by_its_exif(room):
    size, left, orientation, upright = await lab(
        room,
        """
        from PIL import Image
        picture = Image.new("RGB", (100, 50), (255, 0, 0))
        picture.paste((0, 0, 255), (0, 0, 50, 50))
        exif = Image.Exif()
        exif[0x0112] = 6
        made = io.BytesIO()
        picture.save(made, "JPEG", exif=exif, quality=100)
        turned = seen(ci.for_chat(made.getvalue()))
        smaller = seen(ci.for_chat(made.getvalue(), max_px=40))
        out = [turned.size, at(turned, 25, 10), turned.getexif().get(0x0112), smaller.size]
        """,
    )
    assert size == [50, 100] and orientation is None and upright == [20, 40]
    assert left[2] > 200 and left[0] < 60, "what was at the left is above"


@pytest.mark.promise("S059")
@pytest.mark.promise("S371")
async def test_no_side_is_longer_than_what_is_wanted(room):
    large, small, named, coarse, odd = await lab(
        room,
        """
        large = drawn((4000, 3000), form="JPEG")
        noise = drawn((64, 64))
        from PIL import Image
        busy = io.BytesIO(); Image.effect_noise((300, 300), 90).convert("RGB").save(busy, "PNG")
        out = [
            seen(ci.for_chat(large)).size, seen(ci.for_chat(drawn((100, 50)))).size, seen(ci.for_chat(large, max_px=200)).size,
            len(ci.for_chat(busy.getvalue(), quality=20)) < len(ci.for_chat(busy.getvalue())),
            said(ci.for_chat, noise, max_px="x"),
        ]
        """,
    )
    assert large == [1536, 1152] and small == [100, 50] and named == [200, 150]
    assert coarse is True and odd == "max_px must be a number, not 'x'."


@pytest.mark.promise("S060")
async def test_what_shines_through_has_a_palette_or_16_bits_becomes_rgb(room):
    found = await lab(
        room,
        """
        from PIL import Image
        deep = io.BytesIO(); Image.new("I;16", (40, 20), 65535).save(deep, "PNG")
        palette = io.BytesIO(); Image.new("RGB", (40, 20), (10, 200, 10)).convert("P").save(palette, "PNG", transparency=0)
        given = [drawn((40, 20), (0, 0, 0, 0), mode="RGBA"), deep.getvalue(), palette.getvalue(), drawn((40, 20), 1, mode="1"),
                 drawn((40, 20), (0, 0, 0, 0), mode="CMYK", form="TIFF"), drawn((3000, 20), (0, 0, 0, 0), mode="RGBA")]
        made = [ci.for_chat(raw) for raw in given]
        out = [[list(raw[:2]), seen(raw).mode, at(seen(raw), 5, 5)] for raw in made]
        """,
    )
    assert [(start, mode) for start, mode, _ in found] == [([0xFF, 0xD8], "RGB")] * 6
    assert [min(colour) for _, _, colour in (found[0], found[1], found[5])] == [255, 255, 255]


@pytest.mark.promise("S061")
@pytest.mark.promise("S372")
async def test_a_contact_sheet_is_one_numbered_grid_and_what_is_broken_keeps_its_number(room):
    kind, size, colours, marked = await lab(
        room,
        """
        reds = [drawn((300, 300), (40 * number, 0, 0)) for number in range(1, 6)]
        reds[1] = b"garbage"
        raw = ci.contact_sheet(reds)
        sheet = seen(raw).convert("RGB")
        middle = lambda number: at(sheet, (number - 1) % 3 * 400 + 200, (number - 1) // 3 * 400 + 200)
        def ink(number):
            left, top = (number - 1) % 3 * 400, (number - 1) // 3 * 400
            corner = sheet.crop((left + 4, top + 4, left + 60, top + 60)).convert("L")
            return max(corner.getdata() if not hasattr(corner, "get_flattened_data") else corner.get_flattened_data())
        out = [ci.media_type(raw), sheet.size, [middle(number)[0] for number in range(1, 7)], [ink(n) for n in range(1, 7)]]
        """,
    )
    assert (kind, size) == ("image/jpeg", [1200, 800])
    assert [abs(found - wanted) < 12 for found, wanted in zip(colours, (40, 24, 120, 160, 200, 24), strict=True)] == [True] * 6
    assert [light > 200 for light in marked] == [True] * 5 + [False], "five numbers, the broken one's too"


async def test_a_sheet_of_nothing_of_too_much_or_too_large_is_refused_in_words(room):
    none, many, large = await lab(
        room,
        "out = [said(ci.contact_sheet, []), said(ci.contact_sheet, [b''] * 401), said(ci.contact_sheet, [b''] * 90, 2000)]",
    )
    assert none == "A contact sheet needs at least one picture."
    assert many == "401 pictures are too many for one contact sheet; 400 is the most."
    assert large.startswith("90 cells of 2000 pixels are too large")


async def test_bombs_broken_files_and_wrong_kinds_are_sentences(room):
    bomb, half, text, none, kind = await lab(
        room,
        """
        import struct, zlib
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        head = chunk(b"IHDR", struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0))
        bomb = b"\\x89PNG\\r\\n\\x1a\\n" + head + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
        half = drawn((400, 400), form="JPEG")[:700]
        out = [said(ci.for_chat, bomb), said(ci.for_chat, half), said(ci.for_chat, b"just some text, no picture at all"),
               said(ci.for_chat, None), said(ci.media_type, b"text")]
        """,
    )
    assert bomb.startswith("The image") and "pixels" in bomb
    assert half.startswith("The image cannot be read: ") and text == "The image cannot be read: it is in no form that is known."
    assert none == "An image is given as its bytes, not as NoneType." and kind.endswith(
        "are not an image of a form that is known."
    )


@pytest.mark.promise("S044")
@pytest.mark.promise("S045")
async def test_the_dict_of_a_result_has_exactly_what_the_page_says(room):
    keys, entry, hidden, wrong = await lab(
        room,
        """
        jpeg = ci.for_chat(drawn())
        made = ci.result("t", [jpeg])
        entry = made["images"][0]
        assert base64.b64decode(entry["data"]) == jpeg
        out = [[made["text"], sorted(made)], [sorted(entry), entry["media_type"], entry["display_only"]],
               ci.result("t", [jpeg], display_only=True)["images"][0]["display_only"], said(ci.result, "t", [b"no picture"])]
        """,
    )
    assert keys == ["t", ["images", "text"]]
    assert entry == [["data", "display_only", "media_type"], "image/jpeg", False]
    assert hidden is True and "not an image" in wrong


@pytest.mark.promise("S368")
@pytest.mark.promise("S373")
async def test_media_types_ids_and_the_newest_image_of_a_chat(room):
    kinds, png_id, jpg_id = await lab(
        room,
        """
        kinds = [ci.media_type(drawn(form=one)) for one in ("PNG", "JPEG", "WEBP", "GIF", "TIFF")]
        out = [kinds, ci.new_id("image/png"), ci.new_id("image/webp")]
        """,
    )
    assert kinds == ["image/png", "image/jpeg", "image/webp", "image/gif", "image/tiff"]
    assert png_id[12:] == ".png" and jpg_id[12:] == ".jpg" and int(png_id[:12], 16) >= 0
    chat, other = (room.host.store.chats.create("", "python").id for _ in range(2))
    one = "out = [ci.last_image_id(), ci.stash(drawn(form='JPEG')), ci.stash(drawn()), ci.last_image_id()]"
    session = room.host.session("python", chat=chat)
    outcome = await session.call(session.new_call("lab", {"code": one}))
    none, jpeg, png_handle, newest = json.loads(outcome.text)
    assert none is None and jpeg.endswith(".jpg") and png_handle == f"img:{newest}" and newest.endswith(".png")
    assert room.host.store.images.last(other) == ""


@pytest.mark.promise("S062")
@pytest.mark.promise("S066")
@pytest.mark.promise("S376")
async def test_what_cannot_be_resolved_says_what_and_why(room, tmp_path):
    found = await lab(
        room,
        """
        def why(source):
            return said(ci.resolve, source)
        note = Path("user/plugin_state/note.txt")
        note.parent.mkdir(parents=True, exist_ok=True)
        out = [why(""), why("img:nope"), why("img:0123456789ab.jpg"), why("/no/file"), why("doc:x"), why("doc:1"), why(None),
               why(arguments["raw"]), why("/dev/zero"), why("portrait")]
        """,
        raw=__file__,
    )
    empty, odd, unknown, missing, no_id, library, none, forbidden, device, bare = found
    assert all(form in empty for form in ("img:<id>", "doc:<N>", "an absolute path", "http(s)")) and none == empty
    assert odd == "no image img:nope in this chat" and unknown == "no image img:0123456789ab.jpg in this chat"
    assert missing == "no file at /no/file" and no_id == "doc:x is not a library id"
    assert library == "doc:1 cannot be opened: no image library is installed here"
    assert forbidden.startswith(f"no file at {__file__}: ") and device.startswith("no file at /dev/zero")
    assert bare.startswith("'portrait' names no image")


@pytest.mark.promise("S063")
async def test_a_file_that_the_plugin_may_read_resolves_and_a_text_is_none(room):
    path = room.user / "plugin_state" / "lab_picture.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png())
    (path.parent / "lab_note.txt").write_text("no picture, only words")
    size, kind, label, origin, note = await lab(
        room,
        """
        found = ci.resolve(arguments["raw"])
        assert found.data == Path(arguments["raw"]).read_bytes()
        note = arguments["raw"].replace("picture.png", "note.txt")
        out = [found.size, found.media_type, found.label, found.origin, said(ci.resolve, note)]
        """,
        raw=str(path),
    )
    assert (size, kind, label, origin) == (len(png()), "image/png", "lab_picture.png", "file")
    assert note == f"{path.parent / 'lab_note.txt'} is not an image (not in a form that is known)"


class Site(BaseHTTPRequestHandler):
    """Pictures, texts and things that are too large, on loopback."""

    protocol_version = "HTTP/1.1"
    MOST = 20 * 1024 * 1024
    sent: ClassVar[list[int]] = []
    """Bytes that were taken of each body that was too large."""

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        kind, size, chunked = {
            "/a.png": ("image/png", 0, False),
            "/page": ("text/html; charset=utf-8", 40, False),
            "/fits": ("image/png", 19 * 1024 * 1024, False),
            "/over": ("image/png", self.MOST + 1, False),
            "/over-chunked": ("image/png", self.MOST + 1, True),
        }.get(self.path, ("", 0, False))
        if not kind:
            self.send_response(404)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        body = png() if self.path != "/page" else b"<html>words</html>"
        body += bytes(max(0, size - len(body)))
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked") if chunked else self.send_header("content-length", str(len(body)))
        self.end_headers()
        taken = 0
        try:
            for start in range(0, len(body), 1 << 20):
                piece = body[start : start + (1 << 20)]
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
                taken += len(piece)
            if chunked:
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
        if size > self.MOST:
            self.sent.append(taken)


@pytest.fixture(scope="module")
def site() -> Any:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.mark.promise("S065")
@pytest.mark.promise("S066")
@pytest.mark.promise("S374")
@pytest.mark.promise("S376")
async def test_an_address_gives_its_image_up_to_20_megabytes(room, site):
    found, page, gone, dead, large, chunked, fits = await lab(
        room,
        """
        base = arguments["raw"]
        found = ci.resolve(f"{base}/a.png")
        out = [[found.size, found.media_type, found.label, found.origin]]
        out += [said(ci.resolve, f"{base}/{path}") for path in ("page", "none")]
        out += [said(ci.resolve, "http://127.0.0.1:1/a.png")]
        out += [said(ci.resolve, f"{base}/{path}") for path in ("over", "over-chunked")]
        out += [ci.resolve(f"{base}/fits").size]
        """,
        raw=site,
    )
    assert found == [len(png()), "image/png", f"{site}/a.png", "web"]
    assert page == f"{site}/page is not an image (text/html)"
    assert gone == f"couldn't fetch {site}/none: the server answered 404"
    assert dead == "couldn't fetch http://127.0.0.1:1/a.png: nothing answers there"
    assert large == f"image over 20MB: {site}/over" and chunked == f"image over 20MB: {site}/over-chunked"
    assert fits == 19 * 1024 * 1024
    assert Site.sent[0] < Site.MOST, "reading stopped early"
