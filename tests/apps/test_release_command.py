"""`leastnoise plan` and `leastnoise release`: questions, answers, formats, and mistakes that cost nothing."""

import csv
import io
import json
import subprocess
import sys

import duckdb
import numpy as np
import pytest

from leastnoise.accounting import Ledger
from leastnoise.data.engines.duckdb import write_parquet

CITIES = ["Bonn", "Köln", "Ulm"]
PERSONS = 900


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """900 persons with two visits each, 300 in each city; half of all visits by members."""
    file = tmp_path_factory.mktemp("data") / "visits.parquet"
    person = np.repeat(np.arange(PERSONS), 2)
    write_parquet(
        {
            "person_id": person,
            "city": np.array(CITIES, dtype=object)[person % 3],
            "age": person % 90,
            "salary": (person % 100) * 1000.0,
            "member": person % 2 == 0,
            "visited": np.datetime64("2025-01-01T12:00:00.000000") + (person % 365).astype("timedelta64[D]"),
        },
        file,
    )
    return file


@pytest.fixture
def folder(tmp_path, table):
    """A fresh folder with the table in it."""
    (tmp_path / "visits.parquet").symlink_to(table)
    (tmp_path / "cities.txt").write_text("Bonn\nKöln\n\nUlm\nNowhere\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder, command):
    """The command line within this process, in that folder."""
    return lambda *arguments, **environment: command(folder, *arguments, **environment)


@pytest.fixture
def run_apart(folder):
    """The command line in a process of its own, in that folder."""
    return lambda *arguments: subprocess.run(
        [sys.executable, "-m", "leastnoise", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_example_of_the_manual(run_apart, folder):
    question = ("visits.parquet", "--unit", "person_id", "count", "--by", "city", "--keys-from", "cities.txt")
    plan = run_apart("plan", *question, "--epsilon", "0.5")
    assert plan.returncode == 0, plan.stderr
    assert "geometric mechanism" in plan.stdout
    assert "expected error  1.91903" in plan.stdout
    assert "no budget is granted yet" in plan.stdout
    assert sorted(path.name for path in folder.iterdir()) == ["cities.txt", "visits.parquet"], "a plan leaves nothing"
    refused = run_apart("release", *question, "--epsilon", "0.5")
    assert refused.returncode == 2
    assert "--budget 1" in refused.stderr
    release = run_apart("release", *question, "--epsilon", "0.5", "--budget", "1", "--format", "csv")
    assert release.returncode == 0, release.stderr
    rows = list(csv.DictReader(io.StringIO(release.stdout)))
    assert [row["city"] for row in rows] == ["Bonn", "Köln", "Ulm", "Nowhere"]
    assert all(abs(int(row["value"]) - 300) < 60 for row in rows[:3]), "e^-30 that it is further off"
    assert abs(int(rows[3]["value"])) < 60
    again = run_apart("release", *question, "--epsilon", "0.6")
    assert again.returncode == 2
    assert "0.5" in again.stderr, "the refusal says what still fits"
    assert "a query of at most ε = 0.5 still fits" in run_apart("plan", *question, "--epsilon", "0.5").stdout


@pytest.mark.slow
def test_a_request_id_gives_the_same_answer_for_nothing(run):
    question = ("visits.parquet", "--unit", "person_id", "count", "--epsilon", "0.5", "--request-id", "monday")
    first = run("release", *question, "--budget", "1", "--format", "json")
    second = run("release", *question, "--format", "json")
    assert json.loads(first.stdout)["rows"] == json.loads(second.stdout)["rows"]
    assert json.loads(second.stdout)["request_id"] == "monday"
    assert json.loads(second.stdout)["plan"]["left"]["epsilon"] == "1/2", "charged once"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("count", "--of", "units", "--where", "age >= 18 AND member"), "value"),
        (("count", "--by", "member"), "True"),
        (("count", "--by", "city", "--delta", "1e-6"), "Ulm"),
        (("count", "--by", "age", "--bins", "0,30,60,90"), "[60, 90]"),
        (("count", "--by", "city", "--by", "member", "--keys", "city=Bonn,Ulm"), "Bonn"),
        (("count", "--by", "city", "--key", "Paris, TX", "--key", "Bonn"), "Paris, TX"),
        (("sum", "salary", "--bounds", "0,100000", "--by", "city", "--keys", "Bonn,Ulm"), "Ulm"),
        (("mean", "salary", "--bounds", "0,100000"), "mean of salary"),
        (("variance", "age", "--bounds", "0,100"), "variance of age"),
        (("median", "age", "--bounds", "0,100", "--step", "1"), "median of age"),
        (
            ("median", "age", "--bounds", "0,100", "--by", "city", "--keys", "Lyon,Metz", "--expected-rows", "9"),
            "median of age by city (2)",
        ),
        (("quantile", "age", "--level", "0.1", "--level", "0.9", "--bounds", "0,100"), "0.9"),
        (("most-common", "city", "-k", "2", "--keys", "Bonn,Köln,Ulm"), "rank"),
        (("choose", "--option", "young: age < 10", "--option", "others: age >= 10"), "others"),
        (("ranges", "age", "--bins", "0,30,60,90"), "ranges"),
        (("prefix-sums", "age", "--bins", "0,30,60,90"), "prefix sums"),
        (("tables", "city", "member", "--keys", "city=Bonn,Ulm"), "one table"),
        (("decision", "--at-least", "5"), "at least 5"),
        (("decision", "city", "--keys", "Bonn,Ulm"), "which has most units"),
        (("design", "city", "--keys", "Bonn,Ulm", "--at-most", "3", "--prior", "8,4,2,1"), "designed for a prior"),
        (("count-distinct", "city", "--groups-per-unit", "2"), "different values of city"),
        (("count", "--of", "rows", "--rows-per-unit", "2"), "count of rows"),
        (("count", "--by", "city,member", "--keys", 'city=Bonn,"Paris, TX"'), "Paris, TX"),
        (("count", "--by", "visited", "--bins", "quarters from 2025 to 2025-12"), "2025-Q4"),
        (("count", "--by", "visited", "--bins", "2025-01-01,2025-07-01,2026-01-01"), "[2025-07-01, 2026-01-01)"),
        (("mean", "member"), "mean of member"),
        (("proportion", "age >= 65", "--by", "city", "--keys", "Bonn"), "proportion of age >= 65"),
        (("ratio", "salary", "age", "--bounds", "salary=0,100000", "--bounds", "age=0,90"), "salary per age"),
        (("deviation", "age", "--bounds", "0,100"), "standard deviation of age"),
        (("quantile", "age", "--level", "0.1,0.9", "--grid", "0,10,20,30"), "0.9"),
        (("choose", "city", "--keys", "Bonn,Ulm", "--sum-of", "age", "--bounds", "0,90"), "sum of age"),
        (("workload", "member", "--matrix", "1,1", "--matrix", "1,-1", "--name", "all,more"), "more"),
        (("tables", "city", "member", "--keys", "city=Bonn,Ulm", "--ways", "city", "--ways", "member"), "2 tables"),
        (("sorted-counts", "city", "--total", "1000", "--top", "4"), "rank"),
    ],
)
def test_every_question_is_answered(run, arguments, says):
    done = run("release", "visits.parquet", "--unit", "person_id", *arguments, "--epsilon", "2", "--budget", "3,1e-5")
    assert done.returncode == 0, done.stderr
    assert says in done.stdout
    assert "still fits" in done.stdout
    assert "--request-id r-" in done.stdout


