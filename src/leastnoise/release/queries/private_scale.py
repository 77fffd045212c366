"""Bounds of sums, means and variances, and limits per unit of several questions, chosen by a share of the price.

The options are public: bounds (0, 2^k) and (−2^k, 2^k), or 2^k rows or groups per unit. For each of them there is an
ordinary question. All of them are read at once, in one scan where their limits are the same, together with how many
units lie where on the scale; then a price is paid, and what is drawn decides which of the answers gets its noise and
leaves. Between the two draws nothing is read, so nothing can fail there.

Quantiles need no such share: an answer is chosen from a public scale of all magnitudes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.cost import pure_within
from leastnoise.data import Axis, BinAxis, Contribution, CountUnits, Kind, Measure, Predicate, Table
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import Geometric, QuantileTable
from leastnoise.mechanisms.histogram.chosen_scale import ChosenScale
from leastnoise.model import Approximate, Concentrated, Event, GaussianPrivacy, LaplaceNoise, Privacy, Pure, number
from leastnoise.release.arguments import FixedPoint
from leastnoise.release.plan import AnswerPlan, short_price
from leastnoise.release.pricing import split_price
from leastnoise.release.queries.quantiles import Quantiles
from leastnoise.release.queries.query import CellQuery, Query
from leastnoise.release.tables import TidyTable

__all__ = ["PrivateBounds", "PrivateGroups", "PrivateRows", "bound_options", "limit_options", "magnitudes"]

_SHARE = Fraction(1, 10)
_POWERS = {Kind.INTEGER: range(33)}  # of the bounds; those of other columns reach below one
_OTHER_POWERS = range(-4, 33)
_FARTHEST = 1 << 126  # whatever lies beyond is in no place of the scale
_FINEST = 20  # binary digits of a bound that is not of whole numbers
_MOST = 10  # up to 2^10 rows or groups per unit


class _OneScan:
    """A table that hears what several questions ask of it, asks the table once, and answers each from that."""

    def __init__(self, table: Table) -> None:
        self._table, self.columns, self.types = table, table.columns, table.types
        self._asked: dict[tuple[Contribution, tuple[Axis, ...], str], tuple[Predicate | None, dict[Measure, int]]] = {}
        self._found: dict[tuple[Contribution, tuple[Axis, ...], str], tuple[NDArray[Any], ...]] = {}
        self._ranks: dict[Contribution, NDArray[np.int64]] = {}

    @property
    def table(self) -> _OneScan:
        """Itself: a question asks its dataset for the table."""
        return self

    def check(self, _: Callable[[], object]) -> None:
        """Whoever asks this one is checked as a whole."""

    def aggregate(
        self,
        contribution: Contribution,
        axes: tuple[Axis, ...],
        measures: tuple[Measure, ...],
        where: Predicate | None = None,
    ) -> tuple[NDArray[Any], ...]:
        """As `Table.aggregate`; zeros until it was asked."""
        place = contribution, axes, str(where)
        _, listed = self._asked.setdefault(place, (where, {}))
        for measure in measures:
            listed.setdefault(measure, len(listed))
        if place not in self._found:
            return tuple(np.zeros([len(axis) for axis in axes], dtype=object) for _ in measures)
        return tuple(self._found[place][listed[measure]] for measure in measures)

    def ranks(
        self,
        contribution: Contribution,
        column: str,
        grid: Sequence[Fraction],
        where: Predicate | None = None,
        axes: tuple[Axis, ...] = (),
    ) -> NDArray[np.int64]:
        """As `Table.ranks`, once for each limit: all options have the same column, grid and axes."""
        if contribution not in self._ranks:
            self._ranks[contribution] = self._table.ranks(contribution, column, grid, where, axes)
        return self._ranks[contribution]

    def ask(self) -> None:
        """Ask the table for everything that was heard."""
        for (contribution, axes, text), (where, listed) in self._asked.items():
            self._found[contribution, axes, text] = self._table.aggregate(contribution, axes, tuple(listed), where)


@dataclass(frozen=True, repr=False, kw_only=True)
class _PrivateScale(Query):
    """A question with a public list of options, one of which is chosen privately.

    Attributes:
        options: The question of each option, without its dataset.
    """

    shown_multiples: ClassVar[tuple[Fraction, ...]] = ()  # each would plan all options anew
    options: tuple[CellQuery, ...]
    chosen: ClassVar[str]

    @property
    def broken_down_by(self) -> tuple[Axis, ...]:
        return self.options[0].axes

    @property
    def question(self) -> str:
        return f"{self.options[0].question}, with private {self.chosen}"

    @property
    def measured_in(self) -> str:
        return self.options[0].measured_in

    def parameters(self) -> dict[str, Json]:
        asked: list[Json] = [option.parameters() for option in self.options]
        return {**super().parameters(), "of": self.options[0].recorded_as, "share": str(_SHARE), "options": asked}

    def scale(self) -> NDArray[Any]:
        """Where the units lie; private."""
        raise NotImplementedError

    def cut(self, option: CellQuery) -> tuple[Fraction, ...]:
        """What an option cuts off of a unit in each place of the scale."""
        raise NotImplementedError

    def columns_of(self, option: CellQuery, count: int) -> Mapping[str, tuple[Any, ...]]:
        """What the table says of the option that was chosen."""
        raise NotImplementedError

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """A tenth of the price for the scale, the rest for the answer."""
        first, second = split_price(price, _SHARE)
        plans = tuple(option.answer_plan(second) for option in self.options)
        cells = self.options[0].cells
        noise = tuple(map(_noise_of, self.options, plans))
        cut = tuple(self.cut(option) for option in self.options)
        mechanism = ChosenScale(
            Geometric(pure_within(first, LaplaceNoise)),
            tuple(plan.mechanism for plan in plans),
            tuple(cells * each for each in noise),
            cut,
            _event_of(second),
        )
        middle = len(plans) // 2
        known = _noise_of(self.options[middle], self.options[middle].answer_plan(price))
        return AnswerPlan(
            mechanism=mechanism,
            event=mechanism.event,
            error=None,
            within=_unknown,
            sensitivity=plans[-1].sensitivity,
            encode=partial(self.encode, plans),
            to_table=partial(self.to_table, plans),
            reason=mechanism.reason(),
            notes=(
                f"{number(_SHARE)} of the price, {short_price(first)}, chooses the {self.chosen} among {len(plans)} "
                "public options",
                f"to know the {self.chosen} would save that share: noise of {number(known)} in place of "
                f"{number(noise[middle])} for {_brief(self.columns_of(self.options[middle], 1))}",
                "the error depends on the option, and on what it cuts off",
            ),
        )

    def read(self) -> tuple[NDArray[Any], list[Any]]:
        """Where the units lie, and the true answer of every option; private."""
        scan = _OneScan(self.dataset.table)
        asked = [replace(option, dataset=cast(Any, scan)) for option in self.options]
        for query in asked:
            query.read()
        scan.ask()
        return self.scale(), [query.read() for query in asked]

    def encode(self, plans: tuple[AnswerPlan, ...], drawn: tuple[Sequence[int], int, Any]) -> Json:
        """The noisy scale, the option, and its answer, as JSON."""
        counts, place, answer = drawn
        return [[int(count) for count in counts], place, plans[place].encode(answer)]

    def to_table(self, plans: tuple[AnswerPlan, ...], recorded: Any, level: Fraction) -> TidyTable:
        """The table of the option that was chosen, with a column that says which."""
        _, place, answer = recorded
        table = plans[place].to_table(answer, level)
        return TidyTable({**table.columns, **self.columns_of(self.options[place], len(table))}, table.keys)


@dataclass(frozen=True, repr=False, kw_only=True)
class PrivateBounds(_PrivateScale):
    """A sum, mean or variance between bounds that are chosen privately.

    Attributes:
        column: Whose bounds.
    """

    recorded_as: ClassVar[str] = "PrivateBounds"
    chosen: ClassVar[str] = "bounds"
    column: str

    @property
    def what_counts(self) -> str:
        return f"{self.options[0].what_counts}; values outside of the bounds in the table count as the nearer one"

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "column": self.column}

    @property
    def edges(self) -> tuple[Fraction, ...]:
        """The borders of the scale: powers of two on both sides of zero."""
        powers = [Fraction(2) ** power for power in _powers(self.dataset.table.columns[self.column])]
        above = [*powers, Fraction(_FARTHEST)]
        return (*(-edge for edge in reversed(above)), Fraction(0), *above)

    def scale(self) -> NDArray[Any]:
        """Units by the place of a value, each with one."""
        once = Contribution(self.contribution.privacy_unit)
        axes = (BinAxis(self.column, self.edges),)
        (found,) = self.dataset.table.aggregate(once, axes, (CountUnits(),), self.where)
        return np.ravel(found)

    def cut(self, option: CellQuery) -> tuple[Fraction, ...]:
        """How far the middle of a place is outside of the bounds, for as many rows as a unit may count with."""
        scale, places = _scale_of(option), zip(self.edges, self.edges[1:], strict=False)
        middles = [3 * min(low, high, key=abs) / 2 if low and high else (low + high) / 2 for low, high in places]
        rows = self.contribution.rows_per_unit
        return tuple(rows * max(scale.low - middle, middle - scale.high, Fraction(0)) for middle in middles)

    def columns_of(self, option: CellQuery, count: int) -> Mapping[str, tuple[Any, ...]]:
        """The bounds."""
        scale = _scale_of(option)
        ends = {"bounds_low": scale.low, "bounds_high": scale.high}
        return {name: (_plain(end),) * count for name, end in ends.items()}


@dataclass(frozen=True, repr=False, kw_only=True)
class PrivateRows(_PrivateScale):
    """A count of rows or a sum where a unit counts with so many rows as are chosen privately.

    Attributes:
        worth: What a row is taken to be worth, where it is cut off.
    """

    recorded_as: ClassVar[str] = "PrivateRows"
    chosen: ClassVar[str] = "rows per unit"
    worth: Fraction = Fraction(1)

    @property
    def share_of_a_unit(self) -> str:
        return f"as many rows of each {self.contribution.privacy_unit} as the table says"

    def scale(self) -> NDArray[Any]:
        """Units by the number of their rows."""
        return self.dataset.table.units_by_rows(self.contribution, self.broken_down_by, _MOST, self.where)

    def cut(self, option: CellQuery) -> tuple[Fraction, ...]:
        """How many rows of a unit in each place are too many."""
        return _too_many(option.contribution.rows_per_unit, self.worth)

    def columns_of(self, option: CellQuery, count: int) -> Mapping[str, tuple[Any, ...]]:
        """The limit."""
        return {"rows_per_unit": (option.contribution.rows_per_unit,) * count}


@dataclass(frozen=True, repr=False, kw_only=True)
class PrivateGroups(_PrivateScale):
    """A question by groups where a unit counts in so many of them as are chosen privately.

    Attributes:
        worth: What a unit is taken to be worth in a group where it is left out.
    """

    recorded_as: ClassVar[str] = "PrivateGroups"
    chosen: ClassVar[str] = "groups per unit"
    worth: Fraction = Fraction(1)

    @property
    def what_counts(self) -> str:
        share, unit = self.options[0].share_of_a_unit, self.contribution.privacy_unit
        return f"{share}, in as many groups as the table says; rows without {unit} are left out"

    def scale(self) -> NDArray[Any]:
        """Units by the number of their groups."""
        return self.dataset.table.units_by_groups(self.contribution, self.broken_down_by, _MOST, self.where)

    def cut(self, option: CellQuery) -> tuple[Fraction, ...]:
        """In how many groups a unit in each place is left out."""
        return _too_many(option.contribution.groups_per_unit, self.worth)

    def columns_of(self, option: CellQuery, count: int) -> Mapping[str, tuple[Any, ...]]:
        """The limit."""
        return {"groups_per_unit": (option.contribution.groups_per_unit,) * count}


def _too_many(limit: int, worth: Fraction) -> tuple[Fraction, ...]:
    """What a limit cuts off of a unit in each place: so much for each above it, three quarters of 2^k in place k."""
    places = [Fraction(1), Fraction(2), *(Fraction(3 << k, 4) for k in range(2, _MOST + 1))]
    return tuple(worth * max(each - limit, Fraction(0)) for each in places)


def bound_options(kind: Kind) -> list[FixedPoint]:
    """All bounds that may be chosen, the narrow ones first."""
    found = []
    for power in _powers(kind):
        end = Fraction(2) ** power
        step = max(end / (1 << _FINEST), Fraction(1)) if kind is Kind.INTEGER else end / (1 << _FINEST)
        found += [FixedPoint(Fraction(0), end, step), FixedPoint(-end, end, step)]
    return found


def limit_options() -> list[int]:
    """All numbers of rows or groups per unit that may be chosen."""
    return [1 << power for power in range(_MOST + 1)]


def magnitudes(kind: Kind) -> tuple[Fraction, ...]:
    """A public scale of both signs up to 10^10: numbers one or two hundredths apart, relative to their size.

    Whole numbers have all of those below a hundred; others go down to a hundredth.

    >>> scale = magnitudes(Kind.INTEGER)
    >>> [int(point) for point in scale if 98 <= point <= 104], len(scale)
    ([98, 99, 100, 102, 104], 2761)
    """
    digits = [*range(100, 200, 2), *range(200, 500, 5), *range(500, 1000, 10)]
    above = [Fraction(k) for k in range(1, 100)] if kind is Kind.INTEGER else []
    for power in range(2 if above else -2, 10):
        above += [Fraction(digit, 100) * Fraction(10) ** power for digit in digits]
    above.append(Fraction(10**10))
    return (*(-point for point in reversed(above)), Fraction(0), *above)


def _powers(kind: Kind) -> range:
    return _POWERS.get(kind, _OTHER_POWERS)


def _scale_of(option: CellQuery) -> FixedPoint:
    return cast(FixedPoint, option.scale)  # type: ignore[attr-defined]


def _noise_of(option: CellQuery, plan: AnswerPlan) -> Fraction:
    """The expected error of one number, in the unit of the answer; of quantiles the ranks on the public reference."""
    if isinstance(option, Quantiles):
        return Fraction(cast(QuantileTable, plan.mechanism).reference_error(option.guess))
    step = Fraction(1) if plan.sensitivity is None else plan.sensitivity.step
    return plan.mechanism.error().expected.upper * step


def _event_of(price: Privacy) -> Event:
    """What is known of everything that a price pays for."""
    if price.currency == "rho":
        return Concentrated(price.rho)
    if price.currency == "mu":
        return GaussianPrivacy(price.mu_squared)
    return Approximate(price.epsilon, price.delta) if price.delta else Pure(price.epsilon)


def _unknown(_: Fraction) -> None:
    return None


def _plain(end: Fraction) -> int | float:
    return int(end) if end.denominator == 1 else float(end)


def _brief(columns: Mapping[str, tuple[Any, ...]]) -> str:
    return ", ".join(f"{name} = {values[0]}" for name, values in columns.items())
