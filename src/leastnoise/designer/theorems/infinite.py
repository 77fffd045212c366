"""The infinite paths: geometric noise on the whole numbers, and clamped at zero on the natural ones.

No input is like a first one, so there is no uniform prior; what is meant is the average over longer and longer
stretches, or the worst input. For both the least expected loss is that of geometric noise, 2α/(1 − α²) for the
distance: on a stretch of n nodes with a uniform prior the truncated geometric mechanism is optimal (Ghosh, Roughgarden
and Sundararajan, SIAM J. Comput. 2012), and all but a vanishing share of its outputs are best read as they are and cost
that much. (Aldà and Simon 2017, Example 3, state 2α/(1 − α²) and, for the end of the one-sided path alone, α/(1 − α).)
"""

from __future__ import annotations

from fractions import Fraction

from leastnoise.designer.result import Design
from leastnoise.mechanisms.designed.remapped_geometric import ClampedGeometric
from leastnoise.mechanisms.numeric.integer_noise import Geometric
from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
from leastnoise.model import Certificate, DesignProblem, Mechanism, Reason, absolute, squared, zero_one
from leastnoise.model.graphs.infinite import InfinitePath

__all__ = ["recognise_infinite"]

_SHOWN = 24  # steps of the path in the certificate: the theorem is the same for all
_LOSSES = (absolute, squared, zero_one)


def recognise_infinite(problem: DesignProblem) -> Design | None:
    """The optimal mechanism on an infinite path; None elsewhere, and for losses other than |y − x|^p and zero-one.

    >>> from leastnoise.model.design_problem import read_problem
    >>> recognise_infinite(read_problem("integers", "ln(3)", objective="worst")).loss
    Enclosure(3/4)
    """
    graph = problem.graph
    if not isinstance(graph, InfinitePath) or not problem.privacy.is_pure or problem.outputs is not None:
        return None
    if problem.loss is not None and problem.loss not in _LOSSES:
        return None
    epsilon = problem.privacy.epsilon
    noise = Geometric(epsilon)
    loss = noise.expected_loss(problem.loss or absolute, bits=128)
    mechanism: Mechanism = noise if graph.two_sided else ClampedGeometric(epsilon)
    reason = Reason(
        "on an infinite path no private mechanism costs less than geometric noise, on average over long stretches or "
        "at its worst input",
        "Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012; Aldà and Simon, CSCML 2017, Example 3",
        loss,
    )

    def prove() -> Certificate:
        return TruncatedGeometric(epsilon, 0, _SHOWN).certificate()

    return Design(problem, mechanism, loss, loss, Fraction(0), reason, "theorem", lambda: None, prove)
