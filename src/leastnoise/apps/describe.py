"""`leastnoise describe`: a first leastnoise.toml from the schema of a source, without a look at a single row.

Types of columns are public: they are the same for neighbouring tables. Bounds, keys and bins are not taken from the
rows, which would tell something about them; they are left for a person to fill in. Of a CSV only the header is read.

`leastnoise describe DATASET --verify` is another thing: it **looks at the rows**, for whoever keeps them, and says
exactly how many break what leastnoise.toml declares. It asks no ledger, costs nothing and is not private.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from leastnoise.data import Axis, Kind, Table
    from leastnoise.data.linked_tables import LinkedTables
    from leastnoise.data.links import ColumnPlace
    from leastnoise.release.configuration import DatasetSettings

__all__ = ["describe", "described_source"]

_EXAMPLES = {
    "integer": "[0, 100]",
    "real": "[0, 100]",
    "decimal": "[0, 100]",
}


def describe(
    source: Annotated[str, typer.Argument(help='Files, a DuckDB file or "postgresql://…".', show_default=False)],
    name: Annotated[str, typer.Option(help="What the dataset is called.")] = "mine",
    table: Annotated[str | None, typer.Option(help="One table of a database; all of them otherwise.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write it into this file, which must not exist.")] = None,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="For whoever keeps the data: look at the rows of this dataset of leastnoise.toml, and say exactly how "
            "many break what is declared. Not private.",
        ),
    ] = False,
    config: Annotated[Path | None, typer.Option(help="With --verify: instead of ./leastnoise.toml.")] = None,
) -> None:
    """Write a first description of a dataset: what is known without a look at its rows, and what is to be filled in."""
    from leastnoise.errors import BadParameter

    if verify:
        if table is not None or out is not None or name != "mine":
            raise BadParameter("--verify takes a dataset of leastnoise.toml alone", fix="leave --name, --table, --out")
        _verify(source, config)
        return
    if config is not None:
        raise BadParameter("--config is for --verify", given=str(config), fix="leave it out")
    text = described_source(source, name, table)
    if out is None:
        typer.echo(text, nl=False)
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise BadParameter("this file is there already", given=str(out), fix="choose another name") from None
    typer.echo(f"written to {out}; now fill in what is marked with ?")


def described_source(source: str, name: str, table: str | None) -> str:
    """The text of a first description; of a database without `table` that of all its tables."""
    tables = [] if table is not None else _tables(source)
    if len(tables) > 1:
        every = {f"{each}.{column}": kind for each in tables for column, kind in _columns(source, each)[0].items()}
        return "\n".join([*_lines(source, name, None, every, False, tables), ""])
    table = tables[0] if tables else table
    kinds, untyped = _columns(source, table)
    return "\n".join([*_lines(source, name, table, kinds, untyped), ""])


def _tables(source: str) -> list[str]:
    """The tables of a database; none where the source is none, or can't be opened, which is said later."""
    from leastnoise.data import table_names
    from leastnoise.errors import BadSource

    try:
        return table_names(source)
    except BadSource:
        return []


def _columns(source: str, table: str | None) -> tuple[Mapping[str, str], bool]:
    """The columns with their kinds, and whether the source does not say what they hold."""
    from leastnoise.data import csv_columns, open_table

    names = csv_columns(source)
    if names is not None:
        return dict.fromkeys(names, "text"), True
    with open_table(source, table=table) as opened:
        return {column: kind.value for column, kind in opened.columns.items()}, False


def _lines(
    source: str, name: str, table: str | None, kinds: Mapping[str, str], untyped: bool, tables: Sequence[str] = ()
) -> Iterator[str]:
    yield "# A first description, from the schema alone: no row was looked at."
    yield "# Lines with ? are for a person to fill in, from what is publicly known and not from the rows."
    yield '# ledger = "team.ledger"    # ? where the budget is kept'
    yield ""
    yield f"[datasets.{_key(name)}]"
    yield f"source = {_text(source)}"
    if table is not None:
        yield f"table = {_text(table)}"
    of_several = ", of all tables" if tables else ', or "row" if no person has two rows'
    yield f"# ? whose rows these are: the column that identifies a person{of_several}"
    yield f"# unit = {_text(next(iter(kinds), 'person'))}"
    if tables:
        yield "# ? which column of which table names a row of another one: from each private table a way to the unit's"
        start = next(column for column in kinds if column.startswith(f"{tables[1]}."))
        yield f"# links = {{ {_text(start)} = {_text(next(iter(kinds)))} }}"
        yield f"# public = [{_text(tables[-1])}]    # ? tables in which nobody is to be protected"
    yield '# budget = ["1", "1e-6"]    # ? what all questions together may cost: ε, or ε and δ'
    yield "groups_per_unit = 1    # ? in how many groups of a table one person may count"
    yield "rows_per_unit = 1      # ? and with how many rows in each"
    numbers = [column for column, kind in kinds.items() if kind in _EXAMPLES]
    if untyped:
        yield ""
        yield f"[datasets.{_key(name)}.columns]    # ? a CSV does not say what it holds: all is text until it is said"
        for column in kinds:
            yield f'# {_key(column)} = "integer"    # ? or real, decimal(10,2), boolean, date, timestamp'
    yield ""
    yield f"[datasets.{_key(name)}.bounds]    # public bounds of numbers"
    for column in numbers:
        yield f"# {_key(column)} = {_EXAMPLES[kinds[column]]}    # ? {kinds[column]}"
    yield ""
    yield f"[datasets.{_key(name)}.keys]    # public keys of groups, in full"
    for column, kind in kinds.items():
        if kind in ("text", "date", "boolean"):
            example = {"text": '["a", "b"]', "date": "[2024-01-31]", "boolean": "[true, false]"}[kind]
            yield f"# {_key(column)} = {example}    # ? {kind}"
    yield ""
    yield f"[datasets.{_key(name)}.measured_in]    # what values are counted in"
    for column in numbers:
        yield f'# {_key(column)} = "EUR"    # ?'


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else _text(name)


