"""The gallery shows what it says: faults where they are, none where they are mended."""

import pytest
from typer.testing import CliRunner

from leastnoise.apps.cli import app
from leastnoise.apps.gallery import EXHIBITS

RUNNER = CliRunner()
INSTALLED = [exhibit.name for exhibit in EXHIBITS if not exhibit.faulty]


def test_every_exhibit_has_its_program_and_is_listed():
    shown = RUNNER.invoke(app, ["gallery", "--list"])
    assert shown.exit_code == 0
    assert all(exhibit.name in shown.output and exhibit.what[:40] in shown.output for exhibit in EXHIBITS)


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTALLED)
def test_exhibits_that_need_no_other_library(name, tmp_path):
    shown = RUNNER.invoke(app, ["gallery", name, "--environments", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    assert "the fault is there" in shown.output


@pytest.mark.slow
def test_an_old_version_is_caught_and_the_mended_one_passes(tmp_path):
    shown = RUNNER.invoke(app, ["gallery", "opendp_noise", "--environments", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    faulty, mended = shown.output.split("with opendp==0.16.0")
    assert "contradict the law" in faulty
    assert "ε = 1/3 is refuted" in faulty
    assert "agree with the law" in mended
    assert "no fault was found" in mended


@pytest.mark.parametrize(
    ("name", "faulty", "mended"),
    [
        ("accountant_count", {"1": 1.0987, "10": 1.0987}, {"1": 1.0987, "10": 10.99}),
        (
            "regression_sensitivity",
            [[["Laplace", 0.0, 105.0]], [["Laplace", 0.0, 5.0]]],
            [[["Laplace", 100.0, 105.0]]] * 2,
        ),
    ],
)
def test_a_judge_tells_a_fault_from_a_mended_program(name, faulty, mended):
    find = next(exhibit.find for exhibit in EXHIBITS if exhibit.name == name)
    assert find(faulty)[0]
    assert not find(mended)[0]


def test_a_program_that_does_not_run_is_no_success(tmp_path, monkeypatch):
    monkeypatch.setattr("leastnoise.apps.gallery._HERE", tmp_path)
    (tmp_path / "lp_optimum.py").write_text("raise SystemExit('no')")
    shown = RUNNER.invoke(app, ["gallery", "lp_optimum"])
    assert shown.exit_code == 1
    assert "did not run" in shown.output


def test_an_unknown_exhibit_is_refused():
    shown = RUNNER.invoke(app, ["gallery", "nothing"])
    assert shown.exit_code
    assert "no such exhibit" in str(shown.exception)
