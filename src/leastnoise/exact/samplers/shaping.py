"""Shared by all samplers: from a flat run of draws to the number or array that `size` asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact.arrays import ExactArray, Size, shape_of
from leastnoise.exact.sources import Source, system_source

__all__ = ["Draws", "in_shape", "per_element"]

Draws = Any  # one Python int or bool if size is None, else an array
Draw = Callable[[int, Source], NDArray[Any]]

_BLOCK = 1 << 16  # draws at a time: what a block touches stays in the processor's cache


def in_shape(draw: Draw, size: Size, source: Source | None, dtype: type[Any] = np.int64) -> Draws:
    """Draw as many numbers as `size` says, block by block, into one array."""
    shape = shape_of(size)
    source = source or system_source
    if size is None:
        return draw(1, source)[0].item() if dtype is not object else draw(1, source)[0]
    out = np.empty(int(np.prod(shape, dtype=object)), dtype=dtype)
    for start in range(0, len(out), _BLOCK):
        stop = min(start + _BLOCK, len(out))
        out[start:stop] = draw(stop - start, source)
    return out.reshape(shape)


def per_element(
    draw: Callable[[slice, Source], NDArray[Any]],
    parameters: ExactArray,
    size: Size,
    source: Source | None,
    dtype: type[Any] = np.int64,
) -> NDArray[Any]:
    """Draw one number per parameter, block by block; `size`, if given, must agree."""
    if size is not None and shape_of(size) != parameters.shape:
        raise BadParameter(
            f"size must match the parameters, which have shape {parameters.shape}", given=size, fix="leave out `size`"
        )
    out = np.empty(len(parameters.centers), dtype=dtype)
    for start in range(0, len(out), _BLOCK):
        block = slice(start, min(start + _BLOCK, len(out)))
        out[block] = draw(block, source or system_source)
    return out.reshape(parameters.shape)
