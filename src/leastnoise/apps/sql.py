"""`leastnoise sql` and `leastnoise shell`: SELECT statements about a table, one at a time or in a session."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastnoise.apps.release import Said, not_granted, opened_for, require_sensible, working

if TYPE_CHECKING:
    from leastnoise.model import Privacy
    from leastnoise.release import Dataset, SQLRelease

__all__ = ["shell", "sql"]

_FORMATS = ("table", "json", "csv")
_HELP = r"""SELECT … ;          release, at the price that \price has set
\plan SELECT … ;    what it would cost and how far off it would be, for nothing
\price 0.5          what each statement costs: ε, or ε,δ as in 0.5,1e-6
\budget             what the budget leaves
\columns            the columns, with what they hold
\help               this
\quit               leave"""

Source = Annotated[
    str, typer.Argument(help='A dataset of leastnoise.toml, files, or "postgresql://…".', show_default=False)
]
Unit = Annotated[
    str | None,
    typer.Option(help="The column that identifies the person each row belongs to; `row` protects single rows."),
]
TableName = Annotated[str | None, typer.Option(help="Which table, where the source has several.")]
Column = Annotated[list[str] | None, typer.Option(help="What a column of a CSV holds: age=integer; may be repeated.")]
Budget = Annotated[str | None, typer.Option(help="Granted when the data is first released from: 1, or 1,1e-6 with δ.")]
Ledger = Annotated[str | None, typer.Option(help='A file or "postgresql://…".', envvar="LEASTNOISE_LEDGER")]
Groups = Annotated[int | None, typer.Option(help="The most groups one unit may count in.")]
Rows = Annotated[int | None, typer.Option(help="The most rows one unit may count with in each.")]
Config = Annotated[Path | None, typer.Option(help="Instead of ./leastnoise.toml.")]
Analyst = Annotated[str | None, typer.Option(help="Who asks.", envvar="LEASTNOISE_ANALYST")]


def sql(
    source: Source,
    statement: Annotated[str, typer.Argument(help="SELECT city, COUNT(*) FROM people …", show_default=False)],
    epsilon: Annotated[str | None, typer.Option(help='What it costs: 0.5, "1/3", "ln(3)".')] = None,
    delta: Annotated[str, typer.Option(help="The δ beside ε.")] = "0",
    rho: Annotated[str | None, typer.Option(help="Instead of ε: the cost in zero-concentrated privacy.")] = None,
    mu: Annotated[str | None, typer.Option(help="Instead of ε: the cost in Gaussian privacy.")] = None,
    insist: Annotated[bool, typer.Option(help="Let it cost more than ε = 20.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Say what it would cost and how far off it would be.")] = False,
    unit: Unit = None,
    table: TableName = None,
    column: Column = None,
    budget: Budget = None,
    ledger: Ledger = None,
    groups_per_unit: Groups = None,
    rows_per_unit: Rows = None,
    config: Config = None,
    form: Annotated[str, typer.Option("--format", help="table, json or csv.")] = "table",
    request_id: Annotated[str | None, typer.Option(help="Asked again under it, the same answer costs nothing.")] = None,
    analyst: Analyst = None,
) -> None:
    """Answer a SELECT statement about a table, and charge the budget for it."""
    from leastnoise.errors import BadParameter
    from leastnoise.model import Privacy

    if epsilon is None and rho is None and mu is None:
        raise BadParameter("the price is missing", fix="add for example --epsilon 0.5")
    if form not in _FORMATS:
        raise BadParameter("unknown format", given=form, fix="use --format table, json or csv")
    price = Privacy(epsilon, delta, rho=rho, mu=mu, insist=insist)
    require_sensible(price)
    said = Said(unit, table, budget, column or (), groups_per_unit, rows_per_unit, ledger, analyst, config)
    with opened_for(source, said, not plan) as (dataset, granted_by, _):
        question = dataset.sql(statement)
        if plan:
            found = question.plan(price)
            typer.echo(str(found if granted_by is None else replace(found, left=None)))
            if granted_by is not None:
                typer.echo(not_granted(granted_by))
            return
        with working(f"reading {source}"):
            answer = question.release(price, request_id=request_id)
        _show(answer, form)


def _show(answer: SQLRelease, form: str) -> None:
    if form == "json":
        typer.echo(json.dumps(answer.to_dict(), ensure_ascii=False, indent=2))
    elif form == "csv":
        writer = csv.writer(sys.stdout)
        writer.writerow(answer.table.names)
        writer.writerows(answer.table)
    else:
        typer.echo(str(answer))
        typer.echo(f"to see this again at no cost: --request-id {answer.request_id}")


def shell(
    source: Source,
    unit: Unit = None,
    table: TableName = None,
    column: Column = None,
    budget: Budget = None,
    ledger: Ledger = None,
    groups_per_unit: Groups = None,
    rows_per_unit: Rows = None,
    config: Config = None,
    analyst: Analyst = None,
) -> None:
    r"""Ask statements one after the other, with history and completion; \help says how."""
    said = Said(unit, table, budget, column or (), groups_per_unit, rows_per_unit, ledger, analyst, config)
    with opened_for(source, said, True) as (dataset, _, _):
        _Session(dataset).run()


class _Session:
    """A session of statements; a statement ends with a semicolon."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._price: Privacy | None = None
        self._complete = _completer(dataset)

    def run(self) -> None:
        """Read until the end, or until somebody quits."""
        typer.echo(f"{self._dataset}; \\help says how to ask")
        waiting = ""
        while True:
            try:
                line = self._line("…> " if waiting else "sql> ")
            except EOFError:
                typer.echo("")
                return
            except KeyboardInterrupt:
                typer.echo("")
                waiting = ""
                continue
            waiting = f"{waiting}\n{line}".strip()
            if waiting.startswith("\\") and not waiting.lower().startswith("\\plan"):
                if not self._command(waiting):
                    return
                waiting = ""
            elif waiting.endswith(";"):
                self._answer(waiting.rstrip("; \n"))
                waiting = ""

    def _line(self, prompt: str) -> str:
        if sys.stdin.isatty():
            return input(prompt)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    def _command(self, text: str) -> bool:
        """Do what a command says; False to leave."""
        from leastnoise.errors import LeastNoiseError
        from leastnoise.model import Privacy

        word, _, rest = text[1:].partition(" ")
        try:
            if word in ("quit", "q"):
                return False
            if word == "price":
                price = Privacy(*(part.strip() for part in rest.split(",")))
                price.require_sensible()
                self._price = price
                typer.echo(f"each statement costs {price}")
            elif word == "budget":
                typer.echo(f"budget {self._dataset.budget}; {self._dataset.left}")
            elif word == "columns":
                typer.echo("\n".join(f"{name}  {kind}" for name, kind in _columns(self._dataset).items()))
            else:
                typer.echo(_HELP)
        except (LeastNoiseError, TypeError) as error:
            typer.echo(f"error: {error}")
        return True

    def _answer(self, text: str) -> None:
        from leastnoise.errors import LeastNoiseError

        free = text.lower().startswith("\\plan")
        try:
            question = self._dataset.sql(text[5:].strip() if free else text)
            if self._price is None:
                typer.echo("error: the price is missing; say for example \\price 0.5")
            elif free:
                typer.echo(str(question.plan(self._price)))
            else:
                typer.echo(str(question.release(self._price)))
        except LeastNoiseError as error:
            typer.echo(f"error: {error}")


