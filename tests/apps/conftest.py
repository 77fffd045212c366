"""The command line, run within the test's own process: fast, and with all that `main` does around a command."""

import os
import sys
from types import SimpleNamespace

import pytest


@pytest.fixture
def command(monkeypatch, capfd):
    """`command(folder, *arguments, **environment)` gives the exit status and what was printed."""
    from leastnoise.apps.cli import main

    def run(folder, *arguments, **environment):
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(sys, "argv", ["leastnoise", *arguments])
            for name in [name for name in os.environ if name.startswith("LEASTNOISE")]:
                patch.delenv(name)
            for name, value in {"COLUMNS": "120", **environment}.items():
                patch.setenv(name, value)
            capfd.readouterr()
            try:
                main()
                status = 0
            except SystemExit as end:
                status = end.code or 0
        printed = capfd.readouterr()
        return SimpleNamespace(returncode=status, stdout=printed.out, stderr=printed.err)

    return run
