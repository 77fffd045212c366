"""The normal form of a list of events: what composition theorems work on.

Groups are resolved, disjoint parts collapsed, and (ε, δ) split into δ, with which all may be lost, and the pure ε
otherwise: P = (1 − δ)P' + δP'', Q = (1 − δ)Q' + δQ'' with P', Q' within e^ε of each other (Kairouz, Oh and Viswanath
2015, proof of Theorem 3.3). What remains are atoms with counts. Gaussian privacy composes to Gaussian privacy with the
sum of the μ² (Dong, Roth and Su 2022, Corollary 3.3), so at most one atom is Gaussian.

`coarse` gives fewer distinct atoms that cost at least as much: parameters rounded up to a few leading binary digits. A
larger ε or ρ promises less, so whatever holds after the rounding holds before it. Of discrete Gaussian noise it is not
known that less of it always tells more, so it keeps its ρ only.

Atoms are events that composition does not take apart any further. An atom has three numbers: ε (or none), μ² of
Gaussian privacy (or none), and ρ, the least known constant of zero-concentrated privacy. For pure ε that is
ε·tanh(ε/2): the Rényi divergence of randomized response is ln(cosh((α − ½)ε)/cosh(ε/2))/(α − 1), and ln cosh(√s·ε) is
concave in s = (α − ½)², hence below its tangent at s = ¼, which is the line (s − ¼)·ε·tanh(ε/2) = α(α − 1)·ε·tanh(ε/2).
It is below the familiar ε²/2, and the limit α → 1 shows that nothing smaller holds. For a bounded range it is ε²/8
(Cesar and Rogers 2021) where that is less.

μ of a bounded range ε is that of a pure ε/2. Losses within [t − ε, t] tell at most what two outcomes with just these
two losses tell, of chances p and q with logit p − logit q = ε. Their trade-off curve has one corner, at which
μ = h(x + ε) − h(x) with h = Φ⁻¹ ∘ logistic and x = logit q. h is odd, and concave to the right of zero (van Zwet 1964:
the normal precedes the logistic law in the order of symmetric laws), so the difference is largest at x = −ε/2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias

from leastnoise.composition.gaussian import mu_squared_of_pure
from leastnoise.composition.group import group_delta_above
from leastnoise.composition.thresholded_gaussian import of_group, split
from leastnoise.errors import UnknownEvent
from leastnoise.exact import Ball, Exact, ball_of, enclose, of_fraction, rational_above, round_up, sum_above
from leastnoise.model import (
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
    ThresholdedGaussian,
)

__all__ = ["Atom", "Parts", "Worst", "coarse", "epsilon_of", "mu_squared_of", "parts_of", "rho_of"]

_RHO_BITS = 80  # ρ is rounded up to a multiple of 2^-80, so that running totals stay short


@dataclass(frozen=True)
class Worst:
    """The worst of several disjoint parts, or what else is known by no more than three numbers.

    Args:
        epsilon: The pure ε, or None where there is no finite one.
        rho: The ρ.
        mu_squared: The μ², or None where no Gaussian privacy is known.
    """

    epsilon: Exact | None
    rho: Fraction
    mu_squared: Fraction | None = None


Atom: TypeAlias = Pure | Concentrated | Worst


def epsilon_of(atom: Atom) -> Exact | None:
    """The pure ε of an atom, or None.

    >>> epsilon_of(Pure("ln(3)")), epsilon_of(Concentrated("1/8"))
    (ln(3), None)
    """
    return None if isinstance(atom, Concentrated) else atom.epsilon


@lru_cache(maxsize=4096)
def rho_of(atom: Atom) -> Fraction:
    """A ρ for which the atom is ρ-zCDP.

    >>> float(rho_of(Pure(1))), rho_of(BoundedRange(1)), rho_of(Concentrated("1/3"))
    (0.46211715726000974, Fraction(1, 8), Fraction(1, 3))
    """
    if isinstance(atom, Concentrated | Worst):
        return atom.rho
    epsilon = atom.epsilon
    rho = round_up(enclose(lambda: ball_of(epsilon) * (ball_of(epsilon) / 2).tanh()).upper, _RHO_BITS)
    return min(rho, rational_above(epsilon) ** 2 / 8) if isinstance(atom, BoundedRange) else rho


def mu_squared_of(atom: Atom) -> Fraction | None:
    """A μ² for which the atom is μ-Gaussian-private, or None where none is known.

    >>> mu_squared_of(GaussianPrivacy("1/25")), mu_squared_of(Concentrated("1/50"))
    (Fraction(1, 25), None)
    >>> mu_squared_of(BoundedRange(1)) == mu_squared_of(Pure("1/2"))
    True
    """
    if isinstance(atom, Concentrated):
        return atom.mu_squared if isinstance(atom, GaussianPrivacy) else None
    if isinstance(atom, Worst):
        return atom.mu_squared
    return mu_squared_of_pure(atom.epsilon / 2 if isinstance(atom, BoundedRange) else atom.epsilon)


_FIRST_DIGITS = 12
_Key = tuple[type, int, int, int]  # the kind of atom, its whole-number parameter, mantissa, exponent


@dataclass(frozen=True)
class Parts:
    """Distinct atoms with their counts, and the δ of every event that had one, with its count."""

    atoms: tuple[tuple[Atom, int], ...]
    deltas: tuple[tuple[Fraction, int], ...]

    @cached_property
    def queries(self) -> int:
        """How many atoms, all counts together."""
        return sum(count for _, count in self.atoms)

    @cached_property
    def epsilon(self) -> Exact | None:
        """Σ ε, or None where an atom has no finite ε."""
        known = [(epsilon_of(atom), count) for atom, count in self.atoms]
        return None if any(e is None for e, _ in known) else sum_above((e, n) for e, n in known if e is not None)

    @cached_property
    def delta(self) -> Fraction:
        """Σ δ."""
        return rational_above(sum_above(self.deltas))

    @cached_property
    def rho(self) -> Fraction:
        """Σ ρ."""
        return rational_above(sum_above((rho_of(atom), count) for atom, count in self.atoms))

    @cached_property
    def mu_squared(self) -> Fraction | None:
        """Σ μ², or None where an atom is not known to be Gaussian-private."""
        known = [(mu_squared_of(atom), count) for atom, count in self.atoms]
        if any(each is None for each, _ in known):
            return None
        return rational_above(sum_above((each, count) for each, count in known if each is not None))

    @cached_property
    def is_gaussian(self) -> bool:
        """Whether Gaussian privacy is all there is beside the δ, so that μ² says everything."""
        return all(isinstance(atom, GaussianPrivacy) for atom, _ in self.atoms)

    def slack(self, delta: Fraction) -> Fraction:
        """The δ' that the atoms may use: 1 − (1 − δ')·Π(1 − δᵢ) ≤ δ, rounded down; zero where none is left."""
        if not self.deltas:
            return delta

        def lost() -> Ball:
            logs = (count * of_fraction(-each).log1p() for each, count in self.deltas)
            return -sum(logs, start=of_fraction(0)).expm1()

        gone = enclose(lost).upper
        return (delta - gone) / (1 - gone) if gone < delta else Fraction(0)


def parts_of(events: Event | Iterable[Event]) -> Parts:
    """The normal form of one event or of many on the same people.

    Raises:
        UnknownEvent: Something is not in the vocabulary; nothing is ever counted as free.

    >>> parts_of([Pure("1/2"), Grouped(Pure("1/4"), 2), Approximate("1/2", "1e-9")])
    Parts(atoms=((Pure(epsilon=Fraction(1, 2)), 3),), deltas=((Fraction(1, 1000000000), 1),))
    """
    heap, others = _Heap(), Counter[Event]()
    if not isinstance(events, Event | Iterable):
        raise _unknown(events)
    for event in (events,) if isinstance(events, Event) else events:
        if type(event) is Pure or type(event) is Concentrated:  # most are, and counting them twice takes time
            heap.add_atom(event, 1)
        elif isinstance(event, Event):
            others[event] += 1
        else:
            raise _unknown(event)
    for event, count in others.items():
        heap.add(event, count)
    return heap.parts()


class _Heap:
    """Atoms and deltas while they are being counted."""

    def __init__(self) -> None:
        self.atoms: dict[object, tuple[Atom, int]] = {}
        self.deltas: Counter[Fraction] = Counter()
        self.mu_squared: Counter[Fraction] = Counter()

    def parts(self) -> Parts:
        atoms = tuple(self.atoms.values())
        if self.mu_squared:
            atoms += ((GaussianPrivacy(rational_above(sum_above(self.mu_squared.items()))), 1),)
        return Parts(atoms, tuple(self.deltas.items()))

    def add(self, event: Event, count: int, size: int = 1) -> None:
        """Add `count` copies of an event, as it protects groups of `size`."""
        if isinstance(event, Pure | Concentrated):
            self.add_atom(_grouped(event, size), count)
        elif isinstance(event, Approximate):
            self.deltas[group_delta_above(event.epsilon, event.delta, size)] += count
            if event.epsilon > 0:
                self.add_atom(Pure(event.epsilon * size), count)
        elif isinstance(event, ThresholdedGaussian):
            mu_squared, lost = split(of_group(event, size))
            self.add_atom(GaussianPrivacy(mu_squared), count)
            self.deltas[lost] += count
        elif isinstance(event, Composed | Fixed):
            for part in event.events:
                self.add(part, count, size)
        elif isinstance(event, Grouped):
            self.add(event.event, count, size * event.size)
        elif isinstance(event, Parallel):
            self.add_worst(event.events, count, size)
        else:
            raise _unknown(event)

    def add_atom(self, atom: Atom, count: int) -> None:
        if isinstance(atom, GaussianPrivacy):
            self.mu_squared[atom.mu_squared] += count
            return
        key = _key(atom)
        known = self.atoms.get(key)
        self.atoms[key] = (atom, count if known is None else known[1] + count)

    def add_worst(self, events: tuple[Event, ...], count: int, size: int) -> None:
        """One person is in one part. A group may be spread over several, which costs at most what one part would.

        That last step holds for ε, δ and ρ, because each of them grows at least in proportion to the size of a group,
        and for Gaussian parts, where Σ(kᵢμᵢ)² ≤ (k·max μᵢ)². It need not hold for μ² of other parts, nor for whole loss
        laws, which are kept only where all parts agree and the group is one person.
        """
        options = []
        for event in events:
            option = _Heap()
            option.add(event, 1, size)
            options.append(option)
        parts = [option.parts() for option in options]
        contents = [(set(part.atoms), set(part.deltas)) for part in parts]
        if size == 1 and all(each == contents[0] for each in contents):
            for atom, times in parts[0].atoms:
                self.add_atom(atom, times * count)
            for delta, times in parts[0].deltas:
                self.deltas[delta] += times * count
            return
        epsilons = [part.epsilon for part in parts]
        worst = None if any(e is None for e in epsilons) else max(e for e in epsilons if e is not None)
        rho, delta = max(part.rho for part in parts), max(part.delta for part in parts)
        gaussian = all(part.is_gaussian for part in parts)
        known = [part.mu_squared for part in parts] if gaussian or size == 1 else [None]
        mu_squared = None if any(each is None for each in known) else max(each for each in known if each is not None)
        if mu_squared and gaussian:
            self.add_atom(GaussianPrivacy(mu_squared), count)
        elif rho > 0:
            self.add_atom(Worst(worst, rho, mu_squared), count)
        if delta > 0:
            self.deltas[delta] += count


def _grouped(event: Pure | Concentrated, size: int) -> Atom:
    """The loss law of k people: k times the steps for additive noise, k times the range for a bounded range."""
    kind = type(event)
    if kind not in _ATOMS:  # a subclass from elsewhere could mean anything
        raise _unknown(event)
    if size == 1:
        return event
    if isinstance(event, LaplaceNoise):
        return LaplaceNoise(event.epsilon * size, event.steps * size)
    if isinstance(event, GaussianNoise):
        return GaussianNoise(event.rho * size**2, event.steps * size)
    if isinstance(event, GaussianPrivacy):
        return GaussianPrivacy(event.mu_squared * size**2)
    if isinstance(event, Concentrated):
        return Concentrated(event.rho * size**2)
    if isinstance(event, BoundedRange):
        return BoundedRange(event.epsilon * size)
    pure = Pure(event.epsilon * size)
    return Worst(pure.epsilon, rho_of(pure), mu_squared_of(pure)) if isinstance(event, RandomizedResponse) else pure


def _key(atom: Atom) -> object:
    """What equal atoms share; for plain ones whole numbers, because a `Fraction` is slow to hash."""
    kind = type(atom)
    if kind is Pure and isinstance(atom, Pure) and type(atom.epsilon) is Fraction:
        return kind, atom.epsilon.numerator, atom.epsilon.denominator
    if kind is Concentrated and isinstance(atom, Concentrated):
        return kind, atom.rho.numerator, atom.rho.denominator
    return atom


_ATOMS = frozenset((Pure, LaplaceNoise, BoundedRange, RandomizedResponse, Concentrated, GaussianNoise, GaussianPrivacy))


def _unknown(event: object) -> UnknownEvent:
    return UnknownEvent(
        "not an event of the vocabulary", given=type(event).__name__, fix="use the events of leastnoise.accounting"
    )


def coarse(parts: Parts, most: int) -> Parts:
    """Parts that cost at least as much, with at most `most` distinct atoms if rounding to one digit achieves that.

    >>> many = parts_of([Pure(Fraction(1000 + i, 1000)) for i in range(100)])
    >>> few = coarse(many, 10)
    >>> len(few.atoms), many.epsilon < few.epsilon < many.epsilon * Fraction(101, 100)
    (8, True)
    """
    if len(parts.atoms) <= most:
        return parts
    kept = tuple((atom, count) for atom, count in parts.atoms if isinstance(atom, Worst | GaussianPrivacy))
    counts: dict[_Key, int] = {}
    for atom, count in parts.atoms:
        if not isinstance(atom, Worst | GaussianPrivacy):
            _add(counts, _rounded(atom), count)
    for digits in range(_FIRST_DIGITS - 1, 0, -1):
        if len(counts) + len(kept) <= most:
            break
        shorter: dict[_Key, int] = {}
        for (kind, whole, mantissa, exponent), count in counts.items():
            _add(shorter, (kind, whole, *_cut(mantissa, exponent, digits)), count)
        counts = shorter
    return replace(parts, atoms=kept + tuple((_atom(key), count) for key, count in counts.items()))


def _add(counts: dict[_Key, int], key: _Key, count: int) -> None:
    counts[key] = counts.get(key, 0) + count


def _rounded(atom: Pure | Concentrated) -> _Key:
    if type(atom) is Pure:
        return Pure, 0, *_short(atom.epsilon)
    if isinstance(atom, Concentrated):
        return Concentrated, 0, *_short(atom.rho)
    if isinstance(atom, LaplaceNoise):
        return LaplaceNoise, atom.steps, *_short(atom.epsilon)
    if isinstance(atom, RandomizedResponse):
        return RandomizedResponse, atom.options, *_short(atom.epsilon)
    return BoundedRange, 0, *_short(atom.epsilon)


def _atom(key: _Key) -> Atom:
    kind, whole, mantissa, exponent = key
    value = Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))
    atom: Atom = kind(value, whole) if kind in (LaplaceNoise, RandomizedResponse) else kind(value)
    return atom


def _short(number: Exact) -> tuple[int, int]:
    """Mantissa and exponent of the number rounded up to the first digits."""
    number = rational_above(number)
    top, bottom = number.numerator, number.denominator
    shift = bottom.bit_length() - top.bit_length() + _FIRST_DIGITS
    return _cut(-(-(top << shift) // bottom) if shift >= 0 else -(-top // (bottom << -shift)), -shift, _FIRST_DIGITS)


def _cut(mantissa: int, exponent: int, digits: int) -> tuple[int, int]:
    """Exactly so many digits, rounded up, so that equal numbers have equal keys."""
    excess = mantissa.bit_length() - digits
    if excess > 0:
        mantissa, exponent = -(-mantissa >> excess), exponent + excess
    return (mantissa >> 1, exponent + 1) if mantissa >> digits else (mantissa, exponent)