def test_the_answer_is_drawn(run, folder):
    pytest.importorskip("matplotlib")
    question = (
        "visits.parquet",
        "--unit",
        "person_id",
        "count",
        "--by",
        "city",
        "--keys",
        "Bonn,Ulm",
        "--epsilon",
        "1",
    )
    done = run("release", *question, "--budget", "1", "--plot", "counts.svg")
    assert done.returncode == 0, done.stderr
    assert (folder / "counts.svg").stat().st_size > 1000


MISTAKES = [
    (("count",), "--unit COLUMN"),
    (("--unit", "persn_id", "count"), "person_id"),
    (("--unit", "person_id", "cuont"), "did you mean 'count'?"),
    (("--unit", "person_id", "count", "--by", "ctiy", "--keys", "Bonn"), "did you mean 'city'?"),
    (("--unit", "person_id", "count", "--by", "city"), "--keys city=A,B,C or --keys-from city=FILE, or --delta 1e-6"),
    (("--unit", "person_id", "sum", "salary", "--bounds", "0,9", "--by", "age"), "--bins age=0,10,20"),
    (("--unit", "person_id", "sum", "salary"), "sum salary --bounds 0,100"),
    (("--unit", "person_id", "sum", "slary", "--bounds", "0,1"), "did you mean 'salary'?"),
    (("--unit", "person_id", "sum"), "sum salary --bounds"),
    (("--unit", "person_id", "sum", "salary", "--bounds", "5"), "--bounds 0,100"),
    (("--unit", "person_id", "sum", "city", "--bounds", "0,1"), "no numbers"),
    (("--unit", "person_id", "count", "--bounds", "0,1"), "count takes no --bounds"),
    (("--unit", "person_id", "count", "--where", "aeg > 1"), "did you mean 'age'?"),
    (("--unit", "person_id", "count", "--where", "soundex(city) = 'x'"), "soundex"),
    (("--unit", "person_id", "count", "--by", "age", "--keys", "young"), "no integer"),
    (("--unit", "person_id", "count", "--by", "city", "--keys-from", "nowhere.txt"), "nowhere.txt"),
    (("--unit", "person_id", "count", "--keys", "city=Bonn,Ulm"), "add --by"),
    (("--unit", "person_id", "count", "--bins", "age=0,18"), "add --by"),
    (("--unit", "person_id", "count", "--by", "city", "--keys", "member=true"), "add --by member"),
    (("--unit", "person_id", "count", "--by", "city", "--keys", "Paris, TX"), "may be part of a key"),
    (("--unit", "person_id", "count", "--by", "age", "--bins", "0,18", "--bins", "0,65"), "given twice"),
    (("--unit", "person_id", "count", "--by", "city", "--by", "age", "--keys", "Bonn"), "for which column"),
    (("--unit", "person_id", "choose", "--option", "age < 5"), "at least two options"),
    (("--unit", "person_id", "decision"), "either a test of one count or a vote"),
    (("--unit", "person_id", "sorted-counts", "city"), "--total"),
    (("--unit", "person_id", "count", "--format", "xml"), "--format table"),
    (("--unit", "person_id", "count", "--groups-per-unit", "0"), "groups_per_unit"),
    (("--unit", "person_id", "count", "--plot", "x.exe"), ".svg"),
    (("--unit", "person_id", "count", "--plot", "nowhere/x.svg"), "nowhere"),
    (("--unit", "person_id", "count", "--epsilon", "-1"), "epsilon"),
    (("--unit", "person_id", "count", "--epsilon", "0.5", "--delta", "2"), "delta"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "says"), MISTAKES)