def _columns(dataset: Dataset) -> dict[str, str]:
    """The columns that statements may name; those of several tables with their tables."""
    from leastnoise.release import Database

    if not isinstance(dataset, Database):
        return dict(dataset.columns)
    return {
        f"{table}.{name}": kind for table in dataset.table_names for name, kind in dataset.columns_of(table).items()
    }


def _completer(dataset: Dataset) -> Any:
    """History and completion by readline, where Python has it; statements of other sessions are in the history, too."""
    try:
        import readline
    except ImportError:
        return None
    if not sys.stdin.isatty():
        return None
    from leastnoise.data.predicates import FUNCTIONS

    words = ["SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "COUNT(", "SUM(", "AVG(", "CLAMP("]
    words += ["\\plan", "\\price", "\\budget", "\\columns", "\\help", "\\quit", *FUNCTIONS, *_columns(dataset)]
    words += [word for name in _columns(dataset) for word in name.split(".")]

    def complete(text: str, place: int) -> str | None:
        found = [word for word in words if word.lower().startswith(text.lower())]
        return found[place] if place < len(found) else None

    readline.set_completer_delims(" \t\n,()=<>")
    readline.set_completer(complete)
    readline.parse_and_bind("tab: complete")
    history = Path.home() / ".leastnoise_history"
    try:
        if not history.exists():
            history.touch(mode=0o600)
        readline.read_history_file(history)
        readline.set_history_length(1000)
    except OSError:
        return complete
    import atexit

    atexit.register(_keep_history, history)
    return complete


def _keep_history(file: Path) -> None:
    import readline
    from contextlib import suppress

    with suppress(OSError):
        readline.write_history_file(file)
