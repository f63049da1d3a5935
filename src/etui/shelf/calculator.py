"""The calculator and the converter of units: exact where numbers are exact, quick and harmless whatever is typed.

Above: whoever speaks to the assistant. Below: `simpleeval` evaluates, over fractions; `pint` knows the units. An ordinary tool file.
It refuses to know: exchange rates, and any expression that would take long.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any

import pint
import simpleeval
from etui import Result, ToolError, tool

Number = Fraction | float
LONGEST = 300
"""Characters of an expression."""
DEEPEST = 40
"""Parentheses and signs inside one another."""
MOST_BITS = 4000
"""Size of an exact number; what would grow beyond is refused before it is worked out."""
ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
SIZES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
FRACTIONS = {"half": "(1/2)", "third": "(1/3)", "quarter": "(1/4)", "fifth": "(1/5)", "tenth": "(1/10)"}


class Percent(Fraction):
    """A number of hundredths; "80 + 10%" takes it of what it is added to."""


@tool(
    examples=[
        "what is {expression}",
        "what's {expression}",
        "calculate {expression}",
        "how much is {expression}",
        "work out {expression}",
        "compute {expression}",
        "what do you get for {expression}",
        "{expression} equals what",
        "what's the square root of {expression}",
    ],
)
def calculate(
    expression: Annotated[str, "Arithmetic in symbols or words: 12 * 7, (3 + 4)^2, 15% of 80, sqrt(2), half of 90."],
) -> Result:
    """Work out an arithmetic expression: + - * / ^ %, parentheses, roots, powers, trigonometry, logarithms, factorials."""
    plain = _symbols(expression)
    value = _evaluate(plain)
    return Result(f"{_capital(_said(value))}.", data={"expression": plain, "value": _json(value)})


@tool(
    examples=[
        "convert {value} {from_unit} to {to_unit}",
        "convert {value} {from_unit} into {to_unit}",
        "what is {value} {from_unit} in {to_unit}",
        "how many {to_unit} is {value} {from_unit}",
        "how many {to_unit} are in {value} {from_unit}",
        "how many {to_unit} are there in a {from_unit}",
        "how much is {value} {from_unit} in {to_unit}",
        "{value} {from_unit} in {to_unit}",
        "change {value} {from_unit} to {to_unit}",
    ],
)
def convert(
    from_unit: Annotated[str, "Unit to convert from, such as miles, °F, cups, stone, mpg."],
    to_unit: Annotated[str, "Unit to convert to."],
    value: Annotated[float, "The amount."] = 1.0,
) -> Result:
    """Convert an amount from one unit to another: lengths, weights, volumes, temperatures, speeds, times, data and more."""
    heat = _is_heat(from_unit) or _is_heat(to_unit)
    source, target = _unit(from_unit, heat), _unit(to_unit, heat)
    if not math.isfinite(value):
        raise ToolError("That amount is no number I can convert.")
    try:
        amount = float(_converted(value, source, target))
    except pint.DimensionalityError:
        raise ToolError(f"{_capital(_spoken(source, 2))} can't be turned into {_spoken(target, 2)}: {_measures(source, target)}.") from None
    except (OverflowError, ZeroDivisionError, ValueError):
        raise ToolError("That can't be converted: the result is no finite number.") from None
    if not math.isfinite(amount):
        raise ToolError("That can't be converted: the result is no finite number.")
    text = f"{_rounded(value)} {_spoken(source, value)} is {_rounded(amount)} {_spoken(target, amount)}."
    return Result(_capital(text), data={"value": amount, "unit": str(target)})


# The calculator


def _symbols(words: str) -> str:
    """The expression in symbols: "twelve times seven" is 12*7, "15% of 80" is percent(15)*80."""
    text = words.casefold().replace("’", "'").strip(" ?!=.")
    if len(text) > LONGEST:
        raise ToolError(f"That's too long for me to work out: an expression may have {LONGEST} characters.")
    text = re.sub(r"^(please |what is |what's |whats |calculate |compute |how much is |work out |the (?:result|value|answer) of )+", "", text)
    for pattern, symbol in SPOKEN:
        text = pattern.sub(symbol, text)
    text = _digits(text)
    text = re.sub(r"(?<=\d),(?=\d{3}(?:\D|$))", "", text)
    text = re.sub(r"(?<=[\d)])\s*x\s*(?=[\d(])", "*", text)
    text = re.sub(r"(\d+(?:\.\d+)?|\))\s*%(?!\s*(?:[\d(]|[a-z]+\())", lambda found: f"{found[1]} percent", text)
    text = re.sub(r"\b(percent|mod) of\b", r"\1 *", text)
    text = re.sub(r"(\d+(?:\.\d+)?)\s*percent\b", r"percent(\1)", text)
    text = re.sub(r"\)\s*percent\b", ")*percent(1)", text)
    text = re.sub(r"\b(a |an |1 |one )?(half|third|quarter|fifth|tenth) of\b", lambda found: f"{FRACTIONS[found[2]]} *", text)
    text = re.sub(rf"\b(sqrt|cbrt|{'|'.join(WORD_FUNCTIONS)}) (?:of )?(\d+(?:\.\d+)?(?:\s*(?:degrees?|deg))?|pi|e)(?![\w.])", r"\1(\2)", text)
    text = re.sub(r"(\d+(?:\.\d+)?)\s*(?:degrees?|deg|°)", r"radians(\1)", text)
    text = re.sub(r"(\d+|\))\s*!", lambda found: f"factorial({found[1]})" if found[1] != ")" else ")!", text)
    text = re.sub(r"(?<=[\d)])\s*(?=\()|(?<=\))\s*(?=[\d])", "*", re.sub(r"(?<=\d)\s+(?=\()", "", text))
    return re.sub(r"\bof\b", "*", text).strip()


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
        (r"\bdozen\b", "*12"),
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


def _evaluate(text: str) -> Number:
    """The value of an expression in symbols. Raises ToolError, and nothing else, with a sentence."""
    if not text:
        raise ToolError("What should I work out?")
    if _depth(text) > DEEPEST:
        raise ToolError("That's nested too deeply for me to work out.")
    try:
        tree = ast.parse(re.sub(r"(?<![\d.])0+(?=\d)", "", text.replace("^", "**")), mode="eval")
        _check(tree.body)
        value = _evaluator().eval(text, previously_parsed=tree.body)
    except ToolError:
        raise
    except ZeroDivisionError:
        raise ToolError("That divides by zero, which has no answer.") from None
    except (OverflowError, simpleeval.NumberTooHigh):
        raise ToolError("That number is too large for me to work out.") from None
    except (ValueError, ArithmeticError, TypeError):
        raise ToolError("That has no real number as its answer.") from None
    except (SyntaxError, MemoryError, RecursionError, simpleeval.InvalidExpression):
        raise ToolError(f"I can't work out {text[:60]!r}: say it like 12 * 7, 15% of 80 or sqrt(2).") from None
    if isinstance(value, bool) or not isinstance(value, Fraction | float | int) or not _finite(value):
        raise ToolError("That has no number as its answer.")
    return value if isinstance(value, float) else Fraction(value)


def _depth(text: str) -> int:
    depth = deepest = 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        deepest = max(deepest, depth)
    signs = max((len(run) for run in re.findall(r"[-+~\s]+", text)), default=0)
    return max(deepest, signs, text.count("^"))


def _check(node: ast.AST) -> None:
    """Only numbers, operators and the named functions; every constant becomes the exact number that was written."""
    for one in ast.walk(node):
        if isinstance(one, ast.Constant):
            if isinstance(one.value, bool) or not isinstance(one.value, int | float):
                raise SyntaxError
            one.value = Fraction(str(one.value)) if math.isfinite(one.value) else one.value
        elif isinstance(one, ast.Name):
            if one.id not in FUNCTIONS and one.id not in NAMES:
                raise ToolError(f"I don't know what {one.id[:40]!r} is in arithmetic.")
        elif isinstance(one, ast.Call):
            if not isinstance(one.func, ast.Name) or one.keywords or len(one.args) > 10:
                raise SyntaxError
        elif not isinstance(one, ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.expr_context):
            raise SyntaxError


def _finite(value: Number | int) -> bool:
    return math.isfinite(value) if isinstance(value, float) else True


def _bits(value: Number) -> int:
    exact = Fraction(value)
    return exact.numerator.bit_length() + exact.denominator.bit_length()


def _limited(work: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The operation, refusing operands that are too large to be exact."""

    def limited(left: Any, right: Any) -> Any:
        for one in (left, right):
            if not isinstance(one, float) and _bits(one) > MOST_BITS:
                raise OverflowError
        return work(left, right)

    return limited


