"""Cards: a question to a person that a call waits for, and the one place where it is answered.

An approval card shows the exact arguments that will run. Nobody there means an end, never a wait for nothing.
Above: `session` opens approval cards, `services` opens a tool's own questions, surfaces show and answer them.
Below: the nouns. It refuses to know: how a card is drawn, and what is done with the answer.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

import msgspec

from etui.events import Hub, Kind

APPROVE, DECLINE, ALWAYS_CALL, ALWAYS_TOOL = "approve", "decline", "always_call", "always_tool"


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a person."""

    id: str
    kind: str
    """`approval` or `question`."""
    question: str
    tool: str = ""
    plugin: str = ""
    arguments: object = None
    """The exact arguments that will run."""
    choices: tuple[str, ...] = ()
    """The answers on offer; none means free text."""
    reason: str = ""
    """Why it is asked: the rule's sentence."""
    risk: str = ""
    session: str = ""
    chat: str = ""
    turn: str = ""
    call: str = ""
    opened: float = 0.0


class Answer(msgspec.Struct, frozen=True):
    """How a card ended."""

    state: str
    """`answered`, `declined` or `nobody`."""
    text: str = ""


NOBODY = Answer("nobody")


class Cards:
    """The open cards of one host."""

    def __init__(self, hub: Hub, *, clock: Callable[[], float], seconds: Callable[[], float]) -> None:
        self._hub = hub
        self._clock = clock
        self._seconds = seconds
        self._open: dict[str, tuple[Card, asyncio.Future[Answer]]] = {}

    def open(self) -> list[Card]:
        """The cards that wait for an answer, oldest first."""
        return [card for card, _ in self._open.values()]

    async def ask(self, card: Card) -> Answer:
        """Show it and wait for the answer, as long as the settings say; then nobody was there."""
        card = msgspec.structs.replace(card, id=card.id or secrets.token_hex(6), opened=self._clock())
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[card.id] = (card, future)
        self._tell(Kind.CARD_OPENED, card, {"card": msgspec.to_builtins(card)})
        answer = NOBODY
        try:
            async with asyncio.timeout(self._seconds()):
                answer = await future
        except TimeoutError:
            pass
        finally:
            self._open.pop(card.id, None)
            self._tell(Kind.CARD_CLOSED, card, {"card": card.id, "answer": answer.text or answer.state})
        return answer

    def answer(self, card_id: str, choice: str) -> bool:
        """Answer a card; False if it is not open (any more) or the choice is none of its choices."""
        found = self._open.get(card_id)
        if found is None:
            return False
        card, future = found
        allowed = {APPROVE, DECLINE, ALWAYS_CALL, ALWAYS_TOOL} if card.kind == "approval" else {DECLINE, *card.choices}
        if future.done() or (choice not in allowed and (card.kind == "approval" or card.choices)):
            return False
        future.set_result(Answer("declined", choice) if choice == DECLINE else Answer("answered", choice))
        return True

    def _tell(self, kind: Kind, card: Card, data: dict[str, object]) -> None:
        self._hub.tell(kind, data, session=card.session, chat=card.chat, turn=card.turn, call=card.call)
