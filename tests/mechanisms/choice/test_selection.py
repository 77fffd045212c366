"""What is said about a single choice: its error, its bounds, its scores, its certificate."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check
from leastnoise.errors import BadParameter, LeastNoiseError, UnknownLabel
from leastnoise.exact import Enclosure, SeededSource, exp_above, ln, read_exact
from leastnoise.mechanisms.choice import Exponential, PermuteAndFlip
from leastnoise.model.certificate import Certificate, PrivacyCertificate
from leastnoise.model.events import BoundedRange, Pure
from leastnoise.model.privacy import Privacy

scores = st.lists(st.integers(-8, 8), min_size=1, max_size=6)
fine_scores = st.lists(st.fractions(-20, 20, max_denominator=8), min_size=2, max_size=6)
both = st.sampled_from([Exponential, PermuteAndFlip])


class Column:
    """Turns into an array when asked, like a column of a data frame."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


def masses(mechanism, answer):
    return [mechanism.pmf(candidate, answer, bits=128) for candidate in mechanism.candidates]


def tail(mechanism, answer, gap, strictly=False):
    """P(best − score ≥ gap), or > gap."""
    best = max(answer)
    far = [
        p
        for p, score in zip(masses(mechanism, answer), answer, strict=True)
        if best - score > gap or (best - score == gap and not strictly)
    ]
    return Enclosure(sum((p.lower for p in far), Fraction(0)), sum((p.upper for p in far), Fraction(0)))


@pytest.mark.slow
@given(scores, st.booleans())
def test_permute_and_flip_is_never_further_from_the_best_than_the_exponential_mechanism(answer, monotone):
    """Exactly, for every threshold, so for the mean of every increasing function of the gap."""
    flip, exponential = (make("2*ln(2)", len(answer), monotone=monotone) for make in (PermuteAndFlip, Exponential))
    for gap in {max(answer) - score for score in answer}:
        ours, theirs = tail(flip, answer, gap), tail(exponential, answer, gap)
        assert ours.is_exact
        assert theirs.is_exact
        assert ours.lower <= theirs.lower
    assert flip.error_at(answer).lower <= exponential.error_at(answer).lower
    assert flip.expected_score(answer).lower >= exponential.expected_score(answer).lower


@pytest.mark.slow
@given(both, scores)
def test_the_expected_score_is_that_of_the_law(make, answer):
    mechanism = make("2*ln(3)", len(answer))
    mean = sum((p.lower * score for p, score in zip(masses(mechanism, answer), answer, strict=True)), Fraction(0))
    assert mechanism.expected_score(answer) == Enclosure(mean, mean)
    assert mechanism.error_at(answer) == Enclosure(max(answer) - mean, max(answer) - mean)


@pytest.mark.slow
@given(both, fine_scores, st.sampled_from(["1/3", 1, "ln(5)", 4]), st.booleans(), st.sampled_from([0, "1/2", 1, 3]))
def test_the_utility_bound_holds(make, answer, epsilon, monotone, t):
    """P[q ≤ OPT − (ln(n/n_best) + t)/rate] ≤ e^-t (Tóthmérész 2013, Theorem 2.2; Cummings, Theorem 4, put right)."""
    mechanism = make(epsilon, len(answer), "3/2", monotone=monotone)
    bound = mechanism.utility_bound(t, optimal=answer.count(max(answer)))
    assert tail(mechanism, answer, bound.upper).lower <= exp_above(-read_exact(t, "t"))
    assert bound.upper <= mechanism.utility_bound(t).upper


@pytest.mark.slow
@given(both, fine_scores, st.sampled_from(["1/3", 1, "ln(5)"]), st.booleans())
def test_no_scores_are_worse_than_the_estimate(make, answer, epsilon, monotone):
    mechanism = make(epsilon, len(answer), "1/2", monotone=monotone)
    estimate = mechanism.error()
    assert not estimate.attained
    assert mechanism.error_at(answer).lower <= estimate.expected.upper
    for level in (Fraction(1, 2), Fraction(19, 20)):
        assert tail(mechanism, answer, mechanism.quantile(level), strictly=True).lower <= 1 - level
    assert mechanism.reason().lower_bound.lower <= estimate.expected.upper


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3, 50])
@pytest.mark.parametrize("make", [Exponential, PermuteAndFlip])
def test_the_estimate_is_attained_where_all_others_lie_equally_low(make, count):
    mechanism = make(1, count, monotone=True)
    worst = mechanism.error().expected
    assert worst.upper - worst.lower < Fraction(1, 10**15)
    seen = max(float(mechanism.error_at([0] + [-Fraction(step, 40)] * (count - 1))) for step in range(300))
    assert float(worst) * (1 - 1e-3) < seen <= float(worst)
    level = mechanism.quantile()
    just_beyond = [0] + [-level - Fraction(1, 10**9)] * (count - 1)
    closer = [0] + [-level * Fraction(99, 100)] * (count - 1)
    assert tail(mechanism, just_beyond, level, strictly=True).lower <= Fraction(1, 20)
    assert tail(mechanism, closer, 0, strictly=True).lower > Fraction(1, 20) or level == 0


