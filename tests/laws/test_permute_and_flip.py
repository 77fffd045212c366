"""Permute-and-flip as its authors wrote it, permutation by permutation, against the sampler that permutes nothing."""

from fractions import Fraction
from itertools import permutations, product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise import exact
from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource, Source, enumerate_law, exp_above, exp_below, ln_above, ln_below, read_exact
from leastnoise.exact.samplers import permute_and_flip as sampler
from leastnoise.exact.samplers.permute_and_flip import PermuteAndFlipLaw, permute_and_flip, permute_and_flip_pmf
from leastnoise.exact.samplers.scores import Scores
from support.sources import ScriptedSource
from support.statistics import fits


class Zeros(Source):
    def words(self, count, bits):
        return np.zeros(count, dtype=f"<u{bits // 8}")


small_scores = st.lists(st.integers(-3, 3), min_size=1, max_size=5)


def law(scores, rate="ln(2)", word_bits=16):
    return PermuteAndFlipLaw(Scores(scores, "scores"), read_exact(rate, "rate"), word_bits)


def chances(scores):
    """Coins of rate ln 2."""
    return [Fraction(1, 2 ** (max(scores) - score)) for score in scores]


@pytest.mark.slow
@given(small_scores)
def test_the_pmf_is_that_of_looking_at_candidates_in_random_order(scores):
    coins = chances(scores)
    masses = [Fraction(0)] * len(scores)
    for order in permutations(range(len(scores))):
        reached = Fraction(1, factorial(len(scores)))
        for place in order:
            masses[place] += reached * coins[place]
            reached *= 1 - coins[place]
    assert [permute_and_flip_pmf(i, scores, rate="ln(2)").lower for i in range(len(scores))] == masses


@given(small_scores)
def test_the_pmf_is_that_of_a_uniform_member_of_the_heads(scores):
    coins = chances(scores)
    masses = [Fraction(0)] * len(scores)
    for heads in product((False, True), repeat=len(scores)):
        weight = prod((p if head else 1 - p for head, p in zip(heads, coins, strict=True)), start=Fraction(1))
        for place in np.flatnonzero(heads):
            masses[place] += weight / sum(heads)
    assert [permute_and_flip_pmf(i, scores, rate="ln(2)").lower for i in range(len(scores))] == masses
    assert sum(masses) == 1


@given(small_scores)
def test_the_expected_gap_is_that_of_the_pmf(scores):
    found = law(scores)
    gaps = [max(scores) - score for score in scores]
    mean = sum((found.pmf(i).lower * gap for i, gap in enumerate(gaps)), start=Fraction(0))
    assert found.expected_gap() == exact.Enclosure(mean, mean)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=12))
def test_irrational_masses_sum_to_one_and_agree_with_the_mean(scores):
    found = law(scores, "1/7")
    masses = [found.pmf(i, 128) for i in range(len(scores))]
    assert sum(p.lower for p in masses) <= 1 <= sum(p.upper for p in masses)
    gaps = [max(scores) - score for score in scores]
    low, high = (sum(getattr(p, end) * gap for p, gap in zip(masses, gaps, strict=True)) for end in ("lower", "upper"))
    mean = found.expected_gap(64)
    assert mean.lower <= high
    assert low <= mean.upper
    assert permute_and_flip_pmf(len(scores), scores).upper == permute_and_flip_pmf(-1, scores).upper == 0


@pytest.mark.slow
@pytest.mark.parametrize("block", [sampler._BLOCK, 1])
@pytest.mark.parametrize("rate", ["ln(3)", "1/2"])
def test_the_sampler_follows_its_law_to_the_last_bit(rate, block, monkeypatch):
    """Two candidates, words of 8 bits, so that the tree can be walked up to unclear coins; in one block and in two."""
    monkeypatch.setattr(sampler, "_BLOCK", block)
    coins = law([0, 1], rate, 8)
    found = enumerate_law(lambda source: int(coins.draw(1, source)[0]), 18)
    assert sum(found.masses.values()) + found.undecided == 1
    assert found.undecided < Fraction(3, 256)
    for i in range(2):
        p = permute_and_flip_pmf(i, [0, 1], rate=rate)
        assert found.agrees_with(i, p.lower, p.upper)


