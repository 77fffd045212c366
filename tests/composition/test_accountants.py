from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    GaussianNoise,
    Grouped,
    LaplaceNoise,
    Parallel,
    Pure,
    RandomizedResponse,
    all_bounds,
    compose,
)
from leastnoise.errors import BadParameter, UnknownEvent
from leastnoise.exact import exp_above, exp_below, ln
from leastnoise.model.events import event_from_dict
from support.composition import composed, true_delta, worst_pair

odds = st.fractions(min_value=Fraction(11, 10), max_value=4, max_denominator=10)
pure = st.builds(lambda o: Pure(ln(o)), odds)
laplace = st.builds(lambda o, n: LaplaceNoise(ln(o) * n, n), odds, st.integers(1, 4))
response = st.builds(lambda o, m: RandomizedResponse(ln(o), m), odds, st.integers(2, 5))
approximate = st.builds(lambda o, d: Approximate(ln(o), d), odds, st.sampled_from(["1/1000", "1e-6", "1/30"]))
known = st.one_of(pure, laplace, response, approximate)
LARGE = 60  # above every loss that can occur here
deltas = st.sampled_from([Fraction(1, 20), Fraction(1, 1000), Fraction(1, 10**6)])


@pytest.mark.slow
@settings(max_examples=120)
@given(st.lists(known, min_size=1, max_size=4), st.integers(1, 3), deltas)
def test_no_bound_is_ever_below_the_truth(events, times, delta):
    events = events * times
    truth = composed(worst_pair(event) for event in events)
    try:
        bounds = all_bounds(events, delta)
    except BadParameter:
        assert true_delta(truth, 10**9) > delta, "a finite ε exists and none was found"
        return
    for bound in bounds:
        assert true_delta(truth, exp_below(min(bound.epsilon, LARGE), 400)) <= bound.delta <= delta, bound.name
        if bound.below:
            assert true_delta(truth, exp_above(bound.below, 400)) >= delta, "the lower bound is above the truth"
            assert bound.below <= min(each.epsilon for each in bounds)


@pytest.mark.slow
@settings(max_examples=40)
@given(known, st.integers(1, 12), deltas)
def test_equal_queries_are_accounted_for_exactly(event, times, delta):
    """Where all queries are alike the best bound is the truth but for the last digits."""
    truth = composed([worst_pair(event)] * times)
    if true_delta(truth, 10**9) >= delta:
        return
    best = compose([event] * times, delta)
    if best.epsilon > Fraction(1, 10**6):
        assert true_delta(truth, exp_above(best.epsilon * (1 - Fraction(1, 10**6)))) > delta * (1 - Fraction(1, 10**5))


@pytest.mark.parametrize(
    ("name", "epsilon"),
    [
        ("basic composition", 10),
        ("advanced composition", 1.7627600),
        ("optimal homogeneous composition", 1.3654467),
        ("zero-concentrated composition", 1.4715887),
        ("Rényi composition", 1.4658409),  # dp-accounting 0.6.0: 1.4658
        ("convolved loss distributions", 1.3629252),  # dp-accounting 0.6.0: 1.362925
    ],
)
def test_a_thousand_small_laplace_queries(name, epsilon):
    """The comparison that every accountant is judged by: 1000 × Laplace(0.01) at δ = 1e-6."""
    bounds = {bound.name: bound for bound in all_bounds([LaplaceNoise("0.01", 1000)] * 1000, "1e-6")}
    assert float(bounds[name].epsilon) == pytest.approx(epsilon, rel=2e-5)


def test_bounds_above_and_below_enclose_the_number_of_others():
    best = compose([LaplaceNoise("0.01", 1000)] * 1000, "1e-6")
    assert best.name == "convolved loss distributions"
    assert float(best.below) < 1.362925 < float(best.epsilon) * (1 + 1e-6)
    assert best.epsilon - best.below < Fraction(1, 10**4)


def test_a_coarse_lattice_is_not_taken_for_continuous_noise():
    """A count has one step to its sensitivity: its loss law is randomized response, worse than continuous noise.

    Accounting for it by the continuous law would report less than the truth.
    """
    continuous = compose([LaplaceNoise("ln(2)", 10**6)] * 20, "1e-6").epsilon
    truth = composed([worst_pair(LaplaceNoise("ln(2)"))] * 20)
    assert true_delta(truth, exp_above(continuous)) > Fraction(2, 10**6)
    lattice = compose([LaplaceNoise("ln(2)")] * 20, "1e-6").epsilon
    assert true_delta(truth, exp_below(lattice, 400)) <= Fraction(1, 10**6)


