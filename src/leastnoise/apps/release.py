"""`leastnoise plan`, `price` and `release`: a question about a table, its error and its price for free, its answer."""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from leastnoise.model import Privacy
    from leastnoise.release import Batch, BatchPlan, BatchRelease, Dataset, Query, Release, ReleasePlan
    from leastnoise.release.configuration import Configuration, DatasetSettings

__all__ = [
    "Said",
    "ask",
    "column_kinds",
    "fixed_texts",
    "not_granted",
    "opened_for",
    "require_sensible",
    "source_of",
    "working",
]

_DATA, _QUESTION, _PRICE, _OUTPUT = "The data", "The question", "The price", "The answer"
_FORMATS = ("table", "json", "csv")


def _option(help_text: str, panel: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel=panel, show_default=False, **more)


Many = list[str] | None


def ask(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(help='A dataset of leastnoise.toml, files, or "postgresql://…".', show_default=False)
    ],
    question: Annotated[
        str,
        typer.Argument(
            help="count, count-distinct, sum, mean, proportion, ratio, variance, deviation, median, quantile, min, "
            "max, most-common, choose, ranges, prefix-sums, workload, tables, hierarchy, decision, design, "
            "sorted-counts, edges, degrees, components, triangles, cut, cover or facilities.",
            show_default=False,
        ),
    ],
    columns: Annotated[
        Many, typer.Argument(help="The columns or the condition it is about.", show_default=False)
    ] = None,
    epsilon: Annotated[str | None, _option('What it costs: 0.5, "1/3", "ln(3)".', _PRICE)] = None,
    delta: Annotated[str, _option("The δ beside ε, for unknown keys and Gaussian noise.", _PRICE)] = "0",
    rho: Annotated[str | None, _option("Instead of ε: the cost in zero-concentrated privacy.", _PRICE)] = None,
    mu: Annotated[str | None, _option("Instead of ε: the cost in Gaussian privacy.", _PRICE)] = None,
    insist: Annotated[bool, _option("Let it cost more than ε = 20, ρ = 20, μ = 6 or δ = 1/2.", _PRICE)] = False,
    error: Annotated[str | None, _option("For price: how far off each number may be.", _PRICE)] = None,
    currency: Annotated[str | None, _option("For price: epsilon, rho or mu.", _PRICE)] = None,
    confidence: Annotated[
        str | None, _option("How sure errors and intervals are: 0.99; 0.95 if left out.", _PRICE)
    ] = None,
    budget: Annotated[
        str | None,
        _option("Granted when the data is first released from: 1, 1,1e-6 with δ, rho=1/10 or mu=1/5.", _PRICE),
    ] = None,
    ledger: Annotated[
        str | None, _option('A file or "postgresql://…".', _PRICE, "--ledger", envvar="LEASTNOISE_LEDGER")
    ] = None,
    unit: Annotated[
        str | None,
        _option("The column that identifies the person each row belongs to; `row` protects single rows.", _DATA),
    ] = None,
    table: Annotated[str | None, _option("Which table, where the source has several.", _DATA)] = None,
    column: Annotated[
        Many, _option("What a column of a CSV holds: age=integer, pay=decimal(10,2); may be repeated.", _DATA)
    ] = None,
    groups_per_unit: Annotated[
        str | None, _option('The most groups one unit may count in; "private" to find it out.', _QUESTION)
    ] = None,
    rows_per_unit: Annotated[
        str | None, _option("The most rows one unit may count with in each; private to choose it.", _QUESTION)
    ] = None,
    config: Annotated[Path | None, _option("Instead of ./leastnoise.toml.", _DATA)] = None,
    memory_limit: Annotated[str | None, _option("For the embedded engine: 4GB.", _DATA)] = None,
    by: Annotated[Many, _option("Break down by these columns: city,sex.", _QUESTION)] = None,
    keys: Annotated[Many, _option("Its public keys: Bonn,Ulm or city=Bonn,'\"Paris, TX\"'.", _QUESTION)] = None,
    key: Annotated[Many, _option('One key, commas and all: "Paris, TX"; may be repeated.', _QUESTION)] = None,
    keys_from: Annotated[Many, _option("A file with one key a line: FILE or city=FILE.", _QUESTION)] = None,
    bins: Annotated[
        Many,
        _option("Public edges: 0,18,65 or age=0,18,65; of dates also day=months from 2026-01 to 2026-12.", _QUESTION),
    ] = None,
    where: Annotated[str | None, _option("Which rows count: \"age >= 18 AND city = 'Bonn'\".", _QUESTION)] = None,
    of: Annotated[str | None, _option("What is counted: rows or units.", _QUESTION)] = None,
    bounds: Annotated[
        Many, _option("Public bounds of the column: 0,200000 or pay=0,200000; private to choose them.", _QUESTION)
    ] = None,
    step: Annotated[Many, _option("What values are rounded to: 100 or pay=100.", _QUESTION)] = None,
    grid: Annotated[Many, _option("For quantiles, instead of bounds: the points 0,1,2,5,10.", _QUESTION)] = None,
    level: Annotated[Many, _option("The levels of quantile: 0.1,0.5,0.9.", _QUESTION)] = None,
    top: Annotated[int | None, _option("How many keys, counts or facilities.", _QUESTION, "--top", "-k")] = None,
    at_least: Annotated[int | None, _option("For decision: is the count at least this?", _QUESTION)] = None,
    at_most: Annotated[int | None, _option("For design: the largest count that is told apart.", _QUESTION)] = None,
    prior: Annotated[Many, _option("For design: a weight for each count from 0 on: 8,4,2,1.", _QUESTION)] = None,
    loss: Annotated[str | None, _option("For design: absolute, squared or zero_one.", _QUESTION)] = None,
    total: Annotated[int | None, _option("A guess of the number of units, for sorted-counts.", _QUESTION)] = None,
    places: Annotated[
        str | None, _option("For facilities: a .csv file with a key and its coordinates per line.", _QUESTION)
    ] = None,
    squared: Annotated[bool, _option("For facilities: add up squares of distances.", _QUESTION, "--squared")] = False,
    opening: Annotated[Many, _option("For facilities: what one costs, or each: 5 or 5,7,3.", _QUESTION)] = None,
    option: Annotated[Many, _option('For choose: "young: age < 30"; repeated.', _QUESTION)] = None,
    sum_of: Annotated[str | None, _option("For choose: the key with the largest sum of this.", _QUESTION)] = None,
    matrix: Annotated[Many, _option("For workload: one row of whole numbers, 1,-1,0; repeated.", _QUESTION)] = None,
    name: Annotated[Many, _option("For workloads: what the answers are called: a,b,c.", _QUESTION)] = None,
    ways: Annotated[
        Many, _option("For tables: 2, or the columns of each table: city,sex; repeated.", _QUESTION)
    ] = None,
    goal: Annotated[str | None, _option("What is made least: the total error, or the largest.", _QUESTION)] = None,
    tree: Annotated[
        Many, _option("For hierarchy: one leaf with all above it, North,Kiel; repeated.", _QUESTION)
    ] = None,
    weights: Annotated[Many, _option("How much errors count: 1,2,1, or by level city=2.", _QUESTION)] = None,
    targets: Annotated[Many, _option("The errors wanted: 1,5,5, or by level city=2,all=1.", _QUESTION)] = None,
    expected_rows: Annotated[
        int | None, _option("A guess of the rows per cell, for the error of a mean.", _QUESTION)
    ] = None,
    rest: Annotated[
        bool, _option("A row for everything else, where the keys are found out.", _QUESTION, "--rest")
    ] = False,
    interval_share: Annotated[
        str | None, _option("For quantiles: the share of the price for an interval: 1/2.", _QUESTION)
    ] = None,
    interval_confidence: Annotated[
        str | None, _option("For quantiles: how sure that interval is: 0.9.", _QUESTION)
    ] = None,
    form: Annotated[str, _option("table, json or csv.", _OUTPUT, "--format")] = "table",
    plot: Annotated[Path | None, _option("Draw the answer into a .png, .svg or .pdf file.", _OUTPUT)] = None,
    request_id: Annotated[
        str | None, _option("A name for this release: asked again under it, the same answer costs nothing.", _OUTPUT)
    ] = None,
    analyst: Annotated[str | None, _option("Who asks.", _OUTPUT, envvar="LEASTNOISE_ANALYST")] = None,
) -> None:
    """Ask a question about a table."""
    from leastnoise.apps.public_values import Options
    from leastnoise.apps.questions import make_question
    from leastnoise.errors import BadParameter
    from leastnoise.exact import read_rational
    from leastnoise.model import Privacy
    from leastnoise.release import Batch, BatchRelease

    spend, wants_price = context.info_name == "release", context.info_name == "price"
    if wants_price:
        if error is None and not targets:
            raise BadParameter("the wanted error is missing", fix="add for example --error 10")
        if epsilon is not None or rho is not None or mu is not None:
            raise BadParameter(
                "what an error costs is asked, and a price is given", fix="leave --epsilon, --rho and --mu out"
            )
    elif error is not None or currency is not None:
        raise BadParameter("a wanted error has a price", fix="use leastnoise price, or leave --error out")
    elif epsilon is None and rho is None and mu is None:
        raise BadParameter("the price is missing", fix="add for example --epsilon 0.5")
    price = None if wants_price else Privacy(epsilon, delta, rho=rho, mu=mu, insist=insist)
    if price is not None:
        require_sensible(price)
    sure = {} if confidence is None else {"confidence": confidence}
    if form not in _FORMATS:
        raise BadParameter("unknown format", given=form, fix="use --format table, json or csv")
    if not spend and (plot is not None or request_id is not None):
        raise BadParameter("a plan has no answer to draw or to name", fix="use leastnoise release, or leave it out")
    if wants_price and insist:
        raise BadParameter("no price is given to insist on", fix="leave --insist out")
    if plot is not None:
        _drawable(plot)
    options = Options(
        by=by or (),
        keys=keys or (),
        key=key or (),
        keys_from=keys_from or (),
        bins=bins or (),
        where=where,
        of=of,
        bounds=bounds or (),
        step=step or (),
        grid=grid or (),
        level=level or (),
        top=top,
        option=option or (),
        expected_rows=expected_rows,
        at_least=at_least,
        at_most=at_most,
        prior=prior or (),
        loss=loss,
        total=total,
        places=places,
        squared=squared or None,
        opening=opening or (),
        sum_of=sum_of,
        matrix=matrix or (),
        name=name or (),
        ways=ways or (),
        tree=tree or (),
        weights=weights or (),
        targets=targets or (),
        goal=goal,
        groups_per_unit=groups_per_unit,
        rows_per_unit=rows_per_unit,
        rest=rest or None,
        interval_share=interval_share,
        interval_confidence=interval_confidence,
    )
    said = Said(
        unit=unit,
        table=table,
        budget=budget,
        column=column or (),
        ledger=ledger,
        analyst=analyst,
        config=config,
        memory_limit=memory_limit,
    )
    with opened_for(source, said, spend) as (dataset, granted_by, settings):
        query = make_question(dataset, settings, question, columns or (), options, read_rational(delta, "delta") > 0)
        if isinstance(query, Batch) and plot is not None:
            raise BadParameter("several answers have no one picture", fix="leave --plot out, or ask about one column")
        if not isinstance(query, Batch) and (form == "json" or plot is not None):
            query.require_listed("--plot" if plot is not None else "--format json")
        if not spend:
            plan = query.plan(price, **sure) if price is not None else _priced(query, error, currency, delta, sure)
            _show_plan(plan if granted_by is None else replace(plan, left=None), form)
            if form == "table" and granted_by is not None:
                typer.echo(not_granted(granted_by))
            return
        with working(f"reading {source}"):
            release = query.release(price, request_id=request_id, **sure)
        _show_release(release, dataset, form)
        if plot is not None and not isinstance(release, BatchRelease):
            release.plot(plot)


