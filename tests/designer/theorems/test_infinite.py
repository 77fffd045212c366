"""The infinite paths: geometric noise, and its loss as the limit of long finite paths."""

from fractions import Fraction

import numpy as np
import pytest

from leastnoise.checker import check
from leastnoise.designer.theorems import recognise
from leastnoise.designer.theorems.infinite import ClampedGeometric
from leastnoise.errors import LeastNoiseError
from leastnoise.exact import SeededSource, ln
from leastnoise.mechanisms import Geometric
from leastnoise.model.design_problem import read_problem
from leastnoise.model.losses import absolute, from_function, squared, zero_one
from support.statistics import fits


@pytest.mark.slow
@pytest.mark.parametrize("graph", ["integers", "naturals"])
@pytest.mark.parametrize(("loss", "expected"), [(absolute, "3/4"), (squared, "3/2"), (zero_one, "1/2"), (None, "3/4")])
def test_the_loss_is_that_of_geometric_noise(graph, loss, expected):
    for objective in ("average", "worst"):
        found = recognise(read_problem(graph, "ln(3)", loss=loss, objective=objective))
        assert found.loss.lower == found.loss.upper == Fraction(expected)
        assert check(found.certificate)
        assert found.channel is None


def test_finite_paths_come_arbitrarily_close():
    limit = recognise(read_problem("integers", 0.5)).loss
    losses = [recognise(read_problem(f"path:{size}", 0.5)).loss for size in (10, 100, 10**4, 10**6)]
    assert losses == sorted(losses, key=lambda loss: loss.lower)
    assert 0 < limit.lower - losses[-1].upper < limit.lower / 10**5


def test_other_problems_are_left_to_others():
    assert recognise(read_problem("integers", 1, loss=from_function(lambda w, x: abs(w - x)))) is None
    assert recognise(read_problem("integers", 1, delta=0.1)) is None


def test_clamped_noise_is_that_of_the_whole_numbers_with_the_tail_at_zero():
    mechanism = recognise(read_problem("naturals", "ln(2)")).mechanism
    assert isinstance(mechanism, ClampedGeometric)
    law = [mechanism.pmf(y, 2).lower for y in range(40)]
    assert law[0] == Fraction(1, 4) * Fraction(2, 3)
    assert 1 - sum(law) == Geometric("ln(2)").tail(38).lower
    assert mechanism.pmf(-1, 2).upper == mechanism.pmf(0.5, 2).upper == 0
    drawn = mechanism.draw(2, size=50_000, source=SeededSource(4))
    sums = np.cumsum([float(p) for p in law])
    assert fits(drawn, lambda y: sums[y], 0, 12)
    assert not fits(drawn + 1, lambda y: sums[y], 0, 12)
    assert mechanism.draw(0) >= 0
    assert mechanism.draw(-5) >= 0
    assert check(mechanism.certificate())
    assert mechanism.reason().lower_bound.lower == mechanism.error().expected.lower
    assert mechanism.event.epsilon == ln(2)


def test_a_wrong_answer_is_refused_without_being_shown():
    with pytest.raises(LeastNoiseError) as error:
        ClampedGeometric(ln(2)).release(12345.5)
    assert "12345" not in str(error.value)
