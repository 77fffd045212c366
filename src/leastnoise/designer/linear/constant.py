"""The best answer that tells nothing: one orbit of outputs, whatever the input."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from leastnoise.designer.linear.cells import Cells

__all__ = ["best_constant"]


def best_constant(cells: Cells) -> list[Fraction]:
    """The value of each cell if every input is answered by the outputs of the column that costs least."""
    losses = np.array(cells.losses, dtype=np.float64) * cells.outputs_of
    weights = np.array(cells.prior, dtype=np.float64)
    sizes = [int(cells.outputs_of[column.cells][cells.row_of[column.cells] == 0].sum()) for column in cells.columns]
    means = [
        float((losses[column.cells] * weights[cells.row_of[column.cells]]).sum()) / size
        for column, size in zip(cells.columns, sizes, strict=True)
    ]
    best = int(np.argmin(means))
    values = [Fraction(0)] * cells.count
    for cell in cells.columns[best].cells.tolist():
        values[cell] = Fraction(1, sizes[best])
    return values
