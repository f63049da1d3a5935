"""Model servers on loopback that play a script over real HTTP, in each provider's documented stream, or in raw lines.

A step is a `Says`, a `Fails`, or `Raw` lines; a server plays one a request and keeps what it was sent.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Says:
    """Words in pieces, then calls as (id, name, arguments)."""

    words: Sequence[str] = ()
    calls: Sequence[tuple[str, str, dict[str, Any]]] = ()


@dataclass(frozen=True)
class Fails:
    """An HTTP error."""

    status: int
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """A body sent as it is; `cut` ends the connection before its announced end."""

    body: str
    media_type: str = "text/event-stream"
    cut: bool = False


Step = Says | Fails | Raw | Callable[[dict[str, Any]], "Step"]
Event = tuple[str, dict[str, Any]]


def chunk(delta: dict[str, Any] | None, finish: str | None = None, **more: Any) -> str:
    """One line of a Chat Completions stream."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    event = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}
    return f"data: {json.dumps(event)}\n\n"


def chat(*deltas: dict[str, Any], finish: str = "stop") -> Raw:
    """A whole Chat Completions stream of the given deltas."""
    return Raw("".join(map(chunk, deltas)) + chunk({}, finish) + "data: [DONE]\n\n")


class ModelServer:
    """`with ModelServer(step, ...) as server:` listens on `server.url`."""

    def __init__(self, *steps: Step) -> None:
        self.seen: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._steps = list(steps)
        handler = type("Handler", (_Handler,), {"play": self._play})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> ModelServer:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _play(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Fails | Raw:
        at = len(self.seen)
        self.seen.append(body)
        self.paths.append(path)
        self.headers.append(headers)
        step: Step = self._steps[min(at, len(self._steps) - 1)]
        while callable(step):
            step = step(body)
        return Raw(written(path, step)) if isinstance(step, Says) else step


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    play: Callable[[str, dict[str, str], dict[str, Any]], Fails | Raw]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def _answer(self, body: dict[str, Any]) -> None:
        step = type(self).play(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        data = step.body.encode()
        self.send_response(step.status if isinstance(step, Fails) else 200)
        self.send_header("content-type", "application/json" if isinstance(step, Fails) else step.media_type)
        self.send_header("content-length", str(len(data) + (isinstance(step, Raw) and step.cut)))
        for name, value in (step.headers if isinstance(step, Fails) else {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True


def written(path: str, says: Says) -> str:
    """The stream with which the provider at that path says it."""
    return "".join(_written(path, says))


def _written(path: str, says: Says) -> Iterator[str]:
    if "chat/completions" in path:
        yield from _chat(says)
    elif path.split("?")[0].endswith("/responses"):
        yield from _sse(_responses(says))
    elif path.split("?")[0].endswith("/messages"):
        yield from _sse(_anthropic(says))
    elif "streamGenerateContent" in path:
        yield from _google(says)
    else:
        raise AssertionError(f"no model is asked at {path}")


def _sse(events: Iterator[Event]) -> Iterator[str]:
    for name, data in events:
        yield f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"


def _halves(arguments: dict[str, Any]) -> tuple[str, str]:
    text = json.dumps(arguments)
    return text[: len(text) // 2], text[len(text) // 2 :]


def _chat(says: Says) -> Iterator[str]:
    yield chunk({"role": "assistant", "content": ""})
    for word in says.words:
        yield chunk({"content": word})
    for index, (id, name, arguments) in enumerate(says.calls):
        first, second = _halves(arguments)
        function = {"name": name, "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": first}}]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": second}}]})
    yield chunk({}, "tool_calls" if says.calls else "stop")
    yield chunk(None, usage={"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
    yield "data: [DONE]\n\n"


def _responses(says: Says) -> Iterator[Event]:
    response: dict[str, Any] = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "in_progress",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    output: list[dict[str, Any]] = []
    number = iter(range(1, 1000))

    def event(kind: str, /, **data: Any) -> Event:
        return kind, {"sequence_number": next(number), **data}

    yield event("response.created", response=response)
    if says.words:
        message: dict[str, Any] = {"type": "message", "id": "m1", "role": "assistant", "status": "in_progress", "content": []}
        place = {"output_index": 0, "content_index": 0, "item_id": "m1"}
        yield event("response.output_item.added", output_index=0, item=message)
        yield event("response.content_part.added", **place, part={"type": "output_text", "text": "", "annotations": []})
        for word in says.words:
            yield event("response.output_text.delta", **place, delta=word, logprobs=[])
        text = "".join(says.words)
        yield event("response.output_text.done", **place, text=text, logprobs=[])
        part = {"type": "output_text", "text": text, "annotations": []}
        output.append({**message, "status": "completed", "content": [part]})
        yield event("response.output_item.done", output_index=0, item=output[-1])
    for index, (id, name, arguments) in enumerate(says.calls, start=len(output)):
        item = {
            "type": "function_call",
            "id": f"fc{index}",
            "call_id": id,
            "name": name,
            "arguments": "",
            "status": "in_progress",
        }
        yield event("response.output_item.added", output_index=index, item={**item, "status": "in_progress"})
        for half in _halves(arguments):
            yield event("response.function_call_arguments.delta", output_index=index, item_id=f"fc{index}", delta=half)
        whole = json.dumps(arguments)
        yield event(
            "response.function_call_arguments.done", output_index=index, item_id=f"fc{index}", arguments=whole, name=name
        )
        output.append({**item, "arguments": whole, "status": "completed"})
        yield event("response.output_item.done", output_index=index, item=output[-1])
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "total_tokens": 15,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    yield event("response.completed", response={**response, "status": "completed", "output": output, "usage": usage})


def _anthropic(says: Says) -> Iterator[Event]:
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }
    yield "message_start", {"message": message}
    index = 0
    if says.words:
        yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
        for word in says.words:
            yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": word}}
        yield "content_block_stop", {"index": 0}
        index = 1
    for place, (id, name, arguments) in enumerate(says.calls, start=index):
        yield (
            "content_block_start",
            {"index": place, "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}},
        )
        for half in _halves(arguments):
            yield "content_block_delta", {"index": place, "delta": {"type": "input_json_delta", "partial_json": half}}
        yield "content_block_stop", {"index": place}
    why = "tool_use" if says.calls else "end_turn"
    yield "message_delta", {"delta": {"stop_reason": why, "stop_sequence": None}, "usage": {"output_tokens": 5}}
    yield "message_stop", {}


def _google(says: Says) -> Iterator[str]:
    parts: list[dict[str, Any]] = [{"text": word} for word in says.words]
    parts += [{"functionCall": {"name": name, "args": arguments}} for _, name, arguments in says.calls]
    for number, part in enumerate(parts, start=1):
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if number == len(parts):
            candidate["finishReason"] = "STOP"
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        event = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}
        yield f"data: {json.dumps(event)}\n\n"