@pytest.mark.parametrize("steps", [2, 3, 63, 64, 65, 97, 1000])
def test_finer_lattices_lose_less_and_never_less_than_continuous_noise(steps):
    epsilons = [compose([LaplaceNoise(1, n)] * 5, "1e-4").epsilon for n in (1, steps, 10**9)]
    assert epsilons == sorted(epsilons, reverse=True)


@pytest.mark.slow
@given(st.fractions(min_value=0, max_value=1), st.fractions(min_value=-1, max_value=1))
def test_the_law_of_a_bounded_range_dominates_every_query_of_that_range(share, place):
    """Losses t and t − ε for any t in [0, ε]: two outcomes with these ratios, at any x."""
    from leastnoise.composition.loss_laws import law_above, law_below

    epsilon = Fraction(3, 2)
    top, x = share * epsilon, place * epsilon
    high, low = exp_below(top, 200), exp_below(top - epsilon, 200)
    if high == low or high < 1:
        return
    theirs = (1 - low) / (high - low)
    ours = theirs * high
    truth = max(Fraction(0), ours - exp_above(x, 200) * theirs) + max(
        Fraction(0), (1 - ours) - exp_above(x, 200) * (1 - theirs)
    )
    tiny = Fraction(1, 2**90)
    assert law_above(BoundedRange(epsilon), 100, 0).delta(x) >= truth - tiny
    assert law_below(BoundedRange(epsilon), 100, 0).delta(x) <= law_above(BoundedRange(epsilon), 100, 0).delta(x)


def test_the_exponential_mechanism_costs_less_than_pure_privacy():
    for count in (1, 3, 100):
        ranged, plain = (compose([kind("1/10")] * count, "1e-6") for kind in (BoundedRange, Pure))
        assert ranged.epsilon <= plain.epsilon
    best = compose([BoundedRange("1/10")] * 100, "1e-6")
    assert best.below < best.epsilon < compose([Pure("1/10")] * 100, "1e-6").epsilon / 2 + 1


@pytest.mark.parametrize(("rho", "steps"), [(Fraction(1, 2), 1), (Fraction(1, 8), 3), (Fraction(1, 50), 20), (2, 1)])
def test_gaussian_noise_against_its_definition(rho, steps):
    """δ of one discrete Gaussian query, summed from its definition in doubles."""
    import math

    variance = steps**2 / (2 * float(rho))
    weights = {y: math.exp(-(y**2) / (2 * variance)) for y in range(-4000, 4001)}
    total = sum(weights.values())
    bounds = {bound.name: bound for bound in all_bounds(GaussianNoise(rho, steps), "1e-5")}
    best = bounds["convolved loss distributions"]
    factor = math.exp(float(best.epsilon))
    delta = sum(max(0.0, weights[y] - factor * weights.get(y - steps, 0.0)) for y in weights) / total
    assert delta == pytest.approx(1e-5, rel=1e-6)
    assert best.epsilon <= {b.name: b for b in all_bounds(Concentrated(rho), "1e-5")}["Rényi composition"].epsilon


def test_many_gaussians_are_one_larger_gaussian():
    many = compose([GaussianNoise("1/200", 50)] * 100, "1e-6").epsilon
    one = compose(GaussianNoise("1/2", 500), "1e-6").epsilon
    assert float(many) == pytest.approx(float(one), rel=1e-4)


def test_groups_parts_and_compositions_are_resolved():
    assert compose(Grouped(Pure("1/10"), 3)).epsilon == Fraction(3, 10)
    assert compose(Grouped(Composed([Pure("1/10"), Pure("1/5")]), 2)).epsilon == Fraction(3, 5)
    assert compose(Parallel([Pure("1/10")] * 50)).epsilon == Fraction(1, 10)
    assert compose(Parallel([Pure("1/10"), Pure("1/2"), Composed([Pure("1/4")] * 3)])).epsilon == Fraction(3, 4)
    assert compose(Grouped(Parallel([Pure("1/10"), Pure("1/2")]), 2)).epsilon == 1
    assert compose(Grouped(Grouped(Pure("1/10"), 2), 3)).epsilon == Fraction(3, 5)
    laplace_pair = compose(Grouped(LaplaceNoise("ln(2)"), 2), "1/100").epsilon
    assert laplace_pair == compose(LaplaceNoise("2*ln(2)", 2), "1/100").epsilon


@settings(max_examples=30)
@given(laplace, st.integers(1, 3), deltas)
def test_a_group_is_as_many_steps_of_noise(event, size, delta):
    truth = worst_pair(LaplaceNoise(event.epsilon * size, event.steps * size))
    for bound in all_bounds(Grouped(event, size), delta):
        assert true_delta(truth, exp_below(min(bound.epsilon, LARGE), 400)) <= delta


