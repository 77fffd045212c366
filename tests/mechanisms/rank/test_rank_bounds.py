"""Error bounds of the rank mechanisms: attained on some database, and beaten by no mechanism at all."""

from fractions import Fraction
from itertools import pairwise
from math import ceil, exp

import numpy as np
import pytest
from scipy.optimize import linprog

from leastnoise.exact import ln
from leastnoise.mechanisms.rank import IntervalQuantile, Quantile, least_worst_error
from leastnoise.mechanisms.rank.rank_bounds import changes_quantile, expected_changes, least_expected_changes
from leastnoise.mechanisms.rank.rank_law import RankRule
from mechanisms.rank.databases import excess, exchanging, growing


def least_worst_loss(graph, losses, epsilon):
    """The least possible largest expected loss of an ε-private channel, by linear programming in doubles.

    Variables: p(y|x) for each database x and output y, then the largest loss.
    """
    inputs, outputs = losses.shape
    place = np.arange(inputs * outputs).reshape(inputs, outputs)
    rows = []
    for x in range(inputs):
        row = np.zeros(inputs * outputs + 1)
        row[place[x]], row[-1] = losses[x], -1
        rows.append(row)
    for i, j in graph.edges().tolist():
        for y in range(outputs):
            for one, other in ((i, j), (j, i)):
                row = np.zeros(inputs * outputs + 1)
                row[place[one, y]], row[place[other, y]] = 1, -exp(epsilon)
                rows.append(row)
    sums = np.zeros((inputs, inputs * outputs + 1))
    for x in range(inputs):
        sums[x, place[x]] = 1
    cost = np.zeros(inputs * outputs + 1)
    cost[-1] = 1
    solved = linprog(cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(inputs))
    return solved.fun


CASES = [(Fraction(1, 2), 3, 4), (Fraction(1, 2), 2, 3), (Fraction(1, 3), 3, 3), (Fraction(1, 2), 5, 2)]


@pytest.mark.slow
@pytest.mark.parametrize(("level", "records", "points"), CASES)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("exchange", [True, False])
def test_rank_errors_stand_between_the_packing_bound_and_the_promise(level, records, points, epsilon, exchange):
    graph, databases = (exchanging if exchange else growing)(records, range(points))
    unit = 1 if exchange else max(level, 1 - level)
    losses = np.array([[ceil(excess(y, x, level) / unit) for y in range(points)] for x in databases], dtype=float)
    mechanism = Quantile(str(epsilon), range(points), level, records=records if exchange else None)
    law = np.array([[float(mechanism.pmf(y, x)) for y in range(points)] for x in databases])
    ours = (law * losses).sum(axis=1).max()
    assert ours <= float(mechanism.error().expected) + 1e-12
    if exchange:  # all databases are in the program, so its optimum is one of all mechanisms
        best = least_worst_loss(graph, losses, epsilon)
        assert float(mechanism.reason().lower_bound) <= best + 1e-7
        assert best <= ours + 1e-7


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_more_records_only_raise_the_optimum_towards_the_bound_for_a_private_number(epsilon):
    """With one record more or less the packing bound may use databases of any size."""
    bound = float(Quantile(str(epsilon), range(3)).reason().lower_bound)
    found = []
    for records in (2, 4, 6):
        graph, databases = growing(records, range(3))
        losses = np.array([[ceil(2 * excess(y, x, Fraction(1, 2))) for y in range(3)] for x in databases], dtype=float)
        found.append(least_worst_loss(graph, losses, epsilon))
    assert all(low <= high + 1e-7 for low, high in pairwise(found))
    assert found[-1] >= bound - 1e-7


def test_the_promise_is_nearly_attained_where_records_lie_at_the_ends_and_on_two_points():
    """Both points are right with none to spare, and all others need as many changes as is worst."""
    mechanism = Quantile("2*ln(2)", range(200), records=100)
    expected = mechanism.error().expected
    worst = Fraction(0)
    for changes in range(1, 50):
        database = [0] * (50 - changes) + [7] * changes + [8] * changes + [199] * (50 - changes)
        mean = sum(mechanism.pmf(y, database).lower * ceil(excess(y, database, Fraction(1, 2))) for y in range(200))
        worst = max(worst, mean)
    assert Fraction(4, 5) * expected.lower < worst <= expected.upper


@pytest.mark.slow
def test_the_promised_quantile_of_changes_is_kept_on_every_small_database():
    mechanism = IntervalQuantile("2*ln(3)", 0, 4, "1/3", step=1, records=4)
    bound = mechanism.error().quantiles[Fraction(19, 20)]
    _, databases = exchanging(4, range(5))
    for database in databases:
        near = sum(
            mechanism.pmf(y, database).lower for y in range(5) if ceil(excess(y, database, Fraction(1, 3))) <= bound
        )
        assert near >= Fraction(19, 20)


@pytest.mark.parametrize("others", [1, 9, 10**6])
@pytest.mark.parametrize("rate", [ln(2), Fraction(1), Fraction(1, 50)])
def test_the_expected_changes_are_the_maximum_over_all_levels(others, rate):
    brute = max(k * others / (others + exp(min(k * float(rate), 700))) for k in range(1, 5000))
    assert float(expected_changes(others, rate, None)) == pytest.approx(brute, rel=1e-12)
    assert float(expected_changes(others, rate, 3)) == pytest.approx(
        max(k * others / (others + exp(k * float(rate))) for k in range(1, 4)), rel=1e-12
    )


def test_one_point_alone_needs_no_change():
    rule = RankRule(Fraction(1, 2), exchange=False)
    assert expected_changes(0, Fraction(1), None).upper == 0
    assert changes_quantile(0, Fraction(1), None, Fraction(19, 20)) == 0
    assert least_expected_changes(0, Fraction(1), rule, None).upper == 0


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
@pytest.mark.parametrize(("exchange", "distance", "records"), [(True, 1, 3), (False, 2, 2), (False, 2, 4)])
def test_the_worst_absolute_error_of_a_median_is_what_two_databases_force(epsilon, exchange, distance, records):
    """A program over all databases on two points; the bound is attained there, so it cannot be raised."""
    graph, databases = (exchanging if exchange else growing)(records, range(2))
    losses = np.array([[float(excess(y, x, Fraction(1, 2)) > 0) for y in range(2)] for x in databases])
    bound = float(least_worst_error(Fraction(1), Fraction(str(epsilon)), distance))
    assert least_worst_loss(graph, losses, epsilon) == pytest.approx(bound, abs=1e-7)
