"""What is said after tools ran: the tools' own sentences; a JSON result told as a plain one.

Above: model. Below: nothing. It refuses to add anything to what a tool said.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from etui.agent.embedded.known import spoken

_LONGEST = 4000


def told(results: Sequence[str]) -> str:
    """The results of one step, one after the other."""
    said = [sentence for result in results if (sentence := plain_sentence(result))]
    return "\n".join(said) if any("\n" in sentence for sentence in said) else " ".join(said)


def plain_sentence(result: str) -> str:
    """A tool's text as it is, or a JSON value in words: lists as "3, 5 and 1", objects as "key: value"."""
    text = result.strip()
    if text[:1] not in ("{", "[", '"') and text not in ("null", "true", "false"):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict) and list(value) == ["result"]:
        value = value["result"]  # it was only wrapped
    return (_meant_to_be_said(value) or _said(value))[:_LONGEST]


def _meant_to_be_said(value: object) -> str:
    """The sentence of an object that has one for this: `spoken`, or that it did not work and nothing else; empty for others."""
    said = value.get("spoken", value.get("error") if len(value) == 1 else None) if isinstance(value, dict) else None
    return said.strip() if isinstance(said, str) else ""


def _said(value: object, depth: int = 0) -> str:
    if value is None:
        return "Done." if depth == 0 else "nothing"
    if isinstance(value, bool):
        return ("Yes." if value else "No.") if depth == 0 else spoken(value)
    if depth > 6:
        return "…"
    if isinstance(value, list):
        if not value:
            return "Nothing." if depth == 0 else "nothing"
        if any(isinstance(one, dict | list) for one in value):
            return (
                "\n".join(f"{'  ' * depth}- {_said(one, depth + 1)}" for one in value)
                if depth == 0
                else "; ".join(_said(one, depth + 1) for one in value)
            )
        return spoken([_said(one, depth + 1) for one in value])
    if isinstance(value, dict):
        shown = {str(key): one for key, one in value.items() if key != "undo"}
        parts = [f"{key.replace('_', ' ')}: {_said(one, depth + 1)}" for key, one in shown.items()]
        return ", ".join(parts) or ("Done." if depth == 0 else "nothing")
    return str(value)
