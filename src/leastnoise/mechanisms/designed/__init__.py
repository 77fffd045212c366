"""The laws that designs end with: by a theorem, or as the exact table of a linear program."""

from leastnoise.mechanisms.designed.designed_mechanism import DesignedMechanism
from leastnoise.mechanisms.designed.exponential_of_distance import ExponentialOfDistance
from leastnoise.mechanisms.designed.likeliest_response import LikeliestResponse
from leastnoise.mechanisms.designed.remapped_geometric import ClampedGeometric, RemappedGeometric

__all__ = [
    "ClampedGeometric",
    "DesignedMechanism",
    "ExponentialOfDistance",
    "LikeliestResponse",
    "RemappedGeometric",
]
