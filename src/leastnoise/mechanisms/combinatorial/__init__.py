"""Private answers about graphs, points and lists: cuts, facilities, covers, sorted counts."""

from leastnoise.mechanisms.combinatorial.k_median import FacilityPlan, KMedian, NoisyDemand, plan_k_median
from leastnoise.mechanisms.combinatorial.min_cut import (
    CutMechanism,
    CutPlan,
    EdgeWeights,
    ExponentialCut,
    KWayCut,
    NodeCut,
    PerfectCut,
    RaisedCut,
    WeighedCut,
    ladder_reaches,
    plan_min_cut,
)
from leastnoise.mechanisms.combinatorial.sorted_counts import (
    IsotonicCounts,
    SortedCounts,
    SortedCountsPlan,
    nearest_counts,
    plan_sorted_counts,
    zipf_counts,
)
from leastnoise.mechanisms.combinatorial.vertex_cover import (
    CoverPlan,
    DegreeOrder,
    PenalisedCover,
    VertexCoverOrder,
    decode,
    plain_cover,
    plan_vertex_cover,
)
from leastnoise.mechanisms.lower_bounds import min_cut_bound, sorted_counts_bound, vertex_cover_bound

__all__ = [
    "CoverPlan",
    "CutMechanism",
    "CutPlan",
    "DegreeOrder",
    "EdgeWeights",
    "ExponentialCut",
    "FacilityPlan",
    "IsotonicCounts",
    "KMedian",
    "KWayCut",
    "NodeCut",
    "NoisyDemand",
    "PenalisedCover",
    "PerfectCut",
    "RaisedCut",
    "SortedCounts",
    "SortedCountsPlan",
    "VertexCoverOrder",
    "WeighedCut",
    "decode",
    "ladder_reaches",
    "min_cut_bound",
    "nearest_counts",
    "plain_cover",
    "plan_k_median",
    "plan_min_cut",
    "plan_sorted_counts",
    "plan_vertex_cover",
    "sorted_counts_bound",
    "vertex_cover_bound",
    "zipf_counts",
]
