"""Draw the pictures of the documentation again: `python tools/pictures.py docs/pictures`. The same files every time."""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np

from leastnoise.accounting import Ledger, Request
from leastnoise.apps.demo_table import CITIES, make_visits
from leastnoise.apps.design_plots import plot_frontier
from leastnoise.apps.plots import plot_burn_down, plot_channel
from leastnoise.designer.comparison import compare
from leastnoise.errors import BudgetExceeded
from leastnoise.exact import SeededSource
from leastnoise.mechanisms import TruncatedGeometric
from leastnoise.model.events import Pure
from leastnoise.model.privacy import Privacy
from leastnoise.release import Release, open as open_dataset
from papers.laplace import draw_figures as draw_simplex
from papers.rainbow import draw_figures as draw_rainbow

_DAY = 86400
_MAY = 1_777_593_600  # 2026-05-01


def frontier(path: Path) -> None:
    """Expected distance on a path against ε, for all mechanisms that are compared by default."""
    plot_frontier(compare("path:40", [Fraction(k, 10) for k in (1, 2, 3, 5, 7, 10, 14, 20, 30)]), path)


def heat_map(path: Path) -> None:
    """The truncated geometric mechanism on five counts at e^ε = 2 (FMM 2021, section VII)."""
    channel = TruncatedGeometric("ln(2)", 0, 4).channel(range(5), range(5))
    plot_channel(channel, path, "truncated geometric mechanism, ε = ln(2)")


def release(path: Path) -> None:
    """Counts of a made-up table with their error bars.

    A release refuses noise that can be foretold, so the table is drawn from the mechanism itself, seeded.
    """
    visits = make_visits(400)
    places = {"person_id": visits.columns["person_id"], "city": np.array(visits.columns["city"], dtype=str)}
    with tempfile.TemporaryDirectory() as folder:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table, ledger = Path(folder) / "visits.parquet", Path(folder) / "visits.ledger"
        pq.write_table(pa.table(places), table)
        with open_dataset(table, privacy_unit="person_id", budget=1, ledger=ledger) as dataset:
            query, epsilon = dataset.count(by="city", keys=CITIES[:12], of="units"), Fraction(1, 2)
            how = query.answer_plan(Privacy(epsilon))
            drawn = how.mechanism.draw(query.read(), source=SeededSource(_MAY))
            Release(how.to_table(how.encode(drawn), Fraction(19, 20)), query.plan(epsilon)).plot(path)


def burn_down(path: Path) -> None:
    """Thirty days of questions to two datasets, one of which gets a new budget every ten days."""
    now = _MAY
    asked = {"census": ("1/10", 1), "hospital": ("1/4", 2)}  # how much a question costs, and every how many days
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.create(Path(folder) / "month.ledger", clock=lambda: now) as ledger,
    ):
        ledger.grant(Privacy(2), dataset="census")
        ledger.grant(Privacy(1, "1e-6"), dataset="hospital", refresh=10 * _DAY)
        ledger.grant(Privacy(3), analyst="ada")
        for day in range(1, 28):
            now = _MAY + day * _DAY
            for dataset, (epsilon, every) in asked.items():
                analyst = "ada" if day % 3 else "ben"
                if day % every == 0:
                    with suppress(BudgetExceeded):  # refused, at no cost: the course stays level
                        ledger.debit(Request(f"{dataset} {day}", Pure(epsilon), dataset, analyst))
        plot_burn_down(ledger, path, until=_MAY + 29 * _DAY)


def draw_all(folder: Path) -> None:
    """All pictures but that of `tools/sorted_histograms.py`, which takes its time."""
    folder.mkdir(parents=True, exist_ok=True)
    frontier(folder / "frontier.svg")
    heat_map(folder / "heatmap.svg")
    release(folder / "release.svg")
    burn_down(folder / "burn_down.svg")
    draw_simplex(folder)
    draw_rainbow(folder)


if __name__ == "__main__":
    draw_all(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"))
