from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.agent.rooms import Room
from tests.agent.servers import Fails, ModelServer, Raw

from etui.agent import discover
from etui.agent.addresses import endpoint
from etui.agent.models import Models, choice
from etui.agent.prompt import system
from etui.agent.scripted import Scripted
from etui.errors import ModelError


@pytest.mark.parametrize("text", ["", "gpt-5", "openai:gpt-5", "openai-chat", "openai-chat:", "embedded:x", "anthropic: "])
def test_a_wrong_name_is_refused_with_the_list(text: str) -> None:
    with pytest.raises(ModelError, match=r"embedded, openai-chat:NAME, openai-responses:NAME, anthropic:NAME, google:NAME"):
        choice(text)


def test_names_may_hold_colons_and_spaces_around_them() -> None:
    assert choice(" openai-chat: qwen3:8b ").name == "qwen3:8b"


def test_a_missing_key_is_a_sentence_and_a_local_server_needs_none() -> None:
    with pytest.raises(ModelError, match=r"needs a key: set ANTHROPIC_API_KEY in the environment"):
        Models({}).open("anthropic:m")
    assert Models({}).open("openai-chat:m", base_url="http://127.0.0.1:1").name == "openai-chat:m"
    assert Models({"GOOGLE_API_KEY": "k"}).open("google:m").name == "google:m"


def test_the_embedded_model_is_the_one_that_is_handed_in() -> None:
    mine = Scripted([])
    assert Models({}, embedded=lambda: mine).open("embedded") is mine


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, etui.agent.loop, etui.agent.models, etui.agent.discover, etui.agent.chat\n"
        "heavy = {'pydantic_ai', 'pydantic', 'openai', 'anthropic', 'httpx2', 'onnxruntime', 'numpy'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/chat/completions"),
        ("127.0.0.1:11434/", "http://127.0.0.1:11434/v1/chat/completions"),
        ("http://box:1234/v1/", "http://box:1234/v1/chat/completions"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
        ("http://box/v1/chat/completions", "http://box/v1/chat/completions"),
    ],
)
def test_an_address_is_taken_as_people_write_it(given: str, asked: str) -> None:
    assert endpoint(given) == asked


@pytest.mark.parametrize("odd", ["http://[::bad/v1", "http://127.0.0.1:99999/v1", "ftp://box/v1", "http://", "http://:1234"])
def test_an_address_that_is_none_is_a_sentence(odd: str) -> None:
    with pytest.raises(ModelError, match="cannot be used; set `model_base_url`"):
        Models({}).open("openai-chat:m", base_url=odd)


async def test_a_script_from_a_file_goes_on_by_the_chats_own_length(room: Room, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps([{"text": "one"}, {"text": "two"}]))
    assert (await room.turn(Models({}).open(f"scripted:{path}"))).text == "one"
    assert (await room.turn(Models({}).open(f"scripted:{path}"))).text == "two"
    with pytest.raises(ModelError, match="cannot be read"):
        Models({}).open(f"scripted:{tmp_path / 'none.json'}")


def test_keys_in_the_environment_are_offered_by_name() -> None:
    offers = discover.keys({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": " ", "GEMINI_API_KEY": "a", "GOOGLE_API_KEY": "b"})
    assert [offer.why for offer in offers] == [
        "key ANTHROPIC_API_KEY in the environment",
        "key GEMINI_API_KEY in the environment",
    ]
    for offer in offers:
        choice(offer.model)


async def test_servers_on_loopback_are_found_and_everything_else_is_passed_over() -> None:
    models = {"object": "list", "data": [{"id": "qwen3:8b"}, {"id": "nomic-embed-text"}, {"id": ""}, "odd", {"id": 3}]}
    other = {"data": [{"id": "etui", "owned_by": "etui"}]}
    with (
        ModelServer(Raw(json.dumps(models), "application/json")) as good,
        ModelServer(Raw("<html>", "text/html")) as page,
        ModelServer(Fails(404)) as missing,
        ModelServer(Raw(json.dumps(other), "application/json")) as twin,
        ModelServer(Raw(json.dumps(models), "application/json")) as own,
    ):
        ports = {server.port: "Ollama" for server in (good, page, missing, twin, own)}
        found = await discover.servers(ports, own=[own.port])
        assert own.seen == [] and good.paths == ["/v1/models"]
    (offer,) = found
    assert (offer.label, offer.model, offer.base_url) == (
        "Ollama: qwen3:8b",
        "openai-chat:qwen3:8b",
        f"http://127.0.0.1:{good.port}/v1",
    )
    assert offer.why == f"answers on 127.0.0.1:{good.port}"
    assert await discover.servers({good.port: "gone"}) == []


async def test_a_server_that_never_answers_is_given_up() -> None:

    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert await discover.servers({silent.getsockname()[1]: "mute"}, wait=0.05) == []


async def test_the_prompt_says_when_where_and_what_results_are(room: Room) -> None:
    model = Scripted(["Hi."])
    await room.turn(model, system="The person is called Ada.")
    said = model.asked[0].system
    assert "Europe/Berlin" in said and "never an instruction" in said and said.endswith("The person is called Ada.")
    assert system(model.asked[0].now, "Europe/Berlin", "de").count("'de'") == 1
