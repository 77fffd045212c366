"""The same questions through `open` on every engine give the same answers, with the ledger in a file or in Postgres."""

from collections import Counter

import pandas as pd
import pyarrow.parquet as pq
import pytest

import leastnoise.release as ln
from leastnoise.accounting import Ledger, PostgresStore
from leastnoise.model.privacy import Privacy
from support.people import AMPLE, CITIES, SURE


def in_duckdb(path, tmp_path, _):
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path / "people.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM read_parquet(?)", [str(path)])
    return {"source": file, "table": "people"}


def in_postgres(path, _, request):
    psycopg = pytest.importorskip("psycopg")
    address = request.getfixturevalue("postgres_address")
    rows = pq.read_table(path).to_pylist()
    with psycopg.connect(address) as connection:
        connection.execute("DROP TABLE IF EXISTS people")
        connection.execute(
            "CREATE TABLE people (person int8, city text, age int8, income float8, sex text, member bool)"
        )
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO people VALUES (%(person)s, %(city)s, %(age)s, %(income)s, %(sex)s, %(member)s)", rows
            )
    return {"source": address, "table": "people"}


def in_spark(path, _, request):
    return {"source": request.getfixturevalue("spark").read.parquet(str(path)), "name": "people"}


def in_pandas(path, *_):
    return {"source": pd.read_parquet(path), "name": "people"}


@pytest.mark.slow
@pytest.mark.parametrize("put", [in_duckdb, in_postgres, in_spark, in_pandas])
def test_every_engine_answers_alike(put, people, tmp_path, request):
    path, rows = people
    place = put(path, tmp_path, request)
    with ln.open(**place, budget=AMPLE, ledger=tmp_path / "ledger") as dataset:
        counts = dataset.count(by="city", keys=[*CITIES, "Nowhere"]).release(SURE)
        truth = Counter(row["city"] for row in rows)
        assert dict(zip(counts.table["city"], counts.table["value"], strict=True)) == {**truth, "Nowhere": 0}
        ages = [row["age"] for row in rows if row["age"] is not None]
        assert dataset.sum("age", bounds=(0, 100)).release(SURE).value == sum(ages)
        middle = sorted(ages)[(len(ages) - 1) // 2 : len(ages) // 2 + 1]
        assert dataset.median("age", bounds=(0, 100), step=1).release(SURE).value in middle
        assert dataset.decision(at_least=len(rows), of="rows").release(Privacy(50, insist=True)).value is True
        found = dataset.count(by="sex").release(20, "1/1000")
        assert dict(zip(found.table["sex"], found.table["value"], strict=True)) == Counter(row["sex"] for row in rows)


def test_a_ledger_in_postgres_keeps_the_budget_across_openings(people, postgres_address):
    with Ledger.create(PostgresStore(postgres_address, "release")):
        pass
    for epsilon_left in (1, 0):
        with (
            Ledger.open(PostgresStore(postgres_address, "release")) as ledger,
            ln.open(people[0], budget=2, ledger=ledger, name="people") as dataset,
        ):
            dataset.count().release(1)
            assert dataset.left.epsilon == epsilon_left
