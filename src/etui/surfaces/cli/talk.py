"""`etui chat`: a conversation in the terminal, one sentence or many.

In a conversation of many the main thread belongs to the person, who may type, edit and press Ctrl-C at any time; the loop runs
on a thread beside it. Above: the command group. Below: `keyboard`, `reach`, `show`. It refuses to know: models, gates, runners.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

import click
from rich.text import Text

from etui.errors import EtuiError, UsageError
from etui.surfaces.cli.asking import CHANNELS
from etui.surfaces.cli.following import HERE, Talk, spoken
from etui.surfaces.cli.jobs import Jobs
from etui.surfaces.cli.keyboard import Asking, attended, choice, how, shown
from etui.surfaces.cli.reach import ENDINGS, Reach, Way
from etui.surfaces.cli.seen import safe
from etui.surfaces.cli.show import console, print_json
from etui.surfaces.cli.streams import read_all

T = TypeVar("T")
PROMPT = "> "


@click.command()
@click.argument("text", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document: the answer and the steps.")
@click.option("--channel", default=HERE, type=click.Choice(CHANNELS), metavar="NAME", help="As if you came in there.")
@click.pass_obj
def chat(way: Way, text: str | None, as_json: bool, channel: str) -> int:
    """Say something; without TEXT, talk until Ctrl-D.

    With --channel phone nobody knows you, until you have given the PIN.
    """
    if text is None and not as_json:
        return _converse(way, channel)
    said = read_all().strip() if text is None else text
    if not said.strip():
        raise UsageError("There is nothing to say: the text is empty.")

    async def once(reach: Reach) -> dict[str, Any]:
        talk = Talk(reach, quiet=as_json, channel=channel)
        asking = Asking(reach)
        jobs = Jobs(talk, asking)
        async with reach.hearing(jobs.hear):
            answer = await talk.say(said)
            if reach.own:
                await jobs.over()  # This host ends with this command, and would take the job along.
            await asking.close()
            await talk.hang_up()
        heard = {"said": talk.said, "face": talk.face, "jobs": jobs.told}
        return {"answer": answer["text"], "why": answer["why"], "chat": talk.chat, "steps": talk.steps, **heard}

    answer = way.go(once)
    if as_json:
        print_json(answer)
    return 0 if answer["why"] == "done" else 1


def _converse(way: Way, channel: str) -> int:
    """Read lines and answer each, until the input ends; what comes due meanwhile is said too."""
    typing = attended() and sys.stdout.isatty()
    for one in ENDINGS:
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, lambda number, _: sys.exit(128 + number))
    with Beside(way) as beside:
        person = Person(beside, typing, channel)
        if typing:
            console().print("Say what you want; Ctrl-D ends.", style="dim")
        beside.tell(person.hear)
        return person.talk()


class Person:
    """Whoever types at the prompt, or the lines of a pipe."""

    def __init__(self, beside: Beside, typing: bool, channel: str = HERE) -> None:
        self._beside = beside
        self._typing = typing
        self._talk = Talk(beside.reach, channel=channel)
        self._jobs = Jobs(self._talk, self, self._aside)
        self._asked: list[Mapping[str, Any]] = []
        """What a job asks; the next line that answers it is no sentence of the conversation."""
        self._followed = ""
        """A turn of this conversation that began elsewhere, such as with what was typed into a card."""
        self._waiting = False
        self._lines = _line_editor() if typing else None

    def talk(self) -> int:
        """Until the input ends; 1 if something from a pipe was not answered."""
        code = 0
        while (said := self._read()) is not None:
            if said.strip() and not self._answers(said) and not self._say(said) and not self._typing:
                code = 1
        if self._beside.reach.own:
            for goal in self._jobs.open:
                self._talk.line(Text(f"This ends the job in the background too: {goal}. `etui serve` keeps it.", style="dim"))
        self._beside.start(self._talk.hang_up()).result()
        return code

    def opened(self, card: Mapping[str, Any]) -> None:
        """A job asks something while the person may be typing."""
        if not self._typing:
            return
        for one in shown(card):
            self._aside(one)
        if card.get("secret"):
            self._aside(Text("Answer it in the console, where it is typed unseen.", style="dim"))
        elif card["kind"] != "link":
            self._asked.append(card)
            self._aside(Text(f"A background job asks this. {how(card)}", style="dim"))

    def closed(self, card: str) -> None:
        """It was answered, or its time ran out."""
        self._asked = [one for one in self._asked if one["id"] != card]

    def _answers(self, said: str) -> bool:
        """True if the line was the answer to what a job asks."""
        if not self._asked or (chosen := choice(self._asked[0], said)) is None:
            return False
        card = self._asked.pop(0)
        try:
            self._beside.start(self._talk.reach.post(f"/api/cards/{card['id']}", {"choice": chosen})).result()
        except EtuiError as error:
            self._talk.line(Text(safe(error), style="dim"))
        return True

    async def hear(self, event: dict[str, Any]) -> None:
        """What belongs to no turn here: a timer that ends, a reminder that comes due, a job in the background."""
        if event.get("kind") == "said" and not event.get("turn"):
            self._aside(spoken(event["data"]["text"]))
        elif self._begins_elsewhere(event) or (event.get("turn") and event["turn"] == self._followed):
            self._follow(event)
        else:
            await self._jobs.hear(event)

    def _begins_elsewhere(self, event: Mapping[str, Any]) -> bool:
        here = event.get("kind") == "turn_started" and event.get("chat") == self._talk.chat
        return here and not self._talk.beginning and event["turn"] not in self._talk.turns

    def _follow(self, event: Mapping[str, Any]) -> None:
        """Show a turn that began elsewhere; what it asks is answered at the prompt, where the person is."""
        match event["kind"]:
            case "turn_started":
                self._erase()
                self._followed = event["turn"]
                self._talk.line(Text(f"{PROMPT}{safe(event['data'].get('text', ''))}", style="dim"))
            case "turn_ended":
                self._talk.rest()
                self._followed = ""
                self._prompt()
            case "card_opened":
                self.opened(event["data"]["card"])
            case "card_closed":
                self.closed(event["data"]["card"])
            case _:
                self._talk.take(event)

    def _aside(self, text: Text) -> None:
        """A line above the prompt."""
        self._erase()
        self._talk.line(text)
        self._prompt()

    def _erase(self) -> None:
        """Take the prompt away, where it stands."""
        out = console()
        if not self._waiting or self._followed:
            return
        if out.is_dumb_terminal:
            out.print()
        else:
            out.file.write("\r\x1b[K")

    def _prompt(self) -> None:
        """Show the prompt again, with what was typed so far."""
        if self._waiting and not self._followed:
            out = console()
            out.file.write(PROMPT + (self._lines() if self._lines else ""))
            out.file.flush()

    def _read(self) -> str | None:
        if not self._typing:
            try:
                return sys.stdin.readline() or None
            except UnicodeDecodeError as error:
                raise EtuiError(f"Standard input is no {error.encoding.upper()} text.") from None
        self._waiting = True
        try:
            return input(PROMPT)
        except EOFError:
            console().print()
            return None
        except KeyboardInterrupt:
            console().print()
            raise
        except UnicodeDecodeError:
            return ""
        finally:
            self._waiting = False

    def _say(self, said: str) -> bool:
        """True if it was answered. The first Ctrl-C stops the turn, the second one ends the conversation."""
        answering = self._beside.start(self._talk.say(said))
        try:
            answer = answering.result()
        except KeyboardInterrupt:
            if not self._typing or not self._talk.chat:
                raise
            self._beside.start(self._stop())
            answer = answering.result()
        except UsageError as error:
            if not self._typing:
                raise
            self._talk.line(Text(safe(error), style="red"))
            return False
        return bool(answer["why"] == "done")

    async def _stop(self) -> None:
        """Stop the turn, or say that it goes on."""
        try:
            await self._talk.reach.post(f"/api/chats/{self._talk.chat}/stop", {})
        except EtuiError as error:
            self._talk.line(Text(f"It could not be stopped: {safe(error)}", style="red"))


def _line_editor() -> Callable[[], str] | None:
    """Arrows and history at the prompt, where Python has them; gives what is typed so far."""
    try:
        import readline  # Here, because it takes hold of the terminal.
    except ImportError:
        return None
    return readline.get_line_buffer


class Beside:
    """A host at hand on a loop of its own, on a thread beside the person's."""

    reach: Reach

    def __init__(self, way: Way) -> None:
        self._way = way
        self._over = threading.Event()
        self._told: Callable[[dict[str, Any]], Awaitable[None]] | None = None
        self._early: deque[dict[str, Any]] = deque(maxlen=100)
        """Events that came before anybody was told of them."""
        self._ready: Future[Reach] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._work, name="etui-chat")

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start something there."""
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def tell(self, told: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        """Tell of every event from the first one on, on the loop there."""

        async def begin() -> None:
            while self._early:
                await told(self._early.popleft())
            self._told = told

        self.start(begin())

    def __enter__(self) -> Beside:
        self._thread.start()
        try:
            self.reach = self._ready.result()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _work(self) -> None:
        try:
            asyncio.run(self._hold())
        except BaseException as error:  # It belongs to whoever waits on the other thread.
            if not self._ready.done():
                self._ready.set_exception(error)

    async def _hold(self) -> None:
        self._ending = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        if self._over.is_set():
            return
        async with self._way.reach() as reach, reach.hearing(self._hear):
            self._ready.set_result(reach)
            await self._ending.wait()

    async def _hear(self, event: dict[str, Any]) -> None:
        if self._told is not None:
            await self._told(event)
        else:
            self._early.append(event)

    def _end(self) -> None:
        self._over.set()
        if self._loop is not None and not self._loop.is_closed():
            # The loop may close by itself in this very moment.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()
