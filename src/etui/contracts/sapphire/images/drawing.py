"""Making images smaller, upright and numbered, with Pillow: the one module that loads it.

A picture is measured before it is opened, since a small file may hold a picture that no memory holds. Above: `core.images`,
`gallery`. Below: `forms`, Pillow. It refuses to know: where an image comes from, and where it goes.
"""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from etui.contracts.sapphire.images.forms import ImageError, data_of

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

PIXELS = 50_000_000
"""Pixels of a picture that is opened whole."""
JPEG_PIXELS = 250_000_000
"""The same for JPEG, which can be opened at a fraction of its size."""
SHEET = 400
"""Pictures on one sheet."""
ORIENTATION = 0x0112
TURNS = ("FLIP_LEFT_RIGHT", "ROTATE_180", "FLIP_TOP_BOTTOM", "TRANSPOSE", "ROTATE_270", "TRANSVERSE", "ROTATE_90")
"""What makes a picture upright, for the orientations 2 to 8."""
PAPER, INK, LABEL, BROKEN = (24, 24, 26), (255, 255, 255), (20, 20, 22), (70, 70, 74)


def for_chat(raw: object, max_px: int = 1536, quality: int = 88) -> bytes:
    """The picture upright, in colours without transparency, with no side longer than `max_px`, as JPEG. Raises ImageError."""
    longest = _number("max_px", max_px, 16, 8192)
    with _opened(data_of(raw), longest) as picture:
        return _jpeg(_fitted(picture, longest), _number("quality", quality, 1, 100))


def contact_sheet(pictures: Sequence[object], cell: int = 400) -> bytes:
    """All of them on one JPEG, in cells of so many pixels, numbered from 1; what is no picture keeps its number.

    Raises ImageError for none at all, and for more than one sheet holds.
    """
    given = list(pictures)
    if not given:
        raise ImageError("A contact sheet needs at least one picture.")
    if len(given) > SHEET:
        raise ImageError(f"{len(given)} pictures are too many for one contact sheet; {SHEET} is the most.")
    side = _number("cell", cell, 16, 2000)
    columns = math.ceil(math.sqrt(len(given)))
    rows = math.ceil(len(given) / columns)
    if columns * side * rows * side > PIXELS:
        raise ImageError(f"{len(given)} cells of {side} pixels are too large for one contact sheet; make the cells smaller.")
    with _pillow() as image:
        sheet = image.new("RGB", (columns * side, rows * side), PAPER)
        for number, raw in enumerate(given, 1):
            row, column = divmod(number - 1, columns)
            _cell(image, sheet, raw, number, (column * side, row * side), side)
        return _jpeg(sheet, 88)


def _cell(image: Any, sheet: Picture, raw: object, number: int, at: tuple[int, int], side: int) -> None:
    from PIL import ImageDraw, ImageFont  # Lazily: only workers that draw load it.

    x, y = at
    draw = ImageDraw.Draw(sheet)
    gap = max(1, side // 100)
    try:
        with _opened(data_of(raw), side) as picture:
            fitted = _fitted(picture, side - 2 * gap)
        sheet.paste(fitted, (x + (side - fitted.width) // 2, y + (side - fitted.height) // 2))
    except ImageError:
        draw.rectangle((x + gap, y + gap, x + side - gap - 1, y + side - gap - 1), outline=BROKEN, width=gap)
    font: Any = ImageFont.load_default(size=max(10, side // 10))
    left, top, right, bottom = draw.textbbox((0, 0), str(number), font=font)
    pad = max(2, side // 50)
    box = (x + gap, y + gap, x + gap + right - left + 2 * pad, y + gap + bottom - top + 2 * pad)
    draw.rectangle(box, fill=LABEL)
    draw.text((x + gap + pad - left, y + gap + pad - top), str(number), fill=INK, font=font)


@contextlib.contextmanager
def _opened(data: bytes, longest: int) -> Iterator[Picture]:
    """The picture, measured and not yet read. Raises ImageError, also for what goes wrong with it inside the block."""
    with _pillow() as image:
        try:
            with image.open(io.BytesIO(data)) as picture:
                if picture.format == "JPEG":
                    _measured(picture, JPEG_PIXELS)
                    picture.draft("RGB", (longest, longest))
                _measured(picture, PIXELS)
                yield picture
        except ImageError:
            raise
        except image.DecompressionBombError:
            raise ImageError("The image has more pixels than can be opened.") from None
        except MemoryError:
            raise ImageError("The image needs more memory than the tool may use.") from None
        except Exception as error:  # Pillow's decoders raise whatever a broken file makes them stumble over
            raise ImageError(f"The image cannot be read: {_why(error)}.") from None


def _measured(picture: Picture, most: int) -> None:
    width, height = picture.size
    if width * height > most:
        raise ImageError(f"The image has {width:,} by {height:,} pixels, which is more than can be opened.")


@contextlib.contextmanager
def _pillow() -> Iterator[Any]:
    """Pillow's `Image`, with its warning about large pictures silent: they are measured here. Raises ImageError."""
    try:
        from PIL import Image
    except ImportError:
        raise ImageError("Pillow is missing from the environment that tools run in: pip install pillow.") from None
    with contextlib.suppress(ImportError):
        import pillow_heif  # type: ignore[import-not-found,unused-ignore]

        pillow_heif.register_heif_opener()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        yield Image


def _fitted(picture: Picture, longest: int) -> Picture:
    """Upright, in RGB on white, no larger than that."""
    from PIL import Image

    orientation = picture.getexif().get(ORIENTATION, 1)
    scaled = picture
    if max(picture.size) > longest:
        if picture.mode not in ("L", "RGB", "RGBA", "LA", "CMYK", "YCbCr"):
            scaled = _plain(picture)
        scaled.thumbnail((longest, longest), Image.Resampling.LANCZOS, reducing_gap=3.0)
    turns = (None, None, *(Image.Transpose[name] for name in TURNS))
    turn = turns[orientation] if isinstance(orientation, int) and 2 <= orientation <= 8 else None
    plain = _plain(scaled)
    return plain if turn is None else plain.transpose(turn)


def _plain(picture: Picture) -> Picture:
    """In RGB; what shines through is white, and 16 bits a channel are brought down to 8."""
    from PIL import Image

    if picture.mode in ("I;16", "I;16L", "I;16B", "I;16N", "I"):
        picture = picture.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if picture.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in picture.info:
        through = picture.convert("RGBA")
        white = Image.new("RGB", through.size, (255, 255, 255))
        white.paste(through, mask=through.getchannel("A"))
        return white
    return picture if picture.mode == "RGB" else picture.convert("RGB")


def _jpeg(picture: Picture, quality: int) -> bytes:
    """The bytes, without what a camera wrote into the picture."""
    made = io.BytesIO()
    bare = picture.copy()
    bare.info.clear()
    bare.save(made, "JPEG", quality=quality, exif=b"")
    return made.getvalue()


def _number(name: str, value: object, least: int, most: int) -> int:
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise ImageError(f"{name} must be a number, not {value!r}.") from None
    if not least <= number <= most:
        raise ImageError(f"{name} must lie between {least} and {most}, not be {number}.")
    return int(number)


def _why(error: Exception) -> str:
    name = type(error).__name__
    if name == "UnidentifiedImageError":
        return "it is in no form that is known"
    text = str(error).strip().rstrip(".")
    return text or name
