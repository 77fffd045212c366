"""Whole numbers as the ledger keeps them: a list of few, and packed bytes as text of many.

Packed are runs of 2^16 numbers: a byte w, then w bytes of each, the least significant first, in two's complement; w is
the least that does for all of a run. So a number takes about as many bytes as it has, and a third more as text.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import largest_size
from leastnoise.ledger.record import Json
from leastnoise.model import MOST_LISTED_CELLS

__all__ = ["read_numbers", "recorded_numbers"]

_RUN = 1 << 16


def recorded_numbers(drawn: Any, most_listed: int = MOST_LISTED_CELLS) -> Json:
    """Drawn whole numbers as JSON.

    Args:
        drawn: An array of whole numbers of any size.
        most_listed: Up to how many are listed.

    >>> recorded_numbers([1, -2]), recorded_numbers([1, -300], most_listed=1)
    ([1, -2], {'count': 2, 'packed': 'AgEA1P4='})
    """
    numbers = np.ravel(drawn)
    if numbers.size <= most_listed:
        return [int(number) for number in numbers]
    runs = (numbers[start : start + _RUN] for start in range(0, numbers.size, _RUN))
    return {"count": int(numbers.size), "packed": b64encode(b"".join(map(_packed, runs))).decode("ascii")}


def read_numbers(recorded: Any) -> NDArray[Any]:
    """The numbers that some JSON stands for.

    >>> read_numbers(recorded_numbers([1, -300, 10**30], most_listed=1))
    array([1, -300, 1000000000000000000000000000000], dtype=object)
    """
    if not isinstance(recorded, dict):
        return np.array(recorded, dtype=object)
    packed, left, start = memoryview(b64decode(recorded["packed"])), int(recorded["count"]), 0
    runs = []
    while left:
        many, width = min(left, _RUN), packed[start]
        end = start + 1 + many * width
        runs.append(_unpacked(packed[start + 1 : end], many, width))
        left, start = left - many, end
    return np.concatenate(runs)


def _packed(run: NDArray[Any]) -> bytes:
    width = (largest_size(run).bit_length() + 8) // 8  # with the bit of the sign
    if width > 8:
        return bytes([width]) + b"".join(int(number).to_bytes(width, "little", signed=True) for number in run)
    return bytes([width]) + run.astype("<i8").view(np.uint8).reshape(len(run), 8)[:, :width].tobytes()


def _unpacked(packed: memoryview, many: int, width: int) -> NDArray[Any]:
    if width > 8:
        numbers = (packed[i * width : (i + 1) * width] for i in range(many))
        found = np.empty(many, dtype=object)
        found[:] = [int.from_bytes(number, "little", signed=True) for number in numbers]
        return found
    digits = np.frombuffer(packed, dtype=np.uint8).reshape(many, width)
    wide = np.empty((many, 8), dtype=np.uint8)
    wide[:, :width] = digits
    wide[:, width:] = np.where(digits[:, -1:] >= 128, 255, 0)
    return wide.view("<i8").reshape(many).astype(np.int64)
