"""`leastnoise design GRAPH --epsilon E`: the best private mechanism, why it is, and the proof as a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leastnoise.designer.result import Design
    from leastnoise.exact import Enclosure
    from leastnoise.model import Loss
    from leastnoise.model.graphs import DatasetGraph

__all__ = ["design"]

_GRAPH = "Which inputs are neighbours: path:20, cycle:12, ... or a .graphml, .json or edge list (.csv, .txt) file."
_LOSS = "distance, absolute, squared, zero_one, or a .csv or .json file with a row per output and a column per input."
_PRIOR = (
    "uniform, probabilities such as 1/2,1/4,1/4 in node order, a .json file with a list or a mapping, or a .csv file "
    "with a name and a count per line."
)


def design(
    epsilon: Annotated[str, typer.Option(help='The promise: 1, 0.5, "ln(3)"; with places, for each kilometre.')],
    graph: Annotated[str | None, typer.Argument(help=_GRAPH)] = None,
    places: Annotated[
        Path | None,
        typer.Option("--from", help="Instead of a graph: a .csv file with name, latitude and longitude per line."),
    ] = None,
    metric: Annotated[str, typer.Option(help="How far places are apart: haversine.")] = "haversine",
    delta: Annotated[str, typer.Option(help="The promise: 0, 1e-6.")] = "0",
    loss: Annotated[str, typer.Option(help=_LOSS)] = "distance",
    prior: Annotated[str, typer.Option(help=_PRIOR)] = "uniform",
    objective: Annotated[str, typer.Option(help="average (under the prior) or worst (of any input).")] = "average",
    time_limit: Annotated[float | None, typer.Option(help="Seconds; then the best so far, with its gap.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the proof, for `leastnoise check`, into a .json file.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the law into a .png, .svg or .pdf file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON with every number exact.")] = False,
) -> None:
    """Find the private mechanism with the least loss, and prove that none is better."""
    from leastnoise.errors import LeastNoiseError

    try:
        points = None if places is None else _read_places(places, metric)
        space = _space(graph, points)
        found = _find(space, epsilon, delta, loss, prior, objective, time_limit)
        if out is not None:
            _write(found, out)
        if plot is not None:
            from leastnoise.apps.design_plots import plot_design, plot_places

            if points is None:
                plot_design(found, plot)
            else:
                plot_places(found, points, plot)
    except LeastNoiseError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    if as_json:
        typer.echo(json.dumps(_as_data(found), ensure_ascii=False, indent=2))
    else:
        _show(found, out)


def _find(
    space: DatasetGraph,
    epsilon: str,
    delta: str,
    loss: str,
    prior: str,
    objective: str,
    time_limit: float | None,
) -> Design:
    from rich.console import Console

    from leastnoise.designer.designer import design as best

    with Console(stderr=True).status("designing") as status:
        return best(
            space,
            epsilon,
            delta,
            prior=_read_prior(prior),
            loss=_read_loss(loss),
            objective=objective,
            time_limit=time_limit,
            progress=lambda report: status.update(f"{report.stage}, {report.seconds:.0f} s"),
        )


def _space(graph: str | None, points: Mapping[str, tuple[str, str]] | None) -> DatasetGraph:
    from leastnoise.errors import BadParameter
    from leastnoise.model.graphs import from_places, read_graph

    if (graph is None) == (points is None):
        raise BadParameter("a design is for a graph or for places", fix="name a graph, or pass --from places.csv")
    return from_places(dict[Any, Any](points or {})) if graph is None else read_graph(graph)


def _read_places(file: Path, metric: str) -> dict[str, tuple[str, str]]:
    """Names with latitude and longitude, from a file whose first line names the columns."""
    from leastnoise.errors import BadParameter

    if metric != "haversine":
        raise BadParameter("the metric is unknown", given=metric, fix="use --metric haversine")
    rows = [[part.strip() for part in row] for row in _read_data(str(file))[1:]]
    found = {row[0]: (row[1], row[2]) for row in rows if len(row) == 3}
    if len(found) != len(rows) or not rows or file.suffix.lower() != ".csv":
        raise BadParameter(
            "places are a .csv file with a name of its own, a latitude and a longitude per line",
            given=file.name,
            fix="begin it with a line such as name,latitude,longitude",
        )
    return found


def _read_loss(text: str) -> Loss | None:
    from leastnoise.errors import BadLoss
    from leastnoise.model import absolute, from_matrix, squared, zero_one

    known = {"distance": None, "absolute": absolute, "squared": squared, "zero_one": zero_one}
    if text in known:
        return known[text]
    if Path(text).suffix.lower() not in (".csv", ".json"):
        raise BadLoss("the loss is unknown", given=text, fix=f"use one of {', '.join(known)}, or a .csv or .json file")
    return from_matrix(_read_data(text), name=Path(text).stem)


def _read_prior(text: str) -> Any:
    if text == "uniform":
        return None
    if text.lower().endswith(".csv"):
        from leastnoise.errors import BadPrior
        from leastnoise.model import Prior

        rows = [[part.strip() for part in row] for row in _read_data(text)[1:]]
        if any(len(row) != 2 for row in rows) or len({row[0] for row in rows}) != len(rows):
            raise BadPrior("counts are a name and a number per line", given=text, fix="begin it with name,count")
        return Prior(dict(rows), normalise=True)
    return _read_data(text) if text.lower().endswith(".json") else [part.strip() for part in text.split(",")]


def _read_data(name: str) -> Any:
    """What a .json or .csv file holds; numbers stay text, so that they are read exactly."""
    from leastnoise.errors import BadParameter

    try:
        content = Path(name).read_text(encoding="utf-8")
        if name.lower().endswith(".csv"):
            return [line.split(",") for line in content.splitlines() if line.strip()]
        return json.loads(content, parse_float=str)
    except (OSError, ValueError, RecursionError) as error:
        raise BadParameter(
            "the file can't be read", given=f"{name}: {error}", fix="name a .json or .csv file"
        ) from None


def _write(found: Design, out: Path) -> None:
    from leastnoise.errors import BadParameter

    if out.suffix.lower() != ".json":
        raise BadParameter("a proof is a .json file", given=out.name, fix="name it for example mechanism.json")
    text = found.certificate.to_json()
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadParameter("the proof can't be written", given=str(out), fix=f"{error.strerror}") from None


def _show(found: Design, out: Path | None) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from leastnoise.apps.design_plots import heat_map_text

    console = Console(highlight=False)
    console.print(escape(found.headline()), style="green" if found.is_optimal else "yellow")
    proof = [] if out is None else [("proof", f"{out}; check it with: leastnoise check {out}")]
    table = Table(show_header=False)
    for name, text in [*found.rows(), *proof]:
        table.add_row(name, escape(text))
    console.print(table)
    picture = heat_map_text(found)
    if picture is not None:
        console.print(escape(picture), no_wrap=True, crop=True)


def _as_data(found: Design) -> dict[str, Any]:
    def ends(value: Enclosure) -> Any:
        return str(value.lower) if value.is_exact else [str(value.lower), str(value.upper)]

    problem = found.problem
    return {
        "graph": problem.graph.name,
        "epsilon": str(problem.privacy.epsilon),
        "delta": str(problem.privacy.delta),
        "objective": problem.objective,
        "loss_name": problem.loss_name,
        "mechanism": found.mechanism.name,
        "loss": ends(found.loss),
        "lower_bound": ends(found.lower_bound),
        "gap": str(found.gap),
        "route": found.route,
        "reason": found.reason.theorem,
        "source": found.reason.citation,
    }
