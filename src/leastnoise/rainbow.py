"""Optimal decisions and rainbow mechanisms: (ε, δ)-private answers from a few colours.

>>> from leastnoise import rainbow
>>> rainbow.Decision.threshold("ln(3)", at_least=50).probability_correct(margin=3)
Enclosure(35/36)
"""

from leastnoise.mechanisms.rainbow.batch_operator import PrefixBounds, after_many
from leastnoise.mechanisms.rainbow.best_boundary import best_boundary, randomized_response, response_boundary
from leastnoise.mechanisms.rainbow.boundary import (
    BoundaryViolation,
    boundary_morphism,
    boundary_rainbow_graph,
    homogeneous_boundary,
    read_boundary,
    require_rainbow_preserving,
    require_valid,
    violations,
)
from leastnoise.mechanisms.rainbow.closed_form import (
    Phases,
    PiecewiseLinearLaw,
    after,
    phases,
    prefix_sum_after,
    raise_law,
    switch_time,
    switch_times,
)
from leastnoise.mechanisms.rainbow.decision import Decision, DecisionPlan, PlanRow, PluralityDecision, ThresholdDecision
from leastnoise.mechanisms.rainbow.existence import BestMechanism, NoBestMechanism, best_for, find_best, prove_best
from leastnoise.mechanisms.rainbow.path_law import PathLaw
from leastnoise.mechanisms.rainbow.rainbow_graph import RainbowGraph, dominates, dominates_lexicographically
from leastnoise.mechanisms.rainbow.rainbow_mechanism import OptimalMechanism, RainbowMechanism, optimal_mechanism
from leastnoise.mechanisms.rainbow.rainbow_operator import Operator

__all__ = [
    "BestMechanism",
    "BoundaryViolation",
    "Decision",
    "DecisionPlan",
    "NoBestMechanism",
    "Operator",
    "OptimalMechanism",
    "PathLaw",
    "Phases",
    "PiecewiseLinearLaw",
    "PlanRow",
    "PluralityDecision",
    "PrefixBounds",
    "RainbowGraph",
    "RainbowMechanism",
    "ThresholdDecision",
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
    "prove_best",
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