def _priced(
    query: Query | Batch, error: str | None, currency: str | None, delta: str, sure: dict[str, Any]
) -> ReleasePlan | BatchPlan:
    """What a wanted error costs; of several columns, that error of each."""
    from leastnoise.release import Batch

    more = {"delta": delta, "currency": currency or "epsilon", **sure}
    if isinstance(query, Batch):
        return query.price([error or 0] * len(query.queries), **more)
    return query.price(error, **more)


def require_sensible(price: Privacy) -> None:
    """Refuse a price that protects hardly anybody, in the words of the command line."""
    from leastnoise.errors import BadParameter

    try:
        price.require_sensible()
    except BadParameter as error:
        raise BadParameter(error.problem, given=error.given, fix="pass less, or add --insist if it is meant") from None


def _drawable(plot: Path) -> None:
    """Refuse what can't be drawn before anything is spent."""
    from importlib.util import find_spec

    from leastnoise.errors import MissingPackage
    from leastnoise.release.pictures import read_picture_path

    read_picture_path(plot)
    if find_spec("matplotlib") is None:
        raise MissingPackage("drawing needs matplotlib", fix='pip install "leastnoise[plots]"')


def source_of(source: str, settings: DatasetSettings | None, configuration: Configuration) -> str:
    """Where the data is: as the configuration says, or as it was given."""
    from leastnoise.errors import BadParameter

    if settings is not None:
        return settings.source
    nearest = configuration.closest(source)
    if nearest is not None and not Path(source).exists():
        raise BadParameter(
            f"{configuration.file} has no such dataset, and there is no such file",
            given=source,
            fix=f"did you mean {nearest}?",
        )
    return source


