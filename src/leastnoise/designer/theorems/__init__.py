"""Theorems: problems whose best mechanism is known, recognised by their conditions and not by their names.

Each theorem has one file. Its recogniser checks all conditions itself, and answers None where one of them fails.
"""

from __future__ import annotations

from leastnoise.designer.result import Design
from leastnoise.designer.theorems.complete import recognise_complete
from leastnoise.designer.theorems.infinite import recognise_infinite
from leastnoise.designer.theorems.minimax_path import recognise_minimax_path
from leastnoise.designer.theorems.path import recognise_path
from leastnoise.designer.theorems.product import recognise_product
from leastnoise.designer.theorems.transitive import recognise_transitive
from leastnoise.model import DesignProblem

__all__ = ["recognise"]


def recognise(problem: DesignProblem) -> Design | None:
    """The optimal mechanism by a theorem, None if none of them speaks about this problem.

    >>> from leastnoise.model.design_problem import read_problem
    >>> recognise(read_problem("cycle:12", 1))
    Design(cycle(12), ε = 1, loss ≈ 0.836008658298, optimal, by theorem)
    >>> recognise(read_problem("sorted_histograms:5,3", 1)) is None
    True
    """
    return (
        recognise_infinite(problem)
        or recognise_path(problem)
        or recognise_transitive(problem)
        or recognise_product(problem, recognise)
        or recognise_complete(problem)
        or recognise_minimax_path(problem)
    )
