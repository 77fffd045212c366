"""Subset selection: its law and error in rationals, and that nothing private estimates frequencies better."""

from fractions import Fraction
from itertools import combinations, product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check
from leastnoise.errors import BadParameter, InsecureSource, LeastNoiseError, TooLarge
from leastnoise.exact import Enclosure, SeededSource, exp_enclosure
from leastnoise.mechanisms import RandomizedResponse, SubsetSelection, plan_frequencies
from leastnoise.model.graphs import complete
from support.statistics import fits


def mean_error(law, estimates):
    """For each truth the expected squared error of an estimate from one response, summed over the labels."""
    return [
        sum(
            p * sum((guess - (z == x)) ** 2 for z, guess in enumerate(guesses))
            for p, guesses in zip(row, estimates, strict=True)
        )
        for x, row in enumerate(law)
    ]


def least_error(law):
    """Least mean error, over equally likely truths, of unbiased estimates from one response: tr((P·D⁻¹·Pᵀ)⁻¹) − 1."""
    solved = inverse(products_of(law))
    return sum(solved[x][x] for x in range(len(law))) - 1


def products_of(law):
    """P·D⁻¹·Pᵀ with D the chances of the responses where all truths are equally likely."""
    shares = [sum(column) / len(law) for column in zip(*law, strict=True)]
    return [
        [sum(p * q / share for p, q, share in zip(one, other, shares, strict=True)) for other in law] for one in law
    ]


def inverse(rows):
    """By Gauss and Jordan, in rationals; ZeroDivisionError for a singular matrix."""
    size = len(rows)
    work = [[*map(Fraction, row), *(Fraction(i == j) for j in range(size))] for i, row in enumerate(rows)]
    for i in range(size):
        pivot = next((r for r in range(i, size) if work[r][i]), i)
        work[i], work[pivot] = work[pivot], work[i]
        work[i] = [value / work[i][i] for value in work[i]]
        for r in range(size):
            if r != i:
                work[r] = [value - work[r][i] * own for value, own in zip(work[r], work[i], strict=True)]
    return [row[size:] for row in work]


SMALL = [(k, d, odds) for k in range(2, 7) for d in range(1, k) for odds in (2, 5)]


@pytest.mark.parametrize(("k", "d", "odds"), SMALL)
def test_law_estimate_and_error_agree_in_rationals(k, d, odds):
    """Every response: rows sum to one, ε is tight, the estimate is right on average and the error is its variance."""
    mechanism = SubsetSelection(f"ln({odds})", k, chosen=d)
    outputs = mechanism.outputs()
    assert len(outputs) == comb(k, d)
    channel = mechanism.channel(range(k), outputs)
    law = channel.matrix().tolist()
    assert all(sum(row) == 1 for row in law)
    assert check(channel, complete(k), mechanism.epsilon)
    assert not check(channel, complete(k), mechanism.epsilon - Fraction(1, 2**40))
    estimates = [[one.lower for one in mechanism.estimate([output])] for output in outputs]
    means = [[sum(p * e[z] for p, e in zip(row, estimates, strict=True)) for z in range(k)] for row in law]
    assert means == [[x == z for z in range(k)] for x in range(k)]
    error = mechanism.error().expected
    assert error.is_exact
    assert set(mean_error(law, estimates)) == {error.lower}
    assert least_error(law) == error.lower  # and no other estimate from this law is better


@given(st.integers(2, 60), st.integers(2, 400), st.integers(1, 20))
def test_the_best_size_is_the_best(k, top, bottom):
    odds = Fraction(top, bottom) + 1
    mechanism = SubsetSelection(f"ln({odds})", k)
    errors = [SubsetSelection(mechanism.epsilon, k, chosen=d).error().expected.lower for d in range(1, k)]
    assert mechanism.error().expected.lower == min(errors)
    assert mechanism.reason().lower_bound == Enclosure(min(errors), min(errors))


@pytest.mark.parametrize(("epsilon", "k"), [("1/1000", 5), (1, 2), (1, 100), (3, 40), (8, 1000), (400, 7), (1, 10**6)])
def test_at_irrational_odds_no_neighbouring_size_is_better(epsilon, k):
    mechanism = SubsetSelection(epsilon, k)
    error = mechanism.error().expected
    assert 0 < error.lower <= error.upper < error.lower * (1 + Fraction(1, 2**60))
    assert mechanism.reason().lower_bound.lower <= error.lower
    for d in {max(mechanism.chosen - 1, 1), min(mechanism.chosen + 1, k - 1)} - {mechanism.chosen}:
        assert error.upper < SubsetSelection(epsilon, k, chosen=d).error().expected.lower