def fixed_texts(
    settings: DatasetSettings | None, given: dict[str, str | None], configuration: Configuration
) -> dict[str, Any]:
    """What the configuration fixes can't be changed by the way: unit, table and budget."""
    from leastnoise.errors import BadParameter

    found: dict[str, Any] = {}
    for name, text in given.items():
        fixed = None if settings is None else getattr(settings, name)
        value = tuple(part.strip() for part in text.split(",")) if name == "budget" and text else text
        if fixed is not None and value is not None and _text(value) != _text(fixed):
            raise BadParameter(
                f"{configuration.file} fixes the {name} of this dataset", given=value, fix=f"leave --{name} out"
            )
        found[name] = value if fixed is None else fixed
    return found


def _required_unit(found: dict[str, Any]) -> dict[str, Any]:
    from leastnoise.errors import BadParameter

    if found["unit"] is None:
        raise BadParameter(
            "the privacy unit is missing",
            fix="add --unit COLUMN, the column that identifies the person each row belongs to, or --unit row if each "
            "person has one row",
        )
    return found


def column_kinds(
    settings: DatasetSettings | None, given: Sequence[str], configuration: Configuration
) -> dict[str, str]:
    """The kinds of columns; what the configuration fixes can't be changed by the way."""
    from leastnoise.errors import BadParameter

    found = {} if settings is None else dict(settings.columns)
    for text in given:
        name, sign, kind = text.rpartition("=")
        if not sign or not name:
            raise BadParameter("--column is a column and its kind", given=text, fix="write for example age=integer")
        if found.setdefault(name, kind) != kind:
            fixed = "is said twice" if settings is None else f"is fixed in {configuration.file}"
            raise BadParameter(f"the kind of {name} {fixed}", given=text, fix=f"leave --column {text} out")
    return found


