"""Tables in their engines, contribution bounds, queries. Answers here are exact and not yet private."""

from leastnoise.data.columns import (
    Axis,
    BinAxis,
    Column,
    Contribution,
    CountRows,
    CountUnits,
    KeyAxis,
    Kind,
    Measure,
    SumOf,
    TimeAxis,
)
from leastnoise.data.identity import linked_names
from leastnoise.data.joins import Source
from leastnoise.data.predicates import Predicate, col, holds, parse, typed
from leastnoise.data.sources import csv_columns, open_table, table_names
from leastnoise.data.table import Table
from leastnoise.data.verify import KeyReport, LinkReport, count_outside, verify_keys, verify_links

__all__ = [
    "Axis",
    "BinAxis",
    "Column",
    "Contribution",
    "CountRows",
    "CountUnits",
    "KeyAxis",
    "KeyReport",
    "Kind",
    "LinkReport",
    "Measure",
    "Predicate",
    "Source",
    "SumOf",
    "Table",
    "TimeAxis",
    "col",
    "count_outside",
    "csv_columns",
    "holds",
    "linked_names",
    "open_table",
    "parse",
    "table_names",
    "typed",
    "verify_keys",
    "verify_links",
]
