"""Images in the chat's store: kept now, found again by their names; what a call keeps to be seen comes with its result.

Above: `core.images`, `sources`, `gallery`, `giving`. Below: the host's image services, through `current`.
It refuses to know: how the store keeps them.
"""

from __future__ import annotations

import base64

from etui.contracts.sapphire import current, threads
from etui.contracts.sapphire.images.forms import HANDLE, ID, ImageError, data_of, new_id, small_enough
from etui.contracts.sapphire.images.forms import media_type as type_of
from etui.errors import ServiceError
from etui.outcome import Image

_shown: dict[str, list[Image]] = {}
"""By call whose result is awaited, what it kept to be seen."""


def stash(raw: object, media_type: str | None = None, *, visible: bool = False, chat_name: str | None = None) -> str:
    """Keep an image in the chat's store now; gives its handle. Raises ImageError.

    With `visible` it is shown like an image that the tool returns; else only by its handle.
    """
    data = data_of(raw)
    form = media_type if isinstance(media_type, str) and media_type.startswith("image/") else ""
    form = form or type_of(data)
    small_enough(data, "The image")
    name = new_id(form)
    call = current.call()
    with_result = bool(visible and call in _shown and not chat_name)
    _ask(
        "images.stash",
        data=base64.b64encode(data).decode(),
        media_type=form,
        name=name,
        chat=chat_name or threads.chat(),
        shown=bool(visible) and not with_result,
    )
    if with_result:
        _shown[call].append(Image(form, name=name))
    return f"{HANDLE}{name}"


def last_image_id(chat: str | None = None) -> str | None:
    """The id of the newest image of the chat; None where there is none, or no such chat."""
    try:
        found = _ask("images.last", chat=chat or threads.chat())
    except ImageError:
        return None
    return found if isinstance(found, str) else None


def stored(name: str) -> tuple[bytes, str]:
    """The bytes and the media type of an image of this chat. Raises ImageError."""
    found = _ask("images.get", name=name, chat=threads.chat()) if ID.fullmatch(name) else None
    if not isinstance(found, dict):
        raise ImageError(f"no image {HANDLE}{name} in this chat")
    return base64.b64decode(str(found["data"])), str(found["media_type"])


def await_result(call: str) -> None:
    """A tool begins to run; what it keeps to be seen comes with its result."""
    _shown[call] = []


def shown(call: str) -> list[Image]:
    """What that call has kept to be seen, once."""
    return _shown.pop(call, [])


def _ask(service: str, **args: object) -> object:
    try:
        return current.ask(service, **args)
    except ServiceError as error:
        raise ImageError(str(error)) from None
