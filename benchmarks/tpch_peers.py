"""Four questions on TPC-H data, released by us, by Tumult Analytics and by pyqrlew: CPU seconds and mean error.

The scale factor is 0.1 for all sides: 15,000 customers, 150,000 orders, 600,000 line items.

The person is the customer; at most 50 of her rows count in a cell. Prices are ε = 1 for Tumult (discrete Laplace), and
(1, 1e-6) for pyqrlew (Gaussian noise that its SQL draws in doubles); each is beside ours at the same price. The error
is the mean distance of a released number from the true one, over all cells and ROUNDS releases; the name of a row says
both. Ours debits a ledger and rehearses; starting Python and Spark is not counted on any side.

What they can't say. Tumult protects rows by a column with the person: line items have none, so that they get one here
beforehand, and the join is not counted. It drops rows beyond the 50th of a group, where we bring a person's sum into
range; by two columns it bounds a person's rows in all cells together (300), which needs the same noise as 50 in each of
six cells and drops fewer: that count is closer than ours. pyqrlew follows the two links by itself, takes text with
possible values as keys, scales a person's rows down instead of choosing among them, and needs the sizes of the tables,
which it takes as public; its SQL for Postgres runs in DuckDB. Each is in an environment of its own under .venvs/.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import duckdb

import leastnoise as ln
from benchmarks.measure import Row
from benchmarks.table_peers import VENVS, run_in_venv
from benchmarks.tpch import LINKS, MOST, PRIORITIES, PUBLIC, make_database

__all__ = ["run"]

SCALE = "0.1"  # at 1 Tumult's releases take more than a quarter of an hour
ROUNDS = 3
HIGH = 105_000  # no price of TPC-H is higher: pyqrlew does not bring values into their range
DELTA = "1e-6"
COLUMNS = {
    "customer": {"c_custkey": "bigint"},
    "orders": {"o_orderkey": "bigint", "o_custkey": "bigint", "o_orderdate": "date", "o_orderpriority": "varchar"},
    "lineitem": {
        "l_orderkey": "bigint",
        "l_shipdate": "date",
        "l_extendedprice": "double",
        "l_discount": "double",
        "l_quantity": "double",
        "l_returnflag": "varchar",
        "l_linestatus": "varchar",
    },
}


@dataclass(frozen=True)
class Question:
    """A question for all.

    Args:
        name: After which TPC-H query it is made.
        table: Of whose rows.
        where: Which of them count, as all read it.
        keys: The groups.
        summed: What is added up; "" for rows.
    """

    name: str
    table: str
    where: str
    keys: dict[str, list[str]]
    summed: str = ""

    @property
    def sql(self) -> str:
        """The bare statement."""
        what = f"sum({self.summed})" if self.summed else "count(*)"
        groups = ", ".join(self.keys)
        rest = (f" WHERE {self.where}" if self.where else "") + (f" GROUP BY {groups}" if groups else "")
        return f"SELECT {groups + ', ' if groups else ''}{what} AS n FROM {self.table}{rest}"  # noqa: S608


FLAGS = {"l_returnflag": ["A", "N", "R"]}
QUESTIONS = [
    Question(
        "Q4, orders by priority",
        "orders",
        "o_orderdate >= '1993-07-01' AND o_orderdate < '1993-10-01'",
        {"o_orderpriority": PRIORITIES},
    ),
    Question(
        "Q1, rows by flag and status",
        "lineitem",
        "l_shipdate <= '1998-09-02'",
        {**FLAGS, "l_linestatus": ["F", "O"]},
    ),
    Question("Q1, price by flag", "lineitem", "", FLAGS, "l_extendedprice"),
    Question(
        "Q6, price of small discounts",
        "lineitem",
        "l_shipdate >= '1994-01-01' AND l_shipdate < '1995-01-01' AND l_discount >= 0.05 AND l_discount <= 0.07 "
        "AND l_quantity < 24",
        {},
        "l_extendedprice",
    ),
]

_TUMULT = """
import json
from pyspark.sql import SparkSession
from tmlt.analytics import AddRowsWithID, KeySet, MaxGroupsPerID, MaxRowsPerGroupPerID, MaxRowsPerID
from tmlt.analytics import PureDPBudget, QueryBuilder, Session

