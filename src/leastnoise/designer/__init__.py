"""Floor 4: a problem in; the best mechanism there is and the proof of it out: theorems, symmetry, linear programs."""

from leastnoise.designer.designed import DesignedMechanism
from leastnoise.designer.designer import design
from leastnoise.designer.linear.clock import Progress
from leastnoise.designer.problem import Problem, read_problem
from leastnoise.designer.result import Design

__all__ = ["Design", "DesignedMechanism", "Problem", "Progress", "design", "read_problem"]
