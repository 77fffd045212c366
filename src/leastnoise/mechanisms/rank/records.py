"""Reading private records: one number each, by rules that look at one record at a time.

A fixed map of single records changes no privacy claim: neighbouring databases stay neighbours. So a record may be
rounded to a double, a missing value (NaN or None) replaced by a public constant, and an infinite or outlying one moved
to the nearer bound, and none of it is an approximation of the mechanism. Public is that the records are a flat list of
numbers; their number is public where the mechanism says so. Nothing else is refused, and errors never show a record.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter

__all__ = ["read_records"]


def read_records(truth: object, missing: float, records: int | None = None) -> NDArray[np.float64]:
    """The records as a flat array of doubles without NaN; not to be written to, it may be the caller's own.

    Args:
        truth: A sequence or array of numbers.
        missing: Stands in for NaN and None.
        records: How many there must be, where that is public.

    Raises:
        BadParameter: Not a flat list of numbers, or not as many as are said to be there.

    >>> read_records([3, None, float("nan"), float("inf")], missing=0.0).tolist()
    [3.0, 0.0, 0.0, inf]
    """
    array = _as_array(truth)
    if array.dtype == object and array.ndim == 1:
        numbers = [_to_double(value) for value in array]
        array = np.array(numbers, dtype=np.float64) if None not in numbers else np.empty(0, dtype=np.str_)
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        raise BadParameter(
            "the truth must be a flat list of numbers, one per record",
            given=f"{array.ndim} axes of {array.dtype.kind!r}",  # how long they are may be private
            fix="pass one column of numbers",
        )
    if records is not None and len(array) != records:
        raise BadParameter(
            f"there must be exactly {records} records, as was said in public",
            fix="leave out `records` if their number is private",
        )
    with np.errstate(over="ignore"):  # a number too large for a double counts as infinite
        values = array.astype(np.float64, copy=False)
    holes = np.isnan(values)
    return np.where(holes, missing, values) if holes.any() else values


def _as_array(truth: object) -> NDArray[Any]:
    try:
        return np.asarray(truth)
    except ValueError:  # rows of unequal length
        return np.empty((0, 0))


def _to_double(value: Any) -> float | None:
    """One number as a double: None as NaN, one too large as infinite; None for what is no number."""
    if value is None:
        return np.nan
    if isinstance(value, bool) or not (isinstance(value, Real) or hasattr(value, "as_integer_ratio")):
        return None
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
    except ValueError:  # a signalling NaN
        return np.nan
