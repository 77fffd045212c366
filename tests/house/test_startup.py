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


@pytest.mark.slow
def test_the_core_needs_no_extra():
    """What is imported for the exact dice comes from the core dependencies alone."""
    assert not imported_by("import leastnoise.exact, leastnoise.checker, leastnoise.mechanisms") & (
        HEAVY - {"numpy", "scipy", "flint", "cryptography"}
    )


@pytest.mark.slow
def test_a_first_plan_imports_no_linear_algebra(tmp_path):
    """What is imported is most of what a first plan takes."""
    (tmp_path / "rows.csv").write_text("age\n1\n2\n")
    code = (
        "import leastnoise as ln\n"
        f"with ln.open({str(tmp_path / 'rows.csv')!r}, columns={{'age': 'integer'}}, budget=1) as rows:\n"
        "    str(rows.count().plan(epsilon=1))"
    )
    assert not imported_by(code) & {"scipy", "matplotlib", "pyspark", "psycopg", "fastapi", "igraph"}
