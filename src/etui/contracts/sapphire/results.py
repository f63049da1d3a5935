"""What `execute` returned, as the model, the person and the owner get it: every form is a result.

Above: `calling`. Below: the nouns, `markers`, `images`, `settings`. It refuses to know: which tool it was, beyond its name.
"""

from __future__ import annotations

import msgspec

from etui.contracts import Ran
from etui.contracts.faults import trace
from etui.contracts.media import clean
from etui.contracts.sapphire import current, markers, settings
from etui.contracts.sapphire.images.giving import Given, pictured
from etui.contracts.sized import shortened
from etui.outcome import File, Status

NOTHING = "(no output)"
LONGEST = 200_000
"""Characters of a result that a model gets, where TOOL_RESULT_MAX_CHARS does not say otherwise; 0 is all of them."""


def graded(returned: object, tool: str) -> Ran:
    """The end of a call that returned this: a pair whose second item is a bool is text and success, anything else is text."""
    value, ok = _pair(returned)
    given = Given(value)
    ran = worded(NOTHING if given.text is None else str(given.text), ok, tool)
    if given.images and not given.text:
        ran = msgspec.structs.replace(ran, text="")
    return pictured(ran, given, current.call())


def worded(text: str, ok: bool, tool: str) -> Ran:
    """The end of a call that gave this text: markers are for the person alone, and what is too long ends in a note."""
    text = shortened(clean(text))
    plain = markers.stripped(text) if text else text
    status = Status.OK if ok else Status.FAILED
    told, files = _cut(plain, tool)
    return Ran(status=status, text=told or NOTHING, shown=markers.for_person(text) if plain != text else "", files=files)


def raised(error: BaseException, tool: str) -> Ran:
    """The end of a call that raised this."""
    try:
        said = str(error) or type(error).__name__
    except Exception:  # a foreign __str__
        said = type(error).__name__
    return Ran(status=Status.FAILED, text=clean(f"Error executing {tool}: {said}"), detail=trace(error))


def _pair(returned: object) -> tuple[object, bool]:
    if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], bool):
        return returned
    return returned, True


def _cut(text: str, tool: str) -> tuple[str, tuple[File, ...]]:
    """The head of a text that is too long, with a note behind it, and the whole as a file for the person."""
    most = getattr(settings.config(), "TOOL_RESULT_MAX_CHARS", LONGEST)
    if isinstance(most, bool) or not isinstance(most, int) or most <= 0 or len(text) <= most:
        return text, ()
    note = f"\n\n[Cut here: {len(text) - most:,} of {len(text):,} characters are left out.]"
    return text[:most] + note, (File(f"{tool}.txt", "text/plain", text.encode()),)
