"""What every mechanism is: a law, a way to draw from it, its price, its error before it is spent, and its reason.

And which of several wins: the candidates for a problem in the order of their exact expected error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, Size, Source, require_secure
from leastnoise.model.channel import Channel
from leastnoise.model.events import Event
from leastnoise.model.show import html_table

if TYPE_CHECKING:
    from leastnoise.model.certificate import Certificate

__all__ = ["LEVEL", "Candidate", "ErrorEstimate", "Mechanism", "Problem", "Ranking", "Reason", "plan_for"]

LEVEL = Fraction(19, 20)  # of the errors and intervals that are shown


@dataclass(frozen=True)
class ErrorEstimate:
    """How far an answer will be off, known before anything is spent.

    Args:
        loss: What is measured, "absolute" for |released − true|.
        expected: The expected loss, exact or enclosed; an upper bound over all truths where it depends on them.
        quantiles: For a level such as 19/20, an error that is not exceeded with at least that probability.
        attained: Whether `expected` is the value itself for every truth, and not only an upper bound.
    """

    loss: str
    expected: Enclosure
    quantiles: Mapping[Fraction, Fraction] = field(default_factory=dict)
    attained: bool = True


@dataclass(frozen=True)
class Reason:
    """Why this mechanism is the right choice: the theorem, its source, and what no mechanism can beat."""

    theorem: str
    citation: str
    lower_bound: Enclosure | None = None


class Mechanism(ABC):
    """One private answer. Subclasses fix the law; releasing, and refusing predictable noise, is the same for all."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def event(self) -> Event:
        """What one release costs, in the vocabulary of events."""

    @abstractmethod
    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw from the law at `truth`; for tests and simulations, with any source and any number of draws."""

    def release(self, truth: Any, source: Source | None = None) -> Any:
        """One draw from the law at the truth, with unpredictable noise only."""
        return self.draw(truth, source=require_secure(source))

    @abstractmethod
    def error(self) -> ErrorEstimate:
        """The error to expect, from public parameters only."""

    @abstractmethod
    def reason(self) -> Reason:
        """The theorem that makes this the right choice, and the lower bound."""

    @abstractmethod
    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth), exact where it is rational."""

    @abstractmethod
    def certificate(self) -> Certificate:
        """What is claimed, as data that the checker verifies on its own."""

    def channel(self, truths: Sequence[Hashable], outputs: Sequence[Hashable]) -> Channel:
        """The law as an exact matrix on the given true answers and outputs; e^epsilon must be rational for that.

        Raises:
            BadParameter: An entry is irrational, or the outputs do not carry the whole law.
        """
        rows = [[self.pmf(output, truth) for output in outputs] for truth in truths]
        if not all(p.is_exact for row in rows for p in row):
            raise BadParameter(
                f"the law of the {self.name} is irrational at this epsilon, so it has no exact matrix",
                fix='choose an epsilon with rational e^epsilon, such as "ln(3)"',
            )
        return Channel([[p.lower for p in row] for row in rows], inputs=truths, outputs=outputs)


class Problem(Protocol):
    """A question that mechanisms can answer: it lists them and says what each would cost.

    A new kind of question is a class with these two methods; nothing else need know of it.
    """

    def candidates(self) -> Iterable[Mechanism]:
        """The mechanisms that keep the privacy asked for, made for this problem."""

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """What the answer of a candidate costs on average, at the truth where that is worst."""


@dataclass(frozen=True)
class Candidate:
    """One candidate.

    Attributes:
        mechanism: Ready to release.
        expected: Its expected loss, exact or enclosed.
        excess: By how much that is above the best candidate's.
    """

    mechanism: Mechanism
    expected: Enclosure
    excess: Enclosure

    def __str__(self) -> str:
        """Name, expected loss, and how much worse than the best."""
        return f"{self.mechanism.name}: {float(self.expected):.6g} ({self.compared})"

    @property
    def compared(self) -> str:
        """How much worse than the best it is, in words."""
        excess, best = float(self.excess), float(self.expected) - float(self.excess)
        if not excess:
            return "the best"
        return f"{excess / best:+.2%}" if best else "more"


@dataclass(frozen=True)
class Ranking:
    """All candidates, the best first."""

    options: tuple[Candidate, ...]

    @property
    def best(self) -> Mechanism:
        """The candidate with the least expected loss."""
        return self.options[0].mechanism

    def __str__(self) -> str:
        """A line for each candidate."""
        return "\n".join(str(option) for option in self.options)

    def _repr_html_(self) -> str:
        rows = [(one.mechanism.name, f"{float(one.expected):.6g}", one.compared) for one in self.options]
        return html_table(f"best: {self.best.name}", rows, ("mechanism", "expected loss", "compared"))


def plan_for(problem: Problem) -> Ranking:
    """Order the candidates by their expected loss; where two can't be told apart the one listed first stays first.

    >>> from leastnoise.mechanisms.numeric.problems import CountProblem
    >>> print(plan_for(CountProblem("ln(3)", sensitivity=4, bounds=(0, 100))))
    staircase mechanism: 3.42857 (the best)
    truncated geometric mechanism: 3.59558 (+4.87%)
    geometric mechanism: 3.59558 (+4.87%)
    """
    costs = [(problem.expected_loss(mechanism), mechanism) for mechanism in problem.candidates()]
    if not costs:
        raise BadParameter("no mechanism answers this problem", given=problem, fix="loosen what is asked for")
    costs.sort(key=lambda pair: pair[0].lower + pair[0].upper)
    best = costs[0][0]
    return Ranking(tuple(Candidate(mechanism, cost, _difference(cost, best)) for cost, mechanism in costs))


def _difference(cost: Enclosure, best: Enclosure) -> Enclosure:
    if cost == best:
        return Enclosure(Fraction(0), Fraction(0))
    return Enclosure(max(cost.lower - best.upper, Fraction(0)), max(cost.upper - best.lower, Fraction(0)))
