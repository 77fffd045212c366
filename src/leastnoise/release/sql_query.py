"""SQL: a SELECT statement becomes the questions that the methods of a dataset make, several of them as one batch.

Plan, price, ledger and record are theirs. What is left of the statement, HAVING, ORDER BY, LIMIT and OFFSET, acts on
the released table and costs nothing.

Public bounds of what is added up come from `CLAMP(x, low, high)`, from the description of the dataset, or from the
formula itself (`CASE WHEN … THEN 1 ELSE 0 END`). Public keys of a group come from `x IN (…)` or `x = …` in WHERE, from
the description, or from the formula (`month(day)`). Without them only units are counted, and that needs a δ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import count
from math import sqrt
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from leastnoise.data import Kind, Predicate, Source
from leastnoise.data.columns import engine_name
from leastnoise.data.predicates import (
    Aggregate,
    Case,
    FromTable,
    Function,
    Item,
    SelectText,
    Statement,
    holds,
    place_in,
    read_select,
    type_of,
    typed,
    typed_term,
    value_of,
)
from leastnoise.data.predicates.nodes import And, ComparisonTest, IsIn, IsMissing, Literal, Name, Term
from leastnoise.errors import BadFilter, BadParameter, InputError, LimitError, UnsafeJoin
from leastnoise.exact import NumberLike
from leastnoise.model import LEVEL, aligned, html_table, rich_table
from leastnoise.release.batch import Batch, BatchPlan
from leastnoise.release.plan import ReleasePlan
from leastnoise.release.queries.query import Price, Query
from leastnoise.release.result import Release
from leastnoise.release.tables import TidyTable, measure_names

if TYPE_CHECKING:
    from leastnoise.release.dataset import Dataset

__all__ = ["SQLQuery", "SQLRelease", "read_sql"]

_FEW = 1000  # whole numbers that a formula can have, to be taken as keys or bounds


@dataclass(frozen=True)
class SQLRelease:
    """The answer to a statement. Everything in it is public.

    Attributes:
        table: A column for each item; beside each aggregate its error bars, where it has some.
        releases: The releases that it is made of, before HAVING, ORDER BY and LIMIT.
        plan: How they were made.
        request_id: Asking again under this id returns the same numbers, and costs nothing.
    """

    table: TidyTable
    releases: tuple[Release, ...]
    plan: ReleasePlan | BatchPlan
    request_id: str | None

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """A Polars data frame."""
        return self.table.to_polars()

    def to_arrow(self) -> Any:
        """An Arrow table."""
        return self.table.to_arrow()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the rows, and the releases that they come from."""
        rows = [
            [cell if cell is None or isinstance(cell, bool | int | float | str) else str(cell) for cell in row]
            for row in self.table
        ]
        return {
            "columns": list(self.table.names),
            "rows": rows,
            "releases": [release.to_dict() for release in self.releases],
            "request_id": self.request_id,
        }

    @property
    def caption(self) -> str:
        """One line about the cost."""
        return f"cost {self.plan.price}" + ("" if self.plan.left is None else f"; left {self.plan.left}")

    def __str__(self) -> str:
        """The table, and a line about it."""
        return f"{aligned(self.table.shown())}\n{self.caption}"

    def __rich__(self) -> Any:
        """The same for the terminal."""
        return rich_table(self.table.shown(), self.caption)

    def _repr_html_(self) -> str:
        head, *body = self.table.shown()
        return html_table(self.caption, body, head)


