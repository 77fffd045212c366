"""The one function that reads a number from a user, exactly.

`0.1` means one tenth: a float is read as its shortest decimal, the text Python prints for it. "1/3", "0.25", "1e-6",
"ln(3)" and "1/2*ln(6/5)" mean what they say. Anything that is not plainly a number in range is refused with its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from numbers import Integral, Rational
from typing import SupportsFloat, SupportsIndex, TypeAlias

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact.numbers import Exact, LogSum, ln

__all__ = ["NumberLike", "read_epsilon", "read_exact", "read_integer", "read_many", "read_rate", "read_rational"]

NumberLike: TypeAlias = int | float | str | Decimal | Fraction | LogSum | SupportsIndex | SupportsFloat

_LONGEST_TEXT = 1000
_MOST_BITS = 4096  # of numerator and denominator: beyond 10^1200 no parameter means anything
_LARGEST_DECIMAL_EXPONENT = 1200
_LEAST_EPSILON, _LARGEST_EPSILON = Fraction(1, 10**30), 10**4  # no double of a rate in it overflows or vanishes

_UNSIGNED = r"(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d{1,6})?(?:/\d[\d_]*)?"
_TERM = re.compile(
    rf"(?P<sign>[+-]?)(?:(?P<factor>{_UNSIGNED})\*)?"
    rf"(?:ln\((?P<argument>{_UNSIGNED})\)(?:/(?P<divisor>\d[\d_]*))?|(?P<rational>{_UNSIGNED}))(?=[+-]|$)",
    re.ASCII,
)


def read_exact(
    value: NumberLike,
    name: str,
    *,
    above: Exact | int | None = None,
    at_least: Exact | int | None = None,
    below: Exact | int | None = None,
    at_most: Exact | int | None = None,
) -> Exact:
    """Read `value` as the exact number it is written as, and check its range.

    Args:
        value: int, float (its shortest decimal), `Fraction`, `Decimal`, a NumPy scalar, or text such as "0.1", "1/3",
            "1e-6", "ln(3)", "1/2 + ln(6/5)".
        name: What the user calls the parameter; it opens the error text.
        above: The number must be greater than this.
        at_least: The number must not be less than this.
        below: The number must be less than this.
        at_most: The number must not be greater than this.

    Raises:
        BadParameter: Not a number, not finite, a bool, absurdly large, or out of range.

    >>> read_exact(0.1, "epsilon"), read_exact("ln(3)", "epsilon"), read_exact("1/3", "delta", at_most=1)
    (Fraction(1, 10), ln(3), Fraction(1, 3))
    >>> read_exact(-1, "epsilon", above=0)
    Traceback (most recent call last):
    leastnoise.errors.BadParameter: epsilon must be above 0; given: -1; pass for example epsilon=0.5 or epsilon="1/3"
    """
    number = _parse(value, name)
    limits = (
        (above, "above", above is None or number > above),
        (at_least, "at least", at_least is None or number >= at_least),
        (below, "below", below is None or number < below),
        (at_most, "at most", at_most is None or number <= at_most),
    )
    broken = [f"{word} {limit}" for limit, word, _ in limits if limit is not None]
    if not all(holds for _, _, holds in limits):
        raise _refusal(f"{name} must be {' and '.join(broken)}", value, name)
    return number


def read_rational(
    value: NumberLike,
    name: str,
    *,
    above: Fraction | int | None = None,
    at_least: Fraction | int | None = None,
    below: Fraction | int | None = None,
    at_most: Fraction | int | None = None,
) -> Fraction:
    """Like `read_exact`, where a logarithm has no meaning (delta, bounds, lattice steps).

    >>> read_rational("1e-6", "delta", at_least=0, below=1)
    Fraction(1, 1000000)
    """
    number = read_exact(value, name, above=above, at_least=at_least, below=below, at_most=at_most)
    if isinstance(number, LogSum):
        raise _refusal(f"{name} must be a rational number, not a logarithm", value, name)
    return number


def read_rate(value: NumberLike, name: str, *, reach: int = 1000) -> Exact:
    """Like `read_exact`, for an epsilon or a rate: a number from 2^-reach to 2^reach.

    A double is then near it, and near its reciprocal; beyond, no noise means anything.

    >>> read_rate("ln(3)", "rate")
    ln(3)
    """
    number = read_exact(value, name, above=0)
    if not Fraction(1, 2**reach) <= number <= 2**reach:
        given = value if isinstance(value, str | float | Decimal) else "more" if number > 1 else "less"
        raise _refusal(f"{name} must lie between 2^-{reach} and 2^{reach}", given, name)
    return number


def read_epsilon(epsilon: NumberLike) -> Exact:
    """Read ε, from 1e-30 to 10,000: a smaller one answers nothing, a larger one protects nobody.

    >>> read_epsilon(0.5)
    Fraction(1, 2)
    """
    return read_exact(epsilon, "epsilon", at_least=_LEAST_EPSILON, at_most=_LARGEST_EPSILON)


def read_integer(value: NumberLike, name: str, *, at_least: int | None = None, at_most: int | None = None) -> int:
    """Like `read_exact`, for whole numbers; 3.0 and "3" are 3, 3.5 is refused.

    >>> read_integer("12", "size", at_least=0)
    12
    """
    fix = f"pass for example {name}={max(10 if at_most is None else min(10, at_most), at_least or 0)}"
    try:
        number = read_exact(value, name, at_least=at_least, at_most=at_most)
    except BadParameter as refusal:
        raise BadParameter(refusal.problem, given=refusal.given, fix=fix) from None
    if isinstance(number, LogSum) or number.denominator != 1:
        raise BadParameter(f"{name} must be a whole number", given=value, fix=fix)
    return number.numerator


def read_many(values: Iterable[NumberLike], name: str) -> list[Exact]:
    """Like `read_exact`, for long lists: an error names the place.

    >>> read_many([0.1, "1/3", 2], "weights")
    [Fraction(1, 10), Fraction(1, 3), Fraction(2, 1)]
    """
    return [
        Fraction(Decimal(repr(value)))
        if type(value) is float and isfinite(value)
        else read_exact(value, f"{name}[{place}]")
        for place, value in enumerate(values)
    ]


def _parse(value: object, name: str) -> Exact:
    if isinstance(value, LogSum):
        return value
    if isinstance(value, bool | np.bool_):
        raise _refusal(f"{name} must be a number, not a truth value", value, name)
    if isinstance(value, Integral | Rational):
        return _sized(Fraction(int(value.numerator), int(value.denominator)), value, name)
    if isinstance(value, float):  # np.float64 is a float
        return _parse_decimal(Decimal(repr(float(value))), value, name)
    if isinstance(value, np.floating):
        return _parse_decimal(Decimal(np.format_float_scientific(value, trim="-")), value, name)
    if isinstance(value, Decimal):
        return _parse_decimal(value, value, name)
    if isinstance(value, str):
        return _parse_text(value, name)
    raise _refusal(f"{name} must be a number", f"{type(value).__name__}", name)


def _parse_decimal(decimal: Decimal, value: object, name: str) -> Fraction:
    if not decimal.is_finite():
        raise _refusal(f"{name} must be finite", value, name)
    if decimal and abs(decimal.adjusted()) > _LARGEST_DECIMAL_EXPONENT:
        raise _too_large(value, name)
    return _sized(Fraction(decimal), value, name)


@lru_cache(maxsize=256)
def _parse_text(text: str, name: str) -> Exact:
    if len(text) > _LONGEST_TEXT:
        raise _too_large(text, name)
    squeezed = re.sub(r"\s*([+\-*/()])\s*", r"\1", text.strip())
    total: Exact = Fraction(0)
    position = 0
    while position < len(squeezed) or position == 0:
        term = _TERM.match(squeezed, position)
        if term is None or (position > 0 and not term["sign"]):
            raise _refusal(f"{name} must be a number", repr(text), name)
        total = total + _term_value(term, text, name)
        position = term.end()
    return total


def _term_value(term: re.Match[str], text: str, name: str) -> Exact:
    factor = _parse_unsigned(term["factor"] or "1", text, name) * (-1 if term["sign"] == "-" else 1)
    if term["rational"] is not None:
        return factor * _parse_unsigned(term["rational"], text, name)
    divisor = int(term["divisor"] or "1")
    argument = _parse_unsigned(term["argument"], text, name)
    if divisor == 0 or argument == 0:
        raise _refusal(f"{name} has a zero where none can be", repr(text), name)
    return ln(argument) * (factor / divisor)


def _parse_unsigned(text: str, whole_text: str, name: str) -> Fraction:
    top, _, bottom = text.partition("/")
    if bottom and not int(bottom):
        raise _refusal(f"{name} divides by zero", repr(whole_text), name)
    return _parse_decimal(Decimal(top), whole_text, name) / int(bottom or "1")


def _sized(number: Fraction, value: object, name: str) -> Fraction:
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > _MOST_BITS:
        raise _too_large(value, name)
    return number


def _too_large(value: object, name: str) -> BadParameter:
    given = value if isinstance(value, str | float | Decimal) else f"{type(value).__name__} of more than 1200 digits"
    return _refusal(f"{name} is too large, too small or too long to mean anything", given, name)


def _refusal(problem: str, given: object, name: str) -> BadParameter:
    """The example is one that protects people: no δ above a millionth."""
    examples = ('"1e-6"',) if name.endswith("delta") else ("0.5", '"1/3"')
    calls = " or ".join(f"{name}={example}" if name.isidentifier() else example for example in examples)
    return BadParameter(problem, given=given, fix=f"pass for example {calls}")
