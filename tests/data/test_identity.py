"""One table, one name, however it is spelled; two tables, two names."""

import random
from fractions import Fraction
from pathlib import Path

import duckdb
import pandas
import psycopg
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.data import open_table
from leastnoise.data.identity import file_identity
from leastnoise.errors import BadParameter, BadSource, BudgetChanged
from leastnoise.ledger import Ledger
from leastnoise.model.privacy import Privacy


def opened(source, **options):
    with open_table(source, **options) as table:
        assert table.identity == table.name
        return table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two folders with a file `visits.csv` in each, and links to one of them."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "visits.csv").write_text("person,city\n1,Lyon\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "one" / "visits.csv")
    (tmp_path / "linked").symlink_to(tmp_path / "one")
    monkeypatch.chdir(tmp_path)
    return tmp_path


SPELLINGS = [
    "one/visits.csv",
    "./one/../one/visits.csv",
    "link.csv",
    "linked/visits.csv",
    "one/*.csv",
    "one/v[i]sits.csv",
    "o?e/visit*.csv",
    "on[e]/**/visits.csv",
]


@pytest.mark.slow
def test_one_file_has_one_name(folder):
    names = {opened(spelling).name for spelling in (*SPELLINGS, *map(Path, SPELLINGS), folder / "one" / "visits.csv")}
    assert names == {str((folder / "one" / "visits.csv").resolve())}
    assert opened("two/visits.csv").name not in names
    assert opened("*/visits.csv").name == opened("[a-z]*/*.csv").name == f"{folder.resolve()}/*.csv"


@pytest.mark.slow
def test_names_of_files_depend_on_the_files_alone(tmp_path):
    """Whatever the order and the pattern; and the name fits a ledger, however long or strange the path."""
    dice = random.Random(4)
    for _ in range(200):
        paths = ["/data/" + "".join(dice.choice("ab/é\n ") for _ in range(dice.randrange(1, 300))).strip("/") + ".csv"]
        paths = [Path(path) for path in paths * dice.randrange(1, 3)]
        name = file_identity(tmp_path / "x", paths, ".csv").name
        assert name == file_identity(tmp_path / "y", paths[::-1], ".csv").name
        assert len(name) <= 200
        assert name.isprintable()
        assert name == name.strip()


