"""Cummings, Lecture 2: the exponential mechanism, post-processing, groups and composition."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from leastnoise.checker import check
from leastnoise.composition import homogeneous_delta
from leastnoise.exact import exp_enclosure, ln_enclosure, sqrt_above
from leastnoise.mechanisms import Exponential
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import DatasetGraph, from_edges, path
from papers.claims import Claim, Paper, all_of

__all__ = ["PAPER"]

_COLOURS = ("brown", "blue", "green")
_THIRD = Fraction(1, 3)


def claims() -> Iterator[Claim]:
    """In the order of the text."""
    yield _exponential_is_private()
    yield _utility_as_printed()
    yield _utility_in_its_second_form()
    yield _post_processing()
    yield _last_line_of_post_processing()
    yield _groups()
    yield _basic_composition()
    yield _last_line_of_basic_composition()
    yield _advanced_composition()
    yield _corollary()


PAPER = Paper("lecture", "Cummings, Lecture 2: Exponential mechanism and properties of differential privacy", claims)


def _exponential_is_private() -> Claim:
    """Every database of at most two people of each eye colour, and all neighbours among them."""
    people = list(product(range(3), repeat=3))
    edges = [(x, (*x[:i], x[i] + 1, *x[i + 1 :])) for x in people for i in range(3) if x[i] < 2]
    graph = from_edges(edges)

    def private(base: int) -> bool:
        mechanism = Exponential(f"2*ln({base})", _COLOURS)
        rows = [[mechanism.pmf(colour, counts).lower for colour in _COLOURS] for counts in graph.nodes]
        return bool(check(Channel(rows, inputs=graph.nodes, outputs=_COLOURS), graph, f"2*ln({base})"))

    says = "the exponential mechanism with exponent εq/2Δ is ε-private (eye colours, Δ = 1)"
    return all_of("Theorem 3", says, ((f"e^ε = {base**2}", private(base)) for base in (2, 3, 10)))


def _worst_tail(count: int, gap: Fraction) -> Fraction:
    """P(score ≤ best − gap) at ε = 1, Δ = 1 with all but one candidate exactly `gap` below the best; from below."""
    weight = exp_enclosure(-gap / 2)
    return (count - 1) * weight.lower / (1 + (count - 1) * weight.upper)


def _utility_as_printed() -> Claim:
    t = 3
    cases = (
        (f"|R| = {n}, t = {t}", _worst_tail(n, 2 * ln_enclosure(n + t).lower) <= exp_enclosure(-t).upper)
        for n in (2, 10, 100)
    )
    says = "P(q ≤ best − (2Δ/ε)·ln(|R| + t)) ≤ e^-t"
    return all_of("Theorem 4", says, cases, "P(q ≤ best − (2Δ/ε)·(ln|R| + t)) ≤ e^-t")


def _utility_in_its_second_form() -> Claim:
    cases = (
        (f"|R| = {n}, β = 1/{b}", _worst_tail(n, 2 * ln_enclosure(n * b).upper) <= Fraction(1, b))
        for n in (2, 10, 100)
        for b in (2, 20, 1000)
    )
    return all_of("Theorem 4, second form", "P(q ≤ best − (2Δ/ε)·ln(|R|/β)) ≤ β", cases)


def _mechanisms() -> Iterator[tuple[str, Channel, Fraction, Fraction]]:
    """Some (ε, δ)-private channels on two inputs, with e^ε and δ."""
    for factor, delta in product((Fraction(6, 5), Fraction(3)), (Fraction(0), Fraction(1, 100))):
        truth = (factor + delta) / (factor + 1)  # the extreme one: P({0}|0) = e^ε·P({0}|1) + δ
        name = f"e^ε = {factor}, δ = {delta}"
        yield name, Channel([[truth, 1 - truth], [1 - truth, truth]]), factor, delta


def _pair() -> DatasetGraph:
    return path(2)


def _post_processing() -> Claim:
    after = Channel([["1/2", "1/3", "1/6"], ["0", "1/4", "3/4"]])
    cases = (
        (name, bool(check(channel.then(after), _pair(), f"ln({factor})", delta)))
        for name, channel, factor, delta in _mechanisms()
    )
    return all_of("Theorem 5", "post-processing keeps (ε, δ)", cases)


def _last_line_of_post_processing() -> Claim:
    cases = ((name, bool(check(channel, _pair(), 0, delta))) for name, channel, _, delta in _mechanisms())
    return all_of(
        "Theorem 5, last line of the display",
        "P(f∘M(x) ∈ S') ≤ P(f∘M(y) ∈ S')",
        cases,
        "P(f∘M(x) ∈ S') ≤ e^ε·P(f∘M(y) ∈ S') + δ: the factor was dropped",
    )


def _groups() -> Claim:
    """The worst case: a path on which each step uses its (ε, δ) up, P(0|i) = e^ε·P(0|i+1) + δ."""

    def holds(factor: Fraction, delta: Fraction, k: int) -> bool:
        shares = [Fraction(1, 1000)]
        for _ in range(k):
            shares.append(factor * shares[-1] + delta)
        channel = Channel([[share, 1 - share] for share in shares])
        kept = bool(check(channel, path(k + 1), f"ln({factor})", delta))
        group = k * factor ** (k - 1) * delta
        return kept and bool(check(channel.restrict([0, k]), from_edges([(0, k)]), f"{k}*ln({factor})", group))

    cases = (
        (f"k = {k}, e^ε = {factor}, δ = {delta}", holds(factor, delta, k))
        for k in (2, 3, 5)
        for factor in (Fraction(11, 10), Fraction(3, 2))
        for delta in (Fraction(0), Fraction(1, 1000))
    )
    return all_of("Theorem 6", "groups of k: (kε, k·e^((k−1)ε)·δ)", cases)


def _basic_composition() -> Claim:
    def holds(channel: Channel, factor: Fraction, delta: Fraction, k: int) -> bool:
        together = channel
        for _ in range(k - 1):
            together = together.parallel(channel)
        return bool(check(together, _pair(), f"{k}*ln({factor})", k * delta))

    cases = (
        (f"{k} times {name}", holds(channel, factor, delta, k))
        for k in (2, 4)
        for name, channel, factor, delta in _mechanisms()
    )
    return all_of("Theorem 7", "k queries cost (Σε, Σδ)", cases)


def _last_line_of_basic_composition() -> Claim:
    response = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    twice = check(response.parallel(response), _pair(), "ln(3)")
    return Claim(
        "Theorem 7, last line of the display",
        "Π e^ε = e^ε, so that two queries would cost ε together",
        f"randomized response with e^ε = 3, twice: tight ε = {twice.tight_epsilon}",
        bool(twice),
        "Π e^ε = e^(kε)",
    )


def _advanced(epsilon: Fraction, k: int, slack: Fraction) -> Fraction:
    """ε√(2k·ln(1/δ')) + kε(e^ε − 1), rounded down so that the claim is tried at its strongest."""
    log = ln_enclosure(1 / slack).lower
    root = sqrt_above(2 * k * log) * (1 - Fraction(1, 10**12))
    return epsilon * root + k * epsilon * (exp_enclosure(epsilon).lower - 1)


def _advanced_composition() -> Claim:
    cases = (
        (
            f"k = {k}, ε = {epsilon}, δ' = {float(slack):g}",
            homogeneous_delta(epsilon, k, _advanced(epsilon, k, slack)) <= slack,
        )
        for k in (10, 100, 1000)
        for epsilon in (Fraction(1, 100), Fraction(1, 10))
        for slack in (Fraction(1, 100), Fraction(1, 10**6))
    )
    says = "k queries of ε each: (ε√(2k·ln(1/δ')) + kε(e^ε − 1), δ'), tried on the worst queries there are"
    return all_of("Theorem 8", says, cases)


def _corollary() -> Claim:
    def fits(total: Fraction, delta: Fraction, k: int) -> bool:
        each = total / sqrt_above(8 * k * ln_enclosure(1 / delta).upper)
        return homogeneous_delta(each, k, total) <= delta

    cases = (
        (f"k = {k}, ε = {total}, δ = {delta}", fits(total, delta, k))
        for delta in (Fraction(1, 10**6), Fraction(1, 2), Fraction(999999, 10**6))
        for total in (Fraction(1, 10), Fraction(99, 100))
        for k in (10, 100)
    )
    says = "ε/√(8k·ln(1/δ)) per query gives (ε, δ) for every ε < 1"
    return all_of("Corollary 9", says, cases, "it needs δ ≤ 1/2 as well; the proof through Theorem 8 fails near δ = 1")
