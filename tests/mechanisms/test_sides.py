"""Certified bounds inside mechanisms, each against exact arithmetic on the very border; and two laws, counted."""

from collections import Counter
from fractions import Fraction
from itertools import accumulate, permutations

import numpy as np
import pytest

from leastnoise.exact import SeededSource, ln
from leastnoise.mechanisms.combinatorial.sorted_counts.calibration import privacy_of, tight_keep
from leastnoise.mechanisms.combinatorial.sorted_counts.decisions import decide_by_doubles
from leastnoise.mechanisms.combinatorial.sorted_counts.numbers import Balls, Doubles
from leastnoise.mechanisms.combinatorial.sorted_counts.shift_chain import ShiftChain
from leastnoise.mechanisms.combinatorial.vertex_cover.noisy_order import noisy_order
from leastnoise.mechanisms.numeric.gaussian_profile import gaussian_delta
from leastnoise.mechanisms.vector.envelope import Envelope
from support.statistics import fits


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(9), Fraction(10**6), Fraction(10**9)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), ln(3)])
def test_a_rough_profile_of_gaussian_noise_encloses_the_sharp_one(epsilon, variance):
    """Both ends, also where tails are known to a few digits only."""
    sharp = gaussian_delta(epsilon, variance, 3, 400)
    for bits in (4, 8, 64):
        rough = gaussian_delta(epsilon, variance, 3, bits)
        assert rough.lower <= sharp.upper
        assert sharp.lower <= rough.upper
        assert variance > 2**16 or rough.lower <= sharp.lower <= sharp.upper <= rough.upper


def test_points_within_an_envelope_have_the_law_of_their_steps():
    """P(y) ∝ e^(−rate·steps(y)) for steps ⌈|y|/3⌉, bounded by (1/3)·|y|: the border of acceptance decides."""
    rate, reach = ln(2), 40

    def steps(points):
        return -(-np.abs(points[:, 0]) // 3)

    drawn = Envelope(1, 3).draw(steps, rate, 60_000, SeededSource(5))[:, 0]
    weights = [2.0 ** -float(-(-abs(y) // 3)) for y in range(-reach, reach + 1)]
    sums = np.cumsum(weights) / sum(weights)
    assert fits(drawn, lambda y: sums[min(max(y + reach, 0), 2 * reach)], -20, 20)
    wrong = np.cumsum([w * (1.2 if y % 3 == 0 else 1) for y, w in zip(range(-reach, reach + 1), weights, strict=True)])
    assert not fits(drawn, lambda y: (wrong / wrong[-1])[min(max(y + reach, 0), 2 * reach)], -20, 20)


def chance_of_order(order, edges, noise):
    """Each vertex in turn with probability ∝ live degree + s/√l."""
    left, chance = list(order), 1.0
    for vertex in order:
        weights = {
            v: sum(v in edge and set(edge) <= set(left) for edge in edges) + noise / len(left) ** 0.5 for v in left
        }
        chance *= weights[vertex] / sum(weights.values())
        left.remove(vertex)
    return chance


def test_orders_of_a_small_graph_have_the_law_of_live_degrees():
    noise = Fraction(1)
    edges = [(0, 1), (0, 2), (0, 3), (1, 2)]
    tails, heads = np.array(edges).T
    source, orders = SeededSource(11), list(permutations(range(4)))
    drawn = [orders.index(tuple(noisy_order(4, tails, heads, noise, source).tolist())) for _ in range(4000)]
    sums = np.cumsum([chance_of_order(order, edges, float(noise)) for order in orders])
    assert sums[-1] == pytest.approx(1)
    assert fits(np.array(drawn), lambda i: sums[i], 0, len(orders) - 2)
    assert len(Counter(drawn)) == len(orders)


@pytest.mark.parametrize("arithmetic", [Doubles(), Balls(200)], ids=["doubles", "balls"])
@pytest.mark.parametrize("keep", [Fraction(1, 2), Fraction(7, 10)])
def test_what_lies_beyond_the_width_of_a_chain_is_counted(keep, arithmetic):
    """Σ over k > width of Π_{j≤k} q^j/(1 − q^j), all of it, and hardly more."""
    width = 4
    products = list(
        accumulate((keep**j / (1 - keep**j) for j in range(1, 80)), lambda a, b: a * b, initial=Fraction(1))
    )
    beyond = sum(products[width + 1 :])
    low, high = ShiftChain(keep, width, arithmetic).beginning()
    last, first = Fraction(float(high[-1])), Fraction(float(low[-1]))
    assert first == 0
    assert beyond <= last <= 2 * beyond


@pytest.mark.parametrize("size", [3, 40, 120])
def test_a_choice_that_doubles_call_sure_is_the_exact_one(size):
    """Weights are doubles, taken exactly; words lie on and next to the exact thresholds."""
    random = np.random.default_rng(size)
    weights = random.random(size) * 2.0 ** random.integers(-30, 1, size)
    exact = [Fraction(weight) for weight in weights.tolist()]
    thresholds = [part / sum(exact) for part in accumulate(exact)][:-1]
    sure_ones = 0
    for border in thresholds:
        near = int(border * 2**53)
        words = [word for word in range(near - 3, near + 4) if 0 <= word < 2**53]
        rows = np.tile(weights, (len(words), 1))
        chosen, sure = decide_by_doubles((rows, rows), np.array(words, dtype=np.float64))
        for word, choice, is_sure in zip(words, chosen.tolist(), sure.tolist(), strict=True):
            first, last = (sum(c * 2**53 <= end for c in thresholds) for end in (word, word + 1))
            if is_sure:
                sure_ones += 1
                assert choice == first
                assert last == first or thresholds[first] * 2**53 == word + 1
    far = np.array([2.0**51, 2.0**52])
    _, sure = decide_by_doubles((np.tile(weights, (2, 1)),) * 2, far)
    assert sure.any() or sure_ones


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(2), ln(3)])
def test_a_weight_a_hair_short_of_private_is_not_taken(epsilon):
    """An ε just below what a weight of the grid costs: the next weight must be taken, however small the hair."""
    keep = tight_keep(epsilon)
    hair = Fraction(1, 2**80)
    short = privacy_of(keep, 200).lower - hair
    taken = tight_keep(short)
    assert privacy_of(taken, 200).upper <= short
    assert taken > keep
    enough = privacy_of(keep, 200).upper + hair
    assert privacy_of(tight_keep(enough), 200).upper <= enough
