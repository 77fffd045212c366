"""Nothing that is printed as a lower bound is beaten by a mechanism that we have, on random linear maps."""

import random
from fractions import Fraction

import pytest

from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource
from leastnoise.exact.matrices import distinct_columns
from leastnoise.exact.parameters import read_exact
from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise
from leastnoise.mechanisms.lower_bounds import changes_bound
from leastnoise.mechanisms.numeric import Geometric, VectorLaplace
from leastnoise.mechanisms.strategy import MappedStrategy
from leastnoise.mechanisms.vector import CountingBody, CrossPolytope, KNorm, Polytope, for_linear_map

EPSILONS = ["1/10", 1, "ln(3)", 2, "ln(50)"]


def random_matrix(generator):
    answers, cells, reach = generator.randint(1, 3), generator.randint(1, 5), generator.choice([1, 1, 2, 5])
    while True:
        matrix = [[generator.randint(-reach, reach) for _ in range(cells)] for _ in range(answers)]
        if any(map(any, matrix)):
            return matrix


@pytest.mark.slow
def test_no_mechanism_beats_what_any_of_them_prints_on_five_hundred_maps():
    generator, seen = random.Random(7), 0
    for _ in range(500):
        matrix, epsilon = random_matrix(generator), generator.choice(EPSILONS)
        plan = for_linear_map(matrix, epsilon)
        columns = distinct_columns(matrix)
        cells = MappedNoise(tuple(zip(*columns, strict=True)), Geometric(epsilon), Geometric(epsilon).event)
        errors = [option.expected.upper for option in plan.options] + [cells.error().expected.upper]
        bounds = [option.mechanism.reason().lower_bound for option in plan.options]
        assert all(bound is None or bound.lower <= min(errors) for bound in bounds), (matrix, epsilon)
        seen += sum(bound is not None for bound in bounds)
    assert seen > 1000


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_two_answers_to_one_question_have_no_bound_of_two_questions(epsilon):
    """[[1], [1]] at ln 3 has error 1.5; 10/3 was printed beside it."""
    plan = for_linear_map([[1], [1]], epsilon)
    for option in plan.options:
        assert option.mechanism.reason().lower_bound.lower <= plan.options[0].expected.upper


def test_a_body_of_counting_queries_has_its_bound_only_if_every_corner_is_a_column():
    """40 answers about 8 cells: the bound of all 2^40 kinds of records was printed."""
    generator = random.Random(3)
    matrix = [[generator.randint(0, 1) for _ in range(8)] for _ in range(40)]
    plan = for_linear_map(matrix, 1)
    counting = next(o.mechanism for o in plan.options if isinstance(getattr(o.mechanism, "body", None), CountingBody))
    assert counting.reason().lower_bound.lower <= plan.options[0].expected.upper
    assert KNorm(1, CountingBody(40)).reason().lower_bound.lower > plan.options[0].expected.upper


def shortest_sums(columns, reach):
    """d(v), the least number of signed columns that add up to v, for all v within `reach` of them: breadth first."""
    zero = (0,) * len(columns[0])
    steps = [tuple(s * entry for entry in column) for column in columns for s in (1, -1)]
    found, border = {zero: 0}, [zero]
    for distance in range(1, reach + 1):
        border = [tuple(a + b for a, b in zip(v, step, strict=True)) for v in border for step in steps]
        border = [v for v in dict.fromkeys(border) if v not in found]
        found.update(dict.fromkeys(border, distance))
    return found


def test_the_sum_behind_the_bound_is_at_most_that_over_all_shortest_sums():
    """Z by counting answers within twelve records, and at most so much beyond: never below what the bound uses."""
    generator, tight = random.Random(11), 0
    for _ in range(30):
        size, reach = generator.choice([(1, 3), (2, 3), (2, 4)]), 12
        columns = [tuple(generator.randint(-2, 2) for _ in range(size[0])) for _ in range(size[1])]
        columns = distinct_columns(list(zip(*columns, strict=True)))
        if not columns:
            continue
        epsilon = read_exact("ln(20)", "epsilon")
        alpha = Fraction(1, 20)
        counted = sum(alpha**d for d in shortest_sums(columns, reach).values())
        beyond = Fraction(2 * len(columns)) ** (reach + 1) * alpha ** (reach + 1) / (1 - 2 * len(columns) * alpha)
        used = CrossPolytope(1).total(epsilon).lower
        bound = changes_bound(tuple(columns), epsilon)
        assert bound.upper <= least_mean(len(columns[0]), counted + beyond)
        tight += bound.lower == least_mean(len(columns[0]), used)
    assert tight < 30