def test_the_error_of_permute_and_flip_lies_between_half_of_the_exponential_mechanisms_and_all_of_it():
    for count in (2, 10, 1000, 10**6):
        flip, exponential = (float(make(1, count).error().expected) for make in (PermuteAndFlip, Exponential))
        assert exponential / 2 < flip < exponential
        assert float(PermuteAndFlip(1, count).reason().lower_bound) < flip
        assert PermuteAndFlip(1, count).quantile() < Exponential(1, count).quantile()
    assert (
        PermuteAndFlip(1, 1).error().expected
        == Exponential(1, 1).error().expected
        == Enclosure(Fraction(0), Fraction(0))
    )


def test_one_candidate_is_always_chosen():
    for make in (Exponential, PermuteAndFlip):
        assert make(1, ["only"]).release([5]) == "only"
        assert make(1, 1).error().quantiles == {Fraction(19, 20): 0}


def test_monotone_scores_cost_half():
    for make in (Exponential, PermuteAndFlip):
        two, one = make(1, 7), make(1, 7, monotone=True)
        assert (two.rate, one.rate) == (Fraction(1, 2), Fraction(1))
        assert abs(float(two.error().expected) / float(one.error().expected) - 2) < 1e-12


def test_events_say_what_composition_may_use():
    assert PermuteAndFlip(1, 3).event == Pure(1)
    assert Exponential(1, 3).event == BoundedRange(1)


@pytest.mark.parametrize("make", [Exponential, PermuteAndFlip])
def test_floats_are_the_numbers_that_the_machine_holds(make):
    """0.1 as a score is not one tenth: neighbours that differ by one float must not end up further apart."""
    mechanism = make("2*ln(2)", 2)
    dyadic = [Fraction(0.1), Fraction(0)]
    for answer in ([0.1, 0.0], np.array([0.1, 0.0]), (np.float64(0.1), 0)):
        assert mechanism.error_at(answer) == mechanism.error_at(dyadic) != mechanism.error_at([Fraction(1, 10), 0])
    assert mechanism.error_at(Column([0.1, 0.0])) == mechanism.error_at(dyadic)
    single = np.array([0.1, 0.0], dtype=np.float32)
    assert mechanism.error_at(single) == mechanism.error_at([Fraction(float(np.float32(0.1))), 0])


@pytest.mark.parametrize("make", [Exponential, PermuteAndFlip])
def test_scores_far_apart_and_at_the_ends_of_their_types(make):
    mechanism = make(1, ["low", "high"])
    for answer in (
        np.array([-(2**63), 2**63 - 1]),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([-128, 127], dtype=np.int8),
        np.array([-1.7e308, 1.7e308]),
        [-(10**400), 10**400],
        ["-1000", "ln(3)"],
    ):
        assert mechanism.draw(answer, size=20).tolist() == ["high"] * 20
        assert 0 <= mechanism.pmf("low", answer).lower < Fraction(1, 10**9)
        assert mechanism.pmf("low", answer).upper > 0
    assert mechanism.pmf("low", np.array([5e-324, 0.0])).lower > Fraction(1, 2) - Fraction(1, 10**9)


@pytest.mark.parametrize("make", [Exponential, PermuteAndFlip])
@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_a_million_candidates(make, kind):
    answer = np.zeros(10**6, dtype=kind)
    answer[123456] = 100
    assert make(1, 10**6).release(answer) == 123456
    answer[123456] = 0
    assert len({make(1, 10**6).release(answer) for _ in range(5)}) > 1


def test_names_are_found_or_the_closest_is_told():
    mechanism = PermuteAndFlip(1, ["apple", "pear"])
    with pytest.raises(UnknownLabel, match="apple"):
        mechanism.pmf("appel", [1, 2])
    for strange in ("0", 2, -1, 0.5):
        with pytest.raises(UnknownLabel):
            PermuteAndFlip(1, 2).pmf(strange, [1, 2])


