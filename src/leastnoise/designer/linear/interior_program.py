"""The program of `whole_program` by an interior-point method in long floating-point numbers.

Doubles fail where costs, weights or powers of e^ε differ by more than their digits. Here nothing has to be scaled, and
no basis is sought: a primal-dual method (Wright, Primal-Dual Interior-Point Methods, 1997, chapter 5) keeps to the
inside of all constraints a·x ≤ d, beginning at the uniform answer, which lies inside. With slacks r > 0 and multipliers
y > 0 Newton's step towards y·r = τ solves, for the cells (and t, the worst loss) x and the prices ν of the rows,

    H·dx + Eᵀν = −c − τ·Σ a/r,    E·dx = 0,    H = Σ (y/r)·a·aᵀ.

Excesses s of triples are eliminated: those of one kind of edges meet in one constraint only, Σ n·s ≤ δ, so their part
of H is diagonal plus a product of two vectors. An arc that several kinds of edges have counts as one for each of them,
which changes nothing about the program.

What comes out is a guess as good as its digits. `whole_program` repairs it, and proves what it proves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.designer.linear.clock import Clock
from leastnoise.designer.linear.orbit_program import OrbitProgram
from leastnoise.designer.linear.precise_program import PrimalDual
from leastnoise.exact import LongFloat, LongMatrix, long_fraction, long_precision, rounded_long, solve_long

__all__ = ["solve_inside"]

_MOST_STEPS = 150
_BITS = 320
_BITS_PER_BIT = 2  # of the largest λ
_LARGEST_FACTOR = Fraction(2**128)  # a larger λ is as good as this one, which is stricter
_OF_THE_LOSS = Fraction(1, 2**44)
_OF_ALL = Fraction(1, 2**120)  # losses of cells go up to one
_TO_THE_WALL = Fraction(15, 16)

Vector = list[LongFloat]


def solve_inside(cells: OrbitProgram, factors: Sequence[Fraction], clock: Clock) -> PrimalDual:
    """Cells, and prices in the order of `whole_program`: of rows, arcs, kinds of edges, and losses of rows.

    Args:
        cells: The program.
        factors: λ ≤ e^(ε·length) of each arc.
        clock: How long it may take.
    """
    kept = [min(factor, _LARGEST_FACTOR) for factor in factors]
    longest = max((int(factor) for factor in kept), default=1).bit_length()
    with long_precision(_BITS + _BITS_PER_BIT * longest):
        search = _Search(cells, kept)
        slowest = 0.0
        for _ in range(_MOST_STEPS):
            clock.tick()
            began = clock.seconds
            if search.is_done or (clock.left is not None and clock.left < slowest) or not search.step():
                break
            slowest = max(slowest, clock.seconds - began)
        return search.answer([less / factor for less, factor in zip(kept, factors, strict=True)])


@dataclass
class _Bound:
    """A constraint a·x ≤ d: a by places, the slack, its multiplier, and how both change in a step."""

    places: tuple[int, ...]
    values: tuple[LongFloat, ...]
    slack: LongFloat
    price: LongFloat
    slack_step: LongFloat
    price_step: LongFloat

    def along(self, step: Vector) -> LongFloat:
        """a·dx."""
        return sum((v * step[place] for place, v in zip(self.places, self.values, strict=True)), LongFloat(0))

    def follow(self, change: LongFloat, aim: LongFloat) -> None:
        """What Newton's step does to slack and multiplier, if a·x grows by `change`."""
        self.slack_step = -change
        self.price_step = (aim + self.price * change) / self.slack - self.price


@dataclass
class _Excess:
    """s of one arc and kind of edges: a·x ≤ s, and s ≥ 0."""

    arc: int
    times: int
    over: _Bound
    free: _Bound

    @property
    def stiffness(self) -> LongFloat:
        """Its entry of the diagonal."""
        return self.over.price / self.over.slack + self.free.price / self.free.slack


@dataclass
class _Kind:
    """Σ n·s ≤ δ."""

    excesses: list[_Excess]
    total: _Bound

    def inverse(self, right: Vector) -> Vector:
        """The part of H that belongs to the excesses, inverted, times a vector."""
        by_part = [entry / one.stiffness for entry, one in zip(right, self.excesses, strict=True)]
        mean = sum((one.times * part for one, part in zip(self.excesses, by_part, strict=True)), LongFloat(0))
        shared = self.coupling * mean
        return [part - one.times * shared / one.stiffness for part, one in zip(by_part, self.excesses, strict=True)]

    @property
    def coupling(self) -> LongFloat:
        """w/(1 + w·Σ n²/D)."""
        weight = self.total.price / self.total.slack
        return weight / (1 + weight * sum((one.times**2 / one.stiffness for one in self.excesses), LongFloat(0)))

    def aims(self, aim: LongFloat) -> Vector:
        """What excesses are driven by."""
        shared = aim / self.total.slack
        return [aim / one.over.slack + aim / one.free.slack - one.times * shared for one in self.excesses]