def test_a_mistake_is_one_line_that_names_the_fix_and_costs_nothing(run, folder, arguments, says):
    price = () if "--epsilon" in arguments else ("--epsilon", "0.5")
    done = run("release", "visits.parquet", *arguments, *price, "--budget", "1")
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    ledger = folder / "leastnoise.ledger"
    if ledger.exists():
        with Ledger.open(ledger) as opened:
            assert not opened.balances()


@pytest.mark.slow
def test_plans_have_no_answer_to_draw_or_name_and_a_price_must_be_given(run):
    base = ("plan", "visits.parquet", "--unit", "row", "count")
    assert "leastnoise release" in run(*base, "--epsilon", "1", "--plot", "x.svg").stderr
    assert "--epsilon 0.5" in run(*base).stderr
    data = json.loads(run(*base, "--epsilon", "1", "--format", "json").stdout)
    assert data["cost"]["epsilon"] == "1"
    assert data["left"] is None
    assert run(*base, "--epsilon", "1", "--format", "csv").stdout.startswith("what,text")


@pytest.mark.slow
def test_the_ledger_can_be_elsewhere(run, folder):
    base = ("release", "visits.parquet", "--unit", "row", "count", "--epsilon", "1")
    assert run(*base, "--budget", "2", "--ledger", "mine.ledger").returncode == 0
    assert run(*base, LEASTNOISE_LEDGER="mine.ledger").returncode == 0
    assert run(*base, LEASTNOISE_LEDGER="mine.ledger").returncode == 2
    assert not (folder / "leastnoise.ledger").exists()


