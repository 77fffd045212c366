"""`make bench-error`: the errors of every job at equal privacy, ours beside every alternative and every peer.

Each part is a module `errors_PART` with a function that returns rows; its NOTES, if any, are printed before them on the
page. One part: `make bench-error ONLY=quantiles`. Some rows of it, by texts that their job and method contain:
`make bench-error ONLY=basics JOB=median BY=OpenDP`.
Peers run in environments of their own below `.venvs`, made on first use. Where a peer does not install or fails, its
row says what the program saw.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import subprocess
import venv
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from textwrap import wrap
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

__all__ = [
    "CHOSEN",
    "ErrorRow",
    "Wanted",
    "ask_peer",
    "environment",
    "everything",
    "main",
    "mean_row",
    "missing_row",
    "peer_answers",
    "why_missing",
]

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
PARTS = {
    "basics": "run",
    "medians": "run",
    "quantiles": "run",
    "keys": "rows",
    "graphs": "run",
    "publications": "rows",
    "designs": "run",
}
CHOSEN = "chosen"
OTHERS = (
    "OpenDP",
    "Tumult",
    "PipelineDP",
    "python-dp",
    "diffprivlib",
    "SmartNoise",
    "jax-privacy",
    "mbi",
    "qif",
    "SciPy",
)
PATIENCE = 600
SAME = 1e-4  # linear programs in doubles fall below the optimum by less than this share of it
Wanted = Callable[[str, str], bool]
"""Whether the row of a job and a method is asked for."""


class ErrorRow(NamedTuple):
    """One measured or computed error.

    Attributes:
        job: What was asked, of what, at which privacy.
        method: By what: "chosen" is what the planner picks.
        error: The mean error; None where there is none.
        standard_error: Of that mean; zero where the law is known.
        bound: What no method beats, or a bar that the chosen one must keep; None where there is none.
        why: Why there is no error.
    """

    job: str
    method: str
    error: float | None
    standard_error: float
    bound: float | None
    why: str = ""


def everything(_job: str, _method: str) -> bool:
    """All rows."""
    return True


def mean_row(job: str, method: str, errors: Sequence[float], bound: float | None = None) -> ErrorRow:
    """The mean of repeated errors, with its standard error."""
    return ErrorRow(job, method, fmean(errors), stdev(errors) / len(errors) ** 0.5, bound)


def missing_row(job: str, method: str, why: str) -> ErrorRow:
    """What a method that gave no answer leaves in the table."""
    return ErrorRow(job, method, None, 0.0, None, why.replace("|", "/")[:160])


def environment(*requirements: str) -> str | None:
    """The interpreter of an environment with these packages; None where they can't be installed in ten minutes."""
    folder = _folder(requirements)
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "numpy"]
        try:
            done = subprocess.run([*pip, *requirements], capture_output=True, text=True, timeout=PATIENCE)
            problem = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1] if done.returncode else ""
        except subprocess.TimeoutExpired:
            problem = f"pip needed more than {PATIENCE} seconds"
        if problem:
            (folder / "problem").write_text(problem)
            return None
        (folder / "ready").touch()
    return str(python)


def why_missing(*requirements: str) -> str:
    """What pip said when `environment` failed."""
    return (_folder(requirements) / "problem").read_text()


def _folder(requirements: Sequence[str]) -> Path:
    return HERE.parent / ".venvs" / "+".join(each.replace("==", "-").replace("<", "-below-") for each in requirements)


