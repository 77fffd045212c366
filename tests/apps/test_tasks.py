"""Ordinary tasks on six tables, each tried as somebody would who is new here: from Python, then from the command line.

The tables are made up after public ones: penguins, taxi rides, hospital visits, a census, a survey with awkward names
and encodings, a shop with two tables. Prices are so high that answers are near the truth: a task is done if its answer
is right, or if what cannot be answered is refused with a hint that names the way out.
"""

import csv
import json
import random
import warnings
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import leastnoise as ln
from leastnoise.errors import LeastNoiseError

MUCH = ln.Privacy(40, insist=True)
UNLISTED = ln.Privacy(40, "1e-6", insist=True)  # where keys are not listed
SPECIES, ISLANDS = ["Adelie", "Chinstrap", "Gentoo"], ["Biscoe", "Dream", "Torgersen"]
REGIONS = ["North", "South", "East, far", 'the "West"']


def near(found, truth, far=0.02):
    """Within some percent, or three."""
    return abs(found - truth) <= max(far * abs(truth), 3)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The six tables, as people keep them: CSV, Parquet, data frames, a database."""
    folder, dice = tmp_path_factory.mktemp("tasks"), random.Random(4)
    penguins = [
        {
            "species": SPECIES[i % 3],
            "island": dice.choice(ISLANDS),
            "mass": round(dice.gauss(4200, 700)) if i % 40 else None,
            "bill": round(dice.gauss(44, 5), 1),
        }
        for i in range(900)
    ]
    with (folder / "penguins.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(penguins[0]))
        writer.writeheader()
        writer.writerows(penguins)
    start = datetime(2025, 1, 1, tzinfo=UTC)
    rides = pd.DataFrame(
        {
            "driver": np.arange(4000) % 500,
            "pickup": pd.to_datetime([start + timedelta(hours=2 * i) for i in range(4000)]),
            "fare": [round(dice.lognormvariate(2.5, 0.6), 2) for _ in range(4000)],
            "tip": [round(dice.uniform(0, 5), 2) for _ in range(4000)],
            "cash": [i % 4 == 0 for i in range(4000)],
        }
    )
    assert str(rides["pickup"].dtype) == "datetime64[ns, UTC]"
    visits = [
        {"patient": p, "ward": dice.choice("ABCDEFGH"), "days": dice.randint(1, 30), "code": f"Z{dice.randint(0, 40)}"}
        for p in range(600)
        for _ in range(1 + p % 5)
    ]
    pq.write_table(pa.Table.from_pylist(visits), folder / "visits.parquet")
    census = pl.DataFrame(
        {
            "age": [dice.randint(17, 90) for _ in range(3000)],
            "sex": [dice.choice(["f", "m"]) for _ in range(3000)],
            "work": [dice.choice(["private", "public", "self", "none"]) for _ in range(3000)],
            "hours": [dice.choice([20, 35, 40, 60]) for _ in range(3000)],
            "gain": [dice.choice([0, 0, 0, 5000, 15000]) for _ in range(3000)],
            "rich": [dice.random() < 0.25 for _ in range(3000)],
        }
    )
    answers = ["date,timestamp,région,note"]
    answers += [f'2025-0{1 + i % 9}-15,2025-01-01 {i % 24:02}:00:00,"{r}",é' for i in range(400) for r in quoted()]
    (folder / "survey.csv").write_bytes(("\n".join(answers) + "\n").encode("latin-1"))
    (folder / "utf8.csv").write_text("\n".join(answers) + "\n", encoding="utf-8")
    (folder / "ragged.csv").write_text("a,b\n1,2\n3\n4,5,6\n")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("a,b\n")
    with duckdb.connect(str(folder / "shop.duckdb")) as shop:
        shop.execute("CREATE TABLE customers AS SELECT i AS id, 'c' || (i % 3) AS town FROM range(300) t(i)")
        shop.execute(
            "CREATE TABLE orders AS SELECT i AS number, i % 300 AS customer_id, (i % 50)::DECIMAL(9,2) AS amount, "
            "DATE '2025-01-01' + (i % 90)::INT AS day FROM range(1500) t(i)"
        )
    return SimpleNamespace(folder=folder, penguins=penguins, rides=rides, visits=visits, census=census)


def quoted():
    return [region.replace('"', '""') for region in REGIONS]


@pytest.fixture(scope="module")
def opened(made):
    """All of them opened; each has a budget that is never short."""
    keep = {"budget": ln.Privacy(10**6, "1/2", insist=True), "ledger": made.folder / "ledger"}
    survey = {"date": "date", "timestamp": "timestamp"}
    with (
        ln.open(made.folder / "penguins.csv", columns={"mass": "integer", "bill": "real"}, **keep) as penguins,
        ln.open(made.rides, name="rides", privacy_unit="driver", **keep) as rides,
        ln.open(made.folder / "visits.parquet", privacy_unit="patient", **keep) as visits,
        ln.open(made.census, name="census", **keep) as census,
        ln.open(made.folder / "utf8.csv", columns=survey, **keep) as survey,
        ln.open(
            made.folder / "shop.duckdb",
            links={"orders.customer_id": "customers.id"},
            privacy_unit="customers.id",
            name="shop",
            **keep,
        ) as shop,
    ):
        yield SimpleNamespace(
            penguins=penguins, rides=rides, visits=visits, census=census, survey=survey, shop=shop, made=made
        )


def released(query):
    return query.release(MUCH)


def found(query):
    return query.release(UNLISTED)


def masses(o):
    return sorted(row["mass"] for row in o.made.penguins if row["mass"] is not None)


def column(o, name):
    return o.made.census[name]


def fares(o):
    return o.made.rides["fare"]


def table_of(query, *names):
    """The columns of the released table as a dict from keys to value."""
    table = released(query).table
    return dict(zip(zip(*(table[name] for name in names), strict=True), table["value"], strict=True))


TASKS = {
    # counting
    "count all": lambda o: near(released(o.penguins.count()).value, 900),
    "count some": lambda o: near(released(o.penguins.count(where="island = 'Dream'")).value, 300, 0.3),
    "count by known groups": lambda o: near(
        table_of(o.penguins.count(by="species", keys=SPECIES), "species")[("Gentoo",)], 300
    ),
    "a group that nobody is in": lambda o: near(
        table_of(o.penguins.count(by="species", keys=["Emperor"]), "species")[("Emperor",)], 0
    ),
    "count by two columns": lambda o: (
        len(released(o.penguins.count(keys={"species": SPECIES, "island": ISLANDS})).table) == 9
    ),
    "count people, not rows": lambda o: near(released(o.visits.count()).value, 600),
    "count rows": lambda o: near(released(o.visits.count(rows_per_unit=5)).value, len(o.made.visits)),
    "it says what was counted": lambda o: "each patient once" in str(o.visits.count().plan(1)),
    "it says so with rows, too": lambda o: (
        "at most 5 rows of each patient" in str(released(o.visits.count(rows_per_unit=5)))
    ),
    "it says so with private bounds": lambda o: (
        "every row" in (shown := str(released(o.census.sum("hours", bounds="private")))) and "None" not in shown
    ),
    "it says so with private limits": lambda o: (
        "as many rows of each patient as the table says" in str(released(o.visits.count(rows_per_unit="private")))
    ),
    "it says so with rows by unknown keys": lambda o: (
        "at most 5 rows of each patient" in str(found(o.visits.count(by="ward", rows_per_unit=5)))
        and "each patient once" in str(found(o.visits.count(by="ward")))
    ),
    "rows where every row is a unit": lambda o: all(
        "units" not in str(found(ask))
        for ask in (
            o.penguins.count(by="species"),
            o.penguins.most_common(2, by="species"),
            o.penguins.decision(at_least=9),
            o.penguins.mean("bill", bounds=(20, 70), by="island"),
        )
    ),
    "nothing to show says so": lambda o: (
        "nothing was common enough"
        in str(o.penguins.most_common(2, by="mass", where="mass IS NOT NULL").release(1, "1e-9"))
    ),
    "how sure a decision is": lambda o: (
        "right with probability" in (shown := str(o.penguins.decision(at_least=9).release(1)))
        and "zero-one" not in shown
    ),
    "people by ward": lambda o: near(
        sum(table_of(o.visits.count(by="ward", keys=list("ABCDEFGH"), groups_per_unit=5), "ward").values()),
        len({(row["patient"], row["ward"]) for row in o.made.visits}),
    ),
    "groups per person unknown": lambda o: (
        released(o.visits.count(by="ward", keys=list("ABCDEFGH"), groups_per_unit="private")).table["groups_per_unit"][
            0
        ]
        in (4, 8)
    ),
    "rows per person unknown": lambda o: near(
        released(o.visits.count(rows_per_unit="private")).value, len(o.made.visits)
    ),
    "count by age bins": lambda o: near(
        sum(released(o.census.count(bins={"age": [0, 30, 65, 120]})).table["value"]), 3000
    ),
    "count by month": lambda o: (
        len(released(o.rides.count(by="pickup", bins="months from 2025-01 to 2025-11")).table) == 11
    ),
    "count by hour of the day": lambda o: (
        len(released(o.rides.with_columns({"hour": "hour(pickup)"}).count(by="hour", keys=range(24))).table) == 24
    ),
    "count by quarter": lambda o: (
        len(released(o.rides.count(by="pickup", bins="quarters from 2025-01 to 2025-12")).table) == 4
    ),
    "count by day": lambda o: (
        len(released(o.shop["orders"].count(by="day", bins="days from 2025-01-01 to 2025-01-31")).table) == 31
    ),
    "groups that I do not know": lambda o: set(found(o.penguins.count(by="species")).table["species"]) == set(SPECIES),
    "and everything else": lambda o: len(found(o.visits.count(by="code", rest=True)).table) > 30,
    "count different values": lambda o: near(released(o.census.count_distinct("work")).value, 4),
    "the most common key": lambda o: released(o.census.most_common(by="rich", keys=[True, False])).value is False,
    "top five without a list": lambda o: len(found(o.visits.most_common(5, by="code")).table) == 5,
    "top two of a list": lambda o: len(released(o.penguins.most_common(2, by="island", keys=ISLANDS)).table) == 2,
    # numbers
    "a sum": lambda o: near(released(o.penguins.sum("mass", bounds=(2000, 7000))).value, sum(masses(o))),
    "a mean": lambda o: near(released(o.penguins.mean("mass", bounds=(2000, 7000))).value, np.mean(masses(o))),
    "a mean by group": lambda o: (
        len(released(o.penguins.mean("mass", bounds=(2000, 7000), by="species", keys=SPECIES)).table) == 3
    ),
    "a mean by unknown groups": lambda o: len(found(o.penguins.mean("bill", bounds=(20, 70), by="island")).table) == 3,
    "two means at once": lambda o: (
        len(released(o.census.mean(["age", "hours"], bounds={"age": (0, 120), "hours": (0, 80)})).releases) == 2
    ),
    "the mean of a yes or no": lambda o: abs(released(o.census.mean("rich")).value - column(o, "rich").mean()) < 0.02,
    "a proportion": lambda o: (
        abs(released(o.census.proportion("age >= 65")).value - (column(o, "age") >= 65).mean()) < 0.02
    ),
    "a proportion by group": lambda o: (
        len(released(o.census.proportion("hours >= 40", by="sex", keys=["f", "m"])).table) == 2
    ),
    "a ratio of two sums": lambda o: (
        abs(
            released(o.rides.ratio("tip", "fare", bounds={"tip": (0, 5), "fare": (0, 60)})).value
            - o.made.rides["tip"].sum() / fares(o).sum()
        )
        < 0.05
    ),
    "a ratio of a yes or no": lambda o: (
        abs(released(o.rides.ratio("cash", "fare", bounds={"fare": (0, 60)})).value - 1000 / fares(o).sum()) < 0.005
    ),
    "a proportion by unknown groups": lambda o: len(found(o.census.mean("rich", by="work")).table) == 4,
    "a mean, groups per person unknown": lambda o: (
        released(
            o.visits.mean("days", bounds=(0, 30), by="ward", keys=list("ABCDEFGH"), groups_per_unit="private")
        ).table["groups_per_unit"][0]
        in (4, 8)
    ),
    "a variance": lambda o: near(
        released(o.census.variance("hours", bounds=(0, 80))).value, column(o, "hours").to_numpy().var(), 0.05
    ),
    "a standard deviation": lambda o: near(
        released(o.census.deviation("age", bounds=(0, 120))).value, column(o, "age").to_numpy().std(), 0.05
    ),
    "a sum of money": lambda o: near(
        released(o.shop["orders"].sum("amount", bounds=(0, 50), rows_per_unit=5)).value, 36750
    ),
    "a sum without bounds": lambda o: near(
        released(o.census.sum("hours", bounds="private")).value, column(o, "hours").sum()
    ),
    "a mean without bounds": lambda o: near(
        released(o.census.mean("age", bounds="private")).value, column(o, "age").mean(), 0.05
    ),
    "a mean says how far off it is": lambda o: 0 < released(o.census.mean("age", bounds=(0, 120))).error_within < 0.1,
    # quantiles
    "a median": lambda o: near(released(o.penguins.median("mass", bounds=(2000, 7000))).value, np.median(masses(o))),
    "a median by group": lambda o: (
        len(released(o.penguins.median("mass", bounds=(2000, 7000), by="species", keys=SPECIES)).table) == 3
    ),
    "quartiles": lambda o: np.allclose(
        released(o.rides.quantile("fare", [0.25, 0.5, 0.75], bounds=(0, 100), rows_per_unit=8)).table["value"],
        np.quantile(fares(o), [0.25, 0.5, 0.75]),
        rtol=0.05,
    ),
    "a median without bounds": lambda o: near(
        released(o.penguins.median("mass", bounds="private")).value, np.median(masses(o)), 0.03
    ),
    "the median of money without bounds": lambda o: (
        abs(released(o.rides.median("fare", bounds="private", rows_per_unit=8)).value - fares(o).median()) < 0.6
    ),
    "minimum, median and maximum": lambda o: near(
        released(o.census.quantile("age", [0, 0.5, 1], bounds=(0, 120))).table["value"][2], 90, 0.03
    ),
    "the minimum": lambda o: near(released(o.census.min("age", bounds=(0, 120))).value, 17, 0.2),
    "the maximum": lambda o: near(released(o.census.max("age", bounds=(0, 120))).value, 90, 0.03),
    "the maximum by group": lambda o: (
        len(released(o.penguins.max("mass", bounds=(2000, 7000), by="species", keys=SPECIES)).table) == 3
    ),
    "an interval in grams": lambda o: (lambda ends: ends[0] <= np.median(masses(o)) <= ends[1])(
        released(o.penguins.median("mass", bounds=(2000, 7000), interval_share="1/2")).interval()
    ),
    "deciles": lambda o: (
        len(released(o.census.quantile("age", [Fraction(k, 10) for k in range(1, 10)], bounds=(0, 120))).table) == 9
    ),
    # many answers
    "how many below each edge": lambda o: (
        len(released(o.census.workload("prefix sums", bins={"age": [0, 20, 40, 60, 80, 100]})).table) == 5
    ),
    "all two-way tables": lambda o: (
        len(released(o.census.tables(["sex", "rich"], 2, keys={"sex": ["f", "m"]})).table) > 3
    ),
    "several questions under one price": lambda o: (
        len(o.census.batch([o.census.count(), o.census.mean("age", bounds=(0, 120))]).release(MUCH).releases) == 2
    ),
    "who is ahead": lambda o: released(o.census.decision(by="rich", keys=[True, False])).value is not None,
    "are there enough": lambda o: released(o.census.decision(at_least=100)).value is not None,
    "SQL": lambda o: near(
        o.census.sql("SELECT COUNT(*) AS n FROM census WHERE age >= 65").release(MUCH).to_arrow()["n"][0].as_py(),
        (column(o, "age") >= 65).sum(),
    ),
    # several tables and derived columns
    "rows of a table that leads to the person": lambda o: near(
        released(o.shop["orders"].count(rows_per_unit=5)).value, 1500
    ),
    "orders by the town of their customer": lambda o: near(
        sum(
            table_of(
                o.shop["orders"].count(by="customers.town", keys=["c0", "c1"], rows_per_unit=5), "customers.town"
            ).values()
        ),
        1000,
    ),
    "a derived column": lambda o: near(
        released(o.census.with_columns({"old": "age >= 65"}).count(where="old")).value,
        (column(o, "age") >= 65).sum(),
    ),
    "one row per person": lambda o: near(
        released(o.visits.per_unit({"stays": "count(*)"}).count(where="stays >= 3")).value, 360
    ),
    # prices
    "what a wanted error costs": lambda o: o.penguins.count().price(error=10).price is not None,
    "a price in rho": lambda o: o.penguins.count().plan(rho="1/2") is not None,
    "what is left": lambda o: o.penguins.left.epsilon > 0,
    "a plan is free": lambda o: (
        lambda before: o.penguins.count().plan(1) is not None and o.penguins.left.epsilon == before
    )(o.penguins.left.epsilon),
    # what comes back
    "another confidence": lambda o: (
        lambda answer: answer.interval(confidence=0.5)[1] <= answer.interval(confidence=0.99)[1]
    )(o.penguins.count().release(1)),
    "to CSV": lambda o: released(o.penguins.count(by="species", keys=SPECIES)).to_csv().startswith("species,value"),
    "to a CSV file": lambda o: _written(o, "csv"),
    "to a Parquet file": lambda o: _written(o, "parquet"),
    "to pandas": lambda o: len(released(o.penguins.count(by="species", keys=SPECIES)).to_pandas()) == 3,
    "to polars": lambda o: len(released(o.penguins.count(by="species", keys=SPECIES)).to_polars()) == 3,
    "to Arrow": lambda o: len(released(o.penguins.count(by="species", keys=SPECIES)).to_arrow()) == 3,
    "to JSON": lambda o: "value" in json.dumps(released(o.penguins.count()).to_dict()),
    "in a notebook": lambda o: "<table" in released(o.penguins.count())._repr_html_(),
    "a picture": lambda o: _written(o, "svg"),
    "a picture in a notebook": lambda o: _shown_inline(o),
    "a decision as a picture": lambda o: _drawn(released(o.census.decision(at_least=100))),
    "the same again costs nothing": lambda o: (
        lambda first: o.penguins.count().release(1, request_id="t").value == first
    )(o.penguins.count().release(1, request_id="t").value),
    "short numbers": lambda o: all(
        len(word) < 40 for word in str(o.penguins.count().plan(Fraction(10**250 + 1, 3 * 10**250))).split()
    ),
    # awkward names and values
    "a filter on a column named date": lambda o: near(
        released(o.survey.count(where="date >= '2025-05-01'")).value, 880, 0.05
    ),
    "a filter on a column named timestamp": lambda o: near(
        released(o.survey.count(where="timestamp < '2025-01-01 12:00:00'")).value, 800, 0.05
    ),
    "keys with commas and quotes": lambda o: near(
        sum(released(o.survey.count(by="région", keys=REGIONS)).table["value"]), 1600
    ),
    "a filter on a quote": lambda o: near(released(o.survey.count(where="région = 'the \"West\"'")).value, 400),
    "a time zone of pandas": lambda o: o.rides.columns["pickup"] == "timestamp",
    "a filter on time": lambda o: near(
        released(o.rides.count(where="pickup < '2025-02-01'", rows_per_unit=8)).value, 372
    ),
    "a ragged file": lambda o: _ragged(o) in (2, 3),
    "a file with nothing but names": lambda o: near(_rows_of(o, "header.csv"), 0),
    "missing values": lambda o: near(released(o.penguins.count(where="mass IS NULL")).value, 23, 0.2),
}


def _rows_of(o, file):
    with ln.open(o.made.folder / file, budget=MUCH, ledger=o.made.folder / f"{file}.ledger") as opened:
        return released(opened.count()).value


def _ragged(o):
    return _rows_of(o, "ragged.csv")


def _written(o, ending):
    place, answer = o.made.folder / f"answer.{ending}", released(o.penguins.count(by="species", keys=SPECIES))
    {"csv": answer.to_csv, "parquet": answer.to_parquet, "svg": answer.plot}[ending](place)
    return place.stat().st_size > 0


def _drawn(answer):
    figure = answer.plot()
    return figure is not None


def _shown_inline(o):
    """A figure shows itself, without any magic."""
    figure = released(o.penguins.count(by="species", keys=SPECIES)).plot()
    return hasattr(figure, "_repr_html_") or hasattr(figure, "_repr_png_") or hasattr(figure, "_repr_svg_")


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_a_task_in_python(opened, task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TASKS[task](opened)


REFUSALS = {  # what is refused, and what the message must say
    "text in double quotes": (lambda o: o.penguins.count(where='island = "Dream"'), "'Dream'"),
    "a latin-1 file": (lambda o: ln.open(o.made.folder / "survey.csv", budget=1).count(), "UTF-8"),
    "an empty file": (lambda o: ln.open(o.made.folder / "empty.csv", budget=1), "empty|header|column"),
    "a misspelt column": (lambda o: o.penguins.mean("mas", bounds=(0, 9)), "mass"),
    "a sum without bounds": (lambda o: o.penguins.sum("mass"), "bounds"),
    "an interval that nobody pays for": (
        lambda o: o.penguins.median("mass", bounds=(2000, 7000), interval_confidence=0.9),
        "interval_share",
    ),
    "an interval that was not paid for": (
        lambda o: released(o.penguins.median("mass", bounds=(2000, 7000))).interval(confidence=0.9),
        "interval_share",
    ),
    "a limit where every row is a unit": (lambda o: o.penguins.count(rows_per_unit=3), "privacy_unit"),
    "keys that are not said": (lambda o: o.penguins.count(by="species").release(1), "delta|δ"),
    "the mean of a text": (lambda o: o.penguins.mean("species", bounds=(0, 1)), "number|text"),
    "too large a price": (lambda o: o.penguins.count().release(10**12), "budget|protects"),
    "an unknown option": (lambda o: o.penguins.count(boundz=1), "boundz"),
}


@pytest.mark.slow
@pytest.mark.parametrize("task", REFUSALS)
def test_a_refusal_names_the_way_out(opened, task):
    ask, says = REFUSALS[task]
    with pytest.raises((LeastNoiseError, TypeError), match=says):
        ask(opened)


COMMANDS = {
    "what is in the file": ["schema", "penguins.csv"],
    "which tables there are": ["tables", "shop.duckdb"],
    "a free plan": ["plan", "penguins.csv", "count", "--epsilon", "1"],
    "a count": ["release", "penguins.csv", "count", "--epsilon", "1"],
    "by keys with commas": ["release", "penguins.csv", "count", "--by", "species", "--keys", "Adelie,Gentoo"],
    "a quoted comma": ["release", "utf8.csv", "count", "--by", "région", "--keys", 'North,"East, far"'],
    "keys that nobody listed": ["release", "penguins.csv", "count", "--by", "species", "--delta", "1e-6"],
    "bins": [
        "release",
        "penguins.csv",
        "--column",
        "mass=integer",
        "count",
        "--by",
        "mass",
        "--bins",
        "2000,4000,6000",
    ],
    "a median": ["release", "penguins.csv", "--column", "mass=integer", "median", "mass", "--bounds", "2000,7000"],
    "without bounds": ["release", "penguins.csv", "--column", "mass=integer", "median", "mass", "--bounds", "private"],
    "extremes": [
        "release",
        "visits.parquet",
        "--unit",
        "patient",
        "quantile",
        "days",
        "--bounds",
        "0,60",
        "--level",
        "0,0.5,1",
    ],
    "private groups": [
        "release",
        "visits.parquet",
        "--unit",
        "patient",
        "count",
        "--by",
        "ward",
        "--keys",
        "A,B,C",
        "--groups-per-unit",
        "private",
    ],
    "private rows": ["release", "visits.parquet", "--unit", "patient", "count", "--rows-per-unit", "private"],
    "two means at once": [
        *["release", "penguins.csv", "--column", "mass=integer", "--column", "bill=real", "mean", "mass,bill"],
        *["--bounds", "mass=2000,7000", "--bounds", "bill=20,70", "--format", "csv"],
    ],
    "the price of two means": [
        *["price", "penguins.csv", "--column", "mass=integer", "--column", "bill=real", "mean", "mass", "bill"],
        *["--bounds", "mass=2000,7000", "--bounds", "bill=20,70", "--expected-rows", "900", "--error", "5"],
    ],
    "a ratio": [
        *["release", "penguins.csv", "--column", "mass=integer", "--column", "bill=real", "ratio", "mass", "bill"],
        *["--bounds", "mass=2000,7000", "--bounds", "bill=20,70"],
    ],
    "distinct values": ["release", "visits.parquet", "--unit", "patient", "count-distinct", "code"],
    "a proportion": ["release", "visits.parquet", "--unit", "patient", "proportion", "days > 14"],
    "as CSV": ["release", "penguins.csv", "count", "--by", "species", "--keys", "Adelie,Gentoo", "--format", "csv"],
    "as JSON": ["release", "penguins.csv", "count", "--format", "json"],
    "the price of an error": ["price", "penguins.csv", "count", "--error", "10"],
    "SQL": ["sql", "penguins.csv", "SELECT COUNT(*) AS n FROM penguins"],
    "what is left": ["budget"],
}


@pytest.mark.slow
@pytest.mark.parametrize("task", COMMANDS)
def test_a_task_on_the_command_line(made, command, task):
    words = COMMANDS[task]
    if words[0] in ("release", "plan", "sql") and "--epsilon" not in words:
        words = [*words, "--epsilon", "1"]
    if words[0] in ("release", "plan", "price", "sql"):
        words = [*words, *([] if "--unit" in words else ["--unit", "row"])]
    if words[0] in ("release", "sql"):
        words = [*words, "--budget", "15,1e-3"]
    done = command(made.folder, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
