"""What every model is to the turn: something that is asked with a chat and tools, and answers in small parts.

Above: `loop` asks and joins the parts; `models` finds the model that the owner chose. Below: the store's messages and
the risk of a tool. It refuses to know: providers, keys, HTTP, and whether a tool is ever run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

import msgspec

from etui.agent.history import Picture
from etui.tool import Risk

if TYPE_CHECKING:
    from etui.store.chats import Message


class ToolView(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: dict[str, object]
    """JSON Schema of an object; it holds no `$ref`."""
    examples: tuple[str, ...] = ()
    """Sentences that mean this tool, with `{argument}` where a value stands."""
    taught: tuple[str, ...] = ()
    """The same, as the person taught them."""
    risk: Risk = Risk.READ
    silent: bool = False
    plugin: str = ""


class Elsewhere(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that there is and that this chat has not, as its owner may be told."""

    tool: ToolView
    why: str
    """Why it has it not, and where that is changed, in a sentence or two."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One request to a model."""

    messages: tuple[Message, ...]
    """The whole chat as replayed, oldest first."""
    tools: tuple[ToolView, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    """Tools that are not on offer, for a model that can do nothing but run tools and has to say why it does not."""
    provided: tuple[str, ...] = ()
    """Names of tools that the model's provider runs itself, where it has them; nobody else does."""
    now: datetime
    """Aware, in the person's time zone."""
    timezone: str = "UTC"
    """IANA name."""
    language: str = "en"
    """BCP 47 tag of the language that the person is assumed to speak."""
    system: str = ""
    """What the model is told before the chat."""
    chat: str = ""


class Text(msgspec.Struct, frozen=True):
    """The next piece of what the model says."""

    text: str


class CallPart(msgspec.Struct, frozen=True):
    """A fragment of a call; fragments with the same index are one call, and their texts are joined."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""
    """JSON text, or a piece of it."""


class Meta(msgspec.Struct, frozen=True):
    """What is kept with the assistant's message, such as the embedded model's open question."""

    data: dict[str, object]


class End(msgspec.Struct, frozen=True):
    """The model is done."""

    why: str = "stop"
    """`stop`, `calls`, `length` (cut off), `filter` (held back by the provider), or the provider's own word."""
    tokens_in: int = 0
    tokens_out: int = 0


Part = Text | CallPart | Picture | Meta | End
"""What streams back; an image is one that the model made, whole."""


class Model(Protocol):
    """Something that answers; asked once a step of a turn."""

    name: str

    def stream(self, ask: Ask) -> AsyncIterator[Part]:
        """The answer in parts, ending with `End`; raises ModelError with a sentence for the person."""
        ...

    async def close(self) -> None:
        """Let go of connections; it is not asked again."""
        ...