@dataclass(frozen=True, repr=False)
class SQLQuery:
    """A statement as questions; made by `Dataset.sql`.

    Attributes:
        text: The statement.
        statement: What was read.
        queries: One question for each aggregate, in order.
        asked: The one question, or the batch of them.
        kinds: What the columns of the answer hold, for HAVING and ORDER BY.
        places: For each item that is no aggregate its place in GROUP BY; known before anything is spent.
    """

    text: str
    statement: Statement
    queries: tuple[Query, ...]
    asked: Query | Batch
    kinds: Mapping[str, Kind]
    places: Mapping[str, int]

    def plan(
        self,
        epsilon: Price = None,
        delta: NumberLike = 0,
        *,
        rho: NumberLike | None = None,
        mu: NumberLike | None = None,
        confidence: NumberLike = LEVEL,
    ) -> ReleasePlan | BatchPlan:
        """What it costs and how far off each number will be. Free: no private row is read.

        Args:
            epsilon: The price of the statement, in ε; or a whole price as a `Privacy`.
            delta: Its δ.
            rho: Instead of ε: the price in zero-concentrated privacy.
            mu: Instead of ε: the price in Gaussian privacy.
            confidence: The probability with which each stated error is kept.
        """
        return self.asked.plan(epsilon, delta, rho=rho, mu=mu, confidence=confidence)

    def price(
        self,
        errors: NumberLike | Sequence[NumberLike],
        *,
        confidence: NumberLike = LEVEL,
        delta: NumberLike = 0,
        currency: str = "epsilon",
    ) -> ReleasePlan | BatchPlan:
        """What a wanted error of each aggregate costs in all: a plan at that price. Free.

        Args:
            errors: How far off each number may be: one number for all aggregates, or one for each.
            confidence: The probability with which it is not farther off.
            delta: The δ beside ε.
            currency: "epsilon", "rho" or "mu".

        Raises:
            BadParameter: There are neither as many errors as aggregates nor one.
            UnreachableTarget: No sensible price is enough for one of them.
        """
        several = isinstance(errors, Sequence) and not isinstance(errors, str)
        wanted = list(errors) if several else [errors] * len(self.queries)  # type: ignore[arg-type]
        if len(wanted) != len(self.queries):
            raise BadParameter(
                "errors are one number, or one for each aggregate",
                given=len(wanted),
                fix=f"pass {len(self.queries)} numbers",
            )
        sure = {"confidence": confidence, "delta": delta, "currency": currency}
        asked = self.asked
        return asked.price(wanted, **sure) if isinstance(asked, Batch) else asked.price(wanted[0], **sure)  # type: ignore[arg-type]

    def release(
        self,
        epsilon: Price = None,
        delta: NumberLike = 0,
        request_id: str | None = None,
        *,
        rho: NumberLike | None = None,
        mu: NumberLike | None = None,
        confidence: NumberLike = LEVEL,
    ) -> SQLRelease:
        """Spend the price once and answer.

        Args:
            epsilon: The price of the statement, in ε; or a whole price as a `Privacy`.
            delta: Its δ.
            request_id: Your own name for this request. Repeating it, also with another HAVING, ORDER BY or LIMIT, costs
                nothing.
            rho: Instead of ε: the price in zero-concentrated privacy.
            mu: Instead of ε: the price in Gaussian privacy.
            confidence: The probability with which each interval holds the true value.
        """
        given = {"rho": rho, "mu": mu, "confidence": confidence, "request_id": request_id}
        found = self.asked.release(epsilon, delta, **given)  # type: ignore[arg-type]
        releases = (found,) if isinstance(found, Release) else found.releases
        return SQLRelease(self._answer(releases), releases, found.plan, found.request_id)

    def _answer(self, releases: Sequence[Release]) -> TidyTable:
        """The table that was asked for: the items in order, then HAVING, ORDER BY, OFFSET and LIMIT."""
        statement, columns, waiting = self.statement, dict[str, tuple[Any, ...]](), iter(releases)
        first = releases[0].table
        for item in statement.items:
            if isinstance(item.what, Aggregate):
                columns |= _measures(item, next(waiting).table)
            else:
                columns[item.name] = first[first.keys[self.places[item.name]]]
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        if statement.having is not None:
            having = typed(statement.having, self.kinds)
            rows = [row for row in rows if holds(having, row)]
        for term, descending in reversed(statement.order_by):
            known = typed_term(term, self.kinds)
            values = [(value_of(known, row), row) for row in rows]
            there = [pair for pair in values if pair[0] is not None]
            there.sort(key=lambda pair: pair[0], reverse=descending)  # type: ignore[arg-type, return-value]
            rows = [row for _, row in there] + [row for value, row in values if value is None]
        end = None if statement.limit is None else statement.offset + statement.limit
        rows = rows[statement.offset : end]
        return TidyTable({name: tuple(row[name] for row in rows) for name in columns}, tuple(self.places))

    def __repr__(self) -> str:
        """The statement."""
        return f"<SQLQuery: {self.text}>"


@runtime_checkable
class _Tables(Protocol):
    """What FROM needs of a dataset with several tables; see `Database`."""

    def join(self, sources: Sequence[Source]) -> Dataset: ...
    def columns_of(self, table: str) -> dict[str, str]: ...


def read_sql(dataset: Dataset, text: str) -> SQLQuery:
    """The questions of a statement.

    Raises:
        BadFilter: It can't be read, or asks for what can't be answered; line and column are in the text.
        BadParameter: Bounds or keys are missing, and where to write them.
    """
    try:
        return _read(dataset, text)
    except (InputError, LimitError) as error:
        raise error.located(_place_of(error, text)) from None


