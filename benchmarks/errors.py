"""`make bench-error`: the errors of every job at equal privacy, ours beside every alternative and every peer.

Each part is a module `errors_PART` with a function that returns rows; its NOTES, if any, are printed before them on the
page. One part: `make bench-error ONLY=quantiles`.
Peers run in environments of their own below `.venvs`, made on first use; a peer that does not install is left out.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import venv
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from textwrap import wrap
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

__all__ = ["CHOSEN", "ErrorRow", "environment", "main", "mean_row", "peer_answers"]

HERE = Path(__file__).parent
PARTS = {
    "basics": "run",
    "medians": "run",
    "quantiles": "run",
    "keys": "rows",
    "publications": "rows",
}
CHOSEN = "chosen"


class ErrorRow(NamedTuple):
    """One measured or computed error.

    Attributes:
        job: What was asked, of what, at which privacy.
        method: By what: "chosen" is what the planner picks.
        error: The mean error.
        standard_error: Of that mean; zero where the law is known.
        bound: What no method beats, or a bar that the chosen one must keep; None where there is none.
    """

    job: str
    method: str
    error: float
    standard_error: float
    bound: float | None


def mean_row(job: str, method: str, errors: Sequence[float], bound: float | None = None) -> ErrorRow:
    """The mean of repeated errors, with its standard error."""
    return ErrorRow(job, method, fmean(errors), stdev(errors) / len(errors) ** 0.5, bound)


def environment(*requirements: str) -> str | None:
    """The interpreter of an environment with these packages; None where they can't be installed."""
    folder = HERE.parent / ".venvs" / "+".join(each.replace("==", "-").replace("<", "-below-") for each in requirements)
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "numpy"]
        if subprocess.run([*pip, *requirements], capture_output=True).returncode:
            return None
        (folder / "ready").touch()
    return str(python)


def peer_answers(python: str, program: str) -> dict[str, list[float]]:
    """What a program prints as JSON, run in a peer's environment."""
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def main() -> None:
    console, record = Console(), HERE / "errors.json"
    results: dict[str, list[ErrorRow]] = {}
    if record.exists():
        results = {part: [ErrorRow(*row) for row in rows] for part, rows in json.loads(record.read_text()).items()}
    for part in sys.argv[1:] or PARTS:
        with console.status(f"measuring {part} …"):
            found = getattr(importlib.import_module(f"benchmarks.errors_{part}"), PARTS[part])()
        results[part] = [ErrorRow(*row[:5]) for row in found]
        console.print(_table(part, results[part]))
    results = {part: results[part] for part in PARTS if part in results}
    record.write_text(json.dumps(results, indent=1) + "\n")
    (HERE.parent / "docs" / "errors.md").write_text(_page(results))
    _draw(results, HERE.parent / "docs" / "pictures" / "errors.svg")
    console.print("[green]bench-error finished[/green]: benchmarks/errors.json and docs/errors.md are written.")


def _table(part: str, rows: list[ErrorRow]) -> Table:
    table = Table(title=part)
    for column in ("job", "method", "error", "± se", "bound or bar"):
        table.add_column(column, justify="left" if column in ("job", "method") else "right")
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: ErrorRow) -> tuple[str, ...]:
    spread = f"{row.standard_error:.2g}" if row.standard_error else "exact"
    return row.job, row.method, f"{row.error:.4g}", spread, "" if row.bound is None else f"{row.bound:.4g}"


def _better(results: dict[str, list[ErrorRow]]) -> list[str]:
    """The jobs where some method has a smaller error than the chosen one, by more than three standard errors."""
    found: list[str] = []
    for job, rows in _by_job(results).items():
        ours = next((row for row in rows if row.method == CHOSEN), None)
        found += [
            f"- {job}: {row.method} has {row.error:.4g}, what is chosen {ours.error:.4g}."
            for row in rows
            if ours and row.error + 3 * (row.standard_error + ours.standard_error) < ours.error * (1 - 1e-9)
        ]
    return found


def _by_job(results: dict[str, list[ErrorRow]]) -> dict[str, list[ErrorRow]]:
    jobs: defaultdict[str, list[ErrorRow]] = defaultdict(list)
    for rows in results.values():
        for row in rows:
            jobs[row.job].append(row)
    return jobs


def _page(results: dict[str, list[ErrorRow]]) -> str:
    better = _better(results)
    lines = [
        "# Errors, side by side",
        "",
        "Written by `make bench-error`: the same job at the same privacy, by what the planner chooses, by every other",
        "method here, and by other libraries in environments of their own. Errors are means; *exact* ones are computed",
        "from the law. The last column is what nobody beats, or a bar that the chosen method must keep. One part:",
        "`make bench-error ONLY=quantiles`.",
        "",
        "![Error of every method, relative to the chosen one](pictures/errors.svg)",
        "",
        "## Where others are better",
        "",
        *(better or ["In none of the jobs below, by more than three standard errors."]),
    ]
    for part, rows in results.items():
        lines += [
            "",
            f"## {part.capitalize()}",
            "",
            *(line for note in _notes(part) for line in (*wrap(note, 115), "")),
            "| job | method | error | ± se | bound or bar |",
            "|---|---|--:|--:|--:|",
        ]
        lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def _notes(part: str) -> tuple[str, ...]:
    """What a reader of the part's rows has to know."""
    found: tuple[str, ...] = getattr(importlib.import_module(f"benchmarks.errors_{part}"), "NOTES", ())
    return found


def _draw(results: dict[str, list[ErrorRow]], place: Path) -> None:
    """For each job the error of every other method, as a multiple of the chosen one's."""
    import matplotlib.pyplot as plt

    jobs = {
        job: [(row.method, row.error / ours.error) for row in rows if row.method != CHOSEN]
        for job, rows in _by_job(results).items()
        if (ours := next((row for row in rows if row.method == CHOSEN and row.error), None))
    }
    shown = {job: others for job, others in jobs.items() if others}
    plt.rcParams["svg.fonttype"] = "none"  # text stays text: a small file
    figure, axis = plt.subplots(figsize=(9, 0.19 * len(shown) + 1.2))
    for place_on_axis, (job, others) in enumerate(shown.items()):
        axis.scatter([ratio for _, ratio in others], [place_on_axis] * len(others), s=14, color="#4477aa", alpha=0.8)
        axis.annotate(
            job, (0.012, place_on_axis), xycoords=("axes fraction", "data"), fontsize=6, va="center", color="#777777"
        )
    axis.axvline(1, color="#cc6677", linewidth=1)
    axis.set_xscale("log")
    axis.set_xlim(0.02, None)
    axis.set_yticks([])
    axis.invert_yaxis()
    axis.set_xlabel("error of another method / error of the chosen one")
    figure.tight_layout()
    figure.savefig(place, transparent=True)
    plt.close(figure)


if __name__ == "__main__":
    main()
