"""Fewer distinct atoms that cost at least as much: parameters rounded up to a few leading binary digits.

A larger ε or ρ promises less, so whatever holds after the rounding holds before it. Of discrete Gaussian noise it is
not known that less of it always tells more, so it keeps its ρ only.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from leastnoise.composition.atomic_events import Atom, Worst
from leastnoise.composition.exact_sums import rational_above
from leastnoise.composition.normal_form import Parts
from leastnoise.exact.numbers import Exact
from leastnoise.model.events import BoundedRange, Concentrated, GaussianPrivacy, LaplaceNoise, Pure, RandomizedResponse

__all__ = ["coarse"]

_FIRST_DIGITS = 12
_Key = tuple[type, int, int, int]  # the kind of atom, its whole-number parameter, mantissa, exponent


def coarse(parts: Parts, most: int) -> Parts:
    """Parts that cost at least as much, with at most `most` distinct atoms if rounding to one digit achieves that.

    >>> from leastnoise.composition.normal_form import parts_of
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
