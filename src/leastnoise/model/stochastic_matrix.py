"""A labelled stochastic matrix: what a channel is before one asks what to do with it."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import CategoricalRows, RationalMatrix
from leastnoise.model.channel_files import (
    ChannelTable,
    table_as_dict,
    table_from_dict,
    table_from_file,
    table_from_json,
)
from leastnoise.model.labels import index_labels, read_labels, unknown_label
from leastnoise.model.probability_input import Entries, FloatMatrix, check_sums, read_entries, read_table
from leastnoise.model.show import channel_html, channel_text

__all__ = ["StochasticMatrix"]


class StochasticMatrix:
    """Rows of probabilities with labelled inputs (rows) and outputs (columns), immutable."""

    __slots__ = (
        "_entries",
        "_floats",
        "_input_places",
        "_inputs",
        "_output_places",
        "_outputs",
        "_sampler",
        "_sums_to_one",
    )

    def __init__(
        self,
        matrix: Any,
        inputs: Iterable[Hashable] | None = None,
        outputs: Iterable[Hashable] | None = None,
        *,
        rounded: bool = False,
    ) -> None:
        """Read and check a matrix; `rounded` entries may miss a row sum of one by 1e-9, as floats may."""
        table = read_table(matrix)
        names = read_labels(inputs, "inputs", len(table))
        values = read_labels(outputs, "outputs", len(table[0]))
        entries = read_entries(table, names, values)
        self._fill(entries, names, values, check_sums(entries, names, rounded=rounded))

    @classmethod
    def of_entries(
        cls, entries: Entries, inputs: Sequence[Hashable], outputs: Sequence[Hashable], *, sums_to_one: bool = True
    ) -> Self:
        """Wrap entries that are known to be stochastic, without reading them again."""
        made = cls.__new__(cls)
        made._fill(entries, inputs, outputs, sums_to_one)
        return made

    def _fill(self, entries: Entries, inputs: Sequence[Hashable], outputs: Sequence[Hashable], to_one: bool) -> None:
        self._entries = entries
        self._inputs, self._outputs = tuple(inputs), tuple(outputs)
        self._input_places = index_labels(self._inputs, "inputs")
        self._output_places = index_labels(self._outputs, "outputs")
        self._sums_to_one = to_one and isinstance(entries, RationalMatrix)
        self._floats: FloatMatrix | None = None
        self._sampler: CategoricalRows | None = None
        if isinstance(entries, np.ndarray):
            entries.flags.writeable = False
            self._floats = entries

    @property
    def inputs(self) -> tuple[Hashable, ...]:
        """The label of each row."""
        return self._inputs

    @property
    def outputs(self) -> tuple[Hashable, ...]:
        """The label of each column."""
        return self._outputs

    @property
    def entries(self) -> Entries:
        """The matrix in the form that computes: a `RationalMatrix`, or a read-only array of doubles."""
        return self._entries

    @property
    def is_exact(self) -> bool:
        """Whether the entries are rationals; else they are doubles."""
        return isinstance(self._entries, RationalMatrix)

    @property
    def sums_to_one(self) -> bool:
        """Whether every row sums to exactly one; floats, and what `to_exact` makes of them, do so up to rounding."""
        return self._sums_to_one

    def row(self, given: Hashable) -> tuple[Fraction, ...] | tuple[float, ...]:
        """The distribution of the output for one input, in the order of `outputs`."""
        place = self.input_place(given)
        if isinstance(self._entries, RationalMatrix):
            return self._entries.rows[place]
        return tuple(self._entries[place].tolist())

    def probability(self, output: Hashable, given: Hashable) -> Fraction | float:
        """p(output | given), where `given` is the input."""
        return self.row(given)[self.output_place(output)]

    def matrix(self) -> NDArray[Any]:
        """The entries as an array: doubles of a float channel, else `Fraction`s (dtype object)."""
        if isinstance(self._entries, np.ndarray):
            return self._entries
        array = np.empty(self._entries.shape, dtype=object)
        array[:] = self._entries.rows
        return array

    def floats(self) -> FloatMatrix:
        """The entries as doubles, each the nearest to the exact number."""
        if self._floats is None:
            self._floats = self.matrix().astype(np.float64)
            self._floats.flags.writeable = False
        return self._floats

    def rationals(self) -> RationalMatrix:
        """The entries as rationals, each float as the one it is."""
        if isinstance(self._entries, RationalMatrix):
            return self._entries
        return RationalMatrix([[Fraction(entry) for entry in row] for row in self._entries.tolist()])

    def sampler(self) -> CategoricalRows:
        """What draws places of outputs for places of inputs, in exact proportion to the entries of a row."""
        if self._sampler is None:
            entries = self._entries
            self._sampler = CategoricalRows(
                entries.whole_row if isinstance(entries, RationalMatrix) else partial(_whole_row, entries)
            )
        return self._sampler

    def input_place(self, label: Hashable) -> int:
        """Which row an input has."""
        return _place(label, self._input_places, "input")

    def output_place(self, label: Hashable) -> int:
        """Which column an output has."""
        return _place(label, self._output_places, "output")

    def to_dict(self) -> dict[str, Any]:
        """The channel as plain data for JSON, exact numbers as text."""
        rows = ([str(e) if isinstance(e, Fraction) else e for e in self.row(x)] for x in self._inputs)
        return table_as_dict(
            ChannelTable(list(rows), self._inputs, self._outputs, not self._sums_to_one), exact=self.is_exact
        )

    def to_json(self) -> str:
        """The channel as JSON text; `from_json` reads it back, equal in every number.

        >>> from leastnoise.model.channel import Channel
        >>> Channel.from_json(Channel.uniform(2, 3).to_json()) == Channel.uniform(2, 3)
        True
        """
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote, and check it like any other matrix."""
        return cls._of_table(table_from_dict(data))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote, and check it like any other matrix."""
        return cls._of_table(table_from_json(text))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a channel from a file: .json (from `to_json`), .csv (fractions or decimals, exactly) or .npy."""
        return cls._of_table(table_from_file(path))

    @classmethod
    def _of_table(cls, table: ChannelTable) -> Self:
        return cls(table.rows, table.inputs, table.outputs, rounded=table.rounded)

    def __eq__(self, other: object) -> bool:
        """Same labels in the same order, same kind of entries, same entries."""
        if not isinstance(other, StochasticMatrix):
            return NotImplemented
        if (self.is_exact, self._inputs, self._outputs) != (other.is_exact, other._inputs, other._outputs):
            return False
        return bool(np.all(self._entries == other._entries))

    def __hash__(self) -> int:
        """Equal channels have equal hashes."""
        content = self._entries.tobytes() if isinstance(self._entries, np.ndarray) else self._entries
        return hash((self._inputs, self._outputs, content))

    def __repr__(self) -> str:
        """How large it is and of what kind; the entries are in `str`."""
        kind = "exact" if self.is_exact else "floats"
        return f"{type(self).__name__}({len(self._inputs)} inputs, {len(self._outputs)} outputs, {kind})"

    def __str__(self) -> str:
        """The entries as an aligned table; the middle of a large one is left out."""
        return channel_text(self._inputs, self._outputs, self._row_at)

    def _repr_html_(self) -> str:
        return channel_html(repr(self), self._inputs, self._outputs, self._row_at)

    def _row_at(self, place: int) -> Sequence[Fraction | float]:
        return self.row(self._inputs[place])


def _place(label: Hashable, places: dict[Hashable, int], what: str) -> int:
    try:
        return places[label]
    except (KeyError, TypeError):
        raise unknown_label(label, places, what) from None


def _whole_row(matrix: FloatMatrix, place: int) -> list[int]:
    """The doubles of a row, which are dyadic rationals, times their common denominator."""
    ratios = [entry.as_integer_ratio() for entry in matrix[place].tolist()]
    common = max(below for _, below in ratios)
    return [above * (common // below) for above, below in ratios]