def _place_of(error: InputError | LimitError, text: object) -> str:
    """Where a statement has what an error speaks of; its beginning where the words are not there."""
    if not isinstance(text, str):
        return ""
    for words in (error.given or "", (error.given or "").rpartition(".")[2]):
        if words and (found := re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE)):
            return place_in(text, found.start())
    return place_in(text, 0)


def _read(dataset: Dataset, text: str) -> SQLQuery:
    view, statement = _view_of(dataset, read_select(text))
    questions = _Questions(view, statement)
    queries = questions.made()
    asked = queries[0] if len(queries) == 1 else questions.dataset.batch(queries)
    kinds = questions.kinds(queries[0])
    if statement.having is not None:  # what is wrong with it is said before anything is spent
        typed(statement.having, kinds)
    for term, _ in statement.order_by:
        typed_term(term, kinds)
    return SQLQuery(text, statement, queries, asked, kinds, questions.places)


def _view_of(dataset: Dataset, text: SelectText, *, per_unit: bool = False) -> tuple[Dataset, Statement]:
    """The rows that FROM names, and the statement about them."""
    tables, database = text.tables, dataset if isinstance(dataset, _Tables) else None
    if tables[0].subquery is not None:
        if len(tables) > 1:
            raise BadFilter(
                f"a subquery is not joined with tables ({tables[1].position})",
                given=f"JOIN {tables[1].name}",
                fix="join inside of the subquery, and take what is needed as features: first(city, day)",
            )
        view, inner = _view_of(dataset, tables[0].subquery, per_unit=True)
        view = _per_unit(view, inner, tables[0])
    elif database is not None:
        sources = [_source(table, tables[:place], database) for place, table in enumerate(tables)]
        try:
            view = database.join(sources)
        except UnsafeJoin as error:
            raise error.located(next((each.position for each in tables if each.alias == error.alias), "")) from None
        named = {
            f"{table.alias}.{name}": f"{table.name}.{name}"
            for table in tables
            for name in database.columns_of(table.name)
        }
        view = replace(view, description=dataset.description.qualified(named))
        return view, text.statement(_qualified(view, tables), per_unit=per_unit)
    elif len(tables) > 1:
        raise BadFilter(
            f"this dataset is one table ({tables[1].position})",
            given=f"JOIN {tables[1].name}",
            fix='open the database with its links: ln.open("shop.duckdb", privacy_unit="customers.id", links={…})',
        )
    elif not re.fullmatch(r"[\w .-]+", tables[0].name):
        raise BadFilter(f"this names no table ({tables[0].position})", given=tables[0].name, fix="write FROM people")
    else:
        view = dataset
    alias = tables[0].alias

    def resolve(parts: tuple[str, ...]) -> str | None:
        name = ".".join(parts[1:] if len(parts) > 1 and parts[0] == alias else parts)
        return name if name in view.columns else None

    return view, text.statement(resolve, per_unit=per_unit)


def _source(table: FromTable, before: Sequence[FromTable], database: _Tables) -> Source:
    """A table of FROM; `USING (c)` names the column c of the tables before, which are one where they were joined so.

    That one is the first of them: it is there also where a LEFT JOIN found no partner in the others.
    """

    def told(alias: str, column: str) -> tuple[str, str]:
        if alias:
            return alias, column
        merged = [each.alias for each in before if ("", column) in (one for one, _ in each.on)]
        having = [
            each.alias for each in before if column in database.columns_of(each.name) and each.alias not in merged
        ]
        if len(having) > 1:
            written = " or ".join(f"{each}.{column} = {table.alias}.{column}" for each in having)
            raise BadFilter(
                f"several tables have this column ({table.position})", given=column, fix=f"write ON {written}"
            )
        return (having or [before[-1].alias])[-1], column

    return Source(table.name, table.alias, tuple((told(*one), told(*other)) for one, other in table.on), table.left)


def _qualified(view: Dataset, tables: Sequence[FromTable]) -> Callable[[tuple[str, ...]], str | None]:
    def resolve(parts: tuple[str, ...]) -> str | None:
        if len(parts) > 1:
            return ".".join(parts) if ".".join(parts) in view.columns else None
        found = [name for table in tables if (name := f"{table.alias}.{parts[0]}") in view.columns]
        if len(found) > 1:
            raise BadFilter("several tables have this column", given=parts[0], fix=f"write {' or '.join(found)}")
        return found[0] if found else parts[0] if parts[0] in view.columns else None  # as errors and records write it

    return resolve


