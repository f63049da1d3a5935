"""Sums as people say them, brought into an expression: "15 percent of 80" is "15 / 100 * 80".

Above: the parameters. Below: numbers. It refuses to work anything out: the tool does that. The expression holds numbers,
parentheses and + - * / % **, which every calculator reads.

    sum     = product (plus|minus product)*
    product = power (times|over|mod power)*
    power   = atom (squared | cubed | to the power of atom | percent [of|off power])?
    atom    = number | (sum) | root of atom | half of atom | the sum of a, b and c | add a to b | ...
"""

from __future__ import annotations

from collections.abc import Sequence

from etui.agent.embedded.numbers import read_number, read_ordinal

_PLUS = {
    ("plus",): "+",
    ("+",): "+",
    ("added", "to"): "+",
    ("minus",): "-",
    ("-",): "-",
    ("take", "away"): "-",
    ("less",): "-",
    ("subtract",): "-",
    ("and", "then", "add"): "+",
    ("and", "add"): "+",
    ("then", "add"): "+",
    ("and", "then", "subtract"): "-",
    ("and", "subtract"): "-",
    ("then", "subtract"): "-",
    ("add",): "+",
}
_TIMES = {
    ("times",): "*",
    ("*",): "*",
    ("x",): "*",
    ("×",): "*",
    ("multiplied", "by"): "*",
    ("multiply", "by"): "*",
    ("times", "by"): "*",
    ("divided", "by"): "/",
    ("divide", "by"): "/",
    ("over",): "/",
    ("and", "then", "divide", "by"): "/",
    ("and", "divide", "by"): "/",
    ("and", "then", "multiply", "by"): "*",
    ("and", "multiply", "by"): "*",
    ("split", "by"): "/",
    ("/",): "/",
    ("÷",): "/",
    ("mod",): "%",
    ("modulo",): "%",
    ("%",): "%",
}
_PAIRS = {"sum": "+", "total": "+", "product": "*", "difference": "-", "quotient": "/", "average": "mean", "mean": "mean"}
_COMMANDS = {
    "add": ("to", "+"),
    "subtract": ("from", "-"),
    "take": ("from", "-"),
    "multiply": ("by", "*"),
    "divide": ("by", "/"),
    "split": ("by", "/"),
    "deduct": ("from", "-"),
}
_SHARES = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}
_DEEPEST = 12

Found = tuple[str, int, int]
"""The expression, how tightly it binds (1 sum, 2 product, 3 power, 4 atom), and the index after it."""


def read_arithmetic(words: Sequence[str], at: int) -> tuple[str, int] | None:
    """The longest sum that begins at `at` and holds at least one operation, and the index after it."""
    found = _total(words, at) or _goes_on(words, _command(words, at, 0)) or _sum(words, at, 0)
    if found is None or found[0].lstrip("-").replace(".", "", 1).isdigit() or "e" in found[0]:
        return None
    return found[0], found[2]


def _total(words: Sequence[str], at: int) -> Found | None:
    """ "add up 3, 4 and 5", "sum 3 and 4"."""
    texts = list(words[at : at + 2])
    skip = 2 if texts in (["sum", "up"], ["add", "up"], ["add", "together"]) else 1 if texts[:1] in (["sum"], ["total"]) else 0
    return _pair(words, at + skip, "+", 0) if skip else None


def _goes_on(words: Sequence[str], found: Found | None) -> Found | None:
    """What follows a whole sum: "(multiply 6 by 7) and then add 8"."""
    while found is not None:
        for table, level in ((_PLUS, 1), (_TIMES, 2)):
            sign = _match(words, found[2], table)
            right = _power(words, sign[1], 0) if sign else None
            if sign and right:
                found = (f"{_wrap(found, level)} {sign[0]} {_wrap(right, level + 1)}", level, right[2])
                break
        else:
            return found
    return None


