"""One number, or a vector of them, with the least noise that its kind allows."""

from leastnoise.mechanisms.numeric.discrete_gaussian import DiscreteGaussian
from leastnoise.mechanisms.numeric.gaussian import Gaussian
from leastnoise.mechanisms.numeric.inference import Guess, Interval, best_guess, confidence_interval
from leastnoise.mechanisms.numeric.integer_noise import Geometric, Staircase
from leastnoise.mechanisms.numeric.lattice_laplace import LatticeLaplace
from leastnoise.mechanisms.numeric.optimal_noise import OptimalNoise
from leastnoise.mechanisms.numeric.problems import CountProblem, RealProblem
from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
from leastnoise.mechanisms.numeric.truncated_laplace import TruncatedLaplace
from leastnoise.mechanisms.numeric.vector_laplace import VectorLaplace

__all__ = [
    "CountProblem",
    "DiscreteGaussian",
    "Gaussian",
    "Geometric",
    "Guess",
    "Interval",
    "LatticeLaplace",
    "OptimalNoise",
    "RealProblem",
    "Staircase",
    "TruncatedGeometric",
    "TruncatedLaplace",
    "VectorLaplace",
    "best_guess",
    "confidence_interval",
]
