"""Non-decreasing sequences of places, weighed by how many records lie between neighbours: the joint exponential law.

Places in a row with the same number F of records at or below them form a run; a run has so many places. A sequence o₁ ≤
… ≤ oₘ has weight e^(−rate·Σⱼ |F(oⱼ) − F(oⱼ₋₁) − cⱼ|), j = 1, …, m + 1, with F(o₀) = 0 and F(oₘ₊₁) = n, all records; cⱼ
is how many are wanted between two neighbours. They add up to a total N, which need not be n. The sum of the weights is
a dynamic program over blocks: k members in a run of ℓ places are one of C(ℓ + k − 1, k) multisets, and cost e^(−rate·c)
for each member after the first.

A kernel e^(−rate·|x − c|) splits at x = c into e^(rate·x) and e^(−rate·x), so all sums are running ones: O(m·runs), or
O(m²·runs) where blocks are long. The far part only grows; the near part is a sliding window, kept as two stacks of
sums, so nothing is ever subtracted. All is done in balls, whose exponents have no limit, and a sequence is drawn
backwards, block by block: the next bits of U choose among balls, and where they do not, U gets more bits and the balls
more precision. So the law is exact.

With D = F(oⱼ) − c₁ − … − cⱼ the exponent is at least |D| + |n − N − D|: that is |n − N|, and twice the distance from D
to what lies between 0 and n − N. So runs whose D is more than `reach` away from there have little weight, and are left
out at first; a coin settles whether they matter, exactly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from math import comb
from typing import Any

from leastnoise.errors import PrecisionExhausted
from leastnoise.exact.balls import Ball, evaluate, scaled_bounds
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.inversion import is_below
from leastnoise.exact.numbers import Exact, ball_of, exact_exp
from leastnoise.exact.samplers.uniform import uniform_integer
from leastnoise.exact.sources import Source

__all__ = ["JointExponentialLaw", "Power", "ball_power", "rational_power"]

_FIRST_PRECISION = 192
_LAST_PRECISION = 1 << 18
_WORD = 64
_LONGEST = 1 << 12  # bits of an exponent's rational power that are worth writing out


Power = Callable[[int], Any]  # x ↦ e^(rate·x), as a ball or a rational


@dataclass(frozen=True)
class _Sums:
    """What the dynamic program found, for the runs of each member's window.

    Attributes:
        windows: The runs that member j may be in, j from zero.
        arriving: arriving[j][i]: all beginnings whose member j opens a block in run i.
        closed: closed[j][i]: all beginnings up to member j, in a block in run i that ends there.
        power: e^(rate·x) in the same numbers.
        total: The sum of all weights.
    """

    windows: tuple[range, ...]
    arriving: list[dict[int, Any]]
    closed: list[dict[int, Any]]
    power: Power
    total: Any


class JointExponentialLaw:
    """The law for some runs.

    Args:
        ranks: F of each run, increasing strictly.
        lengths: How many places each has, at least one.
        records: n, how many there are.
        wanted: c₁, …, cₘ₊₁, none below zero.
        rate: Above zero.
        reach: Runs farther than this have a share of at most 2^-64; None looks at all of them.
    """

    def __init__(
        self,
        ranks: Sequence[int],
        lengths: Sequence[int],
        records: int,
        wanted: Sequence[int],
        rate: Exact,
        reach: int | None = None,
    ) -> None:
        self._ranks, self._lengths, self._wanted, self._rate = ranks, lengths, wanted, rate
        self._end, self._members = records, len(wanted) - 1
        self._all = self._core = (range(len(ranks)),) * self._members
        if reach is not None:
            more = records - sum(wanted)
            lowest, highest = min(more, 0) - reach, max(more, 0) + reach
            targets = list(accumulate(wanted))[:-1]
            self._core = tuple(
                range(bisect_left(ranks, target + lowest), bisect_right(ranks, target + highest)) for target in targets
            )
        self._kept: dict[tuple[bool, int], _Sums] = {}

    @property
    def is_whole(self) -> bool:
        """Whether no run was left out."""
        return self._core == self._all

    def total(self, power: Power, *, near: bool = False) -> Any:
        """The sum of the weights of all sequences, or of those within the near runs, in the numbers of `power`."""
        return self._sum_up(self._core if near else self._all, power).total

    def exponent(self, runs: Sequence[int]) -> int:
        """Σⱼ |F(oⱼ) − F(oⱼ₋₁) − cⱼ| for a sequence with its members in these runs."""
        ranks = [0, *(self._ranks[i] for i in runs), self._end]
        return sum(abs(high - low - c) for (low, high), c in zip(pairwise(ranks), self._wanted, strict=True))

    def draw(self, source: Source) -> list[tuple[int, int]]:
        """One sequence: for each member its run and its place within the run."""
        if self.is_whole:
            return self._walk(source, rest=False)
        word = source.bits(_WORD)
        inside = word + 1 < 1 << _WORD or is_below(word, _WORD, self._core_share, source)
        return self._walk(source, rest=not inside)

    def pmf(self, runs: Sequence[int], bits: int = 64) -> Enclosure:
        """The chance of a sequence with its members in these runs; the same for all such sequences."""
        exponent = -self.exponent(runs)
        if (power := rational_power(self._rate, max(self._end, sum(self._wanted)))) is not None:
            mass = power(exponent) / self.total(power)
            return Enclosure(mass, mass)
        return enclose(lambda: ball_power(self._rate)(exponent) / self.total(ball_power(self._rate)), bits)

    def _sums(self, rest: bool, precision: int) -> _Sums:
        """The sums over all runs, or over the near ones, in balls; within `evaluate` at that precision."""
        if (rest, precision) not in self._kept:
            self._kept[rest, precision] = self._sum_up(self._all if rest else self._core, ball_power(self._rate))
        return self._kept[rest, precision]

    def _sum_up(self, windows: tuple[range, ...], power: Power) -> _Sums:
        arriving: list[dict[int, Any]] = []
        closed: list[dict[int, Any]] = []
        for j, window in enumerate(windows):
            if j == 0:
                arriving.append({i: self._kernel(0, self._ranks[i], 0, power) for i in window})
            else:
                arriving.append(self._arrivals(window, closed[-1], self._wanted[j], power))
            closed.append({i: sum(self._blocks(i, j, windows, arriving, power)) for i in window})
        last = closed[-1].items()
        total = sum(w * self._kernel(self._ranks[i], self._end, self._members, power) for i, w in last)
        return _Sums(windows, arriving, closed, power, total)

    def _kernel(self, low: int, high: int, gap: int, power: Power) -> Any:
        return power(-abs(high - low - self._wanted[gap]))

    def _blocks(
        self, run: int, last: int, windows: tuple[range, ...], arriving: list[dict[int, Any]], power: Power
    ) -> list[Any]:
        """The weights of all blocks that end with member `last`: of one member, of two, and so on."""
        found, stay = [], power(0)
        for size in range(1, last + 2):
            first = last - size + 1
            if run not in windows[first]:
                break
            found.append(arriving[first][run] * stay * comb(self._lengths[run] + size - 1, size))
            stay = stay * power(-self._wanted[first])
        return found

    def _arrivals(self, window: range, before: dict[int, Any], wanted: int, power: Power) -> dict[int, Any]:
        """Σ over earlier runs of their weight times the kernel, for each run of a window."""
        near, far, found = _SlidingSum(), power(0) * 0, dict[int, Any]()
        shift, waiting, leaving = power(wanted), iter(before), iter(before)
        entering, next_far = next(waiting, None), next(leaving, None)
        for i in window:
            rank = self._ranks[i]
            while entering is not None and entering < i:
                near.push(before[entering] * power(-self._ranks[entering]))
                entering = next(waiting, None)
            while next_far is not None and next_far < i and self._ranks[next_far] < rank - wanted:
                near.pop()
                far = far + before[next_far] * power(self._ranks[next_far])
                next_far = next(leaving, None)
            close = near.total() * power(rank) / shift if near else 0
            found[i] = far * power(-rank) * shift + close
        return found

    def _core_share(self, bits: int) -> tuple[int, int]:
        precision = self._precision(bits + _FIRST_PRECISION)

        def share() -> Ball:
            near, everything = (self._sums(rest, precision).total for rest in (False, True))
            found: Ball = near / everything
            return found

        return scaled_bounds(evaluate(share, precision), bits)

    def _walk(self, source: Source, *, rest: bool) -> list[tuple[int, int]]:
        """A sequence, from its end: within the near runs, or with at least one member outside of them."""
        found: list[tuple[int, int]] = []
        left, after, bound = self._members, self._end, rest  # bound: a member must still be outside
        while left:
            last = left - 1
            runs = [i for i in (self._all if rest else self._core)[last] if not found or i < found[-1][0]]
            run = runs[self._pick(source, partial(self._run_weights, runs, last, after, rest, bound))]
            size = 1 + self._pick(source, partial(self._block_weights, run, last, rest, bound))
            found += [(run, place) for place in reversed(_multiset(self._lengths[run], size, source))]
            if any(run not in self._core[member] for member in range(left - size, left)):
                bound = False
            left, after = left - size, self._ranks[run]
        return found[::-1]

    def _run_weights(
        self, runs: Sequence[int], last: int, after: int, rest: bool, bound: bool, precision: int
    ) -> list[Ball]:
        """The weight of each run as that of member `last`, before a member of rank `after`."""
        sums = self._sums(rest, precision)
        core = self._sums(False, precision).closed[last] if bound else {}
        weights = []
        for i in runs:
            closed = sums.closed[last][i] - core[i] if i in core else sums.closed[last][i]
            weights.append(closed * self._kernel(self._ranks[i], after, last + 1, sums.power))
        return weights

    def _block_weights(self, run: int, last: int, rest: bool, bound: bool, precision: int) -> list[Ball]:
        """The weight of each size of the block that ends with member `last`."""
        sums = self._sums(rest, precision)
        weights = self._blocks(run, last, sums.windows, sums.arriving, sums.power)
        if bound and run in self._core[last]:
            core = self._sums(False, precision)
            inside = self._blocks(run, last, core.windows, core.arriving, core.power)
            weights = [w - inside[k] if k < len(inside) else w for k, w in enumerate(weights)]
        return weights

    @property
    def precision(self) -> int:
        """The bits to work with at first, so that no sum loses many."""
        return self._precision(_FIRST_PRECISION)

    def _precision(self, bits: int) -> int:
        return bits + 2 * max(self._end, sum(self._wanted)).bit_length()

    def _pick(self, source: Source, weights: Callable[[int], list[Ball]]) -> int:
        """An index with these weights, by as many bits of U as it takes."""
        word, bits, precision = source.bits(_WORD), _WORD, self.precision
        while precision <= _LAST_PRECISION:
            chosen = evaluate(lambda: _decide(word, bits, weights(precision)), precision)  # noqa: B023 - called at once
            if chosen is not None:
                return chosen
            word, bits, precision = (word << _WORD) | source.bits(_WORD), bits + _WORD, 2 * precision
        raise PrecisionExhausted("a draw could not be settled", fix="use a less extreme parameter")


def rational_power(rate: Exact, largest: int) -> Power | None:
    """Powers as rationals, where they are that, and short up to the largest one."""
    base = exact_exp(rate)
    if base is None or max(base.numerator, base.denominator).bit_length() * largest > _LONGEST:
        return None
    return lambda x: base**x


def ball_power(rate: Exact) -> Power:
    """Powers as balls, each computed once; within `evaluate`."""
    step, known = ball_of(rate), dict[int, Ball]()

    def power(x: int) -> Ball:
        if x not in known:
            known[x] = (step * x).exp()
        return known[x]

    return power


def _decide(word: int, bits: int, weights: list[Ball]) -> int | None:
    """The index for U in [word, word + 1)·2^-bits; None if it is not clear."""
    sums = list(accumulate(weights))
    unit = sums[-1] / (1 << bits)
    low, high = unit * word, unit * (word + 1)
    first, last = 0, len(sums) - 1  # the index is at least `first` and at most `last`
    while first < last:
        middle = (first + last) // 2
        if sums[middle] >= high:
            last = middle
        elif sums[middle] <= low:
            first = middle + 1
        else:
            return None
    return first


def _multiset(places: int, size: int, source: Source) -> list[int]:
    """A uniform multiset of places, sorted: a uniform subset of places + size − 1 numbers, moved together (Floyd)."""
    chosen: set[int] = set()
    for top in range(places - 1, places + size - 1):
        drawn = uniform_integer(top + 1, source=source)
        chosen.add(top if drawn in chosen else drawn)
    return [number - before for before, number in enumerate(sorted(chosen))]


class _SlidingSum:
    """The sum of a queue without subtraction: a stack of sums of what leaves next, and one sum of what came last."""

    def __init__(self) -> None:
        self._front: list[Any] = []
        self._back: list[Any] = []
        self._back_sum: Any = 0

    def push(self, value: Any) -> None:
        self._back.append(value)
        self._back_sum = self._back_sum + value

    def pop(self) -> None:
        if not self._front:
            self._front = list(accumulate(reversed(self._back)))
            self._back, self._back_sum = [], 0
        self._front.pop()

    def total(self) -> Any:
        return self._front[-1] + self._back_sum if self._front else self._back_sum

    def __bool__(self) -> bool:
        return bool(self._front or self._back)