@pytest.mark.parametrize("bits", [8, 16])
def test_every_entry_of_the_tables_is_on_its_side_of_the_logarithm(bits):
    """With room for the roundings of an exponent: three of at most 2^-53 of a number below 12."""
    near, far = sampler._borders(bits)
    room = Fraction(36, 2**53)
    for word in range(0, 1 << bits, 1 if bits == 8 else 37):
        share = Fraction(word + 1, 1 << bits)
        assert Fraction(near[word]) + room <= -ln_above(share, 80)
        assert word == 0 or Fraction(far[word]) - room >= -ln_below(Fraction(word, 1 << bits), 80)
    assert far[0] == np.inf
    coarse = sampler._coarse_borders(bits, bits // 4)
    assert all(coarse[word >> bits // 4] >= far[word] for word in range(1 << bits))


@pytest.mark.parametrize(
    ("scores", "rate"),
    [
        ([0, -1], "1"),
        ([0, -3], "ln(2)"),
        (np.array([0.5, -9.25]), "1/3"),
        (np.array([10**18, 10**18 - 7]), "1/9"),
        (["ln(3)", "1/7"], "2"),
        ([0, "-1e-9"], "1"),
        ([0, -1000], "1"),
    ],
)
def test_a_coin_is_heads_exactly_where_its_uniform_is_below_its_chance(scores, rate):
    coins, read = law(scores, rate), Scores(scores, "scores")
    gap = read.exact(0) - read.exact(1)
    exponent = read_exact(rate, "rate") * -gap if isinstance(gap, Fraction) else -2 * gap
    border, exponents = int(exp_below(exponent, 90) * 2**16), coins._exponents(0, 2)
    for word in range(max(border - 2, 0), min(border + 3, 2**16)):
        source = ScriptedSource(np.array([word, word]))
        possible = bool(coins._flip_all(exponents, 1, source)[1][1])
        heads = possible and coins._is_head(1, word, source, exponents[1])
        revealed, bits = word, 16
        for given_bits, words in source.given[1:]:
            for more in words:
                revealed, bits = (revealed << given_bits) | int(more), bits + given_bits
        low, high = Fraction(revealed, 2**bits), Fraction(revealed + 1, 2**bits)
        if heads:
            assert high <= exp_above(exponent, bits + 64)
        else:
            assert low >= exp_below(exponent, bits + 64)


def test_a_coin_that_is_settled_as_tails_is_out():
    """Two coins, the second unclear after 16 bits, picked, and tails: the first is the choice, without more bits."""
    scores, rate = [0, -3], "1/3"
    word = int(exp_below(Fraction(-1), 90) * 2**16)
    for script, choice in (([[255], [255] * 4], 0), ([[255], [0] * 4], 1), ([[0]], 0)):
        source = ScriptedSource([0, word], *script)
        assert law(scores, rate).draw(1, source).tolist() == [choice]
        assert len(source.given) == 1 + len(script)
    source = ScriptedSource([0, word, 0, word], [255] * 4, [0] * 4)  # two rows: each coin is settled at once
    law(scores, rate).draw(2, source)
    assert source.given[1][1].tolist() == [255] * 4
    assert source.given[2][1].tolist() == [0] * 4


def test_a_coin_that_is_settled_as_tails_is_out_of_its_block(monkeypatch):
    """Blocks of two: the first coin is picked, settled as tails, and must not be picked again for the second."""
    monkeypatch.setattr(sampler, "_BLOCK", 2)
    word = int(exp_below(Fraction(-1), 90) * 2**16)
    source = ScriptedSource([word, 0], [2**16 - 1], [0], [255] * 4)
    assert law([-3, 0, -30], "1/3").draw(1, source).tolist() == [1]
    assert len(source.given) == 4


def test_a_chance_too_small_for_a_double_is_still_there():
    scores = np.array([-2000.0, 0.0])
    assert 0 < permute_and_flip_pmf(0, scores).lower < Fraction(1, 2**2800)
    assert permute_and_flip(scores, source=Zeros()) == 0
    assert permute_and_flip(np.array([-1e308, 1e308]), rate=1000) == 1


@pytest.mark.parametrize("kind", ["whole", "float", "exact", "logarithms"])
def test_many_draws_fit(kind):
    whole = np.arange(40) % 7
    scores = {
        "whole": whole,
        "float": whole / 4.0,
        "exact": [Fraction(int(score), 3) for score in whole],
        "logarithms": [f"{score}*ln(2)" for score in whole],
    }[kind]
    drawn = permute_and_flip(scores, size=60_000, rate="1/2")
    sums = np.cumsum([float(permute_and_flip_pmf(i, scores, rate="1/2")) for i in range(40)])
    assert fits(drawn, lambda i: sums[i], 0, 38)


@pytest.mark.slow
def test_choices_among_more_candidates_than_a_block_fit():
    """By symmetry all candidates of one score are alike, so that the integral is over few factors."""
    count = sampler._BLOCK + 5000
    scores = np.zeros(count, dtype=np.int64)
    scores[:3] = 40, 40, 39
    drawn = permute_and_flip(scores, size=4000, rate="1/4")
    kinds = np.minimum(drawn, 3)
    p = np.exp(-np.array([0.0, 0.0, 0.25, 10.0]))
    u = (np.arange(200_000) + 0.5) / 200_000
    rest = (1 - p[3] * u) ** (count - 3)
    masses = [(p[i] * np.prod([1 - p[j] * u for j in range(3) if j != i], axis=0) * rest).mean() for i in range(3)]
    sums = np.cumsum([*masses, 1 - sum(masses)])
    assert 0.2 < masses[0] < 0.5
    assert fits(kinds, lambda i: sums[i], 0, 2)


def test_how_many_bits_are_asked_for_first_does_not_depend_on_the_scores():
    def first(scores):
        source = ScriptedSource(seed=5)
        permute_and_flip(scores, source=source)
        return [(bits, len(words)) for bits, words in source.given[: -(-len(scores) // sampler._BLOCK)]]

    count = sampler._BLOCK + 1
    one, alike = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    one[7] = 10**6
    assert first(one) == first(alike) == [(16, sampler._BLOCK), (16, 1)]


def test_shapes_seeds_and_refusals():
    assert type(permute_and_flip([1, 2])) is int
    assert permute_and_flip([1, 2], size=(2, 3)).shape == (2, 3)
    assert permute_and_flip([1, 2], size=0).shape == (0,)
    same = [permute_and_flip([1, 2, 2], size=50, source=SeededSource(4)).tolist() for _ in range(2)]
    assert same[0] == same[1]
    for bad in ([], [[1, 2]], np.array([np.nan, 1.0]), np.array([np.inf, 1.0]), [True, False]):
        with pytest.raises(BadParameter):
            permute_and_flip(bad)
    for rate in (0, -1, "1e-200", "1e200"):
        with pytest.raises(BadParameter, match="rate"):
            permute_and_flip([1, 2], rate=rate)
