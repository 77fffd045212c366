"""Views of a table: derived columns, and one row per unit with features of all its rows.

**Derived columns** are total expressions of one row (docs/theory/expressions.md). The view has the rows of the table,
so that what a unit may add is bounded as before.

**Per-unit rows**: the rows of one unit become one row; rows that belong to nobody, or that a filter drops, are left
out. Row u of the view depends on the rows of unit u alone, so taking a unit away takes exactly its row away. Every
feature is exact and total: counts and sums of whole numbers in widths that `MOST_ROWS` rows can't exceed, other sums in
fixed point. A sum that 64 bits do not hold is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from leastnoise.data.columns import Column, Kind, SumOf, engine_name, whole_range
from leastnoise.data.dialect import Fragment, join, select
from leastnoise.data.identity import Identity
from leastnoise.data.joined_table import MemberTable
from leastnoise.data.predicates.expressions import Aggregate
from leastnoise.data.predicates.nodes import Literal, Name, Predicate, Term, columns_of
from leastnoise.data.predicates.parser import parse_aggregate, parse_expression
from leastnoise.data.predicates.to_sql import to_sql, value_sql
from leastnoise.data.predicates.typecheck import type_of, typed
from leastnoise.data.relation import Relation, counted, parts_of
from leastnoise.data.table import Table
from leastnoise.data.values import row_value
from leastnoise.errors import BadParameter
from leastnoise.model import MOST_ROWS

__all__ = ["derive_columns", "per_unit_rows"]

_MOST = 200  # derived columns or features of a view
_LONG = whole_range(64)
_WIDEST = 10**37
_DERIVED = "it is derived"
_FINEST = 6  # decimal digits of the width of a sum that is not whole


def derive_columns(table: Table, expressions: Mapping[str, str]) -> Table:
    """The table with more columns.

    Raises:
        BadParameter: A name is taken, or there are none or too many.
        BadFilter: An expression can't be read.
    """
    _require_names(table, expressions)
    terms = {name: parse_expression(text, table.types) for name, text in expressions.items()}
    columns = {**table.types, **{name: _column(name, term, table.types) for name, term in terms.items()}}
    relation = DerivedRelation(table.dialect, columns, table._relation.table, table._relation, terms)
    told = {"columns": {name: str(term) for name, term in terms.items()}}
    return ViewTable(table, relation, told, table.tied | frozenset(terms))


def per_unit_rows(table: Table, unit: str, features: Mapping[str, str], where: Predicate | None) -> Table:
    """One row per unit, with these features of its rows that pass the filter.

    Raises:
        BadParameter: A name is taken, a feature can't be computed without bounds, or there are none or too many.
        BadFilter: A feature can't be read.
    """
    _require_names(table, features)
    where = None if where is None else typed(where, table.types)
    read = {name: parse_aggregate(text, table.types) for name, text in features.items()}
    made = {name: _feature(name, aggregate) for name, aggregate in read.items()}
    columns = {unit: table._relation.unit_column(unit), **{name: feature.column for name, feature in made.items()}}
    relation = UnitRelation(table.dialect, columns, table._relation.table, table._relation, unit, made, where)
    told = {
        "per_unit": {name: str(aggregate) for name, aggregate in read.items()},
        "where": None if where is None else where.to_dict(),
    }
    return ViewTable(table, relation, told, frozenset(columns))


class ViewTable(MemberTable):
    """A view of a table, in the session of the table, with the rehearsals of the table."""

    def __init__(self, origin: Table, relation: Relation, told: Mapping[str, object], tied: frozenset[str]) -> None:
        identity = Identity(
            origin.name, origin.identity is not None, origin.former_names, origin.overlapping, origin.place
        )
        super().__init__(origin, identity, relation.columns.values(), relation.table)
        self._relation, self._canary = relation, origin._canary
        self.joined_from, self.tied, self.views = origin.joined_from, tied, (*origin.views, told)
        self.looked_up = origin.looked_up


@dataclass(frozen=True)
class DerivedRelation(Relation):
    """A relation with more columns."""

    parent: Relation
    terms: Mapping[str, Term]

    def base(self, names: Iterable[str], passing: Sequence[Predicate] = (), *, every: bool = False) -> Fragment:
        dialect, listed = self.dialect, sorted(names)
        needed = {name for name in listed if name not in self.terms}
        needed |= {name for derived in listed if derived in self.terms for name in columns_of(self.terms[derived])}
        outputs = [
            (_plain_value(self.terms[name], self) if name in self.terms else dialect.quote(name))
            + f" AS {dialect.quote(name)}"
            for name in listed
        ]
        rows = self.parent.base(needed, passing, every=every)
        return select(join(", ", outputs or ["1 AS one"]), rows, "underived")

    def undecided(self, passing: Sequence[Predicate]) -> list[Predicate]:
        return self.parent.undecided(passing)

    def met_by_every_row(self, passing: Sequence[Predicate]) -> list[Fragment]:
        return self.parent.met_by_every_row(passing)


def _plain_value(term: Term, relation: Relation) -> Fragment | str:
    """A term in plain form; a column alone keeps its own, also where it is a decimal."""
    return relation.dialect.quote(term.column) if isinstance(term, Name) else value_sql(term, relation.dialect)


def _column(name: str, term: Term, types: Mapping[str, Column]) -> Column:
    """What is known of a derived column; it names no unit."""
    if isinstance(term, Name):
        return replace(types[term.column], name=name, coarse=_DERIVED, hint="")
    kind, limits = type_of(term)
    return Column(name, kind, "derived", limits=limits or whole_range(64), coarse=_DERIVED)


@dataclass(frozen=True)
class _Feature:
    """A feature: its aggregate, the column that it makes, and for sums that are not whole how they are added up."""

    aggregate: Aggregate
    column: Column
    measure: SumOf | None = None


@dataclass(frozen=True)
class UnitRelation(Relation):
    """One row per unit of another relation."""

    parent: Relation
    unit: str
    features: Mapping[str, _Feature]
    where: Predicate | None = field(default=None)

    def base(self, names: Iterable[str], passing: Sequence[Predicate] = (), *, every: bool = False) -> Fragment:  # noqa: ARG002 - they are about features
        dialect, wanted = self.dialect, [name for name in sorted(names) if name in self.features]
        features = [self.features[name] for name in wanted]
        terms = [term for feature in features for term in (*feature.aggregate.arguments, feature.aggregate.condition)]
        needed = {self.unit, *(name for part in [*terms, self.where] if part is not None for name in columns_of(part))}
        conditions: list[Fragment | str] = [self.parent.somebody(self.parent.unit_column(self.unit))]
        if self.where is not None and not every:
            conditions += [to_sql(part, dialect) for part in self.parent.undecided(self._passing)]
        values = [part for number, feature in enumerate(features) for part in self._values(number, feature)]
        unit = f"{self.parent.unit_value(self.parent.column(self.unit))} AS unit"
        parent = self.parent.base(needed, self._passing, every=every)
        passed = select("*", parent, "plain", "WHERE " + join(" AND ", conditions))
        rows = select(join(", ", [unit, *values]), passed, "base")
        ranked = [self._rank(number) for number, each in enumerate(features) if each.aggregate.name == "first"]
        rows = select(join(", ", ["*", *ranked]), rows, "unranked") if ranked else rows
        made = [f"unit AS {dialect.quote(self.unit)}"]
        made += [
            f"{self._total(number, self.features[name])} AS {dialect.quote(name)}" for number, name in enumerate(wanted)
        ]
        return select(", ".join(made), rows, "unit_rows", "GROUP BY unit")

    def undecided(self, passing: Sequence[Predicate]) -> list[Predicate]:
        return list(passing)

    def met_by_every_row(self, passing: Sequence[Predicate]) -> list[Fragment]:  # noqa: ARG002 - as in `base`
        met = self.parent.met_by_every_row(self._passing)
        if self.where is None:
            return met
        tests = [to_sql(test, self.dialect) for test in self.where.tests()]
        return [*met, counted(tests, self.parent.base(self.where.columns, every=True))]

    @property
    def _passing(self) -> list[Predicate]:
        return list(parts_of(self.where))

    def _values(self, number: int, feature: _Feature) -> list[Fragment]:
        """What is computed of each row: v, and for `first` the value o that orders."""
        aggregate, dialect = feature.aggregate, self.dialect
        if aggregate.condition is not None:
            return ["CASE WHEN " + to_sql(aggregate.condition, dialect) + f" THEN 1 ELSE 0 END AS v{number}"]
        named = zip("vo", aggregate.arguments, strict=False)  # one or two
        return [value_sql(term, dialect) + f" AS {name}{number}" for name, term in named]

    def _rank(self, number: int) -> str:
        last = f"CASE WHEN v{number} IS NULL OR o{number} IS NULL THEN 1 ELSE 0 END"
        return f"row_number() OVER (PARTITION BY unit ORDER BY {last}, o{number}, v{number}) AS r{number}"

    def _total(self, number: int, feature: _Feature) -> str:
        dialect, name, value = self.dialect, feature.aggregate.name, f"v{number}"
        match name:
            case "count":
                return f"CAST(count({value if feature.aggregate.arguments else '*'}) AS {dialect.long})"
            case "any":
                return f"(max({value}) = 1)"
            case "first":
                return f"max(CASE WHEN r{number} = 1 AND o{number} IS NOT NULL THEN {value} END)"
            case "sum":
                return self._sum(value, feature)
        return f"{name}({value})"

    def _sum(self, value: str, feature: _Feature) -> str:
        dialect = self.dialect
        if feature.measure is not None:
            column = Column(value, Kind.REAL, "derived")
            steps = row_value(feature.measure, column, dialect, "unit_rows")
            step = feature.measure.step
            total = f"CAST(sum(CAST({steps} AS {dialect.wide})) AS {dialect.real})"
            return f"{total} * {dialect.number(float(step.numerator))} / {dialect.number(float(step.denominator))}"
        total = f"sum(CAST({value} AS {dialect.wide}))"
        low, high = map(dialect.exact_number, _LONG)
        within = f"CAST(least(greatest({total}, {low}), {high}) AS {dialect.long})"
        return f"CASE WHEN {total} BETWEEN {low} AND {high} THEN {within} END"


def _feature(name: str, aggregate: Aggregate) -> _Feature:
    """What a feature makes, and whether it can be computed without overflow.

    Raises:
        BadParameter: It can't.
    """
    if aggregate.name in ("count", "any"):
        kind = Kind.INTEGER if aggregate.name == "count" else Kind.BOOLEAN
        return _Feature(aggregate, Column(name, kind, "derived", limits=(0, MOST_ROWS), coarse=_DERIVED))
    term = aggregate.arguments[0]
    kind, limits = type_of(term)
    if kind is Kind.BOOLEAN:
        raise BadParameter(f"{aggregate.name} of a condition", given=str(aggregate), fix="use any(condition)")
    if aggregate.name != "sum":
        plain = Kind.REAL if kind is Kind.DECIMAL else kind
        return _Feature(aggregate, Column(name, plain, "derived", limits=limits or _LONG, coarse=_DERIVED))
    if not kind.numeric:
        raise BadParameter("only numbers are summed", given=str(aggregate), fix="use count, min, max or first")
    if limits is not None and max(map(abs, limits)) * MOST_ROWS < _WIDEST:
        lowest, highest = max(min(0, limits[0]) * MOST_ROWS, _LONG[0]), min(max(0, limits[1]) * MOST_ROWS, _LONG[1])
        return _Feature(aggregate, Column(name, Kind.INTEGER, "derived", limits=(lowest, highest), coarse=_DERIVED))
    clamped = getattr(term, "name", "") == "clamp"
    if not clamped:
        raise BadParameter(
            "a sum of numbers that are not whole, or of more than 64 bits, needs bounds",
            given=str(aggregate),
            fix=f"write for example sum(clamp({term}, 0, 1000))",
        )
    low, high = (Fraction(bound.value) for bound in term.arguments[1:] if isinstance(bound, Literal))  # type: ignore[attr-defined, arg-type]
    if low >= high:
        raise BadParameter("bounds must increase", given=str(aggregate), fix="write for example clamp(x, 0, 1000)")
    width = Decimal((high - low).numerator) / (high - low).denominator  # it may be beyond all doubles
    measure = SumOf("v", low, high, Fraction(10) ** (width.adjusted() - _FINEST))
    return _Feature(aggregate, Column(name, Kind.REAL, "derived", coarse=_DERIVED), measure)


def _require_names(table: Table, given: Mapping[str, str]) -> None:
    if not isinstance(given, Mapping) or not 1 <= len(given) <= _MOST:
        raise BadParameter(
            f"from 1 to {_MOST} new columns are given as a dict",
            given=type(given).__name__ if not isinstance(given, Mapping) else len(given),
            fix='pass for example {"senior": "age >= 65"}',
        )
    taken = {engine_name(name) for name in table.columns}
    for name in given:
        if not isinstance(name, str) or not name or not name.isprintable():
            raise BadParameter("a column has a name", given=name, fix='write for example "senior"')
        if engine_name(name) in taken:
            raise BadParameter(
                "there is such a column already",
                given=name,
                fix="choose another name, which differs in more than capitals and in its first 63 letters",
            )
        taken.add(engine_name(name))
