"""The one place that reads numbers from a user, exactly: one by one, or as arrays.

`0.1` means one tenth: a float is read as its shortest decimal, the text Python prints for it. "1/3", "0.25", "1e-6",
"ln(3)" and "1/2*ln(6/5)" mean what they say. Anything that is not plainly a number in range is refused with its name.

A parameter in an array is a double, within a stated relative error, and the exact number on demand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from numbers import Integral, Rational
from typing import Any, SupportsFloat, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.numbers import Exact, LogSum, double_of, ln

__all__ = [
    "RELATIVE_ERROR",
    "ExactArray",
    "IntArray",
    "Length",
    "NumberLike",
    "Point",
    "Size",
    "is_array",
    "largest_size",
    "read_array",
    "read_epsilon",
    "read_exact",
    "read_integer",
    "read_many",
    "read_rate",
    "read_rational",
    "shape_of",
    "whole_array",
    "wide_enough",
]

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
    if not all(holds for _, _, holds in limits):
        broken = [f"{word} {limit}" for limit, word, _ in limits if limit is not None]
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


RELATIVE_ERROR = 2.0**-50
_SMALLEST, _LARGEST = 2.0**-900, 2.0**900

_MOST_DRAWS = 1 << 32

Size = int | tuple[int, ...] | None


@dataclass(frozen=True)
class ExactArray:
    """Exact numbers, flat, with doubles `centers` that are within a factor 1 ± `RELATIVE_ERROR` of them."""

    centers: NDArray[np.float64]
    shape: tuple[int, ...]
    exact: Callable[[int], Exact]

    def rational(self, i: int) -> Fraction:
        """The number itself, where a logarithm has no meaning."""
        number = self.exact(i)
        if isinstance(number, LogSum):
            raise BadParameter("a rational number is needed, not a logarithm", given=number, fix="pass rationals")
        return number

    def reciprocal(self) -> ExactArray:
        """The exact reciprocals, of rationals."""
        return ExactArray(1.0 / self.centers, self.shape, lambda i: 1 / self.rational(i))


def is_array(value: object) -> bool:
    """Whether a parameter is one number per element and not one for all."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def read_array(values: object, name: str, *, zero_allowed: bool = False) -> ExactArray:
    """Read an array of positive exact numbers; floats as their shortest decimals, as everywhere.

    >>> read_array([0.1, "1/3"], "scale").exact(0)
    Fraction(1, 10)
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise BadParameter(f"{name} is ragged", fix="pass rows of equal length") from None
    flat: NDArray[Any] = array.ravel()
    exact: Callable[[int], Exact]
    if array.dtype.kind in "iu":
        centers, exact = flat.astype(np.float64), lambda i: Fraction(int(flat[i]))
    elif array.dtype == np.float64:
        centers, exact = flat, lambda i: read_exact(float(flat[i]), name)
    else:
        items: list[NumberLike] = list(flat if array.dtype.kind == "f" else np.asarray(values, dtype=object).ravel())
        numbers = [read_exact(item, f"{name}[{i}]") for i, item in enumerate(items)]
        # A number below the smallest double is not zero, but no double is near it: it counts as no number here.
        centers = np.array([0.0 if number == 0 else double_of(number) or np.nan for number in numbers])
        exact = numbers.__getitem__
    fine = (centers >= _SMALLEST) & (centers <= _LARGEST)
    if zero_allowed:
        fine |= centers == 0
    if not fine.all():
        place = int(np.flatnonzero(~fine)[0])
        raise BadParameter(
            f"{name}[{place}] must be {'0 or ' if zero_allowed else ''}between 2^-900 and 2^900",
            given=flat[place],
            fix=f"pass positive finite numbers as {name}",
        )
    return ExactArray(centers, array.shape, exact)


def shape_of(size: Size) -> tuple[int, ...]:
    """The shape that `size` asks for; None is a single number.

    >>> shape_of(None), shape_of(3), shape_of((2, 3))
    ((), (3,), (2, 3))
    """
    if size is None:
        return ()
    shape = size if isinstance(size, tuple) else (size,)
    if any(isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0 for n in shape):
        raise BadParameter("size must be whole numbers of at least 0", given=size, fix="pass size=1000 or size=(10, 3)")
    if math.prod(int(n) for n in shape) > _MOST_DRAWS:
        raise TooLarge("so many draws do not fit into memory", given=size, fix="draw them in parts")
    return tuple(int(n) for n in shape)


def largest_size(numbers: NDArray[Any]) -> int:
    """The largest |number| of an array of whole numbers, 0 if it is empty.

    >>> largest_size(np.array([-128, 127], dtype=np.int8))
    128
    """
    return max(-int(numbers.min()), int(numbers.max())) if numbers.size else 0


def wide_enough(numbers: NDArray[Any], growth: int, extra: int = 0) -> NDArray[Any]:
    """Whole numbers as int64 where growth·largest + extra fits into it, else as Python's integers, which never wrap.

    NumPy does not say when an integer array wraps. So whoever computes with one bounds the result first: `growth` and
    `extra` bound every number that is formed, intermediate ones included.

    >>> wide_enough(np.array([100, -100], dtype=np.int8), growth=2).dtype, wide_enough(np.array([2**62]), 2).dtype
    (dtype('int64'), dtype('O'))
    """
    fits = growth * largest_size(numbers) + extra < 1 << 63
    return numbers.astype(np.int64 if fits else object)


def whole_array(values: object) -> NDArray[Any] | None:
    """Whole numbers of any size as an array of some integer type or of Python's integers; None if they are not whole.

    NumPy would read a list such as [2**63, -1] as floats, so that the size of a number would decide whether it counts
    as whole; here only the types of the values do.

    >>> whole_array([2**63, -1]), whole_array([1.0]), whole_array([True])
    (array([9223372036854775808, -1], dtype=object), None, None)
    """
    if not isinstance(values, list | tuple | Integral) and not hasattr(values, "__array__"):
        return None
    array = np.asarray(values, dtype=None if hasattr(values, "__array__") else object)
    if array.dtype.kind in "iu":
        return array
    if array.dtype != object or not all(_is_whole(value) for value in array.flat):
        return None
    whole = np.empty(array.shape, dtype=object)
    whole.ravel()[:] = [int(value) for value in array.flat]
    return whole


def _is_whole(value: object) -> bool:
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


IntArray: TypeAlias = npt.NDArray[np.int64]
Length: TypeAlias = int | Fraction
Point: TypeAlias = tuple[int, ...]