def peer_answers(python: str, program: str) -> dict[str, list[float]]:
    """What a program prints as JSON, run in a peer's environment."""
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def ask_peer(python: str, program: str, told: dict[str, Any], seconds: int = 3600) -> dict[str, Any]:
    """For each job that a program in `peers` knows its answers, or the text of what went wrong."""
    try:
        done = subprocess.run(
            [python, str(HERE / "peers" / program)],
            input=json.dumps(told),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
        found: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return dict.fromkeys(told["draws"], f"no answer in {seconds} seconds")
    except (subprocess.CalledProcessError, ValueError) as problem:
        said = (getattr(problem, "stderr", None) or str(problem)).strip().splitlines()
        return dict.fromkeys(told["draws"], f"the program failed: {said[-1]}")
    return found


def main() -> None:
    asked = argparse.ArgumentParser(description="Compare errors with peers at equal privacy.")
    asked.add_argument("parts", nargs="*", help="all if left out")
    asked.add_argument("--job", default="", help="only rows whose job contains this text")
    asked.add_argument("--by", default="", help="only rows whose method contains this text")
    asked.add_argument("--pages", action="store_true", help="measure nothing, write the pages from the record")
    options = asked.parse_args()
    console, record = Console(), HERE / "errors.json"
    results: dict[str, list[ErrorRow]] = {}
    if record.exists():
        results = {part: [ErrorRow(*row) for row in rows] for part, rows in json.loads(record.read_text()).items()}

    def wanted(job: str, method: str) -> bool:
        """A method also where it names only the start of what is asked for, since a library has several."""
        return options.job in job and (options.by in method or options.by.startswith(method))

    for part in () if options.pages else options.parts or PARTS:
        with console.status(f"measuring {part} …"):
            measure = getattr(importlib.import_module(f"benchmarks.errors_{part}"), PARTS[part])
            found = measure(wanted) if inspect.signature(measure).parameters else measure()
        rows = [row for row in (ErrorRow(*row) for row in found) if options.job in row.job and options.by in row.method]
        results[part] = _replaced(results.get(part, []), rows, whole=not (options.job or options.by))
        console.print(_table(part, rows))
    results = {part: results[part] for part in PARTS if part in results}
    record.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    _write_pages(results)
    console.print("[green]bench-error finished[/green]: benchmarks/errors.json and docs/errors.md are written.")


def _replaced(old: list[ErrorRow], new: list[ErrorRow], *, whole: bool) -> list[ErrorRow]:
    """The new rows, in the place of old ones of the same job and method."""
    if whole:
        return new
    bounds = {(row.job, row.method): row.bound for row in old}
    fresh = {
        key: row._replace(bound=bounds.get(key) if row.bound is None else row.bound) for row in new if (key := row[:2])
    }
    kept = [fresh.pop(row[:2], row) for row in old]
    jobs = list(dict.fromkeys(row.job for row in [*kept, *fresh.values()]))
    return sorted([*kept, *fresh.values()], key=lambda row: jobs.index(row.job))


def _write_pages(results: dict[str, list[ErrorRow]]) -> None:
    """The page of all rows, its picture, and what the comparison says about errors."""
    (DOCS / "errors.md").write_text(_page(results))
    comparison = DOCS / "comparison.md"
    comparison.write_text(_comparison(results, comparison.read_text()))
    _draw(results, DOCS / "pictures" / "errors.svg")


def _comparison(results: dict[str, list[ErrorRow]], page: str) -> str:
    """The page with the jobs where other libraries have less error, between its two marks."""
    before, start, rest = page.partition("<!-- written by make bench-error -->\n")
    _, end, after = rest.partition("<!-- until here -->\n")
    lines = "".join(f"{line}\n" for line in _better(results, others=True)) or "- In no job.\n"
    return f"{before}{start}\n{lines}\n{end}{after}"


def _table(part: str, rows: list[ErrorRow]) -> Table:
    table = Table(title=part)
    for column in ("job", "method", "error", "± se", "bound or bar"):
        table.add_column(column, justify="left" if column in ("job", "method") else "right")
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: ErrorRow) -> tuple[str, ...]:
    bound = "" if row.bound is None else f"{row.bound:.4g}"
    if row.error is None:
        return row.job, row.method, "–", row.why, bound
    spread = f"{row.standard_error:.2g}" if row.standard_error else "exact"
    return row.job, row.method, f"{row.error:.4g}", spread, bound


def _better(results: dict[str, list[ErrorRow]], *, others: bool = False) -> list[str]:
    """The jobs where a method, or another library, has a smaller error than the chosen one by three standard errors."""
    found: list[str] = []
    for job, rows in _by_job(results).items():
        ours = next((row for row in rows if row.method == CHOSEN), None)
        if ours is None or ours.error is None:
            continue
        better = [
            f"{row.method} has {row.error:.4g}"
            for row in rows
            if row.error is not None
            if row.error + 3 * (row.standard_error + ours.standard_error) < ours.error * (1 - SAME)
            if row.method.startswith(OTHERS) or not others
        ]
        if better:
            found.append(f"- {job}: what is chosen has {ours.error:.4g}; {'; '.join(better)}.")
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
        "from the law. The last column is what nobody beats, or a bar that the chosen method must keep.",
        "",
        "One part: `make bench-error ONLY=quantiles`. One row: `make bench-error ONLY=basics JOB=median BY=OpenDP`.",
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
        job: [(row.method, row.error / ours.error) for row in rows if row.method != CHOSEN and row.error]
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
