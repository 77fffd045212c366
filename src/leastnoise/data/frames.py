"""Frames of pandas, Polars and pyarrow as Arrow tables whose schema does not depend on single rows.

A pandas column of Python objects has no type of its own: it is text until its kind is declared. Each object becomes
text by its own type alone: text stays, numbers, booleans, dates and times are written as Python writes them, bytes are
read as UTF-8. Equal numbers have one text (7, 7.0 and Decimal("7.00") are 7), and so have equal times (those with a
zone are moved to UTC), so that they are one key and one unit. None, NaN, NA, NaT, broken text and all else is missing.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from importlib import import_module
from typing import Any

import numpy as np

from leastnoise.errors import BadSource, MissingPackage

__all__ = ["arrow_table", "pyarrow_module"]

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LARGEST = 10**40  # beyond every kind of column; longer numbers would take Python long to write


def arrow_table(source: Any, module: str) -> tuple[Any, tuple[str, ...]]:
    """The frame as Arrow, and which of its columns hold Python objects.

    Raises:
        BadSource: It is no frame, or has a column of a type that Arrow does not know.
    """
    made = None
    try:
        made = _pandas(source) if module == "pandas" else (_arrow(source, module), ())
    except MissingPackage:
        raise
    except Exception:
        made = None
    if made is None:  # outside of `except`: the text of an error may quote a value
        raise BadSource(
            "this is no frame, or has a column of a type that can't be read, or two columns of one name",
            given=type(source).__name__,
            fix="pass a whole frame, give every column its own name, and leave out what is no text, number or time",
        )
    return made


def pyarrow_module(name: str) -> Any:
    """A module of pyarrow, which is optional."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackage("pyarrow is not installed", fix="pip install 'leastnoise[frames]'") from None


def _arrow(source: Any, module: str) -> Any:
    if module == "polars":
        return (source.collect() if hasattr(source, "collect") else source).to_arrow()
    return source


def _pandas(frame: Any) -> tuple[Any, tuple[str, ...]]:
    pa, pandas = pyarrow_module("pyarrow"), import_module("pandas")
    is_object, names = pandas.api.types.is_object_dtype, [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise ValueError

    def untyped(dtype: Any) -> bool:
        return is_object(dtype) or (isinstance(dtype, pandas.StringDtype) and dtype.storage == "python")

    arrays, objects = [], []
    for place, name in enumerate(names):
        column = frame.iloc[:, place]
        categories = column.cat.categories if isinstance(column.dtype, pandas.CategoricalDtype) else None
        if categories is not None and untyped(categories.dtype):
            texts = [_text(category) for category in categories]
            arrays.append(pa.array([texts[code] if code >= 0 else None for code in column.cat.codes], pa.string()))
        elif untyped(column.dtype):
            arrays.append(pa.array([_text(value) for value in column], pa.string()))
        else:
            arrays.append(pa.Table.from_pandas(frame.iloc[:, [place]], preserve_index=False).column(0))
        if is_object((column if categories is None else categories).dtype):
            objects.append(name)
    return pa.table(arrays, names=names), tuple(objects)


def _text(value: Any) -> str | None:
    """The text of an object, by its type; an object of a type that is not known here is not asked for its text."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        value = value.item()
    kind = type(value)
    if isinstance(value, str | bytes):
        return _valid_text(value)
    if kind is bool:
        return "true" if value else "false"
    if kind in (int, float, Decimal):
        return _number_text(value)
    if kind is date or isinstance(value, datetime | np.datetime64):
        return _time_text(value)
    return None


def _valid_text(value: str | bytes) -> str | None:
    try:
        return (str.encode(value) if isinstance(value, str) else bytes(value)).decode()
    except UnicodeError:
        return None


def _number_text(value: int | float | Decimal) -> str | None:
    if not (value.is_finite() if isinstance(value, Decimal) else isinstance(value, int) or math.isfinite(value)):
        return None
    if -_LARGEST < value < _LARGEST and value == int(value):
        return str(int(value))
    return None if isinstance(value, int) else str(Decimal(str(value)).normalize(_EXACT))


def _time_text(value: Any) -> str | None:
    try:
        text = str(value.astimezone(UTC) if getattr(value, "tzinfo", None) is not None else value)
    except Exception:  # the zone of a time is code of its own
        return None
    return None if text == "NaT" else text
