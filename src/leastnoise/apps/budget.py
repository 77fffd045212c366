"""`leastnoise budget`: what is spent and what is left, and whether the ledger is still the one it was."""

from __future__ import annotations

import re
import sys
import time
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from leastnoise.ledger import Balance, Debit, Ledger, Suspension

__all__ = ["app"]

app = typer.Typer(help="What is spent and what is left; `--verify` re-checks the whole ledger.", no_args_is_help=False)

_BAR = 12
_SHOWN = 50  # budgets in a table that a person reads
_LAST = 20  # questions of a dataset
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}

LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger", envvar="LEASTNOISE_LEDGER", help='A file, or "postgresql://…"; by default leastnoise.ledger.'
    ),
]
WitnessFile = Annotated[Path | None, typer.Option("--witness", help="A witness kept elsewhere, to compare with.")]
OutFile = Annotated[Path | None, typer.Option("--out", help="Write to this file instead of the screen.")]


@app.callback(invoke_without_command=True)
def show(
    context: typer.Context,
    ledger: LedgerOption = None,
    verify: Annotated[bool, typer.Option("--verify", help="Re-check every entry, price and sum.")] = False,
    witness: WitnessFile = None,
    dataset: Annotated[
        str | None, typer.Option(help="Show the budgets of this dataset only, and what its questions cost.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help=f"Show everything, not only {_SHOWN} budgets and {_LAST} questions.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw what was left over time into a .png, .svg or .pdf file.")
    ] = None,
) -> None:
    """Show every budget with bars of what is spent and left."""
    context.obj = ledger
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console

    console = Console()
    with _open(ledger) as opened:
        if verify or witness is not None:
            _verify(console, opened, witness)
        if plot is not None:
            from leastnoise.apps.plots import plot_burn_down

            plot_burn_down(opened, plot, until=int(time.time()))
        balances = opened.balances(dataset)
        shown = (
            balances if every or len(balances) <= _SHOWN else nlargest(_SHOWN, balances, lambda each: each.left.used)
        )
        console.print(_table(shown))
        if len(shown) < len(balances):
            console.print(f"{len(balances) - len(shown)} budgets of which less is used: see --dataset NAME, or --all")
        if dataset is not None and balances:
            debits = opened.debits(dataset)
            console.print(_questions(debits if every else debits[-_LAST:], len(debits)))
        for line in _suspended([each for each in opened.suspensions() if dataset in (None, each.dataset)]):
            console.print(line, markup=False, highlight=False, soft_wrap=True)


@app.command()
def create(context: typer.Context, ledger: LedgerOption = None) -> None:
    """Make a new ledger, and its witness beside it."""
    from leastnoise.ledger import Ledger

    place = _place(ledger or context.obj)
    with Ledger.create(place) as made:
        typer.echo(f"created {made!r}; next: leastnoise budget grant --dataset NAME --epsilon 1 --delta 1e-6")


@app.command()
def grant(
    context: typer.Context,
    epsilon: Annotated[str | None, typer.Option(help='What may be spent in ε: "1", "1/2", "ln(3)".')] = None,
    delta: Annotated[str, typer.Option(help="The δ that may be spent beside ε.")] = "0",
    rho: Annotated[str | None, typer.Option(help="What may be spent in ρ of concentrated privacy.")] = None,
    mu: Annotated[str | None, typer.Option(help="What may be spent in μ of Gaussian privacy.")] = None,
    insist: Annotated[bool, typer.Option("--insist", help="Grant also what protects hardly anybody.")] = False,
    dataset: Annotated[str | None, typer.Option(help="Bind debits on this dataset.")] = None,
    analyst: Annotated[str | None, typer.Option(help="Bind debits by this analyst.")] = None,
    purpose: Annotated[str | None, typer.Option(help="Bind debits for this purpose.")] = None,
    refresh: Annotated[str | None, typer.Option(help='Begin anew after "30d", "12h", …; never if left out.')] = None,
    ledger: LedgerOption = None,
) -> None:
    """Grant a budget, or set new limits for one; what was spent stays spent."""
    from leastnoise.model import Privacy

    budget = Privacy(epsilon, delta, rho=rho, mu=mu, insist=insist)
    with _open(ledger or context.obj) as opened:
        opened.grant(budget, dataset, analyst, purpose, None if refresh is None else _seconds(refresh))
        typer.echo(f"granted {budget}")


@app.command()
def clear(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(help="The suspended dataset.")],
    analyst: Annotated[str, typer.Option(help="Whose questions failed or were interrupted.")],
    ledger: LedgerOption = None,
) -> None:
    """Let an analyst ask again, after you found out why questions failed or were interrupted."""
    with _open(ledger or context.obj) as opened:
        found = opened.clear(dataset, analyst)
    typer.echo(
        f"nothing to clear for dataset {dataset!r}, analyst {analyst!r}"
        if found is None
        else f"cleared: dataset {dataset!r}, analyst {analyst!r}; {found}"
    )


