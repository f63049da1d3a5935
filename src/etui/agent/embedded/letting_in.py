"""The owner's PIN, as the matcher asks for it: one short question, and once it was right the calls that waited for it.

Above: model. Below: questions. It refuses to know: the digits, which never come this far; a notice of the host's says what
became of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from etui.agent.embedded.answers import told
from etui.agent.embedded.questions import Open, Wish
from etui.agent.odd import arguments_of
from etui.owner.pin import AUTHORIZED, INCOMPLETE, INVALID
from etui.owner.spoken import MARK, expects

if TYPE_CHECKING:
    from etui.store.chats import Message

PIN = "pin"
"""The gate's rule, the key of the host's notice, and the kind of question."""
QUESTION = "What is your PIN?"
_AGAIN = {
    INVALID: "That PIN was wrong. Please say it once more.",
    INCOMPLETE: "That was not the whole PIN: it has six to eight digits. Please say it once more.",
}
_NO_MORE = "I can't take that PIN now. Goodbye."


def asked(messages: Sequence[Message]) -> tuple[str, Open] | None:
    """What is said, and the question left open, where calls of the last step wait for the PIN; None where none does."""
    at = next((at for at in range(len(messages) - 1, -1, -1) if messages[at].role == "assistant"), None)
    if at is None:
        return None
    results = [message for message in messages[at:] if message.role == "tool"]
    waiting = {message.call for message in results if message.meta.get("rule") == PIN}
    if not waiting:
        return None
    calls = []
    for call in messages[at].calls:
        arguments = arguments_of(call.arguments)
        if call.id in waiting and isinstance(arguments, dict):
            calls.append(Wish(call.tool, arguments))
    said = told([message.text for message in results if message.call not in waiting])
    return f"{said} {QUESTION}".strip(), Open(kind="pin", calls=calls)


def became(messages: Sequence[Message]) -> str:
    """What became of the PIN in what was said last; empty where there was none. `messages` are those that came after it."""
    return next((str(message.meta[PIN]) for message in messages if message.role == "notice" and PIN in message.meta), "")


def left(sentence: str) -> str:
    """What was said besides the PIN."""
    rest = " ".join(sentence.replace(MARK, " ").split()).strip(" ,.;:!-")
    return "" if expects(rest) else rest


def not_in(status: str) -> str:
    """What is said after a PIN that was not taken; empty after one that was."""
    return "" if status == AUTHORIZED else _AGAIN.get(status, _NO_MORE)
