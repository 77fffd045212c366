"""Private counts by 1000 public groups over 10⁷ rows, at most 2 groups × 1 row per user, beside three peers.

OpenDP's Context (on Polars), Tumult Analytics (on Spark, two cores) and PipelineDP (local backend) do the same job on
the same Parquet file, each in a venv of its own under .venvs/, made here on first use; one that can't be installed or
run is said to be left out. What counts is CPU seconds of the job with all its processes, the Java machine too, from the
file to the noisy table; starting Python and the engine is not counted. One round each, ours the median of three: the
peers take minutes.

OpenDP 0.16 is asked for `keep="first"`, since its random choice of groups ends in an error on this query; its rank
filter then keeps one group where it was told two, which spares it work.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.measure import Row

__all__ = ["VENVS", "run", "run_in_venv"]

ROWS, UNITS, GROUPS = 10**7, 10**6, 1000
VENVS = Path(__file__).parents[1] / ".venvs"
ROUNDS = 3

# The CPU seconds of this process and all that it started and that still run.
_CLOCK = """
import os, sys
from pathlib import Path

def cpu():
    ticks, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks[int(stat.parent.name)] = sum(map(int, fields[11:15]))
        parents[int(stat.parent.name)] = int(fields[1])
    mine, grown = {os.getpid()}, True
    while grown:
        more = {child for child, parent in parents.items() if parent in mine} - mine
        mine, grown = mine | more, bool(more)
    return sum(ticks[process] for process in mine) / os.sysconf("SC_CLK_TCK")

def report(started, table):
    assert len(table) == 1000, len(table)
    print("cpu seconds", cpu() - started)
"""

_OPENDP = """
import warnings
import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore")
dp.enable_features("contrib")
started = cpu()
context = dp.Context.compositor(
    data=pl.scan_parquet(sys.argv[1]),
    privacy_unit=dp.unit_of(contributions=1, identifier="unit"),
    privacy_loss=dp.loss_of(epsilon=1.0),
    split_evenly_over=1,
    margins=[dp.polars.Margin(by=(), max_length=10**7)],
)
query = context.query().truncate_per_group(1, by=["g"]).truncate_num_groups(2, by=["g"], keep="first")
query = query.group_by("g").agg(dp.len()).with_keys(pl.LazyFrame({"g": list(range(1000))}))
report(started, query.release().collect())
"""

_TUMULT = """
from pyspark.sql import SparkSession
from tmlt.analytics import AddRowsWithID, KeySet, MaxGroupsPerID, MaxRowsPerGroupPerID
from tmlt.analytics import PureDPBudget, QueryBuilder, Session

os.environ["PYSPARK_PYTHON"] = sys.executable
settings = {"spark.driver.memory": "6g", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "8"}
spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
started = cpu()
frame = spark.read.parquet(sys.argv[1])
session = Session.from_dataframe(PureDPBudget(1), "visits", frame, protected_change=AddRowsWithID("unit"))
query = QueryBuilder("visits").enforce(MaxGroupsPerID("g", 2)).enforce(MaxRowsPerGroupPerID("g", 1))
query = query.groupby(KeySet.from_dict({"g": list(range(1000))})).count()
report(started, session.evaluate(query, PureDPBudget(1)).collect())
"""

_PIPELINE_DP = """
import pipeline_dp
import pyarrow.parquet

started = cpu()
table = pyarrow.parquet.read_table(sys.argv[1])
rows = list(zip(table["unit"].to_pylist(), table["g"].to_pylist()))
budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=0)
parameters = pipeline_dp.AggregateParams(
    metrics=[pipeline_dp.Metrics.COUNT],
    noise_kind=pipeline_dp.NoiseKind.LAPLACE,
    max_partitions_contributed=2,
    max_contributions_per_partition=1,
)
extractors = pipeline_dp.DataExtractors(
    privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1], value_extractor=lambda row: 0
)
engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
answer = engine.aggregate(rows, parameters, extractors, public_partitions=list(range(1000)))
budget.compute_budgets()
report(started, list(answer))
"""

PEERS = (
    ("OpenDP Context", "opendp", ("opendp[polars]==0.16.0",), _OPENDP, 6),
    ("Tumult Analytics", "tumult", ("tmlt.analytics==0.21.0",), _TUMULT, 10),
    ("PipelineDP", "pipeline-dp", ("pipeline-dp==0.3.1", "pyarrow>=15"), _PIPELINE_DP, 10),
)


def run() -> list[Row]:
    """Ours and each peer, in CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "visits.parquet"
        _write(file)
        ours = median(_ours(file, Path(folder) / f"ledger{number}") for number in range(ROUNDS))
        rows: list[Row] = []
        for peer, venv, packages, script, target in PEERS:
            seconds = _peer_seconds(peer, VENVS / venv, packages, script, file)
            if seconds is not None:
                rows.append(
                    {
                        "name": "count by 1000 groups, 10⁷ rows, ≤ 2 groups × 1 row per user (CPU s)",
                        "ours_seconds": ours,
                        "peer": peer,
                        "peer_seconds": seconds,
                        "ratio": seconds / ours,
                        "target": target,
                    }
                )
    return rows


def _write(file: Path) -> None:
    """Ten rows per user on average, in uniform groups: nearly as many (user, group) pairs as rows."""
    import duckdb

    columns = f"CAST(hash(i) % {UNITS} AS BIGINT) AS unit, CAST(hash(i + {ROWS}) % {GROUPS} AS BIGINT) AS g"
    with duckdb.connect() as connection:
        connection.sql(f"SELECT {columns} FROM range({ROWS}) AS t(i)").write_parquet(str(file))  # noqa: S608


def _ours(file: Path, ledger: Path) -> float:
    """From the file to the noisy table, with the debit in the ledger."""
    from leastnoise.release import open as open_dataset

    started = time.process_time()
    with open_dataset(file, privacy_unit="unit", budget=1, ledger=ledger, groups_per_unit=2) as visits:
        release = visits.count(by="g", keys=range(GROUPS)).release(epsilon=1)
    seconds = time.process_time() - started
    if len(release.table) != GROUPS:
        raise AssertionError("every key has its count")
    return seconds


def _peer_seconds(peer: str, venv: Path, packages: tuple[str, ...], script: str, file: Path) -> float | None:
    """What the job costs the peer; None if it cannot be had."""
    told = run_in_venv(peer, venv, packages, script, str(file))
    return None if told is None else float(told.rpartition("cpu seconds")[2])


def run_in_venv(peer: str, venv: Path, packages: tuple[str, ...], script: str, argument: str) -> str | None:
    """What a script prints in an environment of its own, made on first use; None if the peer cannot be had."""
    python = venv / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True, capture_output=True)
        command = [str(python), "-c", _CLOCK + script, argument]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=1800).stdout
    except (OSError, subprocess.SubprocessError) as problem:
        print(f"{peer} is left out: {getattr(problem, 'stderr', None) or problem}")
        return None
