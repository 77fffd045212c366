"""A floating-point solver's word on a linear program: quick, nearly right, never trusted.

Whoever calls this turns the numbers into rationals and proves what they suggest, or does without them.

HiGHS runs in a thread of its own, so that an interrupt from the keyboard stops it and long solves can report. Whoever
interrupts waits until it has stopped: a solver that runs on alone would end the interpreter with an error.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import MissingPackage

__all__ = ["FloatGuess", "Method", "guess_optimum"]

Floats: TypeAlias = NDArray[np.float64]
Method: TypeAlias = Literal["simplex", "ipm"]

_TICK = 0.05  # seconds between two looks at the solver


class FloatGuess(NamedTuple):
    """What the solver believes.

    Attributes:
        point: One number per column.
        prices: One number per row.
        basic: Which columns are in the basis.
        tight: Which rows are not.
        statuses: Both as the solver writes them, for a start from there.
    """

    point: Floats
    prices: Floats
    basic: NDArray[np.bool_]
    tight: NDArray[np.bool_]
    statuses: tuple[list[Any], list[Any]]


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
    lower: Floats | None = None,
    start: FloatGuess | None = None,
) -> FloatGuess | None:
    """Minimise cost·x over row_lower ≤ matrix·x ≤ row_upper, x ≥ lower; None where the solver gives up.

    Args:
        cost: One number per column.
        matrix: A dense matrix, or a sparse one of any kind.
        row_lower: One number per row, −inf where there is none.
        row_upper: One number per row, inf where there is none.
        method: Simplex, or interior point followed by crossover to a basis.
        tolerance: How far a bound or a price may be off.
        seconds: When to stop.
        tick: Called now and then while the solver runs.
        lower: One number per column, 0 if left out.
        start: A guess for a program of the same shape, whose basis is tried first.
    """
    from scipy.sparse import csc_array  # half a second to import, and seldom needed

    highspy = _highspy()
    by_columns = csc_array(matrix)
    solver = highspy.Highs()
    options: dict[str, bool | float | str] = {
        "output_flag": False,
        "solver": method,
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
        "small_matrix_value": 1e-12,
    }
    if seconds is not None:
        options["time_limit"] = max(seconds, 1e-3)
    for name, value in options.items():
        solver.setOptionValue(name, value)
    height, width = by_columns.shape
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = width, height
    program.col_cost_, program.col_upper_ = cost, np.full(width, np.inf)
    program.col_lower_ = np.zeros(width) if lower is None else lower
    program.row_lower_, program.row_upper_ = row_lower, row_upper
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = by_columns.indptr, by_columns.indices
    program.a_matrix_.value_ = by_columns.data
    if solver.passModel(program) == highspy.HighsStatus.kError:  # numbers out of the range of floats
        return None
    if start is not None and len(start.statuses[0]) == width and len(start.statuses[1]) == height:
        known = highspy.HighsBasis()
        known.col_status, known.row_status = start.statuses
        known.valid = True
        solver.setBasis(known)
    _run(solver, tick)
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution, basis = solver.getSolution(), solver.getBasis()
    is_basic = highspy.HighsBasisStatus.kBasic
    basic = np.array([status == is_basic for status in basis.col_status], dtype=bool)
    tight = np.array([status != is_basic for status in basis.row_status], dtype=bool)
    statuses = list(basis.col_status), list(basis.row_status)
    return FloatGuess(np.array(solution.col_value), np.array(solution.row_dual), basic, tight, statuses)


def _run(solver: Any, tick: Callable[[], None]) -> None:
    stop = Event()

    def look(event: Any) -> None:
        if stop.is_set():
            event.interrupt()

    solver.cbSimplexInterrupt += look
    solver.cbIpmInterrupt += look
    thread = Thread(target=solver.run, daemon=True)
    try:
        thread.start()
        while thread.is_alive():
            thread.join(_TICK)
            tick()
    except BaseException:  # an interrupt, or a tick that wants to stop
        stop.set()
        _outlast(thread)
        raise


def _outlast(thread: Thread) -> None:
    """Wait until the thread has ended, whatever comes from the keyboard meanwhile."""
    while thread.is_alive():
        try:
            thread.join()
        except KeyboardInterrupt:
            continue


def _highspy() -> Any:
    try:
        import highspy
    except ImportError:
        raise MissingPackage("linear programming needs the package highspy", fix="pip install leastnoise") from None
    return highspy