def _per_unit(view: Dataset, inner: Statement, table: FromTable) -> Dataset:
    """A subquery that groups by the unit is one row per unit; any other one looks across units."""
    unit = view.contribution.privacy_unit
    names = [item.what.column for item in inner.items if isinstance(item.what, Name)]
    grouped = len(inner.group_by) == 1 and _is_column(inner.group_by[0], unit)
    if not grouped or names not in ([], [unit]) or inner.having is not None or inner.order_by:
        raise BadFilter(
            f"a subquery groups by the privacy unit, and selects it and features of its rows ({table.position})",
            given=table.alias,
            fix=f"select {unit}, COUNT(*) AS n, and group by {unit}",
        )
    if inner.limit is not None or inner.offset:
        raise BadFilter(f"a subquery has no LIMIT ({table.position})", fix="leave it out: it would look across units")
    features = {item.name: str(item.what) for item in inner.items if isinstance(item.what, Aggregate)}
    return view.per_unit(features, inner.where)


class _Questions:
    """From a statement to the questions of a dataset."""

    def __init__(self, view: Dataset, statement: Statement) -> None:
        self._statement, types = statement, view.table.types
        self._groups = [typed_term(term, types) for term in statement.group_by]
        self._where = None if statement.where is None else typed(statement.where, types)
        self._items = [(item, self._typed(item, types)) for item in statement.items]
        terms = [*self._groups, *(term for _, what in self._items for term in _values(what))]
        self._names = {str(term): term.column for term in terms if isinstance(term, Name)}
        derived, taken = dict[str, str](), {engine_name(name) for name in view.columns}
        for text in dict.fromkeys(str(term) for term in terms if not isinstance(term, Name)):
            self._names[text] = name = _derived_name(text, taken)
            derived[name] = text
            taken.add(engine_name(name))
        self.dataset = view.with_columns(derived) if derived else view

    def made(self) -> tuple[Query, ...]:
        """One question for each aggregate."""
        for item, what in self._items:
            if not isinstance(what, Aggregate) and what not in self._groups:
                raise BadFilter(
                    f"{item.name} is no aggregate and not in GROUP BY ({item.position})",
                    given=str(item.what),
                    fix=f"add GROUP BY {item.what}, or count it: COUNT({item.what})",
                )
        aggregates = [what for _, what in self._items if isinstance(what, Aggregate)]
        if not aggregates:
            raise BadFilter("nothing is counted or added up", fix="select an aggregate: COUNT(*)")
        by, where = self._breakdown()
        found = list[Query]()
        for what in aggregates:
            try:
                if "keys" not in by and "bins" not in by and by and any(name for name in by["by"]):
                    self._require_countable(aggregates, by["by"])
                found.append(self._question(what, by, where))
            except (InputError, LimitError) as error:
                raise error.located(what.position) from None
        return tuple(found)

    @property
    def places(self) -> dict[str, int]:
        """Where in GROUP BY each item is that is no aggregate: the same value, however its literals are written."""
        return {item.name: self._groups.index(what) for item, what in self._items if not isinstance(what, Aggregate)}

    def kinds(self, query: Query) -> dict[str, Kind]:
        """What the columns of the answer hold: keys as their columns, bins text, and numbers."""
        binned = {axis.column for axis in query.broken_down_by if not hasattr(axis, "keys")}
        found = dict[str, Kind]()
        for item, what in self._items:
            if isinstance(what, Aggregate):
                made = dict.fromkeys((item.name, f"{item.name}_low", f"{item.name}_high"), Kind.REAL)
            else:
                name = self._name(what)
                made = {item.name: Kind.TEXT if name in binned else self.dataset.table.columns[name]}
            if shared := made.keys() & found.keys():
                raise BadFilter(
                    f"two columns of the answer would have one name ({item.position})",
                    given=min(shared),
                    fix="name one otherwise: an aggregate n has its error bars in n_low and n_high",
                )
            found |= made
        return found

    def _typed(self, item: Item, types: Mapping[str, Any]) -> Term | Aggregate:
        if isinstance(item.what, Aggregate):
            return replace(item.what, arguments=tuple(typed_term(term, types) for term in item.what.arguments))
        return typed_term(item.what, types)

    def _name(self, term: Term) -> str:
        return self._names[str(term)]

    def _breakdown(self) -> tuple[dict[str, Any], Predicate | None]:
        """The arguments by, keys and bins, and what is left of the filter."""
        if not self._groups:
            return {}, self._where
        parts = (
            list(self._where.parts) if isinstance(self._where, And) else [] if self._where is None else [self._where]
        )
        keys, bins = dict[str, Any](), dict[str, Any]()
        known = self.dataset.description
        for term in self._groups:
            name = self._name(term)
            listing = next((part for part in parts if _lists(part, term)), None)
            if listing is not None:
                parts.remove(listing)
                keys[name] = _listed(listing)
            elif name in known.keys:
                keys[name] = known.keys[name]
            elif name in known.bins:
                bins[name] = known.bins[name]
            elif (own := _own_keys(term)) is not None:
                keys[name] = own
        where = None if not parts else parts[0] if len(parts) == 1 else And.of(*parts)
        listed: dict[str, Any] = {"by": [self._name(term) for term in self._groups]}
        bare = [name for name in listed["by"] if name not in keys and name not in bins and not self._is_boolean(name)]
        if bare and (keys or bins):
            raise BadParameter(
                "either all groups have public keys or bins, or none has",
                given=bare[0],
                fix=f"add to WHERE for example: {bare[0]} IN ('a', 'b')",
            )
        listed |= {"keys": keys} if keys else {}
        listed |= {"bins": bins} if bins else {}
        return listed, where

    def _is_boolean(self, name: str) -> bool:
        return self.dataset.table.columns[name] is Kind.BOOLEAN

    def _require_countable(self, aggregates: list[Aggregate], by: list[str]) -> None:
        """Refuse all but one count of units where keys are not known."""
        bare = [name for name in by if not self._is_boolean(name)]
        counts = len(aggregates) == 1 and aggregates[0].name == "count" and not _of_values(aggregates[0], self.dataset)
        if bare and counts and not aggregates[0].distinct and self.dataset.contribution.rows_per_unit > 1:
            unit = self.dataset.contribution.privacy_unit
            raise BadParameter(
                "by keys that are not known in advance units are counted, not rows",
                given=str(aggregates[0]),
                fix=f"write COUNT(DISTINCT {unit}), or list the keys in WHERE: {bare[0]} IN ('a', 'b')",
            )
        if bare and not counts:
            raise BadParameter(
                f"the values of {bare[0]} that may show are not known, and they must not be taken from the data",
                given=str(aggregates[0]),
                fix=f"write WHERE {bare[0]} IN ('a', 'b'), or ask for COUNT(DISTINCT unit) alone, with a δ",
            )

    def _question(self, what: Aggregate, by: Mapping[str, Any], where: Predicate | None) -> Query:
        dataset, name = self.dataset, what.name
        if name == "count":
            return self._count(what, by, where)
        value, level = (what.arguments[0], None)
        if len(what.arguments) == 2:
            first, second = what.arguments
            value, level = (second, first) if name == "percentile_cont" else (first, second)
        if name in ("median", "percentile_cont", "quantile", "quantile_cont"):
            if level is not None and not (isinstance(level, Literal) and type_of(level).kind.numeric):
                raise BadFilter(
                    f"the level is a number from 0 to 1 ({what.position})", given=str(level), fix="write 0.5"
                )
            asked = Fraction(1, 2) if level is None else _number(level)
            column, scale = self._scale(value, what)
            return dataset.quantile(column, asked, where=where, **scale, **by)
        column, scale = self._scale(value, what)
        if name == "sum":
            return dataset.sum(column, where=where, **scale, **by)
        if name in ("avg", "mean"):
            return dataset.mean(column, where=where, **scale, **by)
        return dataset.variance(column, where=where, **scale, **by)

    def _count(self, what: Aggregate, by: Mapping[str, Any], where: Predicate | None) -> Query:
        dataset = self.dataset
        of: str | None = None  # as `count` decides: units, unless rows per unit are given
        if what.arguments:
            (value,) = what.arguments
            unit = dataset.contribution.privacy_unit
            if what.distinct:
                if not _is_column(value, unit):
                    raise BadFilter(
                        f"different values of {value} can't be counted ({what.position})",
                        given=str(what),
                        fix="count units: COUNT(DISTINCT "
                        + (f"{unit})" if unit else "…) needs a privacy unit")
                        + ", or group by public keys",
                    )
                of = "units"
            else:
                there = ~IsMissing(value)
                where = there if where is None else And.of(where, there)
        return dataset.count(where=where, of=of, **by)

    def _scale(self, value: Term, what: Aggregate) -> tuple[str, dict[str, Any]]:
        """The column that is added up or ranked, with bounds and step."""
        known = self.dataset.description
        bounds: tuple[NumberLike, NumberLike] | None = None
        if isinstance(value, Function) and value.name == "clamp":
            low, high = (_number(bound) for bound in value.arguments[1:])
            value, bounds = value.arguments[0], (low, high)
        name = self._name(value)
        kind, limits = type_of(value)
        if not kind.numeric:
            raise BadFilter(f"{what.name.upper()} takes numbers ({what.position})", given=str(value), fix="use COUNT")
        if bounds is None:
            bounds = known.bounds.get(name)
        if bounds is None and not isinstance(value, Name) and limits is not None and 0 < limits[1] - limits[0] <= _FEW:
            bounds = limits
        if bounds is None:
            raise BadParameter(
                f"public bounds are missing ({what.position}): one row could change the answer without limit",
                given=str(what),
                fix=f"write {what.name}(CLAMP({value}, 0, 100)) with bounds that are not taken from the data",
            )
        step = known.steps.get(name)
        return name, {"bounds": bounds} | ({"step": step} if step is not None else {})


