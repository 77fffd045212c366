"""All answers of a publication from one release, with the least noise: linear workloads, hierarchies, marginals."""

from leastnoise.mechanisms.strategy.mapped_strategy import MappedStrategy
from leastnoise.mechanisms.strategy.marginals import MarginalsMechanism, plan_marginals
from leastnoise.mechanisms.strategy.planning import Strategy, plan_strategy
from leastnoise.mechanisms.strategy.pure_marginals import PureMarginalsMechanism
from leastnoise.mechanisms.strategy.pure_planning import plan_pure_strategy
from leastnoise.mechanisms.strategy.pure_shares import shared_price
from leastnoise.mechanisms.strategy.running_totals import RunningDay, RunningTotals, plan_running
from leastnoise.mechanisms.strategy.strategy_mechanism import (
    Estimates,
    PureStrategyMechanism,
    StrategyMechanism,
    StrategyRelease,
)
from leastnoise.model import ExplicitWorkload, HierarchyWorkload, IdentityWorkload, PrefixSums, Ranges, TotalWorkload

__all__ = [
    "Estimates",
    "ExplicitWorkload",
    "HierarchyWorkload",
    "IdentityWorkload",
    "MappedStrategy",
    "MarginalsMechanism",
    "PrefixSums",
    "PureMarginalsMechanism",
    "PureStrategyMechanism",
    "Ranges",
    "RunningDay",
    "RunningTotals",
    "Strategy",
    "StrategyMechanism",
    "StrategyRelease",
    "TotalWorkload",
    "plan_marginals",
    "plan_pure_strategy",
    "plan_running",
    "plan_strategy",
    "shared_price",
]
