"""Questions with buttons: one marker line, which the console draws as a card; the answers come as the person's next message.

Above: `core.ask_card`. Below: `markers`, `contracts.marks`. It refuses to know: how a card is drawn, and
whether anybody answers: nothing waits for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from etui.contracts import marks
from etui.contracts.sapphire.markers import line

KIND = "ASK"
QUESTIONS, LEAST, OPTIONS = 4, 2, 6
"""The most questions of a card, and the fewest and most options of a question."""
HEADER, QUESTION, LABEL, DESCRIPTION = 16, 300, 80, 200
"""Characters; what is longer is cut."""


def normalize(questions: object) -> dict[str, Any]:
    """The card as it is drawn: `{"questions": [...]}`, every text one line and cut. Raises ValueError with a sentence.

    A question is `{"question", "options"}` and may have `header` and `multi_select`; an option is its label, or
    `{"label"}` and may have `description`.
    """
    if isinstance(questions, Mapping):
        questions = questions.get("questions", [questions])
    if not isinstance(questions, list | tuple) or not 1 <= len(questions) <= QUESTIONS:
        raise ValueError(f"A card has 1 to {QUESTIONS} questions, as a list.")
    return {"questions": [_question(number, one) for number, one in enumerate(questions, 1)]}


def marker(card: object) -> str:
    """The line for a card, or for its questions. Raises ValueError where there can be none."""
    return line(KIND, normalize(card))


def strip(text: str) -> str:
    """The text without such lines."""
    return marks.without(text, KIND)


def _question(number: int, given: object) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not (text := _text(given.get("question"), QUESTION)):
        raise ValueError(f"Question {number} has no text under 'question'.")
    options = given.get("options")
    if not isinstance(options, list | tuple) or not LEAST <= len(options) <= OPTIONS:
        raise ValueError(f"Question {number} needs {LEAST} to {OPTIONS} options, as a list.")
    found = [_option(number, one) for one in options]
    if len({one["label"] for one in found}) < len(found):
        raise ValueError(f"Two options of question {number} have the same label, so their answers could not be told apart.")
    made: dict[str, Any] = {"question": text, "options": found}
    if header := _text(given.get("header"), HEADER):
        made["header"] = header
    if given.get("multi_select") is True:
        made["multi_select"] = True
    return made


def _option(number: int, given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        given = {"label": given}
    label = _text(given.get("label"), LABEL)
    if not label:
        raise ValueError(f"An option of question {number} has no label.")
    description = _text(given.get("description"), DESCRIPTION)
    return {"label": label, "description": description} if description else {"label": label}


def _text(value: object, most: int) -> str:
    told = value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""
    return " ".join(told.split())[:most].strip()
