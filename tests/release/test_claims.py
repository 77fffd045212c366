"""Every candidate of a plan keeps its promise for the largest change that one person can make, written out by hand."""

from fractions import Fraction
from math import exp, sqrt

import pytest
from scipy.stats import norm

from leastnoise.accounting import cost_of
from leastnoise.composition.gaussian import delta_of
from leastnoise.mechanisms.strategy import StrategyMechanism, StrategyRelease
from leastnoise.model.events import GaussianPrivacy
from support.people import CITIES

EPSILON = Fraction(1)
SEXES = ("m", "f")


@pytest.fixture
def people_of_three_rows(open_people):
    return open_people(privacy_unit="person", groups_per_unit=2, rows_per_unit=3)


def assert_pure(mechanism, outputs, truth, neighbour, attained):
    """No output is more than e^ε times as likely at one as at the other; attained where the change is the largest."""
    ratios = []
    for output in outputs:
        here, there = (float(mechanism.pmf(output, x, bits=128)) for x in (truth, neighbour))
        ratios += [here / there, there / here]
    assert max(ratios) <= exp(EPSILON) * (1 + 1e-9)
    assert not attained or max(ratios) >= exp(EPSILON) * (1 - 1e-9)


def pure_options(plan):
    return [option.mechanism for option in plan.options if cost_of(option.mechanism.event).epsilon is not None]


def gaussian_options(plan):
    return [option.mechanism for option in plan.options if isinstance(option.mechanism.event, GaussianPrivacy)]


@pytest.mark.parametrize(("bounds", "change"), [((-20, 5), -60), ((0, 7), 21), ((-4, -1), -12)])
def test_a_sum_hides_whoever_adds_the_value_farthest_from_zero(people_of_three_rows, bounds, change):
    plan = people_of_three_rows.sum("age", bounds=bounds).plan(EPSILON)
    assert pure_options(plan)
    for mechanism in pure_options(plan):
        assert_pure(mechanism, [(200,), (-200,)], (0,), (change,), attained=True)


def test_a_count_by_city_hides_whoever_is_in_two_of_them_three_times(people_of_three_rows):
    for of, each in (("rows", 3), ("units", 1)):
        plan = people_of_three_rows.count(by="city", keys=CITIES, of=of).plan(EPSILON)
        for mechanism in pure_options(plan):
            assert_pure(mechanism, [(50, 50, 50), (-50, -50, -50)], (0, 0, 0), (each, each, 0), attained=True)


def test_gaussian_noise_on_cells_hides_whoever_is_in_two_of_them_three_times(people_of_three_rows):
    """Two cells, each moved by three, cost twice what one does: Σ change²/σ² stays within what ε and δ allow."""
    delta = Fraction(1, 1000)
    plan = people_of_three_rows.count(by="city", keys=CITIES).plan(EPSILON, delta)
    (mechanism,) = gaussian_options(plan)
    mu_squared = sum(Fraction(change**2) / mechanism.blocks[0].noise.variance for change in (3, 3, 0))
    assert mechanism.event == GaussianPrivacy(mu_squared)
    mu = sqrt(mu_squared)
    exact = norm.cdf(mu / 2 - 1 / mu) - exp(1) * norm.cdf(-mu / 2 - 1 / mu)
    assert delta * (1 - Fraction(1, 10**6)) <= exact <= delta * (1 + Fraction(1, 10**9))


def test_two_way_tables_hide_whoever_is_in_all_of_them(people_of_three_rows):
    """Two cells of the table over all columns, three rows in each: so three tables move by six each."""
    keys = {"city": CITIES, "sex": SEXES, "member": [True, False]}
    plan = people_of_three_rows.tables(keys=keys).plan(EPSILON)
    assert (plan.sensitivity.cells, plan.sensitivity.l1) == (2, 6)
    truth = (0,) * 16
    neighbour = (3, 3, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 3, 0, 3, 0)  # one city, both sexes, members
    for mechanism in pure_options(plan):
        assert_pure(mechanism, [(30,) * 16, (-30,) * 16], truth, neighbour, attained=True)


@pytest.mark.parametrize("matrix", [[[1, 0], [1, 1]], [[2, 1], [0, 1]], [[3, 0], [0, 1]]], ids=str)
def test_a_workload_hides_whoever_is_in_two_cells_three_times(people_of_three_rows, matrix):
    plan = people_of_three_rows.workload(matrix, by="sex", keys=SEXES).plan(EPSILON)
    outputs = [(a, b) for a in (-30, 0, 30) for b in (-30, 0, 30)]
    changes = [(a, b) for a in range(4) for b in range(4)]
    assert len(pure_options(plan)) > 1
    for mechanism in pure_options(plan):
        for change in changes:
            neighbour = tuple(sum(f * c for f, c in zip(row, change, strict=True)) for row in matrix)
            of_cells = isinstance(mechanism, StrategyRelease)  # its truth is the histogram
            seen = [tuple(int(y) for y in mechanism.measure((a, b))) for a, b in outputs] if of_cells else outputs
            assert_pure(mechanism, seen, (0, 0), change if of_cells else neighbour, attained=False)


def test_gaussian_noise_on_an_answer_hides_twice_three_rows(people_of_three_rows):
    """One answer, 2·x with x changed by three: the exact δ of every candidate with a δ, summed over the outputs."""
    delta = Fraction(1, 1000)
    plan = people_of_three_rows.workload([[2]], by="city", keys=CITIES[:1]).plan(EPSILON, delta)
    assert len(gaussian_options(plan)) == 3
    for mechanism in gaussian_options(plan):
        if isinstance(mechanism, StrategyMechanism):  # millions of steps make one row: the continuous law
            moved = [int(b) - int(a) for a, b in zip(mechanism.measure([0]), mechanism.measure([3]), strict=True)]
            mu_squared = sum(Fraction(step**2) / mechanism.variance for step in moved)
            assert delta_of(mu_squared, EPSILON).upper <= delta
            continue
        excess = 0.0
        for output in range(-100, 101):
            here, there = (float(mechanism.pmf((output,), (x,))) for x in (0, 6))
            excess += max(0.0, here - exp(EPSILON) * there)
        assert excess <= delta


def test_choices_hide_whoever_moves_scores_by_three_rows(people_of_three_rows):
    ask = people_of_three_rows
    up = [(a, b, c) for a in (0, 3) for b in (0, 3) for c in (0, 3)]
    for question in (
        ask.most_common(1, by="city", keys=CITIES, of="rows"),
        ask.choose(["age < 30", "age >= 30", "age >= 50"]),
    ):
        for mechanism in pure_options(question.plan(EPSILON)):
            for change in up:
                assert_pure(mechanism, mechanism.candidates, (9, 9, 9), tuple(9 + c for c in change), attained=False)
    both = ask.choose(by="city", keys=CITIES, sum_of="age", bounds=(-2, 5))
    for mechanism in pure_options(both.plan(EPSILON)):
        for change in [(a, b, c) for a in (-6, 0, 15) for b in (-6, 0, 15) for c in (-6, 0, 15)]:
            assert_pure(mechanism, mechanism.candidates, (50, 50, 50), tuple(50 + c for c in change), attained=False)
