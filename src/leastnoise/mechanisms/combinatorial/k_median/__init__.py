"""Private k-median: facilities among public points, near to private demand."""

from leastnoise.mechanisms.combinatorial.k_median.k_median import KMedian
from leastnoise.mechanisms.combinatorial.k_median.noisy_demand import NoisyDemand
from leastnoise.mechanisms.combinatorial.k_median.planning import FacilityPlan, plan_k_median

__all__ = ["FacilityPlan", "KMedian", "NoisyDemand", "plan_k_median"]
