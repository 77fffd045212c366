"""Vector mechanisms: several whole numbers at once, with noise shaped like what one record can change."""

from leastnoise.mechanisms.lower_bounds import lattice_packing_bound, packing_bound
from leastnoise.mechanisms.vector.ball import EuclideanBall
from leastnoise.mechanisms.vector.gaussian_map import GaussianMap
from leastnoise.mechanisms.vector.knorm import KNorm
from leastnoise.mechanisms.vector.linear_map import LinearMapProblem, for_linear_map
from leastnoise.mechanisms.vector.norms import CountingBody, CrossPolytope, Cube
from leastnoise.mechanisms.vector.polytope import Polytope

__all__ = [
    "CountingBody",
    "CrossPolytope",
    "Cube",
    "EuclideanBall",
    "GaussianMap",
    "KNorm",
    "LinearMapProblem",
    "Polytope",
    "for_linear_map",
    "lattice_packing_bound",
    "packing_bound",
]
