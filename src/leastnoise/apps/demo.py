"""`leastnoise demo`: the main job on a table of a million rows: plan for nothing, release, see how far off it is."""

from __future__ import annotations

import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from leastnoise.apps.demo_table import CITIES, DIAGNOSES, MOST_VISITS, Visits, make_visits
from leastnoise.checker import check
from leastnoise.data.engines.duckdb import write_parquet
from leastnoise.errors import MissingPackage
from leastnoise.mechanisms.combinatorial import zipf_counts
from leastnoise.release import open as open_dataset
from leastnoise.release.combinatorial import min_cut, sorted_counts

if TYPE_CHECKING:
    from leastnoise.release import Dataset, Query, Release

__all__ = ["run"]

_MOST = 1000  # what a visit is taken to cost at most
_USERS = 10_000_000


def run(console: Console | None = None, rows: int = 1_000_000) -> None:
    """Print the demonstration."""
    console = console or Console()
    started = time.perf_counter()
    console.rule("[bold]leastnoise[/bold]: the least noise differential privacy allows")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "visits.parquet"
        with console.status(f"making up {rows:,} visits to doctors …"):
            visits = make_visits(rows)
            write_parquet(visits.columns, file)
        persons = len(np.unique(visits.columns["person_id"]))
        console.print(
            f"\nMade up {rows:,} visits by {persons:,} persons: {', '.join(visits.columns)} "
            f"[dim]({file.stat().st_size / 1e6:.0f} MB of Parquet; nobody's data)[/dim]"
        )
        with open_dataset(
            file, privacy_unit="person_id", budget=1, ledger=Path(folder) / "ledger", rows_per_unit=MOST_VISITS
        ) as dataset:
            console.print(
                "Protected: every person with all visits. Budget: [bold]ε = 1[/bold] for all questions together."
            )
            histogram = _histogram(console, dataset, visits)
            _sum(console, dataset, visits)
            _median(console, dataset, visits)
            _most_common(console, dataset, visits)
            _majority(console, dataset, visits)
            _check(console, histogram)
            _draw(console, histogram)
            console.print(f"\nSpent: {dataset.ledger.balances()[0].spent} of {dataset.budget}; left: {dataset.left}")
    _passwords(console, _USERS if rows >= 1_000_000 else rows)
    _club(console)
    console.print(
        f"\n[green]demo finished[/green] in {time.perf_counter() - started:.0f} s: all was computed just now."
    )


def _ask(console: Console, title: str, query: Query, epsilon: str) -> Release:
    """Plan, then release."""
    console.print(f"\n[bold]{title}[/bold]")
    plan = query.plan(epsilon)
    console.print(plan)
    with console.status("reading the table …"):
        started = time.perf_counter()
        release = query.release(epsilon)
        seconds = time.perf_counter() - started
    console.print(f"released in {seconds:.2f} s at a cost of {release.cost}", style="dim", highlight=False)
    return release


def _histogram(console: Console, dataset: Dataset, visits: Visits) -> Release:
    query = dataset.count(by="city", keys=CITIES, of="units")
    release = _ask(console, "1. How many persons in each town?", query, "ln(3/2)")
    table = Table(title="persons by town (true counts are shown because this is a demo)")
    for column in ("town", "true", "released", "off by", "95 % error bar"):
        table.add_column(column, justify="left" if column == "town" else "right")
    true = visits.persons_by_city()
    for town, value, low, high in release.table:
        table.add_row(town, f"{true[town]:,}", f"{value:,}", f"{value - true[town]:+d}", f"{low:,} … {high:,}")
    console.print(table)
    return release


def _sum(console: Console, dataset: Dataset, visits: Visits) -> None:
    query = dataset.sum("cost", bounds=(0, _MOST), step="0.01")
    release = _ask(console, "2. What did all visits cost together?", query, "0.19")
    costs = visits.columns["cost"]
    _compare(console, float(np.nansum(np.clip(costs, 0, _MOST))), float(release.value), f"with no visit above {_MOST}")