@pytest.mark.slow
def test_columns_of_a_csv_are_declared(run, folder):
    lines = [f"{person},{person % 90}" for person in range(900)]
    (folder / "p.csv").write_text("\n".join(["person,age", *lines, "901,refused"]))
    question = (
        "plan",
        "p.csv",
        "--unit",
        "person",
        "median",
        "age",
        "--bounds",
        "0,120",
        "--step",
        "1",
        "--epsilon",
        "1",
    )
    assert 'columns={"age": "integer"}' in run(*question).stderr
    assert run(*question, "--column", "age=integer").returncode == 0
    for wrong, says in (
        ("age", "age=integer"),
        ("=integer", "age=integer"),
        ("age=int", "integer"),
        ("agee=text", "age"),
    ):
        done = run(*question, "--column", wrong)
        assert done.returncode == 2
        assert says in done.stderr
    settings = '[datasets.p]\nsource = "p.csv"\nunit = "person"\ncolumns = {age = "integer"}\n'
    (folder / "leastnoise.toml").write_text(settings)
    fixed = ("plan", "p", *question[4:])
    assert run(*fixed).returncode == 0
    assert run(*fixed, "--column", "age=integer").returncode == 0
    assert "is fixed in leastnoise.toml" in run(*fixed, "--column", "age=real").stderr


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["-1", "nan"])
def test_a_first_command_with_a_bad_price_grants_nothing(run_apart, folder, epsilon):
    question = ("visits.parquet", "--unit", "person_id", "--budget", "1", "--ledger", "books", "count")
    refused = run_apart("release", *question, f"--epsilon={epsilon}")
    assert refused.returncode == 2
    assert "epsilon must" in refused.stderr or "epsilon is" in refused.stderr
    if (folder / "books").exists():
        with Ledger.open(folder / "books") as ledger:
            assert ledger.balances() == []
            assert len(list(ledger.entries())) == 1


BY_CITY = ("visits.parquet", "--unit", "person_id", "count", "--by", "city", "--keys", "Bonn,Köln,Ulm")


@pytest.mark.slow
def test_the_price_of_a_wanted_error(run, folder):
    told = json.loads(run("price", *BY_CITY, "--error", "10", "--confidence", "0.9", "--format", "json").stdout)
    assert told["error"]["within"] == 10
    assert told["error"]["confidence"] == 0.9
    less = str(float(told["price"]["epsilon"].split("/")[0]) / float(told["price"]["epsilon"].split("/")[1]) - 0.001)
    plan = json.loads(run("plan", *BY_CITY, "--epsilon", less, "--confidence", "0.9", "--format", "json").stdout)
    assert plan["error"]["within"] > 10
    for currency in ("rho", "mu"):
        found = run("price", *BY_CITY, "--error", "10", "--currency", currency, "--format", "json")
        assert list(json.loads(found.stdout)["price"]) == [currency]
    beside = json.loads(run("price", *BY_CITY, "--error", "10", "--delta", "1e-9", "--format", "json").stdout)
    assert beside["price"]["delta"] == "1/1000000000"
    assert sorted(path.name for path in folder.iterdir()) == ["cities.txt", "visits.parquet"], "a price leaves nothing"


@pytest.mark.slow
def test_prices_and_budgets_in_every_currency(run):
    first = run("release", *BY_CITY, "--rho", "1/100", "--budget", "rho=1/10", "--confidence", "0.9")
    assert first.returncode == 0, first.stderr
    assert "90 % error" in first.stdout
    assert "ρ = 0.09" in first.stdout
    assert run("release", *BY_CITY, "--mu", "1/10").returncode == 0
    assert "ρ = 0.085" in run("plan", *BY_CITY, "--epsilon", "1").stdout
    assert "(ε, δ)" in run("plan", *BY_CITY, "--epsilon", "1", "--delta", "1e-9").stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("plan", "--rho", "1", "--mu", "1"), "one currency"),
        (("plan", "--epsilon", "30"), "--insist"),
        (("plan", "--epsilon", "1", "--delta", "1/2"), "--insist"),
        (("plan", "--epsilon", "1", "--error", "10"), "leastnoise price"),
        (("plan", "--epsilon", "1", "--confidence", "95"), "confidence"),
        (("price",), "--error"),
        (("price", "--error", "10", "--epsilon", "1"), "leave --epsilon"),
        (("price", "--error", "0", "--confidence", "0.9999999999"), "no sensible price"),
        (("release", "--epsilon", "1", "--budget", "dollars=1"), "rho=1/10"),
        (("release", "--mu", "1/10", "--budget", "1"), "pure ε"),
    ],
    ids=str,
)
def test_prices_that_make_no_sense(run, arguments, match):
    command, *rest = arguments
    done = run(command, *BY_CITY, *rest)
    assert done.returncode == 2
    assert match in done.stderr


