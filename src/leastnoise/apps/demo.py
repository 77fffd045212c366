"""`leastnoise demo`: the main job, from the error before it is spent to the check afterwards."""

from __future__ import annotations

import time
from fractions import Fraction

from rich.console import Console
from rich.table import Table

from leastnoise.check import check
from leastnoise.exact import discrete_laplace
from leastnoise.mechanisms.choosing import plan_for
from leastnoise.mechanisms.numeric import CountProblem, Geometric, TruncatedGeometric
from leastnoise.model.graphs import path

__all__ = ["run"]

_EPSILON = Fraction(1, 2)
# A made-up town: nobody's data.
_COUNTS = {"Ashford": 1204, "Brook": 87, "Carrow": 9, "Dunmere": 431, "Elmhurst": 0}


def run(console: Console | None = None) -> None:
    """Print the demonstration."""
    console = console or Console()
    console.rule("[bold]leastnoise[/bold]: the least noise differential privacy allows")
    _release(console)
    _compare(console)
    _check(console)
    _race(console)
    console.print("[green]demo finished[/green]: every number above was computed just now.")


def _release(console: Console) -> None:
    """Plan for free, then release each count."""
    mechanism = Geometric(epsilon=_EPSILON)
    estimate, reason = mechanism.error(), mechanism.why()
    level = max(estimate.quantiles)
    console.print(f"\nOne person more or less changes one count by one; [bold]ε = {_EPSILON}[/bold].")
    console.print(
        f"Before anything is spent: expected error {float(estimate.expected):.3f}, "
        f"with probability {float(level):.0%} at most {estimate.quantiles[level]}."
    )
    console.print(f"Why nothing is less noisy: {reason.theorem} [dim]({reason.citation})[/dim]\n")
    table = Table(title=f"Counts by town, {mechanism.name}")
    for column in ("town", "true count", "released", "off by"):
        table.add_column(column, justify="left" if column == "town" else "right")
    released = {town: mechanism.release(count) for town, count in _COUNTS.items()}
    for town, count in _COUNTS.items():
        table.add_row(town, str(count), str(released[town]), f"{released[town] - count:+d}")
    console.print(table)
    mean = sum(abs(released[town] - count) for town, count in _COUNTS.items()) / len(_COUNTS)
    console.print(f"Mean error this time: {mean:.2f}  [dim](true counts are shown because this is a demo)[/dim]\n")


def _compare(console: Console) -> None:
    """Which mechanism wins is computed, not believed."""
    problem = CountProblem(epsilon=_EPSILON, sensitivity=3, bounds=(0, 1000))
    console.print("If one person may change a count by three, the expected errors are:")
    console.print(f"{plan_for(problem)}\n", highlight=False)


def _check(console: Console) -> None:
    """The checker knows nothing of the mechanism but its matrix."""
    mechanism = TruncatedGeometric(low=0, high=4, epsilon="ln(2)")
    channel = mechanism.channel(range(5), range(5))
    console.print("The same law between 0 and 4 at ε = ln 2, as an exact matrix:")
    console.print(str(channel), highlight=False)
    for epsilon in ("ln(2)", "ln(1.99)"):
        verdict = check(channel, path(5), epsilon=epsilon)
        console.print(f"\n{verdict}", style="green" if verdict else "red", highlight=False)
    console.print()


def _race(console: Console) -> None:
    """How fast the exact noise is."""
    size, seconds = 1_000_000, float("inf")
    for _ in range(5):
        started = time.perf_counter()
        discrete_laplace(rate=_EPSILON, size=size)
        seconds = min(seconds, time.perf_counter() - started)
    console.print(
        f"A million draws of exact noise took {seconds * 1000:.1f} ms, {size / seconds / 1e6:.0f} million a second "
        "[dim](`make bench` compares with peers)[/dim].\n"
    )