def _median(console: Console, dataset: Dataset, visits: Visits) -> None:
    query = dataset.median("age", bounds=(0, 120), step=1)
    release = _ask(console, "3. The median age at a visit?", query, "0.19")
    _compare(console, float(np.median(visits.columns["age"])), float(release.value), "years")


def _most_common(console: Console, dataset: Dataset, visits: Visits) -> None:
    query = dataset.most_common(5, by="diagnosis", keys=DIAGNOSES)
    release = _ask(console, "4. The five most common diagnoses?", query, "0.19")
    true = visits.most_common_diagnoses(5)
    found = [str(name) for name in release.table["value"]]
    console.print(f"true:     {', '.join(true)}")
    console.print(f"released: {', '.join(found)}  ({len(set(true) & set(found))} of 5 right)")


def _majority(console: Console, dataset: Dataset, visits: Visits) -> None:
    towns = CITIES[1:3]
    query = dataset.decision(by="city", keys=towns)
    release = _ask(console, f"5. Which has more persons, {towns[0]} or {towns[1]}?", query, "0.02")
    true = visits.persons_by_city()
    console.print(f"true: {max(towns, key=lambda town: true[town])}   released: {release.value}")


def _passwords(console: Console, users: int) -> None:
    """A list whose entries are private and whose names are not asked for."""
    counts = zipf_counts(users)
    console.print(f"\n[bold]Beyond tables: how often do {users:,} users choose the same password?[/bold]")
    with console.status("drawing a list …"):
        release = sorted_counts(counts, 1, total=users, longest=len(counts))
    off = int(np.abs(_padded(release.value, len(counts)) - _padded(counts, len(release.value))).sum())
    console.print(f"released at a cost of {release.cost} by the {release.plan.mechanism.name}", style="dim")
    console.print(f"true:     {', '.join(f'{count:,}' for count in counts[:6])}, …")
    console.print(f"released: {', '.join(f'{count:,}' for count in release.value[:6])}, …  off by {off:,} in all")


def _padded(counts: NDArray[Any], length: int) -> NDArray[Any]:
    return np.pad(counts, (0, max(length - len(counts), 0)))


def _club(console: Console) -> None:
    """Zachary's karate club, 34 members: who talks to whom is private."""
    club = import_module("igraph").Graph.Famous("Zachary")
    console.print("\n[bold]And where does a karate club split most easily?[/bold]")
    release = min_cut(club, 4)
    cut = ", ".join(str(node) for node in sorted(release.value))
    ties = sum((edge.source in release.value) != (edge.target in release.value) for edge in club.es)
    least = club.mincut().value
    console.print(
        f"members {cut} from the rest, at a cost of {release.cost}; ties cut: {ties}, least: {least:.0f}",
        highlight=False,
    )


def _compare(console: Console, true: float, released: float, what: str) -> None:
    off = abs(released - true) / max(abs(true), 1e-9)
    console.print(
        f"true: {true:,.2f}   released: {released:,.2f}   off by {released - true:+,.2f} ({off:.4%}) [dim]{what}[/dim]"
    )


def _check(console: Console, release: Release) -> None:
    """The checker trusts nothing but the certificate's own numbers."""
    console.print()
    certificate = release.certificate
    if certificate is None:
        console.print(f"No certificate comes with the counts: {release.no_certificate}", markup=False)
        return
    verdict = check(certificate)
    console.print(verdict.headline(), style="green" if verdict else "red", markup=False)


def _draw(console: Console, release: Release) -> None:
    picture = Path(tempfile.mkdtemp(prefix="leastnoise-demo-")) / "persons_by_town.svg"
    try:
        release.plot(picture)
    except MissingPackage as missing:
        picture.parent.rmdir()
        console.print(f"No picture was drawn: {missing}", markup=False)
        return
    console.print(f"A picture of the counts with their error bars: {picture}", markup=False, soft_wrap=True)
