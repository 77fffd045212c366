"""How far is a mechanism from the best there is? A table, and the frontier of loss over privacy.

The optimum and its lower bound are exact (`design`); the losses of the others are computed in doubles and shown,
nothing else. Every loss is given twice: for a reader who takes outputs at their word, and for one who makes the best of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from leastnoise.designer.contenders import CONTENDERS, Contender, Table
from leastnoise.designer.designer import design
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike
from leastnoise.model.channel import Channel
from leastnoise.model.design_problem import DesignProblem, read_problem
from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.losses import Loss
from leastnoise.model.mechanism import Mechanism
from leastnoise.model.notebook import html_table
from leastnoise.model.priors import PriorLike

__all__ = ["Comparison", "Entry", "compare"]

OPTIMAL, LOWER_BOUND = "optimal", "lower bound"
_LARGEST = 2000
_COLUMNS = ("mechanism", "ε", "true ε", "loss", "read best", "× optimum")

Candidate: TypeAlias = Mechanism | Channel | Callable[[Any], Mechanism | Channel]


class Entry(NamedTuple):
    """One mechanism at one ε.

    Attributes:
        mechanism: Its name.
        epsilon: The promise.
        true_epsilon: The least ε for which it is private.
        loss: The expected loss of the output itself.
        read: The expected loss after the best remap.
        share: The loss divided by the optimum.
    """

    mechanism: str
    epsilon: Exact
    true_epsilon: float
    loss: float
    read: float
    share: float


@dataclass(frozen=True)
class Comparison:
    """What `compare` found; print it, show it in a notebook, or draw it with `leastnoise.apps.design_plots`.

    Attributes:
        graph: The name of the graph.
        loss: The name of the loss.
        entries: All mechanisms at all ε.
        left_out: Names of mechanisms that make no sense on this graph.
    """

    graph: str
    loss: str
    entries: tuple[Entry, ...]
    left_out: tuple[str, ...] = ()

    def entry(self, mechanism: str, epsilon: Exact | None = None) -> Entry:
        """The entry of a mechanism, at the first ε if none is given."""
        found = [one for one in self.entries if one.mechanism == mechanism and epsilon in (None, one.epsilon)]
        if not found:
            names = ", ".join(dict.fromkeys(one.mechanism for one in self.entries))
            raise BadParameter("there is no such entry", given=mechanism, fix=f"choose one of: {names}")
        return found[0]

    @cached_property
    def frontier(self) -> dict[str, list[tuple[float, float]]]:
        """For each mechanism its points (ε, loss), in the order of ε: what a plot shows."""
        curves: dict[str, list[tuple[float, float]]] = {}
        for one in self.entries:
            curves.setdefault(one.mechanism, []).append((float(one.epsilon), one.loss))
        return {name: sorted(points) for name, points in curves.items()}

    def __str__(self) -> str:
        """An aligned table."""
        grid = [_COLUMNS, *map(_cells, self.entries)]
        widths = [max(len(row[j]) for row in grid) for j in range(len(_COLUMNS))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
            for row in grid
        ]
        return "\n".join([self._title, *(line.rstrip() for line in lines)])

    def __rich__(self) -> Any:
        """A table for the terminal."""
        from rich.markup import escape as plain
        from rich.table import Table as RichTable

        table = RichTable(title=plain(self._title))
        for place, name in enumerate(_COLUMNS):
            table.add_column(name, justify="right" if place else "left")
        for one in self.entries:
            style = "bold" if one.mechanism in (OPTIMAL, LOWER_BOUND) else None
            table.add_row(*map(plain, _cells(one)), style=style)
        return table

    def _repr_html_(self) -> str:
        return html_table(self._title, [_cells(one) for one in self.entries], _COLUMNS)

    @property
    def _title(self) -> str:
        return f"expected {self.loss} on {self.graph}"


def compare(
    graph: DatasetGraph | str,
    epsilon: NumberLike | Iterable[NumberLike],
    mechanisms: Mapping[str, Candidate] | Iterable[str] | None = None,
    loss: Loss | None = None,
    prior: PriorLike | None = None,
) -> Comparison:
    """Put mechanisms side by side with the optimum.

    Args:
        graph: The inputs and which of them are neighbours.
        epsilon: The privacy, or several for a frontier.
        mechanisms: Names among those compared by default, or your own: a name for each mechanism or channel, or for a
            function that makes one from ε. All that make sense on the graph if left out.
        loss: ℓ(output, input); the distance if left out.
        prior: How likely each input is; all alike if left out.

    Raises:
        BadParameter: An unknown name.
        TooLarge: The graph has too many nodes for tables.

    >>> table = compare("path:40", 1)
    >>> [f"{table.entry(name).loss:.3f}" for name in ("exponential, ε/2", "geometric", "optimal")]
    ['1.797', '0.817', '0.817']
    """
    epsilons = epsilon if isinstance(epsilon, Iterable) and not isinstance(epsilon, str) else [epsilon]
    problems = [read_problem(graph, one, 0, prior, loss) for one in epsilons]
    if not problems:
        raise BadParameter("there is no epsilon to compare at", given="none", fix="pass one or more")
    size = problems[0].graph.size
    if size is None or size > _LARGEST:
        raise TooLarge(
            f"a comparison needs tables of all nodes, at most {_LARGEST}", given=problems[0].graph.name, fix="use fewer"
        )
    chosen = _chosen(mechanisms)
    entries: list[Entry] = []
    left_out: dict[str, None] = {}
    for problem in problems:
        best = design(problem.graph, problem.privacy.epsilon, prior=prior, loss=loss)
        optimum, bound = float(best.loss), float(best.lower_bound)
        for name, make in chosen.items():
            made = make(problem)
            if made is None:
                left_out[name] = None
            else:
                entries.append(_entry(name, problem, made, optimum))
        at = problem.privacy.epsilon
        entries.append(Entry(OPTIMAL, at, float(at), optimum, optimum, 1.0))
        entries.append(Entry(LOWER_BOUND, at, float(at), bound, bound, bound / optimum if optimum else 1.0))
    return Comparison(problems[0].graph.name, problems[0].loss_name, tuple(entries), tuple(left_out))


class _Made(NamedTuple):
    """p(y|x), a row per node, and ℓ(y, x), a row per output."""

    law: Table
    costs: Table


_Maker: TypeAlias = Callable[[DesignProblem], _Made | None]


def _chosen(mechanisms: Mapping[str, Candidate] | Iterable[str] | None) -> dict[str, _Maker]:
    if isinstance(mechanisms, Mapping):
        return {name: _maker_of(candidate) for name, candidate in mechanisms.items()}
    names = list(CONTENDERS) if mechanisms is None else list(mechanisms)
    unknown = [name for name in names if name not in CONTENDERS]
    if unknown:
        raise BadParameter(
            "there is no such mechanism to compare", given=unknown[0], fix=f"choose among: {'; '.join(CONTENDERS)}"
        )
    return {name: _known(CONTENDERS[name]) for name in names}


def _known(contender: Contender) -> _Maker:
    def make(problem: DesignProblem) -> _Made | None:
        nodes = problem.graph.nodes
        if any(node not in set(problem.answers) for node in nodes):  # they answer with nodes
            return None
        table = contender(problem.graph, float(problem.privacy.epsilon))
        return None if table is None else _Made(table, _costs(problem, nodes))

    return make


def _maker_of(candidate: Candidate) -> _Maker:
    def make(problem: DesignProblem) -> _Made:
        one = candidate if isinstance(candidate, Mechanism | Channel) else candidate(problem.privacy.epsilon)
        nodes = problem.graph.nodes
        if isinstance(one, Channel):
            return _Made(one.restrict(nodes).floats(), _costs(problem, one.outputs))
        law = np.array([[float(one.pmf(output, node)) for output in problem.answers] for node in nodes])
        return _Made(law, _costs(problem, problem.answers))

    return make


def _costs(problem: DesignProblem, outputs: Sequence[Hashable]) -> Table:
    """ℓ(y, x) in doubles, a row for each output."""
    if problem.loss is not None:
        return problem.loss.floats(tuple(problem.graph.nodes), tuple(outputs))
    distances = np.asarray(problem.graph.distances(), dtype=np.float64)
    table: Table = distances[[problem.graph.index(output) for output in outputs]]
    return table


def _entry(name: str, problem: DesignProblem, made: _Made, optimum: float) -> Entry:
    prior = np.array(problem.weights, dtype=np.float64)
    joint = prior[:, None] * made.law
    loss = float((joint * made.costs.T).sum())
    read = float((_costs(problem, problem.answers) @ joint).min(axis=0).sum())
    share = loss / optimum if optimum else float("nan")
    return Entry(name, problem.privacy.epsilon, _true_epsilon(problem.graph, made.law), loss, read, share)


def _true_epsilon(graph: DatasetGraph, law: Table) -> float:
    """The largest log-ratio on an edge, over its length; infinite where only one of two neighbours is zero."""
    edges, lengths = graph.edges(), graph.edge_lengths()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(np.log(law[edges[:, 0]]) - np.log(law[edges[:, 1]])).max(
            axis=1, initial=0, where=law[edges].any(axis=1)
        )
    return float((ratios / (1.0 if lengths is None else np.array(lengths, dtype=np.float64))).max())


def _cells(one: Entry) -> tuple[str, ...]:
    return (
        one.mechanism,
        str(one.epsilon),
        f"{one.true_epsilon:.4g}",
        f"{one.loss:.6g}",
        f"{one.read:.6g}",
        f"{one.share:.4g}",
    )
