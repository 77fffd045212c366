"""Rainbow mechanisms: optimal (ε, δ)-private answers from a few colours, each dataset with its own preference.

>>> import leastnoise.mechanisms.rainbow as rainbow
>>> rainbow.Decision.threshold("ln(3)", at_least=50).probability_correct(margin=3)
Enclosure(35/36)
"""

from leastnoise.mechanisms.rainbow.best_boundary import best_boundary, randomized_response, response_boundary
from leastnoise.mechanisms.rainbow.boundary import (
    Violation,
    homogeneous_boundary,
    read_boundary,
    require_valid,
    violations,
)
from leastnoise.mechanisms.rainbow.boundary_graph import (
    boundary_morphism,
    boundary_rainbow_graph,
    require_rainbow_preserving,
)
from leastnoise.mechanisms.rainbow.closed_form import (
    Phases,
    after,
    phases,
    prefix_sum_after,
    switch_time,
    switch_times,
)
from leastnoise.mechanisms.rainbow.continuous_rainbow import PiecewiseLinearLaw, raise_law
from leastnoise.mechanisms.rainbow.decision import Decision
from leastnoise.mechanisms.rainbow.decision_plan import DecisionPlan, PlanRow
from leastnoise.mechanisms.rainbow.dominance import dominates, dominates_lexicographically
from leastnoise.mechanisms.rainbow.line import Line
from leastnoise.mechanisms.rainbow.many import PrefixBounds, after_many
from leastnoise.mechanisms.rainbow.no_optimum import BestMechanism, NoBestMechanism, best_for, find_best
from leastnoise.mechanisms.rainbow.optimal import OptimalMechanism, optimal_mechanism
from leastnoise.mechanisms.rainbow.plurality import Plurality
from leastnoise.mechanisms.rainbow.rainbow_graph import RainbowGraph
from leastnoise.mechanisms.rainbow.rainbow_mechanism import RainbowMechanism
from leastnoise.mechanisms.rainbow.rainbow_operator import Operator
from leastnoise.mechanisms.rainbow.threshold import Threshold

__all__ = [
    "BestMechanism",
    "Decision",
    "DecisionPlan",
    "Line",
    "NoBestMechanism",
    "Operator",
    "OptimalMechanism",
    "Phases",
    "PiecewiseLinearLaw",
    "PlanRow",
    "Plurality",
    "PrefixBounds",
    "RainbowGraph",
    "RainbowMechanism",
    "Threshold",
    "Violation",
    "after",
    "after_many",
    "best_boundary",
    "best_for",
    "boundary_morphism",
    "boundary_rainbow_graph",
    "dominates",
    "dominates_lexicographically",
    "find_best",
    "homogeneous_boundary",
    "optimal_mechanism",
    "phases",
    "prefix_sum_after",
    "raise_law",
    "randomized_response",
    "read_boundary",
    "require_rainbow_preserving",
    "require_valid",
    "response_boundary",
    "switch_time",
    "switch_times",
    "violations",
]
