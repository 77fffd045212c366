"""Tóthmérész 2013: what can't be private (sections 3.1 and 4), Definition 2.5 and single displays, in small cases."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from leastnoise.checker import check
from leastnoise.exact import Enclosure, exp_enclosure, ln_enclosure
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.programs import Optimum, minimise
from leastnoise.mechanisms import CrossPolytope, KNorm, VectorLaplace, least_worst_error, packing_bound
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import path
from papers.claims import Claim, all_of

__all__ = ["impossible_claims", "lower_bound_claims", "method_claims"]


def method_claims() -> Iterator[Claim]:
    """Section 2: single displays and Definition 2.5."""
    yield _display_of_proposition_2()
    yield _likely_set()
    yield _definition_5()


def impossible_claims() -> Iterator[Claim]:
    """Section 3.1."""
    yield _outputs_that_vanish()
    yield _sets_that_vanish()
    yield _unbounded_median()
    yield _smooth_in_several_dimensions()


def lower_bound_claims() -> Iterator[Claim]:
    """Section 4."""
    yield _linear_maps()
    yield _packing()
    yield _regular_graph()


def _display_of_proposition_2() -> Claim:
    """Theorem 2.2 at its worst: one best choice and C(n, 2) others, all just beyond the printed distance."""

    def holds(nodes: int, epsilon: Fraction) -> bool:
        others = nodes * (nodes - 1) // 2
        gap = ln_enclosure(others).upper + 2 * ln_enclosure(nodes).upper / epsilon
        weight = others * exp_enclosure(-epsilon * gap).lower
        return weight / (1 + weight) <= exp_enclosure(-2 * ln_enclosure(nodes).lower / epsilon).upper

    cases = ((f"n = {n}, ε = {e}", holds(n, e)) for n in (4, 10) for e in (Fraction(1, 2), Fraction(1, 10)))
    return all_of(
        "Proposition 2.2, the first display",
        "by Theorem 2.2, P(worse by more than ln C(n, 2) + 2·ln n/ε) ≤ exp(−2·ln n/ε)",
        cases,
        "P(worse by more than ln C(n, 2)/ε + 2·ln n/ε) ≤ exp(−2·ln n) = 1/n²",
    )


def _likely_set() -> Claim:
    """One output has probability δ at one input, where it is left out, and e^ε·δ at the other, where it is not."""
    factor, delta = 3, Fraction(1, 100)
    before = Channel([[factor * delta, 1 - factor * delta], [delta, 1 - delta]])
    after = Channel([[factor * delta, 1 - factor * delta], [0, 1]])
    private = bool(check(before, path(2), f"ln({factor})"))
    needed = check(after, path(2), f"ln({factor})").tight_delta
    return Claim(
        "Section 2.3.2, sampling within a likely set",
        "sampling within a set of probability 1 − δ is (ε, δ)-private",
        f"e^ε = 3, δ = 1/100, private before: {private}; needs δ = {needed}",
        private and bool(check(after, path(2), f"ln({factor})", delta)),
        "(ε, (1 + e^ε)·δ) is enough, and e^ε·δ can be needed",
    )


def _definition_5() -> Claim:
    """A count of 0 to 6 on a path, the true one 3: q' is the number of people to change."""
    weights = [Fraction(2) ** abs(y - 3) for y in range(7)]  # e^(ε·q'), e^ε = 2, as printed
    truth, far = weights[3] / sum(weights), weights[6] / sum(weights)
    return Claim(
        "Definition 2.5",
        "the exponential mechanism with q' = the number of changes prefers the true answer",
        f"a count of 3 among 0 to 6, e^ε = 2: P(3) = {truth}, P(6) = {far}",
        truth > far,
        "with −q'",
    )


def _largest_share(worst: int, kind: int) -> Fraction:
    """The largest P(M(D₁) ∈ S) of a private mechanism, e^ε = 2, with error at most 1 at D₂, where S costs at least K.

    S has `kind` outputs, and one more output is right at both inputs.
    """
    count = kind + 1
    pairs = [(a, b, s) for s in range(count) for a, b in ((0, 1), (1, 0))]
    width = 2 * count + len(pairs) + 1
    table, right = [], []
    for x in (0, 1):
        table.append([Fraction(int(x * count <= c < (x + 1) * count)) for c in range(width)])
        right.append(1)
    for place, (a, b, s) in enumerate(pairs):  # p(s|a) + slack = 2·p(s|b)
        row = [Fraction(0)] * width
        row[a * count + s], row[b * count + s], row[2 * count + place] = Fraction(1), Fraction(-2), Fraction(1)
        table.append(row)
        right.append(0)
    error = [Fraction(0)] * width
    for s in range(kind):
        error[count + s] = Fraction(worst + s)
    error[-1] = Fraction(1)
    table.append(error)
    right.append(1)
    cost = [-1 if c < kind else 0 for c in range(width)]
    found = minimise(cost, RationalMatrix(table), right)
    if not isinstance(found, Optimum):
        raise TypeError("the output that is right everywhere is allowed")
    return -found.cost


