"""What a curator may hand over without knowing: files whose types differ, folders with names, loose collations."""

import duckdb
import pytest

import leastnoise.release as ln
from leastnoise.data import Contribution, CountUnits, open_table
from leastnoise.errors import BadParameter, BadSource, BudgetChanged
from support.postgres import has_loose_collations


def write(file, query):
    file.parent.mkdir(parents=True, exist_ok=True)
    duckdb.sql(f"COPY ({query}) TO '{file}' (FORMAT parquet)")


@pytest.mark.parametrize(
    "other", ["'31' AS age", "31.0 AS age", "31 AS years", "31::SMALLINT AS age", "31::DECIMAL(9,2) AS age"]
)
def test_files_of_different_types_are_refused_before_a_row_is_read(tmp_path, other):
    """DuckDB would read them in the types of the first file, and fail on the first row that has no such value."""
    write(tmp_path / "a.parquet", "SELECT 1 AS p, 30 AS age")
    write(tmp_path / "b.parquet", f"SELECT 2 AS p, {other}")
    with pytest.raises(BadSource, match="different columns"):
        open_table(tmp_path)
    write(tmp_path / "b.parquet", "SELECT 2 AS p, 31 AS age")
    open_table(tmp_path).close()


def test_the_names_of_folders_are_no_columns(tmp_path):
    for value in ("30", "refused"):
        write(tmp_path / f"age={value}" / "x.parquet", "SELECT 1 AS p")
    with open_table(tmp_path) as table:
        assert list(table.columns) == ["p"]


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT"])
def test_a_collation_that_calls_different_ids_equal_names_no_unit(tmp_path, collation):
    with duckdb.connect(str(tmp_path / "x.duckdb")) as made:
        made.sql(f"CREATE TABLE w (p VARCHAR COLLATE {collation}, q VARCHAR)")
        made.sql("INSERT INTO w VALUES ('bob', 'bob'), ('Bob', 'Bob'), ('bób', 'bób')")
        made.sql("CREATE VIEW v AS FROM w")
    for name in ("w", "v"):
        with open_table(tmp_path / "x.duckdb", table=name) as table:
            with pytest.raises(BadParameter, match="collation"):
                table.aggregate(Contribution("p"), (), (CountUnits(),))
            assert table.aggregate(Contribution("q"), (), (CountUnits(),))[0] == 3


def test_a_collation_in_postgres_names_no_unit(postgres_address):
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_address, autocommit=True) as made:
        if not has_loose_collations(made):
            pytest.skip("this build of Postgres has no ICU")
        made.execute("CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
        made.execute("CREATE TABLE loosely (p text COLLATE loose, q text)")
        made.execute("INSERT INTO loosely VALUES ('bob', 'bob'), ('Bob', 'Bob')")
    with open_table(postgres_address, table="loosely") as table:
        with pytest.raises(BadParameter, match="collation"):
            table.aggregate(Contribution("p"), (), (CountUnits(),))
        assert table.aggregate(Contribution("q"), (), (CountUnits(),))[0] == 2


@pytest.mark.parametrize("limit", ["1MB", "29.9MB", "0GB", "80%", "", "1", 7, "-5GB"])
def test_no_limit_is_so_small_that_a_row_decides_whether_a_file_opens(tmp_path, limit):
    (tmp_path / "x.csv").write_text("p\n1\n")
    with pytest.raises(BadParameter, match="memory_limit"):
        open_table(tmp_path / "x.csv", memory_limit=limit)


@pytest.mark.slow
@pytest.mark.parametrize("row", ["", "y" * 1_900_000, ("y" * 1_900_000 + "\n1,") * 8])
def test_at_the_least_limit_long_rows_are_read(tmp_path, row):
    (tmp_path / "x.csv").write_text(f"p,city\n1,{row}\n")
    with open_table(tmp_path / "x.csv", memory_limit="30MB") as table:
        assert table.aggregate(Contribution("p"), (), (CountUnits(),))[0] == 1


def test_a_folder_that_grows_is_no_second_budget(tmp_path):
    folder, ledger = tmp_path / "data", tmp_path / "ledger"
    write(folder / "jan.parquet", "SELECT range AS p FROM range(10)")
    with ln.open(folder, privacy_unit="p", budget=1, ledger=ledger) as first:
        first.count().release(1)
        name = first.name
    write(folder / "feb.parquet", "SELECT range AS p FROM range(10)")
    with pytest.raises(BudgetChanged, match="second budget"):
        ln.open(folder, privacy_unit="p", budget=1, ledger=ledger)
    with ln.open(folder, privacy_unit="p", ledger=ledger, name=name) as both:
        assert both.left.epsilon == 0


def test_a_file_of_a_folder_with_an_account_is_no_second_budget(tmp_path):
    folder, ledger = tmp_path / "data", tmp_path / "ledger"
    for month in ("2024/jan", "2025/feb"):
        write(folder / f"{month}.parquet", "SELECT range AS p FROM range(10)")
    with ln.open(folder, privacy_unit="p", budget=1, ledger=ledger) as both:
        both.count().release(1)
    for part in (folder / "2024" / "jan.parquet", folder / "2024"):
        with pytest.raises(BudgetChanged, match="second budget"):
            ln.open(part, privacy_unit="p", budget=1, ledger=ledger)


def test_an_error_of_a_lazy_frame_quotes_no_value():
    polars = pytest.importorskip("polars")
    frame = polars.LazyFrame({"p": [1, 2], "age": ["30", "refused by 12345"]}).with_columns(
        polars.col("age").cast(polars.Int64)
    )
    with pytest.raises(BadSource) as caught:
        open_table(frame)
    assert "12345" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
