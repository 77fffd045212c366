"""Tumult Analytics 0.21, on Spark on this machine.

Spark needs seconds for any question. So a number is asked for of many copies of the table at once, each copy a group of
its own: the groups are disjoint, and each answer has the law that a question about one table has.
"""

import os
import sys
import warnings

os.environ["PYSPARK_PYTHON"] = sys.executable
warnings.simplefilter("ignore")

import pandas as pd  # noqa: E402
from answering import answer  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from tmlt.analytics import (  # noqa: E402
    AddOneRow,
    AddRowsWithID,
    ApproxDPBudget,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

SETTINGS = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1", "spark.driver.memory": "2g"}
SPARK = SparkSession.builder.master("local[1]").config(map=SETTINGS).getOrCreate()
SPARK.sparkContext.setLogLevel("ERROR")
SLOW = 3
PURE, APPROXIMATE = PureDPBudget(float("inf")), ApproxDPBudget(float("inf"), 1)


def opened(frame, protected, budget=PURE):
    return Session.from_dataframe(budget, "t", SPARK.createDataFrame(frame), protected_change=protected)


def copies(given, job):
    """A session of as many copies as there are draws, and a question about each."""
    number = given["draws"][job]
    frame = pd.DataFrame({"age": given["ages"] * number, "copy": [i for i in range(number) for _ in given["ages"]]})
    return opened(frame, AddOneRow()), QueryBuilder("t").groupby(KeySet.from_dict({"copy": list(range(number))}))


def of_ages(job, ask, epsilon):
    def prepare(given):
        session, query = copies(given, job)
        return iter([float(row[1]) for row in session.evaluate(ask(query), PureDPBudget(epsilon)).collect()]).__next__

    return prepare


def listed(session, query, key, price):
    return lambda: [row[1] for row in sorted(session.evaluate(query, price).collect(), key=lambda row: row[key])]


def histogram(given):
    number, keys = given["draws"]["histogram"], sorted(set(given["educ"]))
    frame = pd.DataFrame({"k": given["educ"] * number, "copy": [i for i in range(number) for _ in given["educ"]]})
    query = QueryBuilder("t").groupby(KeySet.from_dict({"copy": list(range(number)), "k": keys})).count()
    found = {(row[0], row[1]): row[2] for row in opened(frame, AddOneRow()).evaluate(query, PureDPBudget(1)).collect()}
    return iter([[found[copy, key] for key in keys] for copy in range(number)]).__next__


def limited(groups):
    return QueryBuilder("t").enforce(MaxGroupsPerID("k", groups)).enforce(MaxRowsPerGroupPerID("k", 1))


def groups(price, whole):
    def prepare(given):
        frame = pd.DataFrame(given["members"], columns=["unit", "k"])
        session = opened(frame, AddRowsWithID("unit"), whole)
        keys = KeySet.from_dict({"k": sorted({group for _, group in given["members"]})})
        return listed(session, limited(given["groups"]).groupby(keys).count(), "k", price)

    return prepare


def unknown(name, most):
    def prepare(given):
        frame = pd.DataFrame(given[name], columns=["unit", "k"]).astype({"k": str})
        session = opened(frame, AddRowsWithID("unit"), APPROXIMATE)

        def shown():
            keys = session.evaluate(limited(most).get_groups(["k"]), ApproxDPBudget(0.5, 1e-6))
            query = limited(most).groupby(KeySet.from_dataframe(keys)).count()
            return {row["k"]: row[1] for row in session.evaluate(query, ApproxDPBudget(0.5, 0)).collect()}

        return shown

    return prepare


def deciles(given):
    session, query = copies(given, "deciles")
    found = [
        [row[1] for row in sorted(session.evaluate(asked, PureDPBudget(1 / 9)).collect(), key=lambda row: row["copy"])]
        for asked in (query.quantile("age", level / 10, low=18, high=100) for level in range(1, 10))
    ]
    return iter([list(map(float, answers)) for answers in zip(*found, strict=True)]).__next__


def top_by_counts(given):
    rows = [str(place) for place, score in enumerate(given["scores"]) for _ in range(score)]
    session = opened(pd.DataFrame({"k": rows}), AddOneRow())
    query = (
        QueryBuilder("t")
        .groupby(KeySet.from_dict({"k": [str(place) for place in range(len(given["scores"]))]}))
        .count()
    )

    def chosen():
        noisy = sorted(session.evaluate(query, PureDPBudget(0.1)).collect(), key=lambda row: -row[1])
        return [int(row["k"]) for row in noisy[: given["k"]]]

    return chosen


answer(
    {
        "count": of_ages("count", lambda query: query.count(), 0.1),
        "histogram": histogram,
        "groups": groups(PureDPBudget(1), PURE),
        "groups delta": groups(ApproxDPBudget(1, 1e-6), APPROXIMATE),
        "sum": of_ages("sum", lambda query: query.sum("age", low=18, high=100), 1),
        "mean": of_ages("mean", lambda query: query.average("age", low=18, high=100), 1),
        "median": of_ages("median", lambda query: query.median("age", low=18, high=100), 0.1),
        "deciles": deciles,
        "unknown 1": unknown("keys 1", 1),
        "unknown 5": unknown("keys 5", 5),
        "top, noisy counts": top_by_counts,
    },
    most=dict.fromkeys(("groups", "groups delta", "unknown 1", "unknown 5", "top"), SLOW),
)
