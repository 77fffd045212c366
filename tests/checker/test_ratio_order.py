"""Pairs of doubles are as near to the truth as they say; the curve is the highest line of all sets of outputs."""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from leastnoise.checker import check, privacy_curve
from leastnoise.checker.entries import FloatEntries, read_entries
from leastnoise.checker.pairs import both_ways
from leastnoise.checker.ratio_order import RatioOrder
from leastnoise.exact import ln
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import complete, cycle, from_distance, path

SCALE = Fraction(2) ** 900
TINY = 2.0**-1060


def matrices(seed):
    """Doubles of all sizes, subnormal and zero too, many that nearly tie; rationals that doubles can't tell apart."""
    random = np.random.default_rng(seed)
    plain = random.random((5, 7))
    sizes = np.ldexp(random.random((5, 7)), random.integers(-1080, 0, (5, 7)))
    near = 0.125 * (1 + random.integers(0, 3, (5, 7)) * 2.0**-52)
    holes = plain * (random.random((5, 7)) < 0.7)
    small = np.ldexp(random.integers(1, 9, (5, 7)).astype(float), -1074)
    floats = [plain / 8, sizes, near, holes / 8, np.where(random.random((5, 7)) < 0.5, small, 0.125)]
    exact = [
        [Fraction(int(k), 40) + int(tiny) * Fraction(1, 2**200) for k, tiny in zip(*rows, strict=True)]
        for rows in zip(random.integers(0, 5, (5, 7)), random.integers(0, 3, (5, 7)), strict=True)
    ]
    return [*floats, np.array(exact, dtype=object)]


def exact_rows(matrix):
    return [[Fraction(p) for p in row] for row in matrix.tolist()]


def excess(near, far, t):
    return sum((max(Fraction(0), a - t * b) for a, b in zip(near, far, strict=True)), start=Fraction(0))


