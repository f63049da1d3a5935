"""From what the owner wrote, such as `anthropic:NAME`, to a model that can be asked; everything heavy is imported here, lazily.

Above: the host opens one model at a time. Below: one module for each kind. It refuses to know: what is said to a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from etui.agent.history import Pictures, no_pictures
from etui.agent.model import Model
from etui.agent.trouble import KEYS
from etui.errors import ModelError

KINDS: Mapping[str, str] = {
    "embedded": "the built-in command matcher, without a key",
    "openai-chat": "OpenAI, or any server that speaks its Chat Completions, such as Ollama or LM Studio",
    "openai-responses": "OpenAI's Responses",
    "anthropic": "Anthropic",
    "google": "Google Gemini",
    "scripted": "a script from a file, for tests",
}
"""Every kind of model, with what it is."""


THINKS = frozenset({"low", "medium", "high"})
"""The settings of `effort` with which a model thinks first."""


class Choice(msgspec.Struct, frozen=True):
    """A model as the owner named it."""

    kind: str
    name: str = ""


def choice(text: str) -> Choice:
    """Read `KIND` or `KIND:NAME`; raises ModelError with the list of kinds."""
    kind, _, name = (part.strip() for part in text.partition(":"))
    if kind == "embedded" and not name:
        return Choice(kind)
    if kind in KINDS and kind != "embedded" and name:
        return Choice(kind, name)
    wrong = f"The model {text!r} lacks a name" if kind in KINDS and kind != "embedded" else f"There is no model {text!r}"
    forms = ", ".join(one if one == "embedded" else f"{one}:NAME" for one in KINDS if one != "scripted")
    raise ModelError(f"{wrong}; set `model` to one of {forms}.")


def key_for(kind: str, environ: Mapping[str, str]) -> str:
    """The key in the environment for a kind of model, or nothing."""
    return next((environ[name] for name in KEYS.get(kind, ()) if environ.get(name)), "")


def embedded_at(cache: Path | None) -> Callable[[], Model]:
    """Opens the built-in matcher, whose vectors outlive the process in the file `cache`."""

    def open_embedded() -> Model:
        from etui.agent.embedded import EmbeddedModel  # Lazily: it brings onnxruntime.

        return EmbeddedModel(cache=cache)

    return open_embedded


def reasons(name: str, effort: str) -> bool:
    """Whether the model of that name thinks before it answers, and so tells by itself what it is about to do."""
    return effort in THINKS and name.partition(":")[0] != "embedded"


class Models:
    """Opens models."""

    def __init__(
        self,
        environ: Mapping[str, str],
        pictures: Pictures = no_pictures,
        embedded: Callable[[], Model] | None = None,
    ) -> None:
        """`environ` is where keys are looked for, `pictures` gives the bytes of an image in the store."""
        self._environ = environ
        self._pictures = pictures
        self._embedded = embedded or embedded_at(None)

    def open(self, text: str, *, base_url: str = "", key: str = "", effort: str = "auto") -> Model:
        """The model that `text` names, thinking as `effort` says. Raises ModelError where there is none such, or no key."""
        chosen = choice(text)
        if chosen.kind == "embedded":
            return self._embedded()
        if chosen.kind == "scripted":
            from etui.agent.scripted import from_file

            return from_file(chosen.name)
        key = key or key_for(chosen.kind, self._environ)
        if not key and not base_url:
            variables = " or ".join(KEYS[chosen.kind])
            raise ModelError(f"The model {text!r} needs a key: set {variables} in the environment, or choose `embedded`.")
        if chosen.kind == "openai-chat":
            from etui.agent.chat import OpenAIChat

            return OpenAIChat(chosen.name, base_url=base_url, key=key, effort=effort, pictures=self._pictures)
        from etui.agent.direct import Direct

        return Direct(chosen.kind, chosen.name, base_url=base_url, key=key, effort=effort, pictures=self._pictures)
