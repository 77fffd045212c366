"""Events add up to (ε, δ): accountants that never report too little, and filters that can't be overdrawn."""

from leastnoise.composition.advanced import advanced_per_query, corollary_per_query
from leastnoise.composition.best_bound import all_bounds, compose, per_query
from leastnoise.composition.bound import Bound, basic_per_query
from leastnoise.composition.cost import Cost, Limits, cost_of
from leastnoise.composition.filter import Filter, Remaining
from leastnoise.composition.group import group_privacy
from leastnoise.composition.homogeneous import homogeneous_delta, homogeneous_epsilon, homogeneous_per_query

__all__ = [
    "Bound",
    "Cost",
    "Filter",
    "Limits",
    "Remaining",
    "advanced_per_query",
    "all_bounds",
    "basic_per_query",
    "compose",
    "corollary_per_query",
    "cost_of",
    "group_privacy",
    "homogeneous_delta",
    "homogeneous_epsilon",
    "homogeneous_per_query",
    "per_query",
]
