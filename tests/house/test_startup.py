"""Start-up is measured by what is imported, not by the clock."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    *("numpy", "scipy", "flint", "cryptography", "igraph", "matplotlib", "duckdb", "pyspark", "psycopg", "fastapi"),
    "sqlglot",
}


def imported_by(code):
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import leastnoise",
        "import leastnoise.apps.cli",
        "import sys; sys.argv = ['leastnoise', '--version']\n"
        "from leastnoise.apps.cli import app\ntry:\n    app()\nexcept SystemExit:\n    pass",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code):
    assert not imported_by(code) & HEAVY


def test_the_measurement_would_notice():
    assert "numpy" in imported_by("import leastnoise.exact")


def test_the_core_needs_no_extra():
    """What is imported for the exact dice comes from the core dependencies alone."""
    assert not imported_by("import leastnoise.exact, leastnoise.checker, leastnoise.mechanisms") & (
        HEAVY - {"numpy", "scipy", "flint", "cryptography"}
    )
