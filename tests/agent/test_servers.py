"""Every kind of model over real HTTP: the same questions to each."""

from __future__ import annotations

import base64
import json
import re
import socket
from collections.abc import AsyncIterator, Callable

import pytest
from tests.agent.rooms import Room, ok
from tests.agent.servers import Fails, ModelServer, Raw, Says, chat, written

from etui.agent.history import Picture
from etui.agent.model import Model
from etui.agent.models import Models
from etui.agent.scripted import Scripted, call
from etui.events import Kind
from etui.outcome import Image, Outcome
from etui.tool import Risk

KINDS = ["openai-chat", "openai-responses", "anthropic", "google"]
Open = Callable[[str, str], Model]


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    """Opens models at an address and closes them."""
    models: list[Model] = []

    def open(kind: str, url: str) -> Model:
        base_url = f"{url}/v1" if kind.startswith("openai") else url
        models.append(Models({}).open(f"{kind}:m", base_url=base_url, key="the-key"))
        return models[-1]

    yield open
    for model in models:
        await model.close()


def _weather(room: Room) -> None:
    async def weather(arguments: dict[str, object]) -> str:
        return f"21 C in {arguments.get('city')}"

    parameters = {
        "type": "object",
        "properties": {"city": {"type": "string", "title": "T"}},
        "required": ["city"],
        "$schema": "x",
    }
    room.door.add("weather", weather, parameters=parameters)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_turn_with_two_calls(room: Room, opened: Open, kind: str) -> None:
    _weather(room)
    calls = [("k1", "weather", {"city": "Oslo"}), ("k2", "weather", {"city": "Bergen"})]
    with ModelServer(Says(["Let me ", "look."], calls), Says(["It is ", "21 C ", "in both."])) as server:
        ended = await room.turn(opened(kind, server.url), "Weather in Oslo and Bergen?")
        assert ended.text == "Let me look.\n\nIt is 21 C in both." == room.words()
        assert sorted(str(message.text) for message in room.results()) == ["21 C in Bergen", "21 C in Oslo"]
        sent = json.dumps(server.seen)
        assert "21 C in Oslo" in json.dumps(server.seen[1]) and "21 C in Bergen" in json.dumps(server.seen[1])
        assert '"$schema"' not in sent and '"title"' not in sent
        assert "Europe/Berlin" in sent and "the-key" not in sent
        assert "the-key" in json.dumps(server.headers)


