import subprocess
import sys

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


def test_the_demo_shows_error_release_check_and_speed():
    from leastnoise.apps.demo import run as demo

    console = Console(record=True, width=120)
    demo(console)
    text = console.export_text()
    parts = (
        "expected error",
        "released",
        "off by",
        "the best",
        "holds on",
        "does not hold",
        "million",
        "demo finished",
    )
    assert all(part in text for part in parts)


@pytest.mark.parametrize("command", ["demo", "check", "budget"])
def test_commands_have_help(command):
    result = run(app, [command, "--help"])
    assert result.exit_code == 0
    assert "Usage" in result.output