def _wrap(found: Found, least: int) -> str:
    return found[0] if found[1] >= least else f"({found[0]})"


def _match(words: Sequence[str], at: int, table: dict[tuple[str, ...], str]) -> tuple[str, int] | None:
    for length in (4, 3, 2, 1):
        sign = table.get(tuple(words[at : at + length])) if at + length <= len(words) else None
        if sign:
            return sign, at + length
    return None


def _sum(words: Sequence[str], at: int, depth: int) -> Found | None:
    left = _product(words, at, depth)
    while left is not None:
        sign = _match(words, left[2], _PLUS)
        right = _product(words, sign[1], depth) if sign else None
        if sign is None or right is None:
            break
        share = _percent_alone(words, right)
        if share:
            left = (f"{_wrap(left, 2)} * (1 {sign[0]} {_wrap(right, 3)} / 100)", 2, share)
        else:
            left = (f"{left[0]} {sign[0]} {_wrap(right, 2)}", 1, right[2])
    return left


def _percent_alone(words: Sequence[str], found: Found) -> int | None:
    return found[2] + 1 if found[2] < len(words) and words[found[2]] in ("percent", "%") else None


def _product(words: Sequence[str], at: int, depth: int) -> Found | None:
    left = _power(words, at, depth)
    while left is not None:
        sign = _match(words, left[2], _TIMES)
        right = _power(words, sign[1], depth) if sign else None
        if sign is None or right is None:
            break
        left = (f"{_wrap(left, 2)} {sign[0]} {_wrap(right, 3)}", 2, right[2])
    return left


def _power(words: Sequence[str], at: int, depth: int) -> Found | None:
    base = _atom(words, at, depth)
    if base is None:
        return None
    rest = list(words[base[2] : base[2] + 5])
    if rest[:1] in (["squared"], ["cubed"]):
        return f"{_wrap(base, 4)} ** {2 if rest[0] == 'squared' else 3}", 3, base[2] + 1
    if rest[:1] in (["percent"], ["%"]) or rest[:2] == ["per", "cent"]:
        return _percent(words, base, base[2] + (2 if rest[0] == "per" else 1), depth)
    for phrase in (
        ["to", "the", "power", "of"],
        ["raised", "to", "the", "power", "of"],
        ["raised", "to"],
        ["**"],
        ["^"],
        ["to", "the", "power"],
    ):
        if rest[: len(phrase)] == phrase:
            exponent = _atom(words, base[2] + len(phrase), depth)
            return (f"{_wrap(base, 4)} ** {_wrap(exponent, 4)}", 3, exponent[2]) if exponent else base
    if rest[:2] == ["to", "the"]:
        ordinal = read_ordinal(words, base[2] + 2)
        if ordinal:
            end = ordinal[1] + (ordinal[1] < len(words) and words[ordinal[1]] == "power")
            return f"{_wrap(base, 4)} ** {ordinal[0]}", 3, end
    return base


def _percent(words: Sequence[str], base: Found, at: int, depth: int) -> Found | None:
    joint = list(words[at : at + 2])
    if joint[:1] == ["tip"] and joint[1:] in (["on"], ["for"]):
        joint, at = ["of"], at + 1
    if joint[:1] == ["of"]:
        whole = _power(words, at + 1, depth)
        return (f"{_wrap(base, 3)} / 100 * {_wrap(whole, 3)}", 2, whole[2]) if whole else base
    if joint[:1] == ["off"]:
        whole = _power(words, at + 1 + (joint[1:] == ["of"]), depth)
        return (f"{_wrap(whole, 3)} * (1 - {_wrap(base, 3)} / 100)", 2, whole[2]) if whole else base
    return base


