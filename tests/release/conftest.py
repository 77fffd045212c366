"""Datasets opened on a Parquet file of people."""

import pytest

import leastnoise.release as ln
from support.people import AMPLE, write_people


@pytest.fixture(scope="session")
def people(tmp_path_factory):
    """The path of the file, and its rows."""
    path = tmp_path_factory.mktemp("data") / "people.parquet"
    return path, write_people(path)


@pytest.fixture
def open_people(people, tmp_path):
    """Open the file with a large budget; single rows are protected unless said otherwise."""
    opened = []

    def open_it(**options):
        given = {"budget": AMPLE, "ledger": tmp_path / "ledger", **options}
        opened.append(ln.open(people[0], **given))
        return opened[-1]

    yield open_it
    for dataset in opened:
        dataset.close()
