"""Inverse sensitivity: a value is the likelier, the fewer records must change for it to be the true one.

f is a function on a finite dataset graph and y one of its values. The score of y at x is −D(x, y),

    D(x, y) = min {d(x, x') : f(x') = y},

and a value is chosen by permute-and-flip, or by the exponential mechanism, with rate ε/2. Tóthmérész 2013, Definition
2.5, where the sign of the score is missing; Johnson and Shmatikov, KDD 2013 (distance-score mechanism); Asi and Duchi,
NeurIPS 2020 (nearly as good at every x as any mechanism can be there).

Privacy: d is a metric, so from x to x' every score moves by at most d(x, x'); rate ε/2 is then ε-private for neighbours
and ε·d-private on a metric. The scores are never monotone: across an edge with f(x) ≠ f(x') that of f(x) falls by one
and that of f(x') rises by one. So ε in place of ε/2 is in general false.

Two values are the exception. There P(wrong) = 1/(1 + e^(rate·D)), D ≥ 1 the changes to the other value. Between x and
x' of the same value D moves by at most d = d(x, x'), and P(wrong), P(right) by at most e^(rate·d). If the values
differ, both D are at most d, and P(y | x')/P(y | x) = (1 + e^(rate·D))/(1 + e^(−rate·D')) ≤ e^(rate·d). So the
exponential law is ε-private at rate ε.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, Exact, NumberLike, Size, Source, read_rate, read_rational
from leastnoise.mechanisms.choice import Exponential, PermuteAndFlip
from leastnoise.mechanisms.designed.designed_mechanism import worst_estimate
from leastnoise.mechanisms.function.graph_function import Function, node_place, read_finite_graph, values_of
from leastnoise.model import (
    Certificate,
    ErrorEstimate,
    Mechanism,
    Privacy,
    PrivacyCertificate,
    Pure,
    Reason,
    read_labels,
)
from leastnoise.model.graphs import DatasetGraph

__all__ = ["InverseSensitivity"]

_METHODS = ("permute and flip", "exponential")
_ENUMERATED = 1 << 20  # steps for which the error is computed at every node


@dataclass(frozen=True, init=False)
class InverseSensitivity(Mechanism):
    """A value of a function on a dataset graph, those that few changes would make true being the likeliest.

    The truth is a node of the graph. Graph and function are public.

    Args:
        epsilon: The privacy of one release; on a metric, of two nodes at distance one.
        graph: The datasets and which are neighbours, finite; or a metric. Text such as "path:20" works too.
        function: Its value at a node, a label or a number; or a mapping from nodes to values.
        method: "permute and flip" or "exponential"; the first if left out, and the second for two values, which then
            uses the whole ε.

    Attributes:
        values: The value at each node, in node order.
        outputs: The values there are, in order of appearance.

    >>> upper = InverseSensitivity("ln(3)", "path:4", lambda n: n // 2)
    >>> [str(upper.pmf(0, n).lower) for n in range(4)]
    ['9/10', '3/4', '1/4', '1/10']
    >>> capped = InverseSensitivity("2*ln(2)", "path:6", lambda n: min(n, 2))
    >>> [str(capped.pmf(y, 4).lower) for y in capped.outputs], capped.error().expected
    (['23/768', '47/768', '349/384'], Enclosure(7/16))
    """

    name: ClassVar[str] = "inverse sensitivity mechanism"
    epsilon: Exact
    graph: DatasetGraph
    values: tuple[Hashable, ...]
    method: str

    def __init__(
        self, epsilon: NumberLike, graph: DatasetGraph | str, function: Function, method: str | None = None
    ) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon", reach=500))
        object.__setattr__(self, "graph", read_finite_graph(graph))
        object.__setattr__(self, "values", values_of(function, self.graph))
        two = len(self.outputs) == 2
        object.__setattr__(self, "method", _METHODS[two] if method is None else method)
        if self.method not in _METHODS:
            raise BadParameter("method is unknown", given=method, fix='pass "permute and flip" or "exponential"')

    @cached_property
    def outputs(self) -> tuple[Hashable, ...]:
        """The values there are, in order of appearance."""
        try:
            return read_labels(dict.fromkeys(self.values), "values of the function")
        except TypeError:
            pass
        raise BadParameter("the values of the function must be labels or numbers", fix="return text, numbers or tuples")

    @property
    def event(self) -> Any:
        """That of the choice; pure epsilon where two values use all of it."""
        return Pure(self.epsilon) if self._is_whole else self._choice.event

    def changes(self, truth: Any) -> tuple[Any, ...]:
        """D(truth, y) for every output: how many records must change. It is private."""
        return tuple(self._changes[node_place(truth, self.graph)].tolist())

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Choose a value by the scores at a node."""
        return self._choice.draw(self._scores(truth), size, source)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        return self._choice.pmf(output, self._scores(truth), bits)

    def error(self) -> ErrorEstimate:
        """How many records would have to change for the answer to be true: expected where it is worst, and 95 %."""
        rows = {tuple(sorted(row)) for row in self._changes.tolist()}
        if len(rows) * len(self.outputs) ** 3 > _ENUMERATED:
            bound = self._choice.error()
            return ErrorEstimate("changes", bound.expected, bound.quantiles, attained=False)
        at = self._choice.chance
        laws = ([at(y, [-d for d in row], 64) for y in range(len(row))] for row in rows)
        return worst_estimate("changes", ((law, list(map(Fraction, row))) for law, row in zip(laws, rows, strict=True)))

    def reach(self, changes: NumberLike) -> Fraction:
        """The most by which the values of two nodes differ that are at most so many changes apart.

        With the 95 % error of `error` it says how far off an answer that is a number may be.

        >>> InverseSensitivity(1, "path:9", lambda n: n * n).reach(1)
        Fraction(15, 1)
        """
        most = read_rational(changes, "changes", at_least=0)
        numbers = {value: read_rational(value, "a value of the function") for value in self.outputs}  # type: ignore[arg-type]
        near = zip(self.values, self._changes <= most, strict=True)
        found = [
            abs(numbers[own] - numbers[y])
            for own, row in near
            for y, is_near in zip(numbers, row, strict=True)
            if is_near
        ]
        return max(found)

    def reason(self) -> Reason:
        """Private for every function, and nearly as good at each dataset as anything can be there."""
        return Reason(
            "a change of one record moves every score by one at most, so no bound on the function is needed; up to a "
            "factor that grows with the logarithm of the number of values no mechanism is better near every dataset",
            "Tóthmérész 2013, Definition 2.5; Asi and Duchi, NeurIPS 2020; docs/theory/inverse_sensitivity.md",
        )

    def certificate(self) -> Certificate:
        """The law at every node, as an exact channel.

        Raises:
            BadParameter: The law is irrational.
        """
        return PrivacyCertificate(
            self.graph, Privacy(self.epsilon), self.channel(tuple(self.graph.nodes), self.outputs)
        )

    @property
    def _is_whole(self) -> bool:
        """Whether the rate is epsilon, and not half of it."""
        return self.method == "exponential" and len(self.outputs) == 2

    @cached_property
    def _choice(self) -> Exponential | PermuteAndFlip:
        if self.method == "exponential":
            return Exponential(self.epsilon, self.outputs, monotone=self._is_whole)  # which makes the rate epsilon
        return PermuteAndFlip(self.epsilon, self.outputs)

    @cached_property
    def _changes(self) -> NDArray[Any]:
        """D as a matrix: a row for each node, a column for each output."""
        distances, homes = self.graph.distances(), {value: [] for value in self.outputs}  # type: ignore[var-annotated]
        for place, value in enumerate(self.values):
            homes[value].append(place)
        return np.stack([distances[:, places].min(axis=1) for places in homes.values()], axis=1)

    def _scores(self, truth: Any) -> list[Any]:
        return [-distance for distance in self.changes(truth)]
