"""Outputs of a sampler, of whatever kind, sorted into finitely many cells.

A cell is what an output is, coordinate by coordinate: a label where there are few different values, an interval where
they are numbers of which there are many. The cells are learnt from one half of the outputs and then applied to any.
"""

from __future__ import annotations

import inspect
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np

from leastnoise.errors import BadParameter

__all__ = ["Output", "OutputBins", "OutputColumn", "as_tuple", "candidate_cells", "draw"]

Output: TypeAlias = tuple[Hashable, ...]

_MOST_LABELS = 64
_INTERVALS = 48
_MOST_JOINED = 3


class _Missing:
    """Stands where an output is shorter than others."""

    def __repr__(self) -> str:
        """What an event calls it."""
        return "nothing"


_NOTHING = _Missing()


def draw(sampler: Callable[..., Any], arguments: tuple[Any, ...], size: int) -> list[Output]:
    """`size` outputs of sampler(*arguments, size), or of as many calls of sampler(*arguments), as tuples."""
    if not callable(sampler):
        raise BadParameter("a sampler is a function", given=type(sampler).__name__, fix="pass a function that draws")
    if _takes(sampler, len(arguments) + 1):
        outputs = sampler(*arguments, size)
        if not hasattr(outputs, "__len__") or len(outputs) != size:
            given = f"{len(outputs)} outputs" if hasattr(outputs, "__len__") else type(outputs).__name__
            raise BadParameter(f"the sampler must return {size} outputs", given=given, fix="honour its last argument")
    else:
        outputs = [sampler(*arguments) for _ in range(size)]
    return [as_tuple(output) for output in (outputs.tolist() if isinstance(outputs, np.ndarray) else outputs)]


def _takes(sampler: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with so many arguments; one that does not say can."""
    try:
        signature = inspect.signature(sampler)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


def as_tuple(output: Any) -> Output:
    """An output as the tuple of its parts; one that has none is a tuple of one."""
    if isinstance(output, np.ndarray):
        output = output.tolist()
    parts = tuple(output) if isinstance(output, list | tuple) else (output,)
    parts = tuple(part.item() if isinstance(part, np.generic) else part for part in parts)
    try:
        hash(parts)
    except TypeError:
        raise BadParameter(
            "an output must be hashable, or a list of hashable parts", given=type(output).__name__, fix="return a tuple"
        ) from None
    return parts


class OutputColumn:
    """The cells of one coordinate: a number for each label or interval, 0 for whatever was never seen."""

    def __init__(self, values: Sequence[Hashable]) -> None:
        counts = Counter(values)
        self.is_binned = len(counts) > _MOST_LABELS and any(_is_number(value) for value in counts)
        labels = [value for value, _ in counts.most_common() if not (self.is_binned and _is_number(value))]
        self._labels = {label: place for place, label in enumerate(labels[:_MOST_LABELS], start=1)}
        numbers: list[Any] = sorted(value for value in values if _is_number(value)) if self.is_binned else []
        self._edges = sorted({numbers[len(numbers) * k // _INTERVALS] for k in range(1, _INTERVALS)} if numbers else ())

    def cell(self, value: Any) -> int:
        """The cell that a value lies in."""
        if self.is_binned and _is_number(value):
            return 1 + len(self._labels) + bisect_right(self._edges, value)
        return self._labels.get(value, 0)

    def show(self, first: int, last: int) -> str:
        """The label of a cell, or the interval from one cell to another."""
        if last == 0:
            return "anything else"
        if last <= len(self._labels):
            return repr(list(self._labels)[last - 1])
        ends = ["−∞", *(f"{float(edge):.6g}" for edge in self._edges), "∞"]
        offset = 1 + len(self._labels)
        return f"[{ends[first - offset]}, {ends[last - offset + 1]})"

    def is_interval(self, cell: int) -> bool:
        """Whether a cell is an interval."""
        return cell > len(self._labels)


class OutputBins:
    """Outputs told apart by some of their coordinates."""

    def __init__(self, columns: Sequence[OutputColumn], chosen: tuple[int, ...]) -> None:
        self._columns = [(place, columns[place]) for place in chosen]
        self._whole = len(columns) == len(chosen)

    def count(self, outputs: Sequence[Output]) -> Counter[tuple[int, ...]]:
        """How many outputs lie in each cell."""
        return Counter(self.cell(output) for output in outputs)

    def cell(self, output: Output) -> tuple[int, ...]:
        """The cell of an output."""
        return tuple(column.cell(output[place] if place < len(output) else _NOTHING) for place, column in self._columns)

    def show(self, members: Iterable[tuple[int, ...]]) -> list[str]:
        """OutputBins for the eye, intervals that touch joined; coordinates are named where only some of them count."""
        runs: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        for cell in sorted(members):
            if runs and self._touches(runs[-1][1], cell):
                runs[-1] = runs[-1][0], cell
            else:
                runs.append((cell, cell))
        return [self._show_run(*run) for run in runs]

    def _touches(self, cell: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return cell[:-1] == other[:-1] and cell[-1] + 1 == other[-1] and self._columns[-1][1].is_interval(cell[-1])

    def _show_run(self, first: tuple[int, ...], last: tuple[int, ...]) -> str:
        ends = zip(self._columns, first, last, strict=True)
        parts = [(place, column.show(low, high)) for (place, column), low, high in ends]
        if self._whole:
            return parts[0][1] if len(parts) == 1 else f"({', '.join(part for _, part in parts)})"
        return " and ".join(f"#{place} = {part}" for place, part in parts)


def candidate_cells(outputs: Sequence[Output]) -> list[OutputBins]:
    """Ways to sort outputs into cells: all labels together, with each binned coordinate, and each coordinate alone."""
    columns = [OutputColumn(values) for values in zip_longest(*outputs, fillvalue=_NOTHING)]
    labels = tuple(place for place, column in enumerate(columns) if not column.is_binned)
    binned = [place for place, column in enumerate(columns) if column.is_binned]
    ways: list[tuple[int, ...]] = [(place,) for place in range(len(columns))]
    ways += [tuple(sorted((*labels, place))) for place in binned]
    ways += [labels] if labels else []
    ways += [tuple(range(len(columns)))] if len(binned) <= _MOST_JOINED else []
    return [OutputBins(columns, way) for way in dict.fromkeys(ways)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool) and value == value
