"""Floor 4: a problem in; the best mechanism there is and the proof of it out: theorems, symmetry, linear programs."""

import sys
from types import ModuleType
from typing import Any

from leastnoise.design.designed import DesignedMechanism
from leastnoise.design.designer import design
from leastnoise.design.linear.clock import Progress
from leastnoise.design.problem import Problem, read_problem
from leastnoise.design.result import Design

__all__ = ["Design", "DesignedMechanism", "Problem", "Progress", "design", "read_problem"]


class _Room(ModuleType):
    """`leastnoise.design` is this package and the function alike, whichever of the two was imported first."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Design a mechanism."""
        return design(*arguments, **options)


sys.modules[__name__].__class__ = _Room
