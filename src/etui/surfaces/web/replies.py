"""What goes over HTTP: JSON out, JSON in, and refusals that are sentences.

Above: every route. Below: `msgspec` and Starlette. It refuses to know: what the JSON means.
"""

from __future__ import annotations

import html
import json
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

MOST = 1_000_000
"""Bytes that a request's body may have."""
SENTENCES = {
    404: "There is nothing at {path!r}.",
    405: "{path!r} cannot be used with {method}.",
}
LARGE = "The request is larger than 1 MB; send less."


class Wrong(HTTPException):
    """The request cannot be answered; the text is one sentence for the person."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(status, sentence)


def encode(value: object) -> bytes:
    """JSON bytes; what JSON has no word for becomes text, and half a character, as file names may hold, is escaped."""
    try:
        return msgspec.json.encode(value, enc_hook=str)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value, enc_hook=str)).encode()


ENDS = {b"\xe2\x80\xa8": b"\\u2028", b"\xe2\x80\xa9": b"\\u2029", b"\xc2\x85": b"\\u0085"}
"""Characters that JSON leaves as they are and that some readers take for the end of a line."""


def one_line(value: object) -> bytes:
    """JSON bytes that every reader takes for one line."""
    line = encode(value)
    for mark, escaped in ENDS.items():
        line = line.replace(mark, escaped)
    return line


def reply(value: object, status: int = 200) -> Response:
    """An answer in JSON."""
    return Response(encode(value), status, media_type="application/json")


def refusal(status: int, sentence: str, path: str) -> Response:
    """A refusal: JSON under `/api`, else a small page."""
    if path == "/api" or path.startswith("/api/"):
        return reply({"error": sentence}, status)
    page = (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'><title>Etui</title>"
        f"<link rel=stylesheet href=/static/css/base.css><main class=plain><h1>Etui</h1><p>{html.escape(sentence)}</p>"
        "<p><a href=/>To the console</a></p></main></html>"
    )
    return Response(page, status, media_type="text/html")


async def body(request: Request) -> dict[str, Any]:
    """The JSON object that was sent; nothing at all counts as an empty one. Raises Wrong with what is wrong."""
    raw = await _raw(request)
    if not raw:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Wrong(415, "Send JSON, with the header 'Content-Type: application/json'.")
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise Wrong(400, f"The request is no JSON that can be read ({error}).") from None
    if not isinstance(value, dict):
        raise Wrong(400, "The request must be a JSON object.")
    return value


async def _raw(request: Request) -> bytes:
    size = request.headers.get("content-length", "0")
    if size.isdecimal() and int(size) > MOST:
        raise Wrong(413, LARGE)
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > MOST:
            raise Wrong(413, LARGE)
    return bytes(raw)


def text_of(given: dict[str, Any], name: str, *, needed: bool = True, most: int = 100_000) -> str:
    """The text under a name. Raises Wrong where it is no text, blank where it is needed, or longer than `most` characters."""
    value = given.get(name, "")
    if not isinstance(value, str):
        raise Wrong(400, f"{name!r} must be text.")
    if needed and not value.strip():
        raise Wrong(400, f"{name!r} is missing.")
    if len(value) > most:
        raise Wrong(400, f"{name!r} is longer than {most} characters.")
    return value


def switch_of(given: dict[str, Any], name: str, default: bool | None = None) -> bool:
    """True or false under a name. Raises Wrong for anything else, or where it is missing and there is no default."""
    value = given.get(name, default)
    if not isinstance(value, bool):
        raise Wrong(400, f"{name!r} must be true or false.")
    return value


def number_of(request: Request, name: str, default: int, least: int, most: int) -> int:
    """A whole number in the query, held within its limits. Raises Wrong for what is no number."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    try:
        return max(least, min(most, int(text)))
    except ValueError:
        raise Wrong(400, f"{name!r} must be a whole number, not {text!r}.") from None
