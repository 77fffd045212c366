"""Column generation: mix the columns there are, price the rows, find the columns that are missing.

The prices of the rows are a solver's doubles, taken as rationals. What follows from them (the best column, the flow
that proves it) is computed in whole numbers, so a bound holds whatever the prices are; better prices make it better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, lcm

import numpy as np
from scipy.sparse import csc_array

from leastnoise.designer.linear.clock import Clock
from leastnoise.designer.linear.column_pricing import Priced, first_rays, price, rays_of
from leastnoise.designer.linear.orbit_program import OrbitProgram
from leastnoise.designer.linear.restricted_master import Mixture, RestrictedMaster
from leastnoise.exact import IntArray
from leastnoise.model import guess_optimum

__all__ = ["DualPrices", "generate_columns", "price_all"]

_NEGLIGIBLE = 1e-13  # of the loss: what a double's prices can still tell from zero
_COARSE = 1e-3
_BITS = 80
_ROUNDS_BEFORE_A_GUESS = 2
_MOST_SHIFT = 30
_MOST_ROUNDS = 60  # where more would be needed, the program over all cells is quicker


@dataclass(frozen=True)
class DualPrices:
    """Prices of the rows, with the best column of each orbit of outputs for them.

    Attributes:
        prior: The weight of each row; the prior, or for "worst" what the solver makes of it.
        rows: v, the price of each row.
        priced: The best columns.
        scale: What gains were multiplied by to be whole.
    """

    prior: tuple[Fraction, ...]
    rows: tuple[Fraction, ...]
    priced: tuple[Priced, ...]
    scale: int

    def gain(self, column: int, home: int) -> Fraction:
        """How far below zero the reduced cost of the best column is, per unit of probability at home."""
        priced = self.priced[column]
        return Fraction(-priced.value, self.scale * priced.weights[home])


def price_all(
    master: RestrictedMaster, prior: tuple[Fraction, ...], rows: tuple[Fraction, ...], starts: Sequence[IntArray]
) -> DualPrices:
    """The best column of each orbit of outputs for given prices, g_o = c_o − v_r·k_o."""
    cells = master.cells
    places, outputs = cells.row_of.tolist(), cells.outputs_of.tolist()
    gains = [cost - rows[row] * k for cost, row, k in zip(cells.costs(prior), places, outputs, strict=True)]
    scale = lcm(*(gain.denominator for gain in gains))
    whole = [gain.numerator * (scale // gain.denominator) for gain in gains]
    priced = tuple(
        price(column, [whole[cell] for cell in column.cells.tolist()], start, master.powers)
        for column, start in zip(cells.columns, starts, strict=True)
    )
    return DualPrices(prior, rows, priced, scale)


def generate_columns(master: RestrictedMaster, clock: Clock) -> tuple[Mixture, DualPrices] | None:
    """Add columns until none is missing that doubles can see, or the time is up.

    Often the first columns are nearly enough. Where they are not, a solver's answer to the whole program is asked for.
    None if the solver gives up on the first columns.
    """
    cells = master.cells
    for number, column in enumerate(cells.columns):
        for potentials in first_rays(column):
            master.add(number, potentials)
    clock.enter("generating columns")
    starts: list[IntArray] | None = None
    mixture: Mixture | None = None
    prices: DualPrices | None = None
    last = 1.0  # losses of cells go up to one
    for rounds in range(_MOST_ROUNDS):
        clock.tick()
        if rounds == _ROUNDS_BEFORE_A_GUESS and len(cells.row_sizes) > 1:
            _add_guesses(master, clock)
            clock.enter("generating columns")
        better = master.mix()
        if better is None:
            break
        mixture = better
        prices = price_all(master, *_rational_prices(cells, mixture), starts or _heaviest(master, mixture))
        starts = [priced.potentials for priced in prices.priced]
        before = len(master.rays)
        for number, column in enumerate(cells.columns):
            if prices.gain(number, column.home) > _NEGLIGIBLE * mixture.loss:
                master.add(number, prices.priced[number].potentials)
        settled, last = mixture.loss >= _COARSE * last, mixture.loss  # else prices were read off too coarse a scale
        if (settled and len(master.rays) == before) or clock.is_over:
            break
    return None if mixture is None or prices is None else (mixture, prices)


def _rational_prices(cells: OrbitProgram, mixture: Mixture) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Weights and prices of the rows; for "worst" the weights are the prices of the losses, made to sum to one."""
    size = len(cells.row_sizes)
    rows = _rationals(mixture.prices[:size].tolist())
    if cells.problem.objective == "average":
        return cells.prior, rows
    weights = _rationals(np.maximum(-mixture.prices[size:], 0).tolist())
    total = sum(weights, start=Fraction(0))
    return tuple(weight / total for weight in weights) if total else cells.prior, rows


