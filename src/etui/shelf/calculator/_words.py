"""Arithmetic as people say it, written in symbols: "twelve times seven" is 12*7, "15% of 80" is percent(15)*80.

Above: `calculator.py`, which evaluates what comes out. Below: regular expressions. It refuses to know: what an expression
is worth.
"""

from __future__ import annotations

import re
from fractions import Fraction

from etui import ToolError

LONGEST = 300
"""Characters of an expression."""
ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SIZES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
FRACTIONS = {"half": "(1/2)", "third": "(1/3)", "quarter": "(1/4)", "fifth": "(1/5)", "tenth": "(1/10)"}


def symbols(words: str) -> str:
    """The expression in symbols: "twelve times seven" is 12*7, "15% of 80" is percent(15)*80."""
    text = words.casefold().replace("’", "'").strip(" ?=.")
    if len(text) > LONGEST:
        raise ToolError(f"That's too long for me to work out: an expression may have {LONGEST} characters.")
    text = re.sub(
        r"^(please |what is |what's |whats |calculate |compute |how much is |work out |the (?:result|value|answer) of )+",
        "",
        text,
    )
    for pattern, symbol in SPOKEN:
        text = pattern.sub(symbol, text)
    text = _shares(_digits(text))
    text = re.sub(r"(?<=\d),(?=\d{3}(?:\D|$))", "", text)
    text = re.sub(r"(?<=[\d)])\s*x\s*(?=[\d(])", "*", text)
    text = re.sub(r"(\d+(?:\.\d+)?|\))\s*%(?!\s*(?:[\d(]|[a-z]+\())", lambda found: f"{found[1]} percent", text)
    text = re.sub(r"\b(percent|mod) of\b", r"\1 *", text)
    text = re.sub(r"(\d+(?:\.\d+)?)\s*percent\b", r"percent(\1)", text)
    text = re.sub(r"\)\s*percent\b", ")*percent(1)", text)
    text = re.sub(
        rf"\b(sqrt|cbrt|{'|'.join(WORD_FUNCTIONS)}) (?:of )?(\d+(?:\.\d+)?(?:\s*(?:degrees?|deg))?|pi|e)(?![\w.])",
        r"\1(\2)",
        text,
    )
    text = re.sub(r"(\d+(?:\.\d+)?)\s*(?:degrees?|deg|°)", r"radians(\1)", text)
    text = _factorials(text)
    text = re.sub(r"(?<=[\d)])\s*(?=\()|(?<=\))\s*(?=[\d])", "*", re.sub(r"(?<=\d)\s+(?=\()", "", text))
    return re.sub(r"\bof\b", "*", text).strip()


def _shares(text: str) -> str:
    """Parts of a whole in symbols: "two thirds of 90", "20 percent off 50", "what percent of 20 is 5"."""
    number = r"(\d+(?:\.\d+)?)"
    parts = {**FRACTIONS, **{f"{name}s": value for name, value in FRACTIONS.items()}, "halves": FRACTIONS["half"]}
    text = re.sub(
        rf"\b(?:an? |(\d+) )?({'|'.join(sorted(parts, key=len, reverse=True))}) of\b",
        lambda found: f"{found[1] or 1}*{parts[found[2]]} *",
        text,
    )
    text = re.sub(rf"{number}\s*(?:percent|%) off (?:of )?{number}", r"\2 - \1 percent", text)
    text = re.sub(rf"^what (?:percent|percentage) (?:of {number} is {number})$", r"\2 / \1 * 100", text)
    return re.sub(rf"^what (?:percent|percentage) is {number} of {number}$", r"\1 / \2 * 100", text)


