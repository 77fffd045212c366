"""A filter or an expression as SQL: every value bound, every test TRUE or FALSE, and nothing an engine could fail on.

The text is written over the *plain form* of the columns (`leastnoise.data.columns`). It uses comparisons, IN, CASE,
NULLIF, COALESCE, arithmetic on doubles and on whole numbers inside a safe range, casts of what was brought into the
range of their type before, and the few functions of a `Dialect`. A value is NULL where it is missing, and never NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from math import ceil, floor
from typing import cast

from leastnoise.data.columns import Kind, whole_range
from leastnoise.data.dialect import Dialect, Fragment, bound, join, sql
from leastnoise.data.predicates.evaluate import DATE_TEXT, REAL_TEXT, WHOLE_TEXT, holds
from leastnoise.data.predicates.expressions import Case, Cast, DatePart, Function, Truncated, Truth
from leastnoise.data.predicates.functions import Range
from leastnoise.data.predicates.nodes import (
    DECIMAL_REACH,
    OPERAND_REACH,
    And,
    Calculation,
    ComparisonTest,
    Constant,
    IsIn,
    IsMissing,
    Literal,
    Name,
    Not,
    Or,
    Predicate,
    Remainder,
    Term,
    TextTest,
)
from leastnoise.data.predicates.typecheck import compares_whole, is_exact, kind_of, type_of

__all__ = ["to_sql", "value_sql"]

_MIRROR = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def to_sql(predicate: Predicate, dialect: Dialect) -> Fragment:
    """The (typed) filter in one engine's words, in parentheses or a function call so that it can stand anywhere."""
    match predicate:
        case ComparisonTest(symbol, left, right):
            return _comparison(symbol, left, right, dialect)
        case IsIn(term, values):
            return _membership(term, values, dialect)
        case TextTest(test, term, text):
            return _surely(dialect.text_test(test, value_sql(term, dialect), text))
        case IsMissing(term):
            return "(" + value_sql(term, dialect) + " IS NULL)"
        case And(parts):
            return "(" + join(" AND ", [to_sql(part, dialect) for part in parts]) + ")"
        case Or(parts):
            return "(" + join(" OR ", [to_sql(part, dialect) for part in parts]) + ")"
        case Not(part):
            return "(NOT " + to_sql(part, dialect) + ")"
        case _:
            return sql("TRUE" if cast(Constant, predicate).value else "FALSE")


def _surely(test: Fragment) -> Fragment:
    """A test that is false where the engine says NULL."""
    return "COALESCE(" + test + ", FALSE)"


def _comparison(symbol: str, left: Term, right: Term, dialect: Dialect) -> Fragment:
    if isinstance(left, Literal) and isinstance(right, Literal):  # text would be in the order of the database
        return sql("TRUE" if holds(ComparisonTest(symbol, left, right), {}) else "FALSE")
    if not kind_of(left).numeric:
        return _surely(value_sql(left, dialect) + f" {symbol} " + value_sql(right, dialect))
    if not compares_whole(left, right):
        return _surely(_double(left, dialect) + f" {symbol} " + _double(right, dialect))
    if isinstance(left, Literal):
        left, symbol, right = right, _MIRROR[symbol], left
    if isinstance(right, Literal) and isinstance(right.value, Decimal):
        return _against_fraction(symbol, left, right.value, dialect)
    return _surely(value_sql(left, dialect) + f" {symbol} " + value_sql(right, dialect))


def _against_fraction(symbol: str, term: Term, fraction: Decimal, dialect: Dialect) -> Fragment:
    """A whole number against a number that is none: x < 2.5 is x <= 2, and x = 2.5 never holds."""
    if symbol == "=":
        return sql("FALSE")
    if symbol == "!=":
        return "(" + value_sql(term, dialect) + " IS NOT NULL)"
    below = symbol in ("<", "<=")
    nearest = Literal(floor(fraction) if below else ceil(fraction))
    return _surely(value_sql(term, dialect) + (" <= " if below else " >= ") + value_sql(nearest, dialect))


def _membership(term: Term, values: tuple[Literal, ...], dialect: Dialect) -> Fragment:
    if not kind_of(term).numeric:
        return _among(value_sql(term, dialect), [value_sql(value, dialect) for value in values])
    if kind_of(term) is Kind.INTEGER:
        whole = [value for value in values if not isinstance(value.value, Decimal)]
        return (
            _among(value_sql(term, dialect), [value_sql(value, dialect) for value in whole]) if whole else sql("FALSE")
        )
    # Adding zero makes -0.0 the same as 0.0 also for an engine that looks values up by their bits.
    return _among("(" + _double(term, dialect) + " + 0)", [_double(value, dialect) for value in values])


def _among(value: Fragment, values: list[Fragment]) -> Fragment:
    return _surely(value + " IN (" + join(", ", values) + ")")


Writer = Callable[[Term, Dialect], Fragment]


