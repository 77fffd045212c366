"""The best private mechanism by a linear program, made exact, with its proof."""

from __future__ import annotations

from functools import partial

from leastnoise.designer.linear.approximate import solve_approximate
from leastnoise.designer.linear.clock import Clock
from leastnoise.designer.linear.many_inputs_proof import solve_many
from leastnoise.designer.linear.proof import Proof
from leastnoise.designer.linear.pure import solve_pure
from leastnoise.designer.linear.reduction import has_many_constraints, make_cells
from leastnoise.designer.result import Design
from leastnoise.exact import Enclosure
from leastnoise.mechanisms.designed.designed_mechanism import DesignedMechanism
from leastnoise.model import DesignProblem

__all__ = ["solve"]


def solve(problem: DesignProblem, clock: Clock | None = None, *, reduce: bool = True) -> Design:
    """The design by a linear program, whatever theorems say."""
    clock = Clock(None, None) if clock is None else clock
    clock.enter("finding symmetries" if reduce else "building the program")
    is_average = problem.privacy.is_pure and problem.objective == "average"
    if is_average and has_many_constraints(problem, reduce=reduce, limit=clock.limit):
        return solve_many(problem, clock)
    cells = make_cells(problem, reduce=reduce)
    solution = solve_pure(cells, clock) if problem.privacy.is_pure else solve_approximate(cells, clock)
    solution.require_private()
    proof = Proof(solution)
    mechanism = DesignedMechanism(proof.channel, problem, solution.lower_bound, partial(getattr, proof, "certificate"))
    return Design(
        problem,
        mechanism,
        loss=Enclosure(solution.loss, solution.loss),
        lower_bound=Enclosure(solution.lower_bound, solution.lower_bound),
        gap=solution.gap,
        reason=mechanism.reason(),
        route="symmetry" if cells.is_reduced else "lp",
        make_channel=lambda: proof.channel,
        make_certificate=lambda: proof.certificate,
    )
