"""A printed lower bound is one: no mechanism that we have is below it, and the question's neighbours justify it."""

import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest

from leastnoise.data import Contribution, open_table
from leastnoise.ledger import Ledger, Opening
from leastnoise.mechanisms import Geometric, for_linear_map
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem
from leastnoise.model.linear_workloads import ExplicitWorkload, PrefixSums
from leastnoise.model.privacy import Privacy
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.dataset import Dataset
from leastnoise.release.queries.workload_problem import WorkloadProblem

KEYS = ["a", "b"]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    columns = {"u": [1], "k": ["a"], "n": [1], "x": [0.5], "f": [True], "d": pa.array([1], pa.decimal128(9, 2))}
    with open_table(pa.table(columns)) as table, Ledger.create(tmp_path_factory.mktemp("b") / "ledger") as ledger:
        ledger.grant(Privacy(1), "t")
        yield Dataset(table, ledger, "t", "a", "p", Contribution("u"), Opening(None, "u"))


def simple_errors(matrix, epsilon, each):
    """Expected ℓ₁ errors of what anybody could do: one answer at a time, cells, or a total and cells."""
    noise = Geometric(epsilon, each)
    one = noise.moment(1).upper
    yield sum(abs(entry) for row in matrix for entry in row) * one  # cells
    half = Geometric(epsilon / 2, each).moment(1).upper
    for shift in {entry for row in matrix for entry in row}:  # shift·total, and what is left from the cells
        yield sum(abs(shift) + sum(abs(entry - shift) for entry in row) for row in matrix) * half
    parts = len(matrix)
    yield sum(max(map(abs, row)) for row in matrix) * Geometric(epsilon / parts, each).moment(1).upper


@pytest.mark.slow
def test_no_mechanism_is_below_the_bound_of_a_workload():
    rng = random.Random(7)
    for _ in range(30):
        answers, cells, each = rng.randint(1, 4), rng.randint(1, 5), rng.choice([1, 1, 2, 3])
        matrix = tuple(tuple(rng.choice([0, 0, 1, 1, -1, 2]) for _ in range(cells)) for _ in range(answers))
        if not any(map(any, matrix)):
            continue
        epsilon = rng.choice([Fraction(1, 10), Fraction(1), Fraction(3)])
        problem = WorkloadProblem(ExplicitWorkload(matrix), Privacy(epsilon), Sensitivity(1, each, ""), reachable=True)
        bound = problem.lower_bound.lower
        assert bound > 0
        errors = [answers * problem.expected_loss(mechanism).upper for mechanism in problem.candidates()]
        errors += simple_errors(matrix, epsilon, each)
        if each == 1:
            errors += [option.expected.upper for option in for_linear_map(matrix, epsilon).options]
        assert bound <= min(errors)


@pytest.mark.slow
def test_no_mechanism_is_below_the_bound_on_squares():
    rng, seen = random.Random(8), 0
    for _ in range(60):
        cells, each = rng.randint(1, 5), rng.choice([1, 1, 2, 3])
        rows = [[rng.choice([0, 0, 1, 1, -1, 2]) for _ in range(cells)] for _ in range(rng.randint(cells, cells + 3))]
        workload = ExplicitWorkload(rows) if any(map(any, rows)) else PrefixSums(cells)
        price = Privacy(rng.choice([Fraction(1, 10), Fraction(1), Fraction(3)]))
        problem = WorkloadProblem(workload, price, Sensitivity(1, each, ""), reachable=True)
        bound = problem.least_square_error
        assert (bound is not None) == workload.independent
        if bound is not None and not problem.has_bodies:
            seen += 1
            assert 0 < bound.lower <= min(problem.expected_loss(mechanism).upper for mechanism in problem.candidates())
    assert seen > 20


@pytest.mark.parametrize(("cells", "share"), [(1, 1), (2, 2.5), (64, 159.5)])
def test_the_bound_on_squares_of_prefix_sums(cells, share):
    """One count: reached. Two: 2 for the sum and ½ for the rest. Then about n + n·log₂(n)/4."""
    problem = WorkloadProblem(PrefixSums(cells), Privacy(Fraction(1)), Sensitivity(1, 1, ""), reachable=True)
    squares = float(problem.least_square_error.lower) ** 2 * cells / float(Geometric(1).moment(2).upper)
    assert abs(squares / share - 1) < (1e-6 if cells < 3 else 0.01)
    assert replace(problem, reachable=False).least_square_error is None


def test_everybody_but_one_group():
    """Twelve answers over 400 groups: a total and twelve cells reach 3.84 for each."""
    matrix = tuple(tuple(int(cell != row) for cell in range(400)) for row in range(12))
    problem = WorkloadProblem(ExplicitWorkload(matrix), Privacy(Fraction(1)), Sensitivity(1, 1, ""), reachable=True)
    reached = Geometric(Fraction(1, 2)).moment(1).upper * 2
    assert problem.lower_bound.upper / 12 < reached < 4


