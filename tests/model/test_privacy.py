"""A promise in each of the four currencies: one at a time, exact, unchangeable, and sensible where it is spent."""

import copy
import pickle
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadParameter, InputError, WrongCurrency
from leastnoise.exact import ln
from leastnoise.model.privacy import Privacy

numbers = st.fractions(min_value=Fraction(1, 1000), max_value=5, max_denominator=1000)
privacies = st.one_of(
    st.builds(Privacy, numbers),
    st.builds(Privacy, st.sampled_from(["ln(3)", "1/2 + ln(2)", 0])),
    st.builds(Privacy, numbers, st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=10**6)),
    st.builds(lambda rho: Privacy(rho=rho), numbers),
    st.builds(lambda mu: Privacy(mu=mu), numbers),
)


def parts(privacy):
    """Every number that can be read, and the errors of the others."""
    found = {}
    for name in ("epsilon", "delta", "rho", "mu", "mu_squared"):
        try:
            found[name] = getattr(privacy, name)
        except WrongCurrency:
            found.pop(name, None)
    return found


@given(privacies)
def test_a_promise_has_the_numbers_of_its_own_currency_only(privacy):
    names = {
        "epsilon": {"epsilon", "delta"},
        "epsilon and delta": {"epsilon", "delta"},
        "rho": {"rho"},
        "mu": {"mu", "mu_squared"},
    }[privacy.currency]
    assert set(parts(privacy)) == names
    assert privacy.is_pure == (privacy.currency == "epsilon")


@pytest.mark.slow
@given(privacies, privacies)
def test_equal_promises_are_equal_and_nothing_else_is(one, other):
    same = one.currency == other.currency and parts(one) == parts(other)
    assert (one == other) == same
    assert not same or hash(one) == hash(other)
    assert one != parts(one)


@given(privacies, st.booleans())
def test_it_survives_copies_pickles_and_texts(privacy, insist):
    again = Privacy(**privacy.to_dict(), insist=insist)
    assert again == privacy
    assert hash(again) == hash(privacy)
    for double in (copy.copy(again), copy.deepcopy(again), pickle.loads(pickle.dumps(again))):  # noqa: S301 - its own
        assert double == privacy
        assert double._insist == insist
    assert repr(again) == repr(privacy)


def test_the_texts():
    assert str(Privacy("ln(3)")) == "ε = ln(3)"
    assert str(Privacy(1, "1e-6")) == "(ε, δ) = (1, 1/1000000)"
    assert (str(Privacy(rho="0.1")), str(Privacy(mu="0.2"))) == ("ρ = 1/10", "μ = 1/5")
    assert repr(Privacy(1)) == "Privacy(epsilon=1, delta=0)"
    assert repr(Privacy(mu="0.2")) == "Privacy(mu=1/5)"
    assert Privacy(1, 0) == Privacy(1)
    assert Privacy(ln(3)).epsilon == ln(3)
    assert Privacy(mu="1/5").mu_squared == Fraction(1, 25)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1, "rho": 1},
        {"rho": 1, "mu": 1},
        {"epsilon": 1, "mu": 1},
        {"rho": 1, "delta": "1e-6"},
        {"delta": "1e-6"},
        {"epsilon": -1},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": None},
        {"rho": 0},
        {"mu": 0},
        {"mu": -1},
        {"rho": "ln(3)"},
        {"mu": float("nan")},
        {"rho": True},
    ],
)
def test_what_is_no_promise_is_refused(arguments):
    with pytest.raises(BadParameter):
        Privacy(**arguments)


def test_a_promise_does_not_change():
    privacy = Privacy(1)
    for name in ("epsilon", "_amount", "anything"):
        with pytest.raises(AttributeError):
            setattr(privacy, name, 2)
    with pytest.raises(AttributeError):
        del privacy._amount


@pytest.mark.parametrize(
    ("sensible", "large"),
    [
        ({"epsilon": 20}, {"epsilon": "20.001"}),
        ({"epsilon": 1, "delta": "0.499"}, {"epsilon": 1, "delta": "1/2"}),
        ({"rho": 20}, {"rho": 21}),
        ({"mu": 6}, {"mu": "6.1"}),
    ],
)
def test_a_budget_or_price_that_protects_nobody_must_be_insisted_upon(sensible, large):
    assert Privacy(**sensible).require_sensible() == Privacy(**sensible)
    with pytest.raises(BadParameter, match="insist=True"):
        Privacy(**large).require_sensible()
    assert Privacy(**large, insist=True).require_sensible() == Privacy(**large)


def test_the_error_is_one_of_input():
    with pytest.raises(InputError, match="given in rho and has no epsilon"):
        _ = Privacy(rho=1).epsilon
