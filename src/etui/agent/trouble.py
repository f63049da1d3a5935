"""What went wrong with a model, in one sentence that names what to do.

Above: `chat` and `direct` raise it as ModelError. Below: `errors`. It refuses to know: which library talked to the provider.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from etui.errors import ModelError

BUSY = (429, 503, 529)
"""The statuses by which a provider has too much to do just now."""
_SECRET = re.compile(r"\b(?:sk|pk|rk|gsk|xai|AIza)[-_A-Za-z0-9]{8,}|(?i:bearer)\s+\S+")
KEYS = {
    "openai-chat": ("OPENAI_API_KEY",),
    "openai-responses": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
"""The environment variables in which each provider's key is looked for."""


class Busy(ModelError):
    """The provider has too much to do just now: asking again in a moment may help."""

    def __init__(self, text: str, who: str, wait: float | None) -> None:
        """`wait` is how many seconds the provider wants, None where it did not say."""
        super().__init__(text)
        self.who = who
        self.wait = wait


def server(address: str) -> str:
    """How a server is called; the name and the password that its address may hold stay out."""
    return f"The model server at {urlsplit(address).netloc.rpartition('@')[2]}"


def of_status(status: int, who: str, model: str, said: str, *, key: str = "", wait: float | None = None) -> ModelError:
    """The error for an HTTP status: `who` is the provider or its address, `key` its key's variable, `said` its own text."""
    text = f"{_of_status(status, who, model, said, key, wait)}{_quoted(said)}"
    lower = said.casefold()
    if status in BUSY and not _spent(lower) and not too_long(lower):
        return Busy(text, who, wait)
    return ModelError(text)


def _spent(lower: str) -> bool:
    return any(sign in lower for sign in ("insufficient_quota", "billing", "credit balance"))


def _of_status(status: int, who: str, model: str, said: str, key: str, wait: float | None) -> str:
    lower = said.casefold()
    if 300 <= status < 400:
        return f"{who} only points to another address; set `model_base_url` to that one."
    if status == 401:
        return f"{who} refused the key; check {key or 'the key in the settings'}."
    if status == 402 or _spent(lower):
        return f"The account at {who} has no credit left; top it up, or choose another model."
    if status == 403:
        return f"{who} does not let this key use the model {model!r}; check the account, or choose another model."
    if status == 404:
        return f"{who} has no model {model!r}; choose one that it offers, or check the address."
    if status == 408 or status == 504:
        return f"{who} took too long; try again in a moment."
    if too_long(lower) or status == 413:
        return f"The conversation is too long for the model {model!r}; begin a new chat, or choose a model that reads more."
    if "does not support tools" in lower or "tool use is not supported" in lower:
        return f"The model {model!r} at {who} cannot call tools; choose one that can."
    if status == 429:
        seconds = max(1, round(wait or 0))
        when = f"wait {seconds} second{'s' if seconds > 1 else ''} and try again" if wait else "wait a moment and try again"
        return f"{who} gets too many requests from this account; {when}."
    if status in (503, 529):
        return f"{who} is overloaded or still loading the model; try again in a moment."
    if status >= 500:
        return f"{who} failed (HTTP {status}); try again in a moment, or choose another model."
    return f"{who} did not accept the request for the model {model!r} (HTTP {status})."


def too_long(lower: str) -> bool:
    """True if a provider's text, in lower case, says that the conversation does not fit."""
    signs = (
        "context_length_exceeded",
        "context length",
        "context size",
        "context window",
        "prompt is too long",
        "maximum context",
    )
    return any(sign in lower for sign in signs)


def unreachable(who: str, local: bool) -> ModelError:
    """Nobody answered the connection."""
    hint = "start the server there, or choose another model" if local else "check the network, or choose another model"
    return ModelError(f"{who} cannot be reached; {hint}.")


def late(who: str, seconds: float) -> ModelError:
    """No answer in time."""
    return ModelError(f"{who} gave no answer within {seconds:g} seconds; try again, or choose a faster model.")


def broken_off(who: str) -> ModelError:
    """The answer stopped in the middle."""
    return ModelError(f"{who} broke off in the middle of its answer; try again.")


def failed(who: str, said: str) -> ModelError:
    """It gave up by itself."""
    return ModelError(f"{who} failed; try again in a moment, or choose another model.{_quoted(said)}")


def nonsense(who: str, said: str = "") -> ModelError:
    """The answer is nothing that a model of this kind says."""
    return ModelError(f"{who} answered in a way that is no model's answer; check its address.{_quoted(said)}")


def _quoted(said: str) -> str:
    text = re.sub(r"\s+", " ", _SECRET.sub("…", said)).strip()
    return f" It said: {text[:300]}{'…' if len(text) > 300 else ''}" if text else ""