def test_mixed_events_get_the_tightest_answer_with_its_name():
    mixed = [Pure("1/10")] * 30 + [Concentrated("1/200")] * 10 + [Approximate("1/20", "1e-8")] * 5
    best = compose(mixed, "1e-6")
    assert best.epsilon == min(bound.epsilon for bound in all_bounds(mixed, "1e-6"))
    assert best.name in ("zero-concentrated composition", "Rényi composition")
    assert best.name in str(best)


def test_nothing_costs_nothing_and_everything_else_something():
    assert compose([]).epsilon == 0
    assert compose(Approximate(0, "1/100"), "1/10").epsilon == 0
    with pytest.raises(BadParameter, match="concentrated"):
        compose(Concentrated("1/2"))
    with pytest.raises(BadParameter, match="no finite epsilon"):
        compose(Approximate(1, "1/100"), "1/1000")


class Cheap(Pure):
    """A subclass that is not in the vocabulary."""


@pytest.mark.parametrize("unknown", ["pure", 0.1, None, {"kind": "pure"}, [["nested"]], Cheap("1/10"), object()])
def test_unknown_events_are_refused_and_never_free(unknown):
    with pytest.raises(UnknownEvent):
        compose([Pure(1), unknown])
    with pytest.raises(UnknownEvent):
        compose(unknown)


@pytest.mark.parametrize(
    "event",
    [
        Pure("ln(3)"),
        LaplaceNoise("1/10", 7),
        BoundedRange("1/2"),
        RandomizedResponse(1, 5),
        Approximate("1/2", "1e-9"),
        Concentrated("1/8"),
        GaussianNoise("1/8", 10),
        Grouped(Parallel([Pure(1), Composed([Pure(2), Concentrated(1)])]), 4),
    ],
)
def test_events_survive_json(event):
    assert event_from_dict(event.to_dict()) == event


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "free"},
        {"kind": "pure"},
        {"kind": "pure", "epsilon": "1", "extra": 1},
        {"kind": "composed", "events": []},
        {"kind": ["pure"]},
        {"epsilon": "1"},
        "pure",
    ],
)
def test_json_that_is_not_in_the_vocabulary_is_refused(data):
    with pytest.raises(UnknownEvent):
        event_from_dict(data)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "", "1e-99999", True])
def test_prices_that_are_not_prices_are_refused(bad):
    with pytest.raises(BadParameter):
        Pure(bad)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("events", "delta"),
    [
        ([Pure(100), Pure(90)], "1e-6"),
        ([Pure(30), Pure(29), Pure(1)], "1e-9"),
        ([Pure(10**6)] * 3, "1e-6"),
        ([Pure("1e-9")] * 50 + [Pure("1e-8")], "1e-12"),
        ([Pure("1/3"), Pure("1/7")], "1e-300"),
        ([Pure("1/3"), LaplaceNoise("1/7", 3)], "999/1000"),
        ([GaussianNoise(5000, 100)] * 2, "1e-3"),
        ([GaussianNoise("1e-6", 1000)] * 5, "1e-6"),
        ([BoundedRange(700)] * 3 + [Pure(1)], "1e-6"),
    ],
)
def test_extreme_prices_are_accounted_for_in_time(events, delta):
    best = compose(events, delta)
    prices = [getattr(event, "epsilon", None) for event in events]
    if None not in prices:
        assert best.epsilon <= sum(prices)
    assert best.below is None or best.below <= best.epsilon


def test_a_law_whose_losses_are_all_large_keeps_its_epsilon():
    """A single loss of 5: δ(x) = 1 − e^(x−5), so ε = 5 + ln(1 − δ)."""
    from leastnoise.composition.loss_distribution import LossDistribution

    for upward in (True, False):
        law = LossDistribution(Fraction(5), Fraction(1, 1000), (1 << 100,), 100, upward)
        assert float(law.epsilon(Fraction(1, 100))) == pytest.approx(4.98994966)


@pytest.mark.slow
def test_a_hundred_thousand_different_queries():
    from leastnoise.exact import SeededSource

    source = SeededSource(7)
    events = [Pure(Fraction(1000 + source.bits(16), 10**8)) for _ in range(10**5)]
    best = compose(events, "1e-6")
    squares = sum(event.epsilon**2 for event in events)
    assert best.epsilon < 2 * 1.05 * float(squares / 2 + (squares * 14) ** Fraction(1, 2))
    assert float(best.epsilon) > float(squares) ** 0.5
