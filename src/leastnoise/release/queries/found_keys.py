"""Sums, means and row counts of keys that are not known in advance, and a row for everything else.

Keys are found by a noisy count: of units for a sum, and of the values themselves for a mean, whose denominator that
count is. With q the whole steps of a value, c the middle of the bounds and n the count, a mean is c + Σ(q − c)/n.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, cast

from leastnoise.data import CountRows, CountUnits, Measure, Predicate, SumOf, col, typed
from leastnoise.data.columns import counted, free_name
from leastnoise.exact import Enclosure
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import plan_for
from leastnoise.mechanisms.choice.unknown_options import UnknownTopK
from leastnoise.mechanisms.histogram.keys_found import FoundKeys, KeysFound
from leastnoise.mechanisms.histogram.noisy_threshold import ThresholdedCounts, UnknownKeys
from leastnoise.model import Mechanism, Privacy, number
from leastnoise.release.arguments import FixedPoint, read_key, write_key
from leastnoise.release.plan import AnswerPlan, quantile_of
from leastnoise.release.queries.counts import bars_around, in_steps, options_in_steps
from leastnoise.release.queries.unknown_keys import KeyQuery, keep_largest, require_delta, ways_compared
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tables import TidyTable, measure_names

__all__ = ["CommonUnknownKeys", "MeasuredKeys"]

_FOUND = "found"  # the column that tells found keys from everything else


@dataclass(frozen=True, repr=False, kw_only=True)
class MeasuredKeys(KeyQuery):
    """A number for each key that enough units have, and perhaps one for all other keys together.

    Attributes:
        what: "count", "sum" or "mean".
        of: What a count counts, "rows" or "units".
        column: What is summed or averaged; None for a count.
        scale: Its public bounds and step.
        rest: Whether there is a row for everything else.
    """

    recorded_as: ClassVar[str] = "MeasuredKeys"
    needs_delta: ClassVar[bool] = True
    what: str
    of: str = "units"
    column: str | None = None
    scale: FixedPoint | None = None
    rest: bool = False

    @property
    def question(self) -> str:
        what = f"{self.what} of {self.column or self.words_for(self.of)} by {', '.join(self.columns)} (keys unknown)"
        return self.described(what + (", and of everything else" if self.rest else ""))

    @property
    def counts_units(self) -> bool:
        return self.what == "count" and self.of == "units"

    @property
    def measured_in(self) -> str:
        return self.column or self.words_for(self.of)

    def parameters(self) -> dict[str, Json]:
        scale = {} if self.scale is None else self.scale.parameters()
        asked: dict[str, Json] = {"what": self.what, "of": self.of, "column": self.column, "rest": self.rest}
        return {**super().parameters(), **asked, **scale}

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The count by which keys are found, and what is measured beside it."""
        count: Measure = counted("units" if self.what == "sum" else self.of)
        if self.column is None or self.scale is None:
            return (count,)
        low, high, step = self.scale.low, self.scale.high, self.scale.step
        if self.what == "sum":
            return count, SumOf(self.column, low, high, step)
        return count, SumOf(self.column, low, high, step, centre=self.scale.centre * step, averaged=True)

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The split of the price is fixed; the kind of noise is the one with the least product of errors."""
        require_delta(price)
        moved = [sensitivity_of(self.contribution, measure, None) for measure in self.measures]
        problem = FoundKeys(price.epsilon, price.delta, moved[0].cells, tuple(s.each for s in moved), self.rest)
        ranking = plan_for(problem)
        best, step = cast(KeysFound, ranking.best), moved[-1].step
        shares = [f"{number(problem.share)} of the price for finding keys"]
        shares += [f"{number(problem.share)} for their {self.what}s"] * (len(moved) - 1)
        shares += [f"{number(problem.rest_share * len(moved))} for everything else"] * self.rest
        noise, known = best.noises[-1], self.what != "mean"
        return AnswerPlan(
            mechanism=best,
            event=best.event,
            error=in_steps(noise.error(), step) if known else None,
            within=partial(quantile_of, noise, step) if known else _unknown,
            sensitivity=moved[-1],
            encode=self.encode,
            to_table=partial(self.to_table, best),
            reason=best.reason(),
            options=options_in_steps(ranking.options, Fraction(1)),
            notes=(
                f"a key of {best.half_shown} shows half of the time",
                *ways_compared(
                    (each.mechanism, in_steps(cast(KeysFound, each.mechanism).noises[-1].error(), step))
                    for each in (ranking.options if known else ())
                ),
                "; ".join(shares),
                "compared by that count plus its error, times the errors of all other numbers",
                *(() if known else ("the error of a mean is that of its sum divided by the count, which is private",)),
            ),
        )

    def read(self) -> dict[Any, tuple[int, ...]]:
        """All numbers of all keys; private. Rows without a value do not count for a mean."""
        return self.dataset.table.totals_by_key(self.contribution, self.columns, self.measures, self._present())

    def _present(self) -> Predicate | None:
        if self.what != "mean" or self.column is None:
            return self.where
        present = typed(~col(self.column).is_missing(), self.dataset.table.columns)
        return present if self.where is None else self.where & present

    def encode(self, drawn: tuple[Any, tuple[int, ...]]) -> Json:
        """Keys with their numbers, and the totals of the rest, as JSON."""
        keys, totals = drawn
        written: list[Json] = [[[write_key(part) for part in key], list(numbers)] for key, numbers in keys]
        return [keep_largest(written, [numbers[0] for _, numbers in keys]), list(totals)]

    def to_table(self, mechanism: KeysFound, drawn: list[Any], level: Fraction) -> TidyTable:
        """The keys that were found with their numbers, and a last row for everything else."""
        found, totals = drawn
        keys = [tuple(read_key(part) for part in key) for key, _ in found]
        columns: dict[str, tuple[Any, ...]] = {
            name: (*(key[place] for key in keys), *([None] if totals else []))
            for place, name in enumerate(self.columns)
        }
        if self.rest:
            columns[free_name(_FOUND, self.columns)] = (*[True] * len(keys), False)
        bars = self._bars(mechanism.noises, [numbers for _, numbers in found], level, tuple(columns))
        if totals:
            own = self._bars(mechanism.rest, [totals], level, tuple(columns))
            bars = {name: (*bars[name], *own[name]) for name in bars}
        return TidyTable({**columns, **bars}, tuple(columns))

    def _bars(
        self, noises: tuple[Any, ...], numbers: list[list[int]], level: Fraction, keys: tuple[str, ...]
    ) -> dict[str, tuple[Any, ...]]:
        if self.what != "mean" or self.scale is None:
            step = Fraction(1) if self.scale is None else self.scale.step
            return bars_around(noises[-1], [each[-1] for each in numbers], level, keys, step)
        far, wide = (noise.quantile(1 - (1 - level) / 2) for noise in noises)
        rows = [self._mean(count, total, far, wide) for count, total in numbers]
        return {name: tuple(row[i] for row in rows) for i, name in enumerate(measure_names(keys))}

    def _mean(self, count: int, total: int, far: int, wide: int) -> tuple[float, float, float]:
        """A mean, and where it lies if the count is off by at most `far` and the sum by at most `wide`."""
        scale = cast(FixedPoint, self.scale)
        least, most = scale.steps

        def at(quotient: Fraction) -> float:
            return float(min(max(scale.centre + quotient, Fraction(least)), Fraction(most)) * scale.step)

        middle = at(Fraction(total, max(count, 1)))
        if count <= far:
            return middle, at(Fraction(least - scale.centre)), at(Fraction(most - scale.centre))
        ends = [Fraction(total + away, count + off) for away in (-wide, wide) for off in (-far, far)]
        return middle, at(min(ends)), at(max(ends))


@dataclass(frozen=True, repr=False, kw_only=True)
class CommonUnknownKeys(KeyQuery):
    """The most common keys, at most k of them, where the keys are not known in advance.

    Attributes:
        k: How many, the most common first.
        of: "units" or "rows".
    """

    recorded_as: ClassVar[str] = "CommonUnknownKeys"
    needs_delta: ClassVar[bool] = True
    k: int
    of: str

    @property
    def counts_units(self) -> bool:
        return self.of == "units"

    @property
    def question(self) -> str:
        best = "most common" if self.k == 1 else f"{self.k} most common"
        return self.described(
            f"{best} {', '.join(self.columns)} by the number of {self.words_for(self.of)} (keys unknown)"
        )

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "k": self.k, "of": self.of}

    @property
    def measure(self) -> CountUnits | CountRows:
        """The score of a key."""
        return counted(self.of)

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """Noisy counts of all keys and the largest of them, or k choices in turn: where keys show first."""
        require_delta(price)
        sensitivity = sensitivity_of(self.contribution, self.measure, None)
        groups, rows = sensitivity.cells, sensitivity.each
        ranking = plan_for(_CommonKeys(UnknownKeys(price.epsilon, price.delta, groups, rows), self.k))
        best = cast(ThresholdedCounts | UnknownTopK, ranking.best)
        return AnswerPlan(
            mechanism=best,
            event=best.event,
            error=best.error(),
            within=partial(quantile_of, best if isinstance(best, UnknownTopK) else best.noise, Fraction(1)),
            sensitivity=sensitivity,
            encode=partial(self.encode, isinstance(best, ThresholdedCounts)),
            to_table=self.to_table,
            reason=best.reason(),
            options=ranking.options,
            notes=(
                f"a key of {best.half_shown} shows half of the time; there may be fewer than {self.k} keys",
                "compared by that count plus the expected error",
            ),
        )

    def read(self) -> dict[Any, int]:
        """The scores; private."""
        found = self.dataset.table.totals_by_key(self.contribution, self.columns, (self.measure,), self.where)
        return {key: count for key, (count,) in found.items()}

    def encode(self, counted: bool, drawn: tuple[Any, ...]) -> Json:
        """The keys, the most common first, without their counts if they have some."""
        if counted:
            drawn = tuple(key for key, _ in sorted(drawn, key=lambda pair: -pair[1]))
        written: list[Json] = [[write_key(part) for part in key] for key in drawn[: self.k]]
        return keep_largest(written, [-place for place in range(len(written))])

    def to_table(self, drawn: list[Any], _: Fraction) -> TidyTable:
        """By rank."""
        keys = [tuple(read_key(part) for part in key) for key in drawn]
        labels = tuple(key[0] if len(self.columns) == 1 else key for key in keys)
        return TidyTable({"rank": tuple(range(1, len(labels) + 1)), "value": labels}, ("rank",))


@dataclass(frozen=True)
class _CommonKeys:
    """Which keys are most common is asked for: all mechanisms for their counts do, and choices in turn."""

    counts: UnknownKeys
    k: int

    def candidates(self) -> Iterator[Mechanism]:
        """Choices first: they release less."""
        asked = self.counts
        yield UnknownTopK(asked.epsilon, asked.delta, self.k, asked.groups, asked.rows)
        yield from asked.candidates()

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """As for counts."""
        return self.counts.expected_loss(mechanism)


def _unknown(_: Fraction) -> None:
    return None
