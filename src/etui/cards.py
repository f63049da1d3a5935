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
ALWAYS_FAMILY = "always_family"
"""Yes from now on to the card's `family`, such as every line of one program."""
DISMISS = "dismiss"
"""Put the card away without having decided anything."""


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a person."""

    id: str
    kind: str
    """`approval`, `question`, or `link`: an address to be opened, with nothing to be answered."""
    question: str
    tool: str = ""
    plugin: str = ""
    arguments: object = None
    """The exact arguments that will run."""
    action: str = ""
    """The exact line that will run, where a tool asks about one."""
    choices: tuple[str, ...] = ()
    """The answers on offer; none means free text."""
    always: tuple[str, ...] = (ALWAYS_CALL, ALWAYS_TOOL)
    """Which yeses that are remembered an approval card offers."""
    family: str = ""
    """What `always_family` would stand for."""
    secret: bool = False
    """The answer is for the tool alone: it is typed unseen, and told to nobody."""
    detail: str = ""
    """More about it, for those who want to know."""
    notice: str = ""
    """A warning that is shown on the card."""
    url: str = ""
    """The address that a link card offers to open."""
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
    """`answered`, `declined`, `dismissed` or `nobody`."""
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

    async def ask(self, card: Card, seconds: float | None = None) -> Answer:
        """Show it and wait for the answer, so many seconds or as long as the settings say; then nobody was there."""
        card, future = self._show(card, waits=True)
        answer = NOBODY
        try:
            async with asyncio.timeout(self._seconds() if seconds is None else seconds):
                answer = await future
        except TimeoutError:
            pass
        finally:
            self._away(card, answer)
        return answer

    def show(self, card: Card, then: Callable[[Answer], None]) -> None:
        """Show it, and let the caller go on; `then` gets the answer, `nobody` when it was open as long as the settings say."""
        card, future = self._show(card, waits=False)
        timer = asyncio.get_running_loop().call_later(self._seconds(), _end, future)

        def done(ended: asyncio.Future[Answer]) -> None:
            timer.cancel()
            self._away(card, ended.result())
            then(ended.result())

        future.add_done_callback(done)

    def answer(self, card_id: str, choice: str) -> bool:
        """Answer a card; False if it is not open (any more) or the choice is none of its choices."""
        found = self._open.get(card_id)
        if found is None:
            return False
        card, future = found
        if future.done() or choice not in _allowed(card, choice):
            return False
        states = {DECLINE: "declined", DISMISS: "dismissed"}
        future.set_result(Answer(states.get(choice, "answered"), choice))
        return True

    def _show(self, card: Card, *, waits: bool) -> tuple[Card, asyncio.Future[Answer]]:
        card = msgspec.structs.replace(card, id=card.id or secrets.token_hex(6), opened=self._clock())
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[card.id] = (card, future)
        self._tell(Kind.CARD_OPENED, card, {"card": msgspec.to_builtins(card), "waits": waits})
        return card, future

    def _away(self, card: Card, answer: Answer) -> None:
        self._open.pop(card.id, None)
        said = answer.state if card.secret else answer.text or answer.state
        self._tell(Kind.CARD_CLOSED, card, {"card": card.id, "answer": said})

    def _tell(self, kind: Kind, card: Card, data: dict[str, object]) -> None:
        self._hub.tell(kind, data, session=card.session, chat=card.chat, turn=card.turn, call=card.call)


def _end(future: asyncio.Future[Answer]) -> None:
    if not future.done():
        future.set_result(NOBODY)


def _allowed(card: Card, choice: str) -> set[str]:
    """What may be said to this card; to one that takes any text, whatever is said."""
    if card.kind == "question":
        return {DECLINE, DISMISS, *card.choices} if card.choices else {choice}
    return {APPROVE, DECLINE, DISMISS, *(card.always if card.kind == "approval" else ())}
