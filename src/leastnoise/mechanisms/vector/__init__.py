"""Vector mechanisms: several whole numbers at once, with noise shaped like what one record can change."""

from leastnoise.mechanisms.vector.ball import Ball
from leastnoise.mechanisms.vector.bounds import lattice_packing_bound, packing_bound
from leastnoise.mechanisms.vector.counting import CountingBody
from leastnoise.mechanisms.vector.knorm import KNorm
from leastnoise.mechanisms.vector.linear_map import LinearMapProblem, for_linear_map
from leastnoise.mechanisms.vector.norms import CrossPolytope, Cube
from leastnoise.mechanisms.vector.polytope import Polytope

__all__ = [
    "Ball",
    "CountingBody",
    "CrossPolytope",
    "Cube",
    "KNorm",
    "LinearMapProblem",
    "Polytope",
    "for_linear_map",
    "lattice_packing_bound",
    "packing_bound",
]
