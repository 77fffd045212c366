"""The pages of the error benchmarks say what the record says, and others are named where they are better."""

import json
import re
from pathlib import Path

import pytest

from benchmarks import errors
from benchmarks.errors import CHOSEN, ErrorRow, missing_row
from benchmarks.errors_basics import JOBS, PEERS

ROOT = Path(__file__).parents[2]
RECORD = {
    part: [ErrorRow(*row) for row in rows]
    for part, rows in json.loads((ROOT / "benchmarks" / "errors.json").read_text()).items()
}
OURS = ErrorRow("a count", CHOSEN, 10.0, 0.1, 9.0)


@pytest.mark.parametrize(
    ("row", "named"),
    [
        (ErrorRow("a count", "OpenDP 1", 8.0, 0.1, None), True),
        (ErrorRow("a count", "OpenDP 1", 9.5, 0.1, None), False),  # within three standard errors
        (ErrorRow("a count", "OpenDP 1", 8.0, 1.0, None), False),
        (ErrorRow("a count", "OpenDP 1", 12.0, 0.1, None), False),
        (ErrorRow("another", "OpenDP 1", 8.0, 0.1, None), False),
        (ErrorRow("a count", "exponential", 8.0, 0.1, None), False),  # no other library
        (missing_row("a count", "OpenDP 1", "it failed"), False),
    ],
)
def test_where_others_are_better(row, named):
    assert bool(errors._better({"part": [OURS, row]}, others=True)) == named


def test_our_own_alternatives_are_listed_on_the_page_of_all_rows():
    assert errors._better({"part": [OURS, ErrorRow("a count", "exponential", 8.0, 0.1, None)]})


def test_a_row_that_is_measured_again_takes_its_place_and_the_others_stay():
    peer, fresh = ErrorRow("a count", "OpenDP 1", 8.0, 0.1, 9.0), ErrorRow("a count", "OpenDP 1", 7.0, 0.1, None)
    found = errors._replaced([OURS, peer], [fresh], whole=False)
    assert found == [OURS, fresh._replace(bound=9.0)]
    assert errors._replaced([OURS, peer], [fresh], whole=True) == [fresh]


def test_a_peer_that_failed_says_why():
    assert "no wheel / for this machine" in errors._cells(missing_row("a count", "X", "no wheel | for this machine"))


def test_the_pages_are_those_of_the_record():
    assert (ROOT / "docs" / "errors.md").read_text() == errors._page(RECORD)
    comparison = (ROOT / "docs" / "comparison.md").read_text()
    assert comparison == errors._comparison(RECORD, comparison)
    assert "<!-- until here -->" in comparison


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_what_a_peer_is_asked_is_a_job(peer):
    program = (ROOT / "benchmarks" / "peers" / peer.program).read_text()
    named = re.findall(r'^        "([^",]+)[^"]*":', program[program.index("answer(\n") :], re.M)
    assert len(named) > 5
    assert set(named) - {"truncated"} <= set(JOBS)


def test_every_peer_and_every_job_has_its_row():
    rows = RECORD["basics"]
    assert all(any(row.method.startswith(peer.name) for row in rows) for peer in PEERS)
    assert all(any(row.job.startswith(job.title) and row.method == CHOSEN for row in rows) for job in JOBS.values())
