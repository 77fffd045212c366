"""What a decision will be worth before it is spent: the chance of the right answer by margin, beside its rivals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.mechanisms.choice import Exponential, PermuteAndFlip
from leastnoise.mechanisms.rainbow.decision import Decision

__all__ = ["DecisionPlan", "PlanRow", "plan_decision"]


class PlanRow(NamedTuple):
    """The probability of the right answer at one margin.

    Attributes:
        margin: By how much the right option leads.
        ties_lost: By the decision, if a tie would go to another option.
        ties_won: By the decision, if a tie would go to the right one.
        permute_and_flip: By permute-and-flip, all other options level with the second: its worst case.
        exponential: By the exponential mechanism, in the same case.
        others_far: By permute-and-flip in the limit of all but two options far behind: its best case.
    """

    margin: Fraction
    ties_lost: Enclosure
    ties_won: Enclosure
    permute_and_flip: Enclosure
    exponential: Enclosure
    others_far: Enclosure


@dataclass(frozen=True)
class DecisionPlan:
    """A row per margin. The rivals are ε-private, and can't use a δ."""

    rows: tuple[PlanRow, ...]

    def __str__(self) -> str:
        """The table, in percent."""
        head = ("margin", "loses ties", "wins ties", "permute-and-flip", "exponential", "p-and-f, others far")
        lines = ["  ".join(head)]
        for row in self.rows:
            cells = (str(row.margin), *(f"{float(chance):.3%}" for chance in row[1:]))
            lines.append("  ".join(cell.rjust(len(title)) for cell, title in zip(cells, head, strict=True)))
        return "\n".join(lines)


def plan_decision(decision: Decision, margins: Iterable[NumberLike]) -> DecisionPlan:
    """The probability of the right answer, by `decision` and by the two mechanisms that choose among scores.

    A rival's scores are the margin for the right option and zero for all others, and one person moves two scores
    against each other by at most the decision's step: the same neighbours, the same ε.

    >>> from leastnoise.mechanisms.rainbow.plurality import Plurality
    >>> print(plan_decision(Plurality("ln(2)", options=["a", "b"]), range(3)))
    margin  loses ties  wins ties  permute-and-flip  exponential  p-and-f, others far
         0     66.667%    66.667%           50.000%      50.000%              50.000%
         1     66.667%    83.333%           75.000%      66.667%              75.000%
         2     83.333%    91.667%           87.500%      80.000%              87.500%
    """
    count = len(decision.options)
    rivals = [kind(decision.epsilon, count, decision.step, monotone=True) for kind in (PermuteAndFlip, Exponential)]
    race = PermuteAndFlip(decision.epsilon, 2, decision.step, monotone=True)
    rows = []
    for margin in margins:
        lead = read_rational(margin, "margin", at_least=0)
        scores = [lead, *[Fraction(0)] * (count - 1)]
        own = [decision.probability_correct(lead, favoured=favoured) for favoured in (False, True)]
        level = [rival.pmf(0, scores) for rival in rivals]
        rows.append(PlanRow(lead, own[0], own[1], level[0], level[1], race.pmf(0, scores[:2])))
    return DecisionPlan(tuple(rows))
