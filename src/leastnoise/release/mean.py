"""The mean of a column, with the number of rows private."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.numbers import Exact
from leastnoise.mechanisms import BoundedMean
from leastnoise.mechanisms.histogram.noisy_cells import Block, NoisyCells
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.events import Pure
from leastnoise.model.mechanism import ErrorEstimate, Reason
from leastnoise.release.counts import described, whole_numbers
from leastnoise.release.display import number
from leastnoise.release.method import Method
from leastnoise.release.moments import REST, Moment
from leastnoise.release.tidy import TidyTable

__all__ = ["Mean"]


class Mean(Moment):
    """low + width·U/(U + D), with noise on U and D."""

    @property
    def question(self) -> str:
        """What is asked."""
        return described(f"mean of {self.column}", self.axes, self.where)

    def method(self, epsilon: Exact, delta: Fraction) -> Method:  # noqa: ARG002 - pure whatever δ is
        """Laplace noise on U and D of each cell."""
        noise = self.pair_noise(epsilon)
        mechanism = NoisyCells((Block(noise, 2 * self.cells, Pure(epsilon)),))
        reason = BoundedMean(epsilon, 0, 1, step=1).why()
        return Method(
            mechanism=mechanism,
            event=mechanism.privacy,
            error=self.error(epsilon),
            sensitivity=self.sensitivity(),
            write=whole_numbers,
            show=partial(self.show, noise),
            reason=Reason(reason.theorem, reason.citation),
            notes=(self.supposition(epsilon), f"values are rounded to multiples of {number(self.scale.step)}"),
        )

    def error_with(self, epsilon: Exact, rows: int) -> ErrorEstimate:
        """That of one list of numbers, at the rate of the noise."""
        low, high = (q * self.scale.step for q in self.scale.steps)
        law = BoundedMean(epsilon * self.top / self.sensitivity().l1, low, high, step=self.scale.step)
        return law.error(rows)

    def read(self) -> NDArray[Any]:
        """U of all cells, then D of all cells."""
        count, first = self.sums((1,))
        return np.array(self.pair(count, first), dtype=object)

    def show(self, noise: IntegerNoise, drawn: list[int]) -> TidyTable:
        """Means with intervals: both U and D are within t of the truth with 95 % probability."""
        far = noise.quantile(1 - REST / 2)
        ups, downs = drawn[: self.cells], drawn[self.cells :]
        return self.table(
            [
                (self._at(u, d), self._at(u - far, d + far), self._at(u + far, d - far))
                for u, d in zip(ups, downs, strict=True)
            ]
        )

    def _at(self, up: int, down: int) -> float:
        """Low + width·U/(U + D), negative sums counting as zero, the middle if both are."""
        above, below = max(up, 0), max(down, 0)
        share = Fraction(above, above + below) if above + below else Fraction(1, 2)
        low, _ = self.scale.steps
        return float((low + self.top * share) * self.scale.step)
