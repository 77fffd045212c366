import json
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leastnoise.accounting import Concentrated, GaussianPrivacy, Ledger, Pure, Request
from leastnoise.apps.budget import app
from leastnoise.errors import BadParameter, LedgerDamaged, LedgerMissing
from leastnoise.model.privacy import Privacy


def run(*arguments, **more):
    return CliRunner().invoke(app, list(arguments), catch_exceptions=True, env={"COLUMNS": "160"}, **more)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "leastnoise.ledger"


@pytest.fixture
def ledger(place):
    with Ledger.create(place) as made:
        made.grant(Privacy(1, "1e-6"), dataset="census")
        made.grant(Privacy("ln(3)"), analyst="[red]ada", refresh=86400)
        for i in range(6):
            made.release(Request(f"q{i}", Pure("1/10"), dataset="census", analyst="[red]ada"), lambda i=i: i)
        yield made


def test_create_grant_and_show(place):
    assert run("create").exit_code == 0
    assert "none yet" in run().output
    done = run("grant", "--epsilon", "1", "--delta", "1e-6", "--dataset", "census", "--refresh", "30d")
    assert "granted (ε, δ) = (1, 1/1000000)" in done.output
    with Ledger.open(place) as opened:
        assert opened.balances()[0].refresh == 30 * 86400
        assert opened.balances()[0].limits.budget == Privacy(1, "1e-6")


@pytest.mark.usefixtures("ledger")
def test_the_table_shows_bars_of_what_is_spent_and_left():
    output = run().output
    assert "dataset 'census'" in output
    assert "analyst '[red]ada'" in output, "a name is not markup"
    assert "███████░░░░░ 60.0%" in output
    assert "ε = 0.6 of 1" in output
    assert "ε = 0.4" in output
    assert "never" in output
    assert "UTC" in output
    assert "analyst '[red]ada'" not in run("--dataset", "census").output
    assert "none yet" in run("--dataset", "other").output


def test_grants_in_other_currencies_and_what_a_dataset_was_charged(place):
    assert run("create").exit_code == 0
    assert "granted ρ = 1/10" in run("grant", "--rho", "1/10", "--dataset", "census").output
    assert "granted μ = 1/2" in run("grant", "--mu", "1/2", "--dataset", "noise").output
    assert isinstance(run("grant", "--rho", "1/10", "--epsilon", "1", "--dataset", "census").exception, BadParameter)
    assert isinstance(run("grant", "--epsilon", "30", "--dataset", "census").exception, BadParameter)
    assert "granted ε = 30" in run("grant", "--epsilon", "30", "--insist", "--dataset", "large").output
    with Ledger.open(place) as opened:
        for number in range(25):
            opened.debit(Request(f"q{number}", Concentrated("1/1000"), dataset="census", analyst="[red]ada"))
        opened.debit(Request("g", GaussianPrivacy("1/16"), dataset="noise", analyst="ada"))
    output = run("--dataset", "census").output
    assert "ρ = 0.025 of 0.1" in output
    assert "25.0%" in output
    assert "The last 20 of 25 questions" in output
    assert "[red]ada" in output
    assert "q24" in output
    assert "q4 " not in output
    assert "q4 " in run("--dataset", "census", "--all").output
    assert "μ = 0.25" in run("--dataset", "noise").output
    assert "q24" not in run().output


def test_many_budgets_are_cut_short_and_the_most_used_stay(place):
    with Ledger.create(place) as made:
        for number in range(60):
            made.grant(Privacy(1), dataset=f"data {number}")
            made.debit(Request(f"q{number}", Pure(f"{number + 1}/100"), dataset=f"data {number}", analyst="ada"))
    short, long = run().output, run("--all").output
    assert "10 budgets of which less is used" in short
    assert "dataset 'data 59'" in short
    assert "dataset 'data 9'" not in short
    assert "dataset 'data 9'" in long
    assert "of which less" not in long


@pytest.mark.slow
def test_verify_goes_through_the_ledger_and_tells_the_head(ledger):
    output = run("--verify").output
    assert "verified: 15 entries, 6 requests; chain, prices and sums hold" in output
    assert ledger.witness().hash in output


def test_verify_refuses_a_damaged_ledger_with_the_place(ledger, place):
    ledger.close()
    place.write_bytes(place.read_bytes().replace(b'"request":"q3"', b'"request":"q4"'))
    done = run("--verify")
    assert isinstance(done.exception, LedgerDamaged)
    assert "damaged at entry 10" in str(done.exception)


