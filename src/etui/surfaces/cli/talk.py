"""`etui chat`: a conversation in the terminal, one sentence or many.

In a conversation of many the main thread belongs to the person, who may type, edit and press Ctrl-C at any time; the loop runs
on a thread beside it. Above: the command group. Below: `beside`, `keyboard`, `reach`, `show`. It refuses to know: models, gates
and runners.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click
from rich.text import Text

from etui.errors import EtuiError, UsageError
from etui.surfaces.cli.asking import CHANNELS
from etui.surfaces.cli.beside import Beside
from etui.surfaces.cli.following import HERE, Talk, spoken
from etui.surfaces.cli.jobs import Jobs
from etui.surfaces.cli.keyboard import Asking, attended, choice, how, shown
from etui.surfaces.cli.reach import ENDINGS, Reach, Way
from etui.surfaces.cli.seen import safe
from etui.surfaces.cli.show import console, print_json
from etui.surfaces.cli.streams import read_all

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
        beside.tell(person.hear, person.lost)
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
        self._beside.wait(self._beside.start(self._talk.hang_up()))
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

    def lost(self, gone: bool) -> None:
        """The host has ended, or is back."""
        if self._typing:
            ended = "Etui has ended. This conversation goes on as soon as it runs again; Ctrl-D ends it."
            self._asked.clear()
            self._aside(Text(ended if gone else "Etui runs again.", style="dim"))

    def closed(self, card: str) -> None:
        """It was answered, or its time ran out."""
        self._asked = [one for one in self._asked if one["id"] != card]

    def _answers(self, said: str) -> bool:
        """True if the line was the answer to what a job asks."""
        if not self._asked or (chosen := choice(self._asked[0], said)) is None:
            return False
        card = self._asked.pop(0)
        try:
            self._beside.wait(self._beside.start(self._talk.reach.post(f"/api/cards/{card['id']}", {"choice": chosen})))
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
            answer = self._beside.wait(answering)
        except KeyboardInterrupt:
            if not self._typing:
                raise
            self._beside.start(self._talk.stop())
            answer = self._beside.wait(answering)
        except EtuiError as error:
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
