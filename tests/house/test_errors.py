import pickle
import re
from pathlib import Path

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


BRANCHES = LeastNoiseError.__subclasses__()


def test_the_tree_in_the_docstring_is_the_tree():
    drawn = re.findall(r"^    (?:│|├──|└──| )?\s*(?:├── |└── )?(\w+)(?: \(and (\w+)\))?$", errors.__doc__, re.M)
    assert sorted(name for pair in drawn for name in pair if name) == sorted(errors.__all__)


def test_every_error_hangs_on_one_of_seven_branches():
    assert len(BRANCHES) == 7
    for kind in KINDS:
        assert kind is LeastNoiseError or sum(issubclass(kind, branch) for branch in BRANCHES) == 1


def test_a_refused_budget_is_not_swallowed_by_the_handler_of_a_file():
    (budget,) = [branch for branch in BRANCHES if branch.__name__ == "BudgetError"]
    assert all(not issubclass(kind, OSError) for kind in KINDS if issubclass(kind, budget))


WRITE_CHECKED_TEXT = {  # what these show is text of a few characters by then
    "ledger/suspension.py",
    "mechanisms/truths.py",
}


def test_no_error_text_fails_over_what_it_shows():
    """`repr` of a deep list or of a whole number of thousands of digits raises; `shown` does not."""
    source = Path(errors.__file__).parent
    careless = [path for path in source.rglob("*.py") if re.search(r"given=(repr\(|f\"[^\"]*!r\})", path.read_text())]
    assert {path.relative_to(source).as_posix() for path in careless} <= WRITE_CHECKED_TEXT
