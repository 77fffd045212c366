"""Choosing: the most common keys, or the best of some options by a score that the engine computes.

A unit moves each count by at most `rows_per_unit`, and all of them the same way: added, up; removed, down. So the
scores are monotone, and however many options one unit scores for, ε need not be shared among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.data import Axis, Contribution, CountRows, CountUnits, Predicate, SumOf
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import OneShotTopK, PeelingTopK, PermuteAndFlip, plan_for
from leastnoise.mechanisms.numeric.formulas import scaled
from leastnoise.model.mechanism import Mechanism
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.axes import cell_keys
from leastnoise.release.counts import common_parameters, described, in_steps, options_in_steps
from leastnoise.release.fixed_point import FixedPoint
from leastnoise.release.method import Method
from leastnoise.release.query import Query
from leastnoise.release.tidy import TidyTable

if TYPE_CHECKING:
    from leastnoise.release.asking import Asking

__all__ = ["BestKeys", "BestOption", "SelectionProblem"]


@dataclass(frozen=True)
class SelectionProblem:
    """The k best of n options are asked for; what they cost is how far their scores are below the best."""

    epsilon: Exact
    options: int
    k: int
    sensitivity: int
    monotone: bool

    def candidates(self) -> Iterator[Mechanism]:
        """One choice, or k choices in turn."""
        if self.k == 1:
            yield PermuteAndFlip(self.epsilon, self.options, self.sensitivity, monotone=self.monotone)
        else:
            for kind in (PeelingTopK, OneShotTopK):
                yield kind(self.epsilon, self.options, self.k, self.sensitivity, monotone=self.monotone)

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """At the worst scores."""
        return mechanism.error().expected


def selection_method(
    problem: SelectionProblem, names: list[tuple[Any, ...]], columns: tuple[str, ...], sensitivity: Sensitivity
) -> Method:
    """The best selection; what is recorded are the places of the chosen options."""
    plan = plan_for(problem)
    best = plan.best
    reason = best.why()
    return Method(
        mechanism=best,
        event=best.privacy,
        error=in_steps(best.error(), sensitivity.step),
        sensitivity=sensitivity,
        write=lambda drawn: [int(place) for place in (drawn if problem.k > 1 else (drawn,))],
        show=partial(show_chosen, names, columns, problem.k),
        reason=reason,
        lower_bound=None if reason.lower_bound is None else scaled(reason.lower_bound, sensitivity.step),
        options=options_in_steps(plan.options, sensitivity.step),
        notes=("only the choice is released, not its score",),
    )


def show_chosen(names: list[tuple[Any, ...]], columns: tuple[str, ...], k: int, drawn: list[int]) -> TidyTable:
    """The chosen option, or a table by rank."""
    chosen = [names[place] for place in drawn]
    labels = tuple(name[0] if len(columns) == 1 else name for name in chosen)
    if k == 1:
        return TidyTable({"value": labels})
    return TidyTable({"rank": tuple(range(1, k + 1)), "value": labels}, ("rank",))


@dataclass(frozen=True, repr=False)
class BestKeys(Query):
    """The k keys with the most rows, units, or the largest sum.

    Attributes:
        dataset: The table with its ledger.
        contribution: What one unit may add to each key.
        axes: The public keys.
        k: How many keys, the best first.
        of: "rows", "units", or the column whose sum is the score.
        scale: Bounds and step of that column.
        where: Which rows count; None for all.
    """

    dataset: Asking
    contribution: Contribution
    axes: tuple[Axis, ...]
    k: int
    of: str
    scale: FixedPoint | None
    where: Predicate | None

    @property
    def question(self) -> str:
        """What is asked."""
        score = f"by the sum of {self.of}" if self.scale else f"by the number of {self.of}"
        best = "best" if self.k == 1 else f"{self.k} best"
        return described(f"{best} {score}", self.axes, self.where)

    def parameters(self) -> dict[str, Json]:
        """As JSON."""
        common = common_parameters(self.contribution, self.axes, self.where)
        bounds = {} if self.scale is None else self.scale.parameters()
        return {**common, "k": self.k, "of": self.of, **bounds}

    @property
    def measure(self) -> CountRows | CountUnits | SumOf:
        """The score of a key."""
        if self.scale is not None:
            return SumOf(self.of, self.scale.low, self.scale.high, self.scale.step)
        return CountUnits() if self.of == "units" else CountRows()

    def method(self, epsilon: Exact, delta: Fraction) -> Method:  # noqa: ARG002 - pure whatever δ is
        """Permute-and-flip, or k turns of it."""
        rows = 1 if self.of == "units" and self.scale is None else self.contribution.rows_per_unit
        each = rows if self.scale is None else rows * self.scale.largest
        monotone = self.scale is None or self.scale.low >= 0 or self.scale.high <= 0
        who = "a row" if self.contribution.privacy_unit is None else f"one {self.contribution.privacy_unit}"
        way = "all the same way" if monotone else "up or down"
        step = Fraction(1) if self.scale is None else self.scale.step
        sensitivity = Sensitivity(1, each, f"{who} moves each score by at most this, {way}", step)
        keys = cell_keys(self.axes)
        names = list(zip(*keys.values(), strict=True))
        return selection_method(
            SelectionProblem(epsilon, len(names), self.k, each, monotone), names, tuple(keys), sensitivity
        )

    def read(self) -> NDArray[Any]:
        """The scores."""
        (scores,) = self.dataset.table.aggregate(self.contribution, self.axes, (self.measure,), self.where)
        return np.ravel(scores)


@dataclass(frozen=True, repr=False)
class BestOption(Query):
    """The option, a predicate, that holds for the most rows.

    Attributes:
        dataset: The table with its ledger.
        contribution: With how many rows one unit counts for each option.
        names: What the options are called.
        options: When they hold.
        where: Which rows count; None for all.
    """

    dataset: Asking
    contribution: Contribution
    names: tuple[str, ...]
    options: tuple[Predicate, ...]
    where: Predicate | None

    @property
    def question(self) -> str:
        """What is asked."""
        return described(f"which of {len(self.names)} options holds for the most rows", (), self.where)

    def parameters(self) -> dict[str, Json]:
        """As JSON."""
        common = common_parameters(self.contribution, (), self.where)
        return {**common, "names": list(self.names), "options": [option.to_dict() for option in self.options]}

    def method(self, epsilon: Exact, delta: Fraction) -> Method:  # noqa: ARG002 - pure whatever δ is
        """Permute-and-flip."""
        rows = self.contribution.rows_per_unit
        who = "a row" if self.contribution.privacy_unit is None else f"one {self.contribution.privacy_unit}"
        sensitivity = Sensitivity(1, rows, f"{who} moves each score by at most {rows}, all the same way")
        problem = SelectionProblem(epsilon, len(self.names), 1, rows, monotone=True)
        return selection_method(problem, [(name,) for name in self.names], ("option",), sensitivity)

    def read(self) -> NDArray[Any]:
        """For how many rows each option holds."""
        return np.ravel(self.dataset.table.scores(self.contribution, self.options, self.where))