def test_who_insists_may_pay_more_on_the_command_line(run):
    assert run("plan", *BY_CITY, "--epsilon", "30", "--insist").returncode == 0


@pytest.mark.slow
def test_what_can_be_asked_about_is_listed(run, folder):
    shown = run("schema", "visits.parquet")
    assert [line.split() for line in shown.stdout.splitlines()[1:3]] == [["person_id", "integer"], ["city", "text"]]
    (folder / "leastnoise.toml").write_text('[datasets.visits]\nsource = "visits.parquet"\nunit = "person_id"\n')
    assert "unit: person_id" in run("schema", "visits").stdout
    assert "visits.parquet" in run("tables").stdout
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute('CREATE TABLE sales (id INTEGER); CREATE SCHEMA "a.b"; CREATE TABLE "a.b".v (id INTEGER)')
    assert run("tables", "shop.duckdb").stdout.split() == ['"a.b".v', "sales"]
    assert "integer" in run("schema", "shop.duckdb", "--table", '"a.b".v').stdout
    assert run("tables", "visits.parquet").returncode == 2


@pytest.mark.slow
def test_facilities_and_an_order_for_a_cover(run, folder):
    (folder / "places.csv").write_text("city,x,y\nBonn,0,0\n\nKöln,1,0\nUlm,20,1.5\n", encoding="utf-8")
    said = ["release", "visits.parquet", "facilities", "city", "--unit", "person_id", "--budget", "20"]
    found = run(*said, "-k", "2", "--places", "places.csv", "--epsilon", "15", "--format", "json")
    assert found.returncode == 0, found.stderr
    rows = json.loads(found.stdout)["rows"]
    assert rows[1][0] == "Ulm"
    assert abs(rows[0][1] - 600) < 20
    for wrong, says in {
        "nothing.csv": "no such file",
        "cities.txt": "coordinates",
    }.items():
        refused = run(*said, "-k", "2", "--places", wrong, "--epsilon", "1")
        assert refused.returncode == 2
        assert says in refused.stderr
    (folder / "twice.csv").write_text("city,x\nBonn,0\nBonn,1\n", encoding="utf-8")
    assert "a key of its own" in run(*said, "-k", "1", "--places", "twice.csv", "--epsilon", "1").stderr
    grid = ["plan", "visits.parquet", "facilities", "age", "--unit", "person_id", "-k", "2", "--bins", "0,30,60,90"]
    assert run(*grid, "--squared", "--opening", "5", "--epsilon", "1").returncode == 0
    cover = ["plan", "visits.parquet", "cover", "city", "city", "--unit", "person_id", "--keys", "Bonn,Ulm"]
    assert "two ends in two columns" in run(*cover, "--epsilon", "1").stderr


@pytest.mark.slow
def test_a_long_answer_is_streamed_as_csv_and_refused_as_json(run, monkeypatch):
    for place in ("mechanisms.strategy.marginals", "release.queries.marginals", "release.queries.query"):
        monkeypatch.setattr(f"leastnoise.{place}.MOST_LISTED_CELLS", 5)
    told = ["visits.parquet", "tables", "city", "member", "--keys", "city=Bonn,Köln,Ulm", "--unit", "person_id"]
    paid = ["--rho", "1/100", "--budget", "5,1e-6"]
    refused = run("release", *told, *paid, "--format", "json")
    assert refused.returncode
    assert "at most" in refused.stderr
    release = run("release", *told, *paid, "--format", "csv")
    assert release.returncode == 0, release.stderr
    head, *rows = csv.reader(io.StringIO(release.stdout))
    assert head[-3:] == ["value", "low", "high"]
    assert len(rows) == 6
