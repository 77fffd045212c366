"""Many cells at once: independent noise on each, noise carried through a linear map, and keys that nobody listed."""

from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise
from leastnoise.mechanisms.histogram.noisy_cells import NoisyCells
from leastnoise.mechanisms.histogram.stable_histogram import StableHistogram

__all__ = ["MappedNoise", "NoisyCells", "StableHistogram"]
