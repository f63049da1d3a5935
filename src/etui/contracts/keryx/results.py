"""From what a handler gave back or raised to what the model gets: one JSON object, and its text.

Above: `calling`, `registry`. Below: `media`. It refuses to know: the call. What is no JSON becomes its text, what cannot become
even that is an error, and what is no number is null, so that every payload is JSON wherever it goes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from etui.contracts.media import clean, repr_of

_WIDEST = 2**63
"""Numbers beyond what travels everywhere are told as their digits."""


def payload(value: Any) -> tuple[dict[str, Any], str]:
    """The payload for what a handler gave back, and its JSON text. Raises whatever cannot be written raises."""
    given = value if isinstance(value, dict) else {"result": value}
    found = json.loads(json.dumps(given, default=str), parse_constant=_no_number, parse_int=_number)
    return _whole(found)


def error(problem: BaseException) -> tuple[dict[str, Any], str]:
    """The payload for what a handler raised: its kind and its text in one line, never the traceback."""
    return _whole({"error": told(problem)})


def sentence(said: str) -> str:
    """The JSON text of the payload that says this as an error."""
    return text({"error": said})


def text(given: Mapping[str, Any]) -> str:
    """The JSON text of a payload."""
    return _whole(dict(given))[1]


def told(problem: BaseException) -> str:
    """`KIND: text`, in one line."""
    text = repr_of(problem)
    return text if "\n" not in text else " ".join(text.split())


def _whole(found: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The payload without halves of characters, and its text."""
    text = json.dumps(found, ensure_ascii=False)
    whole = clean(text)
    if whole is not text:
        found = json.loads(whole)
    return found, whole


def _no_number(constant: str) -> None:
    """NaN and the infinities are nothing that JSON has."""


def _number(digits: str) -> int | str:
    number = int(digits)
    return number if -_WIDEST <= number < 2 * _WIDEST else digits
