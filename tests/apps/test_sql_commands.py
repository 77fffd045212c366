"""`leastnoise sql`, `shell` and `describe`, and a dataset opened by leastnoise.toml."""

import json
import os
import pty
import subprocess
import sys
import time
import tomllib

import pytest

import leastnoise as ln
from leastnoise.errors import BadConfiguration, BadParameter

ROWS = "person,city,age\n1,Bonn,70\n2,Ulm,30\n3,Bonn,5\n"
TOML = """
ledger = "team.ledger"
[datasets.people]
source = "people.csv"
unit = "person"
budget = 10
[datasets.people.columns]
person = "integer"
age = "integer"
[datasets.people.bounds]
age = [0, 100]
[datasets.people.keys]
city = ["Bonn", "Ulm"]
[datasets.people.measured_in]
age = "years"
"""
GROUPED = "SELECT city, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY city"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "leastnoise.toml").write_text(TOML)
    return tmp_path


@pytest.mark.slow
def test_a_statement_is_planned_for_nothing_and_released_once(command, folder):
    planned = command(folder, "sql", "people", GROUPED, "--epsilon", "1", "--plan")
    assert planned.returncode == 0
    assert "nothing was spent" in planned.stdout
    assert not (folder / "team.ledger").exists()
    found = command(folder, "sql", "people", GROUPED, "--epsilon", "1", "--format", "json", "--request-id", "mine")
    told = json.loads(found.stdout)
    assert told["columns"] == ["city", "n", "n_low", "n_high", "mean", "mean_low", "mean_high"]
    again = command(folder, "sql", "people", GROUPED + " LIMIT 1", "--epsilon", "1", "--format", "csv",
                    "--request-id", "mine")  # fmt: skip
    assert again.stdout.splitlines()[1].split(",")[:2] == [str(cell) for cell in told["rows"][0][:2]]
    shown = command(folder, "sql", "people", "SELECT COUNT(*) AS n FROM people", "--epsilon", "1")
    assert "to see this again" in shown.stdout
    assert ln.accounting.Ledger.open(folder / "team.ledger").left("people", "anyone").epsilon < 9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["SELECT MAX(age) FROM people", "--epsilon", "1"], "line 1, column 8"),
        (["SELECT COUNT(*) FROM people"], "price is missing"),
        (["SELECT COUNT(*) FROM people", "--epsilon", "100"], "--insist"),
        (["SELECT COUNT(*) FROM people", "--epsilon", "1", "--format", "xml"], "unknown format"),
        (["SELECT COUNT(*) FROM people", "--epsilon", "1", "--unit", "city"], "fixes the unit"),
    ],
)
def test_mistakes_spend_nothing(command, folder, arguments, words):
    found = command(folder, "sql", "people", *arguments)
    assert found.returncode == 2
    assert words in found.stderr
    with ln.open(folder / "leastnoise.toml") as people:
        assert people.left.epsilon == 10


@pytest.mark.slow
def test_a_description_is_written_from_the_schema_alone(command, folder):
    found = command(folder, "describe", "people.csv", "--name", "mine")
    assert tomllib.loads(found.stdout)["datasets"]["mine"] == {
        "source": "people.csv", "groups_per_unit": 1, "rows_per_unit": 1,
        "columns": {}, "bounds": {}, "keys": {}, "measured_in": {},
    }  # fmt: skip
    assert all(f"# {name} = " in found.stdout for name in ("person", "city", "age", "unit", "budget"))
    assert not {"Bonn", "70"} & set(found.stdout.replace('"', " ").split())
    (folder / "people.csv").write_text("person,city,age\n9,Köln,x\n" + "1,a,1\n" * 50)
    assert command(folder, "describe", "people.csv", "--name", "mine").stdout == found.stdout
    written = command(folder, "describe", "people.csv", "--out", "new.toml")
    assert "fill in" in written.stdout
    assert command(folder, "describe", "people.csv", "--out", "new.toml").returncode == 2
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 5 AS n, 'x' AS \"a b\", 1.5::DECIMAL(5, 2) AS d, TRUE AS f")
    told = command(folder, "describe", "t.duckdb", "--table", "t").stdout
    tomllib.loads(told)
    assert '# "a b" = ["a", "b"]' in told
    assert "# n = [0, 100]    # ? integer" in told


