"""A problem in; the best mechanism there is and the proof of it out: theorems, symmetry, linear programs."""

from leastnoise.designer.designer import design
from leastnoise.designer.linear.clock import DesignProgress
from leastnoise.designer.result import Design
from leastnoise.mechanisms.designed.designed_mechanism import DesignedMechanism
from leastnoise.model import DesignProblem, read_problem

__all__ = ["Design", "DesignProblem", "DesignProgress", "DesignedMechanism", "design", "read_problem"]
