"""The joint exponential law, sequence by sequence, against the dynamic program and the sampler."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastnoise.exact import SeededSource, exact_exp, ln
from leastnoise.exact.samplers.joint_exponential import JointExponentialLaw
from support.statistics import fits

RANKS, LENGTHS = [0, 1, 3, 4], [2, 1, 3, 1]
THIRDS = [Fraction(4, 3)] * 3


def listed(lengths, members):
    """All non-decreasing sequences of places, each place as its run and its number there."""
    places = [(run, place) for run, length in enumerate(lengths) for place in range(length)]
    return [tuple(places[i] for i in row) for row in combinations_with_replacement(range(len(places)), members)]


def weight(ranks, runs, wanted, rate):
    borders = [0, *(ranks[run] for run in runs), sum(wanted)]
    off = sum(abs(high - low - c) for (low, high), c in zip(pairwise(borders), wanted, strict=True))
    return exact_exp(-rate * off)


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=4),
    st.lists(st.integers(1, 3), min_size=2, max_size=4),
)
def test_the_chances_are_those_of_all_sequences(runs, shares):
    ranks, records = [0], 0
    for gap, _ in runs[:-1]:
        records += gap
        ranks.append(records)
    lengths, wanted = [length for _, length in runs], [Fraction(records * s, sum(shares)) for s in shares]
    rate = sum(shares) * ln(2)
    law = JointExponentialLaw(ranks, lengths, wanted, rate)
    sequences = listed(lengths, len(shares) - 1)
    weights = [weight(ranks, [run for run, _ in each], wanted, rate) for each in sequences]
    for sequence, mass in zip(sequences, weights, strict=True):
        assert law.pmf([run for run, _ in sequence]).lower == mass / sum(weights)


def test_irrational_chances_are_enclosed():
    law = JointExponentialLaw(RANKS, LENGTHS, THIRDS, Fraction(1, 2))
    masses = [law.pmf([run for run, _ in each]) for each in listed(LENGTHS, 2)]
    assert sum(mass.lower for mass in masses) <= 1 <= sum(mass.upper for mass in masses)
    assert all(mass.upper - mass.lower < mass.upper / 2**60 for mass in masses)


def places_of(law, draw, count, seed):
    sequences = listed(LENGTHS, 2)
    source = SeededSource(seed)
    return [sequences.index(tuple(draw(law, source))) for _ in range(count)]


def cdf_of(law, kept=lambda _: True):
    masses = [float(law.pmf([run for run, _ in each]).lower) * kept(each) for each in listed(LENGTHS, 2)]
    return lambda place: sum(masses[: place + 1]) / sum(masses)


def test_draws_fit_the_law_and_no_other():
    law = JointExponentialLaw(RANKS, LENGTHS, THIRDS, Fraction(1, 2))
    drawn = places_of(law, lambda law, source: law.draw(source), 4000, 1)
    assert fits(drawn, cdf_of(law), 0, 27)
    assert not fits(drawn, cdf_of(JointExponentialLaw(RANKS, LENGTHS, THIRDS, Fraction(3, 4))), 0, 27)


@pytest.mark.parametrize("rest", [False, True])
def test_near_runs_and_the_rest_have_their_own_parts_of_the_law(rest):
    """With too short a reach both happen often; the coin between them has the exact share of the near runs."""
    law = JointExponentialLaw(RANKS, LENGTHS, THIRDS, Fraction(1, 2), reach=Fraction(1, 4))

    def is_near(sequence):
        return all(run in window for (run, _), window in zip(sequence, law._core, strict=True))

    drawn = places_of(law, lambda law, source: law._walk(source, rest=rest), 3000, 2)
    sequences = listed(LENGTHS, 2)
    assert {is_near(sequences[place]) for place in drawn} == {not rest}
    assert fits(drawn, cdf_of(law, lambda each: is_near(each) != rest), 0, 27)
    assert not fits(drawn, cdf_of(law), 0, 27)
    share = sum(law.pmf([run for run, _ in each]).lower for each in sequences if is_near(each))
    low, high = law._core_share(60)
    assert low <= share * 2**60 <= high
    assert high - low < 2**20


def test_a_coin_of_many_ones_looks_at_everything():
    """The one word in 2^64 that does not settle it."""

    class Ones(SeededSource):
        first = True

        def bits(self, count):
            if self.first:
                self.first = False
                return (1 << count) - 1
            return super().bits(count)

    law = JointExponentialLaw(RANKS, LENGTHS, THIRDS, Fraction(1, 2), reach=Fraction(1, 4))
    drawn = Counter(len(law.draw(Ones(seed))) for seed in range(20))
    assert drawn == {2: 20}


def test_ranks_of_any_size():
    many = 10**30
    law = JointExponentialLaw([0, many, 2 * many], [5, 1, 5], [Fraction(many)] * 2, Fraction(1, 100))
    assert {law.draw(SeededSource(seed))[0] for seed in range(5)} == {(1, 0)}


def test_members_of_one_run_are_any_multiset():
    """All records at the end of the runs: every sequence within the first run is equally likely."""
    law = JointExponentialLaw([0], [3], [Fraction(0)] * 3, Fraction(1))
    source, seen = SeededSource(4), listed([3], 2)
    drawn = [seen.index(tuple(law.draw(source))) for _ in range(1200)]
    assert fits(drawn, lambda place: (place + 1) / 6, 0, 5)
    assert np.bincount(drawn).min() > 100
