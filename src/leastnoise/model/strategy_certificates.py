"""Certificates of strategies: that a release of many answers has this error, and that no other one has much less.

The class of releases: whole or real matrices A, Gaussian noise on A·x, and answers that are linear in what is
released and right on average. The numbers that prove it are whole, so that checking takes a few products of whole
matrices.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from leastnoise.errors import BadCertificate
from leastnoise.model.certificate_form import (
    as_places,
    as_rational,
    as_sequence,
    read_list,
    read_rational_text,
    read_text,
)
from leastnoise.model.channel_certificates import Certificate
from leastnoise.model.linear_workloads import workload_from_dict
from leastnoise.model.marginals import MarginalStrategy
from leastnoise.model.strategies import GOALS, NORMS, StrategyPart

__all__ = ["MarginalsCertificate", "StrategyCertificate"]


def _read_claims(certificate: Any) -> None:
    """Check the numbers that both kinds claim."""
    for name in ("groups", "rows"):
        (value,) = as_places((getattr(certificate, name),), name)
        if value == 0:
            raise BadCertificate(f"{name} is at least 1", fix="count the cells and rows of one unit")
    for name in ("error", "lower_bound", "gap"):
        object.__setattr__(certificate, name, as_rational(getattr(certificate, name), name))


@dataclass(frozen=True)
class StrategyCertificate(Certificate):
    """The strategy has this error for a linear workload, and no strategy has less than the lower bound.

    Attributes:
        parts: One for each factor of a Kronecker product; mostly a single one.
        goal: "total" for the weighted sum of the squared errors of all answers, "largest" for the largest.
        norm: "l2" for Gaussian noise, "l1" for Laplace noise.
        groups: The most cells that one unit is in.
        rows: The most that it adds to one of them.
        sensitivity: The square of the largest change of what is released, before noise, in that norm.
        error: The squared error, for noise of variance `sensitivity`; divide by μ² for μ-Gaussian privacy.
        lower_bound: What no strategy beats; no column is longer in the ℓ2 norm than in the ℓ1 norm.
        gap: error − lower_bound.
    """

    claim: ClassVar[str] = "strategy"

    parts: tuple[StrategyPart, ...]
    goal: str
    norm: str
    groups: int
    rows: int
    sensitivity: int
    error: Fraction
    lower_bound: Fraction
    gap: Fraction

    def __post_init__(self) -> None:
        """Refuse parts that are none."""
        parts = as_sequence(self.parts, "parts")
        if not parts or any(type(part) is not StrategyPart for part in parts):
            raise BadCertificate("the parts of a strategy certificate are StrategyParts", fix="plan a strategy")
        if self.goal not in GOALS:
            raise BadCertificate("the goal is unknown", given=self.goal, fix='use "total" or "largest"')
        if self.norm not in NORMS:
            raise BadCertificate("the norm is unknown", given=self.norm, fix='use "l2" or "l1"')
        as_places((self.sensitivity,), "sensitivity")
        _read_claims(self)
        object.__setattr__(self, "parts", tuple(replace(part) for part in parts))

    def fields(self) -> dict[str, Any]:
        """All of it, and a digest."""
        found = {
            "parts": [part.fields() for part in self.parts],
            "goal": self.goal,
            "norm": self.norm,
            "groups": self.groups,
            "rows": self.rows,
            "sensitivity": self.sensitivity,
            "error": str(self.error),
            "lower_bound": str(self.lower_bound),
            "gap": str(self.gap),
        }
        return _with_digest(found)

    @classmethod
    def of_fields(cls, data: Mapping[str, Any]) -> StrategyCertificate:
        """Read what `fields` wrote."""
        return cls(
            tuple(_part(entry) for entry in read_list(data["parts"], "parts")),
            read_text(data["goal"], "goal"),
            read_text(data["norm"], "norm"),
            data["groups"],
            data["rows"],
            data["sensitivity"],
            *(read_rational_text(data[name]) for name in ("error", "lower_bound", "gap")),
        )


def _with_digest(fields: dict[str, Any]) -> dict[str, Any]:
    """With a digest, so that any change is noticed, even one after which all claims still hold.

    Whoever writes the digest anew has written another certificate, which is judged by what it claims.
    """
    return {**fields, "digest": hashlib.sha256(json.dumps(fields).encode()).hexdigest()}


def _part(data: Any) -> StrategyPart:
    if not isinstance(data, Mapping):
        raise BadCertificate("a part of a strategy is an object", given=data, fix="write certificates with to_json")
    weights = data["weights"]
    return StrategyPart(
        workload=workload_from_dict(data["workload"]),
        weights=None if weights is None else _rationals(weights, "weights"),
        strategy=_wholes(data["strategy"], "strategy"),  # matrices are made of them where they are checked
        inverse=_wholes(data["inverse"], "inverse"),
        denominator=data["denominator"],
        closeness=data["closeness"],
        dual=_wholes(data["dual"], "dual"),
        multipliers=tuple(read_list(data["multipliers"], "multipliers")),
        answer_weights=_rationals(data["answer_weights"], "answer_weights"),
    )


def _rationals(data: Any, name: str) -> tuple[Fraction, ...]:
    return tuple(read_rational_text(entry) for entry in read_list(data, name))


def _wholes(data: Any, name: str) -> Any:
    return tuple(tuple(read_list(row, f"a row of {name}")) for row in read_list(data, name))


@dataclass(frozen=True)
class MarginalsCertificate(Certificate):
    """The strategy has this error for a set of marginal tables, and no strategy has less than the lower bound.

    Attributes:
        strategy: The tables and the noise of each interaction.
        goal: "total" for the weighted sum of the squared errors of all cells, "largest" for the largest.
        groups: The most cells of the full table that one unit is in.
        rows: The most that it adds to one of them.
        error: The squared error at one unit of privacy; divide by μ² for μ-Gaussian privacy.
        lower_bound: What no strategy beats.
        gap: error − lower_bound.
    """

    claim: ClassVar[str] = "marginals"

    strategy: MarginalStrategy
    goal: str
    groups: int
    rows: int
    error: Fraction
    lower_bound: Fraction
    gap: Fraction

    def __post_init__(self) -> None:
        """Refuse parts that are none."""
        if type(self.strategy) is not MarginalStrategy:
            raise BadCertificate("this is no strategy for marginals", fix="plan one")
        if self.goal not in GOALS:
            raise BadCertificate("the goal is unknown", given=self.goal, fix='use "total" or "largest"')
        _read_claims(self)
        object.__setattr__(self, "strategy", replace(self.strategy))

    def fields(self) -> dict[str, Any]:
        """All of it, and a digest."""
        found = {
            **self.strategy.fields(),
            "goal": self.goal,
            "groups": self.groups,
            "rows": self.rows,
            "error": str(self.error),
            "lower_bound": str(self.lower_bound),
            "gap": str(self.gap),
        }
        return _with_digest(found)

    @classmethod
    def of_fields(cls, data: Mapping[str, Any]) -> MarginalsCertificate:
        """Read what `fields` wrote."""
        return cls(
            MarginalStrategy.of_fields(data),
            read_text(data["goal"], "goal"),
            data["groups"],
            data["rows"],
            *(read_rational_text(data[name]) for name in ("error", "lower_bound", "gap")),
        )
