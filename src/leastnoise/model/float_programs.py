"""A floating-point solver's word on a linear program: quick, nearly right, never trusted.

Whoever calls this turns the numbers into rationals and proves what they suggest, or does without them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Guess", "guess_program"]

Floats = NDArray[np.float64]


class Guess(NamedTuple):
    """A point, and a price for every equation (and inequality) that may be optimal."""

    point: Floats
    equation_prices: Floats
    inequality_prices: Floats


def guess_program(
    cost: Floats,
    equations: Any,
    equation_right: Floats,
    inequalities: Any = None,
    inequality_right: Floats | None = None,
) -> Guess | None:
    """Minimise cost·x over equations·x = right, inequalities·x ≤ right and x ≥ 0; None where the solver gives up."""
    from scipy.optimize import linprog  # half a second to import, and seldom needed

    try:
        answer = linprog(
            cost, A_ub=inequalities, b_ub=inequality_right, A_eq=equations, b_eq=equation_right, method="highs-ds"
        )
    except ValueError:  # numbers out of the range of floats
        return None
    if answer.status != 0 or answer.x is None:
        return None
    return Guess(answer.x, answer.eqlin.marginals, answer.ineqlin.marginals)
