"""Private minimum cuts: from all cuts, from single nodes, or raise and sample; compared on public graphs."""

from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import Cut, CutMechanism, EdgeWeights
from leastnoise.mechanisms.combinatorial.min_cut.exponential_cut import ExponentialCut
from leastnoise.mechanisms.combinatorial.min_cut.k_way_cut import KWayCut
from leastnoise.mechanisms.combinatorial.min_cut.node_cut import NodeCut
from leastnoise.mechanisms.combinatorial.min_cut.perfect_cut import PerfectCut
from leastnoise.mechanisms.combinatorial.min_cut.planning import CutPlan, plan_min_cut
from leastnoise.mechanisms.combinatorial.min_cut.raised_cut import RaisedCut
from leastnoise.mechanisms.combinatorial.min_cut.raising import ladder_reaches
from leastnoise.mechanisms.combinatorial.min_cut.stopped_cut import StoppedCut
from leastnoise.mechanisms.combinatorial.min_cut.weighed_cut import WeighedCut

__all__ = [
    "Cut",
    "CutMechanism",
    "CutPlan",
    "EdgeWeights",
    "ExponentialCut",
    "KWayCut",
    "NodeCut",
    "PerfectCut",
    "RaisedCut",
    "StoppedCut",
    "WeighedCut",
    "ladder_reaches",
    "plan_min_cut",
]