def _atom(words: Sequence[str], at: int, depth: int) -> Found | None:
    if depth > _DEEPEST or at >= len(words):
        return None
    depth += 1
    start = at + (words[at] in ("the", "a", "an", "one") and at + 1 < len(words) and words[at + 1] in _NOUNS)
    word = words[start]
    rest = list(words[start + 1 : start + 3])
    if (word in ("square", "cube", "cubic") and rest[:1] == ["root"]) or word in ("root", "√", "sqrt"):
        end = start + (1 if word in ("root", "√", "sqrt") else 2)
        inner = _power(words, end + (end < len(words) and words[end] == "of"), depth)
        return (f"{_wrap(inner, 4)} ** {'0.5' if word not in ('cube', 'cubic') else '(1 / 3)'}", 3, inner[2]) if inner else None
    if word in ("square", "cube") and rest[:1] == ["of"]:
        inner = _atom(words, start + 2, depth)
        return (f"{_wrap(inner, 4)} ** {2 if word == 'square' else 3}", 3, inner[2]) if inner else None
    if word in _PAIRS and rest[:1] in (["of"], ["between"]):
        return _pair(words, start + 2, _PAIRS[word], depth)
    if word in _SHARES and rest[:1] == ["of"]:
        inner = _power(words, start + 2, depth)
        return (f"{_wrap(inner, 2)} / {_SHARES[word]}", 2, inner[2]) if inner else None
    if word in ("double", "twice", "triple"):
        inner = _power(words, start + 1, depth)
        return (f"{3 if word == 'triple' else 2} * {_wrap(inner, 3)}", 2, inner[2]) if inner else None
    if word == "(":
        inner = _sum(words, start + 1, depth)
        return (inner[0], inner[1], inner[2] + 1) if inner and inner[2] < len(words) and words[inner[2]] == ")" else None
    if word in ("$", "€", "£") or (word == "a" and "percent" in words[at : at + 5]):
        at += 1
    number = read_number(words, at)
    if number is None:
        return None
    if isinstance(number[0], float) and list(words[number[1] : number[1] + 1]) == ["of"]:
        inner = _power(words, number[1] + 1, depth)
        return (f"{number[0]} * {_wrap(inner, 3)}", 2, inner[2]) if inner else None
    return (
        str(number[0]),
        4 if number[0] >= 0 else 3,
        number[1] + (number[1] < len(words) and words[number[1]] in ("dollars", "euros", "pounds", "bucks")),
    )


_NOUNS = {*_PAIRS, *_SHARES, "square", "cube", "cubic", "root", "product"}


def _pair(words: Sequence[str], at: int, sign: str, depth: int) -> Found | None:
    """ "(the sum of) 3, 4 and 5"."""
    values: list[str] = []
    while True:
        value = _power(words, at, depth)
        if value is None:
            break
        values.append(_wrap(value, 3))
        at = value[2]
        if at < len(words) and words[at] == "and":
            at += 1
        elif read_number(words, at) is None:
            break
    if len(values) < 2:
        return None
    if sign == "mean":
        return f"({' + '.join(values)}) / {len(values)}", 2, at
    return f" {sign} ".join(values), 2 if sign in "*/" else 1, at


def _command(words: Sequence[str], at: int, depth: int) -> Found | None:
    """ "add 5 to 9", "subtract 3 from 10", "multiply 6 by 7", "divide 9 by 3"."""
    if at >= len(words) or words[at] not in _COMMANDS:
        return None
    joint, sign = _COMMANDS[words[at]]
    one = _power(words, at + 1, depth)
    if one is None:
        return None
    if one[2] < len(words) and words[one[2]] in ("away", "off", "up"):
        one = (one[0], one[1], one[2] + 1)
    if one[2] >= len(words) or words[one[2]] not in (joint, "and", "with"):
        return None
    two = _power(words, one[2] + 1, depth)
    if two is None:
        return None
    left, right = (two, one) if joint == "from" and words[one[2]] == "from" else (one, two)
    return f"{_wrap(left, 2)} {sign} {_wrap(right, 3 if sign in '-/' else 2)}", 1 if sign in "+-" else 2, two[2]
