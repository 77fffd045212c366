"""ε-private designs: guess, generate columns until none is missing, then make the answer exact.

Where β = e^(ε·unit) is rational, the last basis is solved in rationals and columns are priced exactly: gap 0. Otherwise
weights are doubles taken as rationals, powers are rounded on the private side, and what rows miss of a sum of one goes
to a constant answer: an exactly private channel within about 1e-15 of the optimum.

Column generation in rationals: where doubles end, and for as long as a column is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from leastnoise.designer.linear.clock import Clock, TimeIsUp
from leastnoise.designer.linear.generate_columns import DualPrices, generate_columns, price_all
from leastnoise.designer.linear.orbit_program import OrbitProgram
from leastnoise.designer.linear.powers import Powers
from leastnoise.designer.linear.restricted_master import Mixture, Ray, RestrictedMaster
from leastnoise.designer.linear.solution import Solution, best_constant, best_of
from leastnoise.designer.linear.whole_program import solve_to_many_digits, solve_whole
from leastnoise.exact import Optimum, RationalMatrix, exp_below, minimise

__all__ = ["exact_rounds", "solve_pure"]

_MOST_ROUNDS = 20
_MOST_ROWS = 60  # of the master program, for exact pivots
_MOST_IRRATIONAL_ROWS = 24  # numbers are longer there
_GOOD = Fraction(1, 10**12)
_FAIR = Fraction(1, 10**9)  # where β is irrational, exact pivots take long for little more
_NEARLY = Fraction(1, 10**11)  # what exact rounds close soon


def solve_pure(cells: OrbitProgram, clock: Clock, *, closely: bool = True) -> Solution:
    """The least loss of an ε-private channel, proven up to a gap, or the best within the time limit.

    Args:
        cells: The program.
        clock: How long it may take.
        closely: Whether a gap that doubles leave is closed with long numbers.
    """
    master = RestrictedMaster(cells, Powers(cells.problem.privacy.epsilon * cells.unit))
    best = Solution(cells, best_constant(cells), cells.prior, {})
    generated = generate_columns(master, clock)
    if generated is not None:
        mixture, prices = generated
        known = zip(master.rays, mixture.weights.tolist(), strict=False)  # a ray that came last may not be mixed in yet
        weights = {ray: Fraction(weight) for ray, weight in known if weight > 0}
        best = best_of([best, _solution(master, weights, prices)])
    if not (best.gap <= _NEARLY * abs(best.loss) or clock.is_over):
        best = best_of([best, *solve_whole(cells, clock, best.values)])
    if generated is not None:
        best = best_of([best, *_exact_solutions(master, generated, best, clock)])
    return best_of([best, *solve_to_many_digits(cells, clock, best)]) if closely else best


def _exact_solutions(
    master: RestrictedMaster, generated: tuple[Mixture, DualPrices], first: Solution, clock: Clock
) -> Iterator[Solution]:
    """From round to round, until a gap is closed: to the end where β is rational, else to what many digits show."""
    is_rational = master.powers.base is not None
    if clock.is_over or first.gap == 0 or (_is_good(first) and not is_rational):
        return
    clock.enter("solving exactly")
    pivots = is_rational or first.gap > _FAIR * abs(first.loss)
    for weights, prices in exact_rounds(master, *generated, clock, pivots=pivots):
        solution = _solution(master, weights, prices)
        yield solution
        if solution.gap == 0 or (_is_good(solution) and not is_rational):
            return


def _is_good(solution: Solution) -> bool:
    return solution.gap <= _GOOD * abs(solution.loss)


def _solution(master: RestrictedMaster, weights: dict[Ray, Fraction], prices: DualPrices) -> Solution:
    """What weights of the rays and prices of the rows amount to, made exactly feasible."""
    cells = master.cells
    return Solution(cells, _whole_rows(cells, _values(master, weights)), prices.prior, _shares(cells, prices))


def _values(master: RestrictedMaster, weights: dict[Ray, Fraction]) -> list[Fraction]:
    """The cells of a mixture, z = Σ μ·β^f."""
    values = [Fraction(0)] * master.cells.count
    for (column, potentials), weight in weights.items():
        for cell, potential in zip(master.cells.columns[column].cells.tolist(), potentials, strict=True):
            values[cell] += weight * master.powers.private(potential)
    return values


def _whole_rows(cells: OrbitProgram, values: Sequence[Fraction]) -> list[Fraction]:
    """Make rows that sum to nearly one sum to exactly one, at no cost in privacy.

    With sums within τ of one take (1 − η)·z and give a constant answer the rest of each row, m = 1 − (1 − η)·sum. That
    lies between η − τ and η + τ, so its ratios stay below e^ε if η ≥ τ·(e^ε + 1)/(e^ε − 1).
    """
    sums = [Fraction(0)] * len(cells.row_sizes)
    rows, outputs = cells.row_of.tolist(), cells.outputs_of.tolist()
    for value, row, count in zip(values, rows, outputs, strict=True):
        sums[row] += count * value
    miss = max(abs(1 - total) for total in sums)
    if not miss:
        return list(values)
    factor = exp_below(cells.problem.privacy.epsilon * cells.unit * min(cells.lengths.tolist(), default=1))
    enough = 2 * miss * (factor + 1) / (factor - 1)
    share = Fraction(
        1, 1 << max(int(1 / enough).bit_length() - 1, 0)
    )  # the next power of two: short numbers stay short
    rest = [1 - (1 - share) * total for total in sums]
    constant = best_constant(cells)
    return [(1 - share) * z + rest[row] * other for z, row, other in zip(values, rows, constant, strict=True)]


def _shares(cells: OrbitProgram, prices: DualPrices) -> dict[int, Fraction]:
    """The multiplier of each triple, u = w/(weight of the tail), spread over the triples of its arc."""
    shares = {}
    for column, priced in zip(cells.columns, prices.priced, strict=True):
        tails, arcs = column.tails[priced.arcs].tolist(), column.arcs[priced.arcs].tolist()
        for tail, arc, flow in zip(tails, arcs, priced.flows, strict=True):
            if flow:
                triples = int(cells.triples[arc])
                shares[arc] = Fraction(flow, prices.scale * priced.weights[tail] * triples)
    return shares


def exact_rounds(
    master: RestrictedMaster, mixture: Mixture, prices: DualPrices, clock: Clock, *, pivots: bool = True
) -> Iterator[tuple[dict[Ray, Fraction], DualPrices]]:
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
        if not pivots or len(master.cells.row_sizes) > most or clock.is_over:
            return
        try:
            found = _solve_program(master, mixture, sorted(wanted), clock)
        except TimeIsUp:
            return


def _split(master: RestrictedMaster, prices: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """The weights of the rows, and their prices; for "worst" the weights are the prices of the losses.

    Those sum to less than one where the worst loss is 0; what is missing may go to any row, losses are no less than 0.
    """
    size = len(master.cells.row_sizes)
    if not master.is_worst:
        return master.cells.prior, tuple(prices)
    weights = [-price for price in prices[size:]]
    weights[0] += 1 - sum(weights)
    return tuple(weights), tuple(prices[:size])


def _solve_basis(master: RestrictedMaster, mixture: Mixture) -> tuple[dict[Ray, Fraction], list[Fraction]] | None:
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
    master: RestrictedMaster, mixture: Mixture, chosen: Sequence[int], clock: Clock
) -> tuple[dict[Ray, Fraction], list[Fraction]] | None:
    """The exact optimum over some of the columns."""
    cost, matrix, right = master.exact_program([master.rays[place] for place in chosen])
    first = [place for place, ray in enumerate(chosen) if ray < len(mixture.weights) and mixture.weights[ray] > 0]
    optimum = minimise(cost, matrix, right, first, clock.tick_or_stop)
    if not isinstance(optimum, Optimum):
        return None
    return {master.rays[ray]: value for ray, value in zip(chosen, optimum.point, strict=False)}, list(optimum.prices)
