"""The joint exponential law, sequence by sequence, against the dynamic program and the sampler."""

from collections import Counter
from contextlib import suppress
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement, pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.exact import SeededSource, exact_exp, ln
from leastnoise.exact.balls import evaluate, of_fraction
from leastnoise.exact.enclosures import exp_below
from leastnoise.exact.samplers import drawn_total
from leastnoise.exact.samplers.drawn_total import DrawnTotal, ln_weight_below
from leastnoise.exact.samplers.joint_exponential import JointExponentialLaw, _SlidingSum, ball_power
from support.statistics import fits

RANKS, LENGTHS = [0, 1, 3, 4], [2, 1, 3, 1]
PARTS = [1, 2, 1]


def listed(lengths, members):
    """All non-decreasing sequences of places, each place as its run and its number there."""
    places = [(run, place) for run, length in enumerate(lengths) for place in range(length)]
    return [tuple(places[i] for i in row) for row in combinations_with_replacement(range(len(places)), members)]


def weight(ranks, runs, records, wanted, rate):
    borders = [0, *(ranks[run] for run in runs), records]
    off = sum(abs(high - low - c) for (low, high), c in zip(pairwise(borders), wanted, strict=True))
    return exact_exp(-rate * off)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), min_size=2, max_size=4),
)
def test_the_chances_are_those_of_all_sequences(runs, wanted):
    """Also where more or fewer are wanted than there are."""
    ranks, lengths, records = ranks_of(runs)
    rate = ln(2)
    law = JointExponentialLaw(ranks, lengths, records, wanted, rate)
    sequences = listed(lengths, len(wanted) - 1)
    weights = [weight(ranks, [run for run, _ in each], records, wanted, rate) for each in sequences]
    for sequence, mass in zip(sequences, weights, strict=True):
        assert law.pmf([run for run, _ in sequence]).lower == mass / sum(weights)


def ranks_of(runs):
    """Ranks, lengths and the number of records, from the records after each run and its length."""
    ranks = [0, *accumulate(gap for gap, _ in runs[:-1])]
    return ranks, [length for _, length in runs], ranks[-1]


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=5),
    st.lists(st.integers(0, 4), min_size=2, max_size=4),
    st.integers(0, 6),
)
def test_whoever_is_beyond_the_reach_has_little_weight(runs, wanted, reach):
    """The bound that lets runs be left out, against all sequences."""
    ranks, lengths, records = ranks_of(runs)
    law = JointExponentialLaw(ranks, lengths, records, wanted, ln(2), reach)
    for sequence in listed(lengths, len(wanted) - 1):
        members = [run for run, _ in sequence]
        if not all(run in window for run, window in zip(members, law._core, strict=True)):
            assert law.exponent(members) >= abs(records - sum(wanted)) + 2 * (reach + 1)


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=1, max_size=5),
    st.lists(st.integers(0, 4), min_size=2, max_size=4),
)
def test_the_sum_of_all_weights_is_not_overrated(runs, wanted):
    ranks, lengths, records = ranks_of(runs)
    rate = ln(2)
    sequences = listed(lengths, len(wanted) - 1)
    total = sum(weight(ranks, [run for run, _ in each], records, wanted, rate) for each in sequences)
    assert exp_below(ln_weight_below(ranks, lengths, records, wanted, rate)) <= total


def halves(total):
    """What two equal parts want."""
    return [total // 2, total - total // 2]


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=4), st.integers(1, 3))
def test_chances_with_a_drawn_total_are_sums_over_all_totals(runs, step):
    """Far totals are added up in closed form: against many of them, one by one."""
    ranks, lengths, records = ranks_of(runs)
    rate = ln(3)
    law = DrawnTotal(ranks, lengths, records, halves, step, 2 * records + 2, rate)
    many = range(0, 2 * records + 60 * step, step)
    weights = [sum(weight(ranks, [run], records, halves(n), rate) for n in many) for run, _ in listed_runs(lengths)]
    for (run, _), mass in zip(listed_runs(lengths), weights, strict=True):
        found = law.pmf([run])
        assert found.is_exact
        assert abs(found.lower - mass / sum(weights)) < Fraction(1, 2**60)


def listed_runs(lengths):
    return [each[0] for each in listed(lengths, 1)]


def test_a_total_is_chosen_only_where_no_other_could_be():
    """Of ten totals two were looked at: for a U near one the others might be it."""
    law = DrawnTotal(RANKS, LENGTHS, 4, halves, 2, 18, Fraction(1, 2))
    looked_at = [2, 3]

    def decide(word):
        return evaluate(lambda: law._decide(word, 64, looked_at, 192, True), 192)

    assert decide(0) == 0
    assert decide(2**64 - 2) is None
    assert evaluate(lambda: law._decide(2**64 - 2, 64, list(range(10)), 192, True), 192) == 9


