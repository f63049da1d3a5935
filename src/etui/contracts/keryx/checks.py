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
from etui.contracts.media import clean

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def unfit(tool: CustomTool, taken: Collection[str]) -> str:
    """Why the tool is not offered; empty if it is. `taken` are the names that others have. Raises nothing."""
    called = _shown(tool.name)
    if not isinstance(tool.name, str) or not _NAME.fullmatch(tool.name):
        return f"{called} is not a valid tool name (letters, digits, _ and -)"
    if tool.name in taken:
        return f"{called} {TAKEN}"
    if not isinstance(tool.description, str) or not tool.description.strip():
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


def schema(parameters: Any) -> dict[str, Any] | None:
    """The parameters as they travel: JSON only; None if they are no JSON Schema of an object."""
    try:
        if not isinstance(parameters, dict) or parameters.get("type") != "object":
            return None
        found: dict[str, Any] = json.loads(clean(json.dumps(parameters, default=str)), parse_constant=lambda _: None)
    except Exception:  # it holds itself, or keys that are no text, or what fails to say what it is
        return None
    return found


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