def least_mean(dimension, total):
    """The least mean of Σ|y_i| of a measure on whole vectors that puts at most 1/total on each."""
    mass, mean, radius = Fraction(0), Fraction(0), 0
    ball = CrossPolytope(dimension)
    while mass < 1:
        shell = ball.points_within(radius) - (ball.points_within(radius - 1) if radius else 0)
        share = min(Fraction(shell) / total, 1 - mass)
        mass, mean, radius = mass + share, mean + share * radius, radius + 1
    return mean


def test_a_hull_whose_simplices_are_too_large_counts_only_what_its_corners_reach():
    """conv(±(1, 0), ±(1, 3), ±(0, 3)·…): not every lattice point in R·K is a sum of R columns."""
    wide = Polytope(((1, 0), (2, 5), (1, 5)))
    epsilon = read_exact("ln(3)", "epsilon")
    assert wide.sum_over_corners(epsilon).upper < wide.total(epsilon).lower
    unit = Polytope(((1, 0), (0, 1), (1, 1)))
    assert unit.sum_over_corners(epsilon) == unit.total(epsilon)


def test_without_known_changes_every_change_within_the_sensitivity_counts():
    assert VectorLaplace("ln(3)", 2).reason().lower_bound.lower == Fraction(3, 2)
    one = VectorLaplace.for_linear_map([[2, 0], [0, 1]], "ln(3)")
    assert one.sensitivity == 2
    assert one.reason().lower_bound.lower < VectorLaplace("ln(3)", 2, 2).reason().lower_bound.lower


@pytest.mark.parametrize(
    "matrix", [[[1, 1000]], [[1, 100000]], [[50000, 1]], [[50000, 1], [1, 1]], [[10**100, 1], [1, 1]], [[10**250, 7]]]
)
def test_large_weights_are_answered(matrix):
    plan = for_linear_map(matrix, 1)
    assert plan.options[0].expected.upper <= len(matrix) * sum(max(map(abs, row)) for row in matrix) * 2
    assert plan.best.release([0] * len(matrix)).shape == (len(matrix),)


def test_dependent_columns_of_high_rank_have_noise_on_the_cells():
    generator = random.Random(1)
    matrix = [[generator.randint(0, 1) for _ in range(10)] for _ in range(9)]
    plan = for_linear_map(matrix, 1)
    assert isinstance(plan.best, MappedNoise)
    assert plan.options[0].expected.upper < Fraction(3, 4) * plan.options[1].expected.lower


def everybody_but_one(answers, cells):
    return [[int(cell != row) for cell in range(cells)] for row in range(answers)]


def test_strategies_are_among_the_candidates():
    """Prefix sums of many counts, and twelve answers "everybody but group r" over 400 groups."""
    prefix = [[int(cell <= row) for cell in range(32)] for row in range(32)]
    for matrix in (prefix, everybody_but_one(12, 400)):
        plan = for_linear_map(matrix, 1)
        assert isinstance(plan.best, MappedStrategy)
        assert plan.options[0].expected.upper < Fraction(9, 10) * plan.options[1].expected.lower


def test_the_mean_error_of_a_strategy_is_bounded_closely():
    best = for_linear_map(everybody_but_one(12, 12), 1).best
    drawn = best.draw([0] * 12, size=4000, source=SeededSource(5))
    mean = sum(sum(map(abs, row)) for row in drawn.tolist()) / 4000
    assert Fraction(17, 20) < Fraction(mean) / best.error().expected.upper < 1


def test_the_answers_are_least_squares_of_the_measurements():
    """M·A = F, so a noise A·x moves every answer by F·x exactly, for every rounding of the rest."""
    best = for_linear_map(everybody_but_one(12, 12), 1).best
    whole, below = best._map
    assert below > 1
    for row, wanted in zip(whole.tolist(), best.matrix, strict=True):
        columns = zip(*best.strategy, strict=True)
        assert [sum(m * a for m, a in zip(row, column, strict=True)) for column in columns] == [
            below * entry for entry in wanted
        ]
    assert best.noise.sensitivity == max(sum(map(abs, column)) for column in zip(*best.strategy, strict=True))
    with pytest.raises(BadParameter, match="law"):
        best.pmf((0,) * 12, (0,) * 12)
