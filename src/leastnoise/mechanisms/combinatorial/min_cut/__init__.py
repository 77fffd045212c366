"""Private minimum cuts: all cuts of a small graph, or raise and sample for large ones."""

from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import Cut, CutMechanism, EdgeWeights
from leastnoise.mechanisms.combinatorial.min_cut.exponential_cut import ExponentialCut
from leastnoise.mechanisms.combinatorial.min_cut.raised_cut import CutPlan, RaisedCut, plan_min_cut
from leastnoise.mechanisms.combinatorial.min_cut.raising import ladder_reaches

__all__ = [
    "Cut",
    "CutMechanism",
    "CutPlan",
    "EdgeWeights",
    "ExponentialCut",
    "RaisedCut",
    "ladder_reaches",
    "plan_min_cut",
]
