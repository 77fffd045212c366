"""Certificates for the truncated geometric mechanism on a line, read in the best way; and for sums of problems.

A `LineCertificate` holds all that the loss depends on: line, ε, prior, loss and what each output is said as. Whether
the loss is legal, what this reading costs and what the best costs are computed anew by `leastnoise.check`, in whole
numbers with proven bounds, so that they are confirmed for an irrational e^ε, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from leastnoise.errors import BadCertificate
from leastnoise.model.certificate_form import (
    as_places,
    as_rational,
    as_rationals,
    as_sequence,
    read_indices,
    read_list,
    read_privacy,
    read_rational_text,
    read_table,
    read_text,
    require_setting,
    write_table,
)
from leastnoise.model.channel_certificates import (
    Certificate,
    OptimalityCertificate,
    Table,
    Theorem,
    TheoremCertificate,
)
from leastnoise.model.graphs import DatasetGraph, from_dict
from leastnoise.model.line_reading import LINE_LOSSES, Move
from leastnoise.model.privacy import Privacy

__all__ = ["LikeliestCertificate", "LineCertificate", "ProductCertificate", "stated_bounds"]

_THEOREM = Theorem(
    "On a path, or on evenly spaced points, no ε-private channel has a smaller expected loss under any prior and for "
    "any monotone loss than the truncated geometric channel after the best remap, nor a smaller largest expected loss "
    "of an input than after the best random remap.",
    "Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012, Theorem 3.2; Gupte and Sundararajan, PODS 2010",
)


@dataclass(frozen=True)
class LineCertificate(Certificate):
    """No ε-private channel on the line costs less than `lower_bound`; the remapped geometric one costs at most `value`.

    Attributes:
        objective: "average" for the loss under `prior`, "worst" for the largest loss of an input.
        prior: A probability for each node; for "worst" the weights that make the bound. None stands for all alike.
        loss: One of "distance", "squared" and "zero_one", of places along the line, or a table with a row per guess.
        guesses: For a table where each guess lies, in steps from the start of the line; else None.
        remap: What each output is said as; those that are missing are said as the place they are.
        value: At least what the mechanism costs.
        lower_bound: At most what any mechanism costs.
        gap: value − lower_bound.
    """

    claim: ClassVar[str] = "line"

    graph: DatasetGraph
    privacy: Privacy
    objective: str
    prior: tuple[Fraction, ...] | None
    loss: str | Table
    guesses: tuple[Fraction, ...] | None
    remap: tuple[Move, ...]
    value: Fraction
    lower_bound: Fraction
    gap: Fraction

    def __post_init__(self) -> None:
        """Refuse parts that are none."""
        require_setting(self.graph, self.privacy)
        if self.objective not in ("average", "worst"):
            raise BadCertificate("the objective is unknown", given=self.objective, fix='use "average" or "worst"')
        for name in ("value", "lower_bound", "gap"):
            object.__setattr__(self, name, as_rational(getattr(self, name), name))
        if self.prior is not None:
            object.__setattr__(self, "prior", as_rationals(self.prior, "prior"))
        if isinstance(self.loss, str):
            if self.loss not in LINE_LOSSES or self.guesses is not None:
                raise BadCertificate("the loss is unknown", given=self.loss, fix=f"known are {', '.join(LINE_LOSSES)}")
        else:
            table = tuple(as_rationals(row, "loss") for row in as_sequence(self.loss, "loss"))
            object.__setattr__(self, "loss", table)
            object.__setattr__(self, "guesses", as_rationals(self.guesses, "guesses", len(table)))
        moves = as_sequence(self.remap, "remap")
        object.__setattr__(self, "remap", tuple(_move(entry) for entry in moves))

    def fields(self) -> dict[str, Any]:
        """All of it, with the theorem's statement and source for the reader."""
        return {
            **_THEOREM._asdict(),
            "graph": self.graph.to_dict(),
            "epsilon": str(self.privacy.epsilon),
            "delta": str(self.privacy.delta),
            "objective": self.objective,
            "prior": None if self.prior is None else [str(probability) for probability in self.prior],
            "loss": self.loss if isinstance(self.loss, str) else write_table(self.loss),
            "guesses": None if self.guesses is None else [str(place) for place in self.guesses],
            "remap": [[move.place, move.guess, str(move.probability)] for move in self.remap],
            "value": str(self.value),
            "lower_bound": str(self.lower_bound),
            "gap": str(self.gap),
        }

    @classmethod
    def of_fields(cls, data: Mapping[str, Any]) -> LineCertificate:
        """Read what `fields` wrote."""
        loss = data["loss"]
        return cls(
            from_dict(data["graph"]),
            read_privacy(data),
            read_text(data["objective"], "objective"),
            prior=_numbers(data["prior"], "prior"),
            loss=loss if isinstance(loss, str) else read_table(loss, "loss"),
            guesses=_numbers(data["guesses"], "guesses"),
            remap=tuple(_read_move(entry) for entry in read_list(data["remap"], "remap")),
            value=read_rational_text(data["value"]),
            lower_bound=read_rational_text(data["lower_bound"]),
            gap=read_rational_text(data["gap"]),
        )


