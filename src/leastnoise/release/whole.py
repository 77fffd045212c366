"""Non-negative whole numbers that agree, near released numbers that need not be either: post-processing, at no cost.

One table x of non-negative whole numbers stands behind all views (the marginal tables of x, the levels of a tree, the
sums up to each cell), so the views agree whatever x is. It is found in whole numbers only, without a draw: the same
record gives the same numbers on every machine.

**Views that part the cells.** With estimates t_v(c) of the cells c of the views v, and weights, f(x) = Σ_v w_v Σ_c
(t_v(c) − Σ_{j in c} x_j)² is made small: from x = 0 the best step of ±s in one cell is taken as long as one makes f
smaller, for s = 2^k, …, 4, 2, 1. It ends, since f falls by a least amount each time, where no step of one makes f
smaller: the weighted mean of what the views lack at a cell is then at most 1/2, and where x_j > 0 at least −1/2. These
are the conditions of the least squares problem over x ≥ 0, up to 1/2.

**Sums up to each cell.** The nearest sums that do not fall and are not negative (isotonic regression: pool adjacent
violators; Robertson, Wright and Dykstra, *Order Restricted Statistical Inference*, 1988, section 1.2), each rounded.

The error is not known in closed form. It is simulated, and called so: noise is drawn again around the whole numbers
themselves, which are public, and what comes out is compared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, isqrt, prod, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import TooLarge
from leastnoise.exact import SeededSource
from leastnoise.release.tables import TidyTable, measure_names

if TYPE_CHECKING:
    from leastnoise.ledger.record import Json
    from leastnoise.model import Mechanism

__all__ = [
    "MOST_WHOLE_CELLS",
    "SimulatedError",
    "View",
    "WholeNumbers",
    "nearest_sums",
    "nearest_whole",
    "require_few",
    "simulate",
    "sums_of",
    "table_views",
    "with_whole",
]

MOST_WHOLE_CELLS = 1 << 16
"""Cells of the one table behind all views."""
_PARTS = 256  # estimates are rounded to 1/256, and so are weights against the largest
_SEED = 2026  # of simulations: the same for everybody


class WholeNumbers(NamedTuple):
    """Whole numbers for all rows of a released table, and what would have been read if they were the truth."""

    values: tuple[int, ...]
    read: NDArray[Any]


@dataclass(frozen=True)
class SimulatedError:
    """What simulations say of an error that has no closed form.

    Attributes:
        root_mean_square: Over all numbers of the table and all draws.
        draws: How often noise was drawn.
        reference: What was taken for the truth.
    """

    root_mean_square: float
    draws: int
    reference: str = "the released whole numbers themselves"

    def __str__(self) -> str:
        """The error, and that it is simulated."""
        return (
            f"root mean squared error {self.root_mean_square:.4g}, simulated: {self.draws} draws, with "
            f"{self.reference} as the truth"
        )


class View(NamedTuple):
    """Sums of groups of cells, each cell in one group.

    Args:
        groups: The number of the group of each cell, from 0 on.
        estimates: An estimate of the sum of each group.
        variance: How far off such an estimate is, squared; in proportion is enough. Zero counts as the least of others.
    """

    groups: NDArray[np.int64]
    estimates: Sequence[Fraction]
    variance: Fraction


def require_few(cells: int) -> None:
    """Refuse views of a table that is too large to be formed.

    Raises:
        TooLarge: It has more than 2^16 cells.
    """
    if cells > MOST_WHOLE_CELLS:
        raise TooLarge(
            f"whole numbers that agree are sums of one table over all columns, of at most {MOST_WHOLE_CELLS} cells",
            given=cells,
            fix="ask for fewer columns or keys, or take non_negative().rounded(), whose sums need not agree",
        )


def nearest_whole(views: Sequence[View]) -> list[int]:
    """A table of non-negative whole numbers near all views; ties go to the first cell.

    >>> halves = View(np.array([0, 0, 1]), [Fraction(5, 2), Fraction(-3)], Fraction(1))
    >>> cells = View(np.array([0, 1, 2]), [Fraction(1), Fraction(2), Fraction(-1)], Fraction(1))
    >>> nearest_whole([halves, cells])
    [1, 2, 0]

    Raises:
        TooLarge: There are more than 2^16 cells.
    """
    cells, closest = len(views[0].groups), min((view.variance for view in views if view.variance), default=Fraction(1))
    require_few(cells)
    weights = [max(1, floor(_PARTS * closest / max(view.variance, closest))) for view in views]
    targets = [[_in_parts(estimate) for estimate in view.estimates] for view in views]
    most = max(max(map(abs, target)) for target in targets)
    # f never exceeds f(0) ≤ Σw·cells·most², so what view v lacks is at most √(f(0)/w_v), and the weighted sum of k such
    # at most Σw·√(k·cells)·most by Cauchy and Schwarz, also while some of the views have taken the step and some not
    reach = 2 * sum(weights) * (isqrt(len(views) * cells) + 2) * (most + _PARTS)
    kind = np.int64 if reach < 1 << 62 else object
    lacking = np.zeros(cells, dtype=kind)  # Σ_v w_v·(what view v lacks where the cell is), in parts
    for view, weight, target in zip(views, weights, targets, strict=True):
        lacking += np.array([weight * t for t in target], dtype=kind)[view.groups]
    members = [_members(view.groups) for view in views]
    found, step = np.zeros(cells, dtype=kind), 1 << (most // _PARTS).bit_length()
    while step:
        gained = sum(weights) * step * _PARTS // 2  # a step of s makes f smaller where what lacks there is more
        while True:
            more = int(lacking.argmax())
            held = np.flatnonzero(found >= step)
            less = int(held[lacking[held].argmin()]) if held.size else more
            rise, fall = lacking[more] - gained, -lacking[less] - gained
            if rise <= 0 and (fall <= 0 or not held.size):
                break
            cell, change = (more, step) if rise >= fall or not held.size else (less, -step)
            found[cell] += change
            for view, weight, of in zip(views, weights, members, strict=True):
                lacking[of[view.groups[cell]]] -= weight * change * _PARTS
        step >>= 1
    return [int(count) for count in found]


def nearest_sums(estimates: Sequence[Fraction]) -> list[int]:
    """Whole sums that are not negative and do not fall, near estimates of the sums up to each cell.

    >>> nearest_sums([Fraction(-2), Fraction(5), Fraction(2), Fraction(9)])
    [0, 4, 4, 9]
    """
    blocks: list[tuple[Fraction, int]] = []
    for estimate in estimates:
        total, many = Fraction(estimate), 1
        while blocks and blocks[-1][0] * many >= total * blocks[-1][1]:
            before, count = blocks.pop()
            total, many = total + before, many + count
        blocks.append((total, many))
    return [max(0, floor(total / many + Fraction(1, 2))) for total, many in blocks for _ in range(many)]


def table_views(
    shape: Sequence[int], tables: Sequence[Sequence[int]], estimates: Sequence[NDArray[Any]], errors: Sequence[Fraction]
) -> list[View]:
    """The views that marginal tables are of the table over all columns.

    Raises:
        TooLarge: That one has more than 2^16 cells.
    """
    require_few(prod(shape))
    places = np.indices(shape).reshape(len(shape), prod(shape))
    found = []
    for table, values, error in zip(tables, estimates, errors, strict=True):
        groups = np.zeros(prod(shape), dtype=np.int64)
        for i in table:
            groups = groups * shape[i] + places[i]
        found.append(View(groups, [Fraction(value) for value in np.ravel(values)], error))
    return found


def sums_of(view: View, cells: Sequence[int]) -> list[int]:
    """What a view says of whole numbers."""
    sums = [0] * len(view.estimates)
    for group, count in zip(view.groups.tolist(), cells, strict=True):
        sums[group] += count
    return sums


def with_whole(values: tuple[int, ...], table: TidyTable, _: Fraction) -> TidyTable:
    """Other values, and their intervals.

    The true values are whole and not negative, so the ends of intervals move inwards to such numbers; and outwards up
    to the value where it lies beyond.
    """
    name, low, high = measure_names(table.keys)
    changed: dict[str, tuple[Any, ...]] = {name: values}
    if low in table.columns:
        changed[low] = tuple(min(max(0, ceil(end)), value) for end, value in zip(table[low], values, strict=True))
        changed[high] = tuple(max(floor(end), value) for end, value in zip(table[high], values, strict=True))
    return table.with_columns(**changed)


def simulate(
    mechanism: Mechanism,
    prepare: Callable[[Any], Any] | None,
    encode: Callable[[Any], Json],
    whole: Callable[[Json], WholeNumbers],
    found: WholeNumbers,
    draws: int,
) -> SimulatedError:
    """How far off the whole numbers are, if they are the truth: drawn again, and made whole again."""
    source, squares = SeededSource(_SEED), 0
    truth = found.read if prepare is None else prepare(found.read)
    for _ in range(draws):
        again = whole(encode(mechanism.draw(truth, source=source))).values
        squares += sum((one - other) ** 2 for one, other in zip(again, found.values, strict=True))
    return SimulatedError(sqrt(Fraction(squares, draws * len(found.values))), draws)


def _in_parts(estimate: Fraction) -> int:
    return floor(estimate * _PARTS + Fraction(1, 2))


def _members(groups: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The cells of each group."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups))[:-1])
