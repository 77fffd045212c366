"""Public values on the command line: keys, edges and bounds, from options, from files or from the configuration."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leastnoise.errors import BadParameter
from leastnoise.release.configuration import MISSING, DatasetSettings, listed_keys, read_key_text

__all__ = ["MISSING", "Options", "public_bins", "public_keys", "public_places", "read_list", "read_numbers"]


@dataclass(frozen=True)
class Options:
    """What was said on the command line, unread; None or empty where nothing was said."""

    by: Sequence[str] = ()
    keys: Sequence[str] = ()
    key: Sequence[str] = ()
    keys_from: Sequence[str] = ()
    bins: Sequence[str] = ()
    where: str | None = None
    of: str | None = None
    bounds: Sequence[str] = ()
    step: Sequence[str] = ()
    grid: Sequence[str] = ()
    level: Sequence[str] = ()
    top: int | None = None
    option: Sequence[str] = ()
    sum_of: str | None = None
    matrix: Sequence[str] = ()
    name: Sequence[str] = ()
    ways: Sequence[str] = ()
    tree: Sequence[str] = ()
    weights: Sequence[str] = ()
    targets: Sequence[str] = ()
    goal: str | None = None
    expected_rows: int | None = None
    at_least: int | None = None
    at_most: int | None = None
    prior: Sequence[str] = ()
    loss: str | None = None
    total: int | None = None
    places: str | None = None
    squared: bool | None = None
    opening: Sequence[str] = ()
    groups_per_unit: str | None = None
    rows_per_unit: str | None = None
    rest: bool | None = None
    interval_share: str | None = None
    interval_confidence: str | None = None


def public_keys(
    kinds: Mapping[str, str], settings: DatasetSettings | None, options: Options, by: Sequence[str]
) -> dict[str, Any]:
    """The public keys of the columns: from the options, else from the configuration."""
    given: dict[str, list[str]] = {}
    for what, texts in _KEY_OPTIONS.items():
        for text in getattr(options, texts):
            column, rest = _addressed(text, by, kinds, what)
            given.setdefault(column, []).extend(_READERS[what](rest))
    found: dict[str, Any] = {
        column: [read_key_text(text, column, kinds[column]) for text in texts] for column, texts in given.items()
    }
    fixed_keys = {} if settings is None else settings.keys
    binned = {_addressed(text, by, kinds, "--bins")[0] for text in options.bins}
    for column in by:
        if column in fixed_keys and column not in found and column not in binned:
            fixed = fixed_keys[column]
            listed = listed_keys(fixed)
            found[column] = [read_key_text(key, column, kinds[column]) for key in listed]
    return found


def public_bins(
    kinds: Mapping[str, str], settings: DatasetSettings | None, options: Options, by: Sequence[str]
) -> dict[str, Any]:
    """The public edges of the columns: from the options, else from the configuration."""
    found: dict[str, Any] = {}
    for text in options.bins:
        column, rest = _addressed(text, by, kinds, "--bins")
        if column in found:
            raise BadParameter(f"the bins of {column} are given twice", given=text, fix="give them once")
        timed = kinds[column] in ("date", "timestamp")
        found[column] = rest if timed and "," not in rest else read_numbers(rest, "--bins")
    fixed = {} if settings is None else settings.bins
    keyed = {
        _addressed(text, by, kinds, what)[0] for what, texts in _KEY_OPTIONS.items() for text in getattr(options, texts)
    }
    keyed |= set() if settings is None else set(settings.keys)
    return {**{name: fixed[name] for name in by if name in fixed and name not in keyed}, **found}


def public_places(file: str, column: str, kind: str) -> dict[Any, list[str]]:
    """The keys of a column with their coordinates, from a CSV file whose first line names what its columns hold."""
    path = Path(file)
    if not path.is_file():
        raise BadParameter("there is no such file with places", given=file, fix="pass --places cities.csv")
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines) if row][1:]
    found = {read_key_text(row[0], column, kind): row[1:] for row in rows}
    if not rows or len(found) < len(rows):
        raise BadParameter(
            "places are a file with a key of its own and its coordinates per line",
            given=path.name,
            fix="begin it with a line such as city,x,y",
        )
    return found


def _addressed(text: str, by: Sequence[str], kinds: Mapping[str, str], what: str) -> tuple[str, str]:
    """`city=Bonn,Ulm` as column and rest; the column may be left out where there is only one."""
    name, sign, rest = text.partition("=")
    if sign and name in by:
        return name, rest
    if sign and name in kinds:
        raise BadParameter(
            f"{what} is about {name}, by which nothing is broken down", given=text, fix=f"add --by {name}"
        )
    if len(by) == 1:
        return by[0], text
    raise BadParameter(f"{what} must say for which column", given=text, fix=f"write for example {what} {by[0]}={text}")


def read_list(texts: Sequence[str]) -> list[str]:
    """Values with commas between them, from one option or from several; a value in double quotes may hold commas.

    >>> read_list(['Bonn,"Paris, TX"', "Ulm"])
    ['Bonn', 'Paris, TX', 'Ulm']
    """
    found: list[str] = []
    for text in texts:
        if re.search(r",\s", re.sub(r'"[^"]*"', "", text)):
            raise BadParameter(
                "a comma with a blank behind it may be part of a key or stand between two",
                given=text,
                fix="write Bonn,Ulm without blanks for several, and '\"Paris, TX\"' in double quotes for one",
            )
        found += [cell.strip() for cell in next(csv.reader([text], strict=False), [])]
    return found


_KEY_OPTIONS = {"--keys": "keys", "--key": "key", "--keys-from": "keys_from"}
_READERS: dict[str, Callable[[str], list[str]]] = {
    "--keys": lambda text: read_list([text]),
    "--key": lambda text: [text],
    "--keys-from": lambda text: list(listed_keys(Path(text))),
}


def read_numbers(text: str, what: str) -> list[str]:
    """Numbers with commas between them, unread."""
    cells = [cell.strip() for cell in text.split(",")]
    if len(cells) < 2 or not all(cells):
        raise BadParameter(f"{what} is a list of numbers", given=text, fix=f"write for example {what} 0,100")
    return cells
