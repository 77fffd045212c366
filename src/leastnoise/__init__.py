"""Answers about private data with the least noise differential privacy allows, exactly sampled, with a checkable proof.

>>> import leastnoise as ln
>>> ln.exact.read_exact(0.1, "epsilon")
Fraction(1, 10)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leastnoise import (
        accounting,
        bounds,
        channels,
        combinatorial,
        data,
        errors,
        exact,
        graphs,
        mechanisms,
        plots,
        rainbow,
        release,
        testing,
    )
    from leastnoise.checker import Audit, Fit, Verdict, audit, check, fit, privacy_curve
    from leastnoise.data import col
    from leastnoise.designer import Design, design
    from leastnoise.designer.comparison import compare
    from leastnoise.errors import LeastNoiseError
    from leastnoise.ledger import Ledger
    from leastnoise.mechanisms import plan_for
    from leastnoise.model import Certificate, Channel, Mechanism, Privacy
    from leastnoise.release import (
        Database,
        Dataset,
        Query,
        Release,
        ReleasePlan,
        connect,
        open,  # noqa: A004
        release_mechanism,
    )

__version__ = "0.2.0"

__all__ = [
    "Audit",
    "Certificate",
    "Channel",
    "Database",
    "Dataset",
    "Design",
    "Fit",
    "LeastNoiseError",
    "Ledger",
    "Mechanism",
    "Privacy",
    "Query",
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
    "connect",
    "data",
    "design",
    "errors",
    "exact",
    "fit",
    "graphs",
    "mechanisms",
    "open",
    "plan_for",
    "plots",
    "privacy_curve",
    "rainbow",
    "release",
    "release_mechanism",
    "testing",
]

# Where each public name lives. A name is imported when it is first asked for, so that `import leastnoise` and the
# command line start at once.
_MODULES = (
    *("accounting", "bounds", "channels", "combinatorial", "data", "errors"),
    *("exact", "graphs", "mechanisms", "plots", "rainbow", "release", "testing"),
)
_HOMES = {
    "Audit": "leastnoise.checker",
    "Certificate": "leastnoise.model",
    "Channel": "leastnoise.model",
    "Database": "leastnoise.release",
    "Dataset": "leastnoise.release",
    "Design": "leastnoise.designer",
    "Fit": "leastnoise.checker",
    "LeastNoiseError": "leastnoise.errors",
    "Ledger": "leastnoise.ledger",
    "Mechanism": "leastnoise.model",
    "Privacy": "leastnoise.model",
    "Query": "leastnoise.release",
    "Release": "leastnoise.release",
    "ReleasePlan": "leastnoise.release",
    "Verdict": "leastnoise.checker",
    "audit": "leastnoise.checker",
    "check": "leastnoise.checker",
    "col": "leastnoise.data",
    "compare": "leastnoise.designer.comparison",
    "connect": "leastnoise.release",
    "design": "leastnoise.designer",
    "fit": "leastnoise.checker",
    "open": "leastnoise.release",
    "plan_for": "leastnoise.mechanisms",
    "privacy_curve": "leastnoise.checker",
    "release_mechanism": "leastnoise.release",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"leastnoise.{name}")
    raise AttributeError(f"module 'leastnoise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
