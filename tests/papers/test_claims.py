"""The claims of the source texts are recomputed: what does not hold is in the errata, what holds has no entry there."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from papers.__main__ import PAPERS as KEYS

PAPERS = [import_module(f"papers.{key}").PAPER for key in KEYS]

ERRATA = (Path(__file__).parents[2] / "docs" / "errata.md").read_text()


@pytest.fixture(scope="module")
def claims():
    return {paper.key: list(paper.claims()) for paper in PAPERS}


def section(key):
    """The part of the errata that mentions the command for this paper."""
    parts = [
        part for part in re.split(r"^## ", ERRATA, flags=re.MULTILINE) if f"papers {key}`" in " ".join(part.split())
    ]
    assert len(parts) == 1
    return parts[0]


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_what_does_not_hold_is_in_the_errata_with_what_does(paper, claims):
    failing = [claim for claim in claims[paper.key] if not claim.holds]
    assert failing
    for claim in failing:
        assert claim.instead
        assert claim.place in section(paper.key)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_what_holds_has_no_entry(paper, claims):
    entries = re.findall(r"^### (.*)$", section(paper.key), flags=re.MULTILINE)
    failing = {claim.place for claim in claims[paper.key] if not claim.holds}
    for claim in claims[paper.key]:
        if claim.holds and claim.place not in failing:
            assert claim.place not in entries


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_claims_say_what_was_computed(paper, claims):
    found = claims[paper.key]
    assert len(found) >= 5
    assert all(claim.place and claim.says and claim.computed for claim in found)
    assert all(not claim.instead for claim in found if claim.holds)