@pytest.mark.parametrize("seed", range(12))
def test_sums_are_as_near_as_they_say(seed):
    for matrix in matrices(seed):
        rows, pairs = exact_rows(matrix), both_ways(path(5).edges(), None, 5)
        order = RatioOrder(read_entries(matrix), pairs)
        ratios = {a / b for x in rows for z in rows for a, b in zip(x, z, strict=True) if b and a > b}
        near = sorted(ratios)[:: max(1, len(ratios) // 20)]
        shifts = [Fraction(0), *(sign * Fraction(1, 2**bits) for bits in (52, 97, 98, 101, 104) for sign in (1, -1))]
        factors = [r * (1 + shift) for r in near for shift in shifts if r < 2**500]
        for t in [Fraction(1), Fraction(3, 2), Fraction(10**9), *(t for t in factors if t >= 1)]:
            high, low, slack = order.sums(np.arange(len(pairs)), t)
            for pair, (x, z) in enumerate(zip(pairs.x, pairs.neighbour, strict=True)):
                if slack[pair] == np.inf:
                    continue
                found = (Fraction(high[pair]) + Fraction(low[pair])) / SCALE
                assert abs(found - excess(rows[x], rows[z], t)) <= Fraction(slack[pair]) / SCALE


def test_a_single_number_just_above_the_factor_is_not_left_out():
    near, far = 0.7, 0.3
    order = RatioOrder(FloatEntries(np.array([[near, 0.1], [far, 0.7]])), both_ways(path(2).edges(), None, 2))
    for bits in range(95, 120):
        t = Fraction(near) / Fraction(far) * (1 - Fraction(1, 2**bits))
        high, low, slack = order.sums(np.array([0]), t)
        found = (Fraction(high[0]) + Fraction(low[0])) / SCALE
        assert abs(found - (Fraction(near) - t * Fraction(far))) <= Fraction(slack[0]) / SCALE
        assert slack[0] < float(near * SCALE) * 2.0**-90


@pytest.mark.parametrize("seed", range(40))
def test_the_leading_ratios_hold_the_largest_of_each_group(seed):
    random = np.random.default_rng(seed)
    base = np.ldexp(1 + random.integers(0, 4, 6) * 2.0**-52, random.integers(-3, 0, 6))
    for matrix in (base[random.integers(0, 6, (4, 50))], np.ldexp(random.random((4, 50)), random.integers(-1070, 1))):
        matrix = np.maximum(matrix, TINY)
        x, z, y = random.integers(0, 4, 300), random.integers(0, 4, 300), random.integers(0, 50, 300)
        groups = random.integers(0, 5, 300)
        leading = FloatEntries(matrix).leading(groups, x, z, y)
        ratios = [Fraction(matrix[i, k]) / Fraction(matrix[j, k]) for i, j, k in zip(x, z, y, strict=True)]
        for group in range(5):
            best = max(ratios[place] for place in np.flatnonzero(groups == group))
            kept = [ratios[place] for place in leading.tolist() if groups[place] == group]
            assert best in kept
            assert min(kept) > best * (1 - Fraction(1, 2**101))


def lines_of_all_pairs(rows, pairs):
    """The lines of the sets of largest ratios, for each pair."""
    for x, z in pairs:
        useful = [(a, b) for a, b in zip(rows[x], rows[z], strict=True) if a]
        useful.sort(key=lambda ab: (ab[1] == 0, ab[0] / ab[1] if ab[1] else 0), reverse=True)
        yield from accumulate(useful, lambda one, two: (one[0] + two[0], one[1] + two[1]), initial=(0, 0))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("graph", [path(5), cycle(5), complete(5)])
def test_the_curve_is_the_highest_line_of_all_sets_where_pairs_nearly_tie(seed, graph):
    for matrix in matrices(seed):
        if matrix.dtype != object:
            matrix = matrix * 2.0**-3
        rest = [1 - sum(row) for row in exact_rows(matrix)]
        rows = [[*row, left] for row, left in zip(exact_rows(matrix), rest, strict=True)]
        pairs = [pair for i, j in graph.edges().tolist() for pair in ((i, j), (j, i))]
        lines = set(lines_of_all_pairs(rows, pairs))
        (branch,) = privacy_curve(Channel(rows), graph).branches
        assert set(branch.lines) <= lines
        corners = [Fraction(1), *branch.corners]
        for t in [*corners, *(2 * c for c in corners[-1:]), *map(lambda c, d: (c + d) / 2, corners, corners[1:])]:
            assert max(a - t * b for a, b in branch.lines) == max(a - t * b for a, b in lines)


def test_lengths_that_tie_are_compared_exactly():
    """Ratios 2, 4, 8 at distances 1, 2, 3, but for a hair: doubles and 96 bits see one and the same ε."""
    metric = from_distance([[abs(i - j) for j in range(4)] for i in range(4)])
    hair = Fraction(1, 10**40)
    for place in (1, 2, 3):
        top = [Fraction(1, 2**k) * (1 - hair * (k == place)) / 4 for k in range(4)]
        verdict = check(Channel([[p, 1 - p] for p in top]), metric, "ln(2)")
        assert not verdict
        candidates = [ln(top[i] / top[j]) / (j - i) for i in range(4) for j in range(i + 1, 4)]
        assert verdict.tight_epsilon == max(candidates)


def test_pairs_with_the_same_numbers_in_other_counts_are_told_apart():
    """Two numbers, many outputs: the second pair has one large ratio more than the first."""
    row = [Fraction(1, 10)] * 6 + [Fraction(1, 30)] * 12
    other = [Fraction(1, 30)] * 3 + [Fraction(1, 10)] * 6 + [Fraction(1, 30)] * 9
    third = [Fraction(1, 30)] * 6 + [Fraction(1, 10)] * 6 + [Fraction(1, 30)] * 6
    for order in ([row, other, third], [other, row, third], [third, row, other]):
        rows = [order[0], order[1], order[2], order[0]]
        pairs = [(i, j) for i in range(4) for j in (i - 1, i + 1) if 0 <= j < 4]
        curve = privacy_curve(Channel(rows), path(4))
        for t in (Fraction(1), Fraction(2)):
            assert curve.delta(ln(t)) == max(excess(rows[x], rows[z], t) for x, z in pairs)


def test_remainders_closer_than_two_doubles_tell_are_both_kept():
    """Quotients of 53-bit numbers can agree in 105 bits: the largest is always among those that are left."""
    best: list[Fraction] = []
    random = np.random.default_rng(5)
    for _ in range(2000):
        b, d = (int(n) | 1 for n in random.integers(2**52, 2**53, 2))
        if np.gcd(b, d) > 1:
            continue
        a = pow(d, -1, b)  # a·d − c·b = 1
        c = (a * d - 1) // b
        if a < 2**52 or not 2**52 <= c < 2**53:
            continue
        entries = FloatEntries(np.array([[float(c), float(a)], [float(d), float(b)]]))
        places = entries.leading(np.zeros(2, dtype=int), np.zeros(2, dtype=int), np.ones(2, dtype=int), np.arange(2))
        assert Fraction(a, b) > Fraction(c, d)
        assert 1 in places.tolist()
        turned = entries.leading(np.zeros(2, dtype=int), np.ones(2, dtype=int), np.zeros(2, dtype=int), np.arange(2))
        assert 0 in turned.tolist()
        best.append(Fraction(a, b) - Fraction(c, d))
    assert len(best) > 100
    assert max(best) < Fraction(1, 2**102)


def test_rationals_far_below_the_smallest_double_are_seen():
    """Numbers near 10^-400, which doubles hold as zero, tell the last pair from the others."""
    tiny = Fraction(1, 10**400)
    rows = [[tiny, 1 - tiny], [2 * tiny, 1 - 2 * tiny], [tiny / 3, 1 - tiny / 3], [Fraction(0), Fraction(1)]]
    order = RatioOrder(read_entries(np.array(rows, dtype=object)), both_ways(complete(4).edges(), None, 4))
    pairs = both_ways(complete(4).edges(), None, 4)
    for t in (Fraction(1), Fraction(3), Fraction(7)):
        high, low, slack = order.sums(np.arange(len(pairs)), t)
        for pair, (x, z) in enumerate(zip(pairs.x, pairs.neighbour, strict=True)):
            found = (Fraction(high[pair]) + Fraction(low[pair])) / SCALE
            assert abs(found - excess(rows[x], rows[z], t)) <= Fraction(slack[pair]) / SCALE