def test_draws_come_in_shape_and_by_name():
    mechanism = PermuteAndFlip(1, ["a", ("b", 1)])
    drawn = mechanism.draw([1, 1], size=(3, 4), source=SeededSource(1))
    assert drawn.shape == (3, 4)
    assert set(drawn.ravel().tolist()) == {"a", ("b", 1)}
    assert Exponential(1, 2).draw([1, 1], size=5).dtype == np.int64


@given(st.lists(st.integers(0, 4), min_size=2, max_size=4).filter(any), st.data())
def test_a_base_measure_multiplies_the_weights(base, data):
    answer = data.draw(st.lists(st.integers(-3, 3), min_size=len(base), max_size=len(base)))
    mechanism = Exponential("2*ln(2)", len(base), base=base)
    weights = [b * Fraction(2) ** score for b, score in zip(base, answer, strict=True)]
    assert [p.lower for p in masses(mechanism, answer)] == [weight / sum(weights) for weight in weights]
    best = max(score for b, score in zip(base, answer, strict=True) if b)
    mean = sum(w * score for w, score in zip(weights, answer, strict=True)) / sum(weights)
    assert mechanism.expected_score(answer).lower == mean
    assert mechanism.error_at(answer).lower == best - mean <= mechanism.error().expected.upper
    bound = mechanism.utility_bound(1)
    far = [
        p.lower
        for p, score, b in zip(masses(mechanism, answer), answer, base, strict=True)
        if b and best - score >= bound.upper
    ]
    assert sum(far) <= exp_above(Fraction(-1))


@pytest.mark.parametrize("base", [[1, 0, 3], [0.5, 0, 0.25], ["1/3", 0, "2/7"], [2**70, 0, 1]])
def test_a_candidate_of_weight_zero_is_never_chosen(base):
    mechanism = Exponential(1, 3, base=base)
    assert 1 not in mechanism.draw([0, 1000, 0], size=200)
    assert mechanism.pmf(1, [0, 1000, 0]) == Enclosure(Fraction(0), Fraction(0))


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("make", [Exponential, PermuteAndFlip])
def test_the_certificate_is_accepted_and_a_bolder_one_is_not(make, monotone):
    mechanism = make("2*ln(2)", 5, "1/3", monotone=monotone)
    certificate = mechanism.certificate()
    assert check(Certificate.from_json(certificate.to_json()))
    bold = PrivacyCertificate(certificate.graph, Privacy("3/5*ln(2)"), certificate.channel)
    assert not check(bold)
    with pytest.raises(BadParameter, match="irrational"):
        make(1, 5).certificate()


def test_the_certificate_of_a_base_measure_is_accepted():
    assert check(Exponential("2*ln(2)", 5, base=[0, 1, "1/2", 7, 0]).certificate())


def test_the_exponential_mechanism_comes_as_near_to_epsilon_as_the_scores_are_far_apart():
    """Its ε is tight in the limit only: a weight that dominates on one side, and vanishes on the other."""
    epsilon = 2 * ln(2)
    last = Fraction(0)
    for gap in (2, 8, 30):
        mechanism = Exponential(epsilon, 2)
        near, far = ([gap, 0], [gap + 1, -1])
        ratio = mechanism.pmf(1, near).lower / mechanism.pmf(1, far).lower
        assert last < ratio < 4
        last = ratio
    assert last > 4 - Fraction(1, 10**8)


def test_an_error_shows_no_score():
    for make in (Exponential, PermuteAndFlip):
        for answer in ([123456789, 2], np.array([1.0, np.nan, 123456789]), ["123456789a", 1, 2]):
            with pytest.raises(LeastNoiseError) as caught:
                make(1, 3).release(answer)
            assert "123456789" not in f"{caught.value}{caught.value.__context__}"


@settings(max_examples=20)
@given(st.integers(2, 10**9), st.sampled_from(["1/100", "1", "ln(9)"]))
def test_the_lower_bound_is_half_of_the_exponential_mechanisms_error_in_the_limit(count, epsilon):
    for monotone in (False, True):
        mechanism = Exponential(epsilon, count, monotone=monotone)
        ratio = float(mechanism.error().expected) / float(mechanism.reason().lower_bound)
        assert ratio > 1
        if epsilon == "1/100":  # steps so small that d may be any number
            assert abs(ratio - 2) < 0.02
