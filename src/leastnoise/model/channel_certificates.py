"""Certificates: what is claimed about a mechanism, with all that is needed to check it, as plain exact data.

Every number is exact text ("1/3", "ln(3)"). A certificate has one written form only: what does not come out again as it
was read, be it another version, an unknown kind or field, or "2/4" for a half, is refused. A certificate is no proof by
itself: `leastnoise.check` recomputes each claim from what the certificate contains, and from nothing else.

A certificate may appeal to a theorem by its name, which never changes its meaning; an unknown one is refused. The
kinds that speak of channels are here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from leastnoise.errors import BadCertificate, NumberTooLarge
from leastnoise.exact import Enclosure
from leastnoise.model.certificate_form import (
    as_places,
    as_rational,
    as_rationals,
    as_sequence,
    read_channel,
    read_enclosure,
    read_form,
    read_indices,
    read_list,
    read_privacy,
    read_rational_text,
    read_table,
    read_text,
    require_channel,
    require_enclosure,
    require_setting,
    write_enclosure,
    write_form,
    write_table,
)
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import DatasetGraph, from_dict
from leastnoise.model.privacy import Privacy

__all__ = [
    "LARGEST_CHANNEL",
    "Certificate",
    "Multiplier",
    "OptimalityCertificate",
    "PrivacyCertificate",
    "RefinementCertificate",
    "Theorem",
    "TheoremCertificate",
    "checked_multiplier",
    "read_multiplier",
]

LARGEST_CHANNEL = 256  # nodes: on larger graphs a certificate may leave the theorem's channel out


class Theorem(NamedTuple):
    """What a theorem says and where it is proven."""

    statement: str
    source: str


THEOREMS: dict[str, Theorem] = {
    "exponential-of-distance": Theorem(
        "On a vertex-transitive graph with regular layers p(y|x) ∝ e^(−ε·d(x, y)) is ε-private and has the least "
        "expected distance of all ε-private channels under the uniform prior.",
        "Aldà and Simon, On the optimality of the exponential mechanism, CSCML 2017, Theorem 1",
    ),
    "exponential-of-distance-for-growing-losses": Theorem(
        "On a vertex-transitive graph with regular layers p(y|x) ∝ e^(−ε·d(x, y)) is ε-private and, for every loss "
        "that is a non-decreasing function of d(x, y), has the least expected loss of all ε-private channels under the "
        "uniform prior, and the least largest expected loss of an input.",
        "Aldà and Simon, On the optimality of the exponential mechanism, CSCML 2017, proof of Theorem 1",
    ),
    "truncated-geometric": Theorem(
        "On a path the truncated geometric channel with α = e^-ε is ε-private and, after the best remap, has the least "
        "expected loss of all ε-private channels for every prior and every monotone loss.",
        "Ghosh, Roughgarden and Sundararajan, Universally utility-maximizing privacy mechanisms, SIAM J. Comput. 2012",
    ),
}


Table = tuple[tuple[Fraction, ...], ...]


class Certificate(ABC):
    """A claim with its evidence, frozen; `to_json` and `from_json` carry it without loss."""

    claim: ClassVar[str]
    _kinds: ClassVar[dict[str, type[Certificate]]] = {}

    def __init_subclass__(cls) -> None:
        """Enter the kinds that `from_json` reads; the vocabulary is closed to classes from elsewhere."""
        if cls.__module__.startswith("leastnoise.model."):
            Certificate._kinds[cls.claim] = cls

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """What this kind of certificate holds, ready for JSON."""

    @classmethod
    @abstractmethod
    def of_fields(cls, data: Mapping[str, Any]) -> Certificate:
        """Read what `fields` wrote."""

    def to_json(self) -> str:
        """The certificate as readable JSON text.

        Raises:
            NumberTooLarge: A number has more digits than Python writes (4300 by default).
        """
        try:
            return write_form(self.claim, self.fields())
        except ValueError as error:
            raise NumberTooLarge(
                "a number of the certificate is too long to be written", given=str(error), fix="use simpler fractions"
            ) from None

    @staticmethod
    def from_json(text: str) -> Certificate:
        """Read what `to_json` wrote.

        Raises:
            BadCertificate: Not a certificate, of an unknown version or kind, or not in the one form they have.
        """
        return read_form(text, Certificate._kinds)


@dataclass(frozen=True)
class PrivacyCertificate(Certificate):
    """The channel is (ε, δ)-private on the graph.

    >>> from leastnoise.model.graphs import path
    >>> flip = PrivacyCertificate(path(2), Privacy("ln(3)"), Channel([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> Certificate.from_json(flip.to_json()) == flip
    True
    """

    claim: ClassVar[str] = "privacy"

    graph: DatasetGraph
    privacy: Privacy
    channel: Channel

    def __post_init__(self) -> None:
        """Refuse parts that are none."""
        require_setting(self.graph, self.privacy)
        require_channel(self.channel)

    def fields(self) -> dict[str, Any]:
        """Graph, ε, δ and channel."""
        return {
            "graph": self.graph.to_dict(),
            "epsilon": str(self.privacy.epsilon),
            "delta": str(self.privacy.delta),
            "channel": self.channel.to_dict(),
        }

    @classmethod
    def of_fields(cls, data: Mapping[str, Any]) -> PrivacyCertificate:
        """Read what `fields` wrote."""
        return cls(from_dict(data["graph"]), read_privacy(data), read_channel(data["channel"]))


class Multiplier(NamedTuple):
    """How much the constraint p(output|x) ≤ λ·p(output|neighbour) weighs in the lower bound; places, not labels."""

    x: int
    neighbour: int
    output: int
    value: Fraction


@dataclass(frozen=True)
class OptimalityCertificate(Certificate):
    """No (ε, δ)-private channel on the graph has an expected loss below `lower_bound`; this one has `value`.

    Attributes:
        objective: "average" for the loss under `prior`, "worst" for the largest loss of an input.
        prior: A probability for each node of the graph; for "worst" the weights that make the bound.
        loss: ℓ(y, x), a row for each output of the channel, a column for each node.
        value: The channel's loss.
        lower_bound: What the multipliers prove.
        gap: value − lower_bound.
        factors: For each length d that occurs, (d, λ) with a rational λ ≥ e^(ε·d).
        multipliers: The dual solution, those above zero.
    """

    claim: ClassVar[str] = "optimality"

    graph: DatasetGraph
    privacy: Privacy
    channel: Channel
    objective: str
    prior: tuple[Fraction, ...]
    loss: Table
    value: Fraction
    lower_bound: Fraction
    gap: Fraction
    factors: tuple[tuple[Fraction, Fraction], ...]
    multipliers: tuple[Multiplier, ...]

    def __post_init__(self) -> None:
        """Refuse parts that are none, and an objective that has no meaning."""
        require_setting(self.graph, self.privacy)
        require_channel(self.channel)
        if self.objective not in ("average", "worst"):
            raise BadCertificate("the objective is unknown", given=self.objective, fix='use "average" or "worst"')
        for name in ("value", "lower_bound", "gap"):
            object.__setattr__(self, name, as_rational(getattr(self, name), name))
        object.__setattr__(self, "prior", as_rationals(self.prior, "prior"))
        object.__setattr__(self, "loss", tuple(as_rationals(row, "loss") for row in as_sequence(self.loss, "loss")))
        pairs = (as_rationals(pair, "factors", 2) for pair in as_sequence(self.factors, "factors"))
        object.__setattr__(self, "factors", tuple((length, factor) for length, factor in pairs))
        entries = as_sequence(self.multipliers, "multipliers")
        object.__setattr__(self, "multipliers", tuple(checked_multiplier(entry) for entry in entries))

    def fields(self) -> dict[str, Any]:
        """All of it, the multipliers as [x, neighbour, output, value]."""
        return {
            **PrivacyCertificate(self.graph, self.privacy, self.channel).fields(),
            "objective": self.objective,
            "prior": [str(probability) for probability in self.prior],
            "loss": write_table(self.loss),
            "value": str(self.value),
            "lower_bound": str(self.lower_bound),
            "gap": str(self.gap),
            "factors": write_table(self.factors),
            "multipliers": [[*multiplier[:3], str(multiplier.value)] for multiplier in self.multipliers],
        }

    @classmethod
    def of_fields(cls, data: Mapping[str, Any]) -> OptimalityCertificate:
        """Read what `fields` wrote."""
        return cls(
            from_dict(data["graph"]),
            read_privacy(data),
            read_channel(data["channel"]),
            objective=read_text(data["objective"], "objective"),
            prior=tuple(read_rational_text(entry) for entry in read_list(data["prior"], "prior")),
            loss=read_table(data["loss"], "loss"),
            value=read_rational_text(data["value"]),
            lower_bound=read_rational_text(data["lower_bound"]),
            gap=read_rational_text(data["gap"]),
            factors=tuple((length, factor) for length, factor in read_table(data["factors"], "factors")),
            multipliers=tuple(read_multiplier(entry) for entry in read_list(data["multipliers"], "multipliers")),
        )


def checked_multiplier(entry: object) -> Multiplier:
    """Places of at least zero and a rational."""
    *places, value = as_sequence(entry, "a multiplier", 4)
    x, neighbour, output = as_places(places, "multipliers")
    return Multiplier(x, neighbour, output, as_rational(value, "multipliers"))


def read_multiplier(data: object) -> Multiplier:
    """Read [x, neighbour, output, value]."""
    *places, value = read_list(data, "a multiplier", length=4)
    x, neighbour, output = read_indices(places)
    return Multiplier(x, neighbour, output, read_rational_text(value))


@dataclass(frozen=True)
class TheoremCertificate(Certificate):
    """The conditions of a known theorem hold on the graph, so what it says about ε holds there.

    Attributes:
        theorem: A name in `THEOREMS`.
        channel: The channel of the theorem; None if e^ε is not rational, for then its entries are not.
        loss: The expected distance of "exponential-of-distance", else None.
        generators: Automorphisms of the graph that together move any node to any other, node i to generator[i].
        layer_degrees: For each distance from the first node, the neighbours one layer nearer and one layer further.
    """

    claim: ClassVar[str] = "theorem"

    theorem: str
    graph: DatasetGraph
    privacy: Privacy
    channel: Channel | None = None
    loss: Enclosure | None = None
    generators: tuple[tuple[int, ...], ...] = ()
    layer_degrees: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a theorem that is not in the vocabulary, and parts that are none."""
        if not isinstance(self.theorem, str) or self.theorem not in THEOREMS:
            raise BadCertificate("the theorem is unknown", given=self.theorem, fix=f"known are {', '.join(THEOREMS)}")
        require_setting(self.graph, self.privacy)
        if self.channel is not None:
            require_channel(self.channel)
        if self.loss is not None:
            require_enclosure(self.loss, "loss")
        generators = as_sequence(self.generators, "generators")
        degrees = as_sequence(self.layer_degrees, "layer_degrees")
        object.__setattr__(self, "generators", tuple(as_places(one, "generators") for one in generators))
        object.__setattr__(self, "layer_degrees", tuple(as_places(pair, "layer_degrees", 2) for pair in degrees))

    def fields(self) -> dict[str, Any]:
        """All of it, with the theorem's statement and source for the reader."""
        return {
            "theorem": self.theorem,
            **THEOREMS[self.theorem]._asdict(),
            "graph": self.graph.to_dict(),
            "epsilon": str(self.privacy.epsilon),
            "delta": str(self.privacy.delta),
            "channel": None if self.channel is None else self.channel.to_dict(),
            "loss": None if self.loss is None else write_enclosure(self.loss),
            "generators": [list(generator) for generator in self.generators],
            "layer_degrees": [list(degrees) for degrees in self.layer_degrees],
        }

    @classmethod
    def of_fields(cls, data: Mapping[str, Any]) -> TheoremCertificate:
        """Read what `fields` wrote."""
        return cls(
            read_text(data["theorem"], "theorem"),
            from_dict(data["graph"]),
            read_privacy(data),
            channel=None if data["channel"] is None else read_channel(data["channel"]),
            loss=None if data["loss"] is None else read_enclosure(data["loss"]),
            generators=tuple(read_indices(entry) for entry in read_list(data["generators"], "generators")),
            layer_degrees=tuple(
                (nearer, further)
                for nearer, further in map(read_indices, read_list(data["layer_degrees"], "layer_degrees"))
            ),
        )


@dataclass(frozen=True)
class RefinementCertificate(Certificate):
    """`coarse` = `fine` followed by `remap`: for every prior and loss it costs its reader at least as much."""

    claim: ClassVar[str] = "refinement"

    fine: Channel
    coarse: Channel
    remap: Channel

    def __post_init__(self) -> None:
        """Refuse parts that are none."""
        for name in ("fine", "coarse", "remap"):
            require_channel(getattr(self, name), name)

    def fields(self) -> dict[str, Any]:
        """The three channels."""
        return {"fine": self.fine.to_dict(), "coarse": self.coarse.to_dict(), "remap": self.remap.to_dict()}

    @classmethod
    def of_fields(cls, data: Mapping[str, Any]) -> RefinementCertificate:
        """Read what `fields` wrote."""
        return cls(read_channel(data["fine"]), read_channel(data["coarse"]), read_channel(data["remap"]))
