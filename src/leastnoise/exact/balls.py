"""The one door to ball arithmetic (Arb, through python-flint): evaluate, widen the precision, never guess.

A ball is a midpoint and a radius that surely contains the number. Every function here either returns a bound that
surely holds or raises the precision and tries again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeVar

from flint import arb, ctx, fmpq

from leastnoise.errors import BadParameter, NumberTooLarge, PrecisionExhausted

__all__ = [
    "Ball",
    "above",
    "below",
    "evaluate",
    "normal_cdf",
    "normal_quantile",
    "of_fraction",
    "precise",
    "refine",
    "require_bits",
    "scaled_bounds",
]

Ball = arb
_Result = TypeVar("_Result")

_FIRST_PRECISION = 96
_LAST_PRECISION = 1 << 20
_MOST_NEEDED = 1 << 16  # bits of an end whose ball is far smaller still
_SMALLEST_EXPONENT = 1 << 16  # a positive number below 2^-65536 gets 0 as its lower bound
_LARGEST_EXPONENT = 1 << 20

# The working precision is process-wide in flint. A race could only cost precision, never truth, but it could make a
# loop run longer than it should. A child must not inherit the lock from a thread that it does not have.
_lock = threading.RLock()


def _new_lock() -> None:
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_new_lock)


def evaluate(expression: Callable[[], _Result], precision: int) -> _Result:
    """The ball of an expression, or several, at a working precision in bits."""
    with _lock, ctx.workprec(precision):
        return expression()


def refine(expression: Callable[[], Ball], first: int = _FIRST_PRECISION) -> Iterator[Ball]:
    """Balls of the expression at doubling precision; raises `PrecisionExhausted` after the last one."""
    precision = first
    while precision <= _LAST_PRECISION:
        yield evaluate(expression, precision)
        precision *= 2
    raise PrecisionExhausted(
        f"{_LAST_PRECISION} bits of precision were not enough to decide",
        fix="use a less extreme parameter",
    )


def of_fraction(value: Fraction | int) -> Ball:
    """The ball of a rational at the current working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def normal_cdf(point: Ball) -> Ball:
    """Φ(point) = erfc(−point/√2)/2 at the current working precision; relative precision is kept far out to the left."""
    return (-point / arb(2).sqrt()).erfc() / 2


def normal_quantile(chance: Ball) -> Ball:
    """Φ⁻¹(chance) = −√2·erfc⁻¹(2·chance) at the current working precision."""
    return -arb(2).sqrt() * (2 * chance).erfcinv()


def below(ball: Ball) -> Fraction:
    """A rational that is at most every number of the ball."""
    mantissa, exponent = _mantissa_exponent(_low_end(ball))
    if mantissa and exponent + abs(mantissa).bit_length() <= -_SMALLEST_EXPONENT:  # less than 2^-65536 in size
        return Fraction(0) if mantissa > 0 else -Fraction(1, 2**_SMALLEST_EXPONENT)
    return _fraction(mantissa, exponent)


def above(ball: Ball) -> Fraction:
    """A rational that is at least every number of the ball."""
    mantissa, exponent = _mantissa_exponent(_high_end(ball))
    if mantissa and exponent + abs(mantissa).bit_length() <= -_SMALLEST_EXPONENT:
        return Fraction(0) if mantissa < 0 else Fraction(1, 2**_SMALLEST_EXPONENT)
    return _fraction(mantissa, exponent)


def require_bits(bits: int) -> None:
    """Refuse a precision that is none."""
    if type(bits) is not int or not 1 <= bits <= _LAST_PRECISION:
        raise BadParameter(
            f"bits must be a whole number from 1 to {_LAST_PRECISION}", given=bits, fix="pass for example bits=64"
        )


def precise(expression: Callable[[], Ball], bits: int) -> Ball:
    """A ball with at least `bits` correct bits, relative to the number, or exactly zero."""
    require_bits(bits)

    def settled(ball: Ball) -> bool:
        return bool(ball.is_exact() or ball.rel_accuracy_bits() >= bits)

    return next(ball for ball in refine(expression, max(_FIRST_PRECISION, bits + 32)) if settled(ball))


def scaled_bounds(ball: Ball, bits: int) -> tuple[int, int]:
    """Integers low ≤ x·2^bits ≤ high for every x of the ball."""
    low_mantissa, low_exponent = _mantissa_exponent(_low_end(ball))
    high_mantissa, high_exponent = _mantissa_exponent(_high_end(ball))
    return _floor_scaled(low_mantissa, low_exponent, bits), -_floor_scaled(-high_mantissa, high_exponent, bits)


def _low_end(ball: Ball) -> Ball:
    with _lock, ctx.workprec(_bits_of(ball)):
        return ball.lower()


def _high_end(ball: Ball) -> Ball:
    with _lock, ctx.workprec(_bits_of(ball)):
        return ball.upper()


def _bits_of(ball: Ball) -> int:
    """A working precision at which rounding an end outwards costs far less than the radius already does."""
    accuracy = 0 if ball.is_exact() else min(max(ball.rel_accuracy_bits(), 0), _MOST_NEEDED)
    return max(ball.bits(), accuracy) + 64


def _floor_scaled(mantissa: int, exponent: int, bits: int) -> int:
    shift = exponent + bits
    if shift < 0:
        return mantissa >> min(-shift, mantissa.bit_length() + 1)
    if shift > _LARGEST_EXPONENT:
        raise NumberTooLarge("a number is too large to be written out", given=f"2^{shift}", fix="use a smaller number")
    return mantissa << shift


def _mantissa_exponent(point: Ball) -> tuple[int, int]:
    if not point.is_finite():
        raise NumberTooLarge("a number left the range of ball arithmetic", fix="use a less extreme parameter")
    mantissa, exponent = point.man_exp()
    return int(mantissa), int(exponent)


def _fraction(mantissa: int, exponent: int) -> Fraction:
    if exponent > _LARGEST_EXPONENT:
        raise NumberTooLarge(
            "a number is too large to be written out", given=f"about 2^{exponent}", fix="use a smaller number"
        )
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
