"""Decisions: is a count at least k, which key has most votes; one answer, right with the best odds privacy allows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from leastnoise.composition.cost import pure_within
from leastnoise.exact import Exact, least_whole
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.rainbow.decision import Decision
from leastnoise.model import LEVEL, MOST_ROWS, Privacy, Sensitivity
from leastnoise.release.arguments import cell_keys
from leastnoise.release.plan import AnswerPlan, quantile_of
from leastnoise.release.queries.query import CountQuery
from leastnoise.release.tables import TidyTable

__all__ = ["IsAtLeast", "Plurality"]

_LEVELS = (LEVEL, Fraction(999, 1000))


class _Decision(CountQuery):
    """What both decisions share."""

    shown_multiples: ClassVar[tuple[Fraction, ...]] = ()  # the error is that of the closest call

    @property
    def sensitivity(self) -> Sensitivity:
        """By how much one unit can change each count, all of them the same way."""
        return self.sensitivity_of_counts(norm="l∞")

    def counts(self) -> list[int]:
        """The true counts; private."""
        return [int(count) for count in self.totals(self.counted)]

    def decided(self, decision: Decision, names: list[Any], reachable: bool) -> AnswerPlan:
        """The decision, recorded by the place of its option; `reachable` says whether each can be the right one."""
        reason = decision.reason()
        odds = ", ".join(f"{float(level):.1%} from a margin of {self.margin(decision, level)} on" for level in _LEVELS)
        return AnswerPlan(
            mechanism=decision,
            event=decision.event,
            error=decision.error(),
            within=partial(quantile_of, decision, Fraction(1)),
            sensitivity=self.sensitivity,
            encode=decision.options.index,
            to_table=partial(_chosen, names),
            reason=reason,
            lower_bound=reason.lower_bound if reachable else None,
            notes=(f"right with probability {odds}", "the error is that of the closest call"),
        )

    def margin(self, decision: Decision, level: Fraction) -> int:
        """The least margin, in multiples of what one unit can change, decided correctly with this probability."""
        each = self.sensitivity.amount
        return each * least_whole(lambda m: decision.probability_correct(m * each).lower >= level, start=1)


def _epsilon_delta(price: Privacy) -> tuple[Exact, Fraction]:
    """What the price pays for; ρ and μ pay for some ε without a δ."""
    return pure_within(price), price.delta if price.currency == "epsilon and delta" else Fraction(0)


def _chosen(names: list[Any], place: Any, _: Fraction) -> TidyTable:
    return TidyTable({"value": (names[place],)})


@dataclass(frozen=True, repr=False, kw_only=True)
class IsAtLeast(_Decision):
    """Is a count at least so many?

    Attributes:
        at_least: How many.
    """

    recorded_as: ClassVar[str] = "IsAtLeast"
    at_least: int

    @property
    def question(self) -> str:
        return self.described(f"is the count of {self.counted_words} at least {self.at_least}")

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "at_least": self.at_least}

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The optimal threshold test."""
        amount = self.sensitivity.amount
        decision = Decision.threshold(*_epsilon_delta(price), at_least=self.at_least, contribution=amount)
        return self.decided(
            decision,
            [True, False],
            self.reachable and self.at_least <= MOST_ROWS and price.currency not in ("rho", "mu"),
        )

    def read(self) -> int:
        """The true count; private."""
        return self.counts()[0]


class Plurality(_Decision):
    """Which key has the largest count? A tie goes to the one that is listed first."""

    recorded_as: ClassVar[str] = "Plurality"

    @property
    def question(self) -> str:
        return self.described(f"which has most {self.counted_words}")

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The optimal vote."""
        keys = list(zip(*cell_keys(self.axes).values(), strict=True))
        amount = self.sensitivity.amount
        decision = Decision.plurality(*_epsilon_delta(price), options=range(len(keys)), contribution=amount)
        return self.decided(
            decision,
            [key[0] if len(key) == 1 else key for key in keys],
            self.reachable and price.currency not in ("rho", "mu"),
        )

    def read(self) -> list[int]:
        """The true counts; private."""
        return self.counts()
