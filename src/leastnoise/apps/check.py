"""`leastnoise check FILE`: is a channel private, is a certificate true? Exit status 0 yes, 1 no, 2 bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from leastnoise.checker import CertificateVerdict, Counterexample, Verdict
    from leastnoise.model import Certificate, Channel
    from leastnoise.model.graphs import DatasetGraph

__all__ = ["check"]

_GRAPH = "Which inputs are neighbours: path:5, cycle:12, hypercube:4, ... or a graph in a .json file. Default: all are."


def check(
    file: Annotated[
        Path, typer.Argument(help="A channel (.csv, .json or .npy, a row per input) or a certificate (.json).")
    ],
    graph: Annotated[str | None, typer.Option(help=_GRAPH)] = None,
    epsilon: Annotated[str | None, typer.Option(help='The promise: 1, 0.5, "ln(3)". Default: just measure.')] = None,
    delta: Annotated[str, typer.Option(help="The promise: 0, 1e-6.")] = "0",
    group: Annotated[int, typer.Option(help="Inputs up to this distance count as neighbours.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON with every number exact.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw delta against epsilon, or the channel of a certificate, into a .png, .svg or .pdf file."
        ),
    ] = None,
) -> None:
    """Check exactly whether a channel is private, or whether a certificate is true."""
    from leastnoise.errors import LeastNoiseError

    try:
        verdict = _verdict(file, graph, epsilon, delta, group, plot)
    except LeastNoiseError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    if as_json:
        typer.echo(json.dumps(_as_data(verdict), ensure_ascii=False, indent=2))
    else:
        _show(verdict)
    raise typer.Exit(0 if verdict else 1)


def _verdict(
    file: Path, graph: str | None, epsilon: str | None, delta: str, group: int, plot: Path | None
) -> Verdict | CertificateVerdict:
    from leastnoise.checker import check as ask, privacy_curve
    from leastnoise.model import Certificate, Channel

    text = _certificate_text(file)
    if text is not None:
        certificate = Certificate.from_json(text)
        if plot is not None:
            _draw_certified(certificate, plot)
        return ask(certificate)
    channel = Channel.read(file)
    neighbours = _read_graph(graph, channel)
    if plot is not None:
        from leastnoise.apps.plots import plot_privacy_curve

        plot_privacy_curve(privacy_curve(channel, neighbours, group=group), plot)
    verdict = ask(channel, neighbours, epsilon or 0, delta, group=group)
    if epsilon is None and verdict.tight_epsilon != float("inf"):
        verdict = ask(channel, neighbours, verdict.tight_epsilon, delta, group=group)
    return verdict


def _draw_certified(certificate: Certificate, plot: Path) -> None:
    from leastnoise.apps.plots import plot_channel
    from leastnoise.errors import BadParameter
    from leastnoise.model import Channel

    channel = getattr(certificate, "channel", None)
    if not isinstance(channel, Channel):
        raise BadParameter(
            "the certificate holds no channel to draw", given=f"claim: {certificate.claim}", fix="leave --plot out"
        )
    plot_channel(channel, plot, f"the channel of the {certificate.claim} certificate")


def _certificate_text(file: Path) -> str | None:
    """The text of a certificate; None if the file is something else, or can't be read as one."""
    from leastnoise.model import is_certificate

    if file.suffix.lower() != ".json":
        return None
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None  # reading it as a channel gives the error that names the file
    return text if is_certificate(text) else None


def _read_graph(graph: str | None, channel: Channel) -> DatasetGraph:
    from leastnoise.model.graphs import complete, read_graph

    return complete(len(channel.inputs)) if graph is None else read_graph(graph)


def _show(verdict: Verdict | CertificateVerdict) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    console.print(escape(verdict.headline()), style="green" if verdict else "red")
    table = Table(show_header=False)
    for name, text in verdict.rows():
        table.add_row(escape(name), escape(text))
    console.print(table)


def _as_data(verdict: Verdict | CertificateVerdict) -> dict[str, Any]:
    from leastnoise.checker import CertificateVerdict
    from leastnoise.exact import Enclosure
    from leastnoise.model import brief, exact_text

    if isinstance(verdict, CertificateVerdict):
        findings = [finding._asdict() for finding in verdict.findings]
        return {"holds": verdict.holds, "claim": verdict.kind, "reason": verdict.reason, "findings": findings}

    def number(value: Any) -> Any:
        if isinstance(value, Enclosure):
            return [number(value.lower), number(value.upper)]
        return exact_text(value) or brief(value)

    def witness(worst: Counterexample) -> dict[str, Any]:
        return {
            "x": repr(worst.x),
            "neighbour": repr(worst.neighbour),
            "outputs": [repr(output) for output in worst.outputs],
            "probability": number(worst.probability),
            "neighbour_probability": number(worst.neighbour_probability),
            "length": number(worst.length),
            "excess": None if verdict.holds else number(worst.excess),
        }

    return {
        "holds": verdict.holds,
        "epsilon": number(verdict.privacy.epsilon),
        "delta": number(verdict.privacy.delta),
        "graph": verdict.graph,
        "group": verdict.group,
        "tight_epsilon": number(verdict.tight_epsilon),
        "tight_delta": number(verdict.tight_delta),
        "worst": None if verdict.worst is None else witness(verdict.worst),
    }
