"""The last check before a call: every text of it was said, and every number was said.

Above: model. Below: the parsers. It refuses to trust whatever filled the arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from etui.agent.embedded.durations import SECONDS
from etui.agent.embedded.known import Known
from etui.agent.embedded.mend import mended
from etui.agent.embedded.numbers import read_number
from etui.agent.embedded.parameters import Kind, Parameter
from etui.agent.embedded.reading import Reading


def ungrounded(tool: Known, arguments: dict[str, object], said: Sequence[str], now: datetime) -> Parameter | None:
    """The first parameter whose value does not stand in what was said, or None."""
    lines = dict.fromkeys([*said, *(mended(sentence) for sentence in said)])
    readings = [Reading.of(sentence, now) for sentence in lines]
    spoken = [_joined(reading) for reading in readings]
    for name, value in arguments.items():
        parameter = tool.parameters.get(name)
        if parameter is None:
            return Parameter(name=name, kind=Kind.OTHER)
        values = value if isinstance(value, list) else [value]
        if parameter.kind is Kind.TEXT:
            grounded = all(any(_line(str(one), now) in line for line in spoken) for one in values)
        elif parameter.kind is Kind.NUMBER:
            numbers = {number for reading in readings for number in _numbers(reading)}
            grounded = all(one in numbers for one in values)
        else:
            grounded = True  # read by a parser out of the sentence itself, or one of the tool's own choices
        if not grounded:
            return parameter
    return None


def _line(text: str, now: datetime) -> str:
    return _joined(Reading.of(text, now))


def _joined(reading: Reading) -> str:
    return f" {' '.join(reading.texts)} ".replace("to-do", "to do")


def _numbers(reading: Reading) -> set[object]:
    numbers: set[object] = {found[0] for at in range(len(reading.texts)) if (found := read_number(reading.texts, at))}
    for duration in reading.durations.values():
        numbers |= {duration.in_unit(unit) for unit in SECONDS}
    if {"a", "an", "one"} & set(reading.texts):
        numbers.add(1)
    return numbers