@pytest.mark.slow
def test_a_database_is_described_with_all_its_tables(command, folder):
    """No row decides what is written; what it leaves open is filled in, and is then a dataset that is asked in SQL."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "one.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT 5 AS n")
    assert 'table = "people"' in command(folder, "describe", "one.duckdb").stdout
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE customers (id INT, city TEXT); INSERT INTO customers VALUES (1, 'Bonn')")
        connection.execute('CREATE TABLE orders (id INT, customer_id INT, day DATE, "total sum" DOUBLE, parts INT[])')
        connection.execute("CREATE TABLE products (id INT, category TEXT)")
    written = command(folder, "describe", "shop.duckdb", "--name", "shop").stdout
    assert set(tomllib.loads(written)["datasets"]["shop"]) == {
        "source", "groups_per_unit", "rows_per_unit", "bounds", "keys", "measured_in",
    }  # fmt: skip
    assert "Bonn" not in written
    assert '# links = { "orders.id" = "customers.id" }' in written
    for line in ('"orders.total sum" = [0, 100]    # ? real', '"orders.day" = [2024-01-31]', '"customers.city" = ['):
        assert f"# {line}" in written
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute("INSERT INTO orders SELECT x, 1, DATE '2024-01-01', 1e9, [] FROM range(9) AS t(x)")
    assert command(folder, "describe", "shop.duckdb", "--name", "shop").stdout == written
    filled = written.replace('"orders.id" = "cust', '"orders.customer_id" = "cust')
    for open_one in ("links", "unit", "public", "budget", "ledger", '"orders.total sum"'):
        filled = filled.replace(f"# {open_one} =", f"{open_one} =")
    (folder / "leastnoise.toml").write_text(filled)
    asked = command(folder, "sql", "shop", 'SELECT SUM("total sum") FROM orders', "--epsilon", "1", "--plan")
    assert asked.returncode == 0, asked.stderr


@pytest.mark.slow
def test_the_curator_verifies_a_description(command, folder):
    """It looks at the rows, asks no ledger, and fails by a typed error where one of them breaks what is declared."""
    fine = command(folder, "describe", "people", "--verify")
    assert fine.returncode == 0
    assert "do not pass them on" in fine.stdout
    assert not (folder / "team.ledger").exists()
    (folder / "people.csv").write_text(ROWS + "4,Köln,101\n5,,\n")
    broken = command(folder, "describe", "people", "--verify")
    assert broken.returncode == 2
    assert [line.split()[-2:] for line in broken.stdout.splitlines()[2:]] == [["1", "5"], ["1", "5"]]
    assert "the rows break 2 of 2 assertions" in broken.stderr
    assert "Traceback" not in broken.stderr
    for arguments, words in (
        (["peopel", "--verify"], "did you mean people"),
        (["people", "--verify", "--table", "t"], "alone"),
        (["people.csv", "--config", "leastnoise.toml"], "is for --verify"),
    ):
        found = command(folder, "describe", *arguments)
        assert (found.returncode, words in found.stderr) == (2, True)


def test_the_curator_verifies_several_tables(command, folder):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT x AS id, 20 + x AS age FROM range(5) AS t(x)")
        connection.execute("CREATE TABLE visits AS SELECT x % 6 AS person, 'a' AS shop FROM range(30) AS t(x)")
    toml = """
