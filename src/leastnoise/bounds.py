"""Lower bounds that no mechanism can beat."""

from leastnoise.designer.bounds import (
    LowerBound,
    exponential_share,
    exponential_upper_bound,
    layered_path,
    linear_map_bound,
    long_path_bound,
    median_bound,
    min_cut_bound,
    neighbours_bound,
    path_bound,
    path_optimum,
    sorted_counts_bound,
    sorting_bound,
    vertex_cover_bound,
    worst_path_bound,
)
from leastnoise.designer.continuous import ContinuousLoss, continuous_loss

__all__ = [
    "ContinuousLoss",
    "LowerBound",
    "continuous_loss",
    "exponential_share",
    "exponential_upper_bound",
    "layered_path",
    "linear_map_bound",
    "long_path_bound",
    "median_bound",
    "min_cut_bound",
    "neighbours_bound",
    "path_bound",
    "path_optimum",
    "sorted_counts_bound",
    "sorting_bound",
    "vertex_cover_bound",
    "worst_path_bound",
]
