"""Certificates for rainbow mechanisms: one is best, or none is (Gu et al. 2024, Definition 3 and Example 1).

Every dataset ranks the outputs. A channel dominates another if at every dataset and for every k it is at least as
likely to give one of the k outputs that are ranked best. Some datasets may have fixed rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from leastnoise.model.certificate_form import (
    as_places,
    as_sequence,
    read_channel,
    read_indices,
    read_list,
    read_privacy,
    require_channel,
    require_setting,
)
from leastnoise.model.channel import Channel
from leastnoise.model.channel_certificates import Certificate, Multiplier, checked_multiplier, read_multiplier
from leastnoise.model.graphs import DatasetGraph, from_dict
from leastnoise.model.privacy import Privacy

__all__ = ["DominanceCertificate", "NoOptimumCertificate", "PrefixProof"]

Places = tuple[int, ...]


class PrefixProof(NamedTuple):
    """Multipliers that bound the probability of the `among` outputs that the node at `place` ranks best."""

    place: int
    among: int
    multipliers: tuple[Multiplier, ...]


@dataclass(frozen=True)
class DominanceCertificate(Certificate):
    """The channel dominates every (ε, δ)-private channel on the graph that has the same rows at the fixed nodes.

    Attributes:
        preferences: For each node the places of all outputs, the best first.
        fixed: Places of the nodes whose rows are given.
        proofs: For those prefix sums that steps from the fixed nodes do not bound tightly.
    """

    claim: ClassVar[str] = "dominance"

    graph: DatasetGraph
    privacy: Privacy
    channel: Channel
    preferences: tuple[Places, ...]
    fixed: Places
    proofs: tuple[PrefixProof, ...]

    def __post_init__(self) -> None:
        """Refuse parts that are none."""
        require_setting(self.graph, self.privacy)
        require_channel(self.channel)
        _check_places(self)
        checked = []
        for proof in as_sequence(self.proofs, "proofs"):
            *numbers, multipliers = as_sequence(proof, "a proof", 3)
            place, among = as_places(numbers, "proofs")
            checked.append(PrefixProof(place, among, _checked(multipliers)))
        object.__setattr__(self, "proofs", tuple(checked))

    def fields(self) -> dict[str, Any]:
        """All of it, the multipliers as [x, neighbour, output, value]."""
        return {
            **_setting_fields(self),
            "channel": self.channel.to_dict(),
            "proofs": [[proof.place, proof.among, _written(proof.multipliers)] for proof in self.proofs],
        }

    @classmethod
    def of_fields(cls, data: Mapping[str, Any]) -> DominanceCertificate:
        """Read what `fields` wrote."""
        proofs = []
        for entry in read_list(data["proofs"], "proofs"):
            *numbers, multipliers = read_list(entry, "a proof", length=3)
            place, among = read_indices(numbers)
            proofs.append(PrefixProof(place, among, _read(multipliers)))
        preferences, fixed = _read_places(data)
        return cls(
            from_dict(data["graph"]),
            read_privacy(data),
            read_channel(data["channel"]),
            preferences=preferences,
            fixed=fixed,
            proofs=tuple(proofs),
        )


@dataclass(frozen=True)
class NoOptimumCertificate(Certificate):
    """No (ε, δ)-private channel on the graph with these rows at the fixed nodes dominates all others.

    The best one would dominate `first`. No channel has a larger total of all prefix sums than `first`, so the best one
    would have the same prefix sums; but `second` has a larger one.

    Attributes:
        first: A channel with the largest total, which the multipliers prove.
        second: One that is more likely to give one of the `among` best outputs at the node `place`.
        preferences: For each node the places of all outputs, the best first.
        fixed: Places of the nodes whose rows are given.
    """

    claim: ClassVar[str] = "no-optimum"

    graph: DatasetGraph
    privacy: Privacy
    first: Channel
    second: Channel
    preferences: tuple[Places, ...]
    fixed: Places
    place: int
    among: int
    multipliers: tuple[Multiplier, ...]

    def __post_init__(self) -> None:
        """Refuse parts that are none."""
        require_setting(self.graph, self.privacy)
        require_channel(self.first, "first")
        require_channel(self.second, "second")
        _check_places(self)
        place, among = as_places([self.place, self.among], "place and among")
        object.__setattr__(self, "place", place)
        object.__setattr__(self, "among", among)
        object.__setattr__(self, "multipliers", _checked(self.multipliers))

    def fields(self) -> dict[str, Any]:
        """All of it, the multipliers as [x, neighbour, output, value]."""
        return {
            **_setting_fields(self),
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
            "place": self.place,
            "among": self.among,
            "multipliers": _written(self.multipliers),
        }

    @classmethod
    def of_fields(cls, data: Mapping[str, Any]) -> NoOptimumCertificate:
        """Read what `fields` wrote."""
        place, among = read_indices([data["place"], data["among"]])
        preferences, fixed = _read_places(data)
        return cls(
            from_dict(data["graph"]),
            read_privacy(data),
            read_channel(data["first"]),
            read_channel(data["second"]),
            preferences=preferences,
            fixed=fixed,
            place=place,
            among=among,
            multipliers=_read(data["multipliers"]),
        )


def _check_places(certificate: DominanceCertificate | NoOptimumCertificate) -> None:
    rows = as_sequence(certificate.preferences, "preferences")
    object.__setattr__(certificate, "preferences", tuple(as_places(row, "preferences") for row in rows))
    object.__setattr__(certificate, "fixed", as_places(certificate.fixed, "fixed"))


def _setting_fields(certificate: DominanceCertificate | NoOptimumCertificate) -> dict[str, Any]:
    return {
        "graph": certificate.graph.to_dict(),
        "epsilon": str(certificate.privacy.epsilon),
        "delta": str(certificate.privacy.delta),
        "preferences": [list(row) for row in certificate.preferences],
        "fixed": list(certificate.fixed),
    }


def _read_places(data: Mapping[str, Any]) -> tuple[tuple[Places, ...], Places]:
    rows = tuple(read_indices(row) for row in read_list(data["preferences"], "preferences"))
    return rows, read_indices(data["fixed"])


def _checked(multipliers: Any) -> tuple[Multiplier, ...]:
    return tuple(checked_multiplier(entry) for entry in as_sequence(multipliers, "multipliers"))


def _written(multipliers: tuple[Multiplier, ...]) -> list[list[int | str]]:
    return [[*multiplier[:3], str(multiplier.value)] for multiplier in multipliers]


def _read(data: Any) -> tuple[Multiplier, ...]:
    return tuple(read_multiplier(entry) for entry in read_list(data, "multipliers"))