@app.command()
def witness(
    context: typer.Context,
    out: OutFile = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Take the ledger as it is and replace a lost witness beside it.")
    ] = False,
    ledger: LedgerOption = None,
) -> None:
    """Print the ledger's identity, length and last hash; keep it elsewhere to notice an old copy put back."""
    with _open(ledger or context.obj, renew) as opened:
        line = opened.witness().to_json()
    if out is None:
        typer.echo(line)
    else:
        out.write_text(line + "\n")
        typer.echo(f"witness written to {out}; keep it where whoever can write the ledger can't write")


@app.command()
def export(
    context: typer.Context,
    form: Annotated[str, typer.Option("--format", help='"csv" for a table, "json" for the entries as stored.')] = "csv",
    out: OutFile = None,
    ledger: LedgerOption = None,
) -> None:
    """Write out every entry."""
    from leastnoise.errors import BadParameter
    from leastnoise.ledger import export_csv, export_json

    writers = {"csv": export_csv, "json": export_json}
    if form not in writers:
        raise BadParameter("unknown format", given=form, fix="use --format csv or --format json")
    with _open(ledger or context.obj) as opened:
        if out is None:
            writers[form](opened.entries(), sys.stdout)
        else:
            with out.open("w", newline="") as file:
                writers[form](opened.entries(), file)
            typer.echo(f"written to {out}")


def _open(place: str | None, renew_witness: bool = False) -> Ledger:
    from leastnoise.ledger import Ledger

    return Ledger.open(_place(place), renew_witness=renew_witness)


def _place(place: str | None) -> str:
    return place or "leastnoise.ledger"


def _verify(console: Console, ledger: Ledger, witness: Path | None) -> None:
    from leastnoise.ledger import read_witness

    report = ledger.verify(None if witness is None else read_witness(witness))
    checked = "chain, prices and sums hold" + (", and the witness agrees" if witness is not None else "")
    console.print(f"[green]verified[/green]: {report.entries} entries, {report.requests} requests; {checked}")
    console.print(f"head {report.head}", highlight=False, style="dim")


def _table(balances: list[Balance]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from leastnoise.ledger.report import COLUMNS, balance_texts

    table = Table(title="Privacy budgets", title_justify="left")
    for column in COLUMNS:
        table.add_column(column, no_wrap=column == "used", overflow="fold")
    for balance in balances:  # as plain text: a name is not markup
        whom, allows, spent, used, *rest = balance_texts(balance)
        table.add_row(*map(Text, (whom, allows, spent)), _bar(float(balance.left.used), used), *map(Text, rest))
    if not balances:
        table.add_row("none yet", "", "", "", "nothing", "")
    return table


def _questions(debits: list[Debit], total: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    from leastnoise.ledger.report import DEBIT_COLUMNS, debit_texts

    title = "Questions" if len(debits) == total else f"The last {len(debits)} of {total} questions; see --all"
    table = Table(title=title, title_justify="left")
    for column in DEBIT_COLUMNS:
        table.add_column(column, overflow="fold")
    for debit in debits:
        table.add_row(*map(Text, debit_texts(debit)))
    return table


def _suspended(counted: list[Suspension]) -> list[str]:
    """A line for each analyst who has to wait, and for each whose interruptions are counted."""
    lines = []
    for each in counted:
        who = f"dataset {each.dataset!r}, analyst {each.analyst!r}: {each}"
        lines.append(f"suspended: {who}; next: {each.remedy}" if each.holds else f"counted: {who}")
    return lines


def _bar(used: float, text: str) -> Text:
    from rich.text import Text

    filled = min(_BAR, max(round(used * _BAR), 1 if used > 0 else 0))
    colour = "green" if used < 0.5 else "yellow" if used < 0.9 else "red"
    return Text.assemble(("█" * filled, colour), ("░" * (_BAR - filled), "dim"), f" {text}")


def _seconds(text: str) -> int:
    """A length of time such as "30d" in seconds."""
    from leastnoise.errors import BadParameter

    found = re.fullmatch(r"(\d{1,9})([smhdw])", text.strip())
    if found is None or int(found[1]) == 0:
        raise BadParameter("refresh is not a length of time", given=text, fix='write for example "30d", "12h" or "4w"')
    return int(found[1]) * _UNITS[found[2]]
