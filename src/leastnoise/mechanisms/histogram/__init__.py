"""Many cells at once: independent noise on each, noise carried through a linear map, and keys that nobody listed."""

from leastnoise.mechanisms.histogram.chosen_scale import ChosenScale
from leastnoise.mechanisms.histogram.independent_noise import IndependentNoise
from leastnoise.mechanisms.histogram.keys_found import FoundKeys, KeysFound
from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise
from leastnoise.mechanisms.histogram.noisy_threshold import (
    GaussianThreshold,
    NoisyThreshold,
    SelectionThreshold,
    UnknownKeys,
)
from leastnoise.mechanisms.histogram.selection_noise import SelectionNoise

__all__ = [
    "ChosenScale",
    "FoundKeys",
    "GaussianThreshold",
    "IndependentNoise",
    "KeysFound",
    "MappedNoise",
    "NoisyThreshold",
    "SelectionNoise",
    "SelectionThreshold",
    "UnknownKeys",
]
