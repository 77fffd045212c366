"""Bounded counts by group, in the engine: ours beside the same query bare in DuckDB, and beside hand-written PySpark.

10⁷ rows, a million people, a thousand cities; a person counts in at most two cities, once in each. The bare query has
the same bound and the same plan as ours (distinct pairs, then the two smallest keyed hashes of each person), written by
hand over the file; the usual plan ranks the pairs of each person in a window, by md5, and is timed for comparison.
PySpark's side is that window with Spark's own hash, on the same cached rows. Whole publications (all two-way tables of
14 columns) stand beside GROUPING SETS written by hand.
"""

from __future__ import annotations

import tempfile
from itertools import combinations
from pathlib import Path

from benchmarks.measure import Row, race
from leastnoise.data import Contribution, CountRows, KeyAxis, Table, open_table

__all__ = ["run"]

ROWS = 10_000_000
SPARK_ROWS = 2_000_000
WIDE_ROWS = 1_000_000
ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
CITIES = KeyAxis("city", tuple(range(1000)))
BOUND = Contribution("person", groups_per_unit=2, rows_per_unit=1)
MAKE = """
COPY (
    SELECT CAST(hash(i) % ({rows} // 10) AS BIGINT) AS person,
           CAST(floor(1000 * pow(hash(i + 1000000007) % 1000003 / 1000003.0, 1.3)) AS BIGINT) AS city
    FROM range({rows}) AS numbers(i)
) TO '{path}' (FORMAT parquet)
"""
BARE = """
SELECT pick & 1023 AS city, count(*) FROM (
    SELECT unnest(min(pick, 2)) AS pick FROM (
        SELECT DISTINCT person, (CAST(hash(hash(11, person, city), 22) >> 1 AS BIGINT) & ~1023) | city AS pick
        FROM read_parquet('{path}')
    ) GROUP BY person
) GROUP BY 1
"""
WINDOW = """
SELECT city, sum(least(rows, 1)) FROM (
    SELECT city, rows, row_number() OVER (PARTITION BY person ORDER BY md5('11|' || person || '|' || city)) AS place
    FROM (SELECT person, city, count(*) AS rows FROM read_parquet('{path}') GROUP BY person, city)
) WHERE place <= 2 GROUP BY city
"""


def run() -> list[Row]:
    """DuckDB on 10⁷ rows, then Spark on fewer."""
    with tempfile.TemporaryDirectory() as folder:
        path, fewer = Path(folder) / "rows.parquet", Path(folder) / "fewer.parquet"
        wide = Path(folder) / "wide.parquet"
        return _against_duckdb(path) + _all_pairs(wide) + _against_pyspark(fewer)


def _count(table: Table) -> object:
    return table.aggregate(BOUND, (CITIES,), (CountRows(),))


def _against_duckdb(path: Path) -> list[Row]:
    import duckdb

    bare = duckdb.connect()
    bare.execute(MAKE.format(rows=ROWS, path=path))
    what = f"count by 1000 groups, 2 groups per person, {ROWS:,} rows"
    with open_table(path) as table:
        return [
            race(
                f"{what}: {plan}",
                lambda: _count(table),
                "DuckDB, bare",
                lambda text=text: bare.execute(text.format(path=path)).fetchall(),
                target=target,
                rounds=5,
            )
            for plan, text, target in (("the same plan", BARE, 1 / 1.1), ("a window and md5", WINDOW, 1))
        ]


def _all_pairs(path: Path) -> list[Row]:
    """All two-way tables of 14 columns, beside GROUPING SETS by hand: over all rows, and over one row per person."""
    import duckdb

    bare, pairs = duckdb.connect(), list(combinations(range(len(ADULT)), 2))
    columns = ", ".join(f"CAST(hash(i + {k}000003) % {size} AS BIGINT) AS c{k}" for k, size in enumerate(ADULT))
    rows = f"SELECT CAST(hash(i) % 500000 AS BIGINT) AS person, {columns} FROM range({WIDE_ROWS}) AS numbers(i)"  # noqa: S608 - numbers of ours
    bare.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    names = ", ".join(f"c{k}" for k in range(len(ADULT)))
    sets = ", ".join(f"(c{one}, c{other})" for one, other in pairs)
    every = f"SELECT {names} FROM read_parquet('{path}')"  # noqa: S608 - numbers of ours
    order = f"row_number() OVER (PARTITION BY person ORDER BY hash(11, person, {names})) AS place"
    chosen = f"SELECT {names} FROM (SELECT {names}, {order} FROM read_parquet('{path}')) WHERE place = 1"  # noqa: S608 - numbers of ours
    axes = tuple(KeyAxis(f"c{k}", tuple(range(size))) for k, size in enumerate(ADULT))

    def by_hand(kept: str) -> object:
        return bare.execute(f"SELECT {names}, count(*) FROM ({kept}) GROUP BY GROUPING SETS ({sets})").fetchnumpy()  # noqa: S608 - numbers of ours

    with open_table(path) as table:
        return [
            race(
                f"{len(pairs)} two-way tables, {WIDE_ROWS:,} rows: {what}",
                lambda bound=bound: table.marginals(bound, axes, pairs, CountRows()),
                "GROUPING SETS by hand",
                lambda kept=kept: by_hand(kept),
                target=1 / 3,  # by hand nobody looks whether a value is one of the keys
                rounds=3,
            )
            for what, bound, kept in (
                ("every row", Contribution(None), every),
                ("one row per person", Contribution("person"), chosen),
            )
        ]


def _against_pyspark(path: Path) -> list[Row]:
    try:
        from pyspark.sql import DataFrame, SparkSession, Window, functions as f
    except ImportError as problem:
        print(f"tables: PySpark is left out: {problem}")
        return []
    import duckdb

    duckdb.connect().execute(MAKE.format(rows=SPARK_ROWS, path=path))
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.memory", "4g")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )

    def by_hand(rows: DataFrame) -> object:
        pairs = rows.groupBy("person", "city").count()
        order = Window.partitionBy("person").orderBy(f.xxhash64(f.lit(11), "person", "city"))
        kept = pairs.withColumn("place", f.row_number().over(order)).where("place <= 2")
        return kept.groupBy("city").agg(f.sum(f.least("count", f.lit(1)))).collect()

    try:
        rows = session.read.parquet(str(path))
        with open_table(rows, table="rows") as table:
            what = f"count by 1000 groups, 2 groups per person, {SPARK_ROWS:,} rows"
            return [race(what, lambda: _count(table), "PySpark by hand", lambda: by_hand(rows), 1 / 1.3, rounds=5)]
    finally:
        session.stop()