os.environ["PYSPARK_PYTHON"] = sys.executable
settings = {"spark.driver.memory": "4g", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "8"}
spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
job = json.loads(sys.argv[1])
answers = []
for question in job["questions"]:
    frame = spark.read.parquet(job["files"][question["table"]])
    cells = 1
    for keys in question["keys"].values():
        cells *= len(keys)
    for _ in range(job["rounds"]):
        started = cpu()
        session = Session.from_dataframe(
            PureDPBudget(1), "rows", frame, protected_change=AddRowsWithID("o_custkey")
        )
        query = QueryBuilder("rows")
        if question["where"]:
            query = query.filter(question["where"])
        if question["keys"]:
            names = list(question["keys"])
            keyset = KeySet.from_dict(question["keys"])
            if len(names) == 1:
                query = query.enforce(MaxGroupsPerID(names[0], cells))
                query = query.enforce(MaxRowsPerGroupPerID(names[0], job["most"]))
            else:
                query = query.enforce(MaxRowsPerID(cells * job["most"]))
            query = query.groupby(keyset)
        else:
            names, query = [], query.enforce(MaxRowsPerID(job["most"]))
        query = query.sum(question["summed"], 0, job["high"], name="n") if question["summed"] else query.count(name="n")
        rows = session.evaluate(query, PureDPBudget(1)).collect()
        spent = cpu() - started
        answers.append([question["name"], spent, [[[row[name] for name in names], row["n"]] for row in rows]])
print("answers", json.dumps(answers))
"""

_QRLEW = """
import json, tempfile
import sqlalchemy
from pyqrlew import Dataset, Dialect

job = json.loads(sys.argv[1])
engine = sqlalchemy.create_engine("sqlite:///" + tempfile.mkdtemp() + "/schema.sqlite")
with engine.begin() as connection:
    for table, columns in job["columns"].items():
        listed = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        connection.execute(sqlalchemy.text(f"CREATE TABLE {table} ({listed})"))
dataset = Dataset.from_database("tpch", engine, None)
told, size = dict(line.split(": ", 1) for line in str(dataset).splitlines() if ": " in line), json.loads(dataset.size)
for table in size["statistics"]["union"]["fields"]:
    table["statistics"]["struct"]["size"] = str(job["sizes"][table["name"]])
dataset = Dataset.from_str(told["Dataset"], dataset.schema, json.dumps(size))
for question in job["questions"]:
    for column, keys in question["keys"].items():
        dataset = dataset.with_possible_values(None, question["table"], column, keys)
    if question["summed"]:
        dataset = dataset.with_range(None, question["table"], question["summed"], 0.0, float(job["high"]))
to_customer = ("o_custkey", "customer", "c_custkey")
unit = [("customer", [], "c_custkey"), ("orders", [to_customer], "c_custkey")]
unit.append(("lineitem", [("l_orderkey", "orders", "o_orderkey"), to_customer], "c_custkey"))
texts = {}
for question in job["questions"]:
    relation = dataset.relation(question["sql"], Dialect.PostgreSql)
    private = relation.rewrite_with_differential_privacy(
        dataset, unit, {"epsilon": 1.0, "delta": 1e-6}, max_multiplicity=float(job["most"]),
        max_multiplicity_share=1.0, max_privacy_unit_groups=10,
    )
    texts[question["name"]] = private.relation().to_query(Dialect.PostgreSql)
print("answers", json.dumps(texts))
"""


def run() -> list[Row]:
    """A row for each peer and question."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(os.environ.get("LEASTNOISE_TPCH") or scratch)
        file = make_database(folder, SCALE)
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH '{file}' AS tpch (READ_ONLY)")
            for table, columns in COLUMNS.items():
                listed = ", ".join(columns)
                connection.execute(f"CREATE VIEW {table} AS SELECT {listed} FROM tpch.{table}")  # noqa: S608
            truth = {question.name: _cells(connection.execute(question.sql).fetchall()) for question in QUESTIONS}
            job = _job(connection, Path(scratch))
            ours = {delta: _ours(file, Path(scratch) / f"ledger{delta}", delta) for delta in ("0", DELTA)}
            peers = {"Tumult Analytics": ("0", _tumult(job)), "pyqrlew": (DELTA, _qrlew(job, connection))}
        return [
            _row(question.name, peer, ours[delta][question.name], found[question.name], truth[question.name])
            for question in QUESTIONS
            for peer, (delta, found) in peers.items()
            if question.name in found
        ]


