"""An outcome as it is kept: images and files out to the store, the text within its limit, the notes behind it.

Above: `session` finishes each call with it. Below: the nouns. It refuses to know: where bytes are kept.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from etui.outcome import File, Outcome
from etui.tool import Call, Tool

Keep = Callable[[bytes, str, str, str, str], str]
"""Keeps bytes: data, media type, name, chat, call; gives an id."""
Find = Callable[[str, str], str]
"""The id of what is kept already, by chat and name; empty where there is nothing."""


def nothing_found(chat: str, name: str) -> str:
    """For a store that knows no names."""
    return ""


def kept(call: Call, chat: str, tool: Tool, outcome: Outcome, limit: int, keep: Keep, find: Find = nothing_found) -> Outcome:
    """The outcome with at most `limit` characters of text; where that cuts it, the whole is kept as a file."""
    if not (outcome.images or outcome.files or outcome.notes) and len(outcome.text) <= limit:
        return outcome
    files = outcome.files
    text = outcome.text
    if len(text) > limit:
        whole = File(name=f"{call.tool}.txt", media_type="text/plain", data=text.encode("utf-8", "replace"))
        files, text = (*files, whole), capped(text, limit, tool.words.cut)
    return msgspec.structs.replace(
        outcome,
        images=tuple(
            msgspec.structs.replace(image, data=b"", id=id)
            for image in outcome.images
            if (id := keep(image.data, image.media_type, image.name, chat, call.id) if image.data else find(chat, image.name))
        ),
        files=tuple(
            msgspec.structs.replace(file, data=b"", id=file.id or keep(file.data, file.media_type, file.name, chat, call.id))
            for file in files
        ),
        text=text + outcome.notes,
        shown=outcome.shown or (text if outcome.notes else ""),
        notes="",
    )


def capped(text: str, limit: int, cut: str = "") -> str:
    """Head and tail of a long text, with how much was left out between them; or the head, and `cut` behind it."""
    if cut:
        return text[:limit] + cut.format(more=len(text) - limit)
    note = f"\n[... {len(text) - limit:,} of {len(text):,} characters left out; the whole text is kept with the call ...]\n"
    head = max(0, (limit - len(note)) * 3 // 4)
    tail = max(0, limit - len(note) - head)
    return text[:head] + note + (text[-tail:] if tail else "")