@pytest.mark.parametrize("kind", KINDS)
async def test_the_next_turn_replays_an_odd_history(room: Room, opened: Open, kind: str) -> None:
    _weather(room)
    steps = [[call("weather", ""), call("weather", '{"half', 1)], "There."]
    await room.turn(Scripted(steps))
    with ModelServer(Says(["Hello."])) as server:
        ended = await room.turn(opened(kind, server.url), "hi")
        assert ended.text == "Hello."
        assert "half" not in json.dumps(server.seen[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, '{"error": {"message": "Incorrect API key provided: sk-abcdefghijkl"}}', "refused the key"),
        (404, '{"error": {"message": "model not found", "status": "NOT_FOUND", "code": 404}}', "has no model 'm'"),
        (400, '{"error": {"message": "tools[0] is odd"}}', "tools[0] is odd"),
    ],
)
async def test_an_error_is_a_sentence_that_says_what_to_do(
    room: Room, opened: Open, kind: str, status: int, body: str, words: str
) -> None:
    with ModelServer(Fails(status, body)) as server:
        ended = await room.turn(opened(kind, server.url))
        assert ended.why == "failed" and words in ended.text
        assert "sk-abc" not in ended.text and "status_code" not in ended.text


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_is_not_there_is_a_sentence(room: Room, opened: Open, kind: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        ended = await room.turn(opened(kind, f"http://127.0.0.1:{free.getsockname()[1]}"))
    assert ended.why == "failed" and "cannot be reached; start the server there" in ended.text


@pytest.mark.parametrize("kind", KINDS)
async def test_images_of_the_person_and_of_tools_reach_the_model(room: Room, kind: str) -> None:
    pixel = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
    id = room.store.blobs.put(pixel, "image/png")

    async def draw(arguments: dict[str, object]) -> Outcome:
        return ok("drawn", images=(Image("image/png", id=id),))

    def picture(id: str) -> Picture | None:
        blob = room.store.blobs.get(id)
        return Picture(blob.media_type, blob.data) if blob else None

    room.door.add("draw", draw)
    with ModelServer(Says([], [("k", "draw", {})]), Says(["Nice."])) as server:
        base_url = f"{server.url}/v1" if kind.startswith("openai") else server.url
        model = Models({}, picture).open(f"{kind}:m", base_url=base_url, key="the-key")
        assert (await room.turn(model, "look", images=(id,))).text == "Nice."
        await model.close()
        first, second = (json.dumps(body).replace("-", "+").replace("_", "/") for body in server.seen)
    data = base64.b64encode(pixel).decode()
    assert (first.count(data), second.count(data)) == (1, 2)


async def test_a_busy_provider_says_how_long_to_wait(room: Room, opened: Open) -> None:
    with ModelServer(Fails(429, '{"error": {"message": "slow down"}}', {"retry-after": "7"})) as server:
        ended = await room.turn(opened("openai-chat", server.url))
    assert "wait 7 seconds" in ended.text


async def test_an_answer_that_breaks_off_keeps_its_beginning(room: Room, opened: Open) -> None:
    with ModelServer(Raw('data: {"choices": [{"delta": {"content": "The answer is"}}]}\n\n', cut=True)) as server:
        ended = await room.turn(opened("openai-chat", server.url))
    assert ended.text.startswith("The answer is\n\n") and "broke off" in ended.text


async def test_an_error_inside_the_stream_is_a_sentence(room: Room, opened: Open) -> None:
    body = 'data: {"error": {"message": "the request exceeds the available context size", "code": 400}}\n\n'
    with ModelServer(Raw(body)) as server:
        ended = await room.turn(opened("openai-chat", server.url))
    assert "begin a new chat" in ended.text


@pytest.mark.parametrize("body", ["<html>It works!</html>", "", "data: {}\n\n", "[1]", '{"detail": "hello"}'])
async def test_a_server_that_is_no_model_is_a_sentence(room: Room, opened: Open, body: str) -> None:
    for media_type in ("text/html", "application/json", "text/event-stream"):
        with ModelServer(Raw(body, media_type)) as server:
            ended = await room.turn(opened("openai-chat", server.url))
        assert ended.why == "failed" and "check its address" in ended.text


def _call(arguments: object = "", **more: object) -> dict[str, object]:
    return {"tool_calls": [{"type": "function", "function": {"arguments": arguments, **more.pop("function", {})}, **more}]}  # type: ignore[dict-item]


F, G = {"name": "f"}, {"name": "g"}
DIALECTS = {
    "no ids": [_call('{"p":"x"}', index=0, function=F), _call('{"q":1}', index=1, function=G)],
    "empty ids": [_call('{"p":"x"}', index=0, id="", function=F), _call('{"q":1}', index=1, id="", function=G)],
    "all first": [_call('{"p":"x"}', index=0, id="a", function=F), _call('{"q":1}', index=0, id="b", function=G)],
    "all first without ids": [_call('{"p":"x"}', index=0, function=F), _call('{"q":1}', index=0, function=G)],
    "no places": [_call("", id="a", function=F), _call('{"p":'), _call('"x"}'), _call('{"q":1}', id="b", function=G)],
    "null places": [_call('{"p":"x"}', index=None, id="a", function=F), _call('{"q":1}', index=None, id="b", function=G)],
    "same ids": [_call('{"p":"x"}', index=0, id="call_0", function=F), _call('{"q":1}', index=1, id="call_0", function=G)],
    "objects for arguments": [_call({"p": "x"}, index=0, function=F), _call({"q": 1}, index=1, function=G)],
    "ghosts": [
        _call('{"p":"x"}', index=0, function=F),
        {"tool_calls": [{"id": "", "type": "function"}]},
        _call('{"q":1}', function=G),
    ],
    "null content": [{"content": None, **_call('{"p":"x"}', index=0, function=F)}, _call('{"q":1}', index=1, function=G)],
    "prefixed": [_call('{"p":"x"}', index=0, function={"name": "functions.f"}), _call('{"q":1}', index=1, function=G)],
    "in the text": [
        {"content": '<tool_call>{"name": "f", "arguments": {"p": "x"}}</tool_'},
        {"content": 'call>[g]{"q": 1}[END_TOOL_REQUEST]'},
    ],
    "thinking aside": [
        {"reasoning_content": "hm", "content": None},
        {"content": "<think>[f]{}[END_TOOL_REQUEST]</think>"},
        *(_call('{"p":"x"}', index=0, function=F), _call('{"q":1}', index=1, function=G)),
    ],
}


@pytest.mark.parametrize("finish", ["tool_calls", "stop", "function_call"])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_dialects_of_local_servers(room: Room, opened: Open, dialect: str, finish: str) -> None:
    async def body(arguments: dict[str, object]) -> str:
        return "done"

    room.door.add("f", body, Risk.WRITE)
    room.door.add("g", body, Risk.WRITE)
    with ModelServer(chat(*DIALECTS[dialect], finish=finish), Says(["Both done."])) as server:
        ended = await room.turn(opened("openai-chat", server.url))
        assert room.door.ran == [("f", {"p": "x"}), ("g", {"q": 1})]
        assert (ended.text, ended.why) == ("Both done.", "done")
        replayed = server.seen[1]["messages"]
        ids = [one["id"] for message in replayed for one in message.get("tool_calls", ())]
        assert len(set(ids)) == 2 and all(ids)
        assert [message["tool_call_id"] for message in replayed if message["role"] == "tool"] == ids


def _takes(message_ok: Callable[[dict[str, object]], bool]) -> Callable[[dict[str, object]], Fails | Says]:
    def step(body: dict[str, object]) -> Fails | Says:
        messages = body["messages"]
        assert isinstance(messages, list)
        fine = all(message_ok(message) for message in messages if message.get("tool_calls"))
        return Says(["Fine."]) if fine else Fails(400, '{"error": {"message": "invalid content"}}')

    return step


@pytest.mark.parametrize(
    "wants",
    [
        lambda message: "content" in message and message["content"] is None,
        lambda message: message.get("content") == "",
        lambda message: "content" in message,
        lambda message: message.get("content") != "",
        lambda message: "content" not in message,
        lambda message: bool(message.get("content")),
    ],
)
async def test_each_server_gets_missing_words_in_the_form_it_takes(
    room: Room, opened: Open, wants: Callable[[dict[str, object]], bool]
) -> None:
    _weather(room)
    first = Says([], [("k", "weather", {"city": "Oslo"})])
    with ModelServer(first, _takes(wants)) as server:
        model = opened("openai-chat", server.url)
        assert (await room.turn(model)).text == "Fine."
        tries = len(server.seen)
        assert (await room.turn(model)).text == "Fine."
        assert len(server.seen) == tries + 1


async def test_a_server_that_does_not_stream_is_understood(room: Room, opened: Open) -> None:
    _weather(room)
    function = {"name": "weather", "arguments": '{"city": "Oslo"}'}
    message = {"role": "assistant", "content": "Hm.", "tool_calls": [{"id": "k", "type": "function", "function": function}]}
    first = json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, indent=1)
    second = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Sunny."}, "finish_reason": "stop"}]})
    with ModelServer(Raw(first, "application/json"), Raw(second, "application/json")) as server:
        ended = await room.turn(opened("openai-chat", server.url))
    assert ended.text == "Hm.\n\nSunny." and room.door.ran == [("weather", {"city": "Oslo"})]