def test_a_witness_notices_an_old_copy(ledger, place, tmp_path):
    old = place.read_bytes(), (tmp_path / "leastnoise.ledger-wal").read_bytes()
    assert json.loads(run("witness").output) == json.loads(ledger.witness().to_json())
    ledger.debit(Request("later", Pure("1/10"), dataset="census", analyst="eve"))
    assert run("witness", "--out", "kept.json").exit_code == 0
    assert "the witness agrees" in run("--witness", "kept.json").output
    ledger.close()
    place.write_bytes(old[0])
    (tmp_path / "leastnoise.ledger-wal").write_bytes(old[1])
    assert "old copy put back" in str(run().exception)
    assert run("witness", "--renew").exit_code == 0, "someone who wants to hide it"
    assert run().exit_code == 0
    assert "old copy put back" in str(run("--verify", "--witness", "kept.json").exception)


def test_a_suspension_is_shown_and_cleared(ledger):
    assert "suspended" not in run().output
    for analyst in ("eve", "o'neil"):
        request = Request("q", Pure("1/100"), dataset="census", analyst=analyst)
        ledger.reserve(request)
        ledger.fail(request, floor="1/100")
    ledger.reserve(Request("r", Pure("1/100"), dataset="census", analyst="[red]ada"))
    ledger.cancel(Request("r", Pure("1/100"), dataset="census", analyst="[red]ada"), interrupted=True)
    output = run().output
    assert "suspended: dataset 'census', analyst 'eve': 1 failed since" in output
    assert "next: leastnoise budget clear census --analyst eve" in output
    assert shlex.split(output.rsplit("next: leastnoise budget ", 1)[1].splitlines()[0])[-1] == "o'neil"
    assert "counted: dataset 'census', analyst '[red]ada': 1 interrupted since" in output
    assert "cleared: dataset 'census', analyst 'eve'; 1 failed" in run("clear", "census", "--analyst", "eve").output
    assert "nothing to clear" in run("clear", "census", "--analyst", "eve").output
    assert run("clear", "census").exit_code == 2, "whose suspension is never guessed"
    assert "analyst 'eve'" not in run().output
    assert ledger.debit(Request("s", Pure("1/100"), dataset="census", analyst="eve")).fresh


def test_a_unit_is_not_shown_as_a_budget(place):
    old = Path(__file__).parents[1] / "ledger" / "version_1" / "version_1_answered.ledger"
    for suffix in ("", ".witness"):
        shutil.copy(f"{old}{suffix}", f"{place}{suffix}")
    output = run().output
    assert "dataset 'census'" in output
    assert "privacy unit" not in output


@pytest.mark.usefixtures("ledger")
def test_export_to_the_screen_and_to_a_file(tmp_path):
    lines = run("export").output.splitlines()
    assert lines[0].startswith("seq,time,kind,dataset")
    assert len(lines) == 16
    assert run("export", "--format", "json", "--out", "all.json").exit_code == 0
    entries = [json.loads(json.loads(line)["body"]) for line in (tmp_path / "all.json").read_text().splitlines()]
    assert [entry["seq"] for entry in entries] == list(range(1, 16))
    assert isinstance(run("export", "--format", "xml").exception, BadParameter)


@pytest.mark.usefixtures("place")
def test_a_missing_ledger_is_not_made_up():
    assert isinstance(run().exception, LedgerMissing)
    assert isinstance(run("--ledger", "elsewhere.ledger").exception, LedgerMissing)


@pytest.mark.usefixtures("ledger")
def test_the_ledger_is_named_before_or_after_the_command_or_by_the_environment(place, monkeypatch):
    monkeypatch.chdir("/")
    for done in (
        run("--ledger", str(place), "witness"),
        run("witness", "--ledger", str(place)),
        CliRunner().invoke(app, ["witness"], env={"LEASTNOISE_LEDGER": str(place)}),
    ):
        assert json.loads(done.output)["count"] == 15


@pytest.mark.parametrize("refresh", ["soon", "0d", "-1d", "1y", ""])
@pytest.mark.usefixtures("ledger")
def test_a_refresh_is_a_length_of_time(refresh):
    done = run("grant", "--epsilon", "1", "--dataset", "x", "--refresh", refresh)
    assert isinstance(done.exception, BadParameter)


def test_nothing_heavy_is_imported_for_the_help():
    import subprocess
    import sys

    code = "import sys, leastnoise.apps.budget; print('numpy' in sys.modules, 'sqlite3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