def _derived_name(text: str, taken: Collection[str]) -> str:
    """What the column of an expression is called: its text, behind a number where an engine could take it for another.

    Two texts may differ in capitals alone, `city = 'Bonn'` and `city = 'bonn'`, or far behind; and a table may have a
    column that is called like a formula, as `CREATE TABLE … AS SELECT lower(city)` makes one.
    """
    shown = text if text.isprintable() else ascii(text)
    names = (f"({number}) {shown}" if number > 1 else shown for number in count(1))
    return next(name for name in names if engine_name(name) not in taken)


def _values(what: Term | Aggregate) -> list[Term]:
    """The values that columns are made for: of an aggregate what is added up or ranked, without CLAMP and levels."""
    if not isinstance(what, Aggregate):
        return []
    if what.name == "count":
        return []
    value = what.arguments[1 if what.name == "percentile_cont" else 0]
    return [value.arguments[0] if isinstance(value, Function) and value.name == "clamp" else value]


def _of_values(what: Aggregate, dataset: Dataset) -> bool:
    """Whether a count looks at values, and not at rows or units."""
    unit = dataset.contribution.privacy_unit
    return bool(what.arguments) and not (what.distinct and _is_column(what.arguments[0], unit))


def _is_column(term: Term, name: str | None) -> bool:
    return isinstance(term, Name) and term.column == name


