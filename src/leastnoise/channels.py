"""Channels, priors, losses, hypers, leakage and refinement: `ln.channels.expected_loss(prior, channel, loss)`.

>>> import leastnoise as ln
>>> flip = ln.channels.Channel([["3/4", "1/4"], ["1/4", "3/4"]])
>>> ln.channels.expected_loss(ln.channels.uniform(2), flip, ln.channels.zero_one)
Fraction(1, 4)
"""

from leastnoise.model.capacity import AdditiveCapacity, bayes_capacity_additive, bayes_capacity_multiplicative
from leastnoise.model.channel import Channel
from leastnoise.model.hyper import Hyper
from leastnoise.model.kantorovich import earth_mover, euclidean, kantorovich, total_variation
from leastnoise.model.leakage import g_leakage, g_vulnerability, min_entropy_leakage, shannon_leakage
from leastnoise.model.losses import (
    Legality,
    Loss,
    absolute,
    from_function,
    from_matrix,
    is_legal,
    lipschitz_constant,
    squared,
    zero_one,
)
from leastnoise.model.priors import Prior, uniform
from leastnoise.model.refinement import Refinement
from leastnoise.model.remapping import Remap, WorstCase, expected_loss, optimal_remap, worst_case_loss

__all__ = [
    "AdditiveCapacity",
    "Channel",
    "Hyper",
    "Legality",
    "Loss",
    "Prior",
    "Refinement",
    "Remap",
    "WorstCase",
    "absolute",
    "bayes_capacity_additive",
    "bayes_capacity_multiplicative",
    "earth_mover",
    "euclidean",
    "expected_loss",
    "from_function",
    "from_matrix",
    "g_leakage",
    "g_vulnerability",
    "is_legal",
    "kantorovich",
    "lipschitz_constant",
    "min_entropy_leakage",
    "optimal_remap",
    "shannon_leakage",
    "squared",
    "total_variation",
    "uniform",
    "worst_case_loss",
    "zero_one",
]