async def test_odd_lines_in_a_stream_are_passed_over(room: Room, opened: Open) -> None:
    body = (
        ': ping\r\n\r\nevent: message\r\ndata:{"choices":[{"delta":{"content":"one \u2028two"}}]}\r\n\r\ndata: {broken\n\n'
        'data: {"choices": [], "usage": {"prompt_tokens": 3}}\n\ndata: [DONE]\n\n'
    )
    with ModelServer(Raw(body)) as server:
        ended = await room.turn(opened("openai-chat", server.url))
    assert ended.text == "one \u2028two"


THINKING = {
    "openai-chat": ("m", "reasoning_effort"),
    "openai-responses": ("gpt-5", "reasoning"),
    "anthropic": ("claude-sonnet-4-6", "thinking"),
    "google": ("gemini-2.5-flash", "thinkingConfig"),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_how_long_it_thinks_is_asked_for_where_the_owner_says_so(room: Room, kind: str) -> None:
    name, key = THINKING[kind]
    for effort in ("auto", "low"):
        with ModelServer(Says(["Hello."])) as server:
            base_url = f"{server.url}/v1" if kind.startswith("openai") else server.url
            model = Models({}).open(f"{kind}:{name}", base_url=base_url, key="k", effort=effort)
            assert (await room.turn(model, "hi")).text == "Hello."
            await model.close()
            assert (f'"{key}"' in json.dumps(server.seen)) is (effort == "low"), server.seen


def _disturbed(body: str) -> str:
    """A stream as a proxy may hand it on: marked, with comments between and within its events, and with other ends of lines."""
    lines = body.split("\n")
    noisy = [line for at, line in enumerate(lines) for line in ([": still here"] if at % 3 == 0 else []) + [line]]
    return "\ufeff" + "\r\n".join(noisy).replace("data: ", "data:").rstrip()


@pytest.mark.parametrize("kind", KINDS)
async def test_what_a_proxy_puts_around_the_events_is_passed_over(room: Room, opened: Open, kind: str) -> None:
    _weather(room)
    steps = Says(["Let me look."], [("k", "weather", {"city": "Zürich"})]), Says(["Mild\u2028or so."])
    paths = {"openai-chat": "chat/completions", "openai-responses": "/responses", "anthropic": "/messages"}
    path = paths.get(kind, "streamGenerateContent")
    with ModelServer(*(Raw(_disturbed(written(path, step))) for step in steps)) as server:
        ended = await room.turn(opened(kind, server.url))
    assert ended.text == "Let me look.\n\nMild\u2028or so." and room.door.ran == [("weather", {"city": "Zürich"})]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_page_instead_of_an_answer_is_not_read_out(room: Room, opened: Open, kind: str) -> None:
    page = "<!DOCTYPE html><html><body>Please log in.</body></html>"
    for step in (Raw(page, "text/html"), Fails(404, page)):
        with ModelServer(step) as server:
            ended = await room.turn(opened(kind, server.url))
        assert ended.why == "failed" and "address" in ended.text and "<" not in ended.text and "500" not in ended.text


@pytest.mark.parametrize("kind", KINDS[1:])
async def test_a_key_is_not_carried_to_another_address(room: Room, opened: Open, kind: str) -> None:
    with ModelServer(Says(["Hello."])) as other, ModelServer(Fails(307, "", {"location": f"{other.url}/x"})) as server:
        ended = await room.turn(opened(kind, server.url))
        assert ended.why == "failed" and "only points to another address" in ended.text
        assert other.seen == []


async def test_a_chat_server_that_has_moved_is_followed_without_the_key(room: Room, opened: Open) -> None:
    with ModelServer(Says(["Hello."])) as other:
        to = f"{other.url}/v1/chat/completions"
        for status in (301, 302, 307, 308):
            with ModelServer(Fails(status, "", {"location": to})) as server:
                assert (await room.turn(opened("openai-chat", server.url))).text == "Hello."
        assert all(body["messages"] for body in other.seen) and "the-key" not in json.dumps(other.headers)
    with ModelServer(Fails(307, "", {"location": "/v1/chat/completions"})) as circle:
        ended = await room.turn(opened("openai-chat", circle.url))
        assert ended.why == "failed" and "another address" in ended.text and len(circle.seen) < 9


async def test_a_stream_that_calls_itself_json_is_understood(room: Room, opened: Open) -> None:
    with ModelServer(Raw(written("chat/completions", Says(["Good ", "day."])), "application/json")) as server:
        assert (await room.turn(opened("openai-chat", server.url))).text == "Good day."


async def test_a_server_that_counts_no_tokens_is_understood(room: Room, opened: Open) -> None:
    body = re.sub(r', "usage": {[^{}]*}', "", written("/messages", Says(["Good day."])))
    assert '"usage"' not in body
    with ModelServer(Raw(body)) as server:
        assert (await room.turn(opened("anthropic", server.url))).text == "Good day."


async def test_a_refusal_in_a_field_of_its_own_is_the_answer(room: Room, opened: Open) -> None:
    with ModelServer(chat({"content": None, "refusal": "I will not say."})) as server:
        assert (await room.turn(opened("openai-chat", server.url))).text == "I will not say."


async def test_of_several_answers_side_by_side_the_first_is_heard(room: Room, opened: Open) -> None:
    choices = [{"index": 1, "delta": {"content": "Bye."}}, {"index": 0, "delta": {"content": "Hello."}}]
    with ModelServer(Raw(f"data: {json.dumps({'choices': choices})}\n\ndata: [DONE]\n\n")) as server:
        assert (await room.turn(opened("openai-chat", server.url))).text == "Hello."


async def test_several_calls_wrapped_in_one_run_each(room: Room, opened: Open) -> None:
    _weather(room)
    uses = [{"recipient_name": "functions.weather", "parameters": {"city": city}} for city in ("Oslo", "Rome")]
    wrapped = _call(json.dumps({"tool_uses": uses}), index=0, id="k", function={"name": "multi_tool_use.parallel"})
    with ModelServer(chat(wrapped), Says(["Mild."])) as server:
        assert (await room.turn(opened("openai-chat", server.url))).text == "Mild."
    assert room.door.ran == [("weather", {"city": "Oslo"}), ("weather", {"city": "Rome"})]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_tool_that_a_model_made_up_does_not_spoil_the_chat_for_another(room: Room, opened: Open, kind: str) -> None:
    await room.turn(Scripted([[call("my wéird/tool" + "x" * 80)], "There is none."]))
    with ModelServer(Says(["Hello."])) as server:
        assert (await room.turn(opened(kind, server.url), "hi")).text == "Hello."
        names = re.findall(r'"name": "([^"]*w_+ird[^"]*)"', json.dumps(server.seen))
        assert names and all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [429, 503])