def _number(term: Term) -> Fraction:
    value = term.value if isinstance(term, Literal) else 0
    return Fraction(value) if isinstance(value, int | Decimal) else Fraction(0)


def _lists(part: Predicate, term: Term) -> bool:
    """Whether a part of WHERE lists the values of a group."""
    if isinstance(part, IsIn):
        return part.term == term
    return (
        isinstance(part, ComparisonTest)
        and part.operator == "="
        and part.left == term
        and isinstance(part.right, Literal)
    )


def _listed(part: Predicate) -> list[Hashable]:
    literals = part.values if isinstance(part, IsIn) else [part.right] if isinstance(part, ComparisonTest) else []
    return list(dict.fromkeys(literal.value for literal in literals if isinstance(literal, Literal)))


def _own_keys(term: Term) -> list[Hashable] | None:
    """The values that a formula can have, where they are few."""
    if isinstance(term, Name | Literal):
        return None
    if isinstance(term, Case) and all(isinstance(branch, Literal) for branch in term.branches):
        values: list[Hashable] = [branch.value for branch in term.branches if isinstance(branch, Literal)]
        return list(dict.fromkeys([*values, *([None] if term.otherwise is None else [])]))
    limits = type_of(term).limits
    return None if limits is None or limits[1] - limits[0] >= _FEW else list(range(limits[0], limits[1] + 1))


def _measures(item: Item, table: TidyTable) -> dict[str, tuple[Any, ...]]:
    """The value of an aggregate under its name, and its bars as name_low and name_high."""
    value, *bars = measure_names(table.keys)
    named = {value: item.name} | {bar: f"{item.name}_{short}" for bar, short in zip(bars, ("low", "high"), strict=True)}
    found = {named[name]: table[name] for name in table.measures if name in named}
    if isinstance(item.what, Aggregate) and item.what.name.startswith("stddev"):
        return {name: tuple(None if x is None else sqrt(max(x, 0)) for x in values) for name, values in found.items()}
    return found
