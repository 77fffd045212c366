"""Every concrete mechanism, one per file, and what the author of another one needs.

>>> import leastnoise as ln
>>> ln.mechanisms.Geometric("ln(3)").error().expected
Enclosure(3/4)
"""

from leastnoise.mechanisms.candidates import Candidate, Problem, Ranking, plan_for
from leastnoise.mechanisms.choice import (
    ApproximateExponential,
    BestPrice,
    Exponential,
    MostCommon,
    OneShotTopK,
    PeelingTopK,
    PermuteAndFlip,
    RandomizedResponse,
)
from leastnoise.mechanisms.histogram import IndependentNoise, MappedNoise, NoisyThreshold
from leastnoise.mechanisms.numeric import (
    CountProblem,
    DiscreteGaussian,
    Gaussian,
    Geometric,
    Guess,
    Interval,
    LatticeLaplace,
    RealProblem,
    Staircase,
    TruncatedGeometric,
    TruncatedLaplace,
    VectorLaplace,
    best_guess,
    confidence_interval,
)
from leastnoise.mechanisms.rank import (
    BoundedMean,
    IntervalQuantile,
    PrivateMean,
    Quantile,
    SeveralQuantiles,
    SmoothMedian,
    least_worst_error,
)
from leastnoise.mechanisms.vector import (
    CountingBody,
    CrossPolytope,
    Cube,
    EuclideanBall,
    GaussianMap,
    KNorm,
    LinearMapProblem,
    Polytope,
    for_linear_map,
    lattice_packing_bound,
    packing_bound,
)
from leastnoise.model.certificate import PrivacyCertificate
from leastnoise.model.mechanism import ErrorEstimate, Mechanism, Reason

__all__ = [
    "ApproximateExponential",
    "BestPrice",
    "BoundedMean",
    "Candidate",
    "CountProblem",
    "CountingBody",
    "CrossPolytope",
    "Cube",
    "DiscreteGaussian",
    "ErrorEstimate",
    "EuclideanBall",
    "Exponential",
    "Gaussian",
    "GaussianMap",
    "Geometric",
    "Guess",
    "IndependentNoise",
    "Interval",
    "IntervalQuantile",
    "KNorm",
    "LatticeLaplace",
    "LinearMapProblem",
    "MappedNoise",
    "Mechanism",
    "MostCommon",
    "NoisyThreshold",
    "OneShotTopK",
    "PeelingTopK",
    "PermuteAndFlip",
    "Polytope",
    "PrivacyCertificate",
    "PrivateMean",
    "Problem",
    "Quantile",
    "RandomizedResponse",
    "Ranking",
    "RealProblem",
    "Reason",
    "SeveralQuantiles",
    "SmoothMedian",
    "Staircase",
    "TruncatedGeometric",
    "TruncatedLaplace",
    "VectorLaplace",
    "best_guess",
    "confidence_interval",
    "for_linear_map",
    "lattice_packing_bound",
    "least_worst_error",
    "packing_bound",
    "plan_for",
]
