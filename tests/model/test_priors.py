from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from leastnoise.errors import BadChannel, BadPrior, UnknownLabel
from leastnoise.model.priors import Prior, read_prior, uniform


def test_floats_are_the_decimals_they_are_written_as():
    prior = Prior([0.1, 0.2, 0.7])
    assert prior.weights == (Fraction(1, 10), Fraction(1, 5), Fraction(7, 10))
    assert prior.labels == (0, 1, 2)
    assert Prior({"a": "1/3", "b": Fraction(1, 3), "c": "1/3"})["b"] == Fraction(1, 3)
    assert Prior([Decimal("0.5"), 0.5]).floats().tolist() == [0.5, 0.5]


def test_a_sum_that_is_not_one_is_told_and_normalised_on_request():
    with pytest.raises(BadPrior, match="given: a sum of 99/100; pass normalise=True"):
        Prior([0.33, 0.33, 0.33])
    assert Prior([0.33, 0.33, 0.33], normalise=True) == uniform(3)
    with pytest.raises(BadPrior, match="sum of 0; give some input a positive probability"):
        Prior([0, 0], normalise=True)
    with pytest.raises(BadPrior, match="sum of 0"):
        Prior({})


@pytest.mark.parametrize("value", [-0.5, float("nan"), float("inf"), "x", None, True, "ln(2)"])
def test_what_is_no_probability_is_refused_by_name(value):
    with pytest.raises(BadPrior, match="the probability of 'a' is no number of at least 0"):
        Prior({"a": value, "b": 1})


def test_uniform():
    assert uniform("ab")["a"] == Fraction(1, 2)
    assert uniform(range(3)) == uniform(3)
    for nothing in (0, [], -1):
        with pytest.raises(BadChannel, match="at least one"):
            uniform(nothing)


def test_a_prior_is_a_mapping_with_value_semantics():
    prior = Prior({"a": 0.25, "b": 0.75})
    assert dict(prior) == {"a": Fraction(1, 4), "b": Fraction(3, 4)}
    assert prior == Prior({"b": 0.75, "a": 0.25})
    assert hash(prior) == hash(Prior({"b": 0.75, "a": 0.25}))
    assert "a" in prior
    assert len(prior) == 2
    with pytest.raises(UnknownLabel, match="did you mean 'a'"):
        prior["aa"]
    with pytest.raises(ValueError, match="read-only"):
        prior.floats()[0] = 1


def test_reading_against_inputs():
    assert read_prior({"b": "1/4", "a": "3/4"}, ["a", "b", "c"]) == (Fraction(3, 4), Fraction(1, 4), 0)
    with pytest.raises(UnknownLabel, match="no input of this name; given: 'd'"):
        read_prior({"d": 1}, ["a"])
    for wrong in ("ab", 3, None):
        with pytest.raises(BadPrior, match="a mapping or a list"):
            read_prior(wrong, ["a", "b"])


def test_doubles_of_an_array_that_miss_one_by_rounding_are_divided_by_their_sum():
    computed = np.array([1.0, 2.0, 4.0, 6.0]) / 13
    assert sum(Fraction(str(value)) for value in computed.tolist()) != 1
    assert sum(Prior(computed).values()) == 1
    for refused in (computed * (1 + 1e-14), computed.astype(np.float32), computed.tolist()):
        with pytest.raises(BadPrior, match="exactly 1"):
            Prior(refused)