Answers = dict[str, list[tuple[float, dict[tuple[str, ...], float]]]]
"""From the name of a question to what each round cost and gave."""


def _job(connection: duckdb.DuckDBPyConnection, folder: Path) -> str:
    """What peers are told; with it, orders and line items in files, each row with its customer."""
    joined = {"orders": "orders", "lineitem": "lineitem JOIN orders ON l_orderkey = o_orderkey"}
    files = {}
    for table, source in joined.items():
        files[table] = str(folder / f"{table}.parquet")
        own = {"o_custkey": "bigint", **COLUMNS[table]}  # Tumult reads no decimals
        named = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in own.items())
        connection.execute(f"COPY (SELECT {named} FROM {source}) TO '{files[table]}'")  # noqa: S608
    sizes = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in COLUMNS}  # noqa: S608
    asked = [{**vars(question), "sql": question.sql} for question in QUESTIONS]
    told = {"questions": asked, "files": files, "sizes": sizes, "columns": COLUMNS}
    return json.dumps({**told, "rounds": ROUNDS, "most": MOST, "high": HIGH})


def _cells(rows: list[tuple[object, ...]]) -> dict[tuple[str, ...], float]:
    return {tuple(map(str, row[:-1])): float(str(row[-1])) for row in rows}


def _ours(file: Path, ledger: Path, delta: str) -> Answers:
    options = {"privacy_unit": "customer.c_custkey", "links": LINKS, "public": PUBLIC, "rows_per_unit": MOST}
    found: Answers = {}
    with ln.open(file, **options, groups_per_unit=1000, budget=(15, "1e-4"), ledger=ledger) as shop:
        for question in QUESTIONS:
            rows = shop[question.table]
            options = {"where": question.where or None} | ({"keys": question.keys} if question.keys else {})
            for _ in range(ROUNDS):
                started = time.process_time()
                if question.summed:
                    release = rows.sum(question.summed, (0, HIGH), step=1, **options).release(1, delta)
                else:
                    release = rows.count(**options).release(1, delta)
                spent = time.process_time() - started
                if question.keys:
                    columns = [*(release.table[name] for name in question.keys), release.table["value"]]
                    answer = _cells(list(zip(*columns, strict=True)))
                else:
                    answer = {(): float(release.value)}
                found.setdefault(question.name, []).append((spent, answer))
    return found


def _tumult(job: str) -> Answers:
    told = run_in_venv("Tumult Analytics", VENVS / "tumult", ("tmlt.analytics==0.21.0",), _TUMULT, job)
    found: Answers = {}
    for name, spent, cells in json.loads(told.rpartition("answers")[2]) if told else []:
        found.setdefault(name, []).append((spent, {tuple(key): float(n) for key, n in cells}))
    return found


def _qrlew(job: str, connection: duckdb.DuckDBPyConnection) -> Answers:
    """Its SQL, written in its environment and run here."""
    told = run_in_venv("pyqrlew", VENVS / "qrlew", ("pyqrlew==0.9.27",), _QRLEW, job)
    found: Answers = {}
    for name, text in (json.loads(told.rpartition("answers")[2]) if told else {}).items():
        for _ in range(ROUNDS):
            started = time.process_time()
            rows = connection.execute(text).fetchall()
            found.setdefault(name, []).append((time.process_time() - started, _cells(rows)))
    return found


def _error(rounds: list[tuple[float, dict[tuple[str, ...], float]]], truth: dict[tuple[str, ...], float]) -> float:
    return fmean(abs(n - truth.get(key, 0)) for _, cells in rounds for key, n in cells.items())


def _row(name: str, peer: str, ours: list, theirs: list, truth: dict[tuple[str, ...], float]) -> Row:  # type: ignore[type-arg]
    mine, others = (median(spent for spent, _ in rounds) for rounds in (ours, theirs))
    errors = [_error(rounds, truth) for rounds in (ours, theirs)]
    return {
        "name": f"{name}: mean error {errors[0]:,.0f} against {errors[1]:,.0f} (CPU)",
        "ours_seconds": mine,
        "peer": peer,
        "peer_seconds": others,
        "ratio": others / mine,
        "errors": errors,
    }


if __name__ == "__main__":
    for row in run():
        print(f"{row['name']:75} {row['ours_seconds']:8.3f} {row['peer']:18} {row['peer_seconds']:8.3f}")
