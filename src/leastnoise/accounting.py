"""Privacy accounting: events, what they add up to, filters, and the ledger that keeps a budget for good."""

from leastnoise.composition.advanced import advanced_per_query, corollary_per_query
from leastnoise.composition.basic import basic_per_query
from leastnoise.composition.best_bound import all_bounds, compose, per_query
from leastnoise.composition.bound import Bound
from leastnoise.composition.cost import Cost, cost_of
from leastnoise.composition.filter import Filter, Remaining
from leastnoise.composition.group import group_privacy
from leastnoise.composition.homogeneous import homogeneous_delta, homogeneous_epsilon, homogeneous_per_query
from leastnoise.composition.limits import Limits
from leastnoise.ledger import (
    INTERRUPTIONS,
    Balance,
    Ledger,
    Opening,
    PostgresStore,
    PrivacyUnit,
    Receipt,
    Request,
    Scope,
    SqliteStore,
    Suspension,
    Verification,
    Witness,
    export_csv,
    export_json,
    read_witness,
)
from leastnoise.model.events import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    Event,
    Fixed,
    GaussianNoise,
    GaussianPrivacy,
    Grouped,
    LaplaceNoise,
    Parallel,
    Pure,
    RandomizedResponse,
    event_from_dict,
)
from leastnoise.model.privacy import Privacy

__all__ = [
    "INTERRUPTIONS",
    "Approximate",
    "Balance",
    "Bound",
    "BoundedRange",
    "Composed",
    "Concentrated",
    "Cost",
    "Event",
    "Filter",
    "Fixed",
    "GaussianNoise",
    "GaussianPrivacy",
    "Grouped",
    "LaplaceNoise",
    "Ledger",
    "Limits",
    "Opening",
    "Parallel",
    "PostgresStore",
    "Privacy",
    "PrivacyUnit",
    "Pure",
    "RandomizedResponse",
    "Receipt",
    "Remaining",
    "Request",
    "Scope",
    "SqliteStore",
    "Suspension",
    "Verification",
    "Witness",
    "advanced_per_query",
    "all_bounds",
    "basic_per_query",
    "compose",
    "corollary_per_query",
    "cost_of",
    "event_from_dict",
    "export_csv",
    "export_json",
    "group_privacy",
    "homogeneous_delta",
    "homogeneous_epsilon",
    "homogeneous_per_query",
    "per_query",
    "read_witness",
]
