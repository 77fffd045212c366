"""A private column taken apart into columns of whole potentials.

Write a private column as β^t. Then |t_i − t_j| ≤ length on every arc, and with whole lengths ⌊t + θ⌋ keeps to the same
bounds for every θ. The columns β^⌊t + θ⌋ for the different fractional parts of t have the given one in their cone: with
φ_0 < φ_1 < … the fractional parts, the weight of step k is (β^φ_k − β^φ_{k−1})/(β − 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leastnoise.designer.linear.cells import Column
from leastnoise.designer.linear.powers import Powers
from leastnoise.model.graphs.aliases import IntArray

__all__ = ["first_rays", "rays_of"]

_SAME = 1e-5  # fractional parts that a float solver can't tell apart
_VISIBLE = 1e-6  # below this share of the largest scaled entry, digits of a float solver mean nothing
_MOST = 24


def first_rays(column: Column) -> list[IntArray]:
    """Two columns that are always worth having: β^−d around the home, and the constant."""
    return [-column.distances[column.home], np.zeros(len(column.cells), dtype=np.int64)]


def rays_of(column: Column, values: NDArray[np.float64], powers: Powers) -> list[IntArray]:
    """The potentials that a solver's column is made of; a guess, but private whatever the solver said."""
    away = column.distances[column.home]
    if not values.max() > 0:
        return []
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(values, 0)) / powers.float_rate
    scaled = logs + away
    seen = scaled >= scaled.max() + np.log(_VISIBLE) / powers.float_rate
    levels = (logs[seen] - column.distances[:, seen]).max(axis=1)  # the least private column above what is seen
    levels -= levels[column.home] - _SAME
    parts = levels % 1
    steps = np.unique(np.floor(parts / (2 * _SAME)))[:_MOST] * 2 * _SAME
    lower = np.floor(levels).astype(np.int64)
    return [_closed(column, lower + (parts >= step)) for step in steps]


def _closed(column: Column, potentials: IntArray) -> IntArray:
    closed: IntArray = (potentials - column.distances).max(axis=1)
    closed -= closed.max()
    return closed
