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
    from leastnoise.errors import LeastNoiseError
    from leastnoise.mechanisms import plan_for
    from leastnoise.model import graphs
    from leastnoise.model.certificate import Certificate
    from leastnoise.model.channel import Channel

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Certificate",
    "Channel",
    "Fit",
    "LeastNoiseError",
    "Verdict",
    "__version__",
    "accounting",
    "audit",
    "channels",
    "check",
    "errors",
    "exact",
    "fit",
    "graphs",
    "mechanisms",
    "plan_for",
    "privacy_curve",
]

# Where each public name lives. A name is imported when it is first asked for, so that `import leastnoise` and the
# command line start at once.
_MODULES = {
    "accounting": "leastnoise.budget",
    "channels": "leastnoise.channels",
    "errors": "leastnoise.errors",
    "exact": "leastnoise.exact",
    "graphs": "leastnoise.model.graphs",
    "mechanisms": "leastnoise.mechanisms",
}
_HOMES = {
    "Audit": "leastnoise.check",
    "Certificate": "leastnoise.model.certificate",
    "Channel": "leastnoise.model.channel",
    "Fit": "leastnoise.check",
    "LeastNoiseError": "leastnoise.errors",
    "Verdict": "leastnoise.check",
    "audit": "leastnoise.check",
    "check": "leastnoise.check",
    "fit": "leastnoise.check",
    "plan_for": "leastnoise.mechanisms",
    "privacy_curve": "leastnoise.check",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    raise AttributeError(f"module 'leastnoise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
