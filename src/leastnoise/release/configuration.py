"""`leastnoise.toml`: what is fixed and publicly known about each dataset, for the library and the command line.

ledger = "team.ledger"              # a file, or "postgresql://…"

[datasets.visits]
source = "visits.parquet"           # files are found beside this one
unit = "person_id"                  # whose rows these are; "row" protects single rows
budget = ["1", "1e-6"]              # ε, or ε and δ; { rho = "1/10" } or { mu = "1/5" }
approve_above = "1/2"               # in the service, a dearer question waits for a second person
groups_per_unit = 3
rows_per_unit = 1
links = { "orders.customer_id" = "customers.id" }   # of several tables, with unit = "customers.id"
public = ["products"]               # tables that hold nothing private

[datasets.visits.columns]           # of a CSV: what is not said here is text
salary = "decimal(10,2)"
[datasets.visits.bounds]
salary = [0, 200000]
[datasets.visits.steps]
salary = 100
[datasets.visits.keys]
city = ["Bonn", "Ulm"]              # or the name of a file with one key a line
[datasets.visits.bins]
age = [0, 18, 65, 120]
[datasets.visits.measured_in]
salary = "EUR"                      # what its values are counted in

[service]                           # for `leastnoise serve`; see leastnoise.apps.service.settings
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leastnoise.errors import BadConfiguration, BadParameter, LeastNoiseError
from leastnoise.model import closest, suggest
from leastnoise.release.description import Description

if TYPE_CHECKING:
    from leastnoise.model import Privacy
    from leastnoise.release.dataset import Dataset

__all__ = [
    "MISSING",
    "Configuration",
    "DatasetSettings",
    "listed_keys",
    "read_amount",
    "read_configuration",
    "read_key_text",
]

_DEFAULT = "leastnoise.toml"
_TOP = ("analyst", "datasets", "ledger", "service")


@dataclass(frozen=True)
class DatasetSettings:
    """What the file says about one dataset; what it does not say is None or empty.

    Attributes:
        source: Files, a DuckDB file or an address.
        table: Which table, where the source has several.
        columns: The kinds of the columns of a CSV.
        unit: The column of the privacy unit, "row" for single rows.
        budget: ε, or ε and δ, or one text "rho=…" or "mu=…".
        approve_above: Written like the budget: in the service a dearer question waits for a second person.
        groups_per_unit: In how many groups a unit counts.
        rows_per_unit: With how many rows in each.
        bounds: The public bounds of numeric columns.
        steps: What their values are rounded to.
        keys: The public keys of columns; text means a file with one key a line.
        bins: The public edges of numeric columns.
        links: How the tables of a database lead to the unit.
        public: The tables that hold nothing private.
        measured_in: What the values of a column are counted in.
    """

    source: str
    table: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    unit: str | None = None
    budget: tuple[Any, ...] | None = None
    approve_above: tuple[Any, ...] | None = None
    groups_per_unit: int = 1
    rows_per_unit: int = 1
    bounds: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    steps: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, tuple[Any, ...] | Path] = field(default_factory=dict)
    bins: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    public: tuple[str, ...] = ()
    measured_in: Mapping[str, str] = field(default_factory=dict)

    def description(self, dataset: Dataset) -> Description:
        """What it says about the columns of a dataset: "age", or "orders.day" where there are several tables.

        Raises:
            BadParameter: A key does not fit its column, or a file of keys can't be read.
        """
        kinds = dict(dataset.columns)
        for table in getattr(dataset, "table_names", ()):
            kinds |= {f"{table}.{name}": kind for name, kind in dataset.columns_of(table).items()}  # type: ignore[attr-defined]
        keys = {
            column: tuple(read_key_text(key, column, kinds[column]) for key in listed_keys(listed))
            for column, listed in self.keys.items()
            if column in kinds
        }
        return Description(self.bounds, self.steps, keys, self.bins, self.measured_in)


@dataclass(frozen=True)
class Configuration:
    """A whole file; without one, nothing is fixed."""

    file: Path | None = None
    ledger: str | None = None
    analyst: str | None = None
    datasets: Mapping[str, DatasetSettings] = field(default_factory=dict)
    service: Mapping[str, Any] = field(default_factory=dict)

    def closest(self, name: str) -> str | None:
        """The dataset whose name is nearest to a mistyped one."""
        near = closest(name, self.datasets)
        return None if near is None else str(near)


def read_configuration(file: str | Path | None = None) -> Configuration:
    """Read a file; without a name $LEASTNOISE_CONFIG or ./leastnoise.toml, and if that is not there, nothing is fixed.

    Raises:
        BadConfiguration: It can't be read, has an unknown key, or a value of the wrong kind.
    """
    named = file or os.environ.get("LEASTNOISE_CONFIG")
    path = Path(named or _DEFAULT)
    if named is None and not path.exists():
        return Configuration()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration("the configuration can't be read", given=str(path), fix=_reason(error)) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadConfiguration("the configuration is no TOML", given=str(path), fix=str(error)[:100]) from None
    reader = _Reader(path)
    reader.known(data, _TOP, "")
    tables = reader.mapping(data.get("datasets", {}), "datasets")
    return Configuration(
        file=path,
        ledger=_found(reader.text(data.get("ledger"), "ledger"), path),
        analyst=reader.text(data.get("analyst"), "analyst"),
        datasets={name: reader.dataset(name, table) for name, table in tables.items()},
        service=reader.mapping(data.get("service", {}), "service"),
    )


def read_amount(parts: tuple[Any, ...] | None) -> Privacy | None:
    """A budget or a threshold as a `Privacy`, from ε, (ε, δ), or one text "rho=…" or "mu=…"."""
    from leastnoise.model import Privacy

    if parts is None:
        return None
    name, sign, amount = str(parts[0]).partition("=")
    if not sign:
        return Privacy(*parts)
    if name.strip() not in ("rho", "mu") or len(parts) != 1:
        raise BadParameter("a budget is ε, ε,δ, rho=… or mu=…", given=parts[0], fix="write for example rho=1/10")
    return Privacy(rho=amount) if name.strip() == "rho" else Privacy(mu=amount)


class _Reader:
    """Checks each value and says in which file and under which key one is wrong."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def dataset(self, name: str, table: Any) -> DatasetSettings:
        place = f"datasets.{name}"
        table = self.mapping(table, place)
        self.known(table, tuple(DatasetSettings.__dataclass_fields__), place)
        if "source" not in table:
            raise self._wrong(f"{place}.source", "missing", 'say where the data is: source = "visits.parquet"')

        def each(key: str, read: Callable[[Any, str], Any]) -> dict[str, Any]:
            inner = self.mapping(table.get(key, {}), f"{place}.{key}")
            return {column: read(value, f"{place}.{key}.{column}") for column, value in inner.items()}

        return DatasetSettings(
            source=str(_found(self.text(table["source"], f"{place}.source"), self._file)),
            table=self.text(table.get("table"), f"{place}.table"),
            columns=each("columns", self._kind),
            unit=self.text(table.get("unit"), f"{place}.unit"),
            budget=self._budget(table.get("budget"), f"{place}.budget"),
            approve_above=self._budget(table.get("approve_above"), f"{place}.approve_above"),
            groups_per_unit=self._limit(table.get("groups_per_unit", 1), f"{place}.groups_per_unit"),
            rows_per_unit=self._limit(table.get("rows_per_unit", 1), f"{place}.rows_per_unit"),
            bounds=each("bounds", self._bounds),
            steps=each("steps", self._number),
            keys=each("keys", self._keys),
            bins=each("bins", self._edges),
            links=each("links", self._kind),
            public=self._names(table.get("public", []), f"{place}.public"),
            measured_in=each("measured_in", self._kind),
        )

    def known(self, table: Mapping[str, Any], allowed: Iterable[str], place: str) -> None:
        for key in table:
            if key not in allowed:
                raise self._wrong(f"{place}.{key}".lstrip("."), "unknown key", suggest(key, allowed, "key"))

    def mapping(self, value: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(place, value, f"make it a table: [{place}]")
        return value

    def text(self, value: Any, place: str) -> str | None:
        if value is None or (isinstance(value, str) and value):
            return value
        raise self._wrong(place, value, "write text in quotes")

    def _kind(self, value: Any, place: str) -> str:
        if isinstance(value, str) and value:
            return value
        raise self._wrong(place, value, 'write it in quotes: "integer", "decimal(10,2)"')

    def _names(self, value: Any, place: str) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(name, str) and name for name in value):
            return tuple(value)
        raise self._wrong(place, value, 'list the tables: ["products"]')

    def _number(self, value: Any, place: str) -> Any:
        from leastnoise.exact import read_exact

        try:
            if isinstance(value, bool):
                raise TypeError
            read_exact(value, place)
        except (LeastNoiseError, TypeError):
            raise self._wrong(place, value, 'write a number: 100, 0.5 or "1/3"') from None
        return value

    def _numbers(self, value: Any, place: str, example: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise self._wrong(place, value, f"write a list: {example}")
        return tuple(self._number(item, place) for item in value)

    def _bounds(self, value: Any, place: str) -> tuple[Any, ...]:
        found = self._numbers(value, place, "[0, 200000]")
        if len(found) != 2:
            raise self._wrong(place, value, "write the lower and the upper bound: [0, 200000]")
        return found

    def _edges(self, value: Any, place: str) -> tuple[Any, ...]:
        return self._numbers(value, place, "[0, 18, 65, 120]")

    def _budget(self, value: Any, place: str) -> tuple[Any, ...] | None:
        if value is None:
            return None
        if isinstance(value, dict):
            ((name, amount),) = value.items() if len(value) == 1 else [("", None)]
            if name not in ("rho", "mu"):
                raise self._wrong(place, value, 'write { rho = "1/10" } or { mu = "1/5" }')
            return (f"{name}={self._number(amount, place)}",)
        found = self._numbers(value if isinstance(value, list) else [value], place, '["1", "1e-6"]')
        if len(found) not in (1, 2):
            raise self._wrong(place, value, 'write ε, or ε and δ: ["1", "1e-6"]')
        return found

    def _limit(self, value: Any, place: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self._wrong(place, value, "write a whole number from 1 on")
        return value

    def _keys(self, value: Any, place: str) -> tuple[Any, ...] | Path:
        if isinstance(value, str):
            return self._file.parent / value
        if not isinstance(value, list) or not all(isinstance(key, str | int | Decimal | date) for key in value):
            raise self._wrong(place, value, 'list the keys: ["Bonn", "Ulm"], or name a file with one a line')
        return tuple(value)

    def _wrong(self, place: str, given: Any, fix: str) -> BadConfiguration:
        return BadConfiguration(f"{self._file}: {place} is wrong", given=str(given), fix=fix)


MISSING = "(missing)"
"""How a key that stands for missing values is written."""


def listed_keys(keys: tuple[Any, ...] | Path) -> Sequence[Any]:
    """Keys as they are listed, or one a line in a file.

    Raises:
        BadParameter: The file can't be read.
    """
    if not isinstance(keys, Path):
        return keys
    try:
        lines = keys.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise BadParameter(
            f"the file of keys can't be read: {reason}", given=str(keys), fix="name a text file with one key a line"
        ) from None
    return [line.strip() for line in lines if line.strip()]


def read_key_text(key: Any, column: str, kind: str) -> Any:
    """A key written as text, as a value of the column's kind.

    Raises:
        BadParameter: It is not one.
    """
    if not isinstance(key, str):
        return key
    if key == MISSING:
        return None
    readers: dict[str, Callable[[str], Any]] = {
        "integer": int,
        "real": Decimal,
        "decimal": Decimal,
        "boolean": lambda text: {"true": True, "false": False}[text.lower()],
        "date": date.fromisoformat,
        "timestamp": datetime.fromisoformat,
    }
    try:
        return readers.get(kind, str)(key)
    except (ValueError, KeyError, InvalidOperation):
        raise BadParameter(f"a key of {column} is no {kind}", given=key, fix=f"write keys of the kind {kind}") from None


def _found(place: str | None, file: Path) -> str | None:
    """A file named in the configuration lies beside it, unless its name is a whole path or an address."""
    return place if place is None or "://" in place else str(file.parent / place)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or "write it as UTF-8"
