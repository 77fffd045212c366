"""The one place where the sensitivity of a question is derived, from what the engine enforces and nothing else.

The engine keeps at most g = `groups_per_unit` cells of a unit in each table and lets it count in each of them as at
most r = `rows_per_unit` rows, each worth between `low` and `high` steps. What a unit adds to a cell therefore lies
between r·min(low, 0) and r·max(high, 0), and the tables without the unit do not depend on it. So a unit changes at most
Σ min(g, size) cells over the tables, each by at most r·max(|low|, |high|), and all of them the same way unless
low < 0 < high. tests/release/test_neighbours.py compares this with all neighbours of small tables, for every question.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from leastnoise.data import Contribution, CountUnits, Measure, SumOf
from leastnoise.model.sensitivity import Norm, Sensitivity
from leastnoise.release.tables import number

__all__ = ["sensitivity_of", "unit_name"]


def sensitivity_of(
    contribution: Contribution,
    measure: Measure,
    tables: Sequence[int | None] = (1,),
    *,
    pair: bool = False,
    norm: Norm = "l1",
) -> Sensitivity:
    """How much one unit, added or removed, changes what is released.

    Args:
        contribution: What the engine enforces.
        measure: What the engine adds up in each cell; from it follow what a row is worth and what a step is.
        tables: The number of cells of each table that is released; None where it is not limited.
        pair: Whether a cell holds both Σ(q − low) and Σ(high − q) in place of Σ(q − centre): a row is worth the width
            of the bounds to the two together.
        norm: What the mechanism is calibrated to.

    >>> from leastnoise.data import CountRows
    >>> sensitivity_of(Contribution("person", 2, 3), CountRows(), (5,)).l1
    6
    >>> sensitivity_of(Contribution("person", 2, 3), SumOf("x", Fraction(-7), Fraction(4), Fraction(1)), (5,)).l1
    42
    """
    groups, rows = contribution.groups_per_unit, contribution.rows_per_unit
    low, high, step = 1, 1, Fraction(1)
    if isinstance(measure, SumOf):
        low, high, step = measure.lowest, measure.highest, measure.step**measure.power
        if pair:
            low = high = measure.steps[1] - measure.steps[0]
    if isinstance(measure, CountUnits):
        rows = 1
    cells = sum(groups if size is None else min(groups, size) for size in tables)
    return Sensitivity(
        cells=cells,
        each=rows * max(abs(low), abs(high)),
        reason=_reason(contribution, measure, tables, cells, (low * step, high * step)),
        step=step,
        norm=norm,
        monotone=low >= 0 or high <= 0,
    )


def unit_name(contribution: Contribution) -> str:
    """What one unit is called."""
    return "a row" if contribution.privacy_unit is None else f"one {contribution.privacy_unit}"


def _reason(
    contribution: Contribution,
    measure: Measure,
    tables: Sequence[int | None],
    cells: int,
    worth: tuple[Fraction | int, Fraction | int],
) -> str:
    rows, several = contribution.rows_per_unit, tuple(tables) != (1,)
    where = f" in at most {_many(cells, 'cell')}" if several else ""
    where += f" of {len(tables)} tables" if len(tables) > 1 else ""
    if contribution.privacy_unit is None or isinstance(measure, CountUnits):
        amount = "once" + (" in each" if several else "")
    else:
        amount = f"with at most {_many(rows, 'row')}" + (" in each" if several else "")
    values = ""
    if isinstance(measure, SumOf):
        low, high = map(number, worth)
        values = f", a row worth {low}" if low == high else f", a row worth between {low} and {high}"
    return f"{unit_name(contribution)}, added or removed, counts{where} {amount}{values}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
