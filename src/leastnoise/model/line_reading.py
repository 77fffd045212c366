"""How the outputs of the truncated geometric channel on a line are best read, for any prior, in one pass along it.

With α = e^-rate, reading output y as the place w costs c_y·C(w, y), C(w, y) = Σ_x ℓ(w, x)·π_x·α^|x − y|, and c_y =
1/(1 + α) at the two ends, (1 − α)/(1 + α) between them. Moments of both sides, L_k(y) = Σ_{x ≤ y} (y − x)^k·π_x·α^(y −
x) and R_k(y) likewise for x > y, follow from those of the place before. With T = L_0 + R_0 and D = |w − y|:

    distance  C = 2·α^D·R_1(w) + D·T + L_1(y) − R_1(y) for w ≥ y, mirrored for w < y; least at a median
    squared   C = L_2 + R_2 − 2·(w − y)·(R_1 − L_1) + (w − y)²·T; least at the whole number next to the mean
    zero_one  C = T − π_w·α^D; least where π_w·α^D is largest, which two passes find
    a table   C(w, ·) for one w after the other, by the same passes

All numbers are whole multiples of 2^-384, rounded down. One step loses at most four units of what it carries, moments
are at most n², and there are at most n = 2^22 steps: no C is off by 2^100 units. A median is told by slopes that are
off by less than 2^50 units; C is convex in w, so a place whose slopes seem right costs at most n·2^50 units too much.
All of it is less than DOUBT = 2^-256 once the outputs are summed, and the enclosures allow for that much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple, Protocol

from leastnoise.errors import TooLarge
from leastnoise.exact import Enclosure, Exact, exp_enclosure

__all__ = [
    "LINE_LOSSES",
    "LineLoss",
    "LineReading",
    "Move",
    "best_line_reading",
    "line_loss",
    "line_table",
    "worst_line_loss",
]

LINE_LOSSES = ("distance", "squared", "zero_one")
"""Losses of a guessed place and a true place that need no table, in steps along the line."""

_BITS = 384
_ONE = 1 << _BITS
_DOUBT = Fraction(1, 1 << 256)
_MOST_PLACES = 1 << 22

LineLoss = str | Sequence[Sequence[Fraction]]


class Move(NamedTuple):
    """The output at `place` is said as `guess`, a place or a row of the table, with this probability."""

    place: int
    guess: int
    probability: Fraction


class LineReading(NamedTuple):
    """The best guess for each output, and bounds of what they cost together: of the least loss, that is."""

    guesses: tuple[int, ...]
    loss: Enclosure


def best_line_reading(rate: Exact, loss: LineLoss, prior: Sequence[Fraction]) -> LineReading:
    """The best guess for each output of the truncated geometric channel with α = e^-rate.

    Args:
        rate: Above zero.
        loss: One of `LINE_LOSSES`, or a table with a row for each guess and a column for each place.
        prior: A probability for each place.

    Raises:
        TooLarge: The line has more than 2^22 places.

    >>> from leastnoise.exact import ln
    >>> found = best_line_reading(ln(2), "distance", [Fraction(1, 3)] * 3)
    >>> found.guesses, Fraction(5, 9) in found.loss
    ((0, 1, 2), True)
    """
    line = _Line(rate, prior)
    costs = _costs(line, loss)
    guesses = tuple(costs.best())
    return LineReading(guesses, line.total(costs.at(list(enumerate(guesses))), costs))


def line_loss(rate: Exact, loss: LineLoss, prior: Sequence[Fraction], moves: Sequence[Move]) -> Enclosure:
    """Bounds of the expected loss when outputs are said as `moves` say, the others as the place they are."""
    line = _Line(rate, prior)
    costs = _costs(line, loss)
    every = _every_move(moves, line.size)
    return line.total(
        [cost * move.probability for cost, move in zip(costs.at([m[:2] for m in every]), every, strict=True)],
        costs,
        [move.place for move in every],
    )


def worst_line_loss(rate: Exact, table: Sequence[Sequence[Fraction]], size: int, moves: Sequence[Move]) -> Enclosure:
    """Bounds of the largest expected loss of a place when outputs are said as `moves` say, the others as they are."""
    line = _Line(rate, [Fraction(0)] * size)
    unit, lows, excess = _whole_excess(table)
    ends, between = [0] * size, [0] * size
    for place, guess, probability in _every_move(moves, size):
        share, sums = int(probability * _ONE), between if 0 < place < size - 1 else ends
        for x, cost in enumerate(excess[guess]):
            sums[x] += (line.powers[abs(x - place)] * share >> _BITS) * cost
    end, inner = line.factors
    whole, doubt = unit * _ONE, _DOUBT * (1 + max(map(max, excess)) // unit)
    losses = [
        (low, Fraction(one, whole), Fraction(two, whole)) for low, one, two in zip(lows, ends, between, strict=True)
    ]
    return Enclosure(
        max(low + end.lower * one + inner.lower * two for low, one, two in losses),
        max(low + end.upper * one + inner.upper * two for low, one, two in losses) + doubt,
    )


def line_table(loss: LineLoss, size: int) -> Sequence[Sequence[Fraction]]:
    """The loss as a table, a row for each guess and a column for each place.

    >>> line_table("squared", 3)[0]
    [Fraction(0, 1), Fraction(1, 1), Fraction(4, 1)]
    """
    if not isinstance(loss, str):
        return loss
    power = {"distance": 1, "squared": 2, "zero_one": 0}[loss]
    return [[Fraction(abs(w - x) ** power if w != x else 0) for x in range(size)] for w in range(size)]


def _every_move(moves: Sequence[Move], size: int) -> list[Move]:
    moved = {move.place for move in moves}
    return [*moves, *(Move(place, place, Fraction(1)) for place in range(size) if place not in moved)]


def _whole_excess(table: Sequence[Sequence[Fraction]]) -> tuple[int, list[Fraction], list[list[int]]]:
    """What every guess costs at each place at least, and what each costs on top of it, as multiples of 1/unit."""
    lows = [min(column) for column in zip(*table, strict=True)]
    unit = lcm(*{cost.denominator for row in table for cost in row})
    whole = [int(low * unit) for low in lows]
    return (
        unit,
        lows,
        [
            [cost.numerator * (unit // cost.denominator) - low for cost, low in zip(row, whole, strict=True)]
            for row in table
        ],
    )


class _Line:
    """α, its powers and the prior in whole units."""

    def __init__(self, rate: Exact, prior: Sequence[Fraction]) -> None:
        self.size = len(prior)
        if self.size > _MOST_PLACES:
            raise TooLarge(
                f"a line is read place by place up to {_MOST_PLACES:,} places", given=self.size, fix="merge places"
            )
        self.prior = prior
        self.alpha = exp_enclosure(-rate, _BITS + 8)
        self.step = int(self.alpha.lower * _ONE)
        self.masses = [mass.numerator * _ONE // mass.denominator for mass in prior]
        self.powers = [_ONE]
        for _ in range(1, self.size):
            self.powers.append(self.powers[-1] * self.step >> _BITS)

    @property
    def factors(self) -> tuple[Enclosure, Enclosure]:
        """1/(1 + α) and (1 − α)/(1 + α)."""
        low, high = self.alpha.lower, self.alpha.upper
        return Enclosure(1 / (1 + high), 1 / (1 + low)), Enclosure((1 - high) / (1 + high), (1 - low) / (1 + low))

    def total(self, costs: Sequence[int | Fraction], of: _Costs, places: Iterable[int] | None = None) -> Enclosure:
        """Σ c_y·cost, with what every guess costs at least added again."""
        end, inner = self.factors
        ends: int | Fraction = 0
        between: int | Fraction = 0
        for place, cost in zip(range(self.size) if places is None else places, costs, strict=True):
            if 0 < place < self.size - 1:
                between += cost
            else:
                ends += cost
        one, two, doubt = Fraction(ends) / _ONE, Fraction(between) / _ONE, _DOUBT * of.scale
        low = end.lower * one + inner.lower * two - doubt
        return Enclosure(of.least + max(low, Fraction(0)), of.least + end.upper * one + inner.upper * two + doubt)

    def moments(self, highest: int) -> tuple[list[list[int]], list[list[int]]]:
        """L_0 … L_highest and R_0 … R_highest, each a list over the places."""
        step, masses = self.step, self.masses
        left: list[list[int]] = [[] for _ in range(highest + 1)]
        carried = [0] * (highest + 1)
        for mass in masses:
            carried[0] += mass
            for moment, value in zip(left, carried, strict=True):
                moment.append(value)
            carried = _shifted(carried, step)
        right: list[list[int]] = [[0] * self.size for _ in range(highest + 1)]
        carried = [0] * (highest + 1)
        for place in range(self.size - 1, 0, -1):
            carried[0] += masses[place]
            carried = _shifted(carried, step)
            for moment, value in zip(right, carried, strict=True):
                moment[place - 1] = value
        return left, right


def _shifted(moments: list[int], step: int) -> list[int]:
    """Moments about the next place: (d + 1)^k in place of d^k, times α."""
    if len(moments) == 1:
        return [moments[0] * step >> _BITS]
    if len(moments) == 2:
        zeroth, first = moments
        return [zeroth * step >> _BITS, (first + zeroth) * step >> _BITS]
    zeroth, first, second = moments
    return [zeroth * step >> _BITS, (first + zeroth) * step >> _BITS, (second + 2 * first + zeroth) * step >> _BITS]


class _Costs(Protocol):
    """C(w, y) less what each place costs at least."""

    least: Fraction
    scale: Fraction

    def best(self) -> list[int]:
        """The best guess for each output."""

    def at(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """C(w, y) in units for pairs (y, w)."""


def _costs(line: _Line, loss: LineLoss) -> _Costs:
    if not isinstance(loss, str):
        return _TableCosts(line, loss)
    named: dict[str, Callable[[_Line], _Costs]] = {
        "distance": _DistanceCosts,
        "squared": _SquaredCosts,
        "zero_one": _ZeroOneCosts,
    }
    return named[loss](line)


class _DistanceCosts:
    least, scale = Fraction(0), Fraction(1)

    def __init__(self, line: _Line) -> None:
        self.line = line
        (self.l0, self.l1), (self.r0, self.r1) = line.moments(1)

    def best(self) -> list[int]:
        guesses, w, last = [], 0, self.line.size - 1
        for y in range(self.line.size):
            while w < last and self._slope(w, y) < 0:
                w += 1
            while w > 0 and self._slope(w - 1, y) > 0:
                w -= 1
            guesses.append(w)
        return guesses

    def _slope(self, w: int, y: int) -> int:
        """C(w + 1, y) − C(w, y): what lies at w or before less what lies after."""
        total = self.l0[y] + self.r0[y]
        if w >= y:
            return total - 2 * (self.line.powers[w - y] * self.r0[w] >> _BITS)
        return 2 * (self.line.powers[y - w] * self.l0[w] >> _BITS) - total

    def at(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        costs = []
        for y, w in pairs:
            way, far, turn = (w - y, self.r1[w], self.l1[y] - self.r1[y])
            if way < 0:
                way, far, turn = -way, self.l1[w], -turn
            costs.append(2 * (self.line.powers[way] * far >> _BITS) + way * (self.l0[y] + self.r0[y]) + turn)
        return costs


class _SquaredCosts:
    least, scale = Fraction(0), Fraction(1)

    def __init__(self, line: _Line) -> None:
        self.size = line.size
        left, right = line.moments(2)
        self.total = [a + b for a, b in zip(left[0], right[0], strict=True)]
        self.mean = [b - a for a, b in zip(left[1], right[1], strict=True)]
        self.square = [a + b for a, b in zip(left[2], right[2], strict=True)]

    def best(self) -> list[int]:
        guesses = []
        for y, (total, mean) in enumerate(zip(self.total, self.mean, strict=True)):
            way = (2 * mean + total) // (2 * total) if total else 0
            guesses.append(min(max(y + way, 0), self.size - 1))
        return guesses

    def at(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        return [self.square[y] - 2 * (w - y) * self.mean[y] + (w - y) ** 2 * self.total[y] for y, w in pairs]


class _ZeroOneCosts:
    least, scale = Fraction(0), Fraction(1)

    def __init__(self, line: _Line) -> None:
        self.line = line
        (left,), (right,) = line.moments(0)
        self.total = [a + b for a, b in zip(left, right, strict=True)]

    def best(self) -> list[int]:
        places = range(self.line.size)
        found = [(mass, w) for mass, w in self._likeliest(places)]
        for y, (mass, w) in zip(reversed(places), self._likeliest(places[::-1]), strict=True):
            if mass > found[y][0]:
                found[y] = mass, w
        return [w for _, w in found]

    def _likeliest(self, places: Sequence[int]) -> Iterable[tuple[int, int]]:
        """Of the places up to here the one that is likeliest, and how likely it is."""
        mass, w = -1, 0
        for y in places:
            mass = mass * self.line.step >> _BITS
            if self.line.masses[y] > mass:
                mass, w = self.line.masses[y], y
            yield mass, w

    def at(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        powers, masses = self.line.powers, self.line.masses
        return [self.total[y] - (masses[w] * powers[abs(w - y)] >> _BITS) for y, w in pairs]


class _TableCosts:
    def __init__(self, line: _Line, table: Sequence[Sequence[Fraction]]) -> None:
        self.line = line
        self.unit, lows, self.excess = _whole_excess(table)
        self.least = sum((low * mass for low, mass in zip(lows, line.prior, strict=True)), start=Fraction(0))
        self.scale = Fraction(1 + max(map(max, self.excess)) // self.unit)

    def best(self) -> list[int]:
        found = self._row(0)
        guesses = [0] * self.line.size
        for w in range(1, len(self.excess)):
            for y, cost in enumerate(self._row(w)):
                if cost < found[y]:
                    found[y], guesses[y] = cost, w
        return guesses

    def at(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        places: dict[int, list[int]] = {}
        for k, (_, w) in enumerate(pairs):
            places.setdefault(w, []).append(k)
        costs = [0] * len(pairs)
        for w, wanted in places.items():
            row = self._row(w)
            for k in wanted:
                costs[k] = row[pairs[k][0]]
        return costs

    def _row(self, w: int) -> list[int]:
        """C(w, ·), by a pass in either direction."""
        step, unit = self.line.step, self.unit
        terms = [mass * cost // unit for mass, cost in zip(self.line.masses, self.excess[w], strict=True)]
        found, carried = [], 0
        for term in terms:
            carried += term
            found.append(carried)
            carried = carried * step >> _BITS
        carried = 0
        for y in range(len(terms) - 1, 0, -1):
            carried = (carried + terms[y]) * step >> _BITS
            found[y - 1] += carried
        return found
