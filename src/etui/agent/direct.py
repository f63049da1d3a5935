"""Models behind pydantic-ai's direct requests: OpenAI Responses, Anthropic and Google.

Above: `models` imports this module only when such a model was chosen, for it takes long. Below: pydantic-ai, `history`,
`schemas`, `trouble`. It refuses to know: agents, tools that run, and pointers to a conversation kept by a provider; the whole
history is sent each time.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack

import httpx2
from pydantic_ai import exceptions
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model as Provider
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.native_tools import AbstractNativeTool, WebSearchTool
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from etui.agent import chunks, trouble, wires
from etui.agent.blocks import as_text
from etui.agent.history import Entry, Picture, Pictures, Reply, Said, clean, no_pictures, replay
from etui.agent.model import Ask, CallPart, End, Part, Text
from etui.agent.schemas import Target, portable
from etui.agent.sight import Sight, about_images
from etui.errors import ModelError

PROVIDED = {"web_search": WebSearchTool}
"""Tools that providers run themselves, by the name that tool files have for them."""
_TARGETS = {"openai-responses": Target.OPENAI, "anthropic": Target.ANTHROPIC, "google": Target.GOOGLE}
_WHO = {"openai-responses": "OpenAI", "anthropic": "Anthropic", "google": "Google"}
_FLAGS = ("anthropic", "google")
"""Providers whose wire has a flag for a result that is an error; elsewhere its text would be wrapped, and stays as it is."""
_MOVED = re.compile(r"\b30[12378]\b")
_UNREAD = "Failed to decode"
"""How a library says that it was sent elsewhere, and that an answer could not be read."""
_WHY = {"tool_call": "calls", "content_filter": "filter"}

_THINKING: Mapping[str, ModelSettings] = {
    "off": ModelSettings(thinking=False),
    "low": ModelSettings(thinking="low"),
    "medium": ModelSettings(thinking="medium"),
    "high": ModelSettings(thinking="high"),
}


class Direct:
    """One model of one provider."""

    def __init__(
        self,
        kind: str,
        model: str,
        *,
        base_url: str = "",
        key: str = "",
        effort: str = "auto",
        pictures: Pictures | None = None,
    ) -> None:
        """`effort` is how long it thinks: low, medium, high, or off; `auto` leaves it to the model."""
        self._thinking = _THINKING.get(effort)
        self.name = f"{kind}:{model}"
        self._kind = kind
        self._model = model
        self._who = trouble.server(base_url) if base_url else _WHO[kind]
        self._local = bool(base_url)
        self._sight = Sight(pictures or no_pictures)
        self._client = wires.client()
        self._provider = _open(kind, model, base_url or None, key, self._client)
        self._stack = AsyncExitStack()
        self._entered = False

    async def stream(self, ask: Ask) -> AsyncIterator[Part]:
        """The answer in parts; raises ModelError."""
        if not self._entered:
            await self._stack.enter_async_context(self._client)
            await self._stack.enter_async_context(self._provider)
            self._entered = True
        entries = replay(ask.messages)
        told = False
        try:
            async for part in self._asked(ask, entries):
                told = True
                yield part
            return
        except exceptions.ModelHTTPError as error:
            # What was told once is not told again.
            shown = self._sight.among(entries) if _about_images(error) and not told else frozenset()
            if not shown:
                raise self._sentence(error) from error
            first = error
        self._sight.refuse(shown)
        try:
            async for part in self._asked(ask, entries):
                yield part
        except exceptions.ModelHTTPError:
            self._sight.forgive(shown)
            raise self._sentence(first) from first

    async def _asked(self, ask: Ask, entries: Sequence[Entry]) -> AsyncIterator[Part]:
        """The answer in parts, to what is shown of the chat; raises ModelError, and ModelHTTPError where the server says no."""
        for again in (True, False):
            begun = False
            try:
                async for part in self._streamed(ask, entries):
                    begun = True
                    yield part
                return
            except exceptions.ModelConnectionError as error:
                # The server may have closed the connection that was kept from the last answer.
                if begun or not again or error.phase != "read":
                    raise self._sentence(error) from error

    async def _streamed(self, ask: Ask, entries: Sequence[Entry]) -> AsyncIterator[Part]:
        parameters = self._parameters(ask)
        try:
            async with model_request_stream(
                self._provider, self._messages(ask, entries), model_settings=self._thinking, model_request_parameters=parameters
            ) as answer:
                async for event in answer:
                    if part := _part(event):
                        yield part
                response = answer.get()
                why = response.finish_reason or "stop"
                usage = response.usage
            yield End(why=_WHY.get(why, why), tokens_in=usage.input_tokens or 0, tokens_out=usage.output_tokens or 0)
        except (exceptions.ModelHTTPError, exceptions.ModelConnectionError):
            raise
        except exceptions.AgentRunError as error:
            raise self._sentence(error) from error
        except exceptions.UserError as error:
            raise ModelError(f"The model {self._model!r} cannot be asked: {error}") from error

    async def close(self) -> None:
        """Close the connections."""
        self._entered = False
        await self._stack.aclose()

    def _parameters(self, ask: Ask) -> ModelRequestParameters:
        """The tools that run here, and those that the provider runs itself, if it has them beside others."""
        own = () if self._local or self._kind == "google" else ask.provided
        native: list[AbstractNativeTool] = [PROVIDED[name]() for name in own if name in PROVIDED]
        return ModelRequestParameters(function_tools=self._tools(ask), native_tools=native, allow_text_output=True)

    def _tools(self, ask: Ask) -> list[ToolDefinition]:
        target = _TARGETS[self._kind]
        return [
            ToolDefinition(
                name=tool.name,
                description=clean(tool.description),
                parameters_json_schema=portable(tool.parameters, target),
                strict=False,
            )
            for tool in ask.tools
        ]

    def _messages(self, ask: Ask, entries: Sequence[Entry]) -> list[ModelMessage]:
        messages: list[ModelMessage] = []
        waiting: list[ModelRequestPart] = [SystemPromptPart(clean(ask.system))] if ask.system else []
        for entry in entries:
            if isinstance(entry, Said):
                waiting.append(UserPromptPart(self._content(entry.text, entry.images)))
                continue
            messages += [ModelRequest(parts=waiting), _response(entry)]
            waiting = [
                ToolReturnPart(
                    tool_name=call.name,
                    content=self._content(call.result or "(empty)", call.images),
                    tool_call_id=call.id,
                    outcome="failed" if not call.ok and self._kind in _FLAGS else "success",
                )
                for call in entry.calls
            ]
        if waiting:
            messages.append(ModelRequest(parts=waiting))
        return messages

    def _content(self, text: str, images: tuple[str, ...]) -> str | list[UserContent]:
        found = self._sight.shown(images)
        text += self._sight.words(images)
        if not found:
            return text
        shown: list[UserContent] = [BinaryContent(picture.data, media_type=picture.media_type) for picture in found]
        return [text, *shown] if text else shown

    def _sentence(self, error: exceptions.AgentRunError) -> ModelError:
        key = " or ".join(trouble.KEYS.get(self._kind, ()))
        if isinstance(error, exceptions.ModelHTTPError):
            return trouble.of_status(
                error.status_code, self._who, self._model, _said(error.body), key=key, wait=error.retry_after
            )
        if isinstance(error, exceptions.ModelTimeoutError):
            return ModelError(f"{self._who} gave no answer in time; try again, or choose a faster model.")
        if isinstance(error, exceptions.ModelConnectionError):
            return trouble.broken_off(self._who) if error.phase == "read" else trouble.unreachable(self._who, self._local)
        if isinstance(error, exceptions.ModelAPIError):
            if moved := _MOVED.search(str(error)):
                return trouble.of_status(int(moved[0]), self._who, self._model, "")
            return trouble.nonsense(self._who) if _UNREAD in str(error) else trouble.failed(self._who, str(error))
        if isinstance(error, exceptions.ContentFilterError):
            return ModelError(f"{self._who} held the answer back by its content filter; say it in another way.")
        return trouble.nonsense(self._who, str(error))


def _open(kind: str, model: str, base_url: str | None, key: str, client: httpx2.AsyncClient) -> Provider:
    """The provider's model. Each branch imports its own library, so that one person's choice does not cost all of them."""
    if kind == "openai-responses":
        from pydantic_ai.models.openai import OpenAIResponsesModel
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIResponsesModel(
            model, provider=OpenAIProvider(base_url=base_url, api_key=key or "none", http_client=client)
        )
    if kind == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(model, provider=AnthropicProvider(base_url=base_url, api_key=key or "none", http_client=client))
    if kind == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        return GoogleModel(model, provider=GoogleProvider(base_url=base_url, api_key=key or "none", http_client=client))
    raise ModelError(f"There is no provider {kind!r}.")


def _response(reply: Reply) -> ModelResponse:
    parts: list[ModelResponsePart] = [TextPart(reply.text)] if reply.text else []
    parts += [ToolCallPart(tool_name=call.name, args=call.arguments, tool_call_id=call.id) for call in reply.calls]
    return ModelResponse(parts=parts)


def _part(event: object) -> Part | None:
    if isinstance(event, PartStartEvent):
        if isinstance(event.part, FilePart):
            return Picture(event.part.content.media_type, event.part.content.data)
        if isinstance(event.part, TextPart) and event.part.content:
            return Text(event.part.content)
        if isinstance(event.part, ToolCallPart):
            arguments = "" if event.part.args is None else as_text(event.part.args)
            return CallPart(index=event.index, id=event.part.tool_call_id, name=event.part.tool_name, arguments=arguments)
    elif isinstance(event, PartDeltaEvent):
        if isinstance(event.delta, TextPartDelta) and event.delta.content_delta:
            return Text(event.delta.content_delta)
        if isinstance(event.delta, ToolCallPartDelta) and event.delta.args_delta:
            return CallPart(index=event.index, arguments=as_text(event.delta.args_delta))
    return None


def _about_images(error: exceptions.ModelHTTPError) -> bool:
    """Whether the server may have refused the images, and not the rest."""
    return error.status_code in (400, 404, 413, 415, 422, 500) and about_images(_said(error.body))


def _said(body: object) -> str:
    body = body[0] if isinstance(body, list) and body else body
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        return chunks.message(str(error.get("message") or error))
    return "" if error is None else chunks.message(str(error))