_LIKELIEST = Theorem(
    "Where all labels are neighbours and every wrong answer costs one, the least expected loss of all ε-private "
    "channels is 1 − max_j (π_1 + … + π_j)/(1 + (j − 1)·e^-ε), π sorted, by randomized response among the j likeliest.",
    "Kairouz, Oh and Viswanath, NeurIPS 2014, for equal weights; theory of leastnoise, Optimal on a complete graph",
)


@dataclass(frozen=True)
class LikeliestCertificate(Certificate):
    """No ε-private channel on a complete graph is wrong less often than `lower_bound`; this one at most `value`.

    Attributes:
        prior: A probability for each label.
        kept: The places of the labels that randomized response is among.
        value: How often the mechanism is wrong, rounded up.
        lower_bound: How often any is, rounded down.
        gap: value − lower_bound.
    """

    claim: ClassVar[str] = "likeliest"

    graph: DatasetGraph
    privacy: Privacy
    prior: tuple[Fraction, ...]
    kept: tuple[int, ...]
    value: Fraction
    lower_bound: Fraction
    gap: Fraction

    def __post_init__(self) -> None:
        """Refuse parts that are none."""
        require_setting(self.graph, self.privacy)
        for name in ("value", "lower_bound", "gap"):
            object.__setattr__(self, name, as_rational(getattr(self, name), name))
        object.__setattr__(self, "prior", as_rationals(self.prior, "prior"))
        object.__setattr__(self, "kept", as_places(self.kept, "kept"))

    def fields(self) -> dict[str, Any]:
        """All of it, with the theorem's statement and source for the reader."""
        return {
            **_LIKELIEST._asdict(),
            "graph": self.graph.to_dict(),
            "epsilon": str(self.privacy.epsilon),
            "delta": str(self.privacy.delta),
            "prior": [str(probability) for probability in self.prior],
            "kept": list(self.kept),
            "value": str(self.value),
            "lower_bound": str(self.lower_bound),
            "gap": str(self.gap),
        }

    @classmethod
    def of_fields(cls, data: Mapping[str, Any]) -> LikeliestCertificate:
        """Read what `fields` wrote."""
        return cls(
            from_dict(data["graph"]),
            read_privacy(data),
            prior=_numbers(data["prior"], "prior") or (),
            kept=read_indices(data["kept"]),
            value=read_rational_text(data["value"]),
            lower_bound=read_rational_text(data["lower_bound"]),
            gap=read_rational_text(data["gap"]),
        )


_PRODUCT = Theorem(
    "On a Cartesian product, for a loss that adds up over coordinates and independent priors, or for the worst input, "
    "the least loss of all (ε, δ)-private channels is the sum of the factors' least losses, and independent draws "
    "attain it.",
    "Theory of leastnoise, Optimal on a product",
)