def value_sql(term: Term, dialect: Dialect) -> Fragment:
    """A (typed) term in its own kind, NULL where it is missing; numbers that are not whole as doubles."""
    kind = kind_of(term)
    if kind in (Kind.REAL, Kind.DECIMAL):
        return _double(term, dialect)
    match term:
        case Literal(value):
            return _literal(value, dialect)
        case Name(column):
            return sql(dialect.quote(column))
        case Remainder(inner, divisor):
            return f"mod({divisor} + mod(" + value_sql(inner, dialect) + f", {divisor}), {divisor})"
        case Calculation(symbol, left, right):
            return "(" + value_sql(left, dialect) + f" {symbol} " + value_sql(right, dialect) + ")"
        case DatePart(part, inner):
            return f"CAST({dialect.date_parts.get(part, part)} " + value_sql(inner, dialect) + f") AS {dialect.long})"
        case Truncated(unit, inner):
            return dialect.first_day(unit, "CAST(" + value_sql(inner, dialect) + " AS DATE)")
        case Truth(condition):
            return to_sql(condition, dialect)
        case Cast(inner, to):
            return _cast_to(inner, to, dialect)
    if kind is Kind.INTEGER:
        return _chosen_whole(term, dialect)
    found = _chosen(term, dialect, value_sql)
    return "(" + found + f" COLLATE {dialect.binary_collation})" if kind is Kind.TEXT else found


def _chosen(term: Term, dialect: Dialect, write: Writer) -> Fragment:
    """CASE and functions, of values that `write` writes in the kind of the result."""
    if isinstance(term, Case):
        pairs = zip(term.conditions, term.results, strict=True)
        whens = join("", [" WHEN " + to_sql(test, dialect) + " THEN " + write(value, dialect) for test, value in pairs])
        last = "" if term.otherwise is None else " ELSE " + write(term.otherwise, dialect)
        return "(CASE" + whens + last + " END)"
    name, arguments = cast(Function, term).name, cast(Function, term).arguments
    first = arguments[0]
    match name:
        case "coalesce" | "least" | "greatest":
            return f"{name}(" + join(", ", [write(argument, dialect) for argument in arguments]) + ")"
        case "nullif":
            equal = _comparison("=", first, arguments[1], dialect)
            return "(CASE WHEN NOT " + equal + " THEN " + write(first, dialect) + " END)"
        case "clamp":
            value, low, high = (write(argument, dialect) for argument in arguments)
            within = "least(greatest(" + value + ", " + low + "), " + high + ")"
            return "(CASE WHEN " + value + " IS NOT NULL THEN " + within + " END)"
        case "abs":
            return "abs(" + write(first, dialect) + ")"
        case "floor" | "ceil" | "round":
            return write(first, dialect) if kind_of(first) is Kind.INTEGER else _rounded(name, first, dialect)
        case "left":
            return "left(" + value_sql(first, dialect) + f", {cast(Literal, arguments[1]).value})"
        case "length":
            return "CAST(length(" + value_sql(first, dialect) + f") AS {dialect.long})"
        case "trim":
            return dialect.without_spaces(value_sql(first, dialect))
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    both = (letters, letters.lower()) if name == "lower" else (letters.lower(), letters)
    return "translate(" + value_sql(first, dialect) + f", '{both[0]}', '{both[1]}')"


def _chosen_whole(term: Term, dialect: Dialect) -> Fragment:
    """All parts in one type that holds each of them, and only the result of `clamp` in a narrower one."""
    own = type_of(term).limits
    if not isinstance(term, Function) or term.name != "clamp":
        return _chosen(term, dialect, lambda part, words: _whole(part, own, words))
    parts = [cast(Range, type_of(argument).limits) for argument in term.arguments]
    common = min(low for low, _ in parts), max(high for _, high in parts)
    found = _chosen(term, dialect, lambda part, words: _whole(part, common, words))
    narrow = _whole_type(own, dialect)
    return found if narrow == _whole_type(common, dialect) else "CAST(" + found + f" AS {narrow})"


def _whole_type(limits: Range | None, dialect: Dialect) -> str:
    low, high = whole_range(64)
    return dialect.long if limits is not None and low <= limits[0] <= limits[1] <= high else dialect.wide


def _whole(term: Term, limits: Range | None, dialect: Dialect) -> Fragment:
    """A whole number in a type that holds a range: the CAST widens, or narrows what is provably in range."""
    own, wanted = type_of(term).limits, _whole_type(limits, dialect)
    value = value_sql(term, dialect)
    return value if _whole_type(own, dialect) == wanted else "CAST(" + value + f" AS {wanted})"


def _rounded(name: str, term: Term, dialect: Dialect) -> Fragment:
    """Clamped to ±2^53 first, so that the cast can't fail; the ends, which NULL gives too, are then missing."""
    end = dialect.number(2.0**53)
    near = "least(greatest(" + _double(term, dialect) + f", -{end}), {end})"
    inner = f"floor({{}} + {dialect.number(0.5)})" if name == "round" else f"{name}({{}})"
    before, after = inner.split("{}")
    whole = f"CAST({before}" + near + f"{after} AS {dialect.long})"
    return "NULLIF(NULLIF(" + whole + f", {dialect.number(2**53)}), {dialect.number(-(2**53))})"


