"""How many different values a column has, after each unit has kept at most `groups_per_unit` of its values.

A unit keeps the values with the smallest keyed hashes of unit and value, so what others keep does not depend on it. Its
values are then at most g = `groups_per_unit`, and the number of different values changes by at most g if it is added or
removed: by those that nobody else has kept. Without that limit one unit with a thousand values of its own would change
the number by a thousand. What is counted is therefore at most the number of all values, and less where units have more
values than they may keep and few others have them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

from leastnoise.data import col, typed
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem
from leastnoise.model import Privacy
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.counts import cells_table, noise_plan
from leastnoise.release.queries.query import Query
from leastnoise.release.sensitivity import sensitivity_of_distinct

__all__ = ["CountDistinct"]


@dataclass(frozen=True, repr=False, kw_only=True)
class CountDistinct(Query):
    """The number of different values of a column; missing ones do not count.

    Attributes:
        column: Whose values.
    """

    recorded_as: ClassVar[str] = "CountDistinct"
    column: str

    @property
    def question(self) -> str:
        return self.described(f"number of different values of {self.column}")

    @property
    def measured_in(self) -> str:
        return "values"

    @property
    def share_of_a_unit(self) -> str:
        groups = self.contribution.groups_per_unit
        return f"at most {groups} value{'' if groups == 1 else 's'} of each {self.contribution.privacy_unit}"

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "column": self.column}

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """Noise on one number."""
        problem = HistogramProblem(price, 1, sensitivity_of_distinct(self.contribution))
        groups = self.contribution.groups_per_unit
        limited = (
            f"a unit with more than {groups} values counts with {groups} of them, chosen at random: "
            "a larger groups_per_unit misses fewer values and needs more noise"
        )
        notes = () if self.contribution.privacy_unit is None else (limited,)
        return noise_plan(problem, partial(cells_table, (), Fraction(1)), *notes)

    def read(self) -> list[int]:
        """The number of values that are kept by somebody; private."""
        table = self.dataset.table
        there = typed(~col(self.column).is_missing(), table.columns)
        where = there if self.where is None else self.where & there
        kept = table.discover(self.contribution, (self.column,), where)
        return [sum(value is not None for (value,) in kept)]
