"""Every example runs by itself, without a warning, and prints a result."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LINES = 60


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_runs(example, tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "error", str(example)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
    assert not run.stderr
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind"


def test_there_are_five_short_examples():
    assert len(EXAMPLES) == 5
    assert all(len(example.read_text().splitlines()) <= LINES for example in EXAMPLES)
