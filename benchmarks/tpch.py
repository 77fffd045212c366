"""Ten questions on TPC-H data at scale factor 1, beside the same SQL by hand in DuckDB, bounded in the same way.

The person is the customer; orders and line items lead to it by links; parts, suppliers, nations and regions are public.
Ours is what the engine does for one private answer (`Query.read`); the other side is the join with the same filter,
grouped by customer and cell, clamped and added up. CPU seconds of this process, for DuckDB runs inside of it; each text
was run before, so that rehearsals on made-up rows, which are done once for each text, are not counted. `tpchgen-cli`
makes the data; LEASTNOISE_TPCH says where it is kept, LEASTNOISE_TPCH_SCALE how much.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import duckdb

import leastnoise as ln
from benchmarks.measure import Row
from leastnoise.release.database import Database
from leastnoise.release.queries.query import Query

__all__ = ["run"]

SCALE = os.environ.get("LEASTNOISE_TPCH_SCALE", "1")
TABLES = ("customer", "orders", "lineitem", "part", "supplier", "nation", "region")
LINKS = {
    "orders.o_custkey": "customer.c_custkey",
    "lineitem.l_orderkey": "orders.o_orderkey",
    "lineitem.l_partkey": "part.p_partkey",
    "lineitem.l_suppkey": "supplier.s_suppkey",
    "customer.c_nationkey": "nation.n_nationkey",
    "supplier.s_nationkey": "nation.n_nationkey",
    "nation.n_regionkey": "region.r_regionkey",
}
PUBLIC = ["part", "supplier", "nation", "region"]
MOST = 50  # rows of a customer in a cell
HIGH = 60_000  # of a price that counts
ROUNDS, MOST_ROUNDS = 9, 99
SECONDS = 2  # of short questions there are as many rounds as this allows

PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
MODES = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]
BRANDS = [f"Brand#{a}{b}" for a in range(1, 6) for b in range(1, 6)]
NATIONS = ["ALGERIA", "BRAZIL", "CHINA", "EGYPT", "FRANCE", "GERMANY", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"]
OF_CUSTOMER = "customer.c_nationkey.n_name"


@dataclass(frozen=True)
class Question:
    """A question in both forms.

    Args:
        name: After which TPC-H query it is made.
        ask: The private question.
        source: FROM … WHERE … by hand.
        cell: What it is grouped by, by hand.
        value: What is added up, by hand; "" for rows.
    """

    name: str
    ask: Callable[[Database], Query]
    source: str
    cell: str = "0"
    value: str = ""


def _listed(keys: list[str]) -> str:
    return "(" + ", ".join(f"'{key}'" for key in keys) + ")"


ITEMS = "lineitem JOIN orders ON l_orderkey = o_orderkey"
PRICE = f"CAST(floor(least(greatest(l_extendedprice, 0), {HIGH}) + 0.5) AS BIGINT)"
BOUNDS = {"bounds": (0, HIGH), "step": 1}
QUESTIONS = [
    Question(
        "Q1, rows by flag and status",
        lambda d: d["lineitem"].count(
            keys={"l_returnflag": ["A", "N", "R"], "l_linestatus": ["F", "O"]}, where="l_shipdate <= DATE '1998-09-02'"
        ),
        f"{ITEMS} WHERE l_shipdate <= DATE '1998-09-02' "
        "AND l_returnflag IN ('A', 'N', 'R') AND l_linestatus IN ('F', 'O')",
        "l_returnflag, l_linestatus",
    ),
    Question(
        "Q1, price by flag",
        lambda d: d["lineitem"].sum("l_extendedprice", **BOUNDS, by="l_returnflag", keys=["A", "N", "R"]),
        f"{ITEMS} WHERE l_returnflag IN ('A', 'N', 'R')",
        "l_returnflag",
        PRICE,
    ),
    Question(
        "Q3, orders of a market segment",
        lambda d: d["orders"].count(
            by="o_orderpriority",
            keys=PRIORITIES,
            where="customer.c_mktsegment = 'BUILDING' and o_orderdate < DATE '1995-03-15'",
        ),
        "orders LEFT JOIN customer ON o_custkey = c_custkey WHERE c_mktsegment = 'BUILDING' "
        f"AND o_orderdate < DATE '1995-03-15' AND o_orderpriority IN {_listed(PRIORITIES)}",
        "o_orderpriority",
    ),
    Question(
        "Q4, orders by priority",
        lambda d: d["orders"].count(
            by="o_orderpriority",
            keys=PRIORITIES,
            where="o_orderdate >= DATE '1993-07-01' and o_orderdate < DATE '1993-10-01'",
        ),
        "orders WHERE o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-10-01' "
        f"AND o_orderpriority IN {_listed(PRIORITIES)}",
        "o_orderpriority",
    ),
    Question(
        "Q5, price by nation of the customer",
        lambda d: d["lineitem"].sum("l_extendedprice", **BOUNDS, by=OF_CUSTOMER, keys=NATIONS),
        f"{ITEMS} LEFT JOIN customer ON o_custkey = c_custkey LEFT JOIN nation ON c_nationkey = n_nationkey "
        f"WHERE n_name IN {_listed(NATIONS)}",
        "n_name",
        PRICE,
    ),
    Question(
        "Q6, price of small discounts",
        lambda d: d["lineitem"].sum(
            "l_extendedprice",
            **BOUNDS,
            where="l_shipdate >= DATE '1994-01-01' and l_shipdate < DATE '1995-01-01' and l_discount >= 0.05 "
            "and l_discount <= 0.07 and l_quantity < 24",
        ),
        f"{ITEMS} WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' "
        "AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
        "0",
        PRICE,
    ),
    Question(
        "Q10, returned items by nation",
        lambda d: d["lineitem"].count(by=OF_CUSTOMER, keys=NATIONS, where="l_returnflag = 'R'"),
        f"{ITEMS} LEFT JOIN customer ON o_custkey = c_custkey LEFT JOIN nation ON c_nationkey = n_nationkey "
        f"WHERE l_returnflag = 'R' AND n_name IN {_listed(NATIONS)}",
        "n_name",
    ),
    Question(
        "Q12, items by mode and priority",
        lambda d: d["lineitem"].count(keys={"l_shipmode": MODES, "orders.o_orderpriority": PRIORITIES}),
        f"{ITEMS} WHERE l_shipmode IN {_listed(MODES)} AND o_orderpriority IN {_listed(PRIORITIES)}",
        "l_shipmode, o_orderpriority",
    ),
    Question(
        "Q14, price of promotions",
        lambda d: d["lineitem"].sum("l_extendedprice", **BOUNDS, where="starts_with(part.p_type, 'PROMO')"),
        f"{ITEMS} LEFT JOIN part ON l_partkey = p_partkey WHERE starts_with(p_type, 'PROMO')",
        "0",
        PRICE,
    ),
    Question(
        "Q19, items by brand",
        lambda d: d["lineitem"].count(by="part.p_brand", keys=BRANDS, where="l_quantity <= 10"),
        f"{ITEMS} LEFT JOIN part ON l_partkey = p_partkey WHERE l_quantity <= 10 AND p_brand IN {_listed(BRANDS)}",
        "p_brand",
    ),
]


def make_database(folder: Path, scale: str = SCALE) -> Path:
    """The tables in one DuckDB file; made once."""
    file, tables = folder / f"tpch_{scale}.duckdb", folder / f"tpch_{scale}"
    if not file.exists():
        command = Path(sys.executable).parent / "tpchgen-cli"
        if not tables.exists():
            options = ["parquet", "-s", scale, f"--tables={','.join(TABLES)}", f"--output-dir={tables}"]
            subprocess.run([command, *options], check=True, capture_output=True)
        with duckdb.connect(str(file)) as connection:
            for table in TABLES:
                path = tables / f"{table}.parquet"
                connection.execute(f"CREATE TABLE {table} AS FROM read_parquet('{path}')")
    return file


def by_hand(question: Question) -> str:
    """The bounded answer as one would write it in DuckDB."""
    worth = f"least(sum({question.value}), {MOST * HIGH})" if question.value else f"least(count(*), {MOST})"
    inner = f"SELECT o_custkey, {question.cell}, {worth} AS worth FROM {question.source} GROUP BY ALL"  # noqa: S608
    cells = "" if question.cell == "0" else f"{question.cell}, "
    return f"SELECT {cells}sum(worth) FROM ({inner}) GROUP BY ALL"  # noqa: S608


def _seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def compare(shop: Database, connection: duckdb.DuckDBPyConnection, question: Question) -> Row:
    """CPU seconds of both, after they gave the same numbers."""
    query, text = question.ask(shop), by_hand(question)
    ours = sum(int(number) for number in query.read())  # type: ignore[attr-defined]
    theirs = sum(int(row[-1]) for row in connection.execute(text).fetchall())
    if ours != theirs:
        raise AssertionError(question.name, ours, theirs)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    rounds = int(SECONDS / _seconds(query.read))
    for _ in range(min(max(rounds, ROUNDS), MOST_ROUNDS)):
        times["ours"].append(_seconds(query.read))
        times["theirs"].append(_seconds(lambda: connection.execute(text).fetchall()))
    mine, others = median(times["ours"]), median(times["theirs"])
    return {
        "name": f"{question.name} (CPU)",
        "ours_seconds": mine,
        "peer": "the same by hand in DuckDB",
        "peer_seconds": others,
        "ratio": others / mine,
        "target": 1 / 1.3,
    }


def run() -> list[Row]:
    """Ten questions."""
    kept = os.environ.get("LEASTNOISE_TPCH")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(kept or scratch)
        file = make_database(folder)
        options = {"privacy_unit": "customer.c_custkey", "links": LINKS, "public": PUBLIC, "rows_per_unit": MOST}
        with (
            ln.open(file, **options, groups_per_unit=1000, budget=1, ledger=Path(scratch) / "ledger") as shop,
            duckdb.connect(str(file), read_only=True) as connection,
        ):
            return [compare(shop, connection, question) for question in QUESTIONS]


if __name__ == "__main__":
    for row in run():
        print(f"{row['name']:45} {row['ours_seconds']:8.3f} {row['peer_seconds']:8.3f} {row['ratio']:6.2f}")
