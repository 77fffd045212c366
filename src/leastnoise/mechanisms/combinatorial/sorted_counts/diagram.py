"""Sorted counts as the border of a Young diagram: a walk of steps down and right that comes in long runs.

The counts v₁ ≥ v₂ ≥ … are the heights of columns. The border starts on the vertical axis at height v₁, goes right along
the top of a column and down from one height to the next. A list of N records has at most √(2N) distinct counts, so the
border of a list of ten million counts is a few thousand runs. Every other diagram is the same walk with some steps
turned; `Turns` lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter

__all__ = [
    "LARGEST_COUNT",
    "Border",
    "Integers",
    "Turns",
    "border_of",
    "distance",
    "read_counts",
    "read_list",
    "turned",
]

Integers = NDArray[np.int64]

LARGEST_COUNT = 1 << 60  # a border then has less than 2^61 steps


@dataclass(frozen=True)
class Border:
    """Runs of equal steps, in order; a run goes right where `right` says so, else down."""

    right: NDArray[np.bool_]
    lengths: Integers

    def starts(self) -> Integers:
        """How many steps come before each run."""
        return np.cumsum(self.lengths) - self.lengths


@dataclass(frozen=True)
class Turns:
    """How the border of another diagram differs.

    Attributes:
        steps: The numbers of the steps that are turned, increasing.
        before: How long the walk stays at shift 1, 2, …, k before the first step of the border, each at least one.
        after: How long it stays at shift k, …, 2, 1 from the last step on, each at least one.
    """

    steps: Integers
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


def read_counts(counts: Any, top: int | None = None) -> tuple[Integers, Integers]:
    """Distinct positive counts, decreasing, and how often each occurs; of the `top` largest counts only.

    Counts are whole numbers in any order; of a mapping the values count. That they are is public, and all else is
    private, so no whole number is refused: each is clamped to [0, 2^60], and zeros are dropped. Clamping moves two
    counts no further apart, so a list with one record more or less stays one, or becomes the same list.

    >>> [part.tolist() for part in read_counts([3, 1, 0, 1, 7])], read_counts([-5, 2**70])[0].tolist() == [2**60]
    ([[7, 3, 1], [1, 1, 2]], True)
    """
    values, times = _distinct(_clamped(counts))
    if top is not None:
        before = np.cumsum(times) - times
        times = np.minimum(times, top - before)
        values, times = values[before < top], times[before < top]
    return values, times


def read_list(output: Any) -> tuple[Integers, Integers] | None:
    """A released list in the same form; None for one that is never released, or has a count above 2^60."""
    array = np.asarray(output, dtype=object)
    whole = array.ndim == 1 and all(isinstance(count, Integral) for count in array)
    return read_counts(array) if whole and all(0 <= count <= LARGEST_COUNT for count in array) else None


def _clamped(counts: Any) -> Integers:
    """Whole numbers of any size as 64-bit integers between 0 and 2^60."""
    listed = list(counts.values()) if isinstance(counts, Mapping) else counts
    try:
        array = np.asarray(listed)
    except (TypeError, ValueError, OverflowError):
        array = np.empty((0, 0))
    if array.ndim == 1 and array.dtype.kind in "iu":
        wide = array if array.dtype.itemsize == 8 else array.astype(np.int64)
        clamped: Integers = np.clip(wide, 0, LARGEST_COUNT).astype(np.int64)
        return clamped
    if array.ndim == 1 and all(isinstance(count, Integral) and not isinstance(count, bool) for count in listed):
        return np.array([min(max(int(count), 0), LARGEST_COUNT) for count in listed], dtype=np.int64)
    # The text shows no count: they are private.
    raise BadParameter("counts must be a flat list of whole numbers", fix="pass [520, 311, 12, 1]")


def _distinct(array: Integers) -> tuple[Integers, Integers]:
    if int(array.max(initial=0)) <= 4 * len(array) + 1_000_000:
        table = np.bincount(array, minlength=1)
        table[0] = 0
        values = np.flatnonzero(table)[::-1]
        return values, table[values]
    values, times = np.unique(array, return_counts=True)
    return values[values > 0][::-1], times[values > 0][::-1]


def border_of(values: Integers, times: Integers, columns: int | None = None) -> Border:
    """The border of a diagram with `times[i]` columns of height `values[i]`, down to the axis.

    With `columns` it goes on along the axis, to as many columns in all.

    >>> border_of(np.array([3, 1]), np.array([1, 2])).lengths.tolist()
    [1, 2, 2, 1]
    """
    drops = values - np.append(values[1:], 0) if len(values) else values
    lengths = np.column_stack([times, drops]).ravel()
    right = np.tile([True, False], len(values))
    rest = 0 if columns is None else columns - int(times.sum())
    if rest:
        lengths, right = np.append(lengths, rest), np.append(right, True)
    return Border(right.astype(np.bool_), lengths.astype(np.int64))


def turned(border: Border, turns: Turns) -> tuple[Integers, Integers]:
    """The columns of the diagram whose border has these turns: heights and how many columns have each."""
    starts = border.starts()
    run = np.searchsorted(starts, turns.steps, side="right") - 1
    # Cut each run at its turned steps; a turned step is a run of its own, of the other kind. Where several pieces start
    # at the same step only the last has a length: a run comes after the rest of the run before it, which is empty then,
    # and a turned step after the run that it opens.
    places = np.concatenate([turns.steps + 1, starts, turns.steps])
    kinds = np.concatenate([border.right[run], border.right, ~border.right[run]])
    order = np.argsort(places, kind="stable")
    places, kinds = places[order], kinds[order]
    lengths = np.diff(np.append(places, int(border.lengths.sum())))
    before_kinds, before_lengths = _before(turns.before)
    after_kinds, after_lengths = _after(turns.after)
    kinds = np.concatenate([before_kinds, kinds, after_kinds])
    lengths = np.concatenate([before_lengths, lengths, after_lengths])
    downs = np.where(kinds, 0, lengths)
    heights = downs.sum() - np.cumsum(downs)
    columns = kinds & (lengths > 0) & (heights > 0)
    return heights[columns], lengths[columns]


def distance(one: tuple[Integers, Integers], other: tuple[Integers, Integers]) -> int:
    """‖x − y‖₁ of two sorted lists: by Σ_h |#{x ≥ h} − #{y ≥ h}|, which is the same area counted by rows.

    >>> distance(read_counts([3, 1, 1]), read_counts([2, 2]))
    3
    """
    heights = np.union1d(np.concatenate([one[0], other[0]]), [0])
    at_least = [_columns_at_least(heights[1:], *each) for each in (one, other)]
    gaps = np.abs(at_least[0] - at_least[1])
    return sum(gap * step for gap, step in zip(gaps.tolist(), np.diff(heights).tolist(), strict=True))


def _columns_at_least(heights: Integers, values: Integers, times: Integers) -> Integers:
    totals = np.append(0, np.cumsum(times))
    return totals[np.searchsorted(-values, -heights, side="right")]


def _before(stays: tuple[int, ...]) -> tuple[NDArray[np.bool_], Integers]:
    """At shift j the walk has just gone right, and then goes down as often as it stays there, less that one step."""
    kinds = np.tile([True, False], len(stays)).astype(np.bool_)
    downs = [stay - 1 for stay in stays]
    return kinds, np.column_stack([np.ones(len(stays), dtype=np.int64), np.array(downs, dtype=np.int64)]).ravel()


def _after(stays: tuple[int, ...]) -> tuple[NDArray[np.bool_], Integers]:
    """The mirror image: right as often as it stays at shift j, less one, then down."""
    kinds = np.tile([True, False], len(stays)).astype(np.bool_)
    rights = [stay - 1 for stay in stays]
    return kinds, np.column_stack([np.array(rights, dtype=np.int64), np.ones(len(stays), dtype=np.int64)]).ravel()
