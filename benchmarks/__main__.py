"""`make bench`: run every comparison, print it, and write results.json and the table in the documentation."""

from __future__ import annotations

import importlib
import json
import platform
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Row

HERE = Path(__file__).parent
PARTS = (
    *("dice", "channels", "check", "numeric", "choice", "rank", "vector", "budget"),
    *(
        "tables",
        "table_peers",
        "tpch",
        "tpch_peers",
        "design",
        "design_theorems",
        "rainbow",
        "combinatorial_cuts",
        "combinatorial_lists",
    ),
)


def main() -> None:
    console, record = Console(), HERE / "results.json"
    wanted = sys.argv[1:] or PARTS
    results: dict[str, list[Row]] = json.loads(record.read_text()) if record.exists() else {}
    for part in wanted:
        with console.status(f"measuring {part} …"):
            results[part] = importlib.import_module(f"benchmarks.{part}").run()
        console.print(_table(part, results[part]))
    results = {part: results[part] for part in PARTS if part in results}
    record.write_text(json.dumps(results, indent=1) + "\n")
    (HERE.parent / "docs" / "benchmarks.md").write_text(_page(results))
    console.print("[green]bench finished[/green]: benchmarks/results.json and docs/benchmarks.md are written.")


def _table(part: str, rows: list[Row]) -> Table:
    table = Table(title=part)
    for column in ("what", "ours", "peer", "theirs", "ratio", "target"):
        table.add_column(column, justify="right" if column in ("ours", "theirs", "ratio", "target") else "left")
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: Row) -> tuple[str, ...]:
    if "bytes_per_sample" in row:
        return row["name"], f"{row['bytes_per_sample']:.1f} B", "", "", "", f"≤ {row['target_bytes']} B"
    target = row.get("target")
    return (
        row["name"],
        _seconds(row["ours_seconds"]),
        row["peer"],
        _seconds(row["peer_seconds"]),
        f"{row['ratio']:.3g} ×",
        f"{target:g} ×" if target else "",
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def _page(results: dict[str, list[Row]]) -> str:
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`: both sides in one run, interleaved, the median of several rounds. The ratio is the",
        "peer's time over ours, so above one ours is faster. Times vary with the machine, ratios much less.",
        "",
        "Parts may come from different runs. Peers that need many seconds ran once (`table_peers`, some of `design`).",
        "Where the peer is a limit or a time allowed there is no peer, and the ratio shows how far below it we stay.",
        "TPC-H has scale factor 1 in `tpch`, and 0.1 for all sides in `tpch_peers`, where both errors are in the name.",
        "",
        f"Last run: Python {platform.python_version()}, {platform.machine()}, single-threaded.",
    ]
    for part, rows in results.items():
        lines += ["", f"## {part}", "", "| what | ours | peer | theirs | ratio | target |", "|---|--:|---|--:|--:|--:|"]
        lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