@pytest.mark.parametrize("records", [4, 7])
def test_a_total_that_was_chosen_stays_chosen_however_many_are_looked_at(records):
    """U means one total: what its first bits decide, no further bits and no further totals may change."""
    law = DrawnTotal([0, 1, 3, records], LENGTHS, records, halves, 1, 4 * records, Fraction(2))
    lists = [law._near(more) for more in (-2, 0, 4, 8, 200)]
    assert sorted(lists[-1]) == list(range(law._last + 1))
    assert len({*map(len, lists)}) > 2
    decided = 0
    for few, many in pairwise(lists):
        assert many[: len(few)] == few
        for word in range(64):
            first = evaluate(lambda: law._decide(word, 6, few, 192, False), 192)  # noqa: B023 - called at once
            if first is not None:
                decided += 1
                for more in (0, 31, 63):
                    again = evaluate(lambda: law._decide(64 * word + more, 12, many, 192, True), 192)  # noqa: B023
                    assert again is not None
                    assert many[again] == few[first]
    assert decided > 10


def test_what_is_left_out_of_a_total_is_bounded(monkeypatch):
    """With a short reach much is left out, and the bound on it covers all of it."""
    monkeypatch.setattr(drawn_total, "_REST_EXPONENT", 0)
    law, rate, left_out = DrawnTotal(list(range(30)), [1] * 30, 29, halves, 8, 60, Fraction(2)), Fraction(2), 0
    for index in range(8):
        low, high = evaluate(lambda: law._total(index, 192, False, ball_power(rate)), 192)  # noqa: B023 - called at once
        exact, _ = evaluate(lambda: law._total(index, 192, True, ball_power(rate)), 192)  # noqa: B023 - called at once
        assert not low > exact
        assert not exact > high
        left_out += low < exact
    assert left_out


@pytest.mark.slow
@pytest.mark.parametrize("spare", [0, 24])
def test_draws_with_a_drawn_total_fit_their_law(spare, monkeypatch):
    """With no spare bits many draws must look at more totals, and at all runs."""
    monkeypatch.setattr(drawn_total, "_SPARE_BITS", spare)
    monkeypatch.setattr(drawn_total, "_REST_EXPONENT", spare and 45)
    law, other = (
        DrawnTotal(RANKS, LENGTHS, 4, lambda n: [n // 3, n // 3, n - 2 * (n // 3)], 2, 18, Fraction(rate, 2))
        for rate in (1, 2)
    )
    drawn = places_of(law, lambda law, source: law.draw(source), 4000, 1)
    assert fits(drawn, cdf_of(law), 0, 27)
    assert not fits(drawn, cdf_of(other), 0, 27)


def test_irrational_chances_are_enclosed():
    law = JointExponentialLaw(RANKS, LENGTHS, 4, PARTS, Fraction(1, 2))
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


@pytest.mark.slow
def test_draws_fit_the_law_and_no_other():
    law = JointExponentialLaw(RANKS, LENGTHS, 4, PARTS, Fraction(1, 2))
    drawn = places_of(law, lambda law, source: law.draw(source), 4000, 1)
    assert fits(drawn, cdf_of(law), 0, 27)
    assert not fits(drawn, cdf_of(JointExponentialLaw(RANKS, LENGTHS, 4, PARTS, Fraction(3, 4))), 0, 27)


@pytest.mark.slow
@pytest.mark.parametrize("rest", [False, True])
def test_near_runs_and_the_rest_have_their_own_parts_of_the_law(rest):
    """With too short a reach both happen often; the coin between them has the exact share of the near runs."""
    law = JointExponentialLaw(RANKS, LENGTHS, 4, PARTS, Fraction(1, 2), reach=0)

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


def walks(law, rest):
    """All ways that a walk can go: its runs, and the product of the shares of what it picks."""
    found, waiting = Counter(), [()]
    while waiting:
        script, chance, taken = waiting.pop(), 1.0, 0

        def pick(_, weights, script=script):
            nonlocal chance, taken
            shares = evaluate(lambda: [float(w.mid()) for w in weights(192)], 192)
            if taken == len(script):
                waiting.extend((*script, i) for i, share in enumerate(shares) if share > 1e-40)
                raise StopIteration
            taken += 1
            chance *= shares[script[taken - 1]] / sum(shares)
            return script[taken - 1]

        law._pick = pick
        with suppress(StopIteration):
            found[tuple(run for run, _ in law._walk(SeededSource(1), rest=rest))] += chance
    return found


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 2)), min_size=2, max_size=4),
    st.lists(st.integers(0, 3), min_size=2, max_size=4),
    st.integers(0, 2),
)
def test_every_walk_has_the_share_of_its_sequences(runs, wanted, reach):
    """Near runs, and sequences with at least one member outside of them: also blocks that are partly outside."""
    ranks, lengths, records = ranks_of(runs)
    law = JointExponentialLaw(ranks, lengths, records, wanted, ln(2) / 2, reach=reach)
    sequences = Counter(tuple(run for run, _ in each) for each in listed(lengths, len(wanted) - 1))
    masses = {runs: count * float(law.pmf(runs).lower) for runs, count in sequences.items()}
    near = {runs for runs in masses if all(run in window for run, window in zip(runs, law._core, strict=True))}
    for rest, kept in ((False, near), (True, masses.keys() - near)):
        if kept:
            share = sum(masses[runs] for runs in kept)
            assert walks(law, rest) == pytest.approx({runs: masses[runs] / share for runs in kept}, rel=1e-9)


