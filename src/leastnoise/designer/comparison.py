"""How far is a mechanism from the best there is? A table, and the frontier of loss over privacy.

The optimum and its lower bound are exact (`design`); the losses of the others are computed in doubles and shown,
nothing else. Every loss is given twice: for a reader who uses outputs as they are, and for one who makes the best of
them.

The mechanisms that one would try first are tables of doubles, for comparison and pictures only; none is released. Each
of their functions gives p(y|x) for the nodes of a graph in node order, or None where the mechanism makes no sense
there.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.designer.designer import design
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import Exact, NumberLike
from leastnoise.model import (
    Channel,
    DesignProblem,
    Loss,
    Mechanism,
    PriorLike,
    aligned,
    html_table,
    read_problem,
    rich_table,
)
from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.graphs.path_cycle_complete import find_line

__all__ = ["CONTENDERS", "Comparison", "ComparisonEntry", "Table", "compare"]

Table: TypeAlias = NDArray[np.float64]
Contender: TypeAlias = Callable[[DatasetGraph, float], Table | None]


def _textbook_exponential(graph: DatasetGraph, epsilon: float) -> Table:
    """P(y|x) ∝ e^(−ε·d/2): the factor 2 pays for a normaliser that changes with x."""
    return _exponential(_distances(graph), epsilon / 2)


def _exponential_without_the_two(graph: DatasetGraph, epsilon: float) -> Table | None:
    """P(y|x) ∝ e^(−ε·d), where every node sees as many others at each distance: the normaliser is then constant."""
    distances = _distances(graph)
    views = np.sort(distances, axis=1)
    return _exponential(distances, epsilon) if (views == views[0]).all() else None


def _laplace(graph: DatasetGraph, epsilon: float) -> Table | None:
    """Laplace noise of scale 1/ε on a line, rounded to the nearest node."""
    return _on_line(graph, lambda z, _: np.exp(-epsilon * z) / 2)


def _geometric(graph: DatasetGraph, epsilon: float) -> Table | None:
    """Geometric noise on a line, clamped to it: P(noise > z) = α^k/(1 + α) for the next k·gap above z."""
    return _on_line(
        graph, lambda z, gap: np.exp(-epsilon * gap * (np.floor(z / gap) + 1)) / (1 + np.exp(-epsilon * gap))
    )


def _staircase(graph: DatasetGraph, epsilon: float) -> Table | None:
    """Staircase noise on a line (Geng and Viswanath 2016) for neighbours one gap apart, rounded to the nearest node."""
    return _on_line(graph, lambda z, gap: _staircase_tail(z / gap, epsilon * gap))


def _randomized_response(graph: DatasetGraph, epsilon: float) -> Table:
    """The true node with odds e^ε against each other one, as if all were neighbours."""
    distances = _distances(graph)
    nearest = float(distances[distances > 0].min())
    apart: Table = np.where(distances > 0, nearest, 0.0)
    return _exponential(apart, epsilon)


CONTENDERS: dict[str, Contender] = {
    "exponential, ε/2": _textbook_exponential,
    "exponential, ε": _exponential_without_the_two,
    "Laplace, rounded": _laplace,
    "geometric": _geometric,
    "staircase, rounded": _staircase,
    "randomized response": _randomized_response,
}


def _distances(graph: DatasetGraph) -> Table:
    return np.asarray(graph.distances(), dtype=np.float64)


def _exponential(distances: Table, rate: float) -> Table:
    weights = np.exp(-rate * distances)
    table: Table = weights / weights.sum(axis=1, keepdims=True)
    return table


def _on_line(graph: DatasetGraph, tail: Callable[[Any, float], Any]) -> Table | None:
    """Noise added to each place of the line, then the nearest place; tail(z, gap) is P(noise > z) for z ≥ 0.

    An interval on one side of zero is a difference of tails, so that even the smallest chances are right.
    """
    line = find_line(graph)
    if line is None:
        return None
    gap, size = float(line.gap), len(line.order)
    middles = gap * np.subtract.outer(np.arange(size), np.arange(size)).T.astype(np.float64)  # y − x
    low, high = middles - gap / 2, middles + gap / 2
    low[:, 0], high[:, -1] = -np.inf, np.inf
    at_low, at_high = tail(np.abs(low), gap), tail(np.abs(high), gap)
    one_side = np.where(low >= 0, at_low - at_high, at_high - at_low)
    table = np.empty((size, size))
    table[np.ix_(line.order, line.order)] = np.where((low < 0) & (high > 0), 1 - at_low - at_high, one_side)
    return table


def _staircase_tail(z: Any, epsilon: float) -> Any:
    """Density a on [k, k + γ) and a·e^-ε on [k + γ, k + 1), times e^(−kε), on both sides, γ = 1/(1 + e^(ε/2))."""
    b, step = np.exp(-epsilon), 1 / (1 + np.exp(epsilon / 2))
    finite = np.where(np.isinf(z), 0, z)
    period, rest = np.floor(finite), finite % 1
    passed = (np.minimum(rest, step) + b * np.maximum(rest - step, 0)) / (step + b * (1 - step))
    return np.where(np.isinf(z), 0, b**period * (1 - (1 - b) * passed) / 2)


OPTIMAL, LOWER_BOUND = "optimal", "lower bound"
_LARGEST = 2000
_COLUMNS = ("mechanism", "ε", "true ε", "loss", "read best", "× optimum")

MechanismLike: TypeAlias = Mechanism | Channel | Callable[[Any], Mechanism | Channel]


class ComparisonEntry(NamedTuple):
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
    entries: tuple[ComparisonEntry, ...]
    left_out: tuple[str, ...] = ()

    def entry(self, mechanism: str, epsilon: Exact | None = None) -> ComparisonEntry:
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
        return f"{self._title}\n{aligned([_COLUMNS, *map(_cells, self.entries)], left=1)}"

    def __rich__(self) -> Any:
        """A table for the terminal."""
        return rich_table([_COLUMNS, *map(_cells, self.entries)], title=self._title, left=1)

    def _repr_html_(self) -> str:
        return html_table(self._title, [_cells(one) for one in self.entries], _COLUMNS)

    @property
    def _title(self) -> str:
        return f"expected {self.loss} on {self.graph}"


def compare(
    graph: DatasetGraph | str,
    epsilon: NumberLike | Iterable[NumberLike],
    mechanisms: Mapping[str, MechanismLike] | Iterable[str] | None = None,
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
    entries: list[ComparisonEntry] = []
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
        entries.append(ComparisonEntry(OPTIMAL, at, float(at), optimum, optimum, 1.0))
        entries.append(ComparisonEntry(LOWER_BOUND, at, float(at), bound, bound, bound / optimum if optimum else 1.0))
    return Comparison(problems[0].graph.name, problems[0].loss_name, tuple(entries), tuple(left_out))


class _Made(NamedTuple):
    """p(y|x), a row per node, and ℓ(y, x), a row per output."""

    law: Table
    costs: Table


_Maker: TypeAlias = Callable[[DesignProblem], _Made | None]


def _chosen(mechanisms: Mapping[str, MechanismLike] | Iterable[str] | None) -> dict[str, _Maker]:
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


def _maker_of(candidate: MechanismLike) -> _Maker:
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


def _entry(name: str, problem: DesignProblem, made: _Made, optimum: float) -> ComparisonEntry:
    prior = np.array(problem.weights, dtype=np.float64)
    joint = prior[:, None] * made.law
    loss = float((joint * made.costs.T).sum())
    read = float((_costs(problem, problem.answers) @ joint).min(axis=0).sum())
    share = loss / optimum if optimum else float("nan")
    return ComparisonEntry(name, problem.privacy.epsilon, _true_epsilon(problem.graph, made.law), loss, read, share)


def _true_epsilon(graph: DatasetGraph, law: Table) -> float:
    """The largest log-ratio on an edge, over its length; infinite where only one of two neighbours is zero."""
    edges, lengths = graph.edges(), graph.edge_lengths()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(np.log(law[edges[:, 0]]) - np.log(law[edges[:, 1]])).max(
            axis=1, initial=0, where=law[edges].any(axis=1)
        )
    return float((ratios / (1.0 if lengths is None else np.array(lengths, dtype=np.float64))).max())


def _cells(one: ComparisonEntry) -> tuple[str, ...]:
    return (
        one.mechanism,
        str(one.epsilon),
        f"{one.true_epsilon:.4g}",
        f"{one.loss:.6g}",
        f"{one.read:.6g}",
        f"{one.share:.4g}",
    )
