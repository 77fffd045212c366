"""The command line: `leastnoise COMMAND`. Heavy imports happen inside the commands, so that it starts at once."""

from __future__ import annotations

from typing import Annotated

import typer

import leastnoise
from leastnoise.apps.budget import app as budget
from leastnoise.apps.check import check
from leastnoise.apps.describe import describe
from leastnoise.apps.design import design
from leastnoise.apps.dossier import dossier
from leastnoise.apps.gallery import gallery
from leastnoise.apps.release import ask
from leastnoise.apps.schema import schema, tables
from leastnoise.apps.service.commands import serve, tokens as token
from leastnoise.apps.sql import shell, sql

__all__ = ["app", "main"]

app = typer.Typer(
    name="leastnoise",
    help="Private answers with the least noise differential privacy allows, and the proof of it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # a local variable may hold private data
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"leastnoise {leastnoise.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Private answers with the least noise differential privacy allows, and the proof of it."""


@app.command()
def demo() -> None:
    """Show the main job on a made-up table of a million rows: plans, releases, true errors, a check, a picture."""
    from leastnoise.apps.demo import run

    run()


app.command("plan", help="Say what an answer would cost and how far off it would be. Free: no data is read.")(ask)
app.command("price", help="Say what a wanted error would cost: the least ε, ρ or μ. Free: no data is read.")(ask)
app.command("release", help="Answer a question about a table, and charge the budget for it.")(ask)
app.command()(schema)
app.command()(tables)
app.command()(sql)
app.command()(shell)
app.command()(describe)
app.command()(check)
app.command()(design)
app.command()(gallery)
app.add_typer(budget, name="budget")
app.command()(dossier)
app.command()(serve)
app.add_typer(token, name="token")


def main() -> None:
    """Run the command line; a leastnoise error becomes one line on standard error and exit status 2."""
    from leastnoise.errors import LeastNoiseError

    try:
        app()
    except LeastNoiseError as error:
        typer.echo(f"error: {error}", err=True)
        raise SystemExit(2) from None
