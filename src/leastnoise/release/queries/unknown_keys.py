"""Counts of units by keys that are not known in advance: the keys of enough units, or the counts without their keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any, ClassVar, cast

from leastnoise.composition.cost import pure_within
from leastnoise.data import CountUnits
from leastnoise.errors import WrongCurrency
from leastnoise.ledger.record import Json, canonical
from leastnoise.mechanisms import plan_for
from leastnoise.mechanisms.combinatorial import plan_sorted_counts
from leastnoise.mechanisms.histogram.noisy_threshold import ThresholdedCounts, UnknownKeys
from leastnoise.model import LONGEST_ANSWER, MOST_CELLS, ErrorEstimate, Mechanism, Privacy
from leastnoise.release.arguments import read_key, write_key
from leastnoise.release.plan import AnswerPlan, mechanism_name, quantile_of
from leastnoise.release.queries.counts import bars_around, whole_numbers
from leastnoise.release.queries.query import Query
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tables import TidyTable

__all__ = ["CountUnknownKeys", "KeyQuery", "SortedCountsQuery", "keep_largest", "require_delta", "ways_compared"]


@dataclass(frozen=True, repr=False, kw_only=True)
class KeyQuery(Query):
    """A question about all keys there are.

    Attributes:
        columns: Whose values are the keys.
    """

    columns: tuple[str, ...]

    @property
    def measured_in(self) -> str:
        return self.words_for("units")

    @property
    def counted_in(self) -> None:
        return None

    @property
    def share_of_a_unit(self) -> str:
        return f"each {self.contribution.privacy_unit} once" if self.counts_units else super().share_of_a_unit

    @property
    def counts_units(self) -> bool:
        """Whether a unit counts once, however many rows it has."""
        return True

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "columns": list(self.columns)}

    def counts(self) -> dict[Any, int]:
        """The keys there are with their numbers of units. Private: not even which they are may be shown."""
        return dict(self.dataset.table.discover(self.contribution, self.columns, self.where))


class CountUnknownKeys(KeyQuery):
    """How many units have each key, for the keys that enough units have; in each group a unit counts once."""

    recorded_as: ClassVar[str] = "Discovery"
    needs_delta: ClassVar[bool] = True

    @property
    def question(self) -> str:
        unit = self.contribution.privacy_unit
        counted = "rows" if unit is None else f"units (one per {unit})"
        return self.described(f"count of {counted} by {', '.join(self.columns)} (keys unknown)")

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The noise, with the least threshold for it, at which the rarest keys show."""
        require_delta(price)
        sensitivity = sensitivity_of(self.contribution, CountUnits(), None)
        ranking = plan_for(UnknownKeys(price.epsilon, price.delta, sensitivity.cells, sensitivity.each))
        mechanism = cast(ThresholdedCounts, ranking.best)
        return AnswerPlan(
            mechanism=mechanism,
            event=mechanism.event,
            error=mechanism.error(),
            within=partial(quantile_of, mechanism.noise, Fraction(1)),
            sensitivity=sensitivity,
            encode=_encode,
            to_table=partial(self.to_table, mechanism),
            reason=mechanism.reason(),
            options=ranking.options,
            notes=(
                f"a key of {mechanism.half_shown} shows half of the time; it shows if its noisy count is at least that",
                *ways_compared(
                    (each.mechanism, cast(ThresholdedCounts, each.mechanism).noise.error()) for each in ranking.options
                ),
                "compared by that count plus the expected error",
                "the error is that of the noise; of very many keys those with the largest noisy counts are kept",
            ),
        )

    def read(self) -> dict[Any, int]:
        return self.counts()

    def to_table(self, mechanism: ThresholdedCounts, drawn: list[Any], level: Fraction) -> TidyTable:
        """The keys that were shown, with intervals for their counts."""
        keys = [tuple(read_key(part) for part in key) for key, _ in drawn]
        columns = {column: tuple(key[place] for key in keys) for place, column in enumerate(self.columns)}
        bars = bars_around(mechanism.noise, [count for _, count in drawn], level, self.columns)
        return TidyTable({**columns, **bars}, self.columns)


