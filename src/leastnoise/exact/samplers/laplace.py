"""Discrete Laplace noise, and the truncated geometric law it becomes between two bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact.arrays import RELATIVE_ERROR, ExactArray, Size, is_array, read_array, shape_of, whole_array
from leastnoise.exact.balls import Ball, evaluate, scaled_bounds
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.floats import exp_bounds
from leastnoise.exact.numbers import Exact, ball_of, exact_exp
from leastnoise.exact.parameters import NumberLike, read_integer, read_rate, read_rational
from leastnoise.exact.samplers.bernoulli import ScaledBounds, coins_between
from leastnoise.exact.samplers.geometric import geometric_each, geometric_tables, read_rate_array
from leastnoise.exact.samplers.shaping import Draws, in_shape, per_element
from leastnoise.exact.sources import Source

__all__ = [
    "discrete_laplace",
    "discrete_laplace_cdf",
    "discrete_laplace_pmf",
    "truncated_geometric",
    "truncated_geometric_cdf",
    "truncated_geometric_pmf",
]

_QUOTIENT_SLACK = 2.0**-50  # above the rounding of a quotient


def discrete_laplace(
    scale: NumberLike | NDArray[Any] | None = None,
    size: Size = None,
    source: Source | None = None,
    *,
    rate: NumberLike | NDArray[Any] | None = None,
) -> Draws:
    """Draw a whole number X with P(X = x) = (1 − α)/(1 + α)·α^|x|, α = e^(−1/scale) = e^-rate.

    Give either `scale` or its reciprocal `rate` (the only way to say α = 1/3 exactly: rate="ln(3)"). An array gives one
    number for each of its elements. Scales beyond 2^51 give Python integers, which never wrap.

    >>> discrete_laplace(10, size=5).shape, discrete_laplace(rate="ln(3)", size=2).dtype
    ((5,), dtype('int64'))
    """
    if is_array(scale) or is_array(rate):
        rates = _rates_of(scale, rate)
        return per_element(lambda block, bits: _signed_each(rates, block, bits), rates, size, source)
    tables = geometric_tables(_rate_of(scale, rate), signed=True)
    return in_shape(tables.draw, size, source, tables.dtype)


def discrete_laplace_pmf(
    outcome: int, scale: NumberLike | None = None, bits: int = 64, *, rate: NumberLike | None = None
) -> Enclosure:
    """P(X = outcome) of `discrete_laplace`; exact where α is rational.

    >>> discrete_laplace_pmf(-1, rate="ln(3)")
    Enclosure(1/6)
    """
    number, distance = _rate_of(scale, rate), abs(read_integer(outcome, "outcome"))
    alpha, power = exact_exp(-number), exact_exp(-number * distance)
    if alpha is not None and power is not None:
        exact = (1 - alpha) / (1 + alpha) * power
        return Enclosure(exact, exact)
    return enclose(lambda: (ball_of(number) / 2).tanh() * (-ball_of(number) * distance).exp(), bits)


def discrete_laplace_cdf(
    outcome: int, scale: NumberLike | None = None, bits: int = 64, *, rate: NumberLike | None = None
) -> Enclosure:
    """P(X ≤ outcome) of `discrete_laplace`: α^-x/(1 + α) below zero, 1 − α^(x+1)/(1 + α) from zero on.

    >>> discrete_laplace_cdf(0, rate="ln(3)")
    Enclosure(3/4)
    """
    number, x = _rate_of(scale, rate), read_integer(outcome, "outcome")
    if x >= 0:  # by symmetry P(X ≤ x) = 1 − P(X ≤ −x − 1)
        mirror = discrete_laplace_cdf(-x - 1, bits=bits, rate=number)
        return Enclosure(1 - mirror.upper, 1 - mirror.lower)
    alpha, power = exact_exp(-number), exact_exp(number * x)
    if alpha is not None and power is not None:
        return Enclosure(power / (1 + alpha), power / (1 + alpha))
    return enclose(lambda: (ball_of(number) * x).exp() / (1 + (-ball_of(number)).exp()), bits)


def truncated_geometric(
    value: NumberLike | NDArray[Any],
    low: NumberLike,
    high: NumberLike,
    scale: NumberLike | None = None,
    size: Size = None,
    source: Source | None = None,
    *,
    rate: NumberLike | None = None,
) -> Draws:
    """Draw `value` plus discrete Laplace noise, moved to the nearer of the public bounds where it leaves them.

    For low ≤ v ≤ high: P(y) = (1−α)/(1+α)·α^|y−v| inside, α^(v−low)/(1+α) at low, α^(high−v)/(1+α) at high.
    An array of values gets independent noise for each. A value outside the bounds is refused.

    >>> bool(np.all(truncated_geometric([0, 5, 10], 0, 10, scale=3) <= 10))
    True
    """
    least, most = read_integer(low, "low"), read_integer(high, "high")
    if least > most:
        raise BadParameter("low must not exceed high", given=f"low={least}, high={most}", fix="swap the two")
    if is_array(scale) or is_array(rate):
        raise BadParameter("one scale or rate is for all values", given="an array", fix="pass a number")
    values = whole_array(value)
    if values is None:
        raise BadParameter("value must be whole numbers", given=type(value).__name__, fix="round to a lattice first")
    if values.size and not (least <= values.min() and values.max() <= most):
        # The text names the bounds only: the values are private.
        raise BadParameter(f"every value must lie between {least} and {most}", fix="clamp the values first")
    if values.ndim and size is not None and shape_of(size) != values.shape:
        raise BadParameter(
            f"size must match the values, which have shape {values.shape}", given=size, fix="leave it out"
        )
    shape = values.shape if values.ndim else size
    noise = np.asarray(discrete_laplace(scale, shape, source, rate=rate))
    if max(abs(least), abs(most)) >= 1 << 61 or noise.dtype == object:
        return np.frompyfunc(lambda v, x: min(max(int(v) + int(x), least), most), 2, 1)(values, noise)
    # The noise is clipped first, so that the sum stays within the bounds and can't overflow.
    values = values.astype(np.int64)
    released = values + np.clip(noise, least - values, most - values)
    return released if shape is not None else int(released)


def truncated_geometric_pmf(
    outcome: int,
    value: int,
    low: int,
    high: int,
    scale: NumberLike | None = None,
    bits: int = 64,
    *,
    rate: NumberLike | None = None,
) -> Enclosure:
    """P(Y = outcome) of `truncated_geometric`.

    >>> [truncated_geometric_pmf(y, 0, 0, 2, rate="ln(4)") for y in range(3)]
    [Enclosure(4/5), Enclosure(3/20), Enclosure(1/20)]
    """
    outcome, value, low, high = _read_place(outcome, value, low, high)
    if not low <= outcome <= high:
        return Enclosure(Fraction(0), Fraction(0))
    if low == high:
        return Enclosure(Fraction(1), Fraction(1))
    if outcome == low:
        return discrete_laplace_cdf(low - value, scale, bits, rate=rate)
    if outcome == high:
        return discrete_laplace_cdf(value - high, scale, bits, rate=rate)
    return discrete_laplace_pmf(outcome - value, scale, bits, rate=rate)


def truncated_geometric_cdf(
    outcome: int,
    value: int,
    low: int,
    high: int,
    scale: NumberLike | None = None,
    bits: int = 64,
    *,
    rate: NumberLike | None = None,
) -> Enclosure:
    """P(Y ≤ outcome) of `truncated_geometric`."""
    outcome, value, low, high = _read_place(outcome, value, low, high)
    if outcome < low or outcome >= high:
        return Enclosure(Fraction(outcome >= high), Fraction(outcome >= high))
    return discrete_laplace_cdf(outcome - value, scale, bits, rate=rate)


def _read_place(outcome: int, value: int, low: int, high: int) -> tuple[int, int, int, int]:
    least, most = read_integer(low, "low"), read_integer(high, "high")
    true = read_integer(value, "value", at_least=least, at_most=most)
    return read_integer(outcome, "outcome"), true, least, most


def _rate_of(scale: NumberLike | None, rate: NumberLike | None) -> Exact:
    _one_of(scale, rate)
    if scale is not None:
        return read_rate(1 / read_rational(scale, "scale", above=0), "1/scale")
    return read_rate(rate if rate is not None else 0, "rate")


def _rates_of(scale: NumberLike | NDArray[Any] | None, rate: NumberLike | NDArray[Any] | None) -> ExactArray:
    _one_of(scale, rate)
    rates = read_rate_array(rate, "rate") if rate is not None else read_array(scale, "scale").reciprocal()
    if scale is not None and (rates.centers < 2.0**-50).any():
        raise NumberTooLarge(
            "an array of scales must stay below 2^50", given=1 / rates.centers.min(), fix="draw such numbers one by one"
        )
    return rates


def _one_of(scale: object, rate: object) -> None:
    if (scale is None) == (rate is None):
        raise BadParameter(
            "exactly one of scale and rate is needed", given="neither" if scale is None else "both", fix="pass scale=10"
        )


def _signed_each(rates: ExactArray, block: slice, source: Source) -> NDArray[np.int64]:
    """One X per rate: G, or −1 − G with probability α/(1 + α)."""
    magnitude = geometric_each(rates, block, source)
    x = rates.centers[block]
    low, high = exp_bounds(-x * (1 + RELATIVE_ERROR), -x * (1 - RELATIVE_ERROR))
    bounds = (low / (1 + low) * (1 - _QUOTIENT_SLACK), high / (1 + high) * (1 + _QUOTIENT_SLACK))

    def exact(i: int) -> ScaledBounds:
        def ball() -> Ball:
            return 1 / (1 + ball_of(rates.exact(block.start + i)).exp())

        return lambda bits: scaled_bounds(evaluate(ball, bits + 64), bits)

    minus = coins_between(bounds, exact, source)
    return np.where(minus, ~magnitude, magnitude)