async def test_a_busy_provider_is_asked_again_twice_whichever_it_is_and_the_person_is_told(
    room: Room, opened: Open, kind: str, status: int
) -> None:
    busy = Fails(status, '{"error": {"message": "slow down"}}', {"retry-after": "0"})
    with ModelServer(busy, busy, Says(["Here I am."])) as server:
        assert (await room.turn(opened(kind, server.url))).text == "Here I am."
        assert len(server.seen) == 3
    lines = [str(event.data["text"]) for event in room.told if event.kind is Kind.SAID]
    assert len(lines) == 2 and all("busy" in line and "the-key" not in line for line in lines)
    with ModelServer(busy) as server:
        assert (await room.turn(opened(kind, server.url))).why == "failed" and len(server.seen) == 3


@pytest.mark.parametrize("kind", ["openai-chat", "google"])
async def test_an_image_without_words_is_kept_and_told_of(room: Room, opened: Open, kind: str) -> None:
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n...").decode()
    if kind == "google":
        part = {"inlineData": {"mimeType": "image/png", "data": data}}
        event: object = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    else:
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
        event = {"choices": [{"delta": {"content": None, "images": [image, {"image_url": {"url": "https://example.org"}}]}}]}
    with ModelServer(Raw(f"data: {json.dumps(event)}\n\n")) as server:
        ended = await room.turn(opened(kind, server.url))
    assert (ended.why, ended.text) == ("done", "The model answered with an image.")
    (id,) = room.messages()[-1].images
    blob = room.store.blobs.get(id)
    assert blob is not None and blob.data.startswith(b"\x89PNG")
