"""HiGHS, the floating-point solver of linear programs: quick, nearly right, never trusted.

It runs in a thread of its own, so that an interrupt from the keyboard stops it and long solves can report.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import MissingPackage

__all__ = ["FloatGuess", "Method", "guess_optimum"]

Floats: TypeAlias = NDArray[np.float64]
Method: TypeAlias = Literal["simplex", "ipm"]

_TICK = 0.05  # seconds between two looks at the solver


class FloatGuess(NamedTuple):
    """What the solver believes: a point, a price for each row, which columns are basic and which rows are tight."""

    point: Floats
    prices: Floats
    basic: NDArray[np.bool_]
    tight: NDArray[np.bool_]


def guess_optimum(
    cost: Floats,
    matrix: Any,
    row_lower: Floats,
    row_upper: Floats,
    *,
    method: Method = "simplex",
    tolerance: float = 1e-9,
    seconds: float | None = None,
    tick: Callable[[], None] = lambda: None,
) -> FloatGuess | None:
    """Minimise cost·x over row_lower ≤ matrix·x ≤ row_upper, x ≥ 0; None where the solver gives up.

    Args:
        cost: One number per column.
        matrix: A sparse matrix by columns.
        row_lower: One number per row, −inf where there is none.
        row_upper: One number per row, inf where there is none.
        method: Simplex, or interior point followed by crossover to a basis.
        tolerance: How far a bound or a price may be off.
        seconds: When to stop.
        tick: Called now and then while the solver runs.
    """
    highspy = _highspy()
    solver = highspy.Highs()
    options: dict[str, bool | float | str] = {
        "output_flag": False,
        "solver": method,
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
    }
    if seconds is not None:
        options["time_limit"] = max(seconds, 1e-3)
    for name, value in options.items():
        solver.setOptionValue(name, value)
    height, width = matrix.shape
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = width, height
    program.col_cost_, program.col_lower_, program.col_upper_ = cost, np.zeros(width), np.full(width, np.inf)
    program.row_lower_, program.row_upper_ = row_lower, row_upper
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    solver.passModel(program)
    _run(solver, tick)
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution, basis = solver.getSolution(), solver.getBasis()
    is_basic = highspy.HighsBasisStatus.kBasic
    basic = np.array([status == is_basic for status in basis.col_status], dtype=bool)
    tight = np.array([status != is_basic for status in basis.row_status], dtype=bool)
    return FloatGuess(np.array(solution.col_value), np.array(solution.row_dual), basic, tight)


def _run(solver: Any, tick: Callable[[], None]) -> None:
    solver.HandleUserInterrupt = True
    thread = solver.startSolve()
    try:
        while thread.is_alive():
            thread.join(_TICK)
            tick()
    except BaseException:  # an interrupt, or a tick that wants to stop: the solver must not run on alone
        solver.cancelSolve()
        thread.join()
        raise


def _highspy() -> Any:
    try:
        import highspy
    except ImportError:
        raise MissingPackage(
            "a design by linear programming needs the package highspy", fix="pip install leastnoise"
        ) from None
    return highspy
