"""`leastnoise schema` and `leastnoise tables`: what can be asked about. Public things only: no row is read."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

__all__ = ["schema", "tables"]

_CONFIG = typer.Option(help="Instead of ./leastnoise.toml.", show_default=False)


def schema(
    source: Annotated[
        str, typer.Argument(help='A dataset of leastnoise.toml, files, or "postgresql://…".', show_default=False)
    ],
    table: Annotated[
        str | None, typer.Option(help="Which table, where the source has several.", show_default=False)
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="What a column of a CSV holds: age=integer; may be repeated.", show_default=False),
    ] = None,
    config: Annotated[Path | None, _CONFIG] = None,
) -> None:
    """List the columns of a table with what each holds, and what the configuration fixes about it."""
    from leastnoise.apps.release import column_kinds, fixed_texts, source_of
    from leastnoise.data import open_table
    from leastnoise.model import aligned, printable
    from leastnoise.release.configuration import read_configuration

    configuration = read_configuration(config)
    settings = configuration.datasets.get(source)
    place = source_of(source, settings, configuration)
    fixed = fixed_texts(settings, {"table": table}, configuration)
    kinds = column_kinds(settings, column or (), configuration)
    with open_table(place, table=fixed["table"], columns=kinds or None) as opened:
        rows = [[printable(name), kind.value] for name, kind in opened.columns.items()]
        untyped = [name for name in opened.columns if opened.hints.get(name)]
    typer.echo(aligned([["column", "holds"], *rows], left=2))
    if untyped:
        option = quote(f"{printable(untyped[0])}=integer")
        typer.echo(
            f"\nWhat a CSV does not say is text until it is declared: --column {option}, or under [columns] in "
            "leastnoise.toml.\nThere are text, integer, real, decimal(10,2), boolean (yes, no), date (2024-01-31) and "
            "timestamp (2024-01-31 12:00); what can't be read so is missing."
        )
    if settings is not None:
        typer.echo(
            f"unit: {settings.unit or 'not fixed'}; at most {settings.rows_per_unit} rows of a unit in each of "
            f"{settings.groups_per_unit} groups"
        )


def tables(
    source: Annotated[
        str | None,
        typer.Argument(help='A DuckDB file or "postgresql://…"; the configuration if left out.', show_default=False),
    ] = None,
    config: Annotated[Path | None, _CONFIG] = None,
) -> None:
    """List the tables of a database, or the datasets of the configuration."""
    from leastnoise.data import table_names
    from leastnoise.errors import BadParameter
    from leastnoise.model import aligned, printable
    from leastnoise.release.configuration import read_configuration

    if source is not None:
        if config is not None:
            raise BadParameter("a database needs no configuration", given=str(config), fix="leave --config out")
        for name in table_names(source):
            typer.echo(printable(name))
        return
    configuration = read_configuration(config)
    if not configuration.datasets:
        raise BadParameter("no datasets are configured here", fix="name a database, or write leastnoise.toml")
    rows = [["dataset", "source", "unit"]]
    rows += [[name, each.source, each.unit or ""] for name, each in configuration.datasets.items()]
    typer.echo(aligned([[printable(cell) for cell in row] for row in rows], left=3))