def _text(value: str | tuple[Any, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value))


@dataclass(frozen=True)
class Said:
    """What was said about the data on the command line; None or empty where nothing was said."""

    unit: str | None = None
    table: str | None = None
    budget: str | None = None
    column: Sequence[str] = ()
    groups_per_unit: int | None = None
    rows_per_unit: int | None = None
    ledger: str | None = None
    analyst: str | None = None
    config: Path | None = None
    memory_limit: str | None = None


@contextmanager
def opened_for(source: str, said: Said, spend: bool) -> Iterator[tuple[Dataset, str | None, DatasetSettings | None]]:
    """The dataset, with what the configuration says about it.

    Beside it, None where it has a budget, or else who will grant one: a plan needs none and grants none.
    """
    from leastnoise.errors import BadParameter, LedgerMissing, UncoveredDebit
    from leastnoise.release import open as open_dataset
    from leastnoise.release.configuration import read_amount, read_configuration

    configuration = read_configuration(said.config)
    settings = configuration.datasets.get(source)
    place = source_of(source, settings, configuration)
    said_texts = {"unit": said.unit, "table": said.table, "budget": said.budget}
    fixed = _required_unit(fixed_texts(settings, said_texts, configuration))
    if not spend and said.budget is not None and (settings is None or settings.budget is None):
        raise BadParameter(
            "a plan grants no budget", given=said.budget, fix="leave --budget out, or use leastnoise release"
        )
    unit, budget = fixed.pop("unit"), fixed.pop("budget")
    more = {
        **fixed,
        "privacy_unit": None if unit == "row" else unit,
        "columns": column_kinds(settings, said.column, configuration),
        "groups_per_unit": said.groups_per_unit or (1 if settings is None else settings.groups_per_unit),
        "rows_per_unit": said.rows_per_unit or (1 if settings is None else settings.rows_per_unit),
        "ledger": said.ledger or configuration.ledger,
        "analyst": said.analyst or configuration.analyst,
        "name": None if settings is None else source,
        "memory_limit": said.memory_limit,
    }
    if settings is not None and (settings.links or settings.public):
        more |= {"links": settings.links, "public": settings.public}
    try:
        dataset = open_dataset(place, budget=read_amount(budget) if spend else None, **more)
    except (LedgerMissing, UncoveredDebit) as error:
        if spend:
            fix = "add --budget 1 to grant a budget, or --ledger PLACE to say where it is kept"
            raise type(error)(error.problem, given=error.given, fix=fix) from None
    else:
        with dataset:
            yield _described(dataset, settings), None, settings
        return
    grants = "--budget" if settings is None or settings.budget is None else str(configuration.file)
    with tempfile.TemporaryDirectory() as folder:
        more["ledger"] = Path(folder) / "plan.ledger"
        with open_dataset(place, budget=1, **more) as dataset:
            yield _described(dataset, settings), grants, settings


