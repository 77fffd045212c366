"""Channels in files: JSON with exact numbers as text, CSV with fractions or decimals, NumPy's NPY.

CSV: one line per input. If the first cell of the file is empty or no number, the first line names the outputs and the
first cell of every other line names an input; else there are no names. "1/3" is a third and "0.25" a quarter, exactly;
a file of decimals may miss a row sum of one by 1e-9, because that is how programs print floats.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from leastnoise.errors import BadChannel, BadParameter, shown
from leastnoise.exact import read_rational
from leastnoise.model.labels import decode_label, encode_label

__all__ = ["ChannelTable", "table_as_dict", "table_from_dict", "table_from_file", "table_from_json"]

_LONGEST_CELL = 1 << 16  # letters

_KIND, _VERSION = "leastnoise.channel", 1


class ChannelTable(NamedTuple):
    """What a file says before it is checked: the arguments of a `Channel`."""

    rows: Any
    inputs: Sequence[Hashable] | None
    outputs: Sequence[Hashable] | None
    rounded: bool


def table_as_dict(table: ChannelTable, *, exact: bool) -> dict[str, Any]:
    """A channel as plain data: exact entries as text, doubles as numbers that read back unchanged."""
    return {
        "kind": _KIND,
        "version": _VERSION,
        "exact": exact,
        "rounded": table.rounded,
        "inputs": [encode_label(label) for label in table.inputs or ()],
        "outputs": [encode_label(label) for label in table.outputs or ()],
        "rows": table.rows,
    }


def table_from_dict(data: Any) -> ChannelTable:
    """The table that `table_as_dict` wrote; a bare list of rows will do as well."""
    if isinstance(data, list):
        return ChannelTable(data, None, None, rounded=False)
    if not isinstance(data, Mapping) or data.get("kind", _KIND) != _KIND or not isinstance(data.get("rows"), list):
        raise BadChannel(
            "a channel in JSON is an object with inputs, outputs and rows", given=data, fix="write it with `to_json`"
        )
    if data.get("version", _VERSION) != _VERSION:
        raise BadChannel(
            f"this release reads version {_VERSION} of a channel in JSON",
            given=f"version {shown(data['version'])}",
            fix="upgrade leastnoise",
        )
    labels = {}
    for what in ("inputs", "outputs"):
        given = data.get(what)
        if given is not None and not isinstance(given, list):
            raise BadChannel(f"{what} in JSON are a list of labels", given=given, fix="write it with `to_json`")
        labels[what] = None if given is None else [decode_label(label) for label in given]
    return ChannelTable(data["rows"], labels["inputs"], labels["outputs"], rounded=data.get("rounded") is True)


def table_from_json(text: str) -> ChannelTable:
    """Read a channel from JSON text."""
    try:
        return table_from_dict(json.loads(text, parse_constant=_refuse_constant))
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadChannel):
            raise
        raise BadChannel("this is not JSON", given=str(error), fix="write the channel with `to_json`") from None


def table_from_file(path: str | Path) -> ChannelTable:
    """Read a channel from a .json, .csv or .npy file."""
    path = Path(path)
    readers = {".json": _read_json, ".csv": _read_csv, ".npy": _read_npy}
    if path.suffix.lower() not in readers:
        raise BadChannel("a channel is read from .json, .csv or .npy", given=path.name, fix="convert the file")
    try:
        return readers[path.suffix.lower()](path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise BadChannel(f"{path.name} cannot be read: {reason}", given=str(path), fix="check the path") from None


def _read_json(path: Path) -> ChannelTable:
    return table_from_json(path.read_text(encoding="utf-8"))


def _read_npy(path: Path) -> ChannelTable:
    try:
        return ChannelTable(np.load(path, allow_pickle=False), None, None, rounded=False)
    except (ValueError, EOFError) as error:
        raise BadChannel("this is no NPY file of numbers", given=str(error), fix="write it with numpy.save") from None


def _read_csv(path: Path) -> ChannelTable:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [[cell.strip() for cell in line] for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except csv.Error as error:
        raise BadChannel(f"this is no CSV: {error}", given=path.name, fix="write one number per cell") from None
    if any(len(cell) > _LONGEST_CELL for line in lines for cell in line):  # the reader's own limit is a global setting
        raise BadChannel(
            "this is no CSV of numbers: a cell is too long", given=path.name, fix="write one number per cell"
        )
    rounded = any("." in cell for line in lines for cell in line)
    if not lines or _as_number(lines[0][0]) is not None:
        return ChannelTable(lines, None, None, rounded)
    head, *body = lines
    return ChannelTable(
        [line[1:] for line in body],
        [_as_label(line[0]) for line in body],
        [_as_label(cell) for cell in head[1:]],
        rounded,
    )


def _as_label(cell: str) -> Hashable:
    number = _as_number(cell)
    if number is None:
        return cell
    return number.numerator if number.denominator == 1 else number


def _as_number(cell: str) -> Fraction | None:
    try:
        return read_rational(cell, "cell")
    except BadParameter:
        return None


def _refuse_constant(name: str) -> NoReturn:
    raise BadChannel("a probability must be a number", given=name, fix="replace it")
