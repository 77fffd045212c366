"""Certified bounds inside mechanisms, each against exact arithmetic on the very border; and laws drawn in blocks."""

from fractions import Fraction
from itertools import accumulate
from types import SimpleNamespace

import numpy as np
import pytest

from leastnoise.exact import SeededSource, ln
from leastnoise.exact.balls import of_fraction
from leastnoise.exact.enclosures import enclose, ln_enclosure
from leastnoise.exact.numbers import ball_of
from leastnoise.exact.samplers.uniform import uniform_integer
from leastnoise.mechanisms.combinatorial.min_cut.contraction import acceptance
from leastnoise.mechanisms.combinatorial.min_cut.random_cluster import RandomCluster
from leastnoise.mechanisms.combinatorial.sorted_counts import partition_weights
from leastnoise.mechanisms.combinatorial.sorted_counts.halving import decide_by_doubles
from leastnoise.mechanisms.combinatorial.sorted_counts.numbers import Balls, Doubles
from leastnoise.mechanisms.combinatorial.sorted_counts.shift_chain import ShiftChain
from leastnoise.mechanisms.combinatorial.sorted_counts.sorted_counts import privacy_of, tight_decay
from leastnoise.mechanisms.combinatorial.vertex_cover.noisy_order import _block
from leastnoise.mechanisms.numeric.discrete_gaussian import gaussian_delta
from leastnoise.mechanisms.rank import SmoothMedian
from leastnoise.mechanisms.vector.ball import Envelope
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


def removed_one_by_one(nodes, ends, noise, source, trials):
    """A block of the order, trial after trial: with l nodes left a coin says "edge" with odds 2M·√l : V·s."""
    uniforms = source.words(trials, 64) >> np.uint64(11)
    picked = uniform_integer(2 * ends.shape[1], trials, source)
    single = uniform_integer(nodes, trials, source)
    removed = []
    for u, pick, vertex in zip(uniforms.tolist(), picked.tolist(), single.tolist(), strict=True):
        odds = 2 * ends.shape[1] * (nodes - len(removed)) ** 0.5 / float(nodes * noise)
        near, far = ends[pick & 1, pick >> 1], ends[1 - (pick & 1), pick >> 1]
        chosen, other = (near, far) if u / 2**53 < odds / (odds + 1) else (vertex, vertex)
        if chosen not in removed and other not in removed:
            removed.append(int(chosen))
    return removed


@pytest.mark.parametrize("nodes", [5, 40])
@pytest.mark.parametrize("noise", [Fraction(1, 2), Fraction(7)])
def test_a_block_of_trials_gives_what_one_trial_after_another_would(nodes, noise):
    for seed in range(60):
        random = np.random.default_rng(seed)
        ends = np.array([random.choice(nodes, 2, replace=False) for _ in range(nodes)]).T
        trials = min(nodes + 8, 256)
        alive, removed_at = np.ones(nodes, dtype=np.bool_), np.full(nodes, np.iinfo(np.int64).max)
        found, _ = _block(alive, removed_at, np.arange(nodes), ends, nodes, noise, SeededSource(seed))
        assert found.tolist() == removed_one_by_one(nodes, ends, noise, SeededSource(seed), trials)


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(2), ln(3)])
@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 10**6)])
def test_the_smooth_sensitivity_may_grow_by_what_is_private_and_hardly_less(epsilon, delta):
    """From one neighbour to the next by 1 + ε/(2·ln(2/δ)) at most."""
    growth = SmoothMedian(epsilon, delta, 0, 100, records=5).growth
    slope = enclose(lambda: ball_of(epsilon) / (2 * of_fraction(2 / delta).log()), 128)
    assert growth <= 1 + slope.lower
    assert growth >= (1 + slope.upper) * (1 - Fraction(1, 2**20))


