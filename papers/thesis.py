"""Tóthmérész 2013: Differential Privacy; this file has what is not about graphs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np

from leastnoise.checker import check
from leastnoise.exact import exp_enclosure, ln, ln_enclosure
from leastnoise.mechanisms import (
    ApproximateExponential,
    CrossPolytope,
    Exponential,
    KNorm,
    LatticeLaplace,
    VectorLaplace,
    least_worst_error,
)
from leastnoise.mechanisms.rank.rank_law import RankLaw, RankRule
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import grid
from papers.claims import Claim, Paper, all_of
from papers.thesis_facilities import facility_claims
from papers.thesis_graphs import graph_claims
from papers.thesis_limits import impossible_claims, lower_bound_claims, method_claims

__all__ = ["PAPER"]


def claims() -> Iterator[Claim]:
    """In the order of the text, with the claims about graphs at the end."""
    yield _exponential_is_private()
    yield _utility()
    yield _laplace_error()
    yield _vector_laplace_error()
    yield from facility_claims()
    yield _steps_of_the_k_median()
    yield from method_claims()
    yield _k_norm_is_private()
    yield _k_norm_error()
    yield _k_norm_against_the_norm()
    yield _orthogonal_noise()
    yield from impossible_claims()
    yield _sensitivity_of_the_median()
    yield _bounded_median()
    yield _smooth_sensitivity()
    yield _k_norm_median()
    yield _approximate_exponential()
    yield _rejection()
    yield from lower_bound_claims()
    yield _stirling()
    yield from graph_claims()


PAPER = Paper("thesis", "Tóthmérész, Differential Privacy, M.Sc. thesis, Eötvös Loránd University, 2013", claims)


def _exponential_is_private() -> Claim:
    """Scores are the coordinates of a point of a 3 × 3 × 3 grid: each may go up or down by one."""
    points = list(product(range(3), repeat=3))
    graph = grid(3, 3, 3)

    def private(base: int) -> bool:
        rows = [
            [Fraction(base) ** score / sum(Fraction(base) ** other for other in scores) for score in scores]
            for scores in points
        ]
        return bool(check(Channel(rows, inputs=points), graph, f"2*ln({base})"))

    cases = ((f"e^ε = {base}", private(base)) for base in (2, 5))
    return all_of("Theorem 2.1", "weights e^(εq) are 2εΔ-private", cases)


def _utility() -> Claim:
    def holds(count: int, best: int, t: int) -> bool:
        """All but the best lie just as far below as the theorem speaks of."""
        gap = ln_enclosure(Fraction(count, best)).upper + t
        law = Exponential(2, count)  # weights e^q
        far = (count - best) * law.pmf(count - 1, [0] * best + [-gap] * (count - best)).lower
        return far <= exp_enclosure(-t).upper

    cases = (
        (f"|R| = {n}, {best} best, t = {t}", holds(n, best, t)) for n in (2, 9) for best in (1, 2) for t in (0, 1, 4)
    )
    return all_of("Theorem 2.2", "P(q < best − (ln(|R|/|R_OPT|) + t)/ε) ≤ e^-t", cases)


def _laplace_error() -> Claim:
    found = LatticeLaplace(1, sensitivity=1, step="1/1000").error().expected
    holds = found.lower >= 1 and found.upper <= 1 + Fraction(1, 10**6)
    says = "the expected error of Laplace noise is Δ/ε"
    return Claim("Section 2.3.1", says, f"ε = Δ = 1, on a lattice of thousandths: {float(found):.9f}", holds)


def _vector_laplace_error() -> Claim:
    d = 10
    found = VectorLaplace("1/1000", d, 1).error().expected
    holds = d * 1000 * (1 - Fraction(1, 10**6)) <= found.lower and found.upper <= d * 1000
    says = "in d dimensions it is dΔ/ε: a histogram costs no more than its counts"
    return Claim("Section 2.3.1, histograms", says, f"d = 10, ε = 1/1000: {float(found):.6f}", holds)


def _steps_of_the_k_median() -> Claim:
    k, n, epsilon = 10, 1000, 1.0
    steps = 6 * k * math.log(n)
    right = 24 * k * math.log(n) / (epsilon / (2 * (steps + 1)))
    printed = 48 * k * math.log(n) / epsilon
    return Claim(
        "Proposition 2.6, in its proof",
        "24k·ln n/ε' = 48kΔ·ln n/ε",
        f"k = 10, n = 1000, ε = Δ = 1: {right:.3g}, and printed {printed:.3g}",
        math.isclose(right, printed),
        "48kΔ(T + 1)·ln n/ε; the factor T + 1 was dropped there and is in the proposition",
    )


def _k_norm_is_private() -> Claim:
    mechanism = KNorm("ln(3)", CrossPolytope(2), basis=[[1, 0], [1, 1]])
    verdict = check(mechanism.certificate())
    return Claim(
        "Proposition 2.7", "the K-norm mechanism is ε-private", "prefix sums, e^ε = 3, on the lattice", bool(verdict)
    )


def _k_norm_error() -> Claim:
    """For the ℓ₁ ball the mean of ‖z‖₁ over K is d/(d + 1)."""
    d, epsilon = 3, Fraction(1, 1000)
    found = epsilon * KNorm(epsilon, CrossPolytope(d)).error().expected.upper
    expected = (d + 1) * Fraction(d, d + 1)
    holds = abs(found - expected) < Fraction(1, 10**5)
    says = "its expected ℓ₁ error is (d + 1)/ε times the mean of ‖z‖₁ over K"
    return Claim("Proposition 2.8", says, f"ε·error = {float(found):.6f} for the ℓ₁ ball of three dimensions", holds)


def _k_norm_against_the_norm() -> Claim:
    """F = diag(1, 2): K is the hull of ±(1, 0) and ±(0, 2), ‖F‖ = 2."""
    cases = (
        (f"z = {z}", abs(z[0]) + Fraction(abs(z[1]), 2) <= Fraction(abs(z[0]) + abs(z[1]), 2))
        for z in ((0, 1), (1, 0), (1, 1))
    )
    return all_of("Section 2.4", "‖z‖_K ≤ ‖z‖/‖F‖", cases, "‖z‖_K ≥ ‖z‖/‖F‖, with F = diag(1, 2) as the example")


def _orthogonal_noise() -> Claim:
    """F = (1 2): the orthogonal complement of its kernel is spanned by (1, 2), and K = [−2, 2]."""
    along = Fraction(1 + 2)
    through = Fraction(1 * 1 + 2 * 2, 2)
    return Claim(
        "Section 2.4, noise on the input",
        "‖F(x − y)‖_K = ‖x − y‖₁ for x − y orthogonal to the kernel",
        f"F = (1 2), x − y = (1, 2): {through} and {along}",
        along == through,
        "only ≤ holds: the shortest way to change the answer need not be orthogonal to the kernel",
    )


def _median(values: Sequence[int]) -> Fraction:
    ordered, n = sorted(values), len(values)
    return Fraction(ordered[(n - 1) // 2] + ordered[n // 2], 2)


def _sensitivity_of_the_median() -> Claim:
    low, high = -1, 1
    changes = (
        abs(_median(records) - _median((*records, one)))
        for size in range(1, 5)
        for records in combinations_with_replacement((low, 0, high), size)
        for one in (low, 0, high)
    )
    largest = max(changes)
    return Claim(
        "Section 3.1, the bounded median",
        "on [a, b] one record changes the median by at most (a + b)/2",
        f"on [−1, 1]: up to {largest}",
        largest <= Fraction(low + high, 2),
        "(b − a)/2 for one record more or less, b − a for a changed one",
    )


def _bounded_median() -> Claim:
    cases = (
        (f"ε = {epsilon}", least_worst_error(Fraction(1), epsilon, 2).lower >= Fraction(1, 8))
        for epsilon in (Fraction(1, 100), Fraction(1, 4), Fraction(1, 2))
    )
    return all_of("Proposition 3.4", "every ε-private median on [a, b] errs by (b − a)/8 on some input, ε < 1/2", cases)


def _smooth_sensitivity() -> Claim:
    """Two inputs whose answers differ by S, where S shrinks by e^-γ: what is seen on the far side of the first one.

    With noise S/ε·Laplace(1) the half-line has probability ½ there and ½·e^(−ε·e^γ) at the other input.
    """
    delta, epsilon = Fraction(1, 10**6), 1
    gamma = Fraction(epsilon) / (2 * ln_enclosure(1 / delta).upper)
    far = exp_enclosure(-epsilon * exp_enclosure(gamma).lower).upper
    needed = (1 - exp_enclosure(epsilon).upper * far) / 2
    return Claim(
        "Section 3.1, smooth sensitivity",
        "noise S/ε·Laplace(1) with β = 2·ln(1/δ) is (ε, δ)-private",
        f"ε = 1, δ = 10^-6: one event alone needs δ ≥ {float(needed):.2e}",
        needed <= delta,
        "noise 2S/ε·Laplace(1) with β = 2·ln(2/δ) (Nissim, Raskhodnikova and Smith 2007)",
    )


def _k_norm_median() -> Claim:
    """All nine records equal, at the middle of the range: η = 0 and t = 5."""
    width, records = 10**4, 9
    law = RankLaw(RankRule(Fraction(1, 2), exchange=True), Fraction(1), width)
    near = law.pmf(width // 2, np.full(records, width // 2)).upper
    elsewhere = (1 - near) * Fraction(width, 8)  # at least half of what is elsewhere is a quarter away or more
    bound = exp_enclosure(-5).upper * width / 2
    return Claim(
        "After Proposition 3.4",
        "the K-norm median errs by at most η + e^(−εt)·K/2",
        f"nine equal records, 10^4 points: at least {float(elsewhere):.0f}, bound {float(bound):.0f}",
        elsewhere <= bound,
        "the weight e^(−εt) is that of each far point, and there are many of them",
    )


def _approximate_exponential() -> Claim:
    """Scores are the coordinates of a point of a 4 × 4 × 4 grid, from one up, so that all are positive and Δ = 1."""
    graph, points = grid(4, 4, 4), list(product(range(1, 5), repeat=3))

    def private(factor: Fraction) -> bool:
        rows = [[(1 + factor * q) / sum(1 + factor * other for other in scores) for q in scores] for scores in points]
        return bool(check(Channel(rows, inputs=graph.nodes), graph, 3 * factor))

    def tight(factor: Fraction) -> bool:
        return 2 * ln(1 + factor) <= 3 * factor

    cases = (
        (f"εΔ = {factor}, three scores of 1 to 4", private(factor) and tight(factor))
        for factor in (Fraction(1, 100), Fraction(1, 10), Fraction(1, 3))
    )
    says = "weights 1 + εq with q > 0 are 3εΔ-private for εΔ ≤ 1/3; 2·ln(1 + εΔ) is no more"
    return all_of("Theorem 3.1", says, cases)


def _rejection() -> Claim:
    factor, scores = Fraction(1, 9), (0, 3)
    wanted = ApproximateExponential(2 * ln(1 + factor), 2, largest_score=3).pmf(1, scores).lower
    printed = Fraction(1 + scores[1], sum(1 + score for score in scores))
    return Claim(
        "After Theorem 3.1",
        "accepting below 1 + q in a rectangle of height 1 + max q draws with weights 1 + εq",
        f"ε = 1/9, scores 0 and 3: P(second) = {printed}, wanted {wanted}",
        printed == wanted,
        "height 1 + ε·max q, accept below 1 + ε·q",
    )


def _stirling() -> Claim:
    d = 200
    logarithm = math.lgamma(d / 2 + 1)
    printed = math.log(4 * math.pi / d) / 2 + d / 2 * math.log(d / (2 * math.e))
    right = math.log(math.pi * d) / 2 + d / 2 * math.log(d / (2 * math.e))
    return Claim(
        "Lemma 4.1, Stirling's formula",
        "Γ(d/2 + 1) ~ √(4π/d)·(d/2e)^(d/2)",
        f"d = 200: too small by {math.exp(logarithm - printed):.4g}, with √(πd) by {math.exp(logarithm - right):.4g}",
        math.isclose(math.exp(logarithm - printed), 1, rel_tol=0.01),
        "√(πd)·(d/2e)^(d/2); the root of order d that is needed has the same limit",
    )
