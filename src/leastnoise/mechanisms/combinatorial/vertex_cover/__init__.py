"""Vertex covers: an order of the nodes that encodes one, or a set that may leave edges uncovered at a price."""

from leastnoise.mechanisms.combinatorial.vertex_cover.cover_order import VertexCoverOrder, decode, plain_cover
from leastnoise.mechanisms.combinatorial.vertex_cover.degree_order import CoverPlan, DegreeOrder, plan_vertex_cover
from leastnoise.mechanisms.combinatorial.vertex_cover.penalised_cover import PenalisedCover

__all__ = [
    "CoverPlan",
    "DegreeOrder",
    "PenalisedCover",
    "VertexCoverOrder",
    "decode",
    "plain_cover",
    "plan_vertex_cover",
]
