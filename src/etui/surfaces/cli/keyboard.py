"""The person at the keyboard: whether there is one, and their answer to a card.

Above: `chat` and `call`. Below: `reach`, `seen`, `show`. It refuses to know: why a card was opened, and what follows.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import termios
from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from etui.cards import ALWAYS_CALL, ALWAYS_FAMILY, ALWAYS_TOOL, APPROVE, DECLINE
from etui.errors import EtuiError
from etui.surfaces.cli.reach import Reach
from etui.surfaces.cli.seen import exact, mixed, one_line, safe, whole
from etui.surfaces.cli.show import console

YES_NO = {"y": APPROVE, "yes": APPROVE, "n": DECLINE, "no": DECLINE}
ALWAYS = {
    ALWAYS_CALL: ("c", "always for this exact call"),
    ALWAYS_FAMILY: ("f", "always for {family}"),
    ALWAYS_TOOL: ("t", "always for this tool here"),
}
"""The key of each answer that is remembered, and its words."""


def attended() -> bool:
    """True if somebody sits here who sees a question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class Asking:
    """Puts cards to the person, one after the other, and lets go of those that were answered elsewhere."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._turn = asyncio.Lock()
        self._open: dict[str, asyncio.Task[None]] = {}
        self._secret: set[str] = set()

    def opened(self, card: Mapping[str, Any]) -> None:
        """Ask it, without holding anybody up; of a link there is nothing to ask."""
        if card["kind"] == "link":
            _print(card)
            return
        if card.get("secret"):
            self._secret.add(card["id"])
        self._open[card["id"]] = asyncio.create_task(self._ask(card))

    def closed(self, card: str) -> None:
        """It was answered, here or elsewhere, or its time ran out."""
        task = self._open.pop(card, None)
        if task is not None and task.cancel():
            console(error=True).print("This is no longer asked: it was answered elsewhere, or its time ran out.", style="dim")

    def drop(self) -> None:
        """Ask none of it any more: the person has stopped what asks."""
        for task in self._open.values():
            task.cancel()
        self._open.clear()

    async def outlive(self) -> None:
        """The turn is over, and no call waits for the answers any more: what is typed unseen is asked for all the same.

        Anything else that is typed can just as well be said.
        """
        for card, task in list(self._open.items()):
            if card in self._secret:
                await asyncio.gather(task, return_exceptions=True)

    async def close(self) -> None:
        """Ask nothing more."""
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, card: Mapping[str, Any]) -> None:
        async with self._turn:
            _print(card)
            prompt = f"{how(card)}: "
            chosen = None
            while chosen is None:
                said = await line(prompt, seen=not card.get("secret"))
                chosen = DECLINE if said is None else choice(card, said)
            self._open.pop(card["id"], None)
            try:
                await self._reach.post(f"/api/cards/{card['id']}", {"choice": chosen})
            except EtuiError as error:
                console(error=True).print(safe(error), style="dim")


def shown(card: Mapping[str, Any]) -> list[Text]:
    """A card as lines: what is asked, with exactly what is decided on."""
    lines = [Text.assemble(("? ", "bold yellow"), (safe(card["question"]), "bold"))]
    if card.get("notice"):
        lines.append(Text(safe(card["notice"]), style="bold yellow"))
    lines += [Text(f"  {number} {safe(one)}") for number, one in enumerate(card["choices"], 1)]
    if decided := card.get("action") or card.get("url") or (card["arguments"] if card["kind"] == "approval" else None):
        lines.append(Text(whole(decided) if isinstance(decided, str) and "\n" in decided else exact(decided)))
        lines += [Text(warning, style="bold red") for warning in mixed(decided)]
    return lines + [Text(safe(more), style="dim") for more in (card.get("detail"), card.get("reason")) if more]


def _print(card: Mapping[str, Any]) -> None:
    out = console(error=True)
    for one in shown(card):
        out.print(one)


def how(card: Mapping[str, Any]) -> str:
    """How a card is answered from the keyboard."""
    if card["kind"] != "approval":
        return "Your answer (Enter alone declines)"
    family = one_line(card.get("family") or "")
    more = "".join(f", {ALWAYS[one][0]} = {ALWAYS[one][1].format(family=family)}" for one in ALWAYS if one in card["always"])
    return f"y = yes, n = no{more}"


def choice(card: Mapping[str, Any], said: str) -> str | None:
    """What a line that was typed says to a card; None where it says nothing to it."""
    answer = said.strip()
    if card["kind"] == "approval":
        always = {key: one for one, (key, _) in ALWAYS.items() if one in card["always"]}
        return {**YES_NO, **always}.get(answer.lower())
    choices: list[str] = list(card["choices"])
    if not answer:
        return DECLINE
    if not choices:
        return said if card.get("secret") else answer
    if answer.isdecimal() and 1 <= int(answer) <= len(choices):
        return choices[int(answer) - 1]
    return next((one for one in choices if one.lower() == answer.lower()), None)


async def line(prompt: str, *, seen: bool = True) -> str | None:
    """A line that is typed from now on; None at the end of the input. What was typed before it was asked does not count."""
    if not seen:
        with _unseen(sys.stdin.fileno()):
            return await line(prompt)
    loop = asyncio.get_running_loop()
    number = sys.stdin.fileno()
    with contextlib.suppress(termios.error):
        termios.tcflush(number, termios.TCIFLUSH)
    console(error=True).print(prompt, end="")
    typed: asyncio.Future[bytes] = loop.create_future()
    got = bytearray()

    def read() -> None:
        try:
            piece = os.read(number, 4096)
        except OSError:
            piece = b""
        got.extend(piece)
        if not typed.done() and (not piece or piece.endswith(b"\n")):
            typed.set_result(bytes(got))

    loop.add_reader(number, read)
    try:
        whole = await typed
    finally:
        loop.remove_reader(number)
    return whole.decode(sys.stdin.encoding or "utf-8", "replace").rstrip("\n") if whole else None


@contextlib.contextmanager
def _unseen(number: int) -> Iterator[None]:
    """The terminal does not show what is typed; only the end of the line."""
    try:
        before = termios.tcgetattr(number)
    except termios.error:
        yield
        return
    hidden = list(before)
    hidden[3] = (hidden[3] & ~termios.ECHO) | termios.ECHONL
    termios.tcsetattr(number, termios.TCSAFLUSH, hidden)
    try:
        yield
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