class Scripted(SeededSource):
    """Given words first, one for each call, then seeded bits."""

    def __init__(self, *script):
        super().__init__(1)
        self.script = list(script)

    def bits(self, count):
        return self.script.pop(0) if self.script else super().bits(count)


ONES = (1 << 64) - 1


@pytest.mark.parametrize(
    ("words", "run"),
    [((ONES - 1,), 0), ((ONES, 0), 0), ((ONES, 3 * 2**30 - 1), 0), ((ONES, 3 * 2**30 + 1), 1), ((ONES, 2**32 - 1), 1)],
)
def test_the_coin_between_near_runs_and_the_rest_is_exact(words, run):
    """The rest has a share of 2^-66/(1 + 2^-66): of the one word in 2^64 that does not settle it, a quarter."""
    law = JointExponentialLaw([0, 1], [1, 1], 1, [0, 1], 33 * ln(2), reach=0)
    source = Scripted(*words)
    assert law.draw(source) == [(run, 0)]
    assert not source.script


THIRD = ONES // 3  # and a third of 2^64 lies between it and the next word


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ((0,), 0), ((THIRD - 1,), 0), ((THIRD + 1,), 1), ((2 * THIRD - 1,), 1), ((ONES,), 2),
        ((THIRD, THIRD - 1), 0), ((THIRD, THIRD + 1), 1), ((THIRD, THIRD, THIRD - 1), 0),
        ((THIRD, THIRD, THIRD + 1), 1), ((2 * THIRD, 2 * THIRD - 1), 1), ((2 * THIRD, 2 * THIRD + 1), 2),
    ],
)  # fmt: skip
def test_a_pick_takes_more_bits_exactly_where_they_decide(words, chosen):
    """Three equal weights: the borders are 0.0101… and 0.1010… in binary, so every word of them leaves it open."""
    law, source = JointExponentialLaw([0], [1], 0, [0] * 2, Fraction(1)), Scripted(*words)
    assert law._pick(source, lambda _: [of_fraction(Fraction(1, 7))] * 3) == chosen
    assert not source.script


@pytest.mark.parametrize(("more", "chosen"), [(-1, 0), (1, 1)])
def test_further_bits_of_a_pick_go_on_from_the_first(more, chosen):
    """2^64/7 is 2/7 above a whole number, so the second word decides at another place than the first."""
    law, source = (
        JointExponentialLaw([0], [1], 0, [0] * 2, Fraction(1)),
        Scripted(ONES // 7, ONES * 2 // 7 + more),
    )
    assert law._pick(source, lambda _: [of_fraction(weight) for weight in (1, 6)]) == chosen
    assert not source.script


@given(st.lists(st.integers(0, 9)))
def test_a_sliding_sum_is_the_sum_of_what_is_in_the_queue(moves):
    """Zero takes the oldest value out, all else goes in."""
    queue, slide = [], _SlidingSum()
    for value in moves:
        if value:
            queue.append(value)
            slide.push(value)
        elif queue:
            queue.pop(0)
            slide.pop()
        assert (slide.total(), bool(slide)) == (sum(queue), bool(queue))


@pytest.mark.parametrize("reach", range(5))
def test_near_runs_are_those_within_reach(reach):
    law = JointExponentialLaw(RANKS, LENGTHS, 4, PARTS, Fraction(1, 2), reach=reach)
    for target, window in zip((1, 3), law._core, strict=True):
        assert list(window) == [run for run, rank in enumerate(RANKS) if abs(rank - target) <= reach]


def test_ranks_of_any_size():
    many = 10**30
    law = JointExponentialLaw([0, many, 2 * many], [5, 1, 5], 2 * many, [many] * 2, Fraction(1, 100))
    assert {law.draw(SeededSource(seed))[0] for seed in range(5)} == {(1, 0)}


def test_members_of_one_run_are_any_multiset():
    """All records at the end of the runs: every sequence within the first run is equally likely."""
    law = JointExponentialLaw([0], [3], 0, [0] * 3, Fraction(1))
    source, seen = SeededSource(4), listed([3], 2)
    drawn = [seen.index(tuple(law.draw(source))) for _ in range(1200)]
    assert fits(drawn, lambda place: (place + 1) / 6, 0, 5)
    assert np.bincount(drawn).min() > 100
