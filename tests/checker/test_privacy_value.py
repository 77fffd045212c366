import pickle
from fractions import Fraction

import pytest

from leastnoise.errors import BadParameter
from leastnoise.exact.numbers import ln
from leastnoise.model.privacy import Privacy


def test_a_promise_is_exact():
    assert Privacy(0.1) == Privacy("1/10")
    assert Privacy("ln(3)").epsilon == ln(3)
    assert Privacy(1, 1e-6).delta == Fraction(1, 10**6)
    assert Privacy(1).is_pure
    assert not Privacy(1, "1/10").is_pure
    assert len({Privacy(0.5), Privacy("1/2"), Privacy(Fraction(1, 2))}) == 1


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(-1, 0), (float("nan"), 0), (float("inf"), 0), ("x", 0), (True, 0), (None, 0), (1, -1), (1, 1), (1, "ln(2)")],
)
def test_what_is_no_promise_is_refused(epsilon, delta):
    with pytest.raises(BadParameter):
        Privacy(epsilon, delta)


def test_it_can_be_read_and_never_changes():
    assert str(Privacy("ln(3)")) == "ε = ln(3)"
    assert str(Privacy(1, "1e-6")) == "(ε, δ) = (1, 1/1000000)"
    assert repr(Privacy(1)) == "Privacy(epsilon=1, delta=0)"
    assert pickle.loads(pickle.dumps(Privacy("ln(3)", "1/9"))) == Privacy("ln(3)", "1/9")  # noqa: S301
    with pytest.raises(AttributeError):
        Privacy(1).epsilon = 2
