"""The person at the keyboard: whether there is one, and their answer to a card.

Above: `chat` and `call`. Below: `reach`, `seen`, `show`. It refuses to know: why a card was opened, and what follows.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import termios
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from etui.cards import ALWAYS_CALL, ALWAYS_TOOL, APPROVE, DECLINE
from etui.errors import EtuiError
from etui.surfaces.cli.reach import Reach
from etui.surfaces.cli.seen import exact, mixed, safe
from etui.surfaces.cli.show import console

YES_NO = {"y": APPROVE, "yes": APPROVE, "n": DECLINE, "no": DECLINE, "c": ALWAYS_CALL, "t": ALWAYS_TOOL}


def attended() -> bool:
    """True if somebody sits here who sees a question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class Asking:
    """Puts cards to the person, one after the other, and lets go of those that were answered elsewhere."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._turn = asyncio.Lock()
        self._open: dict[str, asyncio.Task[None]] = {}

    def opened(self, card: Mapping[str, Any]) -> None:
        """Ask it, without holding anybody up."""
        self._open[card["id"]] = asyncio.create_task(self._ask(card))

    def closed(self, card: str) -> None:
        """It was answered, here or elsewhere, or its time ran out."""
        task = self._open.pop(card, None)
        if task is not None and task.cancel():
            console(error=True).print("This is no longer asked: it was answered elsewhere, or its time ran out.", style="dim")

    async def close(self) -> None:
        """Ask nothing more."""
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, card: Mapping[str, Any]) -> None:
        async with self._turn:
            _show(card)
            choice = await (_approval() if card["kind"] == "approval" else _answer(card["choices"]))
            self._open.pop(card["id"], None)
            try:
                await self._reach.post(f"/api/cards/{card['id']}", {"choice": choice})
            except EtuiError as error:
                console(error=True).print(safe(error), style="dim")


def _show(card: Mapping[str, Any]) -> None:
    out = console(error=True)
    out.print(Text.assemble(("? ", "bold yellow"), (safe(card["question"]), "bold")))
    if card["kind"] != "approval":
        for number, choice in enumerate(card["choices"], 1):
            out.print(f"  {number} {safe(choice)}")
        return
    out.print(exact(card["arguments"]))
    for warning in mixed(card["arguments"]):
        out.print(Text(warning, style="bold red"))
    if card.get("reason"):
        out.print(safe(card["reason"]), style="dim")


async def _approval() -> str:
    while True:
        answer = await line("y = yes, n = no, c = always for this exact call, t = always for this tool here: ")
        if answer is None:
            return DECLINE
        choice = YES_NO.get(answer.strip().lower())
        if choice is not None:
            return choice


async def _answer(choices: list[str]) -> str:
    while True:
        answer = await line("Your answer (Enter alone declines): ")
        said = (answer or "").strip()
        if not said:
            return DECLINE
        if said.isdecimal() and 1 <= int(said) <= len(choices):
            return choices[int(said) - 1]
        same = [choice for choice in choices if choice.lower() == said.lower()]
        if same or not choices:
            return same[0] if same else said


async def line(prompt: str) -> str | None:
    """A line that is typed from now on; None at the end of the input. What was typed before it was asked does not count."""
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
