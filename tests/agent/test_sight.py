"""Which images a model is shown: the window, forms that no provider takes, and servers that refuse."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

import pytest
from tests.agent.servers import Fails, ModelServer, Says

from etui.agent.history import Picture
from etui.agent.model import Ask, Text
from etui.agent.models import Models
from etui.agent.sight import Sight, pictured
from etui.errors import ModelError
from etui.store.chats import Message, ToolCall

KINDS = ["openai-chat", "openai-responses", "anthropic", "google"]
PICTURES = {
    "a": Picture("image/png", b"\x89PNG a"),
    "b": Picture("image/bmp", b"BM b"),
    "c": Picture("image/jpeg", b"\xff\xd8 c"),
}


def chat(turns: int) -> list[Message]:
    """A tool's images in the first of so many turns."""
    said = [Message(chat="c", role="user", text=f"turn {number}") for number in range(turns)]
    call = Message(chat="c", role="assistant", calls=(ToolCall(id="k", tool="shoot"),))
    result = Message(chat="c", role="tool", text="Shot.", call="k", tool="shoot", images=("a", "b", "c"), meta={"status": "ok"})
    return [said[0], call, result, *said[1:]]


@pytest.mark.parametrize(("turns", "window", "shown"), [(1, 0, True), (2, 0, False), (4, 3, True), (5, 3, False), (9, 8, True)])
def test_an_image_is_shown_in_its_turn_and_in_so_many_after_it(turns: int, window: int, shown: bool) -> None:
    told = list(pictured(chat(turns), window, "auto"))
    assert told[2].images == (("a", "b", "c") if shown else ()) and told[2].text == "Shot."


def test_without_vision_images_are_told_of_while_they_would_be_shown() -> None:
    near, far = (list(pictured(chat(turns), 3, "never"))[2] for turns in (2, 9))
    assert near.images == far.images == () and far.text == "Shot."
    assert near.text == "Shot.\n(3 images were withheld here: the current model does not support image inputs.)"


def test_an_image_of_the_persons_own_stays() -> None:
    mine = Message(chat="c", role="user", text="", images=("a",))
    assert next(pictured([mine, *chat(9)], 1, "auto")).images == ("a",)
    assert next(pictured([mine, *chat(1)], 3, "never")).text.startswith("(1 image was withheld here: ")


def test_a_form_that_no_provider_takes_is_told_of_and_not_shown() -> None:
    sight = Sight(PICTURES.get)
    assert [one.media_type for one in sight.shown(("a", "b", "c", "gone"))] == ["image/png", "image/jpeg"]
    assert sight.words(("a", "b", "gone")) == "\n(1 image was withheld here: models are not shown images of this form.)"
    sight.refuse(frozenset({"a"}))
    assert [one.media_type for one in sight.shown(("a", "c"))] == ["image/jpeg"]
    sight.forgive(frozenset({"a"}))
    assert len(sight.shown(("a", "c"))) == 2


def ask() -> Ask:
    return Ask(messages=tuple(chat(1)), now=datetime(2026, 1, 1, tzinfo=UTC))


async def said(kind: str, server: ModelServer) -> str:
    base_url = f"{server.url}/v1" if kind.startswith("openai") else server.url
    model = Models({}, PICTURES.get).open(f"{kind}:m", base_url=base_url, key="k")
    try:
        return "".join([part.text async for part in model.stream(ask()) if isinstance(part, Text)])
    finally:
        await model.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_takes_no_images_is_asked_once_more_without(kind: str) -> None:
    refusal = Fails(400, json.dumps({"error": {"message": "This model does not support image input.", "code": 400}}))
    with ModelServer(refusal, Says(["I see nothing."])) as server:
        assert await said(kind, server) == "I see nothing."
    # One provider writes base64 for addresses.
    first, second = (json.dumps(body).replace("_9g", "/9g") for body in server.seen)
    shown = [base64.b64encode(one.data).decode() for one in PICTURES.values() if one.media_type != "image/bmp"]
    assert all(one in first for one in shown) and not any(one in second for one in shown)
    assert "does not support image inputs, or not this one" in second and "images of this form" in first


@pytest.mark.parametrize("kind", KINDS)
async def test_a_server_that_fails_either_way_is_told_of_by_its_first_words(kind: str) -> None:
    refusals = [
        Fails(400, json.dumps({"error": {"message": f"bad image, {word} time", "code": 400}})) for word in ("first", "last")
    ]
    with ModelServer(*refusals) as server, pytest.raises(ModelError, match="first time"):
        await said(kind, server)
    assert len(server.seen) == 2


async def test_a_wrong_key_is_no_reason_to_ask_again() -> None:
    refusal = Fails(401, json.dumps({"error": {"message": "no key for image models"}}))
    with ModelServer(refusal) as server, pytest.raises(ModelError):
        await said("openai-chat", server)
    assert len(server.seen) == 1
