"""Build a filter in Python: `col("age") >= 18`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from leastnoise.data.predicates.nodes import (
    And,
    Calculation,
    ComparisonTest,
    IsIn,
    IsMissing,
    Literal,
    Name,
    Predicate,
    Term,
    TextTest,
    read_literal,
    remainder,
)
from leastnoise.errors import BadFilter, shown

__all__ = ["Value", "col"]


def _comparison(symbol: str) -> Callable[[Value, object], Predicate]:
    return lambda value, other: ComparisonTest(symbol, _term(value), _term(other))


def _calculation(symbol: str) -> tuple[Callable[[Value, object], Value], Callable[[Value, object], Value]]:
    def forward(value: Value, other: object) -> Value:
        return Value(Calculation(symbol, _term(value), _term(other)))

    def backward(value: Value, other: object) -> Value:
        return Value(Calculation(symbol, _term(other), _term(value)))

    return forward, backward


class Value:
    """A column or a calculation with columns; comparing it gives a filter.

    >>> str((col("income") - col("rent") * 12) / col("persons") >= 9000)
    '((income - (rent * 12)) / persons) >= 9000'
    >>> str(col("city").starts_with("Bad ") | col("age").is_missing())
    "starts_with(city, 'Bad ') OR age IS MISSING"
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, term: Term) -> None:
        self._term = term

    def __repr__(self) -> str:
        """The value as it stands in a filter."""
        return f"<value {self._term}>"

    __eq__ = _comparison("=")  # type: ignore[assignment]
    __ne__ = _comparison("!=")  # type: ignore[assignment]
    __lt__ = _comparison("<")
    __le__ = _comparison("<=")
    __gt__ = _comparison(">")
    __ge__ = _comparison(">=")
    __add__, __radd__ = _calculation("+")
    __sub__, __rsub__ = _calculation("-")
    __mul__, __rmul__ = _calculation("*")
    __truediv__, __rtruediv__ = _calculation("/")

    def __mod__(self, divisor: int) -> Value:
        """The remainder of a whole number, not below zero."""
        return Value(remainder(self._term, _term(divisor)))

    def __neg__(self) -> Value:
        """The number with the other sign."""
        return Value(Calculation("-", Literal(0), self._term))

    def __bool__(self) -> bool:
        """Refuse to decide at once what is asked row by row."""
        raise BadFilter(
            "a column has no truth value of its own: it is asked row by row",
            given=shown(self),
            fix="compare it, use .is_true(), and join filters with & and | in parentheses",
        )

    def is_in(self, values: Iterable[object]) -> Predicate:
        """Whether it equals one of the values."""
        if isinstance(values, str):
            raise BadFilter("is_in takes a list", given=values, fix=f"write is_in([{values!r}])")
        return IsIn(self._term, tuple(map(read_literal, values)))

    def between(self, low: object, high: object) -> Predicate:
        """Whether low <= it <= high."""
        return And.of(ComparisonTest(">=", self._term, _term(low)), ComparisonTest("<=", self._term, _term(high)))

    def is_missing(self) -> Predicate:
        """Whether it is NULL or NaN, or a calculation without a result."""
        return IsMissing(self._term)

    def is_true(self) -> Predicate:
        """Whether a boolean is true; false where it is missing."""
        return ComparisonTest("=", self._term, Literal(True))

    def starts_with(self, text: str) -> Predicate:
        """Whether text starts so."""
        return TextTest("starts_with", self._term, _text(text))

    def ends_with(self, text: str) -> Predicate:
        """Whether text ends so."""
        return TextTest("ends_with", self._term, _text(text))

    def contains(self, text: str) -> Predicate:
        """Whether text contains this."""
        return TextTest("contains", self._term, _text(text))


def col(name: str) -> Value:
    """The column of this name, to compare and calculate with.

    >>> str(col("age") >= 18)
    'age >= 18'
    """
    if not isinstance(name, str) or not name or "\0" in name:
        raise BadFilter("a column has a name", given=name, fix='write col("age")')
    return Value(Name(name))


def _term(value: object) -> Term:
    if isinstance(value, Predicate):
        raise BadFilter("a condition stands where a value is wanted", given=str(value), fix="join conditions with &")
    return value._term if isinstance(value, Value) else read_literal(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadFilter("this test takes text", given=type(value).__name__, fix='write for example starts_with("Bad ")')
    read_literal(value)
    return value
