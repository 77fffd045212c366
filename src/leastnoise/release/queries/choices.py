"""Choosing: the most common keys, or the best of some options by a score that the engine computes.

A unit moves each count by at most `rows_per_unit`, and all of them the same way: added, up; removed, down. So the
scores are monotone, and however many options one unit scores for, ε need not be shared among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.cost import pure_within
from leastnoise.data import CountRows, CountUnits, Predicate, SumOf
from leastnoise.data.columns import counted
from leastnoise.exact import Enclosure, Exact, larger, scaled
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import Exponential, NoisyTopK, OneShotTopK, PeelingTopK, PermuteAndFlip, plan_for
from leastnoise.mechanisms.choice.selection import Selection, least_regret
from leastnoise.mechanisms.choice.top_k import TopK
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem
from leastnoise.model import BoundedRange, Composed, Event, Mechanism, Privacy, Pure, Sensitivity
from leastnoise.release.arguments import FixedPoint, cell_keys
from leastnoise.release.plan import AnswerPlan, quantile_of
from leastnoise.release.queries.counts import in_steps, options_in_steps, whole_numbers
from leastnoise.release.queries.query import CellQuery, Query
from leastnoise.release.sensitivity import sensitivity_of, steps_reachable
from leastnoise.release.tables import TidyTable

__all__ = ["BestKeys", "BestOption", "SelectionProblem"]

_EVENTS: dict[type[PermuteAndFlip | Exponential], type[Pure]] = {PermuteAndFlip: Pure, Exponential: BoundedRange}


@dataclass(frozen=True)
class SelectionProblem:
    """The k best of n options are asked for; what they cost is how far their scores are below the best.

    Args:
        price: The privacy of the whole release, in any currency.
        options: n.
        k: How many are asked for.
        sensitivity: By how much one unit moves each score, and whether it moves all the same way.
        opposite: By how much one unit can move any score up and, at once, any other down; 0 where it can't, None where
            not every score can be moved alone.
        together: By how much one unit moves all scores together, where they are whole numbers that may get noise.
    """

    price: Privacy
    options: int
    k: int
    sensitivity: Sensitivity
    opposite: int | None = None
    together: Sensitivity | None = None

    def candidates(self) -> Iterator[Mechanism]:
        """One choice, k choices in turn, or noise on all scores.

        At ρ and μ the exponential law costs less than its ε.
        """
        amount, monotone = self.sensitivity.amount, self.sensitivity.monotone
        laws = (PermuteAndFlip, Exponential) if self.price.currency in ("rho", "mu") else (PermuteAndFlip,)
        if self.k == 1:
            for law in laws:
                epsilon = pure_within(self.price, _EVENTS[law])
                yield law(epsilon, self.options, amount, monotone=monotone)
        else:
            for kind in (PeelingTopK, OneShotTopK):
                epsilon = pure_within(self.price, partial(_event_of_turns, kind.kind, self.k))
                yield kind(epsilon, self.options, self.k, amount, monotone=monotone)
            if self.together is not None:
                for noise in HistogramProblem(self.price, self.options, self.together).usual():
                    yield NoisyTopK(noise, self.k)

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """At the worst scores."""
        return mechanism.error().expected

    @property
    def lower_bound(self) -> Enclosure | None:
        """What no ε-private choice of one option beats at its worst scores; None where that is not known.

        Whoever can move each score alone can move one down and another up by two units, and by one where it may do
        both at once. `least_regret` has the bound for either.
        """
        if self.k > 1 or self.opposite is None or not self.price.is_pure:
            return None
        bound = least_regret(self.options, self.price.epsilon, Fraction(self.sensitivity.amount), monotone=True)
        if self.opposite:
            bound = larger(
                bound, least_regret(self.options, self.price.epsilon, Fraction(self.opposite), monotone=False)
            )
        return bound


def _event_of_turns(law: type[PermuteAndFlip | Exponential], k: int, epsilon: Exact) -> Event:
    return Composed((_EVENTS[law](epsilon / k),) * k)


def selection_plan(problem: SelectionProblem, names: list[tuple[Any, ...]], columns: tuple[str, ...]) -> AnswerPlan:
    """The best selection; what is recorded are the places of the chosen options."""
    plan, step, bound = plan_for(problem), problem.sensitivity.step, problem.lower_bound
    best = cast(Selection | TopK | NoisyTopK, plan.best)
    used = problem.together if isinstance(best, NoisyTopK) else problem.sensitivity
    return AnswerPlan(
        mechanism=best,
        event=best.event,
        error=in_steps(best.error(), step),
        within=partial(quantile_of, best, step),
        sensitivity=used,
        encode=whole_numbers,
        to_table=partial(chosen_table, names, columns, problem.k),
        reason=best.reason(),
        lower_bound=None if bound is None else scaled(bound, step),
        options=options_in_steps(plan.options, step),
        notes=("only the choice is released, not its score",),
    )


def chosen_table(
    names: list[tuple[Any, ...]], columns: tuple[str, ...], k: int, drawn: list[int], _: Fraction
) -> TidyTable:
    """The chosen option, or a table by rank."""
    chosen = [names[place] for place in drawn]
    labels = tuple(name[0] if len(columns) == 1 else name for name in chosen)
    if k == 1:
        return TidyTable({"value": labels})
    return TidyTable({"rank": tuple(range(1, k + 1)), "value": labels}, ("rank",))


@dataclass(frozen=True, repr=False, kw_only=True)
class BestKeys(CellQuery):
    """The k keys with the most rows, units, or the largest sum; a unit may add so much to each key.

    Attributes:
        k: How many keys, the best first.
        of: "rows", "units", or the column whose sum is the score.
        scale: Bounds and step of that column.
    """

    recorded_as: ClassVar[str] = "BestKeys"
    k: int
    of: str
    scale: FixedPoint | None

    @property
    def question(self) -> str:
        score = f"by the sum of {self.of}" if self.scale else f"by the number of {self.words_for(self.of)}"
        best = "best" if self.k == 1 else f"{self.k} best"
        return self.described(f"{best} {score}")

    @property
    def share_of_a_unit(self) -> str:
        return f"each {self.contribution.privacy_unit} once" if self.of == "units" else super().share_of_a_unit

    def parameters(self) -> dict[str, Json]:
        bounds = {} if self.scale is None else self.scale.parameters()
        return {**super().parameters(), "k": self.k, "of": self.of, **bounds}

    @property
    def measure(self) -> CountRows | CountUnits | SumOf:
        """The score of a key."""
        if self.scale is not None:
            return SumOf(self.of, self.scale.low, self.scale.high, self.scale.step)
        return counted(self.of)

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """Permute-and-flip, k turns of it, or noise on all scores."""
        keys = cell_keys(self.axes)
        names = list(zip(*keys.values(), strict=True))
        sensitivity = sensitivity_of(self.contribution, self.measure, len(names), norm="l∞")
        together = sensitivity_of(self.contribution, self.measure, len(names))
        problem = SelectionProblem(price, len(names), self.k, sensitivity, self.opposite, together)
        return selection_plan(problem, names, tuple(keys))

    @cached_property
    def opposite(self) -> int | None:
        """See `SelectionProblem`."""
        if not self.reachable:
            return None
        if self.scale is None:
            return 0
        if not steps_reachable(self.dataset.table, self.contribution, self.of, self.scale, self.where):
            return None
        low, high = self.scale.steps
        return self.contribution.rows_per_unit * max(min(-low, high), 0)

    def read(self) -> NDArray[Any]:
        """The scores."""
        return self.totals(self.measure)


@dataclass(frozen=True, repr=False, kw_only=True)
class BestOption(Query):
    """The option, a predicate, that holds for the most rows; a unit counts with so many rows for each option.

    Attributes:
        names: What the options are called.
        options: When they hold.
    """

    recorded_as: ClassVar[str] = "BestOption"
    names: tuple[str, ...]
    options: tuple[Predicate, ...]

    @property
    def question(self) -> str:
        return self.described(f"which of {len(self.names)} options holds for the most rows")

    def parameters(self) -> dict[str, Json]:
        options: list[Json] = [option.to_dict() for option in self.options]
        return {**super().parameters(), "names": list(self.names), "options": options}

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """Permute-and-flip. There is no lower bound: options may overlap, or exclude each other."""
        sensitivity = sensitivity_of(self.contribution, CountRows(), norm="l∞")
        problem = SelectionProblem(price, len(self.names), 1, sensitivity)
        return selection_plan(problem, [(name,) for name in self.names], ("option",))

    def read(self) -> NDArray[Any]:
        """For how many rows each option holds."""
        return np.ravel(self.dataset.table.scores(self.contribution, self.options, self.where))
