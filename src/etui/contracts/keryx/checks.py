"""What a tool has to be to be offered: six checks in a fixed order, and the words of the first that fails.

Above: `reading`. Below: `custom`. It refuses to know: the file. A field may hold anything at all, and then it is one refusal.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from decimal import Decimal
from numbers import Real
from typing import Any

from etui.contracts.keryx.custom import CustomTool
from etui.contracts.media import clean, repr_of

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_WIDEST = 2**63


def unfit(tool: CustomTool, taken: Collection[str]) -> str:
    """Why the tool is not offered; empty if it is. `taken` are the names that others have. Raises nothing."""
    try:
        return _unfit(tool, taken)
    except Exception as error:  # a field that there is not, or that does not let itself be looked at
        return f"{(called(tool) or type(tool).__name__)!r}: it cannot be looked at ({repr_of(error)})"


def _unfit(tool: CustomTool, taken: Collection[str]) -> str:
    name = plain(tool.name)
    called = _shown(name)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"{called} is not a valid tool name (letters, digits, _ and -)"
    if name in taken:
        return f"{called} {TAKEN}"
    description = plain(tool.description)
    if not isinstance(description, str) or not description.strip():
        return f"{called} has no description"
    if not isinstance(tool.needs_pin, bool):
        return f"{called}: needs_pin must be True or False"
    if schema(tool.parameters) is None:
        return f"{called}: parameters must be a JSON-schema object"
    if not seconds(tool.timeout_s) > 0:
        return f"{called}: timeout_s must be positive"
    return ""


TAKEN = "is already a tool's name"
"""Behind the name, in quotes, of a tool whose name another has."""


def taken(name: str) -> str:
    """The refusal of a tool whose name another has."""
    return f"{name!r} {TAKEN}"


def plain(value: Any) -> Any:
    """The text of a text of some other make, such as a member of an Enum; anything else as it is."""
    return str.__str__(value) if issubclass(type(value), str) else value


def called(tool: CustomTool) -> str:
    """The tool's name; empty where that is no text, or cannot be had. Raises nothing."""
    try:
        name = plain(tool.name)
    except Exception:  # there is none
        return ""
    return name if isinstance(name, str) else ""


def schema(parameters: Any) -> dict[str, Any] | None:
    """The parameters as they travel: JSON only; None if they are no JSON Schema of an object."""
    try:
        if not isinstance(parameters, dict) or parameters.get("type") != "object":
            return None
        text = clean(json.dumps(parameters, default=str))
        found: dict[str, Any] = json.loads(text, parse_constant=lambda _: None, parse_int=_number)
    except Exception:  # it holds itself, or keys that are no text, or what fails to say what it is
        return None
    return found


def _number(digits: str) -> float | None:
    """The number; one that is too large for what travels as the nearest that is not, if there is one."""
    number = int(digits)
    if -_WIDEST <= number < 2 * _WIDEST:
        return number
    nearest = float(digits)
    return nearest if math.isfinite(nearest) else None


def seconds(given: Any) -> float:
    """A time limit in seconds; NaN where it is no number."""
    if not isinstance(given, Real | Decimal):
        return math.nan
    try:
        return float(given)
    except OverflowError:
        return math.inf if str(given)[0] != "-" else -math.inf
    except Exception:  # a number of somebody's own making
        return math.nan


def _shown(name: object) -> str:
    try:
        return repr(name)[:200]
    except Exception:  # a foreign __repr__
        return f"a {type(name).__name__}"
