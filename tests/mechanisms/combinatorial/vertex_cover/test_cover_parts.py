"""The calibration of the noise, and the irrational coin at every depth."""

from fractions import Fraction
from itertools import combinations, permutations
from math import isqrt, log1p, sqrt

import numpy as np
import pytest

from leastnoise.exact import SeededSource, ln, ln_enclosure
from leastnoise.mechanisms.combinatorial.vertex_cover import VertexCoverOrder
from leastnoise.mechanisms.combinatorial.vertex_cover.cover_order import least_noise, privacy_above, textbook_noise
from leastnoise.mechanisms.combinatorial.vertex_cover.noisy_order import Uniforms, root_coins
from support.statistics import fits


@pytest.mark.parametrize("nodes", [2, 3, 10, 256, 257, 5000])
def test_the_sum_is_bounded_closely_from_above(nodes):
    noise = Fraction(7, 2)
    plain = sum(log1p(2 / (3.5 * sqrt(left))) for left in range(2, nodes + 1))
    found = float(privacy_above(nodes, noise))
    assert plain * (1 - 1e-12) <= found <= plain * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3), ln(3)], ids=str)
@pytest.mark.parametrize("nodes", [2, 4, 30, 10_000])
def test_the_least_noise_is_private_and_little_more_would_not_be(nodes, epsilon):
    noise = least_noise(nodes, epsilon)
    assert privacy_above(nodes, noise) <= epsilon
    assert privacy_above(nodes, noise * Fraction(9999, 10_000)) > epsilon
    assert noise < textbook_noise(nodes, epsilon)


def test_no_pair_of_graphs_on_four_nodes_loses_more_than_epsilon():
    mechanism, pairs = VertexCoverOrder(1, 4), list(combinations(range(4), 2))
    orders = list(permutations(range(4)))
    worst = Fraction(0)
    graphs = [tuple(p for i, p in enumerate(pairs) if code >> i & 1) for code in range(1 << 6)]
    laws = [[mechanism.pmf(order, graph) for order in orders] for graph in graphs]
    for code in range(1 << 6):
        for more in [code | 1 << i for i in range(6) if not code >> i & 1]:
            for one, other in zip(laws[code], laws[more], strict=True):
                worst = max(worst, one.upper / other.lower, other.upper / one.lower)
    assert Fraction(1, 2) < ln_enclosure(worst).upper <= 1


@pytest.mark.parametrize(("factor", "number"), [(Fraction(1, 3), 5), (Fraction(2), 2), (Fraction(1, 1000), 7)])
def test_the_coin_has_its_chance(factor, number):
    count = 400_000
    heads = root_coins(factor, np.full(count, number), Uniforms(count, SeededSource(1)))
    chance = float(factor) * sqrt(number) / (float(factor) * sqrt(number) + 1)
    assert fits(heads.astype(int), lambda x: 1 - chance if x < 1 else 1.0, 0, 0)
    wrong = chance * 0.98 if chance > 0.01 else chance * 0.7
    assert not fits(heads.astype(int), lambda x: 1 - wrong if x < 1 else 1.0, 0, 0)


class Chosen(Uniforms):
    """A U whose bits are those of a given number."""

    def __init__(self, numerator, bits):
        super().__init__(1, SeededSource(1))
        self._longer[0] = numerator, bits
        self.words = np.array([float(numerator >> (bits - 53))])


@pytest.mark.parametrize(("offset", "heads"), [(-1, True), (1, False)])
def test_a_number_next_to_the_chance_is_settled_by_whole_numbers(offset, heads):
    """U within 2^-180 of √2/(√2 + 1) = 2 − √2, where doubles can't tell."""
    bits = 200
    near = (2 << bits) - isqrt(2 << (2 * bits))
    uniform = Chosen(near + offset * (1 << 20), bits)
    assert root_coins(Fraction(1), np.array([2]), uniform).tolist() == [heads]


def test_a_second_look_sees_the_same_number():
    uniforms = Uniforms(3, SeededSource(4))
    long = uniforms.prefix(1, 200)
    assert uniforms.prefix(1, 200) == long
    assert uniforms.prefix(1, 100) == long >> 100
    assert uniforms.prefix(1, 53) == int(uniforms.words[1])
