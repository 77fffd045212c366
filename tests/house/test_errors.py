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


PAGES = {
    f"{path.stem}": path.read_text() for path in (Path(__file__).parents[2] / "docs/reference/errors").glob("*.md")
}
WITHOUT_EXAMPLE = {  # a page can't make these happen in a few lines
    "ApprovalPending",
    "BrokenAssertion",
    "DatasetSuspended",
    "EngineFailure",
    "LedgerDamaged",
    "MissingPackage",
    "NotAllowed",
    "NotFound",
    "PrecisionExhausted",
    "TooManyRequests",
    "UnsafeQuestion",
}


def sections(page):
    """The name and the text of each section of a page; the first has no name."""
    found = re.split(r"^## `(\w+)`$", page, flags=re.M)
    return [("", found[0]), *zip(found[1::2], found[2::2], strict=True)]


def test_every_error_has_a_section_on_the_page_of_its_branch():
    shown = {(page, name) for page, text in PAGES.items() for name, _ in sections(text) if name}
    assert {name for _, name in shown} | {"LeastNoiseError"} | {kind.__name__ for kind in BRANCHES} == {*errors.__all__}
    for page, name in shown:
        (branch,) = [each for each in BRANCHES if issubclass(getattr(errors, name), each)]
        assert branch.__name__.removesuffix("Error").lower() == page.removesuffix("s")


@pytest.mark.parametrize("page", PAGES)
def test_the_example_of_an_error_raises_it(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "documentation"}
    for name, text in sections(PAGES[page]):
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
        examples = [block for block in blocks if f"except ln.errors.{name} as error" in block]
        assert bool(examples) == (bool(name) and name not in WITHOUT_EXAMPLE), name
        capsys.readouterr()
        for block in blocks:
            exec(compile(block, page, "exec"), namespace)  # noqa: S102
        assert bool(capsys.readouterr().out) == bool(examples), name  # it was raised, and printed


WRITE_CHECKED_TEXT = {  # what these show is text of a few characters by then
    "ledger/budgets.py",
    "mechanisms/truths.py",
}


def test_no_error_text_fails_over_what_it_shows():
    """`repr` of a deep list or of a whole number of thousands of digits raises; `shown` does not."""
    source = Path(errors.__file__).parent
    careless = [path for path in source.rglob("*.py") if re.search(r"given=(repr\(|f\"[^\"]*!r\})", path.read_text())]
    assert {path.relative_to(source).as_posix() for path in careless} <= WRITE_CHECKED_TEXT
