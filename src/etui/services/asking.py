"""Asking the person: a question, a yes to an action, something to type in, a link to open.

Above: the table of services. Below: `cards`, and `owner.confirming`, which judges an action. It refuses to know: how a card is
shown, and what becomes of the answer in the tool.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from etui.budgets import window
from etui.cards import Answer, Card, Cards
from etui.errors import ServiceError
from etui.events import LINE
from etui.owner.confirming import APPROVED, DECLINED, DISMISSED, UNANSWERED, UNREACHABLE, Confirming
from etui.services.desk import Desk, Family
from etui.services.texts import DETAIL, LABEL, text_of
from etui.session import Session
from etui.store.state import State
from etui.tool import Call, Tool

LONGEST_INPUT = 600.0
"""Seconds that a tool may let a person type."""
OPEN, CARDS = 8, 50
"""Questions of a plugin that may be open at once, and that one call may ask."""
CHOICES = 50
ACTION = 100_000
"""Characters of an action that a person may be asked about."""
_TYPED = {"answered": APPROVED, "declined": DECLINED, "dismissed": DISMISSED, "nobody": UNANSWERED}


class Asking:
    """What one call asks the person."""

    def __init__(
        self,
        tool: Tool,
        call: Call,
        session: Session,
        *,
        cards: Cards,
        confirming: Confirming,
        state: State,
        spoken: Callable[[Session, str], None],
        hide: Callable[[str, str], str],
    ) -> None:
        """`state` keeps what is typed for the plugin alone; `spoken` takes what is typed as the person's next sentence.

        `hide` takes a plugin's secrets out of a text.
        """
        self._tool = tool
        self._call = call
        self._session = session
        self._cards = cards
        self._confirming = confirming
        self._state = state
        self._spoken = spoken
        self._hide = hide
        self._asked = 0

    async def ask(self, question: str, choices: list[str] | None = None, default: str = "") -> object:
        """Ask the person; `nobody` at once where nobody is there."""
        if not self._session.attended:
            return {"state": "nobody", "answer": default}
        if choices and (len(choices) > CHOICES or any(len(text_of(one)) > LABEL for one in choices)):
            raise ServiceError(f"A question has at most {CHOICES} choices of {LABEL} characters.")
        self._may_ask()
        answer = await self._cards.ask(self._card(question, choices=tuple(choices or ())))
        state = "declined" if answer.state == "dismissed" else answer.state
        return {"state": state, "answer": answer.text if answer.state == "answered" else default}

    async def confirm(self, action: str, risk: str = "exec", family: str | None = None, force: bool = False) -> object:
        """Whether a command may run, and who decided."""
        _short_enough(action, family)
        decision = await self._confirming.confirm(
            self._tool, self._call, self._session, action, text_of(risk, LABEL), family, force, self._may_ask
        )
        return {"verdict": decision.verdict, "by": decision.by}

    async def approve(self, action: str, family: str | None = None, notice: str = "") -> object:
        """Ask the person about something that is no command."""
        _short_enough(action, family)
        notice = text_of(notice, LABEL)
        decision = await self._confirming.approve(self._tool, self._call, self._session, action, family, notice, self._may_ask)
        return {"verdict": decision.verdict, "by": decision.by}

    async def input(self, label: str, detail: str = "", secret: bool = False, seconds: float | None = None) -> object:
        """Wait for something that the person types, at most so many seconds; how it ended, and the value or None."""
        if not self._session.attended:
            return {"verdict": UNREACHABLE, "value": None}
        seconds = window(self._session.channel) if seconds is None else min(max(seconds, 1.0), LONGEST_INPUT)
        self._may_ask()
        answer = await self._cards.ask(self._card(label, detail=detail, secret=secret), seconds)
        typed = answer.text if answer.state == "answered" else None
        return {"verdict": _TYPED[answer.state], "value": typed}

    async def open(self, label: str = "", detail: str = "", url: str = "", secret: bool = False, keep: str = "") -> object:
        """Show a link to open, or a box to type into, and go on; False where nobody sees it, or it is no address of the web.

        What is typed is the person's next sentence; with `keep` it goes into the plugin's state under that key instead.
        """
        if not self._session.attended or (url and not _of_the_web(url)):
            return False
        self._may_ask()
        card = self._card(label, detail=detail, url=url, secret=secret or bool(keep))
        self._cards.show(card, lambda answer: self._typed(answer, label, keep) if not url else None)
        return True

    def _typed(self, answer: Answer, label: str, keep: str) -> None:
        if answer.state != "answered":
            return
        if keep:
            self._state.put(self._tool.plugin, keep, answer.text)
        told = " ".join(text_of(label).split())[: LABEL // 5]  # the tool's words, said as the person's: few, and on one line
        self._spoken(self._session, f"I typed it in: {told}" if keep else answer.text)

    def _card(
        self, question: str, *, choices: tuple[str, ...] = (), detail: str = "", url: str = "", secret: bool = False
    ) -> Card:
        return Card(
            id="",
            kind="link" if url else "question",
            question=text_of(self._hide(self._tool.plugin, text_of(question)), LABEL),
            choices=choices,
            detail=text_of(self._hide(self._tool.plugin, text_of(detail)), DETAIL),
            url=url,
            secret=secret,
            tool=self._tool.name,
            plugin=self._tool.plugin,
            session=self._session.id,
            chat=self._session.chat,
            turn=self._call.turn,
            call=self._call.id,
        )

    def _may_ask(self) -> None:
        """One more question. Raises ServiceError where a person would be asked too much."""
        self._asked += 1
        mine = sum(card.plugin == self._tool.plugin for card in self._cards.open())
        if mine >= OPEN or self._asked > CARDS:
            raise ServiceError(f"{self._tool.name!r} asks too much: {OPEN} questions may be open at once, {CARDS} in one call.")


def _short_enough(action: object, family: object) -> None:
    """Raises ServiceError for what a person could not read through, TypeError for what is no text."""
    if len(text_of(action)) > ACTION or (family is not None and len(text_of(family)) > LABEL):
        raise ServiceError(f"An action has at most {ACTION:,} characters, and its family {LABEL}.")


def _of_the_web(url: str) -> bool:
    try:
        parts = urlsplit(text_of(url))
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and len(url) <= LINE


def _made(desk: Desk) -> Asking:
    return Asking(
        desk.tool,
        desk.call,
        desk.session,
        cards=desk.needs.cards,
        confirming=desk.needs.confirming,
        state=desk.needs.store.state,
        spoken=desk.needs.spoken,
        hide=desk.needs.hide,
    )


FAMILY = Family(
    _made,
    {
        "ask": Asking.ask,
        "confirm": Asking.confirm,
        "approve": Asking.approve,
        "input": Asking.input,
        "card.open": Asking.open,
    },
)