def _cast_to(inner: Term, to: Kind, dialect: Dialect) -> Fragment:
    """A cast to all kinds but REAL."""
    kind = kind_of(inner)
    if kind is to:
        return value_sql(inner, dialect)
    if kind is Kind.TEXT:
        return _from_text(
            inner, *{Kind.INTEGER: (WHOLE_TEXT, dialect.long), Kind.DATE: (DATE_TEXT, "DATE")}[to], dialect
        )
    value = value_sql(inner, dialect)
    if kind is Kind.BOOLEAN:
        yes, no = ("'true'", "'false'") if to is Kind.TEXT else (dialect.number(1), dialect.number(0))
        found = "(CASE WHEN " + value + f" THEN {yes} WHEN NOT " + value + f" THEN {no} END)"
        return "(" + found + f" COLLATE {dialect.binary_collation})" if to is Kind.TEXT else found
    if to is Kind.INTEGER:
        return _rounded("round", inner, dialect)
    if to is Kind.TEXT:
        return "(CAST(" + value + f" AS {dialect.text}) COLLATE {dialect.binary_collation})"
    return "CAST(" + value + f" AS {'DATE' if to is Kind.DATE else dialect.timestamp})"


def _from_text(term: Term, shape: str, type_: str, dialect: Dialect) -> Fragment:
    """Text of a shape as another type, NULL where it has another shape: what is cast always has the right one."""
    text = value_sql(term, dialect)
    fits = "CASE WHEN " + dialect.has_shape(text, shape) + " THEN " + text + " END"
    return f"{dialect.try_cast}(" + fits + f" AS {type_})"


def _literal(value: object, dialect: Dialect) -> Fragment:
    match value:
        case bool():
            return sql("TRUE" if value else "FALSE")
        case int() if abs(value) < 2**63:
            return _cast(value, dialect.long)
        case int():
            return _cast(str(value), dialect.wide)
        case Decimal():
            return _cast(float(value), dialect.real)
        case datetime():
            return _cast(value.isoformat(" "), dialect.timestamp)
        case date():
            return _cast(value.isoformat(), "DATE")
        case _:
            return _cast(value, dialect.text)


def _cast(value: object, to: str) -> Fragment:
    return "CAST(" + bound(value) + f" AS {to})"


def _double(term: Term, dialect: Dialect) -> Fragment:
    """A number as a double, NULL where it is missing."""
    kind = kind_of(term)
    match term:
        case Literal(value):
            return _cast(float(cast(Decimal, value)), dialect.real)
        case Name(column) if kind is not Kind.INTEGER:
            return _double_column(dialect.quote(column), kind, dialect)
        case _ if kind is Kind.INTEGER:
            return "CAST(" + value_sql(term, dialect) + f" AS {dialect.real})"
        case Calculation(symbol, left, right):
            divisor = _operand(right, dialect)
            divisor = "NULLIF(" + divisor + ", 0)" if symbol == "/" else divisor
            return "(" + _operand(left, dialect) + f" {symbol} " + divisor + ")"
        case Cast(inner):
            if kind_of(inner) is Kind.TEXT:
                return _from_text(inner, REAL_TEXT, dialect.real, dialect)
            return _double(inner, dialect)
    return _chosen(term, dialect, _double)


def _double_column(name: str, kind: Kind, dialect: Dialect) -> Fragment:
    as_double = f"CAST({name} AS {dialect.real})"
    if kind is Kind.DECIMAL and not dialect.any_decimal:
        return sql(as_double)
    missing = f"WHEN {dialect.not_a_number(name)} THEN NULL"
    if kind is Kind.REAL:
        return sql(f"CASE {missing} ELSE {as_double} END")
    # Decimals of any size reach further than doubles, and the cast would fail there.
    most, least = f"1e{DECIMAL_REACH}", f"1e-{DECIMAL_REACH}"
    return sql(
        f"CASE {missing} WHEN {name} > {most} THEN {most} WHEN {name} < -{most} THEN -{most} "
        f"WHEN abs({name}) < {least} THEN 0 ELSE {as_double} END"
    )


def _operand(term: Term, dialect: Dialect) -> Fragment:
    """A number as it enters a calculation: a column's value is first brought into ±[10^-30, 10^30] or to zero.

    What CASE and functions choose from is brought there before they choose: it comes to the same.
    """
    if is_exact(type_of(term).limits) or isinstance(term, Literal | Calculation):
        return _double(term, dialect)
    if isinstance(term, Case | Function):
        return _chosen(term, dialect, _operand)
    if isinstance(term, Cast) and kind_of(term.term) is not Kind.TEXT:
        return _operand(term.term, dialect)
    number = _double(term, dialect)
    most, least = dialect.number(10.0**OPERAND_REACH), dialect.number(10.0**-OPERAND_REACH)
    return (
        "(CASE WHEN "
        + number
        + f" > {most} THEN {most} WHEN "
        + number
        + f" < -{most} THEN -{most} WHEN abs("
        + number
        + f") < {least} THEN 0 ELSE "
        + number
        + " END)"
    )
