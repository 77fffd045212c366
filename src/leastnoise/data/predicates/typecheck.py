"""Check a filter or an expression against a schema before any data is touched: names, kinds, that nothing overflows.

Whole numbers keep a range that is proven from the formula and the types of the columns. Arithmetic stays whole where
the operands and the result lie within ±(2^53 − 1): there doubles, in which it is defined, are exact. All else is REAL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from math import ceil, floor, log10
from typing import cast

from leastnoise.data.columns import Column, Kind, whole_range
from leastnoise.data.predicates.expressions import Case, Cast, DatePart, Function, Truncated, Truth
from leastnoise.data.predicates.functions import DATE_PARTS, EXACT, FUNCTIONS, LENGTH, Range, Type
from leastnoise.data.predicates.nodes import (
    MAX_LITERAL,
    OPERAND_REACH,
    RESULT_REACH,
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
from leastnoise.errors import BadFilter, InputError, UnknownColumn
from leastnoise.model import suggest

__all__ = ["Schema", "compares_whole", "is_exact", "kind_of", "type_of", "typed", "typed_term"]

Schema = Mapping[str, Kind] | Mapping[str, Column]
"""What the columns hold; a `Column` also says how large its whole numbers can be."""

_ORDER = ("<", "<=", ">", ">=")
_CASTS: Mapping[Kind, tuple[Kind, ...]] = {
    Kind.INTEGER: (Kind.INTEGER, Kind.REAL, Kind.DECIMAL, Kind.TEXT, Kind.BOOLEAN),
    Kind.REAL: (Kind.INTEGER, Kind.REAL, Kind.DECIMAL, Kind.TEXT),
    Kind.TEXT: (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE),
    Kind.DATE: (Kind.DATE, Kind.TIMESTAMP, Kind.TEXT),
    Kind.TIMESTAMP: (Kind.DATE, Kind.TIMESTAMP),
}
"""From which kinds a kind can be cast."""
MOST_DIGITS = 15
"""Of a whole number, or before and after the point, in text that is cast."""


def typed(predicate: Predicate, columns: Schema) -> Predicate:
    """The same filter with the kind of every column filled in and every literal of the kind it is compared with."""
    try:
        return _typed(predicate, columns)
    except InputError as error:
        raise error.located(predicate.position) from None


def typed_term(term: Term, columns: Schema) -> Term:
    """The same for a value."""
    try:
        return _typed_term(term, columns)
    except InputError as error:
        raise error.located(term.position) from None


def _typed(predicate: Predicate, columns: Schema) -> Predicate:
    match predicate:
        case ComparisonTest(operator, left, right):
            left, right = typed_term(left, columns), typed_term(right, columns)
            left, right = _fitted(left, right), _fitted(right, left)
            _same_kind(left, right, operator)
            return ComparisonTest(operator, left, right)
        case IsIn(term, values):
            term = typed_term(term, columns)
            fitted = tuple(cast(Literal, _fitted(value, term)) for value in values)
            for value in fitted:
                _same_kind(term, value, "=")
            return IsIn(term, fitted)
        case TextTest(test, term, text):
            term = typed_term(term, columns)
            if kind_of(term) is not Kind.TEXT:
                raise BadFilter(
                    f"{test} asks about text", given=_described(term), fix="compare other kinds with = < > or IN"
                )
            return TextTest(test, term, text)
        case IsMissing(term):
            return IsMissing(typed_term(term, columns))
        case And(parts):
            return And(tuple(typed(part, columns) for part in parts))
        case Or(parts):
            return Or(tuple(typed(part, columns) for part in parts))
        case Not(part):
            return Not(typed(part, columns))
        case _:
            return cast(Constant, predicate)


def _typed_term(term: Term, columns: Schema) -> Term:
    match term:
        case Name(column):
            kind, limits = _known(column, columns)
            return Name(column, kind, limits)
        case Calculation(operator, left, right):
            checked = Calculation(operator, typed_term(left, columns), typed_term(right, columns))
            _reach(checked)
            return checked
        case Remainder(inner, divisor):
            inner = typed_term(inner, columns)
            if kind_of(inner) is not Kind.INTEGER or isinstance(inner, Literal):
                raise BadFilter(
                    "a remainder is taken of whole numbers",
                    given=_described(inner),
                    fix="write for example id % 10 = 3",
                )
            return Remainder(inner, divisor)
        case Case(conditions, results, otherwise):
            tests = tuple(typed(condition, columns) for condition in conditions)
            branches = results if otherwise is None else (*results, otherwise)
            agreed = _agreed([typed_term(branch, columns) for branch in branches], "the results of CASE")
            return Case(tests, agreed[: len(results)], None if otherwise is None else agreed[-1])
        case Function(name, arguments):
            return _function(name, [typed_term(argument, columns) for argument in arguments])
        case DatePart(part, inner):
            inner = typed_term(inner, columns)
            timed = part in ("hour", "minute")
            if kind_of(inner) is not Kind.TIMESTAMP and (timed or kind_of(inner) is not Kind.DATE):
                wanted = "a time" if timed else "a date or a time"
                fix = "name a column of times" if timed else "cast it: CAST(x AS DATE)"
                raise BadFilter(f"{part} is a part of {wanted}", given=_described(inner), fix=fix)
            return DatePart(part, inner)
        case Truncated(unit, inner):
            inner = typed_term(inner, columns)
            if kind_of(inner) not in (Kind.DATE, Kind.TIMESTAMP):
                raise BadFilter("date_trunc takes a date or a time", given=_described(inner), fix="cast it to DATE")
            return Truncated(unit, inner)
        case Cast(inner, to):
            inner = typed_term(inner, columns)
            if kind_of(inner) not in _CASTS.get(to, ()):
                raise BadFilter(
                    f"{kind_of(inner).value} is not cast to {to.value}",
                    given=_described(inner),
                    fix="cast to INTEGER, REAL, TEXT, DATE or TIMESTAMP what can be one",
                )
            return Cast(inner, to)
        case Truth(condition):
            return Truth(typed(condition, columns))
    return term


def kind_of(term: Term) -> Kind:
    """The kind of a typed term; a literal that is no whole number is REAL."""
    return type_of(term).kind


def type_of(term: Term) -> Type:
    """The kind of a typed term, and the range of whole numbers.

    >>> ages = {"age": Column("age", Kind.INTEGER, "UTINYINT", (0, 255))}
    >>> type_of(typed_term(Calculation("*", Name("age"), Literal(-2)), ages))
    Type(kind=<Kind.INTEGER: 'integer'>, limits=(-510, 0))
    """
    match term:
        case Name(column, kind, limits):
            if kind is None:
                raise BadFilter(
                    "the filter was not checked against the table yet", given=column, fix="call typed(columns) first"
                )
            return Type(kind, limits or whole_range(64)) if kind is Kind.INTEGER else Type(kind)
        case Literal(value):
            kind = next(kind for types, kind in _LITERALS if isinstance(value, types))
            return Type(kind, (cast(int, value), cast(int, value))) if kind is Kind.INTEGER else Type(kind)
        case Remainder(_, divisor):
            return Type(Kind.INTEGER, (0, divisor - 1))
        case Calculation(operator, left, right):
            limits = _whole_result(operator, type_of(left).limits, type_of(right).limits)
            return Type(Kind.REAL) if limits is None else Type(Kind.INTEGER, limits)
        case Case():
            return _joined(term.branches)
        case Function():
            return _function_type(term)
        case DatePart(part):
            return Type(Kind.INTEGER, DATE_PARTS[part])
        case Truncated():
            return Type(Kind.DATE)
        case Cast(inner, to):
            return _cast_type(type_of(inner), to)
    return Type(Kind.BOOLEAN)


_LITERALS: tuple[tuple[type, Kind], ...] = (
    (bool, Kind.BOOLEAN),
    (int, Kind.INTEGER),
    (Decimal, Kind.REAL),
    (str, Kind.TEXT),
    (datetime, Kind.TIMESTAMP),
    (date, Kind.DATE),
)


def compares_whole(left: Term, right: Term) -> bool:
    """Whether two numbers are compared as exact whole numbers (a literal may still be a fraction), or as doubles."""
    whole = [kind_of(term) is Kind.INTEGER for term in (left, right)]
    return all(whole) or any(
        mine and isinstance(other, Literal) for mine, other in zip(whole, (right, left), strict=True)
    )


def is_exact(limits: Range | None) -> bool:
    """Whether doubles hold all whole numbers of a range, so that arithmetic may stay whole."""
    return limits is not None and EXACT[0] <= limits[0] <= limits[1] <= EXACT[1]


def _whole_result(operator: str, left: Range | None, right: Range | None) -> Range | None:
    if left is None or right is None or not is_exact(left) or not is_exact(right) or operator == "/":
        return None
    if operator == "+":
        found = left[0] + right[0], left[1] + right[1]
    elif operator == "-":
        found = left[0] - right[1], left[1] - right[0]
    else:
        corners = [x * y for x in left for y in right]
        found = min(corners), max(corners)
    return found if is_exact(found) else None


def _joined(terms: Sequence[Term]) -> Type:
    """The type that holds the values of all of these; decimals are doubles there."""
    found = [type_of(term) for term in terms]
    if not found[0].kind.numeric:
        return Type(found[0].kind)
    limits = [each.limits for each in found if each.limits is not None]
    if len(limits) < len(found):
        return Type(Kind.REAL)
    return Type(Kind.INTEGER, (min(low for low, _ in limits), max(high for _, high in limits)))


def _function_type(term: Function) -> Type:
    name, first = term.name, type_of(term.arguments[0])
    limits = first.limits
    if name in ("coalesce", "least", "greatest"):
        return _joined(term.arguments)
    if name == "nullif":
        return _joined(term.arguments[:1])
    if name == "clamp":
        bounds = [cast(Literal, bound).value for bound in term.arguments[1:]]
        if limits is None or not all(isinstance(bound, int) for bound in bounds):
            return Type(Kind.REAL)
        low, high = cast("list[int]", bounds)
        return Type(Kind.INTEGER, (min(max(limits[0], low), high), min(max(limits[1], low), high)))
    if name == "abs":
        if limits is None or max(map(abs, limits)) >= 2**64:  # the engine's widest type lacks the least one's opposite
            return Type(Kind.REAL)
        spans = limits[0] <= 0 <= limits[1]
        return Type(Kind.INTEGER, (0 if spans else min(map(abs, limits)), max(map(abs, limits))))
    if name in ("floor", "ceil", "round"):
        return first if first.kind is Kind.INTEGER else Type(Kind.INTEGER, EXACT)
    return Type(Kind.INTEGER, LENGTH) if name == "length" else Type(Kind.TEXT)


def _cast_type(inner: Type, to: Kind) -> Type:
    if to is not Kind.INTEGER:
        return Type(to)
    if inner.kind is Kind.INTEGER:
        return inner
    return Type(
        to, {Kind.TEXT: (1 - 10**MOST_DIGITS, 10**MOST_DIGITS - 1), Kind.BOOLEAN: (0, 1)}.get(inner.kind, EXACT)
    )


def _function(name: str, arguments: list[Term]) -> Term:
    shape = FUNCTIONS[name]
    example = f"write for example {shape.example}"
    if not shape.fewest <= len(arguments) <= shape.most:
        raise BadFilter(f"{name} takes another number of values", given=len(arguments), fix=example)
    if shape.takes == "text":
        if kind_of(arguments[0]) is not Kind.TEXT:
            raise BadFilter(f"{name} takes text", given=_described(arguments[0]), fix=example)
        count = arguments[1].value if name == "left" and isinstance(arguments[1], Literal) else 1
        if type(count) is not int or not 1 <= count <= 2**16 or (name == "left" and kind_of(arguments[1]) is Kind.TEXT):
            raise BadFilter("left takes a whole literal from 1 to 65536", fix=example)
        if name == "left" and not isinstance(arguments[1], Literal):
            raise BadFilter("left takes a whole literal from 1 to 65536", fix=example)
        return Function(name, tuple(arguments))
    if shape.takes == "numbers" and not all(kind_of(argument).numeric for argument in arguments):
        raise BadFilter(f"{name} takes numbers", given=_described(arguments[0]), fix=example)
    agreed = _agreed(arguments, f"the values of {name}")
    if shape.takes == "ordered" and kind_of(agreed[0]) in (Kind.TEXT, Kind.BOOLEAN):
        raise BadFilter(f"{name} takes numbers, dates or times", given=_described(agreed[0]), fix=example)
    if name == "clamp":
        low, high = agreed[1:]
        if not isinstance(low, Literal) or not isinstance(high, Literal) or low.value > high.value:  # type: ignore[operator]
            raise BadFilter("clamp takes a value and two literals that do not decrease", fix=example)
    return Function(name, agreed)


def _agreed(terms: list[Term], what: str) -> tuple[Term, ...]:
    """Values of one kind: literals are read as the kind of the others."""
    model = next((term for term in terms if not isinstance(term, Literal)), terms[0])
    fitted = tuple(_fitted(term, model) for term in terms)
    for term in fitted:
        kinds = kind_of(term), kind_of(model)
        if not (kinds[0] is kinds[1] or (kinds[0].numeric and kinds[1].numeric)):
            raise BadFilter(
                f"{what} are of different kinds", given=f"{_described(term)}, {_described(model)}", fix=_advice(kinds)
            )
    return fitted


def _known(column: str, columns: Schema) -> tuple[Kind, Range | None]:
    if column not in columns:
        raise UnknownColumn("the table has no such column", given=column, fix=suggest(column, columns, "column"))
    found = columns[column]
    kind, limits = (found.kind, found.limits) if isinstance(found, Column) else (found, None)
    if kind is Kind.OTHER:
        raise BadFilter(
            "this column's type can't be filtered on", given=column, fix="use a number, text, boolean or date column"
        )
    return kind, limits if kind is Kind.INTEGER else None


def _fitted(term: Term, other: Term) -> Term:
    """A literal read as the kind of what it is compared with: text as a date, a date as midnight."""
    if not isinstance(term, Literal):
        return term
    value, kind = term.value, kind_of(other)
    if isinstance(value, str) and kind in (Kind.DATE, Kind.TIMESTAMP):
        try:
            value = date.fromisoformat(value) if kind is Kind.DATE else datetime.fromisoformat(value)
        except ValueError:
            raise BadFilter(
                f"{_described(other)} is compared with text that is no {kind.value}",
                given=value,
                fix="write '2024-01-31'" if kind is Kind.DATE else "write '2024-01-31 12:00:00'",
            ) from None
        if isinstance(value, datetime) and value.tzinfo is not None:
            raise BadFilter("a timestamp in a filter has no time zone", given=term.value, fix="write it in UTC")
    if kind is Kind.TIMESTAMP and isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    return Literal(value)


def _same_kind(left: Term, right: Term, operator: str) -> None:
    kinds = kind_of(left), kind_of(right)
    if not (kinds[0] is kinds[1] or (kinds[0].numeric and kinds[1].numeric)):
        raise BadFilter(
            "a filter compares values of one kind",
            given=f"{_described(left)} {operator} {_described(right)}",
            fix=_advice(kinds),
        )
    if kinds[0] is Kind.BOOLEAN and operator in _ORDER:
        raise BadFilter("booleans have no order", given=f"{_described(left)} {operator} …", fix="use = or !=")
    if kinds[0].numeric and compares_whole(left, right):
        for literal in (left, right):
            if isinstance(literal, Literal) and not -MAX_LITERAL < cast(Decimal, literal.value) < MAX_LITERAL:
                raise BadFilter(
                    "a number compared with whole numbers has at most 37 digits",
                    given=str(literal.value)[:60],
                    fix="use a smaller bound: every value lies within it",
                )


def _advice(kinds: tuple[Kind, Kind]) -> str:
    if Kind.TEXT in kinds:
        return (
            "quotes make text: write 18 for a number and '18' for text; a column of a CSV is text until its kind is "
            'declared: columns={"age": "integer"}'
        )
    if Kind.BOOLEAN in kinds:
        return "compare a boolean with TRUE or FALSE"
    return "write a literal of the column's kind: 18, 'text', DATE '2024-01-31', TIMESTAMP '2024-01-31 12:00:00'"


def _described(term: Term) -> str:
    if isinstance(term, Name):
        return f"{term.column} ({kind_of(term).value})"
    if isinstance(term, Literal):
        return f"{str(term.value)[:40]!r} ({kind_of(term).value})"
    return f"a calculation ({kind_of(term).value})"


def _reach(term: Term) -> tuple[int, int]:
    """Exponents (low, high): the value is zero or missing, or 10^low ≤ |value| ≤ 10^high. From the formula alone."""
    if is_exact(type_of(term).limits) and not isinstance(term, Literal):
        return 0, 16
    if isinstance(term, Calculation):
        (low, high), (other_low, other_high) = _reach(term.left), _reach(term.right)
        if term.operator in "+-":  # a difference of doubles is a multiple of the smaller one's last bit
            low, high = min(low, other_low) - 17, max(high, other_high) + 1
        elif term.operator == "*":
            low, high = low + other_low, high + other_high
        else:
            low, high = low - other_high, high - other_low
        low, high = low - 1, high + 1  # rounding
        if low < -RESULT_REACH or high > RESULT_REACH:
            raise BadFilter(
                "this calculation has so many steps that a double might overflow",
                fix="use fewer factors, at most eight columns multiplied or divided",
            )
        return low, high
    if not kind_of(term).numeric:
        raise BadFilter("only numbers can be calculated with", given=_described(term), fix="compare it as it is")
    if isinstance(term, Case | Function):
        inner = [_reach(part) for part in (term.branches if isinstance(term, Case) else term.arguments)]
        return min(low for low, _ in inner), max(high for _, high in inner)
    if isinstance(term, Cast) and kind_of(term.term) is not Kind.TEXT:
        return _reach(term.term)  # a cast of a number is that number, which no one has brought into range
    if isinstance(term, Literal):
        size = abs(float(cast(Decimal, term.value)))
        exponents = (floor(log10(size)), ceil(log10(size))) if size else (0, 0)
        if exponents[0] < -OPERAND_REACH or exponents[1] > OPERAND_REACH:
            raise BadFilter(
                f"a number in a calculation lies between 1e-{OPERAND_REACH} and 1e{OPERAND_REACH}",
                given=str(term.value)[:60],
                fix="move it to the other side of the comparison",
            )
        return exponents
    return -OPERAND_REACH, OPERAND_REACH
