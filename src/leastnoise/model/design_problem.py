"""The request: which inputs are neighbours, how private, and what it costs to be wrong. Read once, checked once.

Nothing here builds a matrix before it is asked for, so that a theorem can answer for graphs that no matrix would hold.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Literal, TypeAlias, get_args

from leastnoise.errors import BadGraph, BadLoss, BadParameter, BadPrior, shown
from leastnoise.exact import NumberLike, RationalMatrix
from leastnoise.model.graphs import DatasetGraph, parse_graph
from leastnoise.model.graphs.grids import factors_of
from leastnoise.model.labels import read_labels
from leastnoise.model.limits import require_memory
from leastnoise.model.losses import Loss
from leastnoise.model.priors import PriorLike, ProductPrior, read_prior
from leastnoise.model.privacy import Privacy

__all__ = ["DesignProblem", "Objective", "Reader", "read_problem"]

Objective: TypeAlias = Literal["average", "worst"]
Reader: TypeAlias = Literal["rational", "fixed"]


@dataclass(frozen=True)
class DesignProblem:
    """What is asked for; made by `read_problem`, which checks it.

    Attributes:
        graph: The inputs and which of them are neighbours; a metric asks for e^(ε·d) between every two.
        privacy: ε and δ.
        prior: A probability for each node in node order; None for all alike (and for the objective "worst").
        loss: ℓ(output, input); None for the distance in the graph.
        outputs: What may be answered; None for the nodes.
        objective: "average": the loss under the prior. "worst": the largest expected loss of an input.
        reader: "fixed": an output is taken at its word. "rational": the reader may say something else on seeing it.
        factor_priors: For independent coordinates the prior of each, None for a uniform one; `prior` is then None.
    """

    graph: DatasetGraph
    privacy: Privacy
    prior: tuple[Fraction, ...] | None = None
    loss: Loss | None = None
    outputs: tuple[Hashable, ...] | None = None
    objective: Objective = "average"
    reader: Reader = "rational"
    factor_priors: tuple[tuple[Fraction, ...] | None, ...] | None = None

    @property
    def answers(self) -> Sequence[Hashable]:
        """The labels of the outputs."""
        return self.graph.nodes if self.outputs is None else self.outputs

    @property
    def loss_name(self) -> str:
        """What the loss is called."""
        return "distance" if self.loss is None else self.loss.name

    @property
    def has_uniform_prior(self) -> bool:
        """Whether the average is taken over all inputs alike."""
        if self.factor_priors is not None:
            return all(factor is None or len(set(factor)) == 1 for factor in self.factor_priors)
        return self.objective == "average" and (self.prior is None or len(set(self.prior)) == 1)

    @cached_property
    def weights(self) -> tuple[Fraction, ...]:
        """The prior in node order, also where it was left out."""
        if self.factor_priors is not None:
            require_memory(64 * (self.graph.size or 0), f"the prior of {self.graph.name}", "use fewer nodes")
            factors = zip(self.factor_priors, factors_of(self.graph), strict=True)
            listed = [[Fraction(1, len(one.nodes))] * len(one.nodes) if own is None else own for own, one in factors]
            return tuple(prod(each, start=Fraction(1)) for each in product(*listed))
        size = len(self.graph.nodes)
        return (Fraction(1, size),) * size if self.prior is None else self.prior

    @cached_property
    def loss_table(self) -> RationalMatrix:
        """ℓ as a matrix, a row for each output and a column for each node."""
        if self.loss is not None:
            return self.loss.table(tuple(self.graph.nodes), self.answers)
        distances = self.graph.distances().tolist()
        if self.outputs is None:
            return RationalMatrix(distances)
        return RationalMatrix([distances[self.graph.index(output)] for output in self.outputs])

    def losses_at(self, pairs: Sequence[tuple[int, int]]) -> list[Fraction]:
        """ℓ for some pairs (node, output), given by their places; no table is made for distances."""
        if self.loss is not None:
            table = self.loss_table.rows
            return [table[output][node] for node, output in pairs]
        distances = self.graph.distances()
        homes = range(len(distances)) if self.outputs is None else [self.graph.index(output) for output in self.outputs]
        lengths = (distances[homes[output], node] for node, output in pairs)
        return [length if isinstance(length, Fraction) else Fraction(int(length)) for length in lengths]

    @cached_property
    def is_distance_loss(self) -> bool:
        """Whether the outputs are the nodes and the loss is the distance, by default or because its values are."""
        if self.outputs is not None and self.outputs != tuple(self.graph.nodes):
            return False
        return self.loss is None or self.loss_table == RationalMatrix(self.graph.distances().tolist())


def read_problem(
    graph: DatasetGraph | str,
    epsilon: NumberLike,
    delta: NumberLike = 0,
    prior: PriorLike | ProductPrior | None = None,
    loss: Loss | None = None,
    outputs: Iterable[Hashable] | None = None,
    objective: str = "average",
    reader: str = "rational",
) -> DesignProblem:
    """Read and check a request.

    Raises:
        BadGraph: Not a graph, or one node only.
        BadLoss: The outputs are not nodes, so that the distance says nothing about them, and no loss is given.
        BadParameter: ε or δ out of range, an unknown word, or requests that contradict each other.
        BadPrior: Not a distribution over the nodes, or not wanted.

    >>> from leastnoise.model.graphs import path
    >>> read_problem(path(3), "ln(2)").weights
    (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    """
    space = parse_graph(graph) if isinstance(graph, str) else graph
    if not isinstance(space, DatasetGraph):
        raise BadGraph(
            "a design needs a graph or a metric", given=type(graph).__name__, fix='pass for example "path:20"'
        )
    if space.size == 1:
        raise BadGraph("with one node there is nothing to hide", given=space.name, fix="give at least two nodes")
    privacy = Privacy(epsilon, delta)
    if privacy.epsilon == 0 and privacy.is_pure:
        raise BadParameter(
            "epsilon must be above 0, for without epsilon and delta no answer may depend on the input",
            given=0,
            fix="pass for example epsilon=0.5, or answer the best constant",
        )
    if not isinstance(objective, str) or objective not in get_args(Objective):
        raise BadParameter("the objective is unknown", given=objective, fix='use "average" or "worst"')
    if not isinstance(reader, str) or reader not in get_args(Reader):
        raise BadParameter("the reader is unknown", given=reader, fix='use "rational" or "fixed"')
    if loss is not None and not isinstance(loss, Loss):
        raise BadLoss("a loss is a `Loss`", given=type(loss).__name__, fix="make one with from_function or from_matrix")
    return DesignProblem(
        space,
        privacy,
        prior=None if isinstance(prior, ProductPrior) else _read_weights(prior, space, objective),
        loss=loss,
        outputs=_read_outputs(space, loss, outputs, reader),
        objective="worst" if objective == "worst" else "average",
        reader="fixed" if reader == "fixed" else "rational",
        factor_priors=_read_factors(prior, space, objective) if isinstance(prior, ProductPrior) else None,
    )


def _read_factors(prior: ProductPrior, graph: DatasetGraph, objective: str) -> tuple[tuple[Fraction, ...] | None, ...]:
    factors = factors_of(graph)
    if len(factors) != len(prior.factors):
        raise BadPrior(
            "independent coordinates need a grid, torus, cube or Hamming graph with as many of them",
            given=f"{len(prior.factors)} priors, {graph.name}",
            fix="pass a prior for each coordinate",
        )
    return tuple(_read_weights(each, factor, objective) for each, factor in zip(prior.factors, factors, strict=True))


def _read_weights(prior: PriorLike | None, graph: DatasetGraph, objective: str) -> tuple[Fraction, ...] | None:
    if prior is None:
        return None
    if objective == "worst":
        raise BadPrior(
            "the worst loss of an input does not depend on a prior",
            given="a prior and objective='worst'",
            fix="leave one of them out",
        )
    if graph.size is None:
        raise BadPrior("an infinite graph takes no prior", given=graph.name, fix="use a finite part of it")
    return read_prior(prior, graph.nodes)


def _read_outputs(
    graph: DatasetGraph, loss: Loss | None, outputs: Iterable[Hashable] | None, reader: str
) -> tuple[Hashable, ...] | None:
    guesses = None if loss is None else loss.guesses
    labels = guesses if outputs is None else read_labels(outputs, "outputs")
    if labels is None:
        return None
    if outputs is not None and guesses is not None and set(labels) != set(guesses) and reader == "rational":
        raise BadParameter(
            "a rational reader says one of the loss's guesses whatever the outputs are called, and these differ",
            given=f"{len(labels)} outputs, {len(guesses)} guesses",
            fix='leave the outputs out, or pass reader="fixed" to use them as they are',
        )
    strangers = [label for label in labels if label not in graph] if loss is None else []
    if strangers:
        raise BadLoss(
            "the distance says nothing about an output that is no node",
            given=shown(strangers[0]),
            fix="give a loss, such as losses.absolute",
        )
    return labels
