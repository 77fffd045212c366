"""The configuration file: what it fills in, what it fixes, and how it names its mistakes."""

import json
from decimal import Decimal

import numpy as np
import pytest

from leastnoise.data.engines.duckdb import write_parquet
from leastnoise.errors import BadConfiguration
from leastnoise.release.configuration import Configuration, read_configuration

GOOD = """
ledger = "team.ledger"
analyst = "ada"

[datasets.people]
source = "people.parquet"
unit = "person"
budget = ["2", "1e-6"]
groups_per_unit = 2
rows_per_unit = 3

[datasets.people.bounds]
pay = [0, 100.5]
[datasets.people.steps]
pay = 0.5
[datasets.people.keys]
city = "cities.txt"
level = [1, 2]
[datasets.people.bins]
age = [0, 18, 65, 120]
"""


@pytest.fixture
def folder(tmp_path):
    person = np.arange(200)
    columns = {
        "person": person,
        "city": np.array(["Bonn", "Ulm"], dtype=object)[person % 2],
        "level": person % 3,
        "age": person % 100,
        "pay": person / 2,
    }
    write_parquet(columns, tmp_path / "people.parquet")
    (tmp_path / "cities.txt").write_text("Bonn\nUlm\n")
    (tmp_path / "leastnoise.toml").write_text(GOOD)
    return tmp_path


@pytest.fixture
def run(command):
    return command


def test_everything_is_read_exactly(folder):
    read = read_configuration(folder / "leastnoise.toml")
    people = read.datasets["people"]
    assert read.analyst == "ada"
    assert read.ledger == str(folder / "team.ledger")
    assert people.source == str(folder / "people.parquet")
    assert people.budget == ("2", "1e-6")
    assert people.bounds == {"pay": (0, Decimal("100.5"))}
    assert people.steps == {"pay": Decimal("0.5")}
    assert people.keys == {"city": folder / "cities.txt", "level": (1, 2)}
    assert people.bins == {"age": (0, 18, 65, 120)}
    assert (people.groups_per_unit, people.rows_per_unit) == (2, 3)
    assert read.closest("peple") == "people"


def test_without_a_file_nothing_is_fixed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LEASTNOISE_CONFIG", raising=False)
    assert read_configuration() == Configuration()
    with pytest.raises(BadConfiguration, match=r"nowhere\.toml"):
        read_configuration("nowhere.toml")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("budgte = 1", "did you mean 'budget'"),
        ("unit = 5", "datasets.d.unit"),
        ("groups_per_unit = 0", "datasets.d.groups_per_unit"),
        ("rows_per_unit = true", "datasets.d.rows_per_unit"),
        ("budget = [1, 2, 3]", "datasets.d.budget"),
        ("budget = 'lots'", "datasets.d.budget"),
        ("budget = {rho = 1, mu = 1}", "datasets.d.budget"),
        ("budget = {epsilon = 1}", "datasets.d.budget"),
        ("budget = {rho = 'lots'}", "datasets.d.budget"),
        ("bounds = 5", "datasets.d.bounds"),
        ("bounds = {pay = 5}", "datasets.d.bounds.pay"),
        ("bounds = {pay = [1]}", "datasets.d.bounds.pay"),
        ("bounds = {pay = [1, 'x']}", "datasets.d.bounds.pay"),
        ("bounds = {pay = [1, nan]}", "datasets.d.bounds.pay"),
        ("steps = {pay = 'x'}", "datasets.d.steps.pay"),
        ("keys = {city = 5}", "datasets.d.keys.city"),
        ("keys = {city = [[1]]}", "datasets.d.keys.city"),
        ("columns = {age = 5}", "datasets.d.columns.age"),
        ("columns = 'age'", "datasets.d.columns"),
        ("bins = {age = '0,1'}", "datasets.d.bins.age"),
        ("source = 5", "datasets.d.source"),
        ("[ledgr]", "did you mean 'ledger'"),
        ("x = = 1", "no TOML"),
        ("x = " + "[" * 5000, "no TOML"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path, line, says):
    file = tmp_path / "wrong.toml"
    source = "" if line.startswith("source") else 'source = "x.csv"\n'
    file.write_text(f"[datasets.d]\n{source}{line}\n")
    with pytest.raises(BadConfiguration, match=says) as caught:
        read_configuration(file)
    assert "wrong.toml" in str(caught.value)


def test_other_mistakes(tmp_path):
    file = tmp_path / "wrong.toml"
    for text, says in (("[datasets.d]\nunit = 'x'\n", "source"), ("datasets = 5", "table"), ("ledger = 5", "ledger")):
        file.write_text(text)
        with pytest.raises(BadConfiguration, match=says):
            read_configuration(file)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(BadConfiguration, match="UTF-8"):
        read_configuration(file)


@pytest.mark.slow
def test_analysts_type_little(folder, run):
    plan = run(folder, "plan", "people", "count", "--by", "city", "--epsilon", "0.5", "--format", "json")
    assert plan.returncode == 0, plan.stderr
    sensitivity = json.loads(plan.stdout)["sensitivity"]
    assert (sensitivity["cells"], sensitivity["each"]) == (2, "3"), "groups and rows of the file"
    release = run(folder, "release", "people", "sum", "pay", "--epsilon", "0.5", "--format", "json")
    assert release.returncode == 0, release.stderr
    (folder / "elsewhere").mkdir()
    bins = ("release", "people", "count", "--by", "age", "--epsilon", "0.5", "--format", "csv")
    away = run(folder / "elsewhere", *bins, "--config", "../leastnoise.toml")
    assert away.returncode == 0, away.stderr
    assert [line.split(",")[0] for line in away.stdout.splitlines()] == ["age", '"[0', '"[18', '"[65']
    shown = run(folder, "budget", "--ledger", "team.ledger").stdout
    assert "people" in shown
    assert "50.0%" in shown


@pytest.mark.slow
def test_what_the_file_fixes_stays_fixed(folder, run):
    base = ("plan", "people", "count", "--epsilon", "0.5")
    assert "fixes the unit" in run(folder, *base, "--unit", "row").stderr
    assert "fixes the budget" in run(folder, *base, "--budget", "9").stderr
    assert run(folder, *base, "--unit", "person", "--budget", "2,1e-6").returncode == 0


@pytest.mark.slow
def test_close_names_are_offered(folder, run):
    assert "did you mean people?" in run(folder, "plan", "peple", "count", "--epsilon", "1").stderr
    missing = run(folder, "plan", "people", "sum", "age", "--epsilon", "1").stderr
    assert "sum age --bounds 0,100" in missing


@pytest.mark.slow
def test_the_options_win_over_the_file_for_public_values(folder, run):
    plan = run(folder, "plan", "people", "count", "--by", "city", "--keys", "Bonn", "--epsilon", "1")
    assert "by city (1)" in plan.stdout
    plan = run(folder, "plan", "people", "count", "--by", "level", "--bins", "0,1,2,3", "--epsilon", "1")
    assert "by level (3)" in plan.stdout, plan.stderr
    plan = run(folder, "plan", "people", "count", "--by", "age", "--keys", "1,2", "--epsilon", "1")
    assert "by age (2)" in plan.stdout, plan.stderr


def test_a_budget_in_rho_or_mu(tmp_path):
    file = tmp_path / "leastnoise.toml"
    for text, found in (('{ rho = "1/10" }', ("rho=1/10",)), ("{ mu = 0.2 }", ("mu=0.2",))):
        file.write_text(f'[datasets.d]\nsource = "d.csv"\nbudget = {text}\n')
        assert read_configuration(file).datasets["d"].budget == found