@dataclass(frozen=True)
class ProductCertificate(Certificate):
    """No (ε, δ)-private channel on the product costs less than `lower_bound`; independent coordinates cost `value`.

    Attributes:
        objective: "average" for the loss under the parts' priors, "worst" for the largest loss of an input.
        parts: Certificates for the factors that differ.
        uses: For each coordinate which of the parts speaks of it.
        value: The sum of what the parts' mechanisms cost at most.
        lower_bound: The sum of the parts' bounds.
        gap: value − lower_bound.
    """

    claim: ClassVar[str] = "product"

    graph: DatasetGraph
    privacy: Privacy
    objective: str
    parts: tuple[Certificate, ...]
    uses: tuple[int, ...]
    value: Fraction
    lower_bound: Fraction
    gap: Fraction

    @classmethod
    def of_parts(
        cls,
        graph: DatasetGraph,
        privacy: Privacy,
        objective: str,
        parts: tuple[Certificate, ...],
        uses: tuple[int, ...],
    ) -> ProductCertificate:
        """The certificate whose numbers are the sums of the parts'."""
        bounds = [stated_bounds(part) for part in parts]
        lower = sum((bounds[part][0] for part in uses), start=Fraction(0))
        value = sum((bounds[part][1] for part in uses), start=Fraction(0))
        return cls(graph, privacy, objective, parts, uses, value, lower, value - lower)

    def __post_init__(self) -> None:
        """Refuse parts that are none."""
        require_setting(self.graph, self.privacy)
        if self.objective not in ("average", "worst"):
            raise BadCertificate("the objective is unknown", given=self.objective, fix='use "average" or "worst"')
        for name in ("value", "lower_bound", "gap"):
            object.__setattr__(self, name, as_rational(getattr(self, name), name))
        parts = tuple(as_sequence(self.parts, "parts"))
        if any(type(part) not in _PARTS for part in parts):
            raise BadCertificate("this kind of part is unknown", given=[type(p).__name__ for p in parts], fix=_PART_FIX)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "uses", as_places(self.uses, "uses"))

    def fields(self) -> dict[str, Any]:
        """All of it, with the theorem's statement and source for the reader."""
        return {
            **_PRODUCT._asdict(),
            "graph": self.graph.to_dict(),
            "epsilon": str(self.privacy.epsilon),
            "delta": str(self.privacy.delta),
            "objective": self.objective,
            "parts": [{"claim": part.claim, **part.fields()} for part in self.parts],
            "uses": list(self.uses),
            "value": str(self.value),
            "lower_bound": str(self.lower_bound),
            "gap": str(self.gap),
        }

    @classmethod
    def of_fields(cls, data: Mapping[str, Any]) -> ProductCertificate:
        """Read what `fields` wrote."""
        return cls(
            from_dict(data["graph"]),
            read_privacy(data),
            read_text(data["objective"], "objective"),
            tuple(_read_part(part) for part in read_list(data["parts"], "parts")),
            read_indices(data["uses"]),
            value=read_rational_text(data["value"]),
            lower_bound=read_rational_text(data["lower_bound"]),
            gap=read_rational_text(data["gap"]),
        )


_PARTS: tuple[type[Certificate], ...] = (
    OptimalityCertificate,
    TheoremCertificate,
    LineCertificate,
    LikeliestCertificate,
)
_PART_FIX = "a part proves a lower bound and a loss of its own"


def _read_part(data: Any) -> Certificate:
    kinds = {kind.claim: kind for kind in _PARTS}
    if not isinstance(data, Mapping) or data.get("claim") not in kinds:
        raise BadCertificate("this kind of part is unknown", given=data, fix=_PART_FIX)
    return kinds[data["claim"]].of_fields(data)


def stated_bounds(part: Certificate) -> tuple[Fraction, Fraction]:
    """What a certificate claims that no mechanism beats, and that its own costs at most.

    Raises:
        BadCertificate: It claims no such numbers.
    """
    if isinstance(part, OptimalityCertificate | LineCertificate | LikeliestCertificate):
        return part.lower_bound, part.value
    if isinstance(part, TheoremCertificate) and part.loss is not None:
        return part.loss.lower, part.loss.upper
    raise BadCertificate("a part of a product states its loss", given=type(part).__name__, fix=_PART_FIX)


def _numbers(data: Any, name: str) -> tuple[Fraction, ...] | None:
    return None if data is None else tuple(read_rational_text(entry) for entry in read_list(data, name))


def _move(entry: Any) -> Move:
    *places, probability = as_sequence(entry, "a move", 3)
    place, guess = as_places(places, "remap")
    return Move(place, guess, as_rational(probability, "remap"))


def _read_move(data: Any) -> Move:
    *places, probability = read_list(data, "a move", length=3)
    place, guess = read_indices(places)
    return Move(place, guess, read_rational_text(probability))
