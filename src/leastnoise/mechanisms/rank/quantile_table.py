"""Quantiles of each of several groups, with the ends of their intervals where they are asked for.

The records of each group are answered by the same mechanisms with fresh noise: the quantiles, and for each of them the
two bounds of its interval. One record is in one group. So adding or removing it changes the law of one group's answers,
and what a release costs is what one group costs, however many there are. Where a unit may be in g groups, it is a chain
of g such steps, each in another group: the costs of g groups add up, and nothing more, for each group has noise of its
own.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, Size, Source, read_integer, shape_of
from leastnoise.mechanisms.rank.quantile import LatticeQuantile
from leastnoise.mechanisms.rank.several_quantiles import SeveralQuantiles
from leastnoise.mechanisms.rank.tally import Tally
from leastnoise.model import LEVEL, Certificate, Composed, ErrorEstimate, Event, Mechanism, Reason

__all__ = ["QuantileTable"]


@dataclass(frozen=True)
class QuantileTable(Mechanism):
    """The same mechanisms for each of several groups. The truth is a table of counts: group by place of the lattice.

    Each count may be three: of records below the point of the place, at it and above it.

    Args:
        parts: What is drawn for each group, in order: the quantiles first.
        groups: How many groups there are.
        touched: In how many of them one unit may be.

    >>> from leastnoise.mechanisms.rank.quantile import Quantile
    >>> medians = QuantileTable((Quantile(1, range(3)),), groups=2)
    >>> medians.release([[5, 0, 0], [0, 0, 90]]).shape, medians.event
    ((2, 1), BoundedRange(epsilon=Fraction(1, 1)))
    """

    name: ClassVar[str] = "private quantiles"
    parts: tuple[SeveralQuantiles | LatticeQuantile, ...]
    groups: int = 1
    touched: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no table."""
        if not self.parts or any(not isinstance(part, SeveralQuantiles | LatticeQuantile) for part in self.parts):
            raise BadParameter(
                "parts must be rank mechanisms, at least one", fix="pass for example (Quantile(1, grid),)"
            )
        if any(part.records is not None for part in self.parts):
            raise BadParameter("parts must not know how many records a group has", fix="leave out `records`")
        object.__setattr__(self, "groups", read_integer(self.groups, "groups", at_least=1))
        touched = read_integer(self.touched, "touched", at_least=1, at_most=self.groups)
        object.__setattr__(self, "touched", touched)

    @property
    def event(self) -> Event:
        """All parts, in each group that a unit may be in."""
        each = tuple(part.event for part in self.parts) * self.touched
        return each[0] if len(each) == 1 else Composed(each)

    @property
    def width(self) -> int:
        """How many numbers are drawn for a group."""
        return sum(_width(part) for part in self.parts)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """An array of numbers, group by part; with `size` an array of such arrays."""
        tallies, shape = self._read(truth), shape_of(size)
        count = prod(shape)
        rows = np.empty((count, self.groups, self.width))
        for group, tally in enumerate(tallies):
            parts = [np.reshape(part.draw(tally, count, source), (count, -1)) for part in self.parts]
            rows[:, group] = np.concatenate(parts, axis=1)
        return rows.reshape((*shape, self.groups, self.width))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth) for a tuple with a tuple of numbers for each group."""
        tallies = self._read(truth)
        rows = output if isinstance(output, tuple) else ()
        if len(rows) != self.groups or any(not isinstance(row, tuple) or len(row) != self.width for row in rows):
            return Enclosure(Fraction(0), Fraction(0))
        lower = upper = Fraction(1)
        for row, tally in zip(rows, tallies, strict=True):
            start = 0
            for part in self.parts:
                wide = _width(part)
                mass = part.pmf(row[start : start + wide] if _is_several(part) else row[start], tally, bits)
                lower, upper, start = lower * mass.lower, upper * mass.upper, start + wide
        return Enclosure(lower, upper)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """That of the quantiles."""
        return self.parts[0].error(level)

    def reference_error(self, rows: int) -> float:
        """That of the quantiles, for so many rows in a group."""
        return self.parts[0].reference_error(rows)

    def reason(self) -> Reason:
        """That of the quantiles."""
        return self.parts[0].reason()

    def certificate(self) -> Certificate:
        """That of the quantiles of one group."""
        return self.parts[0].certificate()

    def _read(self, truth: Any) -> list[Tally]:
        tables = np.asarray(truth)
        if tables.ndim not in (2, 3) or len(tables) != self.groups:
            raise BadParameter(
                "the truth is a table of counts, a row for each group",
                given=f"{tables.ndim} axes",
                fix=f"pass {self.groups} rows",
            )
        return [Tally(row) for row in tables]


def _is_several(part: SeveralQuantiles | LatticeQuantile) -> bool:
    return isinstance(part, SeveralQuantiles)


def _width(part: SeveralQuantiles | LatticeQuantile) -> int:
    return len(part.levels) if isinstance(part, SeveralQuantiles) else 1