def test_the_bound_of_cells_is_reached_for_one_cell_and_never_passed():
    for each in (1, 2, 5):
        for cells in (1, 2, 3):
            for epsilon in (Fraction(1, 10), Fraction(1), Fraction(5)):
                problem = HistogramProblem(Privacy(epsilon), 3, Sensitivity(cells, each, ""), reachable=True)
                best = min(problem.expected_loss(mechanism).upper for mechanism in problem.candidates())
                assert problem.lower_bound.lower <= best
                assert cells > 1 or problem.lower_bound.upper >= best
    assert HistogramProblem(Privacy(Fraction(1)), 1, Sensitivity(1, 1, "")).lower_bound is None


BOUNDED = {
    "count": lambda d: d.count(),
    "a filter that some row passes": lambda d: d.count(where="n > 5 AND (k = 'b' OR x < -3)"),
    "keys beside a filter": lambda d: d.count(by="k", keys=KEYS, where="n > 5"),
    "bins that meet the filter": lambda d: d.count(by="n", bins=[0, 5, 9], where="n >= 0"),
    "sum": lambda d: d.sum("n", bounds=(0, 9)),
    "sum of doubles": lambda d: d.sum("x", bounds=(-1, 9), by="k", keys=KEYS),
    "two-way tables": lambda d: d.tables(keys={"k": KEYS, "n": [1, 2]}),
    "workload": lambda d: d.workload("prefix sums", by="n", bins=[0, 5, 9]),
    "most common": lambda d: d.most_common(by="k", keys=KEYS),
    "best sum": lambda d: d.choose(by="k", keys=KEYS, sum_of="n", bounds=(-2, 9)),
    "median": lambda d: d.median("n", bounds=(0, 10), step=1),
    "designed counts": lambda d: d.design("k", keys=KEYS, at_most=9),
    "is at least": lambda d: d.decision(at_least=10),
    "vote": lambda d: d.decision(by="k", keys=KEYS),
    "sorted counts": lambda d: d.sorted_counts("k", total=20, top=5),
}
UNBOUNDED = {
    "a filter that no row passes": lambda d: d.count(where="n > 5 AND n < 3"),
    "a filter that is false": lambda d: d.count(where="FALSE"),
    "a filter on the unit": lambda d: d.count(where="u = 7"),
    "keys that the filter rules out": lambda d: d.count(by="k", keys=KEYS, where="k = 'a'"),
    "bins that the filter rules out": lambda d: d.count(by="n", bins=[0, 5, 9], where="n >= 7"),
    "bins without whole numbers": lambda d: d.count(by="n", bins=["0.1", "0.9", 5]),
    "keys that are no whole numbers": lambda d: d.count(by="n", keys=[1, 1.5]),
    "the unit itself": lambda d: d.count(by="u", keys=[1, 2]),
    "the unit in a vote": lambda d: d.decision(by="u", keys=[1, 2]),
    "the sum of units": lambda d: d.sum("u", bounds=(0, 9)),
    "finer steps than values": lambda d: d.sum("n", bounds=(0, 9), step="1/10"),
    "decimals": lambda d: d.sum("d", bounds=(0, 9), step="1/1000"),
    "no small values": lambda d: d.sum("n", bounds=(100, 110)),
    "a filter on what is summed": lambda d: d.sum("n", bounds=(0, 9), where="n < 3"),
    "a finer grid than values": lambda d: d.median("n", bounds=(0, 10), step="1/2"),
    "a grid that the filter cuts": lambda d: d.median("n", bounds=(0, 10), step=1, where="n > 5"),
    "several rows of a unit": lambda d: d.median("n", bounds=(0, 10), step=1, rows_per_unit=2),
    "options that overlap": lambda d: d.choose(["n > 1", "n > 2"]),
    "designed for several rows": lambda d: d.design("k", keys=KEYS, at_most=9, rows_per_unit=2),
    "designed for what a filter cuts": lambda d: d.design("k", keys=KEYS, at_most=9, where="k = 'a'"),
    "no such many rows": lambda d: d.decision(at_least=10**20),
    "two keys only": lambda d: d.sorted_counts("f", total=20, top=5),
    "a workload that the filter cuts": lambda d: d.workload("prefix sums", by="n", bins=[0, 5, 9], where="n < 5"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOUNDED)
def test_a_bound_is_printed_and_not_above_the_error(dataset, name):
    for epsilon in ("1/10", 1, 4):
        plan = BOUNDED[name](dataset).plan(epsilon)
        assert plan.lower_bound is not None
        assert 0 <= plan.lower_bound.lower <= plan.error.expected.upper
        assert all(plan.lower_bound.lower <= option.expected.upper for option in plan.options)
        assert plan.reason.lower_bound == plan.lower_bound


@pytest.mark.parametrize("name", UNBOUNDED)
def test_none_is_printed_where_neighbours_do_not_justify_it(dataset, name):
    plan = UNBOUNDED[name](dataset).plan(1)
    assert plan.lower_bound is plan.reason.lower_bound is None
    assert "none known" in str(plan)


def test_none_with_a_delta_or_a_unit_of_two_values(dataset):
    assert dataset.count().plan(1, "1e-6").lower_bound is None
    assert (
        Dataset(dataset.table, dataset.ledger, "t", "a", "p", Contribution("f"), Opening(None, "f"))
        .count()
        .plan(1)
        .lower_bound
        is None
    )


def test_the_best_sum_of_uneven_bounds_is_not_bounded_as_if_they_were_even(dataset):
    """One unit can't move one score down by nine and another up by nine where values lie in (-2, 9)."""

    def bound(low):
        return dataset.choose(by="k", keys=KEYS, sum_of="n", bounds=(low, 9)).plan(1).lower_bound.lower

    assert bound(0) == bound(-1) <= bound(-2) <= bound(-5) < bound(-9)


NARROW = pa.table(
    {
        "who": pa.array([1, 2], pa.int64()),
        "few": pa.array([1, 2], pa.int8()),
        "age": pa.array([1, 2], pa.uint8()),
        "price": pa.array([Decimal("1.50"), Decimal("2.50")], pa.decimal128(5, 2)),
        "single": pa.array([1.0, 2.0], pa.float32()),
        "real": pa.array([1.0, 2.0], pa.float64()),
    }
)
BEYOND_THE_TYPE = {  # questions that the type of a column answers without any noise, and the like that it does not
    "filter below": (lambda d: d.count(where="age < 0"), lambda d: d.count(where="age < 1")),
    "filter above": (lambda d: d.count(where="age > 255"), lambda d: d.count(where="age > 254")),
    "decimal filter": (lambda d: d.count(where="price >= 1000"), lambda d: d.count(where="price >= 999")),
    "bin above": (lambda d: d.count(bins={"age": [250, 256, 300]}), lambda d: d.count(bins={"age": [250, 255, 300]})),
    "bin below": (lambda d: d.count(bins={"age": [-5, 0, 1]}), lambda d: d.count(bins={"age": [-5, 1]})),
    "decimal bin": (lambda d: d.count(bins={"price": [0, 1000, 2000]}), lambda d: d.count(bins={"price": [0, 1000]})),
    "thin bin": (
        lambda d: d.count(bins={"single": ["0.1", "0.100000001", 1]}),
        lambda d: d.count(bins={"real": ["0.1", "0.100000001", 1]}),
    ),
    "key": (lambda d: d.count(keys={"age": [1, 256]}), lambda d: d.count(keys={"age": [1, 255]})),
    "single key": (lambda d: d.count(keys={"single": [0.1]}), lambda d: d.count(keys={"real": [0.1]})),
    "workload": (
        lambda d: d.workload([[1, 0], [0, 1]], keys={"age": [1, 256]}),
        lambda d: d.workload([[1, 0], [0, 1]], keys={"age": [1, 255]}),
    ),
    "sum": (lambda d: d.sum("age", bounds=(0, 400)), lambda d: d.sum("age", bounds=(0, 255))),
    "negative sum": (lambda d: d.sum("age", bounds=(-3, 2)), lambda d: d.sum("few", bounds=(-3, 2))),
    "single sum": (
        lambda d: d.sum("single", bounds=(0, 1), step="1/100000000"),
        lambda d: d.sum("real", bounds=(0, 1), step="1/100000000"),
    ),
    "median": (lambda d: d.median("age", grid=[0, 100, 600]), lambda d: d.median("age", grid=[0, 100, 400])),
    "most common": (
        lambda d: d.most_common(keys={"age": [1, 256]}),
        lambda d: d.most_common(keys={"age": [1, 255]}),
    ),
    "designed": (
        lambda d: d.design(at_most=9, keys={"age": [1, 256]}),
        lambda d: d.design(at_most=9, keys={"age": [1, 255]}),
    ),
    "vote": (lambda d: d.decision(keys={"age": [1, 256]}), lambda d: d.decision(keys={"age": [1, 255]})),
    "sorted counts": (
        lambda d: d.sorted_counts(by="age", total=300, top=3),
        lambda d: d.sorted_counts(by="age", total=256, top=3),
    ),
}


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    opening = Opening(Privacy(1), "who")
    with Ledger.create(tmp_path_factory.mktemp("narrow") / "ledger") as ledger, open_table(NARROW) as table:
        yield Dataset(table, ledger, "d", "a", "any", Contribution("who"), opening)


@pytest.mark.slow
@pytest.mark.parametrize("name", BEYOND_THE_TYPE)
def test_none_is_printed_where_the_type_of_a_column_does_not_reach(narrow, name):
    beyond, within = BEYOND_THE_TYPE[name]
    assert beyond(narrow).plan("1/2").lower_bound is None
    assert beyond(narrow).plan("1/2").reason.lower_bound is None
    assert within(narrow).plan("1/2").lower_bound is not None


def test_none_where_a_constant_would_beat_it_for_all_units_that_there_can_be(narrow):
    few = replace(narrow, contribution=Contribution("few"))
    assert few.count().plan(1).lower_bound is not None
    assert narrow.count().plan("1/1000").lower_bound.lower > 128  # half of the 256 units that one byte can name
    assert few.count().plan("1/1000").lower_bound is None
