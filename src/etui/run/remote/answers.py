"""From what an MCP server answered to the one outcome: its words, pictures and files, and its errors in its own words.

Above: `Remote`. Below: the nouns. It refuses to know: connections. An answer with nothing in it is a good one, and says so.
"""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
from collections.abc import Mapping
from typing import Any

from etui.outcome import File, Image, Outcome, Status
from etui.tool import Tool

NOTHING = "(done)"
"""The text of a good answer that holds nothing."""
MOST = 4
"""Pictures of one answer that are kept, and files likewise."""


def outcome(tool: Tool, result: Mapping[str, Any], seconds: float) -> Outcome:
    """The outcome of a call that the server answered."""
    words: list[str] = []
    images: list[Image] = []
    files: list[File] = []
    for block in result.get("content") or ():
        _take(block, words, images, files)
    for what, count in (("pictures", len(images)), ("files", len(files))):
        if count > MOST:
            words.append(f"({count - MOST} more {what} were left out.)")
    data = result.get("structuredContent")
    text = "\n".join(word for word in words if word.strip())
    if not text and data is not None:
        text = json.dumps(data, ensure_ascii=False)
    failed = bool(result.get("isError"))
    if not text:
        text = f"{tool.name} failed and gave no reason." if failed else _given(images, files[:MOST])
    return Outcome(
        status=Status.FAILED if failed else Status.OK,
        text=text,
        data=data,
        images=tuple(images[:MOST]),
        files=tuple(files[:MOST]),
        seconds=seconds,
        silent=tool.silent,
    )


def _given(images: list[Image], files: list[File]) -> str:
    """The words of an answer that has none."""
    if files:
        return f"Gave {', '.join(file.name for file in files)}."
    return "" if images else NOTHING


def _take(block: Mapping[str, Any], words: list[str], images: list[Image], files: list[File]) -> None:
    match block.get("type"):
        case "text":
            words.append(str(block.get("text", "")))
        case "image" | "audio":
            _bytes(block.get("data"), str(block.get("mimeType") or ""), "", words, images, files)
        case "resource_link":
            words.append(" ".join(str(block[key]) for key in ("name", "description", "uri") if block.get(key)))
        case "resource":
            resource = block.get("resource") or {}
            if "text" in resource:
                words.append(str(resource["text"]))
            else:
                name = str(resource.get("uri", "")).rstrip("/").rpartition("/")[2]
                _bytes(resource.get("blob"), str(resource.get("mimeType") or ""), name, words, images, files)
        case other:
            words.append(f"(Something of the kind {other!r}, which cannot be shown.)")


def _bytes(data: object, kind: str, name: str, words: list[str], images: list[Image], files: list[File]) -> None:
    try:
        content = base64.b64decode(str(data or ""), validate=True)
    except binascii.Error:
        words.append("(Something that could not be read.)")
        return
    if kind.startswith("image/"):
        images.append(Image(media_type=kind, data=content, alt=name))
        return
    kind = kind or "application/octet-stream"
    name = name or f"{kind.partition('/')[0]}-{len(files) + 1}{mimetypes.guess_extension(kind) or ''}"
    files.append(File(name=name, media_type=kind, data=content))
