"""What the terminal prints: plain, fitted to its width, and the same words as the console.

Above: the commands. Below: `seen` and `rich`. It refuses to know: where anything comes from.
"""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from etui.surfaces.cli.seen import one_line, safe

MARKS = {
    "ok": ("✓", "green"),
    "refused": ("✗", "yellow"),
    "needs_approval": ("?", "yellow"),
    "failed": ("✗", "red"),
    "timed_out": ("⏱", "red"),
    "cancelled": ("■", "yellow"),
    "crashed": ("✗", "red"),
    "unknown": ("?", "red"),
}
COLOURS = {"green": "green", "grey": "bright_black", "red": "red"}
"""The host's marks of a row, as colours of the terminal."""
IDLE = ("refused", "needs_approval", "running")
"""Ends, and what is none, that took no time worth telling."""
PLAIN = {"✓": "+", "✗": "x", "⏱": "x", "■": "-", "→": ">", "●": "*", "○": "o", "…": "..."}
"""What stands for a sign where the terminal has none."""
UNBOUND = 1_000_000
"""The width of what is no terminal: nothing is cut there."""


class Out(Console):
    """A console that leaves a closed pipe to whoever called."""

    def on_broken_pipe(self) -> None:
        """Raises BrokenPipeError on."""
        raise

    @property
    def room(self) -> int:
        """Cells that a line may take; whoever reads a pipe gets lines whole."""
        return self.width if self.is_terminal or "COLUMNS" in os.environ else UNBOUND


def console(*, error: bool = False) -> Out:
    """A console on standard output, or on standard error."""
    return Out(stderr=error, highlight=False, soft_wrap=True, emoji=False, markup=False)


def sign(mark: str) -> str:
    """The sign, or a plain one where the terminal's encoding has it not."""
    try:
        mark.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return PLAIN.get(mark, "-")
    return mark


def cut(text: str, room: int) -> str:
    """One line of safe text in at most so many cells; where something is left out, it ends in an ellipsis."""
    if cell_len(text) <= room:
        return text
    end = sign("…")
    return set_cell_size(text, max(0, room - len(end))).rstrip() + end


def beside(name: str, text: str, out: Out, indent: int, name_room: int) -> str:
    """A name and what is said of it, which goes on below itself where the line ends."""
    room = max(20, out.room - indent - name_room - 2)
    lines = textwrap.wrap(safe(text), room) or [""]
    start = f"{' ' * indent}{set_cell_size(name, max(name_room, cell_len(name)))}  "
    return "\n".join([start + lines[0], *(" " * (indent + name_room + 2) + line for line in lines[1:])])


def block(out: Out, rows: Iterable[Sequence[str]], indent: int = 2) -> None:
    """Names and what is said of each, in two columns."""
    rows = list(rows)
    widest = max((cell_len(row[0]) for row in rows), default=0)
    for name, text in rows:
        out.print(Text(beside(safe(name), text, out, indent, min(widest, out.room // 2)).rstrip()))


class Flow:
    """Text that comes in pieces, as a terminal reads well: broken between words where its lines end."""

    def __init__(self, out: Out) -> None:
        self._out = out
        self._room = out.width if out.is_terminal else UNBOUND
        self._word = ""
        self._at = 0
        self.open = False
        """True while a line is begun and not ended."""

    def write(self, piece: str) -> None:
        """The next piece of safe text."""
        for part in re.split(r"(\s)", piece):
            if part and part.isspace():
                self._put()
                self._space(part)
            else:
                self._word += part
        if self._room == UNBOUND:
            self._put()

    def end(self) -> None:
        """Nothing more comes: end the line that is begun."""
        self._put()
        if self.open:
            self._space("\n")

    def _put(self) -> None:
        if not self._word:
            return
        wide = cell_len(self._word)
        if self._at and self._at + wide > self._room:
            self._space("\n")
        self._out.print(Text(self._word), end="")
        self._at += wide
        self._word, self.open = "", True

    def _space(self, space: str) -> None:
        if space == "\n" or self._at + 1 >= self._room:
            self._out.print()
            self._at, self.open = 0, False
        else:
            self._out.print(Text(space), end="")
            self._at, self.open = self._at + 1, True


RULERS = {"declined": "you"}
"""Who refuses, where the name of the rule does not say it."""


def step(data: Mapping[str, Any], arguments: object, room: int = UNBOUND, *, answer: str = "") -> Text:
    """One call as a line: mark, tool, arguments, what it may do if it acts, time, and why if it did not go well.

    Where the `answer` that stands below says why, the line does not.
    """
    status = str(data.get("status", ""))
    mark, colour = MARKS.get(status, ("●", "white"))
    colour = COLOURS.get(str(data.get("mark", "")), colour)
    name = one_line(str(data.get("tool", "")))
    risk = f" [{data['risk']}]" if data.get("risk", "read") not in ("", "read") else ""
    time = "" if status in IDLE else f" {took(float(data.get('seconds') or 0))}"
    end = ""
    if status != "ok":
        rule = f" by {RULERS.get(data['rule'], one_line(str(data['rule'])))}" if data.get("rule") else ""
        end = f"  {status.replace('_', ' ')}{rule}"
    why = f": {cut(said, 160)}" if status != "ok" and (said := reason(data)) and said not in one_line(answer) else ""
    left = room - cell_len(name) - len(risk) - len(time) - len(end) - cell_len(why) - 6
    line = Text(f"  {sign(mark)} ", style=colour)
    line.append(name, style="bold")
    if said := told(arguments):
        line.append(f" {cut(said, max(12, left))}", style="dim")
    line.append(risk, style="cyan")
    line.append(time, style="dim")
    line.append(end, style=colour)
    return line.append(why, style="dim")


def reason(data: Mapping[str, Any]) -> str:
    """Why a call did not go well, on one line: as its tool puts it, else as its row does."""
    line = str(data.get("line") or "").removeprefix("! ")
    said = (data.get("why") or line) if data.get("mark") != "grey" else line
    return one_line(str(said))


def told(arguments: object) -> str:
    """Arguments on one line, each cut to what a glance takes in."""
    if not isinstance(arguments, Mapping):
        return cut(one_line(arguments), 100) if arguments else ""
    return ", ".join(f"{one_line(key)}={cut(one_line(value), 60)}" for key, value in arguments.items())


def took(seconds: float) -> str:
    """How long something took, in the unit that reads best."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def print_json(value: object) -> None:
    """One JSON document on standard output, and nothing else."""
    text = json.dumps(value, ensure_ascii=_narrow(), indent=2, allow_nan=False)
    try:
        sys.stdout.write(text + "\n")
    except UnicodeEncodeError:
        sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")
    sys.stdout.flush()


def _narrow() -> bool:
    return (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"


def error_line(text: str) -> None:
    """One sentence on standard error."""
    console(error=True).print(Text.assemble(("etui: ", "bold red"), safe(text)))
