"""Tables in their engines, contribution bounds, queries. Answers here are exact and not yet private."""

from leastnoise.data.axes import Axis, BinAxis, KeyAxis, TimeAxis
from leastnoise.data.columns import Column, Kind
from leastnoise.data.contribution import Contribution, CountRows, CountUnits, Measure, SumOf
from leastnoise.data.joins import Source
from leastnoise.data.predicates import Predicate, col, holds, parse, typed
from leastnoise.data.sources import csv_columns, open_table, table_names
from leastnoise.data.table import Table
from leastnoise.data.verify_links import LinkReport, verify_links

__all__ = [
    "Axis",
    "BinAxis",
    "Column",
    "Contribution",
    "CountRows",
    "CountUnits",
    "KeyAxis",
    "Kind",
    "LinkReport",
    "Measure",
    "Predicate",
    "Source",
    "SumOf",
    "Table",
    "TimeAxis",
    "col",
    "csv_columns",
    "holds",
    "open_table",
    "parse",
    "table_names",
    "typed",
    "verify_links",
]