@dataclass(frozen=True, repr=False, kw_only=True)
class SortedCountsQuery(KeyQuery):
    """The `top` largest counts of units by key, the largest first; the keys stay private. Each unit counts once.

    Attributes:
        top: How many counts.
        total: A public guess of the number of units, by which the mechanism is chosen.
    """

    recorded_as: ClassVar[str] = "SortedCounts"
    shown_multiples: ClassVar[tuple[Fraction, ...]] = ()  # each would plan the whole list anew
    top: int
    total: int

    @property
    def question(self) -> str:
        return self.described(f"the {self.top} largest counts by {', '.join(self.columns)}, sorted")

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "top": self.top, "total": self.total}

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The exponential mechanism over lists, or noise and isotonic regression, whichever errs less."""
        plan = plan_sorted_counts(pure_within(price), self.total, self.top)
        values = [self.dataset.table.types[column].most_values for column in self.columns]
        many = None in values or prod(filter(None, values)) >= self.total
        free = many and not {self.contribution.privacy_unit, *self.dataset.table.tied} & set(self.columns)
        reachable = free and self.reachable
        reachable &= self.where is None or not self.where.columns & set(self.columns)
        likely = ", ".join(f"{name} {error:.4g}" for name, error in plan.on_example.items())
        return AnswerPlan(
            mechanism=plan.mechanism,
            event=plan.mechanism.event,
            error=plan.mechanism.error(),
            within=partial(quantile_of, plan.mechanism, Fraction(1)),
            sensitivity=sensitivity_of(self.contribution, CountUnits()),
            encode=whole_numbers,
            to_table=self.to_table,
            reason=plan.mechanism.reason(),
            lower_bound=plan.lower_bound if reachable and price.is_pure else None,
            notes=(
                f"ℓ₁ error on a list of {self.total} by Zipf's law: {likely}",
                "the error is that of the whole list, at worst over all lists",
            ),
        )

    def read(self) -> list[int]:
        """The true counts, largest first; private."""
        return sorted(self.counts().values(), reverse=True)

    def to_table(self, drawn: Any, _: Fraction) -> TidyTable:
        """By rank; what is beyond the list is zero."""
        counts = (*drawn, *[0] * (self.top - len(drawn)))[: self.top]
        return TidyTable({"rank": tuple(range(1, self.top + 1)), "value": tuple(counts)}, ("rank",))


def ways_compared(ways: Iterable[tuple[Mechanism, ErrorEstimate]]) -> tuple[str, ...]:
    """What is gained and lost by each way to find keys: how rare a key still shows, and how far off its number is."""
    found = [
        f"{mechanism_name(mechanism)} {half_shown} and {float(error.expected):.3g}"
        for mechanism, error in ways
        if (half_shown := getattr(mechanism, "half_shown", None)) is not None
    ]
    said = "the count from which a key shows half of the time, and how far off its number is, by each way"
    return (f"{said}: {'; '.join(found)}",) if len(found) > 1 else ()


def require_delta(price: Privacy) -> None:
    """Refuse a price without a δ.

    Raises:
        WrongCurrency: It is in ρ or μ.
    """
    if price.currency in ("rho", "mu"):
        raise WrongCurrency(
            "keys that are not known in advance need a delta above zero: showing a key shows that someone has it",
            given=str(price),
            fix='list the public keys, keys=[…], or ask with epsilon and delta: delta="1e-9"',
        )


def _encode(drawn: tuple[tuple[Any, int], ...]) -> Json:
    """Keys and counts as JSON."""
    written: list[Json] = [[[write_key(part) for part in key], count] for key, count in drawn]
    return keep_largest(written, [count for _, count in drawn])


def keep_largest(written: list[Json], counts: list[int]) -> list[Json]:
    """Released entries in their order, and no more of them than the limits allow: the largest counts stay."""
    places = sorted(range(len(counts)), key=lambda place: -counts[place])
    room, kept = LONGEST_ANSWER, set[int]()
    for place in places[:MOST_CELLS]:
        room -= len(canonical(written[place])) + 1
        if room < 0:
            break
        kept.add(place)
    return [entry for place, entry in enumerate(written) if place in kept]
