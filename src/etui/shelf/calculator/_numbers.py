"""How the calculator says a number: exact if it is short, else about so much.

Above: `calculator.py` and `units.py`. Below: fractions. It refuses to know: where the number comes from.
"""

from __future__ import annotations

from fractions import Fraction

Number = Fraction | float


def said(value: Number) -> str:
    """The number as a sentence has it: exact if it is short, else "about" so much."""
    if isinstance(value, float):
        near = Fraction(repr(value))
        return (
            _decimal(near)
            if len(f"{abs(near.numerator)}") <= 12 and _digits_after(near) <= 10
            else f"about {_significant(value)}"
        )
    if value.denominator == 1:
        return f"{value.numerator:,}" if abs(value.numerator) < 10**30 else f"about {scientific(value)}"
    if _digits_after(value) <= 10 and abs(value) < 10**15:
        return _decimal(value)
    return f"about {_significant(value)}"


def _digits_after(value: Fraction) -> int:
    """Digits after the point; 99 if it never ends."""
    for digits in range(20):
        if pow(10, digits) % value.denominator == 0:
            return digits
    return 99


def _decimal(value: Fraction) -> str:
    digits = _digits_after(value)
    scaled = abs(value.numerator) * 10**digits // value.denominator
    whole, rest = divmod(scaled, 10**digits)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole:,}" + (f".{rest:0{digits}d}" if digits else "")


def _significant(value: Number) -> str:
    size = abs(Fraction(value))
    if size >= 10**15 or size < Fraction(1, 10**6):
        return scientific(value)
    return f"{float(f'{float(value):.10g}'):,.10f}".rstrip("0").rstrip(".")


def scientific(value: Number) -> str:
    if not value:
        return "0"
    exact = abs(Fraction(value))
    power = len(str(exact.numerator)) - len(str(exact.denominator))
    power -= exact < Fraction(f"1e{power}")
    mantissa = f"{float(exact / Fraction(f'1e{power}')):.4f}".rstrip("0").rstrip(".")
    return f"{'-' if value < 0 else ''}{mantissa} times 10 to the {power}"


def capital(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]
