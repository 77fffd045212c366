"""Permute-and-flip, one choice at a time, against OpenDP's noisy max and diffprivlib's `PermuteAndFlip`.

Scores of four shapes: spread over 0..999, one far above the others, within 10 of the best, all alike. The peers visit
candidates until one is taken: they take one of the first where many are near the best, and nearly all where one stands
out (diffprivlib then needs seconds and more, so it is asked about few candidates only). Ours looks at each candidate
once, whatever the scores: what is not decided early does not show in the time. There is no target where the peers look
at the first candidates only.
diffprivlib needs an older scikit-learn, so it lives in a venv of its own and is timed there.
"""

from __future__ import annotations

import subprocess
import sys
import timeit
from itertools import product
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, race
from leastnoise.mechanisms.choice import PermuteAndFlip

__all__ = ["run"]

SIZES = (10**3, 10**5, 10**6)
SHAPES = ("spread", "one stands out", "near the best", "all alike")
ROUNDS = {10**3: 301, 10**5: 51, 10**6: 11}
VENV = Path(__file__).parents[1] / ".venvs" / "diffprivlib"
SCRIPT = """
import statistics, sys, time
import numpy as np
from diffprivlib.mechanisms import PermuteAndFlip

scores, times = np.frombuffer(sys.stdin.buffer.read(), dtype=np.int64).tolist(), []
for _ in range(int(sys.argv[1])):
    started = time.perf_counter()
    PermuteAndFlip(epsilon=1.0, sensitivity=1, utility=scores).randomise()
    times.append(time.perf_counter() - started)
print(statistics.median(times))
"""


def run() -> list[Row]:
    """OpenDP beside ours, then diffprivlib, from its own process, beside ours."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    noisy_max = dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64"), dp.max_divergence(), scale=2.0
    )
    rows = []
    for size, shape in product(SIZES, SHAPES):
        scores, mechanism = _scores(shape, size), PermuteAndFlip(1, size)
        rows.append(
            race(
                _name(size, shape),
                lambda m=mechanism, s=scores: m.release(s),
                "OpenDP",
                lambda s=scores: noisy_max(s),
                target=0 if shape in SHAPES[2:] else 5,
                rounds=ROUNDS[size],
            )
        )
    return rows + _against_diffprivlib()


def _scores(shape: str, size: int) -> NDArray[np.int64]:
    if shape == "all alike":
        return np.zeros(size, dtype=np.int64)
    scores = np.random.default_rng(1).integers(990 if shape == "near the best" else 0, 1000, size)
    if shape == "one stands out":
        scores[size // 2] = 10_000
    return scores


def _against_diffprivlib() -> list[Row]:
    rows: list[Row] = []
    for size, shape in product(SIZES, SHAPES):
        if shape == "one stands out" and size > SIZES[0]:
            continue
        scores, mechanism = _scores(shape, size), PermuteAndFlip(1, size)
        theirs = _diffprivlib_seconds(scores, 5 if size > SIZES[0] else 51)
        if theirs is None:
            break
        ours = median(timeit.repeat(lambda m=mechanism, s=scores: m.release(s), number=1, repeat=ROUNDS[size]))
        rows.append(
            {
                "name": _name(size, shape),
                "ours_seconds": ours,
                "peer": "diffprivlib",
                "peer_seconds": theirs,
                "ratio": theirs / ours,
                "target": 0 if shape in SHAPES[2:] else 50,
            }
        )
    return rows


def _name(size: int, shape: str) -> str:
    return f"permute-and-flip, {size:,} candidates, {shape}"


def _diffprivlib_seconds(scores: NDArray[np.int64], rounds: int) -> float | None:
    """The median of one choice, by a mechanism that is made for these scores; None if the peer cannot be had."""
    python = VENV / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
            packages = ["diffprivlib==0.6.6", "scikit-learn<1.8"]
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
        command = [str(python), "-c", SCRIPT, str(rounds)]
        done = subprocess.run(command, input=scores.tobytes(), check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"choice: diffprivlib is left out: {problem}")
        return None
    return float(done.stdout)