[datasets.shop]
source = "shop.duckdb"
unit = "people.id"
links = { "visits.person" = "people.id" }
[datasets.shop.bounds]
"people.age" = [0, 23]
[datasets.shop.keys]
"visits.shop" = ["a"]
"""
    (folder / "leastnoise.toml").write_text(toml)
    found = command(folder, "describe", "shop", "--verify")
    assert found.returncode == 2
    told = {line.rsplit(None, 2)[0].strip(): line.split()[-2:] for line in found.stdout.splitlines()[2:]}
    assert told == {
        "people.id names each row": ["0", "5"],
        "visits.person = people.id: a row names one row, or nothing": ["5", "30"],
        "visits.person = people.id: a row belongs to one unit": ["0", "30"],
        "people.age keeps its bounds": ["1", "5"],
        "visits.shop has the listed keys": ["0", "30"],
    }


def test_the_library_opens_what_the_file_describes(folder, monkeypatch):
    monkeypatch.chdir(folder)
    with ln.open("leastnoise.toml") as people:
        assert people.name == "people"
        assert people.contribution.privacy_unit == "person"
        assert people.description.measured_in == {"age": "years"}
        release = people.sql(GROUPED).release(1)
        assert release.table["city"] == ("Bonn", "Ulm")
        assert people.with_columns({"old": "age > 64"}).description is people.description
    with ln.open(folder / "leastnoise.toml", name="people") as people:
        assert people.left.epsilon < 10
    for given, words in (
        ({"name": "x"}, "no such dataset"),
        ({"privacy_unit": "city"}, "privacy_unit"),
        ({"columns": {"age": "text"}}, "columns"),
        ({"budget": 5}, "budget"),
    ):
        with pytest.raises(BadParameter, match=words):
            ln.open("leastnoise.toml", **given)
    (folder / "leastnoise.toml").write_text(TOML.replace('unit = "person"', ""))
    with pytest.raises(BadParameter, match="whose rows"):
        ln.open("leastnoise.toml")
    (folder / "leastnoise.toml").write_text(TOML.replace("[0, 100]", "5"))
    with pytest.raises(BadConfiguration, match="bounds"):
        ln.open("leastnoise.toml")
    (folder / "leastnoise.toml").write_text(
        TOML + "[datasets.people.bins]\nage = [0, 18]\n[datasets.more]\nsource = 'x'\n"
    )
    with pytest.raises(BadParameter, match="people, more"):
        ln.open("leastnoise.toml")


def converse(folder, *lines):
    """A shell in a real terminal: what it shows for each line, which is sent when the one before was answered."""
    main, terminal = pty.openpty()
    environment = {**os.environ, "HOME": str(folder), "TERM": "dumb", "COLUMNS": "200"}
    shell = subprocess.Popen(
        [sys.executable, "-m", "leastnoise", "shell", "people"],
        stdin=terminal, stdout=terminal, stderr=terminal, cwd=folder, env=environment, close_fds=True,
    )  # fmt: skip
    os.close(terminal)
    shown = [_until(main, "sql> ")]
    for line in lines:
        os.write(main, line.encode())
        shown.append(_until(main, "…> " if line.endswith("\n") and line.startswith("SELECT COUNT(*)\n") else "sql> "))
    os.write(main, b"\x04")
    status = shell.wait(60)
    os.close(main)
    return shown, status


def _until(main, prompt):
    found, started = b"", time.monotonic()
    while not found.decode(errors="ignore").endswith(prompt):
        assert time.monotonic() - started < 60, found
        try:
            found += os.read(main, 65536)
        except OSError:
            break
    return found.decode(errors="replace")


@pytest.mark.slow
def test_the_shell_in_a_terminal(folder):
    asked = [
        "\\columns\n",
        "SELECT COUNT(*) FROM t;\n",
        "\\price 1\n",
        "\\plan SELECT COUNT(*) FROM t;\n",
        "SELECT COUNT(*)\n",
        "FROM t;\n",
        "\\bud\t\n",
        "SELECT MAX(age) FROM t;\n",
        "\\price nonsense\n",
        "\\help\n",
    ]
    (_, columns, unpriced, priced, plan, waiting, answer, budget, refused, wrong, told), status = converse(
        folder, *asked
    )
    assert status == 0
    assert "age  integer" in columns
    assert "price is missing" in unpriced
    assert "each statement costs ε = 1" in priced
    assert "expected error" in plan
    assert "count(*)" not in waiting
    assert "cost ε = 1" in answer
    assert "budget ε = 10" in budget  # by completion
    assert "line 1, column 8" in refused
    assert "error" in wrong
    assert "\\quit" in told
    history = folder / ".leastnoise_history"
    assert "\\price 1" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0
    assert ln.accounting.Ledger.open(folder / "team.ledger").left("people", "anyone").epsilon == 9


@pytest.mark.slow
def test_the_shell_reads_from_a_pipe(folder):
    asked = "\\price 1\nSELECT COUNT(*)\nFROM t;\n\\budget\n\\quit\n"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LEASTNOISE")}
    found = subprocess.run(
        [sys.executable, "-m", "leastnoise", "shell", "people"],
        input=asked, capture_output=True, text=True, cwd=folder, env=environment, timeout=120, check=True,
    )  # fmt: skip
    assert "cost ε = 1" in found.stdout
    assert "at most ε = 9" in found.stdout


@pytest.mark.slow
def test_the_shell_knows_the_columns_of_all_tables(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE customers AS SELECT 1 AS id; CREATE TABLE orders AS SELECT 1 AS buyer, 'a' AS word"
        )
    (tmp_path / "leastnoise.toml").write_text(
        '[datasets.shop]\nsource = "shop.duckdb"\nunit = "customers.id"\nbudget = 1\n'
        '[datasets.shop.links]\n"orders.buyer" = "customers.id"\n'
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LEASTNOISE")}
    found = subprocess.run(
        [sys.executable, "-m", "leastnoise", "shell", "shop"],
        input="\\columns\n", capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120, check=True,
    )  # fmt: skip
    assert found.stdout.splitlines()[1:4] == ["customers.id  integer", "orders.buyer  integer", "orders.word  text"]
