"""Rank mechanisms: medians, quantiles and means of numbers between public bounds."""

from leastnoise.mechanisms.lower_bounds import least_worst_error
from leastnoise.mechanisms.rank.bounded_mean import BoundedMean, PrivateMean
from leastnoise.mechanisms.rank.quantile import IntervalQuantile, Quantile
from leastnoise.mechanisms.rank.quantile_bound import QuantileBound
from leastnoise.mechanisms.rank.quantile_table import QuantileTable
from leastnoise.mechanisms.rank.several_quantiles import SeveralQuantiles
from leastnoise.mechanisms.rank.smooth_median import SmoothMedian

__all__ = [
    "BoundedMean",
    "IntervalQuantile",
    "PrivateMean",
    "Quantile",
    "QuantileBound",
    "QuantileTable",
    "SeveralQuantiles",
    "SmoothMedian",
    "least_worst_error",
]
