"""`leastnoise describe`: a first leastnoise.toml from the schema of a source, without a look at a single row.

Types of columns are public: they are the same for neighbouring tables. Bounds, keys and bins are not taken from the
rows, which would tell something about them; they are left for a person to fill in. Of a CSV only the header is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["describe", "described_source"]

_EXAMPLES = {
    "integer": "[0, 100]",
    "real": "[0, 100]",
    "decimal": "[0, 100]",
}


def describe(
    source: Annotated[str, typer.Argument(help='Files, a DuckDB file or "postgresql://…".', show_default=False)],
    name: Annotated[str, typer.Option(help="What the dataset is called.")] = "mine",
    table: Annotated[str | None, typer.Option(help="Which table, where the source has several.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write it into this file, which must not exist.")] = None,
) -> None:
    """Write a first description of a dataset: what is known without a look at its rows, and what is to be filled in."""
    from leastnoise.errors import BadParameter

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
    """The text of a first description."""
    kinds, untyped = _columns(source, table)
    return "\n".join([*_lines(source, name, table, kinds, untyped), ""])


def _columns(source: str, table: str | None) -> tuple[Mapping[str, str], bool]:
    """The columns with their kinds, and whether the source does not say what they hold."""
    from leastnoise.data import csv_columns, open_table

    names = csv_columns(source)
    if names is not None:
        return dict.fromkeys(names, "text"), True
    with open_table(source, table=table) as opened:
        return {column: kind.value for column, kind in opened.columns.items()}, False


def _lines(source: str, name: str, table: str | None, kinds: Mapping[str, str], untyped: bool) -> Iterator[str]:
    yield "# A first description, from the schema alone: no row was looked at."
    yield "# Lines with ? are for a person to fill in, from what is publicly known and not from the rows."
    yield '# ledger = "team.ledger"    # ? where the budget is kept'
    yield ""
    yield f"[datasets.{_key(name)}]"
    yield f"source = {_text(source)}"
    if table is not None:
        yield f"table = {_text(table)}"
    yield '# ? whose rows these are: the column that identifies a person, or "row" if no person has two rows'
    yield f"# unit = {_text(next(iter(kinds), 'person'))}"
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
