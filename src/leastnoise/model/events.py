"""Privacy events: the frozen vocabulary of what a release did, and all that composition may use of it.

An event is data. Its name never changes its meaning; a name that is not in the vocabulary is refused, never ignored.
How events add up is the accountants' business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

from leastnoise.errors import UnknownEvent
from leastnoise.exact import Exact, NumberLike, read_exact, read_integer, read_rational

__all__ = [
    "Approximate",
    "BoundedRange",
    "Composed",
    "Concentrated",
    "Event",
    "Fixed",
    "GaussianNoise",
    "GaussianPrivacy",
    "Grouped",
    "LaplaceNoise",
    "Parallel",
    "Pure",
    "RandomizedResponse",
    "ThresholdedGaussian",
    "event_from_dict",
]


@dataclass(frozen=True, init=False)
class Pure:
    """ε-differential privacy and nothing more is known: ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4).

    >>> Pure("ln(3)").epsilon
    ln(3)
    """

    kind: ClassVar[str] = "pure"
    epsilon: Exact

    def __init__(self, epsilon: NumberLike) -> None:
        object.__setattr__(self, "epsilon", read_exact(epsilon, "epsilon", above=0))

    @property
    def delta(self) -> Fraction:
        """Zero."""
        return Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        return {"kind": self.kind, "epsilon": str(self.epsilon)}


@dataclass(frozen=True, init=False)
class LaplaceNoise(Pure):
    """Laplace noise with ε = sensitivity/scale on a lattice: pure, and with a known privacy loss law.

    The finer the lattice, the less is lost. With a step as wide as the sensitivity (a count) the law is that of
    randomized response, the worst that ε allows; continuous noise is the limit and may claim any number of steps.

    Args:
        epsilon: Sensitivity over scale.
        steps: How many lattice steps the sensitivity spans; 1 holds for every lattice.
    """

    kind: ClassVar[str] = "laplace"
    steps: int

    def __init__(self, epsilon: NumberLike, steps: NumberLike = 1) -> None:
        super().__init__(epsilon)
        object.__setattr__(self, "steps", read_integer(steps, "steps", at_least=1))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        return {**super().to_dict(), "steps": self.steps}


@dataclass(frozen=True, init=False)
class BoundedRange(Pure):
    """The exponential mechanism: log-probability ratios within an interval of length ε, hence ε²/8-zCDP.

    Durfee and Rogers 2019 for bounded range, Cesar and Rogers 2021 for the concentration. Permute-and-flip is not one.
    """

    kind: ClassVar[str] = "bounded range"


@dataclass(frozen=True, init=False)
class RandomizedResponse(Pure):
    """k-ary randomized response: truth with odds e^ε against each other option."""

    kind: ClassVar[str] = "randomized response"
    options: int

    def __init__(self, epsilon: NumberLike, options: NumberLike = 2) -> None:
        super().__init__(epsilon)
        object.__setattr__(self, "options", read_integer(options, "options", at_least=2))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        return {**super().to_dict(), "options": self.options}


@dataclass(frozen=True, init=False)
class Approximate:
    """(ε, δ)-differential privacy and nothing more is known."""

    kind: ClassVar[str] = "approximate"
    epsilon: Exact
    delta: Fraction

    def __init__(self, epsilon: NumberLike, delta: NumberLike) -> None:
        object.__setattr__(self, "epsilon", read_exact(epsilon, "epsilon", at_least=0))
        object.__setattr__(self, "delta", read_rational(delta, "delta", above=0, below=1))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        return {"kind": self.kind, "epsilon": str(self.epsilon), "delta": str(self.delta)}


@dataclass(frozen=True, init=False)
class Concentrated:
    """ρ-zero-concentrated differential privacy: Gaussian noise of variance σ² has ρ = sensitivity²/(2σ²).

    The discrete Gaussian has the same ρ (Canonne, Kamath and Steinke 2020, Theorem 4).
    """

    kind: ClassVar[str] = "concentrated"
    rho: Fraction

    def __init__(self, rho: NumberLike) -> None:
        object.__setattr__(self, "rho", read_rational(rho, "rho", above=0))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        return {"kind": self.kind, "rho": str(self.rho)}


@dataclass(frozen=True, init=False)
class GaussianNoise(Concentrated):
    """Discrete Gaussian noise: ρ-concentrated, and with a known privacy loss law.

    Args:
        rho: sensitivity²/(2σ²).
        steps: How many lattice steps the sensitivity spans, so that σ² = steps²/(2ρ) in squared steps.
    """

    kind: ClassVar[str] = "gaussian"
    steps: int

    def __init__(self, rho: NumberLike, steps: NumberLike = 1) -> None:
        super().__init__(rho)
        object.__setattr__(self, "steps", read_integer(steps, "steps", at_least=1))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        return {**super().to_dict(), "steps": self.steps}


@dataclass(frozen=True, init=False, repr=False)
class GaussianPrivacy(Concentrated):
    """μ-Gaussian privacy (Dong, Roth and Su 2022): neighbours are no easier to tell apart than N(0, 1) and N(μ, 1).

    Continuous Gaussian noise of variance σ² has μ = sensitivity/σ (in the ℓ2 norm, in any dimension), also after
    rounding or any other processing. It is μ²/2-concentrated, and its (ε, δ) are in `leastnoise.composition.gaussian`.
    Discrete Gaussian noise has another law and is a `GaussianNoise`.

    Args:
        mu_squared: μ², which is rational where μ need not be.

    >>> event = GaussianPrivacy(mu_squared="1/25")
    >>> event, event.rho
    (GaussianPrivacy(mu_squared=Fraction(1, 25)), Fraction(1, 50))
    """

    kind: ClassVar[str] = "gaussian privacy"

    def __init__(self, mu_squared: NumberLike) -> None:
        super().__init__(read_rational(mu_squared, "mu_squared", above=0) / 2)

    @property
    def mu_squared(self) -> Fraction:
        """μ² = 2ρ."""
        return 2 * self.rho

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        return {"kind": self.kind, "mu_squared": str(self.mu_squared)}

    def __repr__(self) -> str:
        """The call that makes it."""
        return f"GaussianPrivacy(mu_squared={self.mu_squared!r})"


@dataclass(frozen=True, init=False)
class ThresholdedGaussian:
    """Counts with Gaussian noise of the keys that reach a threshold, where the keys are private too.

    One unit has at most `keys` keys. A key that others have as well tells no more than μ-Gaussian privacy; one that it
    has alone is shown with probability at most `shown`, and then all may be lost. What that is in (ε, δ) is in
    `leastnoise.composition.thresholded_gaussian`.

    Args:
        mu_squared: μ² of one key, with everything that is released of it.
        keys: How many of them one unit has at most.
        shown: The chance that a key of one unit alone is shown, rounded up.
        beside: μ² of what is released beside the keys, whichever of them a unit has.
    """

    kind: ClassVar[str] = "thresholded gaussian"
    mu_squared: Fraction
    keys: int
    shown: Fraction
    beside: Fraction

    def __init__(
        self, mu_squared: NumberLike, keys: NumberLike, shown: NumberLike, beside: NumberLike = Fraction(0)
    ) -> None:
        object.__setattr__(self, "mu_squared", read_rational(mu_squared, "mu_squared", above=0))
        object.__setattr__(self, "keys", read_integer(keys, "keys", at_least=1))
        object.__setattr__(self, "shown", read_rational(shown, "shown", above=0, below=1))
        object.__setattr__(self, "beside", read_rational(beside, "beside", at_least=0))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        numbers = {"mu_squared": str(self.mu_squared), "shown": str(self.shown), "beside": str(self.beside)}
        return {"kind": self.kind, "keys": self.keys, **numbers}


@dataclass(frozen=True)
class _Several:
    """A list of events; what the list means is its kind."""

    kind: ClassVar[str]
    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        """Take any sequence, and nothing but events."""
        object.__setattr__(self, "events", _read_events(self.events))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        return {"kind": self.kind, "events": [event.to_dict() for event in self.events]}


@dataclass(frozen=True)
class Composed(_Several):
    """Several events on the same people, one after the other."""

    kind: ClassVar[str] = "composed"


@dataclass(frozen=True)
class Parallel(_Several):
    """Several events on disjoint parts of the data: each person is in one part, so the largest counts.

    Neighbours here differ in one person who is in or out. Where they differ in a person's record and the record
    decides the part, a change touches two parts: say `Grouped(Parallel(…), 2)`.
    """

    kind: ClassVar[str] = "parallel"


@dataclass(frozen=True)
class Grouped:
    """An event as it protects groups of `size` people at once."""

    kind: ClassVar[str] = "group"
    event: Event
    size: int

    def __post_init__(self) -> None:
        """Check both fields."""
        _read_events((self.event,))
        object.__setattr__(self, "size", read_integer(self.size, "size", at_least=1))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        return {"kind": self.kind, "event": self.event.to_dict(), "size": self.size}


@dataclass(frozen=True, init=False)
class Fixed:
    """Several events whose list was fixed before the first of them, and the claim that they are (ε, δ) together.

    The claim counts only after `leastnoise.accounting.cost_of` has proven it from the events, so it may be as tight as
    the tightest accountant. Bounds of loss distributions may differ a little between versions: round the claim up.

    Args:
        events: What happens, on the same people.
        epsilon: What they cost together, at least what `compose` says at this δ.
        delta: The δ of the claim.
    """

    kind: ClassVar[str] = "fixed"
    events: tuple[Event, ...]
    epsilon: Exact
    delta: Fraction

    def __init__(self, events: Iterable[Event], epsilon: NumberLike, delta: NumberLike = 0) -> None:
        object.__setattr__(self, "events", _read_events(events))
        object.__setattr__(self, "epsilon", read_exact(epsilon, "epsilon", at_least=0))
        object.__setattr__(self, "delta", read_rational(delta, "delta", at_least=0, below=1))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        events = [event.to_dict() for event in self.events]
        return {"kind": self.kind, "events": events, "epsilon": str(self.epsilon), "delta": str(self.delta)}


Event: TypeAlias = Pure | Approximate | Concentrated | ThresholdedGaussian | Composed | Parallel | Grouped | Fixed


def event_from_dict(data: Mapping[str, Any]) -> Event:
    """Read an event back; anything that is not exactly one of the vocabulary is refused.

    >>> event_from_dict({"kind": "bounded range", "epsilon": "1/2"})
    BoundedRange(epsilon=Fraction(1, 2))
    """
    kind = data.get("kind") if isinstance(data, Mapping) else None
    fields = {key: value for key, value in data.items() if key != "kind"} if kind else {}
    try:
        if kind in _SIMPLE:
            return _SIMPLE[kind](**fields)
        if kind in ("composed", "parallel") and set(fields) == {"events"}:
            parts = tuple(event_from_dict(part) for part in fields["events"])
            return Composed(parts) if kind == "composed" else Parallel(parts)
        if kind == "fixed" and set(fields) == {"events", "epsilon", "delta"}:
            return Fixed(tuple(map(event_from_dict, fields["events"])), fields["epsilon"], fields["delta"])
        if kind == "group" and set(fields) == {"event", "size"}:
            return Grouped(event_from_dict(fields["event"]), fields["size"])
    except TypeError:
        pass  # a field that the event does not have, or one that it lacks
    raise _unknown(data)


def _read_events(events: Iterable[Event]) -> tuple[Event, ...]:
    events = tuple(events)
    if not events:
        raise UnknownEvent("a list of events is empty", fix="leave out what did not happen")
    for event in events:
        if type(event) not in _VOCABULARY:  # a subclass from elsewhere could mean anything
            raise _unknown(type(event).__name__)
    return events


def _unknown(given: object) -> UnknownEvent:
    return UnknownEvent("not an event of the vocabulary", given=given, fix="use the events of leastnoise.accounting")


_SIMPLE: dict[str, type[Pure | Approximate | Concentrated | ThresholdedGaussian]] = {
    event.kind: event
    for event in (
        Pure,
        LaplaceNoise,
        BoundedRange,
        RandomizedResponse,
        Approximate,
        Concentrated,
        GaussianNoise,
        GaussianPrivacy,
        ThresholdedGaussian,
    )
}
_VOCABULARY = frozenset((*_SIMPLE.values(), Composed, Parallel, Grouped, Fixed))
