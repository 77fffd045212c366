import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import leastnoise
from leastnoise.apps.cli import app

run = CliRunner().invoke


def test_version():
    result = run(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout.strip() == f"leastnoise {leastnoise.__version__}"


def test_no_command_shows_the_help():
    assert "demo" in run(app, []).output


def test_the_installed_command_runs():
    done = subprocess.run([sys.executable, "-m", "leastnoise", "--version"], capture_output=True, text=True, check=True)
    assert leastnoise.__version__ in done.stdout


@pytest.mark.slow
def test_the_demo_plans_releases_compares_checks_and_draws():
    from leastnoise.apps.demo import run as demo

    console = Console(record=True, width=120)
    demo(console, rows=20_000)
    text = console.export_text()
    parts = (
        "Made up 20,000 visits by 6,",
        "expected error",
        "95 % error",
        "off by",
        "sum of cost",
        "median of age",
        "of 5 right",
        "the privacy certificate holds",
        "persons_by_town.svg",
        "users choose the same password",
        "ties cut:",
        "Which has more persons",
        "Spent: ε = 59/100 + ln(3/2) of ε = 1",
        "demo finished in",
    )
    assert [part for part in parts if part not in text] == []
    (picture,) = re.findall(r"\S+persons_by_town\.svg", text)
    assert Path(picture).stat().st_size > 1000
    shutil.rmtree(Path(picture).parent)


@pytest.mark.slow
def test_the_demo_says_so_when_it_cannot_draw(monkeypatch):
    from leastnoise.apps.demo import run as demo

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    console = Console(record=True, width=120)
    demo(console, rows=2_000)
    assert "No picture was drawn: drawing needs matplotlib" in console.export_text()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["demo", "plan", "release", "check", "budget"])
def test_commands_have_help(command):
    result = run(app, [command, "--help"])
    assert result.exit_code == 0
    assert "Usage" in result.output
