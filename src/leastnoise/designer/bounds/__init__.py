"""Lower bounds: what no ε-private mechanism can beat, as numbers, with statement and source.

>>> from leastnoise.designer import bounds
>>> print(bounds.median_bound(0, 8, "ln(3)"))
2: every ε-private median of data in [0, 8] is off by at least this, expected, on some data (after T13 Proposition 3.4)
"""

from leastnoise.designer.bounds.answers import (
    linear_map_bound,
    median_bound,
    min_cut_bound,
    neighbours_bound,
    sorted_counts_bound,
    sorting_bound,
    vertex_cover_bound,
)
from leastnoise.designer.bounds.bound import Bound
from leastnoise.designer.bounds.path import (
    exponential_share,
    exponential_upper_bound,
    layered_path,
    long_path_bound,
    path_bound,
    path_optimum,
    worst_path_bound,
)

__all__ = [
    "Bound",
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
