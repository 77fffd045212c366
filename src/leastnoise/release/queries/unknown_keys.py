"""Counts of units by keys that are not known in advance; only keys of enough units show."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from leastnoise.data import Contribution, CountUnits, Predicate
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json, canonical
from leastnoise.mechanisms import confidence_interval
from leastnoise.mechanisms.histogram.noisy_threshold import NoisyThreshold
from leastnoise.model.limits import LONGEST_ANSWER, MOST_CELLS
from leastnoise.release.answer_plan import Method
from leastnoise.release.arguments import read_key, write_key
from leastnoise.release.queries.counts import common_parameters
from leastnoise.release.queries.query import AskedDataset, Query
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tables import TidyTable, measure_names

__all__ = ["Discovery"]


@dataclass(frozen=True, repr=False)
class Discovery(Query):
    """How many units have each key, for the keys that enough units have.

    Attributes:
        dataset: The table with its ledger.
        contribution: In how many groups one unit counts; in each once.
        columns: Whose values are the keys.
        where: Which rows count; None for all.
    """

    dataset: AskedDataset
    contribution: Contribution
    columns: tuple[str, ...]
    where: Predicate | None

    @property
    def question(self) -> str:
        """What is asked."""
        filtered = "" if self.where is None else f" where {self.where}"
        unit = self.contribution.privacy_unit or "rows"
        return f"count of {unit} by {', '.join(self.columns)} (keys unknown){filtered}"

    def parameters(self) -> dict[str, Json]:
        """As JSON."""
        return {**common_parameters(self.contribution, (), self.where), "columns": list(self.columns)}

    def method(self, epsilon: Exact, delta: Fraction) -> Method:
        """Noise and the least threshold."""
        sensitivity = sensitivity_of(self.contribution, CountUnits(), (None,))
        mechanism = NoisyThreshold(epsilon, delta, sensitivity.cells, sensitivity.each)
        return Method(
            mechanism=mechanism,
            event=mechanism.event,
            error=mechanism.error(),
            sensitivity=sensitivity,
            write=_write,
            show=partial(self.show, mechanism),
            reason=mechanism.reason(),
            notes=(
                f"a key shows if its noisy count is at least {mechanism.threshold}; keys of fewer units rarely show",
                "the error is that of the noise; of very many keys those with the largest noisy counts are kept",
            ),
        )

    def read(self) -> dict[Any, int]:
        """The keys there are with their numbers of units. Private: not even which they are may be shown."""
        return dict(self.dataset.table.discover(self.contribution, self.columns, self.where))

    def show(self, mechanism: NoisyThreshold, drawn: list[Any]) -> TidyTable:
        """The keys that were shown, with intervals for their counts."""
        names = measure_names(self.columns)
        around = confidence_interval(mechanism.noise, 0)
        keys = [tuple(read_key(part) for part in key) for key, _ in drawn]
        columns: dict[str, tuple[Any, ...]] = {
            column: tuple(key[place] for key in keys) for place, column in enumerate(self.columns)
        }
        for name, shift in zip(names, (0, int(around.low), int(around.high)), strict=True):
            columns[name] = tuple(count + shift for _, count in drawn)
        return TidyTable(columns, self.columns)


def _write(drawn: tuple[tuple[Any, int], ...]) -> Json:
    """Keys and counts as JSON, and no more of them than the limits allow: the largest counts stay."""
    written: list[Json] = [[[write_key(part) for part in key], count] for key, count in drawn]
    places = sorted(range(len(drawn)), key=lambda place: -drawn[place][1])
    room, kept = LONGEST_ANSWER, set[int]()
    for place in places[:MOST_CELLS]:
        room -= len(canonical(written[place])) + 1
        if room < 0:
            break
        kept.add(place)
    return [entry for place, entry in enumerate(written) if place in kept]