def _factorials(text: str) -> str:
    """The text with "5!", "(2+3)!" and "5 factorial" as calls."""
    text = re.sub(r"(\d+)\s*(?:!|factorial\b)", r"factorial(\1)", text)
    while (end := re.search(r"\)\s*!", text)) is not None:
        depth, at = 0, end.start()
        while at >= 0:
            depth += {")": 1, "(": -1}.get(text[at], 0)
            if depth == 0:
                break
            at -= 1
        if at < 0:
            return text
        start = at - len(re.search(r"[a-z0-9]*$", text[:at])[0])  # type: ignore[index]
        text = f"{text[:start]}factorial({text[start : end.start() + 1]}){text[end.end() :]}"
    return text.rstrip(" !")


WORD_FUNCTIONS = ("sin", "cos", "tan", "asin", "acos", "atan", "ln", "log", "log2", "log10", "exp", "abs", "factorial", "round")
SPOKEN: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), symbol)
    for pattern, symbol in (
        (r"[×·∙⋅]", "*"),
        (r"[÷∶]", "/"),
        (r"[−–—]", "-"),
        (r"π", "pi"),
        (r"²", "^2"),
        (r"³", "^3"),
        (r"√\s*(\d+(?:\.\d+)?)", r"sqrt(\1)"),
        (r"√", "sqrt"),
        (r"(\d+(?:\.\d+)?)\s*%\s*of\b", r"\1 percent *"),
        (r"\bper ?cent\b", "percent"),
        (r"\bthe (?=square|cube|sum|product|sin|cos|tan|natural|log|factorial)", ""),
        (r"\bmultiplied (?:by|with)\b|\btimes\b", "*"),
        (r"\b(?:divided by|over)\b", "/"),
        (r"\b(?:plus|added to|and)\b", "+"),
        (r"\b(?:minus|less|take away)\b", "-"),
        (r"\bsquare root(?: of)?\b", "sqrt"),
        (r"\b(?:cube|cubic) root(?: of)?\b", "cbrt"),
        (r"\bnatural log(?:arithm)?\b", "ln"),
        (r"\blogarithm\b", "log"),
        (r"\bsine\b", "sin"),
        (r"\bcosine\b", "cos"),
        (r"\btangent\b", "tan"),
        (r"\bsquared\b", "^2"),
        (r"\bcubed\b", "^3"),
        (r"\b(?:raised )?to the power(?: of)?\b|\braised to\b", "^"),
        (r"\bto the (\d+)(?:st|nd|rd|th)(?: power)?\b", r"^\1"),
        (r"\bmod(?:ulo)?\b", "%"),
        (r"\bpoint\b", "."),
        (r"\b(?:a )?dozen\b", "12"),
        (r"\bdouble\b|\btwice\b", "2*"),
        (r"\btriple\b", "3*"),
        (r"\*\*", "^"),
    )
)


def _digits(text: str) -> str:
    """The text with number words as digits: "three hundred + twenty five" is 300 + 25."""
    word = "|".join([*ONES, *TENS, *SIZES])
    number = rf"(?:{word}|\d+(?:\.\d+)?)"
    pattern = rf"\b(?:a )?{number}(?:(?:[ -]|(?<=hundred) \+ ){number})*\b"
    text = re.sub(pattern, lambda found: _number(found[0]) if re.search(rf"\b(?:{word})\b", found[0]) else found[0], text)
    return re.sub(r"(\d+)\s*\.\s+(\d(?: \d)*)", lambda found: f"{found[1]}.{found[2].replace(' ', '')}", text)


def _number(words: str) -> str:
    total, group = Fraction(0), Fraction(0)
    parts = re.split(r"[ -]+", words.removeprefix("a ").replace(" + ", " "))
    # Digits said one by one are written side by side.
    if len(parts) > 1 and all(part in ONES[:10] for part in parts):
        return " ".join(str(ONES.index(part)) for part in parts)
    for part in parts:
        if part in SIZES:
            group = (group or Fraction(1)) * SIZES[part]
            if SIZES[part] >= 1000:
                total, group = total + group, Fraction(0)
        elif part in TENS:
            group += (TENS.index(part) + 2) * 10
        else:
            group += ONES.index(part) if part in ONES else Fraction(part)
    whole = total + group
    return str(whole.numerator) if whole.denominator == 1 else str(float(whole))
