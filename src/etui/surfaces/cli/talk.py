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
from etui.surfaces.cli.keyboard import Asking, attended
from etui.surfaces.cli.reach import ENDINGS, Reach, Way
from etui.surfaces.cli.seen import one_line, safe
from etui.surfaces.cli.show import Flow, console, cut, print_json, sign, step, told
from etui.surfaces.cli.streams import read_all

T = TypeVar("T")
PROMPT = "> "


@click.command()
@click.argument("text", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document: the answer and the steps.")
@click.pass_obj
def chat(way: Way, text: str | None, as_json: bool) -> int:
    """Say something; without TEXT, talk until Ctrl-D."""
    if text is None and not as_json:
        return _converse(way)
    said = read_all().strip() if text is None else text
    if not said.strip():
        raise UsageError("There is nothing to say: the text is empty.")

    async def once(reach: Reach) -> dict[str, Any]:
        talk = Talk(reach, quiet=as_json)
        answer = await talk.say(said)
        return {"answer": answer["text"], "why": answer["why"], "chat": talk.chat, "steps": talk.steps}

    answer = way.go(once)
    if as_json:
        print_json(answer)
    return 0 if answer["why"] == "done" else 1


class Talk:
    """One conversation: says things, shows what happens, asks what is to be asked."""

    def __init__(self, reach: Reach, *, quiet: bool = False) -> None:
        self.reach = reach
        self.chat = ""
        self.steps: list[dict[str, Any]] = []
        self._quiet = quiet
        self._out = console()
        self._lively = self._out.is_terminal and not self._out.is_dumb_terminal
        self._asking = Asking(reach)
        self._arguments: dict[str, object] = {}
        self._flow = Flow(self._out)
        self._passing = False

    async def say(self, text: str) -> dict[str, Any]:
        """Say one thing and follow the turn to its end; gives the answer."""
        answer: dict[str, Any] = {"text": "", "why": "failed"}
        body = {"text": text, "chat": self.chat, "channel": "terminal", "attended": attended()}
        said = False
        try:
            async for event in self.reach.lines("/api/chat", body):
                self.chat = event.get("chat") or self.chat
                if event["kind"] == "answer":
                    answer = event
                said = said or event["kind"] == "text"
                self._take(event)
        finally:
            await self._asking.close()
            self._clear()
        if not said and not self._quiet:
            self._flow.write(safe(answer["text"]))
            self._flow.end()
        if answer["why"] == "stopped":
            self.line(Text("Stopped.", style="dim"))
        return answer

    def line(self, text: Text | str) -> None:
        """A line of its own."""
        if not self._quiet:
            self._clear()
            self._out.print(text)

    def _take(self, event: Mapping[str, Any]) -> None:
        data = event.get("data", {})
        match event["kind"]:
            case "call_started":
                self._arguments[event["call"]] = data.get("arguments")
                self._pass(f"{sign('…')} {one_line(str(data.get('tool', '')))} {told(data.get('arguments'))}")
            case "call_progress":
                done = data.get("fraction")
                percent = f"{done:.0%} " if isinstance(done, int | float) else ""
                self._pass(f"{sign('…')} {percent}{one_line(str(data.get('text') or ''))}")
            case "call_ended":
                arguments = self._arguments.get(event["call"])
                self.steps.append({**data, "arguments": arguments})
                self.line(step(data, arguments, self._out.room))
            case "card_opened" if attended():
                self._clear()
                self._asking.opened(data["card"])
            case "card_closed":
                self._asking.closed(data["card"])
            case "text" if not self._quiet and data["text"]:
                self._take_back()
                self._flow.write(safe(data["text"]))
            case "said" if event.get("turn"):
                self.line(spoken(data["text"]))

    def _pass(self, text: str) -> None:
        """A line that stands until the next one comes; only where lines can be taken back."""
        if self._lively and not self._quiet:
            self._clear()
            self._out.print(Text(cut(f"  {text}", self._out.width - 1), style="dim"), end="")
            self._passing = True

    def _clear(self) -> None:
        """Let the next line begin at its left end."""
        self._take_back()
        self._flow.end()

    def _take_back(self) -> None:
        if self._passing:
            self._out.file.write("\r\x1b[K")
            self._passing = False


def spoken(text: str) -> Text:
    """A line that Etui says by itself."""
    return Text.assemble((f"{sign('●')} ", "yellow"), safe(text))


def _converse(way: Way) -> int:
    """Read lines and answer each, until the input ends; what comes due meanwhile is said too."""
    typing = attended() and sys.stdout.isatty()
    for one in ENDINGS:
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, lambda number, _: sys.exit(128 + number))
    with Beside(way) as beside:
        person = Person(beside, typing)
        if typing:
            console().print("Say what you want; Ctrl-D ends.", style="dim")
        beside.tell(person.hear)
        return person.talk()


class Person:
    """Whoever types at the prompt, or the lines of a pipe."""

    def __init__(self, beside: Beside, typing: bool) -> None:
        self._beside = beside
        self._typing = typing
        self._talk = Talk(beside.reach)
        self._waiting = False
        self._lines = _line_editor() if typing else None

    def talk(self) -> int:
        """Until the input ends; 1 if something from a pipe was not answered."""
        code = 0
        while (said := self._read()) is not None:
            if said.strip() and not self._say(said) and not self._typing:
                code = 1
        return code

    async def hear(self, event: dict[str, Any]) -> None:
        """Lines that belong to no turn: a timer that ends, a reminder that comes due."""
        if event.get("kind") != "said" or event.get("turn"):
            return
        out = console()
        if self._waiting and not out.is_dumb_terminal:
            out.file.write("\r\x1b[K")
        elif self._waiting:
            out.print()
        self._talk.line(spoken(event["data"]["text"]))
        if self._waiting:
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
            self._beside.start(self._talk.reach.post(f"/api/chats/{self._talk.chat}/stop", {}))
            answer = answering.result()
        except UsageError as error:
            if not self._typing:
                raise
            self._talk.line(Text(safe(error), style="red"))
            return False
        return bool(answer["why"] == "done")


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