def _verify(name: str, config: Path | None) -> None:
    """Print how many rows break each assertion.

    Raises:
        BrokenAssertion: Some do.
    """
    from leastnoise.data import open_table
    from leastnoise.errors import BadParameter, BrokenAssertion
    from leastnoise.model import aligned, printable
    from leastnoise.release.configuration import read_configuration

    configuration = read_configuration(config)
    if name not in configuration.datasets:
        near = configuration.closest(name)
        fix = f"did you mean {near}?" if near else "describe it there first"
        raise BadParameter("leastnoise.toml has no such dataset", given=name, fix=fix)
    settings = configuration.datasets[name]
    linked = bool(settings.links or settings.public)
    table = _unit_place(settings).table if linked else settings.table
    with open_table(settings.source, table=table, columns=dict(settings.columns) or None) as opened:
        found = list(_assertions(opened, settings, linked))
    typer.echo("Exact numbers of private rows, for whoever keeps them: do not pass them on.")
    rows = [["declared", "rows that break it", "of rows"]]
    rows += [[printable(told), str(broken), str(of)] for told, broken, of in found]
    typer.echo(aligned(rows, left=1))
    if wrong := [told for told, broken, _ in found if broken]:
        raise BrokenAssertion(
            f"the rows break {len(wrong)} of {len(found)} assertions",
            given=", ".join(wrong),
            fix="mend the rows, or what leastnoise.toml says of them",
        )


def _unit_place(settings: DatasetSettings) -> ColumnPlace:
    from leastnoise.data.links import read_place

    return read_place(settings.unit, "the privacy unit of several tables")


def _assertions(opened: Table, settings: DatasetSettings, linked: bool) -> Iterator[tuple[str, int, int]]:
    """What is declared, how many rows break it, and how many rows there are."""
    from leastnoise.data import count_outside, verify_keys, verify_links
    from leastnoise.data.linked_tables import link_tables

    tables: LinkedTables | None = None
    if linked:
        tables = link_tables(opened, _unit_place(settings), settings.links, settings.public)
        for key in verify_keys(tables):
            yield f"{key.place} names each row", key.missing + key.repeated, key.rows
        for link in verify_links(tables):
            yield f"{link.link}: a row names one row, or nothing", link.dangling + link.ambiguous, link.rows
            yield f"{link.link}: a row belongs to one unit", link.shared, link.rows
    for told, column, make in _axes(settings):
        table, own = (opened, column) if tables is None else _member(tables, column)
        broken, rows = count_outside(table, make(own, table.columns))
        yield f"{column} {told}", broken, rows


def _axes(settings: DatasetSettings) -> Iterator[tuple[str, str, Callable[[str, Mapping[str, Kind]], Axis]]]:
    """The columns with bounds, bins and keys, and how the axis is made on which their values are to lie."""
    from leastnoise.data import BinAxis, KeyAxis
    from leastnoise.release.configuration import listed_keys, read_key_text

    for what, edges in (("bounds", settings.bounds), ("bins", settings.bins)):
        for column, given in edges.items():

            def between(own: str, _: Mapping[str, Kind], given: tuple[Any, ...] = given) -> Axis:
                return BinAxis(own, (given[0], given[-1]))

            yield f"keeps its {what}", column, between
    for column, listed in settings.keys.items():

        def keyed(own: str, kinds: Mapping[str, Kind], listed: tuple[Any, ...] | Path = listed) -> Axis:
            kind = kinds[own].value if own in kinds else "text"
            return KeyAxis(own, tuple(read_key_text(key, own, kind) for key in listed_keys(listed)))

        yield "has the listed keys", column, keyed


def _member(tables: LinkedTables, column: str) -> tuple[Table, str]:
    """A table of several, and the name of the column there: "orders.day", or "age" of the table of the unit."""
    from leastnoise.data.links import read_place

    if column in tables.engine.columns:
        return tables.engine, column
    place = read_place(column, "a column")
    return tables.members[tables.shape.table(place.table)], place.column
