"""Which mechanism wins: the candidates for a problem in the order of their exact expected error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from leastnoise.errors import BadParameter
from leastnoise.exact.enclosures import Enclosure
from leastnoise.model.mechanism import Mechanism
from leastnoise.model.show import html_table

__all__ = ["Candidate", "Problem", "Ranking", "plan_for"]


class Problem(Protocol):
    """A question that mechanisms can answer: it lists them and says what each would cost.

    A new kind of question is a class with these two methods; nothing else need know of it.
    """

    def candidates(self) -> Iterable[Mechanism]:
        """The mechanisms that keep the privacy asked for, made for this problem."""

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """What the answer of a candidate costs on average, at the answer where that is worst."""


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
