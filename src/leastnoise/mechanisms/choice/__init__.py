"""Choosing among candidates: one of them, the k best, or a person's own label behind a veil."""

from leastnoise.mechanisms.choice.best_price import BestPrice
from leastnoise.mechanisms.choice.exponential import ApproximateExponential, Exponential
from leastnoise.mechanisms.choice.noisy_top_k import NoisyTopK
from leastnoise.mechanisms.choice.permute_and_flip import MostCommon, PermuteAndFlip
from leastnoise.mechanisms.choice.randomized_response import RandomizedResponse
from leastnoise.mechanisms.choice.subset_selection import FrequencyPlan, SubsetSelection, plan_frequencies
from leastnoise.mechanisms.choice.top_k import OneShotTopK, PeelingTopK
from leastnoise.mechanisms.choice.unknown_options import UnknownTopK

__all__ = [
    "ApproximateExponential",
    "BestPrice",
    "Exponential",
    "FrequencyPlan",
    "MostCommon",
    "NoisyTopK",
    "OneShotTopK",
    "PeelingTopK",
    "PermuteAndFlip",
    "RandomizedResponse",
    "SubsetSelection",
    "UnknownTopK",
    "plan_frequencies",
]