@pytest.mark.slow
def test_one_table_of_a_duckdb_file_has_one_name(tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(
            'CREATE TABLE Sales (i INTEGER); CREATE SCHEMA "Ex""tra"; CREATE TABLE "Ex""tra".sales (i INTEGER)'
        )
        connection.execute('CREATE TABLE "a.b" (i INTEGER); CREATE VIEW seen AS FROM sales')
    (tmp_path / "link.db").symlink_to(tmp_path / "shop.duckdb")
    place = (tmp_path / "shop.duckdb").resolve()
    spellings = ["sales", "SALES", "main.sales", '"Sales"', '"main"."sales"', 'Main."sALES"']
    found = [opened(tmp_path / file, table=name) for file in ("shop.duckdb", "link.db") for name in spellings]
    assert {table.name for table in found} == {f"{place}/main.Sales"}
    assert {"shop.Sales", "shop.main.Sales", 'shop."Sales"', 'shop."main"."Sales"'} <= set(found[0].former_names)
    assert opened(tmp_path / "shop.duckdb", table='"Ex""tra".sales').name == f'{place}/"Ex""tra".sales'
    assert opened(tmp_path / "shop.duckdb", table='"a.b"').name == f'{place}/main."a.b"'
    assert opened(tmp_path / "shop.duckdb", table="seen").name == f"{place}/main.seen"
    with pytest.raises(BadSource):
        open_table(tmp_path / "shop.duckdb", table="nothing")


def test_one_table_in_postgres_has_one_name(postgres_address):
    with psycopg.connect(postgres_address) as connection:
        connection.execute(
            'CREATE TABLE orders (i int); CREATE TABLE "Orders" (i int); CREATE SCHEMA IF NOT EXISTS shop'
        )
        connection.execute("CREATE TABLE shop.orders (i int); CREATE VIEW public.recent AS TABLE orders")
    names = {opened(postgres_address, table=name).name for name in ("orders", "public.orders", '"public"."orders"')}
    assert names == {"postgresql:/postgres/public.orders"}
    by_path = postgres_address + "?options=-csearch_path%3Dshop"
    assert opened(by_path, table="orders").name == "postgresql:/postgres/shop.orders"
    assert opened(by_path, table="public.orders").name in names
    assert opened(postgres_address, table='"Orders"').name == "postgresql:/postgres/public.Orders"
    assert opened(postgres_address, table="recent").name == "postgresql:/postgres/public.recent"
    table = opened(postgres_address, table="orders")
    assert {"postgresql:/postgres/orders", "postgresql:/postgres/public.orders"} <= set(table.former_names)


def test_one_table_in_spark_has_one_name(spark):
    spark.sql("CREATE OR REPLACE TEMP VIEW views_of_people AS SELECT 1 AS i")
    names = {opened(spark, table=name).name for name in ("views_of_people", "VIEWS_OF_PEOPLE", "`views_of_people`")}
    assert names == {"spark:views_of_people"}


@pytest.mark.slow
def test_one_account_for_all_spellings_and_two_for_two_files(folder):
    with Ledger.create(folder / "ledger") as ledger:
        for number, spelling in enumerate(SPELLINGS):
            with ln.open(spelling, budget=1, ledger=ledger) as dataset:
                assert dataset.left.epsilon == 1 - Fraction(number, 10)
                dataset.count().release(epsilon="1/10")
        with ln.open("two/visits.csv", budget=1, ledger=ledger) as dataset:
            assert dataset.left.epsilon == 1


def ask(source, ledger, **options):
    with ln.open(source, budget=5, ledger=ledger, **options) as dataset:
        dataset.count().release(1)
        return dataset.name


def refused(source, ledger, **options):
    with pytest.raises(BudgetChanged, match="belong to an account already"):
        ask(source, ledger, **options)
    return True


@pytest.mark.slow
def test_a_hard_link_is_no_second_budget(folder):
    """Of a file, of a file in a folder with an account, of a folder's file, and of a database; other files are free."""
    (folder / "three").mkdir()
    (folder / "three" / "again.csv").hardlink_to(folder / "one" / "visits.csv")
    (folder / "three" / "other.csv").write_text("person,city\n1,Lyon\n")
    ask("one/visits.csv", "first")
    assert refused("three/again.csv", "first")
    assert refused("three/*.csv", "first")
    ask("three/other.csv", "first")
    ask("two/visits.csv", "first")
    assert ask("three/again.csv", "first", name="again") == "again"
    ask("three/*.csv", "second")
    assert refused("one/visits.csv", "second")
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE a AS SELECT 1 AS x; CREATE TABLE b AS SELECT 1 AS x")
    (folder / "copy.duckdb").hardlink_to(folder / "shop.duckdb")
    ask("shop.duckdb", "third", table="a")
    assert refused("copy.duckdb", "third", table="a")
    ask("copy.duckdb", "third", table="b")


VIEWS = (
    "CREATE TABLE sales (x INTEGER); CREATE TABLE others (y INTEGER); CREATE VIEW v AS SELECT x AS z FROM sales; "
    "CREATE VIEW w AS SELECT * FROM v WHERE z > 0; CREATE VIEW u AS SELECT y FROM others; "
    "CREATE VIEW both_of_them AS SELECT * FROM sales, others"
)
SHARED = [
    ("sales", "v"),
    ("sales", "w"),
    ("v", "sales"),
    ("w", "sales"),
    ("v", "w"),
    ("both_of_them", "u"),
    ("w", "both_of_them"),
]
APART = [("sales", "others"), ("sales", "u"), ("w", "u"), ("u", "v")]


def judge_views(source, folder):
    for number, (first, second) in enumerate([*SHARED, *APART]):
        ledger = folder / str(number)
        ask(source, ledger, table=first)
        if (first, second) in SHARED:
            assert refused(source, ledger, table=second)
        else:
            ask(source, ledger, table=second)


@pytest.mark.slow
def test_a_view_in_duckdb_is_no_second_budget(tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(VIEWS)
    judge_views(tmp_path / "shop.duckdb", tmp_path)
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(
            'CREATE TABLE "odd ""name" AS SELECT 1 AS q; CREATE VIEW odd AS SELECT * FROM "odd ""name"; '
            "CREATE MACRO hidden() AS (SELECT max(y) FROM others); CREATE VIEW m AS SELECT hidden() AS x"
        )
    for first, second in (('"odd ""name"', "odd"), ("others", "m")):
        ask(tmp_path / "shop.duckdb", tmp_path / first[:3], table=first)
        assert refused(tmp_path / "shop.duckdb", tmp_path / first[:3], table=second)


def test_a_view_or_a_partition_in_postgres_is_no_second_budget(tmp_path, postgres_address):
    with psycopg.connect(postgres_address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS viewed CASCADE; CREATE SCHEMA viewed; SET search_path = viewed")
        connection.execute(VIEWS)
        connection.execute(
            "CREATE TABLE whole (x INTEGER) PARTITION BY RANGE (x); CREATE MATERIALIZED VIEW kept AS SELECT * FROM v; "
            "CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (9)"
        )
    for number, (first, second) in enumerate(
        [*SHARED, *APART, ("whole", "part"), ("part", "whole"), ("sales", "kept")]
    ):
        ledger = tmp_path / str(number)
        ask(postgres_address, ledger, table=f"viewed.{first}")
        if (first, second) in APART:
            ask(postgres_address, ledger, table=f"viewed.{second}")
        else:
            assert refused(postgres_address, ledger, table=f"viewed.{second}")


def test_accounts_of_version_0_1_go_on(folder):
    with Ledger.create(folder / "ledger") as ledger:
        ledger.grant(Privacy("1/2"), dataset="visits")
        with ln.open("link.csv", ledger=ledger) as dataset:
            assert (dataset.name, dataset.left.epsilon) == ("visits", Fraction(1, 2))
        with pytest.raises(BudgetChanged):
            ln.open("one/visits.csv", ledger=ledger, budget=1)
        ledger.grant(Privacy(3), dataset="link")
        with pytest.raises(BudgetChanged, match="several accounts"):
            ln.open("link.csv", ledger=ledger)
        with ln.open("link.csv", ledger=ledger, name="link") as dataset:
            assert dataset.left.epsilon == 3
        own = str((folder / "one" / "visits.csv").resolve())
        ledger.grant(Privacy(4), dataset=own)
        with ln.open("link.csv", ledger=ledger) as dataset:
            assert (dataset.name, dataset.left.epsilon) == (own, 4)


def test_frames_want_a_name(tmp_path):
    for frame in (pa.table({"a": [1]}), pandas.DataFrame({"a": [1]})):
        with open_table(frame) as table:
            assert table.identity is None
            with pytest.raises(BadParameter, match="name="):
                ln.open(table, budget=1, ledger=tmp_path / "ledger")
        with pytest.raises(BadParameter, match="name="):
            ln.open(frame, budget=1, ledger=tmp_path / "ledger")
    assert not list(tmp_path.iterdir())
    with ln.open(frame, name="people", budget=1, ledger=tmp_path / "ledger") as dataset:
        assert dataset.name == "people"
