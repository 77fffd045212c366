"""Filters: a small, safe language of conditions on one row, as text or built in Python."""

from __future__ import annotations

from leastnoise.data.predicates.builder import Value, col
from leastnoise.data.predicates.evaluate import holds, value_of
from leastnoise.data.predicates.expressions import Aggregate, Case, Function
from leastnoise.data.predicates.functions import FUNCTIONS
from leastnoise.data.predicates.nodes import Predicate
from leastnoise.data.predicates.parser import parse, parse_expression
from leastnoise.data.predicates.statements import FromTable, Item, SelectText, Statement, read_select
from leastnoise.data.predicates.typecheck import Schema, type_of, typed, typed_term
from leastnoise.data.predicates.words import place_in
from leastnoise.errors import BadFilter, shown

__all__ = [
    "FUNCTIONS",
    "Aggregate",
    "Case",
    "FromTable",
    "Function",
    "Item",
    "Predicate",
    "SelectText",
    "Statement",
    "Value",
    "col",
    "holds",
    "parse",
    "parse_expression",
    "place_in",
    "read_filter",
    "read_select",
    "type_of",
    "typed",
    "typed_term",
    "value_of",
]


def read_filter(where: str | Predicate, columns: Schema) -> Predicate:
    """A filter given as text or as a predicate, checked against the schema."""
    if isinstance(where, Value):
        raise BadFilter("a column alone is no filter", given=shown(where), fix="compare it, or use .is_true()")
    return typed(where, columns) if isinstance(where, Predicate) else parse(where, columns)