def _rationals(numbers: list[float]) -> tuple[Fraction, ...]:
    """Doubles as rationals with one denominator, eighty bits below the largest."""
    scale = Fraction(2) ** (_BITS - frexp(max(map(abs, numbers)))[1])
    return tuple(round(Fraction(number) * scale) / scale for number in numbers)


def _heaviest(master: RestrictedMaster, mixture: Mixture) -> list[IntArray]:
    """For each orbit of outputs the column that weighs most in the mixture."""
    best = dict.fromkeys(range(len(master.cells.columns)), 0)
    for place in np.argsort(mixture.weights, kind="stable").tolist():
        best[master.rays[place][0]] = place
    return [np.array(master.rays[place][1]) for place in best.values()]


def _add_guesses(master: RestrictedMaster, clock: Clock) -> None:
    """Add what a solver's answer to the program over cells is made of.

    Its unknowns are z·2^k with 2^-k near β^−(distance to home), which keeps them within the range of doubles.
    """
    cells, rate = master.cells, master.powers.float_rate
    clock.enter("solving in floating point")
    shift = np.zeros(cells.count)
    for column in cells.columns:
        shift[column.cells] = column.distances[column.home]
    shift = np.minimum(np.round(shift * rate / np.log(2)), _MOST_SHIFT)
    scaled = cells.outputs_of * 2.0**-shift
    arcs, rows = len(cells.tails), len(cells.row_sizes)
    ratios = np.exp(rate * cells.lengths) * 2.0 ** (shift[cells.tails] - shift[cells.heads])
    losses = np.array(cells.losses, dtype=np.float64)
    entries = [
        (cells.row_of, np.arange(cells.count), scaled),
        (rows + np.arange(arcs), cells.tails, np.ones(arcs)),
        (rows + np.arange(arcs), cells.heads, -ratios),
    ]
    lower, upper = [np.ones(rows), np.full(arcs, -np.inf)], [np.ones(rows), np.zeros(arcs)]
    width = cells.count
    if cells.problem.objective == "average":
        cost = scaled * losses * np.array(cells.prior, dtype=np.float64)[cells.row_of]
    else:
        cost = np.append(np.zeros(width), 1.0)
        below = rows + arcs + np.arange(rows)
        entries += [(rows + arcs + cells.row_of, np.arange(width), scaled * losses)]
        entries += [(below, np.full(rows, width), np.full(rows, -1.0))]
        lower, upper, width = [*lower, np.full(rows, -np.inf)], [*upper, np.zeros(rows)], width + 1
    places = np.concatenate([rows for rows, _, _ in entries]), np.concatenate([columns for _, columns, _ in entries])
    values = np.concatenate([values for _, _, values in entries])
    guess = guess_optimum(
        cost,
        csc_array((values, places), shape=(len(np.concatenate(lower)), width)),
        np.concatenate(lower),
        np.concatenate(upper),
        tolerance=1e-7,
        method="ipm" if arcs > 3 * cells.count else "simplex",
        seconds=clock.left,
        tick=clock.tick,
    )
    if guess is not None:
        probabilities = guess.point[: cells.count] * 2.0**-shift
        for number, column in enumerate(cells.columns):
            for potentials in rays_of(column, probabilities[column.cells], master.powers):
                master.add(number, potentials)
