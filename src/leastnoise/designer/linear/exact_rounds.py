"""Column generation in rationals: where doubles end, and for as long as a column is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from leastnoise.designer.linear.clock import Clock
from leastnoise.designer.linear.generate import Prices, price_all
from leastnoise.designer.linear.master import Master, Mixture, Ray
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.programs import Optimum, minimise

__all__ = ["exact_rounds"]

_MOST_ROUNDS = 20
_MOST_ROWS = 60  # of the master program, for exact pivots
_MOST_IRRATIONAL_ROWS = 24  # numbers are longer there


def exact_rounds(
    master: Master, mixture: Mixture, prices: Prices, clock: Clock
) -> Iterator[tuple[dict[Ray, Fraction], Prices]]:
    """Weights of the rays and prices of the rows, better from round to round.

    First the solver's own basis is solved in rationals. If an exactly priced column is missing then, it is added and
    the program over all promising columns is solved by exact pivots. Where β is rational this ends at the optimum.
    Where it is not, powers are those of many digits, and solutions are cut, for theirs would be thousands.
    """
    is_rational = master.powers.base is not None
    most = _MOST_ROWS if is_rational else _MOST_IRRATIONAL_ROWS
    found, wanted = _solve_basis(master, mixture), set(master.promising(mixture))
    for _ in range(_MOST_ROUNDS):
        if found is not None:
            weights, row_prices = found
            if not is_rational:
                unit = 2 ** (2 * master.powers.digits)
                weights = {ray: Fraction(int(weight * unit), unit) for ray, weight in weights.items()}
                row_prices = [Fraction(int(price * unit), unit) for price in row_prices]
            prior, rows = _split(master, row_prices)
            prices = price_all(master, prior, rows, [priced.potentials for priced in prices.priced])
            if min(prior) >= 0:
                yield weights, prices
            missing = [number for number, priced in enumerate(prices.priced) if priced.value < 0]
            wanted |= {master.add(number, prices.priced[number].potentials) for number in missing}
        if len(master.cells.row_sizes) > most or clock.is_over:
            return
        found = _solve_program(master, mixture, sorted(wanted))


def _split(master: Master, prices: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """The weights of the rows, and their prices; for "worst" the weights are the prices of the losses.

    Those sum to less than one where the worst loss is 0; what is missing may go to any row, losses are no less than 0.
    """
    size = len(master.cells.row_sizes)
    if not master.is_worst:
        return master.cells.prior, tuple(prices)
    weights = [-price for price in prices[size:]]
    weights[0] += 1 - sum(weights)
    return tuple(weights), tuple(prices[:size])


def _solve_basis(master: Master, mixture: Mixture) -> tuple[dict[Ray, Fraction], list[Fraction]] | None:
    """Weights and prices of the basis that the solver ended with; None if it is none, or not feasible."""
    many = len(mixture.weights)
    rays = [master.rays[place] for place in mixture.basic if place < many]
    cost, matrix, right = master.exact_program(rays)
    chosen = [*range(len(rays)), *(place - many + len(rays) for place in mixture.basic if place >= many)]
    if len(chosen) != matrix.shape[0]:
        return None
    cost, matrix = [cost[place] for place in chosen], matrix.take_columns(chosen)
    point = matrix.solve(RationalMatrix([[entry] for entry in right]))
    prices = matrix.transposed().solve(RationalMatrix([[entry] for entry in cost]))
    if point is None or prices is None or not point.is_nonnegative():
        return None
    weights = {ray: value for ray, (value,) in zip(rays, point.rows, strict=False)}
    return weights, [value for (value,) in prices.rows]


def _solve_program(
    master: Master, mixture: Mixture, chosen: Sequence[int]
) -> tuple[dict[Ray, Fraction], list[Fraction]] | None:
    """The exact optimum over some of the columns."""
    cost, matrix, right = master.exact_program([master.rays[place] for place in chosen])
    first = [place for place, ray in enumerate(chosen) if ray < len(mixture.weights) and mixture.weights[ray] > 0]
    optimum = minimise(cost, matrix, right, first)
    if not isinstance(optimum, Optimum):
        return None
    return {master.rays[ray]: value for ray, value in zip(chosen, optimum.point, strict=False)}, list(optimum.prices)
