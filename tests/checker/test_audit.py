"""The audit catches the mistakes of the literature and leaves right mechanisms alone."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from leastnoise.checker import audit
from leastnoise.checker.binomial import probability_above, probability_below
from leastnoise.errors import BadParameter
from leastnoise.exact.enclosures import ln_below
from leastnoise.exact.samplers.laplace import discrete_laplace
from leastnoise.exact.sources import SeededSource
from support.channels import geometric

TRUTH, LIE = False, True


@pytest.fixture
def dice():
    return np.random.default_rng(20_240_601)


def laplace(dice, scale):
    return lambda x, size: x + dice.laplace(0, scale, size)


# Noise


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "refuted"), [(1.0, TRUTH), (0.5, LIE), (0.8, LIE)])
def test_laplace_noise(dice, scale, refuted):
    found = audit(laplace(dice, scale), 0, 1, epsilon=1)
    assert found.refuted is refuted
    assert float(found.epsilon_lower_bound) < 1 / scale
    assert float(found.epsilon_lower_bound) > 0.9 / scale


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "refuted"), [(1, TRUTH), (2, LIE)])
def test_discrete_laplace_noise_from_the_exact_dice(rate, refuted):
    source = SeededSource(7)
    found = audit(lambda x, size: x + discrete_laplace(rate=rate, size=size, source=source), 10, 11, epsilon=1)
    assert found.refuted is refuted


def test_ten_thousand_samples_tell_one_from_eight_tenths(dice):
    assert audit(laplace(dice, 1), 0, 1, epsilon=0.8, samples=20_000).refuted


@pytest.mark.slow
def test_gaussian_noise_needs_its_delta(dice):
    def noise(x, size):
        return x + dice.normal(0, 2, size)

    assert audit(noise, 0, 3, epsilon=1).refuted
    assert not audit(noise, 0, 3, epsilon=1, delta="0.4").refuted
    assert audit(noise, 0, 3, epsilon=1, delta="0.1").refuted


# Choices


def exponential(dice, scores, epsilon, two):
    """Weights e^(εq/2Δ); who forgets the 2 gives a score that can move both ways twice the privacy loss."""

    def sampler(x, size):
        weights = np.exp(epsilon * np.array(scores[x], dtype=float) / (2 if two else 1))
        return dice.choice(len(weights), size, p=weights / weights.sum())

    return sampler


@pytest.mark.parametrize(("two", "refuted"), [(True, TRUTH), (False, LIE)])
def test_the_exponential_mechanism_that_forgot_the_two(dice, two, refuted):
    scores = {"x": [1, 0, 0, 0, 0, 0, 0, 0], "y": [0, 1, 1, 1, 1, 1, 1, 1]}
    assert audit(exponential(dice, scores, 1, two), "x", "y", epsilon=1).refuted is refuted


def noisy_max(dice, counts, epsilon, leaks):
    """Report noisy max with Laplace(2/ε) noise; the noisy value itself must stay inside."""

    def sampler(x, size):
        noisy = np.array(counts[x]) + dice.laplace(0, 2 / epsilon, (size, len(counts[x])))
        winners = noisy.argmax(axis=1)
        if not leaks:
            return winners
        return [(int(winner), float(row[winner])) for winner, row in zip(winners, noisy, strict=True)]

    return sampler


@pytest.mark.slow
@pytest.mark.parametrize(("leaks", "refuted"), [(False, TRUTH), (True, LIE)])
def test_a_noisy_max_that_leaks_the_noise(dice, leaks, refuted):
    """All counts move together: the index alone then says nothing, the value by its e^ε each."""
    counts = {"x": [0, 0, 0, 0, 0, 0], "y": [1, 1, 1, 1, 1, 1]}
    assert audit(noisy_max(dice, counts, 1, leaks), "x", "y", epsilon=1, samples=200_000).refuted is refuted


# The sparse vector technique: Lyu, Su and Li, "Understanding the sparse vector technique", VLDB 2017, figure 1.


def sparse_vector(dice, answers, *, query_noise, threshold_noise=2.0, most=1, tell_value=False):
    """Above-threshold at 0 with ε = 1 (ε₁ = ε₂ = ½, Δ = 1) and the ways to get it wrong."""

    def sampler(x, size):
        threshold = dice.laplace(0, threshold_noise, (size, 1)) if threshold_noise else np.zeros((size, 1))
        shape = (size, len(answers[x]))
        noisy = np.array(answers[x]) + (dice.laplace(0, query_noise, shape) if query_noise else np.zeros(shape))
        above = noisy >= threshold
        told = np.where(above, noisy if tell_value else 1.0, np.nan)
        before = np.cumsum(above, axis=1) - above
        return [
            tuple("below" if value != value else value for value in row[heard].tolist())
            for row, heard in zip(told, before < most, strict=True)
        ]

    return sampler


OPPOSITE = {"x": [0.0, 1.0], "y": [1.0, 0.0]}
MANY = {"x": [0.0] * 5 + [1.0] * 5, "y": [1.0] * 5 + [0.0] * 5}


@pytest.mark.slow
def test_the_right_sparse_vector_is_left_alone(dice):
    right = sparse_vector(dice, MANY, query_noise=4.0)
    assert not audit(right, "x", "y", epsilon=1, samples=40_000).refuted


def test_no_noise_on_the_queries(dice):
    """Algorithm 5 (Stoddard et al. 2014): ∞."""
    wrong = sparse_vector(dice, OPPOSITE, query_noise=0.0)
    found = audit(wrong, "x", "y", epsilon=1, samples=40_000)
    assert found.refuted
    assert found.epsilon_lower_bound > 3


@pytest.mark.slow
def test_no_noise_on_the_threshold(dice):
    """All of ε is given to the queries; every answer below the threshold then costs as much as one above."""
    wrong = sparse_vector(dice, MANY, query_noise=2.0, threshold_noise=0.0)
    assert audit(wrong, "x", "y", epsilon=1).refuted


@pytest.mark.slow
def test_no_limit_on_the_answers_above(dice):
    """Algorithm 6 (Chen et al. 2015): ∞ for ever more queries; fresh noise that pays for one answer only."""
    wrong = sparse_vector(dice, MANY, query_noise=2.0, most=100)
    assert audit(wrong, "x", "y", epsilon=1, samples=100_000).refuted


@pytest.mark.slow
def test_the_noisy_answer_told(dice):
    """Algorithm 3 (Roth 2011): the value that passed the threshold bounds the threshold, and so tells on the others."""
    answers = {"x": [0.0] * 6 + [1.0], "y": [1.0] * 6 + [0.0]}
    wrong = sparse_vector(dice, answers, query_noise=2.0, tell_value=True)
    assert audit(wrong, "x", "y", epsilon=1, samples=100_000).refuted


@pytest.mark.slow
def test_noise_that_pays_for_one_answer_when_many_are_given(dice):
    """Algorithm 4 (Lee and Clifton 2014): noise on queries that does not grow with the number of answers."""
    answers = {"x": [0.0] * 2 + [1.0] * 8, "y": [1.0] * 2 + [0.0] * 8}
    wrong = sparse_vector(dice, answers, query_noise=4 / 3, threshold_noise=4.0, most=8)
    assert audit(wrong, "x", "y", epsilon=1, samples=100_000).refuted


# Soundness


def test_a_right_mechanism_is_accused_with_probability_at_most_alpha_by_enumeration():
    """Randomised response, tested on its worst event: sum the probabilities of all counts that would refute ε."""
    n, alpha = 40, Fraction(1, 20)
    p, q = Fraction(3, 4), Fraction(1, 4)
    lower = [probability_below(n, k, alpha / 2) for k in range(n + 1)]
    upper = [probability_above(n, k, alpha / 2) for k in range(n + 1)]
    accused = sum(
        comb(n, i) * p**i * q ** (n - i) * comb(n, j) * q**j * p ** (n - j)
        for i in range(n + 1)
        for j in range(n + 1)
        if lower[i] / upper[j] > 3
    )
    assert 0 < accused <= alpha


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "rows"),
    [("ln(2)", geometric(3, Fraction(1, 2)).floats()[1:3]), (0, np.full((2, 60), 1 / 60))],
    ids=["geometric", "many outputs that say nothing"],
)
def test_right_mechanisms_are_rarely_accused_in_many_runs(dice, epsilon, rows):
    """300 audits at α = 5 % of a mechanism that is exactly as private as claimed: accusations ≤ Bin(300, 5 %)."""

    def sampler(x, size):
        return dice.choice(rows.shape[1], size, p=rows[x])

    accused = sum(audit(sampler, 0, 1, epsilon, alpha="0.05", samples=400).refuted for _ in range(300))
    assert accused <= 41  # P(Bin(300, 0.05) > 41) < 1e-6


def test_the_half_that_chooses_the_event_is_not_the_half_that_tests_it():
    """Outputs that change sides half way: the event looked perfect, and then never happened."""

    def sampler(x, size):
        return ["ab"[x]] * (size // 2) + ["ba"[x]] * (size // 2)

    found = audit(sampler, 0, 1, epsilon=1, samples=4000)
    assert found.counts == (0, 2000)
    assert not found.refuted


@pytest.mark.slow
def test_the_bound_grows_with_the_number_of_samples(dice):
    bounds = [audit(laplace(dice, 1), 0, 1, 1, samples=n).epsilon_lower_bound for n in (1000, 10_000, 100_000)]
    assert bounds == sorted(bounds)
    assert bounds[-1] > Fraction(9, 10)


# Outputs of all kinds


@pytest.mark.parametrize(
    "sampler",
    [
        lambda x: x,
        lambda x: "yes" if x else "no",
        lambda x: None if x else 1,
        lambda x: [1, "a", x],
        lambda x: np.array([x, 0.5]),
        lambda x: float("nan") if x else 2.0,
        lambda x: 10**400 if x else -1,
        lambda x: (1,) * (2 + x),
        lambda x: frozenset([x]),
        lambda x, size: [x] * size,
        lambda x, size: np.full((size, 3), x),
    ],
)
def test_a_mechanism_that_tells_everything_is_refuted_whatever_it_returns(sampler):
    found = audit(sampler, 0, 1, epsilon=2, samples=400)
    assert found.refuted
    assert found.counts == (200, 0)


def test_a_mechanism_that_tells_nothing_is_not(dice):
    for sampler in (lambda _: 7, lambda _, size: dice.normal(size=size), lambda _, size: dice.normal(size=(size, 2))):
        found = audit(sampler, 0, 1, epsilon=0.1, samples=2000)
        assert not found.refuted


def test_the_report_says_what_was_seen(dice):
    found = audit(laplace(dice, 0.5), 0, 1, epsilon=1, samples=20_000)
    assert not found
    assert found.refuted
    text = str(found)
    for part in ("ε = 1 is refuted", "event", "[−∞, ", "of 10000", "1/1000000"):
        assert part in text
    lower = probability_below(found.tested, found.counts[0], found.alpha / 2)
    upper = probability_above(found.tested, found.counts[1], found.alpha / 2)
    assert found.epsilon_lower_bound == ln_below(lower / upper)


def test_labels_are_escaped_in_html():
    html = audit(lambda x: "<script>" if x else "b", 0, 1, epsilon=1, samples=400)._repr_html_()
    assert "<script>" not in html


@pytest.mark.parametrize(
    ("sampler", "options"),
    [
        (lambda x: {x: x}, {}),
        (lambda x, size: [x, size], {}),
        (lambda x, size: x + size, {}),
        (lambda x: x, {"alpha": 0}),
        (lambda x: x, {"alpha": 1}),
        (lambda x: x, {"samples": 3}),
        (lambda x: x, {"delta": 1}),
        (7, {}),
    ],
)
def test_bad_input_is_refused(sampler, options):
    with pytest.raises(BadParameter):
        audit(sampler, 0, 1, **{"epsilon": 1, **options})
