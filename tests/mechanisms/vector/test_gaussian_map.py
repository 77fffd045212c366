"""Correlated normal noise, rounded: its exact μ², its suite, and what each coordinate is."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from leastnoise.composition.gaussian import delta_of
from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact import SeededSource
from leastnoise.mechanisms import Gaussian, GaussianMap
from leastnoise.model.events import GaussianPrivacy
from leastnoise.model.graphs import from_edges
from mechanisms.conformance import Case, Conformance

UNITS = [(0, 0), (1, 0), (0, 1)]


def case(matrix, variances, mu_squared, reach, **more):
    """One unit in one of two cells; the second cell has the most noise."""
    return Case(
        GaussianMap,
        {"matrix": matrix, "variances": variances, "mu_squared": mu_squared},
        answers=UNITS,
        graph=from_edges([(0, 1), (0, 2)]),
        outputs=list(product(range(-reach, reach + 1), repeat=2)),
        complete=False,
        loss=lambda output, answer: abs(output[1] - answer[1]),
        left_out=Fraction(1, 1000),
        epsilon=Fraction(1, 2),
        delta=delta_of(Fraction(mu_squared), Fraction(1, 2)).upper,
        tight=False,  # rounding makes it a little more private
        samples=50_000,
        bad_parameters={
            "matrix": [[], [[1, 0], [0]], [[1, 0, 0], [0, 0, 0]], None, [["x", 1], [1, 1]]],
            "variances": [0, -1, [1], None, 2**101],
            "mu_squared": [0, -1, "x", None],
        },
        bad_answers=[[1234.5, 1], [12345], None, "12345"],
        **more,
    )


CASES = [
    case([[1, 0], [0, 2]], 2, "1/2", 14),
    case([[1, "1/2", 0], [0, 0, 1]], [1, 4, 3], "1/2", 10),
]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestGaussianMap(Conformance):
    """Coordinates without a common normal number, whose joint law has a formula."""


def test_the_largest_change_in_the_shape_of_the_noise_is_the_event():
    """M whitens the columns of prefix sums: each change is one step of one g."""
    prefix = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    changes = list(zip(*prefix, strict=True))
    assert GaussianMap.for_changes(prefix, 4, changes).event == GaussianPrivacy("1/4")
    assert GaussianMap.for_changes(prefix, [4, 9, 16], changes).event == GaussianPrivacy("1/4")
    assert GaussianMap.for_changes(prefix, [16, 9, 4], changes[:2]).event == GaussianPrivacy("1/9")
    assert GaussianMap.for_changes(prefix, 4, [[1, 0, 0]]).mu_squared == Fraction(1, 2)


def test_mu_squared_is_what_the_direction_of_a_change_sees():
    """μ² = max over directions a of (a·d)²/Var(a·noise): no direction sees more, and Σ⁻¹d sees as much."""
    generator = np.random.default_rng(3)
    for _ in range(20):
        matrix = generator.integers(-4, 5, (3, 4)).tolist()
        variances = [int(v) for v in generator.integers(1, 9, 4)]
        change = [int(x) for x in generator.integers(-3, 4, 3)]
        if not any(change) or np.linalg.matrix_rank(matrix) < 3:
            continue
        found = float(GaussianMap.for_changes(matrix, variances, [change]).mu_squared)
        covariance = np.array(matrix) @ np.diag(variances) @ np.array(matrix).T
        directions = [*generator.standard_normal((200, 3)), np.linalg.solve(covariance, change)]
        seen = [(a @ change) ** 2 / (a @ covariance @ a) for a in directions]
        assert max(seen) <= found * (1 + 1e-9)
        assert seen[-1] == pytest.approx(found)


def test_a_change_that_the_noise_does_not_cover_is_refused():
    noise = [[1], [1]]
    assert GaussianMap.for_changes(noise, 4, [[1, 1]]).event == GaussianPrivacy("1/4")
    with pytest.raises(BadParameter, match="cover"):
        GaussianMap.for_changes(noise, 4, [[1, 1], [1, 0]])


@pytest.mark.parametrize("changes", [[], None, [[1]], [[0, 0]], "xy", [["x", 1]], [1, 2]])
def test_bad_changes_are_refused(changes):
    with pytest.raises(LeastNoiseError):
        GaussianMap.for_changes([[1, 0], [0, 1]], 4, changes)


def test_coordinates_that_share_a_number_have_laws_but_no_joint_formula():
    mechanism = GaussianMap([[1, 0], [1, 1]], [9, 16], 1)
    assert mechanism.coordinates == (Gaussian(9), Gaussian(25))
    assert mechanism.error() == Gaussian(25).error()
    with pytest.raises(BadParameter, match="closed form"):
        mechanism.pmf((0, 0), (0, 0))


def test_answers_are_shifted_by_the_noise_and_nothing_else():
    mechanism = GaussianMap([[1, 0], [1, 1]], 10**6, 1)
    here, there = (mechanism.draw(x, size=50, source=SeededSource(1)) for x in ([0, 0], [10**6, -5]))
    assert (there - here == np.array([10**6, -5])).all()
    assert mechanism.draw([10**30, 0]).tolist()[0] > 10**29
    assert mechanism.draw([1, 2]).shape == (2,)
    assert mechanism.draw([1, 2], size=(3, 4)).shape == (3, 4, 2)
