"""Foreign text as the terminal may show it: seen, never obeyed.

Nothing that a tool, a model or an argument says can move the cursor, clear the screen, turn text around or hide in it.
Above: everything that prints. Below: nothing. It refuses to know: colours, widths and what the text is about.
"""

from __future__ import annotations

import json
import re
import unicodedata

_BAD = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters; a new line and a tab are harmless
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    "]"
)
"""What is invisible, turns text around, or is no character."""
_PICTURES = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_IN_PICTURES = re.compile(f"(?<=[0-9#*{_PICTURES}])\ufe0f|(?<=[{_PICTURES}\ufe0f])\u200d(?=[{_PICTURES}])")
"""The joiners inside one emoji, which stay."""
_GAP = re.compile(r"[ \t\n]+")
_SPACES = re.compile(r"[^\S\n]{9,}")
_BLANK = re.compile(r"\n(?:[^\S\n]*\n){4,}")
_WORD = re.compile(r"[\w.@-]+")
_ALIKE = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "FULLWIDTH", "MATHEMATICAL")
"""Alphabets with letters that look like another's."""
_HEAD, _TAIL = 1500, 400


def safe(text: object) -> str:
    """Text in which every control, invisible and direction-changing character is seen instead of obeyed."""
    whole = str(text)
    if whole.isascii() and whole.isprintable():
        return whole
    kept = {match.start() for match in _IN_PICTURES.finditer(whole)}
    return _BAD.sub(lambda match: match[0] if match.start() in kept else _escape(match[0]), whole)


def _escape(char: str) -> str:
    number = ord(char)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def one_line(value: object) -> str:
    """A value on one line: text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return safe(_GAP.sub(" ", text)).strip()


def exact(value: object) -> str:
    """A value for a person who decides on it: padding is folded, and what is long is cut in the middle and counted."""
    return whole(json.dumps(_shorter(value), ensure_ascii=False, indent=2))


def whole(text: str) -> str:
    """A text of which a person decides on every character: line by line, nothing cut, padding folded."""
    text = _BLANK.sub(lambda match: f"\n<{match[0].count(chr(10)) - 1} empty lines>\n", text)
    return safe(_SPACES.sub(lambda match: match[0] if _is_indent(match) else f"<{len(match[0])} spaces>", text))


def _is_indent(match: re.Match[str]) -> bool:
    return match.start() == 0 or match.string[match.start() - 1] == "\n"


def _shorter(value: object) -> object:
    if isinstance(value, str) and len(value) > _HEAD + _TAIL:
        return f"{value[:_HEAD]} <{len(value) - _HEAD - _TAIL} more characters> {value[-_TAIL:]}"
    if isinstance(value, dict):
        return {_shorter(key): _shorter(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shorter(item) for item in value]
    return value


def mixed(value: object) -> list[str]:
    """A sentence for each word in which letters of alphabets that look alike stand side by side."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    found = {}
    for match in _WORD.finditer(text):
        alphabets = {} if match[0].isascii() else _alphabets(match[0])
        if len(alphabets) > 1:
            odd = ", ".join(f"{char!r} is {name}" for name, char in alphabets.items() if name != "LATIN")
            found[match[0]] = f"Letters of different alphabets stand in {safe(match[0])!r}: {safe(odd.lower())}."
    return list(found.values())


def _alphabets(word: str) -> dict[str, str]:
    """The alphabets of a word that look like one another, each with a letter of it."""
    found: dict[str, str] = {}
    for char in word:
        alphabet = unicodedata.name(char, "").split(" ")[0]
        if char.isalpha() and alphabet in _ALIKE:
            found.setdefault(alphabet, char)
    return found
