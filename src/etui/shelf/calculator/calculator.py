"""The calculator: exact where numbers are exact, quick and harmless whatever is typed.

Above: whoever speaks to the assistant. Below: `_words.py` writes what was said in symbols, `simpleeval` evaluates it, over
fractions. An ordinary tool file. It refuses to know: any expression that would take long.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any

import simpleeval

from etui import Result, ToolError, tool

from ._numbers import Number, said
from ._words import symbols

DEEPEST = 40
"""Parentheses and signs inside one another."""
MOST_BITS = 4000
"""Size of an exact number; what would grow beyond is refused before it is worked out."""


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
    plain = symbols(expression)
    value = _evaluate(plain)
    return Result(f"That's {said(value)}.", data={"expression": plain, "value": _json(value)})


def _evaluate(text: str) -> Number:
    """The value of an expression in symbols. Raises ToolError, and nothing else, with a sentence."""
    if not text:
        raise ToolError("What should I work out?")
    if "_" in text:
        raise ToolError(f"I can't work out {text[:60]!r}: say it like 12 * 7, 15% of 80 or sqrt(2).")
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
            if not math.isfinite(one.value):
                raise OverflowError
            one.value = Fraction(str(one.value))  # type: ignore[assignment]  # simpleeval takes it as it is
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
    ast.Mult: _limited(
        lambda left, right: Fraction(left) * Fraction(right) if _exact(left, right) else float(left) * float(right)
    ),
    ast.Div: _limited(
        lambda left, right: Fraction(left) / Fraction(right) if _exact(left, right) else float(left) / float(right)
    ),
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


def _json(value: Number) -> object:
    """The value as JSON has it; an integer too long for that is text."""
    if isinstance(value, float):
        return value
    if value.denominator == 1:
        return value.numerator if abs(value.numerator) < 2**53 else str(value.numerator)
    return float(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
