"""(ε, δ)-private designs: the ε-private one, and what the program with slacks makes of it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from leastnoise.designer.linear.clock import Clock
from leastnoise.designer.linear.orbit_program import OrbitProgram
from leastnoise.designer.linear.pure import solve_pure
from leastnoise.designer.linear.reduction import make_cells
from leastnoise.designer.linear.solution import Solution, best_constant, best_of
from leastnoise.designer.linear.whole_program import solve_to_many_digits, solve_whole
from leastnoise.model import Privacy

__all__ = ["solve_approximate"]


def solve_approximate(cells: OrbitProgram, clock: Clock) -> Solution:
    """The least loss of an (ε, δ)-private channel, proven up to a gap; never more than that of an ε-private one."""
    nothing = (Fraction(0),) * len(cells.edge_kinds)
    known = [Solution(cells, best_constant(cells), cells.prior, {}, nothing)]
    if cells.problem.privacy.epsilon > 0:
        pure = replace(cells.problem, privacy=Privacy(cells.problem.privacy.epsilon))
        share = None if clock.limit is None else clock.limit / 4
        stricter = solve_pure(make_cells(pure, reduce=cells.is_reduced), Clock(share, clock.listener), closely=False)
        known.append(Solution(cells, stricter.values, cells.prior, {}, nothing))
    known += solve_whole(cells, clock, min(known, key=lambda solution: solution.loss).values)
    best = best_of(known)
    return best_of([best, *solve_to_many_digits(cells, clock, best)])
