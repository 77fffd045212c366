"""Sorted lists of counts, such as password frequencies: how often the most frequent one occurs, the next, and so on."""

from leastnoise.mechanisms.combinatorial.sorted_counts.isotonic_counts import IsotonicCounts
from leastnoise.mechanisms.combinatorial.sorted_counts.planning import (
    SortedCountsPlan,
    plan_sorted_counts,
    zipf_counts,
)
from leastnoise.mechanisms.combinatorial.sorted_counts.sorted_counts import SortedCounts

__all__ = ["IsotonicCounts", "SortedCounts", "SortedCountsPlan", "plan_sorted_counts", "zipf_counts"]
