"""What the terminal prints: safe, plain, and the same words as the console.

Nothing that a tool or a model says can move the cursor, clear the screen or turn text around.
Above: the commands. Below: `rich`. It refuses to know: where anything comes from.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

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
PLAIN = {"✓": "+", "✗": "x", "⏱": "x", "■": "-", "→": ">", "●": "*", "…": "..."}
"""What stands for a sign where the terminal has none."""


def ready_streams() -> None:
    """Let a terminal that is not UTF-8 show what it can, and never fail on the rest."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors="backslashreplace")


def console(*, error: bool = False) -> Console:
    """A console on standard output, or on standard error."""
    return Console(stderr=error, highlight=False, soft_wrap=True, emoji=False, markup=False)


def safe(text: object) -> str:
    """Text in which every control, invisible and direction-changing character is seen instead of obeyed."""
    return "".join(_seen(char) for char in str(text))


def _seen(char: str) -> str:
    if char in "\n\t":
        return char
    category = unicodedata.category(char)
    if category in ("Cc", "Cs") or (category == "Cf" and char not in "\u200d\ufe0f") or 0xE0000 <= ord(char) <= 0xE0FFF:
        return f"\\u{ord(char):04x}"
    return char


def sign(mark: str) -> str:
    """The sign, or a plain one where the terminal's encoding has it not."""
    try:
        mark.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return PLAIN.get(mark, "-")
    return mark


def one_line(value: object, limit: int = 100) -> str:
    """A value on one line, cut in the middle of nothing: what is left out is said."""
    text = safe(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)).replace("\n", " ").strip()
    return text if len(text) <= limit else f"{text[: limit - 1]}{sign('…')}"


def step(data: Mapping[str, Any], arguments: object) -> Text:
    """One call as a line: mark, tool, arguments, time, and why if it did not go well."""
    status = str(data.get("status", ""))
    mark, colour = MARKS.get(status, ("●", "white"))
    line = Text(f"  {sign(mark)} ", style=colour)
    line.append(safe(data.get("tool", "")), style="bold")
    line.append(f" {_arguments(arguments)} ", style="dim")
    line.append(took(float(data.get("seconds") or 0)), style="dim")
    if status != "ok":
        line.append(f"  {status.replace('_', ' ')}", style=colour)
        if data.get("rule"):
            line.append(f" by {safe(data['rule'])}", style=colour)
    return line


def _arguments(arguments: object) -> str:
    if not isinstance(arguments, Mapping):
        return one_line(arguments)
    return ", ".join(f"{safe(key)}={one_line(value, 60)}" for key, value in arguments.items())


def took(seconds: float) -> str:
    """How long something took, in the unit that reads best."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """A plain table; every cell is made safe."""
    drawn = Table(box=None, pad_edge=False, show_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in head:
        drawn.add_column(name, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(safe(cell)) for cell in row))
    return drawn


def print_json(value: object) -> None:
    """One JSON document on standard output, and nothing else."""
    sys.stdout.write(json.dumps(value, ensure_ascii=_narrow(), indent=2, allow_nan=False) + "\n")
    sys.stdout.flush()


def _narrow() -> bool:
    return (sys.stdout.encoding or "ascii").lower().replace("-", "") != "utf8"


def error_line(text: str) -> None:
    """One sentence on standard error."""
    console(error=True).print(Text.assemble(("etui: ", "bold red"), safe(text)))
