"""Candidates, which are public, and scores, which are not: an error never shows a score."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Sized
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, LeastNoiseError, TooLarge
from leastnoise.exact.parameters import NumberLike, read_exact, read_integer
from leastnoise.exact.samplers.scores import Numbers
from leastnoise.model.labels import read_labels, unknown_label

__all__ = ["Candidates", "name_places", "place_of", "read_candidates", "read_scores"]

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
        return [
            Fraction(float(value)) if isinstance(value, float | np.floating) else read_exact(value, "score")
            for value in truth
        ]
    except (LeastNoiseError, TypeError, ValueError, OverflowError):
        return None


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


def name_places(places: NDArray[np.int64], candidates: Sequence[Hashable]) -> NDArray[Any]:
    """The candidates at some places, as an array of the same shape."""
    if isinstance(candidates, range):
        return places
    labels = np.empty(len(candidates), dtype=object)
    for place, label in enumerate(candidates):
        labels[place] = label
    return labels[places]
