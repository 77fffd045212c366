"""A function of one's own on a finite dataset graph: noise by what one change does at the data at hand."""

from leastnoise.mechanisms.function.inverse_sensitivity import InverseSensitivity
from leastnoise.mechanisms.function.smooth_sensitivity import SmoothSensitivity

__all__ = ["InverseSensitivity", "SmoothSensitivity"]
