"""T^t for many distributions at once, in doubles that surely enclose the exact prefix sums.

Each prefix sum moves by itself, so all of them go through the closed form together. The powers of λ are enclosed by
ball arithmetic, once for each switch time that occurs; every operation on doubles is rounded outwards. A switch time is
guessed in doubles and then proven: after one step less the sum is surely below the crossing, and after this many it
surely is not. Where the doubles do not prove it, that one sum is computed exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leastnoise.errors import BadBoundary, BadParameter
from leastnoise.exact import (
    Ball,
    Enclosure,
    NumberLike,
    above as ball_above,
    below as ball_below,
    evaluate,
    of_fraction,
    read_integer,
)
from leastnoise.mechanisms.rainbow.closed_form import prefix_sum_after
from leastnoise.mechanisms.rainbow.rainbow_operator import Distribution, Operator, prefix_sums

__all__ = ["PrefixBounds", "after_many", "along_path"]

Floats = NDArray[np.float64]
_ROW_SUM_SLACK = 1e-9
_LARGEST = 2.0**1000


@dataclass(frozen=True)
class PrefixBounds:
    """Doubles below and above each exact prefix sum, a row per distribution."""

    lower: Floats
    upper: Floats

    def probabilities(self) -> tuple[Floats, Floats]:
        """Doubles below and above each exact probability s_k − s_{k−1}."""
        low, high = self.lower.copy(), self.upper.copy()
        low[:, 1:] = np.maximum(0.0, _down(self.lower[:, 1:] - self.upper[:, :-1]))
        high[:, 1:] = np.minimum(1.0, _up(self.upper[:, 1:] - self.lower[:, :-1]))
        return low, high


def after_many(operator: Operator, distributions: ArrayLike, steps: NumberLike) -> PrefixBounds:
    """T^steps of every row; each double counts as exactly the number it is, and the last prefix sum as one.

    >>> bounds = after_many(Operator("ln(6/5)", 0.01), [[0.9, 0.1], [0.2, 0.8]], 3)
    >>> bool((bounds.upper - bounds.lower < 1e-14).all()), bounds.lower[:, 0].round(6).tolist()
    (True, [0.963194, 0.382])
    """
    _require_doubles(operator)
    count, rows = read_integer(steps, "steps", at_least=0), _read_rows(distributions)
    low, high = np.empty_like(rows), np.empty_like(rows)
    low[:, 0] = high[:, 0] = rows[:, 0]
    for k in range(1, rows.shape[1] - 1):
        below, above = low[:, k - 1] + rows[:, k], high[:, k - 1] + rows[:, k]
        low[:, k] = np.where((low[:, k - 1] == 0) | (rows[:, k] == 0), below, _down(below))  # adding 0 rounds nothing
        high[:, k] = np.where((high[:, k - 1] == 0) | (rows[:, k] == 0), above, _up(above))
    low[:, -1] = high[:, -1] = 1.0
    starts = np.minimum(1.0, np.concatenate([low.ravel(), high.ravel()]))
    with np.errstate(invalid="ignore"):  # 0·∞ is no number, and proves nothing
        lower, upper = _raise_sums(operator, starts, count)
    shape, half = rows.shape, low.size
    return PrefixBounds(lower[:half].reshape(shape), upper[half:].reshape(shape))


def along_path(operator: Operator, boundary: Distribution, depth: int) -> PrefixBounds:
    """T^t of one distribution for t = 0, 1, …, depth, a row for each, step by step with outward rounding.

    >>> along_path(Operator("ln(2)"), (Fraction(1, 3), Fraction(2, 3)), 2).lower[:, 0].round(9).tolist()
    [0.333333333, 0.666666667, 0.833333333]
    """
    _require_doubles(operator)
    (up_low, up_high), (delta_low, delta_high) = (_outward(_point(x)) for x in (operator.factor, operator.delta))
    ends = [_outward(_point(s)) for s in prefix_sums(boundary)]
    lower, upper = np.empty((depth + 1, len(ends))), np.empty((depth + 1, len(ends)))
    lower[0], upper[0] = np.array(ends).T
    for t in range(depth):
        low, high = lower[t], upper[t]
        gap_high = np.maximum(0.0, _up(_up(_up(1.0 - low) - delta_low) / up_low))
        gap_low = np.maximum(0.0, _down(_down(_down(1.0 - high) - delta_high) / up_high))
        lower[t + 1] = np.minimum(
            _down(_down(up_low * low) + delta_low), np.where(gap_high > 0, _down(1 - gap_high), 1.0)
        )
        upper[t + 1] = np.minimum(_up(_up(up_high * high) + delta_high), np.minimum(1.0, _up(1.0 - gap_low)))
        np.maximum(lower[t + 1], 0.0, out=lower[t + 1])
        lower[t + 1, -1] = upper[t + 1, -1] = 1.0
        if np.array_equal(lower[t + 1], low) and np.array_equal(upper[t + 1], high):
            lower[t + 1 :], upper[t + 1 :] = low, high  # the bounds move no more
            break
    return PrefixBounds(lower, upper)


def _require_doubles(operator: Operator) -> None:
    operator.require_corrected()
    if operator.factor >= _LARGEST:
        raise BadParameter("epsilon is too large for doubles", given=operator.epsilon, fix="use the exact closed form")


def _read_rows(distributions: ArrayLike) -> Floats:
    rows = np.asarray(distributions, dtype=np.float64)
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all() or (rows < 0).any():
        raise BadBoundary(
            "distributions must be rows of finite probabilities",
            given=f"an array of shape {rows.shape}",
            fix="pass one row per distribution, one column per colour",
        )
    worst = int(np.abs(rows.sum(axis=1) - 1).argmax())
    if abs(float(rows[worst].sum()) - 1) > _ROW_SUM_SLACK:
        raise BadBoundary(f"row {worst} does not sum to one", given=float(rows[worst].sum()), fix="normalise it")
    return rows


def _raise_sums(operator: Operator, starts: Floats, steps: int) -> tuple[Floats, Floats]:
    """Doubles below and above f^steps of every start, f the operator on one prefix sum."""
    growing = _guess_switches(operator, starts, steps)
    times, places = np.unique(growing, return_inverse=True)
    table = _Powers(operator, times.tolist(), steps)
    reached_low = _down(_down(table.up_low[places] * starts) + table.sum_low[places])
    reached_high = _up(_up(table.up_high[places] * starts) + table.sum_high[places])
    before_high = _up(_up(table.before_up[places] * starts) + table.before_sum[places])
    crossing_low, crossing_high = _outward(_point(operator.crossing))
    proven = ((growing == 0) | (before_high < crossing_low)) & ((growing == steps) | (reached_low >= crossing_high))
    gap_low, gap_high = np.maximum(0.0, _down(1.0 - reached_high)), np.maximum(0.0, _up(1.0 - reached_low))
    left_low = np.maximum(0.0, _down(_down(table.down_low[places] * gap_low) - table.loss_high[places]))
    left_high = np.maximum(0.0, _up(_up(table.down_high[places] * gap_high) - table.loss_low[places]))
    lower, upper = np.maximum(0.0, _down(1.0 - left_high)), np.minimum(1.0, _up(1.0 - left_low))
    stays = (starts == 1.0) | ((starts == 0.0) & (operator.delta == 0))
    for place in np.flatnonzero(~proven & ~stays):
        lower[place], upper[place] = _outward(prefix_sum_after(operator, Fraction(starts[place]), steps))
    lower[stays] = upper[stays] = starts[stays]
    return lower, upper


def _guess_switches(operator: Operator, starts: Floats, steps: int) -> NDArray[np.int64]:
    """min(switch time, steps) as doubles see it."""
    goal, delta = float(operator.crossing), float(operator.delta)
    slope, rate = float(operator.factor - 1), float(operator.epsilon)
    missing = np.maximum(goal - starts, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if slope == 0.0:
            guess = missing / delta if delta else np.where(missing > 0, np.inf, 0.0)
        else:
            guess = np.log1p(missing / (starts + delta / slope)) / rate
    rests = (missing == 0) | ((starts == 0) & (delta == 0))  # past the crossing, or at zero for ever
    guess = np.where(rests, 0.0, np.ceil(guess))
    switches: NDArray[np.int64] = np.minimum(guess, float(steps)).astype(np.int64)
    return switches


class _Powers:
    """For each number g of growing steps, doubles around what the closed form multiplies and adds.

    up = λ^g, sum = δ·(λ^g − 1)/(λ − 1), before_* the same for g − 1 from above; with h = steps − g,
    down = λ^-h and loss = δ·(1 − λ^-h)/(λ − 1).
    """

    def __init__(self, operator: Operator, times: list[int], steps: int) -> None:
        factor, delta = operator.factor, operator.delta
        precision = 96 + 2 * steps.bit_length()

        def power(count: int) -> tuple[float, float]:
            return _enclosed(lambda: of_fraction(factor) ** count, precision)

        def drift(count: int, fallen: int = 0) -> tuple[float, float]:
            return _enclosed(lambda: _drift(delta, factor, count) / of_fraction(factor) ** fallen, precision)

        columns = []
        for growing in times:
            left, before = steps - growing, max(growing - 1, 0)
            ends = (
                power(growing),
                drift(growing),
                power(-left),
                drift(left, left),
                (power(before)[1], drift(before)[1]),
            )
            columns.append([end for pair in ends for end in pair])
        arrays: Any = np.array(columns).T
        self.up_low, self.up_high, self.sum_low, self.sum_high = arrays[:4]
        self.down_low, self.down_high, self.loss_low, self.loss_high = arrays[4:8]
        self.before_up, self.before_sum = arrays[8:]


def _drift(delta: Fraction, factor: Fraction, steps: int) -> Ball:
    """δ·(1 + λ + … + λ^(steps − 1))."""
    if factor == 1:
        return of_fraction(delta * steps)
    return of_fraction(delta / (factor - 1)) * (of_fraction(factor) ** steps - 1)


def _enclosed(expression: Callable[[], Ball], precision: int) -> tuple[float, float]:
    ball = evaluate(expression, precision)
    if not ball < _LARGEST:
        return _LARGEST, np.inf  # whatever is multiplied by this proves nothing, and is computed exactly
    low, high = _outward(Enclosure(ball_below(ball), ball_above(ball)))
    return max(0.0, low), high  # all these numbers are at least zero


def _outward(enclosure: Enclosure) -> tuple[float, float]:
    """Doubles around an enclosure; one that is a double itself is left alone."""
    low, high = float(enclosure.lower), float(enclosure.upper)
    low = low if Fraction(low) <= enclosure.lower else float(np.nextafter(low, -np.inf))
    return low, high if Fraction(high) >= enclosure.upper else float(np.nextafter(high, np.inf))


def _point(number: Fraction) -> Enclosure:
    return Enclosure(number, number)


def _down(values: Floats) -> Floats:
    return np.nextafter(values, -np.inf)


def _up(values: Floats) -> Floats:
    return np.nextafter(values, np.inf)
