"""One request to a route: its handler called by name, and its answer given to the host, long ones piece by piece.

What a handler returns is JSON, unless it is a response of Starlette's or FastAPI's: that is run as the small application that
it is, here, under the plugin's own grant, and the host fetches what it sends. Above: `handling`. Below: `running`,
`streaming`, the nouns. It refuses to know: addresses, who may ask, and sockets.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from etui.contracts import Line, Ran
from etui.contracts.sapphire.running import called
from etui.contracts.sapphire.streaming import Streams
from etui.outcome import File, Status

STREAMS = Streams()


async def answer(function: Callable[..., Any], asked: Mapping[str, Any], line: Line) -> Ran:
    """What the route answers: `data` where it is JSON, else a head in `text` and the first bytes as a file.

    `asked` holds `path`, `body`, `settings`, and where a request is meant `request`; with `more` it asks for the next bytes of
    an answer that was begun, with `over` it ends one. Raises whatever the handler raises.
    """
    if token := asked.get("more"):
        return _piece(token, *await STREAMS.more(str(token)))
    if token := asked.get("over"):
        await STREAMS.drop(str(token))
        return Ran(status=Status.OK)
    scope = _scope(asked)
    try:
        gave = await called(line, function, **_given(function, asked, scope))
    except Exception as raised:
        error: Any = raised
        if not _is_refusal(error):
            raise
        return _head(
            error.status_code,
            getattr(error, "headers", None) or {},
            _json({"error": str(error.detail), "detail": error.detail}),
        )
    if isinstance(gave, bytes | bytearray | memoryview):
        return _head(200, {"content-type": "application/octet-stream"}, bytes(gave))
    if _is_response(gave):
        stream = await STREAMS.begin(gave, scope)
        return _piece(stream.token, *await STREAMS.more(stream.token), status=stream.status, headers=stream.headers)
    return Ran(status=Status.OK, data=_plain(gave))


def _given(function: Callable[..., Any], asked: Mapping[str, Any], scope: dict[str, Any]) -> dict[str, Any]:
    """What the handler takes of the request, by name: path parameters, `body`, `settings`, and if asked `query`, `request`."""
    path = asked.get("path")
    offered = {
        **(path if isinstance(path, dict) else {}),
        "body": asked.get("body") or {},
        "settings": asked.get("settings") or {},
    }
    try:
        taken = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return offered
    names = {one.name for one in taken}
    if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken):
        offered = {name: value for name, value in offered.items() if name in names}
    if "query" in names and "query" not in offered:
        offered["query"] = _request(asked).get("query") or {}
    if "request" in names and "request" not in offered:
        offered["request"] = _as_request(scope, asked)
    return offered


def _as_request(scope: dict[str, Any], asked: Mapping[str, Any]) -> Any:
    from starlette.requests import Request  # only where a handler wants one

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": _json(asked.get("body") or {}), "more_body": False}

    return Request(scope, receive)


def _request(asked: Mapping[str, Any]) -> dict[str, Any]:
    found = asked.get("request")
    return found if isinstance(found, dict) else {}


def _scope(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The request as an application gets it."""
    request = _request(asked)
    path = str(request.get("url") or "/")
    headers = request.get("headers")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": str(request.get("method") or "GET"),
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": str(request.get("query_string") or "").encode(),
        "headers": [(str(name).encode(), str(value).encode()) for name, value in (headers or {}).items()],
        "path_params": dict(asked.get("path") or {}),
        "client": None,
        "server": None,
        "state": {},
    }


def _is_response(gave: object) -> bool:
    """Starlette's, and FastAPI's, which are the same, told without importing either."""
    return callable(gave) and isinstance(getattr(gave, "status_code", None), int) and hasattr(gave, "raw_headers")


def _is_refusal(error: Any) -> bool:
    """`HTTPException` of either."""
    return isinstance(getattr(error, "status_code", None), int) and hasattr(error, "detail")


def _plain(gave: Any) -> Any:
    """As JSON values can hold it: models and data classes as their fields."""
    if hasattr(gave, "model_dump"):
        return gave.model_dump(mode="json")
    return dataclasses.asdict(gave) if dataclasses.is_dataclass(gave) and not isinstance(gave, type) else gave


def _head(status: int, headers: Mapping[str, str], body: bytes) -> Ran:
    named = {"content-type": "application/json", **{name.lower(): str(value) for name, value in headers.items()}}
    return _piece("", body, True, status=status, headers=[*named.items()])


def _piece(token: str, body: bytes, over: bool, **head: Any) -> Ran:
    text = json.dumps({**head, "more": "" if over else token})
    return Ran(status=Status.OK, text=text, files=(File("", data=body),))


def _json(value: object) -> bytes:
    return json.dumps(value, default=str).encode()