@pytest.mark.parametrize("arithmetic", [Doubles(), Balls(200)], ids=["doubles", "balls"])
@pytest.mark.parametrize("decay", [Fraction(1, 2), Fraction(7, 10)])
def test_what_lies_beyond_the_width_of_a_chain_is_counted(decay, arithmetic):
    """Σ over k > width of Π_{j≤k} q^j/(1 − q^j), all of it, and hardly more."""
    width = 4
    products = list(
        accumulate((decay**j / (1 - decay**j) for j in range(1, 80)), lambda a, b: a * b, initial=Fraction(1))
    )
    beyond = sum(products[width + 1 :])
    low, high = ShiftChain(decay, width, arithmetic).beginning()
    last, first = Fraction(float(high[-1])), Fraction(float(low[-1]))
    assert first == 0
    assert beyond <= last <= 2 * beyond


@pytest.mark.slow
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
    decay = tight_decay(epsilon)
    hair = Fraction(1, 2**80)
    short = privacy_of(decay, 200).lower - hair
    taken = tight_decay(short)
    assert privacy_of(taken, 200).upper <= short
    assert taken > decay
    enough = privacy_of(decay, 200).upper + hair
    assert privacy_of(tight_decay(enough), 200).upper <= enough


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(999, 1000), ln(2)])
def test_the_coins_of_random_clusters_lie_between_their_doubles(rate):
    """Also where the exponent is large, and a slack on the wrong side is more than e^x allows for."""
    matrix, bits = np.array([[0, 1, 690], [1, 0, 300], [690, 300, 0]], dtype=np.int64), 1200
    cluster = RandomCluster(matrix, rate)
    for stays, (low, high) in ((False, cluster._out), (True, cluster._in)):
        for place in range(3):
            least, most = cluster._scaled(place, stays, bits)
            assert Fraction(float(low[place])) * 2**bits <= least
            assert most <= Fraction(float(high[place])) * 2**bits


@pytest.mark.parametrize("case", ["a small chance", "many factors"])
def test_the_chance_of_accepting_a_cut_lies_between_its_doubles(case):
    """A large exponent, and many factors: each rounding on the wrong side is more than e^x allows for."""
    totals = np.array([1000, 1001]) if case == "a small chance" else np.arange(10**9, 10**9 + 3000)
    level = -688 if case == "a small chance" else 3
    (low, high), scaled = acceptance(3, 2, level, totals, Fraction(999, 1000))
    least, most = scaled(1200)
    assert Fraction(float(low[0])) * 2**1200 <= least
    assert most <= Fraction(float(high[0])) * 2**1200 or high[0] == 1


def test_products_of_doubles_lie_on_their_sides():
    random = np.random.default_rng(3)
    one, other = random.random((6, 40)), random.random((40, 6))
    below, above = Doubles().below(one, other), Doubles().above(one, other)
    for i, j in np.ndindex(6, 6):
        pairs = zip(one[i].tolist(), other[:, j].tolist(), strict=True)
        true = sum(Fraction(a) * Fraction(b) for a, b in pairs)
        assert Fraction(float(below[i, j])) <= true <= Fraction(float(above[i, j]))


@pytest.mark.parametrize("count", [10, 1000])
@pytest.mark.parametrize("part", [0.1, 1 / 3, 1e-5])
def test_a_sum_of_weights_lies_between_its_bounds(monkeypatch, count, part):
    """Doubles without any doubt of their own, so that only the sum of them is rounded."""
    weights = np.full(count, part)
    monkeypatch.setattr(
        partition_weights, "WalkFilter", lambda *_, **__: SimpleNamespace(last=(weights,) * 2, exponent=0)
    )
    found = partition_weights._log_normaliser(None, Fraction(1, 2), 3, closed=True)
    true = ln_enclosure(count * Fraction(part), 200)
    assert found.lower <= true.lower
    assert true.upper <= found.upper


def test_doubles_lie_around_the_balls_that_they_are_made_of():
    numbers = [Fraction(k, 29) for k in range(1, 29)]
    low, high = Doubles().bounds([lambda x=x: of_fraction(x) for x in numbers])
    for least, x, most in zip(low.tolist(), numbers, high.tolist(), strict=True):
        assert Fraction(least) <= x <= Fraction(most)