def _described(dataset: Dataset, settings: DatasetSettings | None) -> Dataset:
    """The dataset with the public description of the configuration; it belongs to the one that was opened."""
    if settings is None:
        return dataset
    return replace(dataset, description=settings.description(dataset), origin=dataset)


def not_granted(grants: str) -> str:
    """What a plan says where there is no budget yet."""
    return f"nothing was spent; no budget is granted yet: the first release grants that of {grants}"


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner with the time that has passed, on a terminal only, gone when the work is done."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        progress.add_task(what, total=None)
        yield


def _show_plan(plan: ReleasePlan | BatchPlan, form: str) -> None:
    if form == "json":
        typer.echo(json.dumps(plan.to_dict(), ensure_ascii=False, indent=2))
    elif form == "csv":
        writer = csv.writer(sys.stdout)
        writer.writerows([("what", "text"), *plan.lines()])
    else:
        typer.echo(str(plan))


def _show_release(release: Release | BatchRelease, dataset: Dataset, form: str) -> None:
    if form == "json":
        typer.echo(json.dumps(release.to_dict(), ensure_ascii=False, indent=2))
        return
    if form == "csv":
        for line in release.table.lines():
            typer.echo(line, nl=False)
        return
    typer.echo(str(release))
    typer.echo(f"left: {dataset.left}")
    typer.echo(f"to see this again at no cost: --request-id {release.request_id}")
