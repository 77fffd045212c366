"""The variance of a column around its mean, Σ(x − mean)²/n, with the number of rows private."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.mechanisms import Geometric
from leastnoise.mechanisms.histogram.noisy_cells import Block, NoisyCells
from leastnoise.mechanisms.numeric.integer_noise import LEVEL, IntegerNoise
from leastnoise.model.events import Pure
from leastnoise.model.mechanism import ErrorEstimate, Reason
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.counts import described, whole_numbers
from leastnoise.release.method import Method
from leastnoise.release.moments import REST, Moment, laplace_noise
from leastnoise.release.sensitivity import sensitivity_of
from leastnoise.release.tidy import TidyTable

__all__ = ["Variance"]


class Variance(Moment):
    """V/n − (S/n)² with n and S from U and D, and noise on U, D and V."""

    @property
    def question(self) -> str:
        """What is asked."""
        return described(f"variance of {self.column}", self.axes, self.where)

    @property
    def reach(self) -> int:
        """The largest |q − c|."""
        low, high = self.scale.steps
        return max(self.scale.centre - low, high - self.scale.centre)

    @property
    def largest(self) -> Fraction:
        """A quarter of the width squared: no variance between the bounds is larger."""
        return Fraction(self.top**2, 4) * self.scale.step**2

    def method(self, epsilon: Exact, delta: Fraction) -> Method:  # noqa: ARG002 - pure whatever δ is
        """Half of ε for U and D, half for the squares."""
        pair, squares = self._noises(epsilon)
        half = Pure(epsilon / 2)
        mechanism = NoisyCells((Block(pair, 2 * self.cells, half), Block(squares, self.cells, half)))
        return Method(
            mechanism=mechanism,
            event=mechanism.privacy,
            error=self.error(epsilon),
            sensitivity=self.sensitivity(),
            write=whole_numbers,
            show=partial(self.show, pair, squares),
            reason=Reason(
                "Laplace noise on the number, the sum and the sum of squares, with half of ε for the squares",
                "Dwork, McSherry, Nissim and Smith, TCC 2006, Proposition 1",
            ),
            notes=(
                self.supposition(epsilon),
                f"the sum of squares has a sensitivity of its own, {self.squares()}",
            ),
        )

    def read(self) -> NDArray[Any]:
        """U, D and V of all cells."""
        count, first, second = self.sums((1, 2))
        return np.array([*self.pair(count, first), *second], dtype=object)

    def show(self, pair: IntegerNoise, squares: IntegerNoise, drawn: list[int]) -> TidyTable:
        """Variances with intervals: U, D and V are all within their quantile of the truth with 95 % probability."""
        far, wide = pair.quantile(1 - REST / 3), squares.quantile(1 - REST / 3)
        ups, downs, seconds = (drawn[i * self.cells : (i + 1) * self.cells] for i in range(3))
        rows = list(zip(ups, downs, seconds, strict=True))
        return self.table([(self._between(*row, 0, 0)[0], *self._between(*row, far, wide)) for row in rows])

    def squares(self) -> Sensitivity:
        """Of the sums of squares."""
        return sensitivity_of(self.contribution, self.measure(2), (self.cells,))

    def _noises(self, epsilon: Exact) -> tuple[Geometric, Geometric]:
        return self.pair_noise(epsilon / 2), laplace_noise(epsilon / 2, self.squares())

    def _between(self, up: int, down: int, second: int, far: int, wide: int) -> tuple[float, float]:
        """The least and largest V/n − (S/n)² with U and D within `far` and V within `wide` of these numbers.

        n = (U + D)/top and S = Σ(q − c) = (1 − λ)·U − λ·D with λ = (c − q_low)/top, so S moves by at most `far`.
        """
        above, below = max(up, 0), max(down, 0)
        share = Fraction(self.scale.centre - self.scale.steps[0], self.top)
        offset = abs((1 - share) * above - share * below)
        count, slack = Fraction(above + below, self.top), Fraction(2 * far, self.top)
        fewest, most = count - slack, count + slack
        if fewest <= 0:
            return 0.0, float(self.largest)
        low = max(second - wide, 0) / most - ((offset + far) / fewest) ** 2
        high = max(second + wide, 0) / fewest - (max(offset - far, Fraction(0)) / most) ** 2
        unit = self.scale.step**2
        return self._clamped(low * unit), self._clamped(high * unit)

    def _clamped(self, variance: Fraction) -> float:
        return float(min(max(variance, Fraction(0)), self.largest))

    def error_with(self, epsilon: Exact, rows: int) -> ErrorEstimate:
        """Bounds for n values; docs/theory/releasing.md has the two lines of proof.

        With noise within w on V and f on U and D, n is off by g ≤ 2f/top and S by f, so V/n is off by at most
        (w + reach²·g)/(n − g), S/n by a = (f + reach·g)/(n − g), and its square by a·(2·reach + a).
        """
        pair, squares = self._noises(epsilon)
        reach, unit, top = self.reach, self.scale.step**2, self.top
        far, wide = pair.quantile(1 - REST / 3), squares.quantile(1 - REST / 3)
        slack = Fraction(2 * far, top)
        quantile = self.largest
        if slack < rows:
            away = (far + reach * slack) / (rows - slack)
            quantile = min(quantile, ((wide + reach**2 * slack) / (rows - slack) + away * (2 * reach + away)) * unit)
        one, square = pair.moment(1).upper, squares.moment(1).upper
        count = 2 * one / top
        near = 2 * (square + reach**2 * count + 4 * reach * (one + reach * count)) / rows * unit
        escape = 4 * pair.tail(max(top * rows // 4, 1)).upper
        expected = min(near + escape * self.largest, self.largest)
        return ErrorEstimate("absolute", Enclosure(expected, expected), {LEVEL: quantile}, attained=False)
