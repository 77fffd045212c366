"""Answers about private data with the least noise differential privacy allows, exactly sampled, with a checkable proof.

>>> import leastnoise as ln
>>> ln.exact.read_exact(0.1, "epsilon")
Fraction(1, 10)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leastnoise import budget as accounting
    from leastnoise import channels, errors, exact, mechanisms
    from leastnoise.check import Audit, Fit, Verdict, audit, check, fit, privacy_curve
    from leastnoise.data import col
    from leastnoise.design import Design, bounds, design
    from leastnoise.design.comparison import compare
    from leastnoise.errors import LeastNoiseError
    from leastnoise.mechanisms import plan_for, rainbow
    from leastnoise.model import graphs
    from leastnoise.model.certificate import Certificate
    from leastnoise.model.channel import Channel
    from leastnoise.release import Dataset, Release, ReleasePlan, combinatorial, open, release_mechanism  # noqa: A004

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Certificate",
    "Channel",
    "Dataset",
    "Design",
    "Fit",
    "LeastNoiseError",
    "Release",
    "ReleasePlan",
    "Verdict",
    "__version__",
    "accounting",
    "audit",
    "bounds",
    "channels",
    "check",
    "col",
    "combinatorial",
    "compare",
    "design",
    "errors",
    "exact",
    "fit",
    "graphs",
    "mechanisms",
    "open",
    "plan_for",
    "privacy_curve",
    "rainbow",
    "release_mechanism",
]

# Where each public name lives. A name is imported when it is first asked for, so that `import leastnoise` and the
# command line start at once.
_MODULES = {
    "accounting": "leastnoise.budget",
    "bounds": "leastnoise.design.bounds",
    "channels": "leastnoise.channels",
    "combinatorial": "leastnoise.release.combinatorial",
    "errors": "leastnoise.errors",
    "exact": "leastnoise.exact",
    "graphs": "leastnoise.model.graphs",
    "mechanisms": "leastnoise.mechanisms",
    "rainbow": "leastnoise.mechanisms.rainbow",
}
_HOMES = {
    "Audit": "leastnoise.check",
    "Certificate": "leastnoise.model.certificate",
    "Channel": "leastnoise.model.channel",
    "Dataset": "leastnoise.release",
    "Design": "leastnoise.design",
    "Fit": "leastnoise.check",
    "LeastNoiseError": "leastnoise.errors",
    "Release": "leastnoise.release",
    "ReleasePlan": "leastnoise.release",
    "Verdict": "leastnoise.check",
    "audit": "leastnoise.check",
    "check": "leastnoise.check",
    "col": "leastnoise.data",
    "compare": "leastnoise.design.comparison",
    "design": "leastnoise.design",
    "fit": "leastnoise.check",
    "open": "leastnoise.release",
    "plan_for": "leastnoise.mechanisms",
    "privacy_curve": "leastnoise.check",
    "release_mechanism": "leastnoise.release",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    raise AttributeError(f"module 'leastnoise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
