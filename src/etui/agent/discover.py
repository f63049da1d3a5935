"""What the person already has: keys in the environment, and compatible model servers on this machine.

Above: the host offers it by name. Below: httpx2, imported when servers are looked for. It refuses to know: whether anybody
chooses it. Nothing leaves the machine, and nothing waits longer than a moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    import httpx2

PORTS: Mapping[int, str] = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}
"""Where the well-known servers listen."""
WAIT = 0.8
"""Seconds that a server on this machine has to answer."""
_MOST = 8
_NOT_CHAT = ("embed", "whisper", "tts", "rerank", "clip", "moderation", "bge-", "minilm")
_KEYS = (
    ("OPENAI_API_KEY", "openai-chat:gpt-6-luna", "OpenAI"),
    ("ANTHROPIC_API_KEY", "anthropic:claude-haiku-5-5", "Anthropic"),
    ("GEMINI_API_KEY", "google:gemini-3.8-flash", "Google Gemini"),
    ("GOOGLE_API_KEY", "google:gemini-3.8-flash", "Google Gemini"),
)


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """A model that could be chosen with a click."""

    id: str
    """Unique among the offers."""
    label: str
    why: str
    """How it was found, such as `key OPENAI_API_KEY in the environment`."""
    model: str
    """For the setting `model`."""
    base_url: str = ""
    """For the setting `model_base_url`."""


def keys(environ: Mapping[str, str]) -> list[Offer]:
    """An offer for each provider whose key is in the environment."""
    offers: dict[str, Offer] = {}
    for variable, model, label in _KEYS:
        if environ.get(variable, "").strip():
            why = f"key {variable} in the environment"
            offers.setdefault(model, Offer(id=model, label=f"{label}: {model.partition(':')[2]}", why=why, model=model))
    return list(offers.values())


async def servers(ports: Mapping[int, str] = PORTS, *, own: Sequence[int] = (), wait: float = WAIT) -> list[Offer]:
    """An offer for each chat model of each compatible server on loopback; `own` holds the ports that Etui itself listens on."""
    import httpx2  # Lazily: most starts need no HTTP client.

    asked = [(port, label) for port, label in ports.items() if port not in own]
    # A proxy from the environment has no business with this machine's own ports.
    # Plain HTTP needs no certificates, and to read them takes longer than the whole look.
    async with httpx2.AsyncClient(timeout=wait, trust_env=False, verify=False) as client:
        found = await asyncio.gather(*(_server(client, port, label, wait) for port, label in asked))
    return [offer for offers in found for offer in offers]


async def offers(environ: Mapping[str, str], *, own: Sequence[int] = (), ports: Mapping[int, str] = PORTS) -> list[Offer]:
    """Everything that is there: servers on this machine first, then keys."""
    return [*await servers(ports, own=own), *keys(environ)]


async def _server(client: httpx2.AsyncClient, port: int, label: str, wait: float) -> list[Offer]:
    import httpx2

    base_url = f"http://127.0.0.1:{port}/v1"
    try:
        # The client's own limit counts from byte to byte; this one is for the whole of it.
        async with asyncio.timeout(wait):
            answer = await client.get(f"{base_url}/models")
        names = _names(answer.json()) if answer.status_code == 200 else []
    except (httpx2.HTTPError, TimeoutError, ValueError, RecursionError):
        return []
    return [
        Offer(
            id=f"openai-chat:{name}@{port}",
            label=f"{label}: {name}",
            why=f"answers on 127.0.0.1:{port}",
            model=f"openai-chat:{name}",
            base_url=base_url,
        )
        for name in names[:_MOST]
    ]


def _names(listed: object) -> list[str]:
    """The chat models of an OpenAI-compatible list; none if it is anything else, or another Etui's."""
    data = listed.get("data") if isinstance(listed, dict) else None
    models = [one for one in data if isinstance(one, dict)] if isinstance(data, list) else []
    names = [one["id"] for one in models if isinstance(one.get("id"), str) and one["id"] and one.get("owned_by") != "etui"]
    return [name for name in names if not any(sign in name.casefold() for sign in _NOT_CHAT)]
