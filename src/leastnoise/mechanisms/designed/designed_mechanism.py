"""A designed mechanism: an exact table of probabilities, sampled row by row.

P(y | x) = p(y|x), a rational for every input x and output y. Its privacy holds exactly: entries of neighbours were
compared in rationals, on the private side of e^ε where that is irrational (`Solution.require_private`). How it is found
and proven: docs/theory/design.md.

Its error is that at the input where it is worst.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from numpy.typing import NDArray

from leastnoise.errors import UnknownLabel
from leastnoise.exact import Enclosure, Size, Source, require_secure
from leastnoise.model import (
    LEVEL,
    Approximate,
    Certificate,
    Channel,
    DesignProblem,
    ErrorEstimate,
    Event,
    Mechanism,
    Pure,
    Reason,
)

__all__ = ["DesignedMechanism", "worst_estimate"]


def worst_estimate(loss: str, inputs: Iterable[tuple[Sequence[Enclosure], Sequence[Fraction]]]) -> ErrorEstimate:
    """The largest expected loss of an input, and a loss that at every input 95 of 100 answers stay within.

    Args:
        loss: Its name.
        inputs: For each input the probability and the loss of each output.

    >>> half = Enclosure(Fraction(1, 2), Fraction(1, 2))
    >>> worst_estimate("absolute", [([half, half], [Fraction(0), Fraction(3)])]).expected
    Enclosure(3/2)
    """
    means, quantiles = [], []
    for chances, losses in inputs:
        pairs = list(zip(chances, losses, strict=True))
        low = sum((cost * (p.lower if cost >= 0 else p.upper) for p, cost in pairs), start=Fraction(0))
        high = sum((cost * (p.upper if cost >= 0 else p.lower) for p, cost in pairs), start=Fraction(0))
        means.append(Enclosure(low, high))
        quantiles.append(quantile_of(chances, losses))
    worst = Enclosure(max(mean.lower for mean in means), max(mean.upper for mean in means))
    alike = worst.is_exact and all(mean == worst for mean in means)
    return ErrorEstimate(loss, worst, {LEVEL: max(quantiles)}, attained=alike)


def quantile_of(chances: Sequence[Enclosure], losses: Sequence[Fraction]) -> Fraction:
    """The least loss that is surely exceeded with at most one in twenty."""
    reached = Fraction(0)
    for cost, chance in sorted(zip(losses, (chance.lower for chance in chances), strict=True)):
        reached += chance
        if reached >= LEVEL:
            return cost
    return max(losses)


@dataclass(frozen=True, eq=False)
class DesignedMechanism(Mechanism):
    """The mechanism that a linear program ends with; made by `design`.

    Attributes:
        law: The table.
        problem: What it was made for: graph, privacy and loss.
        lower_bound: What no private mechanism beats, by the dual of the program.
        prove: Writes the design's certificate.
    """

    name: ClassVar[str] = "designed mechanism"
    law: Channel
    problem: DesignProblem
    lower_bound: Fraction
    prove: Callable[[], Certificate] = field(repr=False)

    @property
    def event(self) -> Event:
        """What one release costs."""
        privacy = self.problem.privacy
        return Pure(privacy.epsilon) if privacy.is_pure else Approximate(privacy.epsilon, privacy.delta)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw an output for the input `truth`, by its exact probabilities."""
        self._place(truth)
        return self.law.sample(truth, size, source)

    def draw_each(self, truths: Iterable[Any], source: Source | None = None) -> NDArray[Any]:
        """One independent output for each of many people's inputs; for tests and simulations, with any source."""
        inputs = list(truths)
        for truth in inputs:
            self._place(truth)
        return self.law.sample_each(inputs, source)

    def release_each(self, truths: Iterable[Any], source: Source | None = None) -> NDArray[Any]:
        """One output for each of many people's inputs, with unpredictable noise only; each person spends the price."""
        return self.draw_each(truths, require_secure(source))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:  # noqa: ARG002 - exact at any precision
        """P(output | truth), exactly."""
        probability = self.law.rationals().rows[self._place(truth)][self.law.output_place(output)]
        return Enclosure(probability, probability)

    def error(self) -> ErrorEstimate:
        """The expected loss at the input where it is largest, and a loss that 95 of 100 answers stay within."""
        losses = self.problem.loss_table.transposed().rows
        laws = ([Enclosure(p, p) for p in row] for row in self.law.rationals().rows)
        return worst_estimate(self.problem.loss_name, zip(laws, losses, strict=True))

    def reason(self) -> Reason:
        """The linear program's dual: no private mechanism loses less than this bound."""
        return Reason(
            "no private mechanism has a smaller loss than the bound that the dual of the linear program proves",
            "Aldà and Simon, On the optimality of the exponential mechanism, CSCML 2017, LP[1], and weak duality",
            Enclosure(self.lower_bound, self.lower_bound),
        )

    def certificate(self) -> Certificate:
        """Channel, loss, lower bound and multipliers."""
        return self.prove()

    def __eq__(self, other: object) -> bool:
        """The same law, promised the same privacy."""
        if not isinstance(other, DesignedMechanism):
            return NotImplemented
        return self.law == other.law and self.event == other.event

    def __hash__(self) -> int:
        """Equal mechanisms have equal hashes."""
        return hash((self.law, self.event))

    def _place(self, truth: Any) -> int:
        """The row of an input; an error does not show it, for it is private."""
        try:
            return self.law.input_place(truth)
        except UnknownLabel:
            pass
        raise UnknownLabel(
            f"the true answer is no input of this mechanism, which is made for {self.problem.graph.name}",
            fix="design a mechanism for all values that the query can take",
        )