@settings(max_examples=60)
@given(st.data(), st.integers(2, 4), st.sampled_from([2, 3, 9]))
def test_no_private_channel_estimates_better(data, k, odds):
    """Any channel of a few outputs whose columns spread by at most e^ε, with the best unbiased estimate from it."""
    outputs = data.draw(st.integers(1, 3))
    entry = st.fractions(1, odds, max_denominator=3)
    patterns = [[data.draw(entry) for _ in range(k)] for _ in range(outputs)]
    law = made_private(patterns, k)
    try:
        least = least_error(law)
    except ZeroDivisionError:
        return  # some label cannot be estimated
    bound = SubsetSelection(f"ln({odds})", k).reason().lower_bound.lower
    assert least >= bound


def made_private(patterns, k):
    """All turns of each pattern of likelihoods, which makes every row have the same sum; scaling keeps the ratios."""
    columns = [[pattern[(x + turn) % k] for x in range(k)] for pattern in patterns for turn in range(k)]
    return [[column[x] / sum(column[x] for column in columns) for column in columns] for x in range(k)]


@settings(max_examples=20)
@given(st.data(), st.integers(2, 3))
def test_the_best_estimate_from_two_people_is_a_sum(data, k):
    """Of all functions of two responses, of different channels, by least squares over all pairs of truths."""
    entry = st.integers(1, 4).map(Fraction)
    laws = [made_private([[data.draw(entry) for _ in range(k)] for _ in range(2)], k) for _ in range(2)]
    pairs = list(product(range(k), repeat=2))
    law = [[p * q for p in laws[0][x] for q in laws[1][y]] for x, y in pairs]
    counts = [[Fraction(pair.count(z)) for pair in pairs] for z in range(k)]
    try:
        solved, single = inverse(products_of(law)), sum(map(least_error, laws))
    except ZeroDivisionError:
        return
    square = sum(
        own * value * other
        for row in counts
        for own, line in zip(row, solved, strict=True)
        for value, other in zip(line, row, strict=True)
    )
    assert square - sum(c * c for row in counts for c in row) / len(pairs) == single


@pytest.mark.parametrize(("odds", "k"), [(4, 2), (9, 3), (4, 5), (Fraction(9, 4), 4)])
def test_the_other_ways_cost_what_their_laws_say(odds, k):
    """Both unary encodings and Hadamard response, from all their responses."""
    errors = plan_frequencies(f"ln({odds})", k).errors
    root = {4: Fraction(2), 9: Fraction(3), Fraction(9, 4): Fraction(3, 2)}[odds]
    strings = list(product((0, 1), repeat=k))
    own_and_other = {
        "symmetric unary encoding": (root / (root + 1), 1 / (root + 1)),
        "optimised unary encoding": (Fraction(1, 2), 1 / Fraction(odds + 1)),
    }
    for name, (p, q) in own_and_other.items():
        chances = [[p if z == x else q for z in range(k)] for x in range(k)]
        law = [
            [prod(one if bit else 1 - one for one, bit in zip(row, bits, strict=True)) for bits in strings]
            for row in chances
        ]
        assert max(max(column) / min(column) for column in zip(*law, strict=True)) == odds
        estimates = [[(bit - q) / (p - q) for bit in bits] for bits in strings]
        assert set(mean_error(law, estimates)) == {errors[name].lower}
    size = 1 << k.bit_length()  # above k: the row of ones is of no use
    rows = [[(-1) ** (row & y).bit_count() for y in range(size)] for row in range(1, k + 1)]
    law = [[Fraction(2 * (odds if sign > 0 else 1)) / ((odds + 1) * size) for sign in row] for row in rows]
    scale = Fraction(odds + 1) / (odds - 1)
    estimates = [[scale * row[y] for row in rows] for y in range(size)]
    assert set(mean_error(law, estimates)) == {errors["Hadamard response"].lower}
    assert errors["randomized response"].lower == SubsetSelection(f"ln({odds})", k, chosen=1).error().expected.lower


@given(st.integers(2, 5000), st.fractions(Fraction(1, 50), 12, max_denominator=50), st.integers(1, 10**6))
def test_no_other_way_is_better(k, epsilon, people):
    plan = plan_frequencies(epsilon, k, people)
    best = next(iter(plan.errors.values()))
    assert all(best.lower <= error.upper for error in plan.errors.values())
    one = plan.mechanism.error().expected
    assert best == Enclosure(one.lower / people, one.upper / people)


