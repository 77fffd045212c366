"""Sorted lists of counts, such as password frequencies: how often the most frequent one occurs, the next, and so on.

A list is a `diagram`; the distance of two is a walk of `shift_chain`, whose weights go forward. `walk_sampler` draws
backward, run by run, and `halving` fills in the steps of a run. Weights are bounds in `numbers`. `partition_weights`
has the law as numbers, and `planning` compares the exact mechanism with `isotonic_counts`.
"""

from leastnoise.mechanisms.combinatorial.sorted_counts.isotonic_counts import IsotonicCounts, nearest_counts
from leastnoise.mechanisms.combinatorial.sorted_counts.planning import (
    SortedCountsPlan,
    plan_sorted_counts,
    zipf_counts,
)
from leastnoise.mechanisms.combinatorial.sorted_counts.sorted_counts import SortedCounts

__all__ = ["IsotonicCounts", "SortedCounts", "SortedCountsPlan", "nearest_counts", "plan_sorted_counts", "zipf_counts"]