class _Search:
    def __init__(self, cells: OrbitProgram, factors: Sequence[Fraction]) -> None:
        self._cells = cells
        self._rows, self._arcs = len(cells.row_sizes), len(cells.tails)
        self._row_of, self._outputs_of = cells.row_of.tolist(), cells.outputs_of.tolist()
        self._is_worst = cells.problem.objective == "worst"
        costs = [Fraction(0)] * cells.count + [Fraction(1)] if self._is_worst else cells.costs(cells.prior)
        self._costs = [rounded_long(cost) for cost in costs]
        start = rounded_long(Fraction(1, len(cells.problem.answers)))
        self._point = [start] * cells.count + [LongFloat(2)] * self._is_worst
        self._bounds = [self._bound((o,), (-1,), start) for o in range(cells.count)]  # z ≥ 0, first for each cell
        self._hard: list[_Bound] = []
        self._kinds: list[_Kind] = []
        self._losses = self._bounds_of_losses() if self._is_worst else []
        self._bounds += self._losses
        known = {factor: rounded_long(factor) for factor in set(factors)}
        ends = zip(cells.tails.tolist(), cells.heads.tolist(), factors, strict=True)
        arcs = [(tail, head, known[factor]) for tail, head, factor in ends]
        if cells.problem.privacy.is_pure:
            self._hard = [self._bound((t, h), (1, -f), (f - 1) * start) for t, h, f in arcs]
            self._bounds += self._hard
        else:
            self._kinds = list(self._shared(arcs, start))
        self._row_prices = [LongFloat(0)] * self._rows
        self._count = len(list(self._all()))
        self._mean, self._missing, self._reach = LongFloat(1), LongFloat(1), LongFloat(0)

    def _bound(self, places: tuple[int, ...], values: tuple[LongFloat | int, ...], slack: LongFloat) -> _Bound:
        nothing = LongFloat(0)
        return _Bound(places, tuple(LongFloat(v) for v in values), slack, 1 / slack, nothing, nothing)

    def _bounds_of_losses(self) -> list[_Bound]:
        """Σ k·ℓ·z ≤ t for each row."""
        in_row: list[list[tuple[int, LongFloat]]] = [[] for _ in range(self._rows)]
        for o, (row, k, loss) in enumerate(zip(self._row_of, self._outputs_of, self._cells.losses, strict=True)):
            in_row[row].append((o, rounded_long(k * loss)))
        found = []
        for parts in in_row:
            mean = sum((loss * self._point[o] for o, loss in parts), LongFloat(0))
            places = (*(o for o, _ in parts), self._cells.count)
            values = (*(loss for _, loss in parts), LongFloat(-1))
            found.append(self._bound(places, values, self._point[-1] - mean))
        return found

    def _shared(self, arcs: Sequence[tuple[int, int, LongFloat]], start: LongFloat) -> Iterator[_Kind]:
        delta = rounded_long(self._cells.problem.privacy.delta)
        for kind in self._cells.edge_kinds:
            times: dict[int, int] = {}
            for arc in kind.arcs:
                times[arc] = times.get(arc, 0) + 1
            excess = delta / (2 * max(len(kind.arcs), 1))
            excesses = []
            for number, n in times.items():
                tail, head, factor = arcs[number]
                over = self._bound((tail, head), (1, -factor), excess + (factor - 1) * start)
                excesses.append(_Excess(number, n, over, self._bound((), (), excess)))
            yield _Kind(excesses, self._bound((), (), delta - excess * len(kind.arcs)))

    def _all(self) -> Iterator[_Bound]:
        yield from self._bounds
        for kind in self._kinds:
            yield kind.total
            for one in kind.excesses:
                yield one.over
                yield one.free

    @property
    def is_done(self) -> bool:
        """Whether what slacks and multipliers leave open is far below the loss."""
        loss = sum((c * x for c, x in zip(self._costs, self._point, strict=True)), LongFloat(0))
        left = self._mean * self._count
        is_closed = left < rounded_long(_OF_THE_LOSS) * loss or left < rounded_long(_OF_ALL)
        return bool(is_closed) and bool(self._missing < rounded_long(_OF_ALL))

    def step(self) -> bool:
        """One step of Newton's method; False where none can be found."""
        open_share = 1 - self._reach
        share = min(max(open_share * open_share, rounded_long(Fraction(1, 64))), rounded_long(Fraction(1, 2)))
        aim = share * self._mean
        found = self._direction(aim)
        if found is None:
            return False
        change, prices = found
        for bound in self._bounds:
            bound.follow(bound.along(change), aim)
        for kind in self._kinds:
            self._follow_excesses(kind, change, aim)
        far, dual = self._reaches()
        if not far > 0 or not dual > 0:
            return False
        self._point = [(x + far * dx).mid() for x, dx in zip(self._point, change, strict=True)]
        self._row_prices = [(v + dual * (new - v)).mid() for v, new in zip(self._row_prices, prices, strict=True)]
        total = LongFloat(0)
        for bound in self._all():
            bound.slack = (bound.slack + far * bound.slack_step).mid()
            bound.price = (bound.price + dual * bound.price_step).mid()
            total += bound.slack * bound.price
        self._mean = (total / self._count).mid()
        self._missing = (self._missing * (1 - dual)).mid()
        self._reach = min(far, dual)
        return True

    def _follow_excesses(self, kind: _Kind, change: Vector, aim: LongFloat) -> None:
        moved = [one.over.along(change) for one in kind.excesses]
        pushed = [
            push + one.over.price / one.over.slack * move
            for push, move, one in zip(kind.aims(aim), moved, kind.excesses, strict=True)
        ]
        steps = kind.inverse(pushed)
        for one, move, step in zip(kind.excesses, moved, steps, strict=True):
            one.over.follow(move - step, aim)
            one.free.follow(-step, aim)
        total = sum((one.times * step for one, step in zip(kind.excesses, steps, strict=True)), LongFloat(0))
        kind.total.follow(total, aim)

    def _direction(self, aim: LongFloat) -> tuple[Vector, Vector] | None:
        """The change of the point, and the new prices of the rows."""
        size = len(self._point)
        table = [[LongFloat(0)] * size for _ in range(size)]
        right = [-cost for cost in self._costs]
        for bound in self._bounds:
            self._add(table, right, bound, bound.price / bound.slack, aim / bound.slack)
        shared: list[Vector] = []
        for kind in self._kinds:
            pushes = kind.inverse(kind.aims(aim))
            column, root = [LongFloat(0)] * size, kind.coupling.sqrt()
            for one, push in zip(kind.excesses, pushes, strict=True):
                weight, stiffness = one.over.price / one.over.slack, one.stiffness
                left = weight * (one.free.price / one.free.slack) / stiffness
                self._add(table, right, one.over, left, aim / one.over.slack - weight * push)
                for place, value in zip(one.over.places, one.over.values, strict=True):
                    column[place] += root * one.times * weight / stiffness * value
            shared.append(column)
        matrix = LongMatrix(table)
        if shared:
            columns = LongMatrix(shared)
            matrix += columns.transpose() * columns
        sides = [[entry, *([LongFloat(0)] * self._rows)] for entry in right]
        for o, (row, k) in enumerate(zip(self._row_of, self._outputs_of, strict=True)):
            sides[o][1 + row] = LongFloat(k)
        solved = solve_long(matrix, sides)
        if solved is None:
            return None
        sums = [[LongFloat(0)] * (self._rows + 1) for _ in range(self._rows)]
        for o, (row, k) in enumerate(zip(self._row_of, self._outputs_of, strict=True)):
            sums[row] = [entry + k * more for entry, more in zip(sums[row], solved[o], strict=True)]
        prices = solve_long(LongMatrix([line[1:] for line in sums]), [line[:1] for line in sums])
        if prices is None:
            return None
        found = [price for (price,) in prices]
        change = [
            line[0] - sum((x * price for x, price in zip(line[1:], found, strict=True)), LongFloat(0))
            for line in solved
        ]
        return change, found

    @staticmethod
    def _add(table: list[Vector], right: Vector, bound: _Bound, weight: LongFloat, push: LongFloat) -> None:
        for i, a in zip(bound.places, bound.values, strict=True):
            right[i] -= push * a
            for j, b in zip(bound.places, bound.values, strict=True):
                table[i][j] += weight * a * b

    def _reaches(self) -> tuple[LongFloat, LongFloat]:
        """How far slacks and multipliers may go, at most the whole step."""
        wall, whole = rounded_long(_TO_THE_WALL), LongFloat(1)
        far = dual = whole
        for bound in self._all():
            if bound.slack + bound.slack_step * far < bound.slack * (1 - wall):
                far = (-wall * bound.slack / bound.slack_step).mid()
            if bound.price + bound.price_step * dual < bound.price * (1 - wall):
                dual = (-wall * bound.price / bound.price_step).mid()
        return far, dual

    def answer(self, shares: Sequence[Fraction]) -> PrimalDual:
        """The point and its prices as rationals; prices of arcs are multiplied by the shares."""
        flows = [LongFloat(0)] * self._arcs
        for arc, bound in enumerate(self._hard):
            flows[arc] = bound.price
        for kind in self._kinds:
            for one in kind.excesses:
                flows[one.arc] += one.over.price
        others = [kind.total.price for kind in self._kinds] + [bound.price for bound in self._losses]
        prices = [
            *map(long_fraction, self._row_prices),
            *(share * long_fraction(flow) for share, flow in zip(shares, flows, strict=True)),
            *map(long_fraction, others),
        ]
        return PrimalDual([long_fraction(x) for x in self._point], [-price for price in prices])