def test_one_label_is_randomized_response():
    one, other = SubsetSelection("ln(3)", 5, chosen=1), RandomizedResponse("ln(3)", 5)
    assert all(one.pmf((y,), x) == other.pmf(y, x) for x in range(5) for y in range(5))
    counts = [3, 1, 0, 2, 4]
    responses = [(z,) for z, count in enumerate(counts) for _ in range(count)]
    assert [one.lower for one in one.estimate(responses)] == other.estimate(counts)


def test_many_people_respond_independently():
    people = ["tea"] * 20_000 + ["milk"] * 10_000
    mechanism = SubsetSelection("ln(3)", ["tea", "coffee", "water", "milk", "beer"], chosen=2)
    responses = mechanism.draw_each(people)
    outputs = mechanism.outputs()
    for label, part in (("tea", responses[:20_000]), ("milk", responses[20_000:])):
        sums = np.cumsum([float(mechanism.pmf(output, label)) for output in outputs])
        places = np.array([outputs.index(tuple(row)) for row in part.tolist()])
        assert fits(places, sums.__getitem__, 0, len(outputs) - 2)
    estimates = [float(one) for one in mechanism.estimate(responses)]
    spread = 6 * (30_000 * float(mechanism.error().expected)) ** 0.5
    assert all(abs(one - true) < spread for one, true in zip(estimates, (20_000, 0, 0, 10_000, 0), strict=True))
    assert spread < 4_000  # six deviations: the estimates tell 20,000 from 10,000
    with pytest.raises(InsecureSource):
        mechanism.release_each(people, SeededSource(1))
    assert mechanism.release_each(people[:5]).shape == (5, 2)
    assert mechanism.draw_each([]).shape == (0, 2)
    assert mechanism.draw("tea", size=(2, 3)).shape == (2, 3, 2)


def test_the_noise_does_not_depend_on_the_answer():
    mechanism = SubsetSelection(1, 7, chosen=3)
    drawn = [mechanism.draw(answer, size=50, source=SeededSource(2)).tolist() for answer in range(7)]
    moves = [[sorted((place - answer) % 7 for place in row) for row in rows] for answer, rows in enumerate(drawn)]
    assert all(move == moves[0] for move in moves)


def test_an_irrational_estimate_is_enclosed():
    mechanism, odds = SubsetSelection(1, 4, chosen=2), exp_enclosure(1, 256)
    responses = [*combinations(range(4), 2), (0, 3)]
    for estimate, count in zip(mechanism.estimate(responses), (4, 3, 3, 4), strict=True):
        exact = [(count * 3 * (2 * e + 2) - 7 * 2 * (e + 2)) / (2 * 2 * (e - 1)) for e in (odds.lower, odds.upper)]
        assert estimate.lower <= min(exact)
        assert max(exact) <= estimate.upper
        assert estimate.width < Fraction(1, 2**100)
    assert sum(one.lower for one in mechanism.estimate(responses)) <= 7


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"epsilon": 0, "options": 3}, "epsilon"),
        ({"epsilon": -1, "options": 3}, "epsilon"),
        ({"epsilon": 1, "options": 1}, "options"),
        ({"epsilon": 1, "options": ["a", "a"]}, "options"),
        ({"epsilon": 1, "options": 3, "chosen": 0}, "chosen"),
        ({"epsilon": 1, "options": 3, "chosen": 3}, "chosen"),
        ({"epsilon": 1, "options": 3, "chosen": 1.5}, "chosen"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters, said):
    with pytest.raises(LeastNoiseError, match=said):
        SubsetSelection(**parameters)


def test_what_cannot_be_answered_is_refused():
    mechanism = SubsetSelection("ln(3)", 6)
    assert mechanism.chosen == 2
    for responses in ([(0,)], [(0, 0)], [(0, 1, 2)], [(0, 6)], [(0, "x")]):
        with pytest.raises(LeastNoiseError):
            mechanism.estimate(responses)
    for output in (0, (0,), (1, 0), (0, 0), (0, 1, 2), frozenset({0, 1})):
        assert mechanism.pmf(output, 0) == Enclosure(Fraction(0), Fraction(0))
    with pytest.raises(TooLarge):
        SubsetSelection(1, 100).outputs()
    with pytest.raises(TooLarge, match="options"):
        SubsetSelection(1, 2**24 + 1)
    with pytest.raises(BadParameter, match="irrational"):
        SubsetSelection(1, 5).certificate()
    with pytest.raises(BadParameter, match="people"):
        plan_frequencies(1, 5, people=0)
