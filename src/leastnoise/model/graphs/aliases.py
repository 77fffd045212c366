"""The types that every part of this package speaks of."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["IntArray", "Length", "Point"]

IntArray: TypeAlias = npt.NDArray[np.int64]
Length: TypeAlias = int | Fraction
Point: TypeAlias = tuple[int, ...]
