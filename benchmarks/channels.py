"""Channels against `qif` (PyPI): the same numbers, and who is faster. Answers are compared before anything is timed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.measure import Row, race
from leastnoise.exact.sources import SeededSource
from leastnoise.model.capacity import bayes_capacity_multiplicative
from leastnoise.model.channel import Channel
from leastnoise.model.leakage import g_vulnerability
from leastnoise.model.losses import absolute
from leastnoise.model.priors import uniform
from leastnoise.model.remapping import expected_loss

FLOAT_SIZE, EXACT_SIZE = 200, 30

Call = Callable[[], Any]


def run() -> list[Row]:
    """One row per question: our seconds, qif's seconds, and how many times faster we are."""
    try:
        import qif
    except ImportError:
        print("channels: skipped, because the package to compare with is missing; `pip install qif==1.6.0`")
        return []
    peer = f"qif {qif.__version__}"
    geometric = _geometric(EXACT_SIZE, Fraction(1, 2))
    pairs = _measures(qif, Channel(_geometric(FLOAT_SIZE, Fraction(1, 2)).floats())) + _measures(qif, geometric)
    noisier, wide = _geometric(EXACT_SIZE, Fraction(3, 4)), _random(10, EXACT_SIZE)
    pairs += [
        _refinement(qif, "that holds", geometric, noisier),
        _refinement(qif, "that fails", noisier, geometric),
        _refinement(qif, "with dependent columns", wide, wide.then(_random(EXACT_SIZE, EXACT_SIZE))),
    ]
    return [_compare(what, ours, theirs, peer) for what, ours, theirs in pairs]


def _measures(qif: Any, channel: Channel) -> list[tuple[str, Call, Call]]:
    """Questions about one channel, to us and to qif, which takes arrays of floats or of fractions."""
    size, number = len(channel.inputs), Fraction if channel.is_exact else float
    prior, matrix = uniform(size), np.array(channel.matrix())
    weights = np.array([number(1) / size] * size)
    distances = np.array([[number(abs(guess - truth)) for truth in range(size)] for guess in range(size)])
    measure, about = qif.measure, f"{size} x {size} {'fractions' if channel.is_exact else 'floats'}"
    return [
        (
            f"Bayes vulnerability, {about}",
            lambda: g_vulnerability(prior, channel),
            lambda: measure.bayes_vuln.posterior(weights, matrix),
        ),
        (
            f"expected absolute loss, {about}",
            lambda: expected_loss(prior, channel, absolute),
            lambda: measure.l_risk.posterior(distances, weights, matrix),
        ),
        (
            f"multiplicative capacity, {about}",
            lambda: bayes_capacity_multiplicative(channel),
            lambda: measure.bayes_vuln.mult_capacity(matrix),
        ),
        (
            f"hyper, {about}",
            lambda: sum(channel.hyper(prior).weights),
            lambda: qif.channel.hyper(matrix, weights)[0].sum(),
        ),
    ]


def _refinement(qif: Any, what: str, a: Channel, b: Channel) -> tuple[str, Call, Call]:
    left, right = a.matrix(), b.matrix()
    name = f"refinement {what}, {len(a.inputs)} x {len(a.outputs)} fractions"
    return name, lambda: a.refines(b).holds, lambda: qif.refinement.refined_by_witness(left, right)[0]


def _compare(what: str, ours: Call, theirs: Call, peer: str) -> Row:
    mine, other = ours(), theirs()
    if abs(mine - other) > (1e-9 if isinstance(mine, float) else 0):
        raise AssertionError(f"{what}: we say {mine}, {peer} says {other}")
    return race(what, ours, peer, theirs, target=0)


def _geometric(size: int, alpha: Fraction) -> Channel:
    """The truncated geometric mechanism on 0..size−1."""
    ends = {0, size - 1}
    return Channel(
        [
            [alpha ** abs(x - y) / (1 + alpha) * (1 if y in ends else 1 - alpha) for y in range(size)]
            for x in range(size)
        ]
    )


def _random(height: int, width: int) -> Channel:
    source = SeededSource(height * width)
    rows = [[Fraction(1 + source.bits(6)) for _ in range(width)] for _ in range(height)]
    return Channel([[entry / sum(row) for entry in row] for row in rows])