def _with_percent(work: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def added(left: Any, right: Any) -> Any:
        if isinstance(right, Percent) and not isinstance(left, Percent):
            return work(left, left * Fraction(right))
        return Percent(work(left, right)) if isinstance(left, Percent) and isinstance(right, Percent) else work(left, right)

    return added


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(exponent, Fraction) and exponent.denominator == 1 and isinstance(base, Fraction):
        if abs(exponent.numerator) * max(_bits(base) - 1, 1) > MOST_BITS and abs(base) != 1 and base:
            raise OverflowError
        return base ** (exponent.numerator % 2 if abs(base) == 1 else exponent.numerator)
    if isinstance(exponent, Fraction) and exponent == Fraction(1, 2):
        return _root(base)
    value = float(base) ** float(exponent)
    if isinstance(value, complex):
        raise ValueError
    return float(value)


def _root(value: Number) -> Number:
    if isinstance(value, Fraction) and value >= 0:
        over, under = math.isqrt(value.numerator), math.isqrt(value.denominator)
        if over * over == value.numerator and under * under == value.denominator:
            return Fraction(over, under)
    return math.sqrt(value)


def _cube_root(value: Number) -> Number:
    root = round(math.cbrt(value))
    return Fraction(root) if root**3 == value else math.cbrt(value)


def _whole(value: Number, most: int) -> int:
    exact = Fraction(value)
    if exact.denominator != 1 or exact < 0:
        raise ValueError
    if exact > most:
        raise OverflowError
    return exact.numerator


def _near(function: Callable[[float], float]) -> Callable[[Number], Number]:
    """A function of floats; what comes within rounding of a simple number is that number, so that sin(pi) is 0."""

    def rounded(value: Number) -> Number:
        result = function(float(value))
        simple = Fraction(result).limit_denominator(12)
        return simple if abs(result - simple) < 1e-15 else result

    return rounded


def _round(value: Number, digits: Number = Fraction(0)) -> Number:
    places = max(-30, min(30, int(digits)))
    return Fraction(round(Fraction(value) * Fraction(10) ** places)) / Fraction(10) ** places


def _logarithm(value: Number, base: Number = Fraction(10)) -> Number:
    result = math.log(value) / math.log(base) if base != 10 else math.log10(value)
    return Fraction(round(result)) if abs(result - round(result)) < 1e-12 else result


NAMES: dict[str, Number] = {"pi": math.pi, "e": math.e, "tau": math.tau}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": _root,
    "cbrt": _cube_root,
    "sin": _near(math.sin),
    "cos": _near(math.cos),
    "tan": _near(math.tan),
    "asin": _near(math.asin),
    "acos": _near(math.acos),
    "atan": _near(math.atan),
    "ln": _near(math.log),
    "log": _logarithm,
    "log10": _logarithm,
    "log2": lambda value: _logarithm(value, Fraction(2)),
    "exp": _near(math.exp),
    "radians": lambda value: math.radians(value),
    "degrees": _near(math.degrees),
    "abs": abs,
    "floor": lambda value: Fraction(math.floor(value)),
    "ceil": lambda value: Fraction(math.ceil(value)),
    "round": _round,
    "min": min,
    "max": max,
    "percent": lambda value: Percent(Fraction(value) / 100),
    "factorial": lambda value: Fraction(math.factorial(_whole(value, 400))),
    "gcd": lambda left, right: Fraction(math.gcd(_whole(left, 10**60), _whole(right, 10**60))),
}
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: _limited(_with_percent(operator.add)),
    ast.Sub: _limited(_with_percent(operator.sub)),
    ast.Mult: _limited(lambda left, right: Fraction(left) * Fraction(right) if _exact(left, right) else float(left) * float(right)),
    ast.Div: _limited(lambda left, right: Fraction(left) / Fraction(right) if _exact(left, right) else float(left) / float(right)),
    ast.FloorDiv: _limited(lambda left, right: Fraction(left // right)),
    ast.Mod: _limited(operator.mod),
    ast.Pow: _limited(_power),
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def _exact(*numbers: Number) -> bool:
    return all(isinstance(number, Fraction) for number in numbers)


def _evaluator() -> Any:
    return simpleeval.SimpleEval(operators=OPERATORS, functions=FUNCTIONS, names=NAMES)


def _said(value: Number) -> str:
    """The number as a sentence has it: exact if it is short, else "about" so much."""
    if isinstance(value, float):
        near = Fraction(repr(value))
        return _decimal(near) if len(f"{abs(near.numerator)}") <= 12 and _digits_after(near) <= 10 else f"about {_significant(value)}"
    if value.denominator == 1:
        return f"{value.numerator:,}" if abs(value.numerator) < 10**30 else f"about {_scientific(value)}"
    if _digits_after(value) <= 10 and abs(value) < 10**15:
        return _decimal(value)
    return f"about {_significant(value)}"


def _digits_after(value: Fraction) -> int:
    """Digits after the point; 99 if it never ends."""
    for digits in range(20):
        if 10**digits % value.denominator == 0:
            return digits
    return 99


def _decimal(value: Fraction) -> str:
    digits = _digits_after(value)
    scaled = abs(value.numerator) * 10**digits // value.denominator
    whole, rest = divmod(scaled, 10**digits)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole:,}" + (f".{rest:0{digits}d}" if digits else "")


def _significant(value: Number) -> str:
    if abs(value) >= 10**15 or abs(value) < Fraction(1, 10**6):
        return _scientific(value)
    return f"{float(f'{float(value):.10g}'):,.10f}".rstrip("0").rstrip(".")


def _scientific(value: Number) -> str:
    if not value:
        return "0"
    exact = abs(Fraction(value))
    power = len(str(exact.numerator)) - len(str(exact.denominator))
    power -= exact < Fraction(10) ** power
    mantissa = f"{float(exact / Fraction(10) ** power):.4f}".rstrip("0").rstrip(".")
    return f"{'-' if value < 0 else ''}{mantissa} times 10 to the {power}"


def _json(value: Number) -> object:
    """The value as JSON has it; an integer too long for that is text."""
    if isinstance(value, float):
        return value
    if value.denominator == 1:
        return value.numerator if abs(value.numerator) < 2**53 else str(value.numerator)
    return float(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# The converter

UNITS = {
    "mpg": "mile_per_gallon", "miles per gallon": "mile_per_gallon", "mile per gallon": "mile_per_gallon",
    "l/100km": "liter_per_100km", "l/100 km": "liter_per_100km", "liters per 100 km": "liter_per_100km", "litres per 100 km": "liter_per_100km",
    "liters per 100 kilometers": "liter_per_100km", "litres per 100 kilometres": "liter_per_100km", "liters per hundred kilometers": "liter_per_100km",
    "kmh": "kilometer_per_hour", "km/h": "kilometer_per_hour", "kph": "kilometer_per_hour", "kilometers per hour": "kilometer_per_hour",
    "kilometres per hour": "kilometer_per_hour", "mph": "mile_per_hour", "miles per hour": "mile_per_hour", "miles an hour": "mile_per_hour",
    "kilometers an hour": "kilometer_per_hour", "kilometres an hour": "kilometer_per_hour",
    "meters per second": "meter/second", "metres per second": "meter/second", "feet per second": "foot/second", "m/s": "meter/second",
    "celsius": "degC", "centigrade": "degC", "degrees celsius": "degC", "degree celsius": "degC", "degrees centigrade": "degC", "°c": "degC", "deg c": "degC",
    "fahrenheit": "degF", "degrees fahrenheit": "degF", "degree fahrenheit": "degF", "°f": "degF", "deg f": "degF", "degrees f": "degF", "degrees c": "degC",
    "kelvin": "kelvin", "kelvins": "kelvin", "degrees kelvin": "kelvin",
    "l": "liter", "litre": "liter", "litres": "liter", "ltr": "liter", "ml": "milliliter", "millilitres": "milliliter", "cl": "centiliter", "dl": "deciliter",
    "tbsp": "tablespoon", "tbsps": "tablespoon", "tablespoonful": "tablespoon", "tsp": "teaspoon", "tsps": "teaspoon", "c.": "cup",
    "fl oz": "fluid_ounce", "floz": "fluid_ounce", "fluid ounce": "fluid_ounce", "fluid ounces": "fluid_ounce",
    "imperial gallon": "imperial_gallon", "imperial gallons": "imperial_gallon", "uk gallon": "imperial_gallon", "uk gallons": "imperial_gallon",
    "us gallon": "gallon", "us gallons": "gallon", "imperial pint": "imperial_pint", "imperial pints": "imperial_pint", "uk pint": "imperial_pint", "uk pints": "imperial_pint",
    "us pints": "pint", "us cups": "cup", "metric cups": "metric_cup", "metric cup": "metric_cup",
    "lbs": "pound", "lb": "pound", "oz": "ounce", "st": "stone", "stones": "stone", "kilo": "kilogram", "kilos": "kilogram", "kgs": "kilogram", "gramme": "gram", "grammes": "gram",
    "metric ton": "metric_ton", "metric tons": "metric_ton", "tonne": "metric_ton", "tonnes": "metric_ton", "short tons": "ton", "us tons": "ton", "long tons": "long_ton", "carats": "carat",
    "in": "inch", "ins": "inch", '"': "inch", "'": "foot", "ft": "foot", "yds": "yard", "metre": "meter", "metres": "meter", "centimetres": "centimeter",
    "millimetres": "millimeter", "kilometre": "kilometer", "kilometres": "kilometer", "kms": "kilometer", "k": "kilometer", "nautical miles": "nautical_mile", "nautical mile": "nautical_mile",
    "light years": "light_year", "light year": "light_year", "lightyears": "light_year", "astronomical units": "astronomical_unit", "au": "astronomical_unit",
    "sq ft": "foot**2", "square feet": "foot**2", "square foot": "foot**2", "square meters": "meter**2", "square metres": "meter**2", "square meter": "meter**2",
    "sq m": "meter**2", "sqm": "meter**2", "m2": "meter**2", "m²": "meter**2", "square kilometers": "kilometer**2", "square kilometres": "kilometer**2", "square miles": "mile**2",
    "square inches": "inch**2", "square yards": "yard**2", "cubic meters": "meter**3", "cubic metres": "meter**3", "cubic feet": "foot**3", "cubic inches": "inch**3", "cubic centimeters": "centimeter**3",
    "hectares": "hectare", "secs": "second", "sec": "second", "mins": "minute", "min": "minute", "hrs": "hour", "hr": "hour", "h": "hour", "yrs": "year",
    "hp": "horsepower", "kwh": "kilowatt_hour", "kilowatt hours": "kilowatt_hour", "kilowatt hour": "kilowatt_hour", "kw": "kilowatt", "w": "watt", "calories": "calorie", "kcal": "kilocalorie",
    "kilocalories": "kilocalorie", "kj": "kilojoule", "kilojoules": "kilojoule", "atmospheres": "atmosphere", "millibars": "millibar", "hpa": "hectopascal", "psi": "pound_force_per_square_inch",
    "pounds per square inch": "pound_force_per_square_inch", "kb": "kilobyte", "mb": "megabyte", "gb": "gigabyte", "tb": "terabyte", "kib": "kibibyte", "mib": "mebibyte", "gib": "gibibyte",
    "tib": "tebibyte", "mbps": "megabit/second", "gbps": "gigabit/second", "megabits per second": "megabit/second", "megabytes per second": "megabyte/second",
    "dozen": "dozen_count", "dozens": "dozen_count", "degrees": "degree", "degree": "degree", "radians": "radian", "knots": "knot", "furlongs": "furlong", "fortnights": "fortnight",
}  # fmt: skip
HEAT = {"c": "degC", "f": "degF", "k": "kelvin", "degrees": "degC", "degree": "degC"}
MONEY = set(
    "usd eur gbp jpy chf cad aud cny inr dollar dollars us dollars euro euros pound sterling yen yuan rupee rupees franc francs krona kronor peso pesos won "
    "bitcoin bitcoins btc eth cents $ € £ ¥".split()
) - {"us", "pound"}
MEASURES = {
    "[length]": "a length", "[mass]": "a weight", "[time]": "a time", "[temperature]": "a temperature", "[length] ** 3": "a volume", "[length] ** 2": "an area",
    "[length] / [time]": "a speed", "[length] ** 2 * [mass] / [time] ** 2": "an energy", "[length] ** 2 * [mass] / [time] ** 3": "a power",
    "[mass] / [length] / [time] ** 2": "a pressure", "dimensionless": "a plain number", "1 / [length] ** 2": "a fuel economy",
}  # fmt: skip
SAID = {"degree_Celsius": "degrees Celsius", "degree_Fahrenheit": "degrees Fahrenheit", "mile_per_gallon": "miles per gallon", "liter_per_100km": "liters per 100 kilometers"}
PLURALS = {"foot": "feet", "inch": "inches", "stone": "stone", "century": "centuries", "kelvin": "kelvin", "hertz": "hertz", "horsepower": "horsepower"}


@lru_cache(maxsize=1)
def _registry() -> Any:
    registry: Any = pint.UnitRegistry(autoconvert_offset_to_baseunit=True)
    registry.define("mile_per_gallon = mile / gallon")
    registry.define("liter_per_100km = liter / (100 * kilometer)")
    registry.define("dozen_count = 12")
    return registry


def _is_heat(unit: str) -> bool:
    plain = unit.casefold().strip(" .")
    return UNITS.get(plain) in {"degC", "degF", "kelvin"} or plain in {"k", "c", "f"}


def _unit(said: str, heat: bool) -> Any:
    """The unit of that name. Raises ToolError with a sentence."""
    plain = re.sub(r"^(?:an?|the|us customary) ", "", " ".join(said.split()).strip(" ?!,"))
    lower = plain.casefold().strip(".")
    if lower in MONEY or (lower.split() or [""])[-1] in MONEY or lower in {"pound sterling", "pounds sterling"}:
        raise ToolError("I can't convert currencies: exchange rates change all day, and I don't look them up.")
    if not plain or len(plain) > 40 or not re.fullmatch(r"[\w°²³µ'\"/*^ .-]+", plain) or re.search(r"\d{2,}(?!km| ?k)|\*\*\d\d|\^\d\d", lower.replace("100", "")):
        raise ToolError(f"I don't know a unit called {said.strip()[:40]!r}.")
    registry = _registry()
    for name in _spellings(plain, lower, heat):
        try:
            return registry.parse_units(name)
        except Exception:  # noqa: S112, BLE001  pint raises of many kinds for what is no unit
            continue
    raise ToolError(f"I don't know a unit called {plain!r}.")


def _spellings(plain: str, lower: str, heat: bool) -> list[str]:
    """What the unit may be called in the library, the likeliest first."""
    known = [HEAT[lower]] if heat and lower in HEAT else []
    known += [UNITS[lower]] if lower in UNITS else []
    under = lower.replace(" per ", "/").replace(" ", "_").replace("²", "**2").replace("³", "**3").replace("^", "**")
    singular = [under[:-1]] if under.endswith("s") else []
    return [*known, under, *singular, plain]


def _converted(value: float, source: Any, target: Any) -> float:
    registry = _registry()
    quantity = registry.Quantity(value, source)
    inverse = (1 / registry.Quantity(1, target)).dimensionality
    if quantity.dimensionality != registry.Quantity(1, target).dimensionality and quantity.dimensionality == inverse:
        # Miles per gallon and liters per 100 kilometers are each other's inverse.
        quantity = 1 / quantity
    return float(quantity.to(target).magnitude)


def _measures(source: Any, target: Any) -> str:
    kinds = [MEASURES.get(str(unit.dimensionality), "something else") for unit in (source, target)]
    return f"one measures {kinds[0]}, the other {kinds[1]}"


def _rounded(value: float) -> str:
    """The amount as people say it: two digits after the point, or four that count."""
    if value and (abs(value) >= 1e15 or abs(value) < 1e-6):
        return _scientific(value)
    digits = 2 if abs(value) >= 10 else 4 - (math.floor(math.log10(abs(value))) + 1 if value else 1)
    text = f"{value:,.{min(digits, 10)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _spoken(unit: Any, amount: float) -> str:
    """The unit's name, in the plural unless there is one."""
    name = str(unit)
    if name in SAID:
        text = SAID[name]
        return text.replace("degrees", "degree").replace("miles", "mile").replace("liters", "liter", 1) if amount == 1 else text
    if not name or name == "dimensionless":
        return ""
    over, _, under = name.replace(" ** 2", "²").replace(" ** 3", "³").partition(" / ")
    over, _, rest = over.partition("_per_")
    first = re.sub(r"(\w+)([²³])", lambda found: f"{ {'²': 'square', '³': 'cubic'}[found[2]] } {found[1]}", over)
    words = first.replace("_", " ").split(" ")
    if amount != 1:
        words[-1] = PLURALS.get(words[-1]) or f"{words[-1]}s"
    below = rest.replace("_", " ") or under.replace("_", " ").replace(" / ", " per ")
    return " ".join(words) + (f" per {below}" if below else "")