def _outputs_that_vanish() -> Claim:
    cases = ((f"K = {k}", _largest_share(k, 1) == Fraction(2, k)) for k in (10, 1000, 10**6))
    says = "an output that may become wrong by any K has probability 0: for each K at most e^ε·γ/K (e^ε = 2, γ = 1)"
    return all_of("Proposition 3.1", says, cases)


def _sets_that_vanish() -> Claim:
    cases = ((f"K = {k}, three outputs", _largest_share(k, 3) <= Fraction(2, k)) for k in (10, 1000, 10**6))
    return all_of("Proposition 3.2", "the same for a set of outputs", cases)


def _unbounded_median() -> Claim:
    """{i} and {i, i + 2K}: the median moves by K with one more record."""
    cases = (
        (f"ε = {e}, K = {k}", least_worst_error(Fraction(k), e, 1).lower >= Fraction(k, 4))
        for e in (Fraction(1, 10), Fraction(1))
        for k in (10, 10**6, 10**12)
    )
    return all_of("Proposition 3.3", "no bound on the error of a private median: K/4 at least, for every K", cases)


def _smooth_in_several_dimensions() -> Claim:
    """The event of one dimension, with the slower change that √d·ln(1/δ) allows: one coordinate beyond its answer."""

    def holds(d: int, delta: Fraction) -> bool:
        gamma = 1 / (ln_enclosure(1 / delta).upper * Fraction(math.isqrt(d)))
        far = exp_enclosure(-exp_enclosure(gamma).lower).upper
        return (1 - exp_enclosure(1).upper * far) / 2 <= delta

    cases = ((f"d = {d}, ε = 1, δ = {float(delta):g}", holds(d, delta)) for d in (4, 9) for delta in _DELTAS)
    return all_of(
        "Section 3.1, smooth sensitivity in several dimensions",
        "noise S/ε·Laplace(1) on each coordinate with β = √d·ln(1/δ) is (ε, δ)-private",
        cases,
        "noise 2S/ε·Laplace(1) with β = 4(d + ln(2/δ)) (Nissim, Raskhodnikova and Smith 2007)",
    )


_DELTAS = (Fraction(1, 10**6), Fraction(1, 10**3))


def _linear_maps() -> Claim:
    """F = the identity, K the ℓ₁ ball of volume 2^d/d!: what we have, in the ℓ₁ norm, is above the ℓ₂ bound."""

    def ratio(d: int) -> Fraction:
        volume = Fraction(2**d, math.factorial(d))
        bound: Enclosure = packing_bound(d, volume, Fraction(1, 100))
        scale = 100 * Fraction(math.isqrt(d**3 * 10**12), 10**6) * Fraction(float(volume) ** (1 / d))
        return bound.lower / scale

    def above(d: int) -> bool:
        bound = packing_bound(d, Fraction(2**d, math.factorial(d)), Fraction(1, 100))
        ours = [KNorm("1/100", CrossPolytope(d)), VectorLaplace("1/100", d, 1)]
        return all(mechanism.error().expected.upper >= bound.lower for mechanism in ours)

    cases = ((f"ℓ₁ ball, d = {d}", ratio(d) >= Fraction(1, 20) and above(d)) for d in (1, 2, 5))
    says = "every private answer to a linear map errs by Ω(d√d·Vol(K)^(1/d)/ε): by a twentieth of it at least"
    return all_of("Theorem 4.1", says, cases)


def _packing() -> Claim:
    """K = the unit cube: a grid of step δ = Γ(d/2 + 1)^(1/d)/(4√π) has more than e^d points."""

    def holds(d: int) -> bool:
        step = math.exp(math.lgamma(d / 2 + 1) / d) / (4 * math.sqrt(math.pi))
        return (math.floor(1 / step * (1 - 1e-9)) + 1) >= math.e and step >= math.sqrt(d) / 20

    cases = ((f"unit cube, d = {d}", holds(d)) for d in (1, 2, 3, 5, 10, 20))
    return all_of("Lemma 4.1", "K holds e^d points that are Ω(√d·Vol(K)^(1/d)) apart: √d/20 (in doubles)", cases)


def _regular_graph() -> Claim:
    """A circulant graph. Sets of s < r nodes cut at least s(r − s + 1), larger ones λ₂·s/2; λ₂ in doubles."""
    nodes, jumps = 200, (1, 5, 14, 25, 39, 48, 60, 71, 77, 88, 93)
    degree = 2 * len(jumps)
    epsilon = math.log(nodes) / (3 * degree)
    gap = min(degree - 2 * sum(math.cos(2 * math.pi * j * k / nodes) for j in jumps) for k in range(1, nodes))
    small = all(2 * s * (degree - s + 1) >= 3 * degree for s in range(2, degree))
    allowed = 3 * math.log(nodes) / nodes < epsilon < 1 / 12
    return Claim(
        "Lemma 4.2",
        "a graph whose least cuts are its nodes, of ln n/(3ε) edges, and whose other cuts have ln n/(2ε)",
        f"n = 200, ε = {epsilon:.4f}: circulant of degree {degree}, λ₂ = {gap:.2f} where 3 is enough",
        allowed and small and gap > 3.01,
    )
