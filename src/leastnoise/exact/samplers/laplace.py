"""The geometric law on 0, 1, 2, …, the signed one (discrete Laplace noise), and the one it becomes between two bounds.

With α = e^-rate: G has P(G = k) = (1 − α)·α^k. Two facts make it fast. For any m ≥ 1, G = m·Q + R with independent Q,
geometric with α^m, and R in 0..m−1 with P(R = r) ∝ α^r; so a wide law splits into narrow ones, each a table. And
X = G or, with probability α/(1 + α), X = −1 − G, is the discrete Laplace law P(X = x) = (1−α)/(1+α)·α^|x|:
for x ≥ 0 the mass is (1−α)α^x/(1+α), for x < 0 it is α·(1−α)α^(−1−x)/(1+α), the same formula.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact.balls import Ball, evaluate, of_fraction, scaled_bounds
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.floats import LOG_ERROR, UNIT, exp_bounds, minus_log_of, require_order
from leastnoise.exact.inversion import InverseTable, Law, Thresholds
from leastnoise.exact.numbers import Exact, ball_of, exact_exp
from leastnoise.exact.parameters import (
    RELATIVE_ERROR,
    ExactArray,
    NumberLike,
    Size,
    is_array,
    read_array,
    read_integer,
    read_rate,
    read_rational,
    shape_of,
    whole_array,
)
from leastnoise.exact.samplers.bernoulli import ScaledBounds, coins_between
from leastnoise.exact.sources import Draws, Source, in_shape, per_element

__all__ = [
    "GeometricTables",
    "discrete_laplace",
    "discrete_laplace_cdf",
    "discrete_laplace_pmf",
    "geometric",
    "geometric_cdf",
    "geometric_each",
    "geometric_pmf",
    "geometric_tables",
    "head_law",
    "read_rate_array",
    "remainder_law",
    "truncated_geometric",
    "truncated_geometric_cdf",
    "truncated_geometric_pmf",
]

_LEAST_HEAD_RATE = Fraction(1, 128)  # below this the leading table would hold too many thresholds
_DIGITS = 9  # binary digits per remainder table
_GUARD_BITS = 64  # of a power, beyond those of a threshold
_WIDEST = 44  # binary digits below the head for which 64-bit arithmetic can't overflow
_LEAST_ARRAY_RATE = 2.0**-50


def geometric(rate: NumberLike | NDArray[Any], size: Size = None, source: Source | None = None) -> Draws:
    """Draw G ≥ 0 with P(G = k) = (1 − α)·α^k, α = e^-rate; an array of rates gives one number for each.

    Rates below 2^-51 give Python integers, which never wrap.

    >>> geometric("ln(2)", size=3).dtype, geometric(1) >= 0
    (dtype('int64'), True)
    """
    if is_array(rate):
        rates = read_rate_array(rate, "rate")
        return per_element(lambda block, bits: geometric_each(rates, block, bits), rates, size, source)
    tables = geometric_tables(read_rate(rate, "rate"), signed=False)
    return in_shape(tables.draw, size, source, tables.dtype)


def geometric_pmf(outcome: int, rate: NumberLike, bits: int = 64) -> Enclosure:
    """P(G = outcome) of `geometric`; exact where e^-rate is rational.

    >>> geometric_pmf(2, "ln(2)")
    Enclosure(1/8)
    """
    number, k = read_rate(rate, "rate"), read_integer(outcome, "outcome")
    if k < 0:
        return Enclosure(Fraction(0), Fraction(0))
    alpha, power = exact_exp(-number), exact_exp(-number * k)
    if alpha is not None and power is not None:
        return Enclosure((1 - alpha) * power, (1 - alpha) * power)
    return enclose(lambda: -(-ball_of(number)).expm1() * (-ball_of(number) * k).exp(), bits)


def geometric_cdf(outcome: int, rate: NumberLike, bits: int = 64) -> Enclosure:
    """P(G ≤ outcome) = 1 − α^(outcome + 1) of `geometric`; exact where e^-rate is rational.

    >>> geometric_cdf(2, "ln(2)")
    Enclosure(7/8)
    """
    number, k = read_rate(rate, "rate"), max(read_integer(outcome, "outcome"), -1)
    known = exact_exp(-number * (k + 1))
    if known is not None:
        return Enclosure(1 - known, 1 - known)
    return enclose(lambda: -(-ball_of(number) * (k + 1)).expm1(), bits)


def head_law(rate: Exact, step: int, signed: bool) -> Law:
    """Thresholds of Q (geometric with α^step), or of the signed Q whose sign has odds α for minus.

    P(Q ≥ j) = α^(step·j) gives cⱼ = 1 − α^(step·j). Signed: P(X < −j) = α/(1+α)·α^(step·j) and
    P(X ≥ j) = α^(step·j)/(1+α).
    """

    def law(bits: int) -> Thresholds:
        guard = bits + _GUARD_BITS
        one = 1 << guard
        factor_low, factor_high = scaled_bounds(evaluate(lambda: (-ball_of(rate) * step).exp(), guard + 64), guard)
        # [low, high] encloses 2^guard·α^(step·j); each product is rounded outwards.
        powers = [(one, one)]
        while powers[-1][1] >> (_GUARD_BITS - 2):  # until α^(step·j) is below 2^-(bits + 2)
            low, high = powers[-1]
            powers.append(((low * factor_low) >> guard, ((high * factor_high) >> guard) + 1))
        if not signed:
            return Thresholds(
                first=0,
                low=[(one - high) >> _GUARD_BITS for _, high in powers[1:]],
                high=[-((low - one) >> _GUARD_BITS) for low, _ in powers[1:]],
                endless_above=True,
            )
        minus_low, minus_high = scaled_bounds(
            evaluate(lambda: 1 / (1 + ball_of(rate).exp()), guard + 64), guard
        )  # α/(1 + α)
        lower = [((minus_low * low) >> guard, ((minus_high * high) >> guard) + 1) for low, high in reversed(powers)]
        upper = [
            (one - ((((one - minus_low) * high) >> guard) + 1), one - (((one - minus_high) * low) >> guard))
            for low, high in powers[1:]
        ]
        return Thresholds(
            first=-len(powers),
            low=[max(low, 0) >> _GUARD_BITS for low, _ in lower + upper],
            high=[-(-high >> _GUARD_BITS) for _, high in lower + upper],
            endless_below=True,
            endless_above=True,
        )

    return law


def remainder_law(rate: Exact, modulus: int) -> Law:
    """Thresholds of R in 0..modulus−1 with P(R = r) ∝ e^(−rate·r): cⱼ = (1 − α^j)/(1 − α^modulus)."""

    def law(bits: int) -> Thresholds:
        def ratios() -> list[Ball]:
            step = -ball_of(rate)
            whole = (step * modulus).expm1()
            return [(step * j).expm1() / whole for j in range(1, modulus)]

        pairs = [scaled_bounds(ratio, bits) for ratio in evaluate(ratios, bits + 64)]
        return Thresholds(0, [low for low, _ in pairs], [high for _, high in pairs])

    return law


@dataclass(frozen=True)
class GeometricTables:
    """G, or the signed X, as head·2^digits + remainder digits, one table each."""

    head: InverseTable
    remainders: tuple[tuple[int, InverseTable], ...]  # each with the place value's exponent
    digits: int

    @property
    def dtype(self) -> type[Any]:
        """What holds the draws without ever wrapping."""
        return object if self.digits > _WIDEST else np.int64

    def draw(self, count: int, source: Source) -> NDArray[Any]:
        """`count` independent draws."""
        head = self.head.draw(count, source)
        if not self.remainders:
            return head
        if self.dtype is np.int64 and head.dtype == np.int64 and (np.abs(head) >> (62 - self.digits)).any():
            raise NumberTooLarge("a draw does not fit into 64 bits; nothing was wrapped", fix="use a smaller scale")
        wide: NDArray[Any] = head.astype(self.dtype)
        low = np.zeros(count, dtype=self.dtype)
        for shift, table in self.remainders:
            low += table.draw(count, source).astype(self.dtype) << shift
        # Below zero the remainder counts downwards: −1 − (m·q + r) = m·(−1 − q) + (m − 1 − r), and as m is a power of
        # two, m − 1 − r is r with its digits flipped.
        low ^= (head < 0).astype(self.dtype) * ((1 << self.digits) - 1)
        low += wide << self.digits
        return low


@lru_cache(maxsize=64)
def geometric_tables(rate: Exact, signed: bool) -> GeometricTables:
    """The tables for a rate, kept for the next call."""
    digits = 0
    while rate * 2**digits < _LEAST_HEAD_RATE:
        digits += 1
    remainders = tuple(
        (shift, InverseTable(remainder_law(rate * 2**shift, 2 ** min(_DIGITS, digits - shift))))
        for shift in range(0, digits, _DIGITS)
    )
    return GeometricTables(InverseTable(head_law(rate, 2**digits, signed)), remainders, digits)


def read_rate_array(rates: object, name: str) -> ExactArray:
    """Read one rate per element; rates below 2^-50 are for the scalar call, which has no upper limit."""
    array = read_array(rates, name)
    if (array.centers < _LEAST_ARRAY_RATE).any():
        raise NumberTooLarge(
            "an array of rates must stay above 2^-50", given=array.centers.min(), fix="draw such numbers one by one"
        )
    return array


def geometric_each(rates: ExactArray, block: slice, source: Source) -> NDArray[np.int64]:
    """One G per rate by inversion: G = ⌊−ln U / rate⌋, since P(−ln U ≥ rate·k) = e^(−rate·k).

    U lies in [w, w+1)·2^-53, so −ln U is at most −ln(w·2^-53) and at least that minus 1/w.
    """
    centers = rates.centers[block]
    words = source.words(len(centers), 64) >> np.uint64(11)
    w = np.maximum(words, 1).astype(np.float64)
    minus_log = minus_log_of(w * UNIT)
    low = np.maximum(minus_log - LOG_ERROR - 1.0 / w, 0.0) / centers * (1 - 2 * RELATIVE_ERROR)
    high = (minus_log + LOG_ERROR) / centers * (1 + 2 * RELATIVE_ERROR)
    require_order(low, high)
    drawn = np.floor(low)
    settled = (drawn == np.floor(high)) & (words > 0)
    out: NDArray[np.int64] = drawn.astype(np.int64)
    for i in np.flatnonzero(~settled):
        out[i] = _settle(int(words[i]), rates.exact(block.start + int(i)), source)
    return out


def _settle(word: int, rate: Exact, source: Source) -> int:
    """⌊−ln U / rate⌋ for a U that starts with the 53 bits of `word`."""
    bits = 53

    def quotient(point: int) -> Ball:
        return (bits * of_fraction(2).log() - of_fraction(point).log()) / ball_of(rate)

    while True:
        if word > 0:
            least, _ = scaled_bounds(evaluate(partial(quotient, word + 1), bits + 64), 0)
            _, most = scaled_bounds(evaluate(partial(quotient, word), bits + 64), 0)
            if max(least, 0) == most - 1:
                return most - 1
        word, bits = (word << 32) | source.bits(32), bits + 32


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
