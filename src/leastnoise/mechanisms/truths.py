"""Reading true answers. They are private: an error says what is wrong with them and never what they are.

Records are read one at a time. A fixed map of single records changes no privacy claim: neighbouring databases stay
neighbours. So a record may be rounded to a double, a missing value (NaN or None) replaced by a public constant, and an
infinite or outlying one moved to the nearer bound, and none of it is an approximation of the mechanism. Public is that
the records are a flat list of numbers; their number is public where the mechanism says so. Nothing else is refused.

Candidates are public; their scores are not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Sized
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, LeastNoiseError, TooLarge, UnknownLabel
from leastnoise.exact import (
    Exact,
    NumberLike,
    Numbers,
    largest_size,
    read_exact,
    read_integer,
    whole_array,
    wide_enough,
)
from leastnoise.model import read_labels, unknown_label

__all__ = [
    "Candidates",
    "add_noise",
    "name_places",
    "place_of",
    "private_place",
    "read_candidates",
    "read_real",
    "read_records",
    "read_scores",
    "read_whole",
    "read_whole_vector",
]

_LARGEST = 10**400  # larger decimals and scores count as this: it brings no two of them further apart
_MOST_DIGITS = 10**5  # of a decimal after the point; no engine has as many
_MOST_BITS = 2048  # of the denominator of a score


def read_whole(truth: object) -> int:
    """The answer as a Python integer.

    >>> read_whole(1234.5)
    Traceback (most recent call last):
    leastnoise.errors.BadParameter: the truth must be a whole number; given: float; count, or measure in whole units
    """
    if isinstance(truth, Integral) and not isinstance(truth, bool):
        return int(truth)
    raise BadParameter(
        "the truth must be a whole number", given=type(truth).__name__, fix="count, or measure in whole units"
    )


def read_real(truth: object) -> Fraction:
    """The answer as exactly the number it is: a float as the dyadic rational that the machine holds.

    Its shortest decimal, which parameters are read as, could lie further from a neighbour's than the sensitivity says.

    >>> read_real(0.5), read_real(0.1) == Fraction(1, 10)
    (Fraction(1, 2), False)
    """
    exact = _exactly(truth)
    if exact is not None:
        return exact
    raise BadParameter(
        "the truth must be a finite number", given=type(truth).__name__, fix="map missing values before asking"
    )


def _exactly(number: object) -> Fraction | None:
    """The number itself, of any size; None for what is no finite number."""
    if isinstance(number, Rational) and not isinstance(number, bool):
        return Fraction(int(number.numerator), int(number.denominator))
    if isinstance(number, float | np.float32 | np.float16) and np.isfinite(number):
        return Fraction(float(number))
    if isinstance(number, Decimal) and number.is_finite() and len(number.as_tuple().digits) <= _MOST_DIGITS:
        if number.adjusted() < -_MOST_DIGITS:
            return None
        return Fraction(max(min(number, Decimal(_LARGEST)), Decimal(-_LARGEST)))
    return None


def read_whole_vector(truth: object, dimension: int) -> NDArray[Any]:
    """The answer as a flat array of integers of any size: some integer type of NumPy's, or Python's own."""
    array = whole_array(truth)
    if array is None or array.shape != (dimension,):
        raise BadParameter(
            f"the truth must be {dimension} whole numbers",
            given=type(truth).__name__ if array is None else f"shape {array.shape}",
            fix="pass an integer array with one number per coordinate",
        )
    return array


def add_noise(truth: NDArray[Any], noise: NDArray[Any]) -> NDArray[Any]:
    """The sum, for fresh noise: 64 bits wide where every sum fits into them, else Python's integers.

    The sums are released, so they may decide about the type; the answer may not.
    """
    true = wide_enough(truth, 1, extra=largest_size(noise))
    if true.dtype != object and noise.dtype != object:
        noise += true
        return noise
    sums: NDArray[Any] = np.add(true.astype(object), noise.astype(object))
    return wide_enough(sums, 1)


Candidates = Iterable[Hashable] | NumberLike

_MOST = 1 << 31
_MOST_LABELS = 1 << 24


def read_candidates(candidates: Candidates, name: str = "candidates") -> Sequence[Hashable]:
    """Distinct labels in their order, or a number of them, which are then called 0, 1, 2 and so on.

    >>> read_candidates(3), read_candidates(["tea", "coffee"])
    (range(0, 3), ('tea', 'coffee'))
    """
    if isinstance(candidates, np.ndarray) and candidates.ndim != 1:
        raise BadParameter(
            f"{name} must be a list of labels", given=f"shape {candidates.shape}", fix="pass a flat list"
        )
    if isinstance(candidates, Iterable) and not isinstance(candidates, str):
        if isinstance(candidates, Sized) and len(candidates) > _MOST_LABELS:
            raise TooLarge(f"{name} are too many to be named", given=len(candidates), fix="pass how many there are")
        return read_labels(candidates, name)
    return range(read_integer(candidates, name, at_least=1, at_most=_MOST))


def read_scores(truth: Any, count: int) -> Numbers:
    """The answer as `count` exact numbers: an array of integers or floats, or a list of exact numbers.

    A float is the dyadic rational that the machine holds. Its shortest decimal, which parameters are read as, could lie
    further from a neighbour's than the sensitivity says.
    """
    scores = _numbers_of(truth)
    if scores is None or len(scores) != count:
        raise BadParameter(
            f"the scores must be {count} finite numbers, one for each candidate in their order",
            fix="map missing values before asking",
        )
    return scores


def _numbers_of(truth: Any) -> Numbers | None:
    """The numbers, or None if they are not: the reason must not reach the caller, it may show a score."""
    try:
        if hasattr(truth, "__array__") and not isinstance(truth, np.ma.MaskedArray):  # a data frame's column, too
            truth = np.asarray(truth)
        if type(truth) is np.ndarray and truth.dtype.kind in "iuf":
            return truth if _is_finite_list(truth) else None
        kinds = set(map(type, truth)) if isinstance(truth, list | tuple) else set()
        if kinds == {float}:  # an array of the same numbers, which is quicker
            array = np.array(truth)
            return array if np.isfinite(array).all() else None
        return [_score_of(value) for value in truth]
    except (LeastNoiseError, TypeError, ValueError, OverflowError):
        return None


def _score_of(value: Any) -> Exact:
    exact = _exactly(value)
    if exact is None:
        return read_exact(value, "score")
    if exact.denominator.bit_length() > _MOST_BITS:
        raise ValueError
    return max(min(exact, Fraction(_LARGEST)), Fraction(-_LARGEST))


def _is_finite_list(array: NDArray[Any]) -> bool:
    if array.ndim != 1 or not array.size or array.dtype.itemsize > 8:  # wider than a double: it would be rounded
        return False
    return array.dtype.kind != "f" or bool(np.isfinite(array.max()) and np.isfinite(array.min()))


def place_of(label: Hashable, candidates: Sequence[Hashable]) -> int:
    """The place of a candidate, or an error that names the closest one."""
    if isinstance(candidates, range) and not isinstance(label, int | np.integer):
        raise unknown_label(label, candidates, "candidate")
    try:
        return candidates.index(label)
    except ValueError:
        pass
    raise unknown_label(label, candidates, "candidate")


def private_place(truth: Any, options: Sequence[Hashable]) -> int:
    """The place of a private label among public options; an error does not show it."""
    try:
        return place_of(truth, options)
    except (UnknownLabel, TypeError):
        pass
    raise BadParameter("the truth must be one of the options", fix="map other labels to an option before asking")


def name_places(places: NDArray[np.int64], candidates: Sequence[Hashable]) -> NDArray[Any]:
    """The candidates at some places, as an array of the same shape."""
    if isinstance(candidates, range):
        return places
    labels = np.empty(len(candidates), dtype=object)
    for place, label in enumerate(candidates):
        labels[place] = label
    return labels[places]


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
