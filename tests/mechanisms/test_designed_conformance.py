"""Geometric noise clamped at zero goes through the suite that every mechanism passes."""

from fractions import Fraction

import pytest

from leastnoise.exact import read_exact
from leastnoise.mechanisms.designed import ClampedGeometric
from leastnoise.model.graphs import path
from mechanisms.conformance import Case, Conformance


def clamped(epsilon, reach):
    return Case(
        ClampedGeometric,
        {"epsilon": read_exact(epsilon, "epsilon")},
        answers=range(4),
        graph=path(4),
        outputs=range(reach),
        complete=False,
        loss=lambda y, x: abs(y - x),
        left_out=Fraction(1, 4),  # near zero the error is smaller than the bound, which is that far from it
        least_quantiles=False,
        bad_answers=[1234.5, "12345", None, True],
    )


CASES = [clamped("ln(2)", 60), clamped(1, 60)]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestClampedGeometric(Conformance):
    """Post-processing of geometric noise."""
