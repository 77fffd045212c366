"""The continuous extension: private on every partition, above whatever is, and the finite operator in the limit."""

from fractions import Fraction
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadBoundary, BadParameter
from leastnoise.mechanisms.rainbow.rainbow_operator import privacy_excess
from leastnoise.rainbow import Operator, PiecewiseLinearLaw, after, raise_law
from support.channels import distributions

operators = st.builds(Operator, st.sampled_from(["ln(2)", "ln(6/5)", 0]), st.sampled_from([0, "1/50", "1/4"]))


@st.composite
def piecewise(draw):
    """Random corners, atoms among them."""
    count = draw(st.integers(1, 4))
    places = sorted(Fraction(n, 8) for n in draw(st.lists(st.integers(0, 8), min_size=count, max_size=count)))
    heights = list(accumulate(draw(distributions(count + 1))))
    return PiecewiseLinearLaw([(0, 0), *zip(places, heights, strict=False), (1, 1)])


def cells(law, borders):
    """The masses of {0}, (0, b₁], (b₁, b₂], …"""
    return [law.atom(0), *(law.mass(low, high) for low, high in pairwise([Fraction(0), *borders]))]


@pytest.mark.slow
@given(operators, piecewise(), st.integers(0, 3))
def test_it_is_the_operator_at_every_point(operator, law, steps):
    raised = raise_law(operator, law, steps)
    for n in range(33):
        height = law(Fraction(n, 32))
        for _ in range(steps):
            height = operator.raise_sum(height)
        assert raised(Fraction(n, 32)) == height


@pytest.mark.slow
@given(operators, piecewise(), st.sets(st.integers(1, 31), max_size=9))
def test_it_is_private_on_every_partition(operator, law, places):
    raised = raise_law(operator, law)
    corners = {x for x, _ in (*raised.corners, *law.corners) if x > 0}
    borders = sorted(corners | {Fraction(n, 32) for n in places} | {Fraction(1)})
    before, after_one = cells(law, borders), cells(raised, borders)
    assert sum(before) == sum(after_one) == 1
    assert privacy_excess(after_one, before, operator.factor) <= operator.delta
    assert privacy_excess(before, after_one, operator.factor) <= operator.delta


@pytest.mark.slow
@given(operators, piecewise(), piecewise())
def test_it_keeps_dominance(operator, one, other):
    raised = raise_law(operator, one)
    assert raised.dominates(one)
    if one.dominates(other):
        assert raised.dominates(raise_law(operator, other))
    merged = {x for x, _ in (*one.corners, *other.corners)}
    assert one.dominates(other) == all(
        one(x) >= other(x) and one(x) - one.atom(x) >= other(x) - other.atom(x) for x in merged
    )


@pytest.mark.slow
@given(operators, distributions(4), st.integers(0, 4))
def test_atoms_alone_are_the_finite_case(operator, p, steps):
    """Colours at 0, 1/3, 2/3, 1: between them the distribution function is flat."""
    sums = list(accumulate(p))
    corners = [(0, sums[0])]
    for k in (1, 2, 3):
        corners += [(Fraction(k, 3), sums[k - 1]), (Fraction(k, 3), sums[k])]
    raised = raise_law(operator, PiecewiseLinearLaw(corners), steps)
    assert [raised.atom(Fraction(k, 3)) for k in range(4)] == list(after(operator, p, steps))


def test_a_law_keeps_only_real_corners():
    assert PiecewiseLinearLaw([(0, 0), ("1/2", "1/2"), ("1/2", "1/2"), (1, 1)]).corners == ((0, 0), (1, 1))
    assert PiecewiseLinearLaw([(0, 0), (1, 1)])(-1) == 0
    assert PiecewiseLinearLaw([(0, 0), (1, 1)])(2) == 1


@pytest.mark.parametrize(
    "corners",
    [[(0, 0)], [(0, 0), (1, "1/2")], [(0, 0), ("1/2", 1), ("1/4", 1), (1, 1)], [("1/2", 0), (1, 1)], [(0, 2), (1, 1)]],
)
def test_corners_that_are_no_law_are_refused(corners):
    with pytest.raises((BadBoundary, BadParameter)):
        PiecewiseLinearLaw(corners)
