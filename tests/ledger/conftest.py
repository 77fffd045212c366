"""Where ledgers are kept in tests: every suite that takes `place` runs on SQLite and on a real Postgres."""

from itertools import count

import pytest

from leastnoise.accounting import PostgresStore

_names = count()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    """A function that names the same fresh ledger each time; each call has a connection of its own."""
    if request.param == "sqlite":
        return lambda: tmp_path / "test.ledger"
    address, name = request.getfixturevalue("postgres_address"), f"ledger {next(_names)}"
    return lambda: PostgresStore(address, name)
