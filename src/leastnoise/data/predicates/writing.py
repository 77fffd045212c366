"""A filter as text that `parse` reads back as the same filter."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import cast

from leastnoise.data.predicates.terms import Arithmetic, Literal, Name, Remainder, Term
from leastnoise.data.predicates.tokens import RESERVED
from leastnoise.data.predicates.tree import And, Comparison, Constant, IsIn, IsMissing, Not, Or, Predicate, TextTest

__all__ = ["write", "write_term"]

_BARE = re.compile(r"[^\W\d]\w*")


def write(predicate: Predicate) -> str:
    """The text of a filter."""
    match predicate:
        case Comparison(symbol, left, right):
            return f"{write_term(left)} {symbol} {write_term(right)}"
        case IsIn(term, values):
            return f"{write_term(term)} IN ({', '.join(map(write_term, values))})"
        case TextTest(test, term, text):
            return f"{test}({write_term(term)}, {write_term(Literal(text))})"
        case IsMissing(term):
            return f"{write_term(term)} IS MISSING"
        case And(parts):
            return " AND ".join(f"({write(part)})" if isinstance(part, And | Or) else write(part) for part in parts)
        case Or(parts):
            return " OR ".join(f"({write(part)})" if isinstance(part, Or) else write(part) for part in parts)
        case Not(part):
            return f"NOT ({write(part)})" if isinstance(part, And | Or) else f"NOT {write(part)}"
        case _:
            return "TRUE" if cast(Constant, predicate).value else "FALSE"


def write_term(term: Term) -> str:
    """The text of a value; calculations in parentheses."""
    match term:
        case Name(column):
            bare = _BARE.fullmatch(column) and column.upper() not in RESERVED
            return column if bare else '"' + column.replace('"', '""') + '"'
        case Arithmetic(symbol, left, right):
            return f"({write_term(left)} {symbol} {write_term(right)})"
        case Remainder(inner, divisor):
            return f"({write_term(inner)} % {divisor})"
        case Literal(value):
            return _literal(value)


def _literal(value: object) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime():
            return f"TIMESTAMP '{value.isoformat(' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return str(value)
