import pickle

import pytest

from leastnoise import errors
from leastnoise.errors import LeastNoiseError

KINDS = [getattr(errors, name) for name in errors.__all__]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_tells_what_was_wrong_what_was_given_and_what_to_do(kind):
    error = kind("it broke", given=[1, 2], fix="mend it")
    assert str(error) == "it broke; given: [1, 2]; mend it"
    assert (error.problem, error.given, error.fix) == ("it broke", "[1, 2]", "mend it")
    assert isinstance(error, LeastNoiseError)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_survives_the_way_back_from_a_worker(kind):
    again = pickle.loads(pickle.dumps(kind("it broke", given="x", fix="mend it")))  # noqa: S301
    assert type(again) is kind
    assert str(again) == "it broke; given: x; mend it"


def test_what_was_given_is_shortened():
    assert len(str(LeastNoiseError("too long", given="x" * 10_000, fix="shorten it"))) < 300


def test_no_error_is_a_bare_leastnoise_error_or_lacks_a_built_in_kin():
    for kind in KINDS:
        if kind is not LeastNoiseError:
            assert issubclass(kind, LeastNoiseError)
            assert len(kind.__mro__) > len(LeastNoiseError.__mro__) + 1, f"{kind.__name__} has no built-in kin"
