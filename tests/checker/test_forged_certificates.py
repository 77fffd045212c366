"""Certificates made by hand, changed after they were made, or of a made-up kind: refused, or judged as they are."""

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

from leastnoise.checker import check
from leastnoise.checker.entries import FloatEntries
from leastnoise.errors import BadCertificate, LeastNoiseError
from leastnoise.exact import IntegerMatrix
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import ln
from leastnoise.model import (
    Certificate,
    IdentityWorkload,
    LikeliestCertificate,
    LineCertificate,
    Move,
    Multiplier,
    OptimalityCertificate,
    PrivacyCertificate,
    ProductCertificate,
    RefinementCertificate,
    StrategyCertificate,
    StrategyPart,
    TheoremCertificate,
    best_line_reading,
)
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import complete, cycle, from_edges, hamming, path
from leastnoise.model.graphs.path_cycle_complete import find_line
from leastnoise.model.privacy import Privacy
from support.certificates import Design, average, distance_loss, worst
from support.channels import geometric
from support.privacy import ordered_pairs, sets

HALF = Fraction(1, 2)
OPTIMAL = {
    "average": average(path(3), Fraction(2)),
    "average with delta": average(path(2), Fraction(2), Fraction(1, 4)),
    "worst with delta": worst(path(3), Fraction(2), Fraction(1, 20)),
}
OTHERS = [
    PrivacyCertificate(path(3), Privacy("ln(4)"), geometric(2, Fraction(1, 4))),
    TheoremCertificate("truncated-geometric", path(4), Privacy("ln(2)"), geometric(3, HALF)),
    TheoremCertificate(
        "exponential-of-distance-for-growing-losses",
        cycle(3),
        Privacy("ln(2)"),
        Channel([[HALF, HALF / 2, HALF / 2], [HALF / 2, HALF, HALF / 2], [HALF / 2, HALF / 2, HALF]]),
        None,
        ((1, 2, 0),),
        ((0, 2), (1, 0)),
    ),
    RefinementCertificate(
        Channel([["3/4", "1/4"], ["1/4", "3/4"]]),
        Channel([["5/8", "3/8"], ["3/8", "5/8"]]),
        Channel([["3/4", "1/4"], ["1/4", "3/4"]]),
    ),
]
HOSTILE = [
    None, True, -1, 0, 1, 10**30, -(10**30), HALF, -HALF, 0.5, float("nan"), np.int64(-1), np.int64(1), np.float64(0.5),
    "1", "", b"1", (), [], (0,), ((0, 1),), ((-1, 1),), ((True, 1),), {}, {0}, object(), Enclosure(HALF, Fraction(0)),
    Channel([[0.5, 0.5]]), Channel([[1]]), path(1), Privacy(1), Multiplier(0, 1, 0, HALF),
]  # fmt: skip


def is_true(certificate):
    """Every claim of an optimality certificate by its definition: all sets of outputs, every place counted once."""
    graph, privacy, outputs = certificate.graph, certificate.privacy, len(certificate.channel.outputs)
    rows = certificate.channel.matrix().tolist()
    pairs = {(x, other): length for x, other, length in ordered_pairs(graph)}
    factors = dict(certificate.factors)
    if len(rows) != len(graph.nodes) or len(certificate.prior) != len(rows):
        return False
    if [len(row) for row in certificate.loss] != [len(rows)] * outputs:
        return False
    if len(factors) < len(certificate.factors) or set(factors) != set(pairs.values()):
        return False
    if any(factor <= 0 or ln(factor) < privacy.epsilon * length for length, factor in factors.items()):
        return False
    for x, other in pairs:
        for chosen in sets(outputs):
            near, far = (sum((rows[z][y] for y in chosen), Fraction(0)) for z in (x, other))
            more = near - privacy.delta
            if more > 0 and (far == 0 or ln(more / far) > privacy.epsilon * pairs[x, other]):
                return False
    if min(certificate.prior) < 0 or sum(certificate.prior) != 1:
        return False
    losses = [sum(rows[x][y] * certificate.loss[y][x] for y in range(outputs)) for x in range(len(rows))]
    mean = sum(weight * loss for weight, loss in zip(certificate.prior, losses, strict=True))
    if certificate.value != (max(losses) if certificate.objective == "worst" else mean):
        return False
    dual = {}
    for x, other, y, value in certificate.multipliers:
        if (x, other) not in pairs or not 0 <= y < outputs or value <= 0 or (x, other, y) in dual:
            return False
        dual[x, other, y] = value
    bound = Fraction(0)
    for x in range(len(rows)):
        reduced = [
            certificate.prior[x] * certificate.loss[y][x]
            + sum(dual.get((x, z, y), 0) for z in range(len(rows)))
            - sum(factors[pairs[z, x]] * dual.get((z, x, y), 0) for z in range(len(rows)) if (z, x) in pairs)
            for y in range(outputs)
        ]
        bound += min(reduced)
    bound -= privacy.delta * sum(max(dual.get((*pair, y), Fraction(0)) for y in range(outputs)) for pair in pairs)
    return certificate.lower_bound == bound and certificate.gap == certificate.value - bound


def changed(value):
    """Every way to change a field: replaced as a whole, or anywhere inside it."""
    yield from HOSTILE
    if isinstance(value, tuple) and not isinstance(value, str):
        yield value[1:]
        yield (*value, *value[:1])
        yield list(value)
        for place, part in enumerate(value):
            for other in changed(part):
                entry = (*value[:place], other, *value[place + 1 :])
                yield type(value)(*entry) if isinstance(value, Multiplier) else entry
    elif isinstance(value, Fraction):
        yield value + Fraction(1, 7)
        yield -value


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIMAL)
def test_whatever_is_put_into_a_field_is_refused_or_judged_right(name):
    sample = OPTIMAL[name]
    assert check(sample)
    assert is_true(sample)
    tried = made = true = 0
    for field in fields(sample):
        for value in changed(getattr(sample, field.name)):
            tried += 1
            try:
                forged = replace(sample, **{field.name: value})
            except LeastNoiseError:
                continue
            made += 1
            verdict = bool(check(forged))
            assert verdict == is_true(forged), (field.name, value)
            true += verdict
            if verdict:  # nothing that is found true is beaten by the best channel
                prior = None if forged.objective == "worst" else forged.prior
                best = Design(forged.graph, dict(forged.factors), forged.loss, prior, forged.privacy.delta).value
                assert forged.lower_bound <= best, (field.name, value)
    assert tried > 500
    assert made > 50
    assert true >= 1


@pytest.mark.parametrize("sample", OTHERS, ids=lambda sample: f"{sample.claim}")
def test_no_other_kind_takes_nonsense(sample):
    assert check(sample)
    for field in fields(sample):
        for value in changed(getattr(sample, field.name)):
            try:
                forged = replace(sample, **{field.name: value})
            except LeastNoiseError:
                continue
            assert isinstance(check(forged).holds, bool)


def test_a_negative_place_is_no_second_name_for_a_constraint():
    """(0, 1, 0) and (0, 1, −2) are one constraint: the bound 7/24 would be 'proven', where 1/4 is possible."""
    graph, t, delta = path(2), Fraction(2), Fraction(1, 4)
    loss = distance_loss(graph)
    true = average(graph, t, delta)
    assert true.value == Fraction(1, 4)
    places = [(0, 1, 0), (0, 1, -2), (1, 0, 1), (1, 0, -1)]
    lies = [Multiplier(*place, Fraction(1, 12)) for place in places]
    with pytest.raises(BadCertificate, match="places"):
        replace(true, multipliers=tuple(lies), lower_bound=Fraction(7, 24), gap=true.value - Fraction(7, 24))
    # The same, slipped in after the certificate was made.
    for field, value in [("multipliers", tuple(lies)), ("lower_bound", Fraction(7, 24)), ("gap", Fraction(-1, 24))]:
        forged = replace(true)
        object.__setattr__(forged, field, value)
        assert not check(forged)
    everything = replace(true)
    object.__setattr__(everything, "multipliers", tuple(lies))
    bounds = {lower_bound_by_hand(loss, delta, t, lies)}
    for bound in bounds:
        object.__setattr__(everything, "lower_bound", bound)
        object.__setattr__(everything, "gap", true.value - bound)
        assert not check(everything)


def lower_bound_by_hand(loss, delta, t, multipliers):
    """What a checker would find that indexes lists with negative places and takes the maximum of equal ones."""
    costs = [[Fraction(1, 2) * row[x] for row in loss] for x in range(2)]
    steepest = {}
    for x, other, output, value in multipliers:
        costs[x][output] += value
        costs[other][output] -= t * value
        steepest[x, other] = max(steepest.get((x, other), 0), value)
    return sum(map(min, costs)) - delta * sum(steepest.values())


@pytest.mark.slow
def test_a_loss_is_legal_along_the_line_and_not_in_the_order_of_the_nodes():
    """The nodes b, c, a lie as c, b, a: a loss that is legal for b, c, a "proved" 3/8 where 1/3 is possible."""
    graph, unit = from_edges([("b", "c"), ("a", "b")]), Privacy("ln(2)")
    line, places = find_line(graph), tuple(map(Fraction, range(3)))
    assert line.order == (1, 0, 2)
    accepted = beaten = 0
    for steps in product([(1, 1), (1, 2), (0, 1)], repeat=3):
        costs = [(0, *each) for each in steps]
        for order in ((0, 1, 2), line.order):  # as the nodes are listed, and as they lie
            spot = {node: place for place, node in enumerate(order)}
            loss = [[Fraction(costs[x][abs(w - spot[x])]) for x in range(3)] for w in range(3)]
            along = [[row[node] for node in line.order] for row in loss]
            for prior in ([Fraction(1, 3)] * 3, [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]):
                found = best_line_reading(unit.epsilon, along, [prior[node] for node in line.order])
                moves = [Move(place, guess, Fraction(1)) for place, guess in enumerate(found.guesses)]
                claimed = found.loss.upper, found.loss.lower, found.loss.width
                made = LineCertificate(graph, unit, "average", prior, loss, places, moves, *claimed)
                best = Design(graph, {Fraction(1): Fraction(2)}, loss, prior, Fraction(0)).value
                beaten += best < made.lower_bound
                accepted += bool(check(made))
                assert not check(made) or made.lower_bound <= best
                assert check(made) or order != line.order
    assert beaten > 3
    assert accepted >= 27 * 2


def test_a_part_that_speaks_of_the_average_says_nothing_of_the_worst_input():
    """Whoever always says the only likely label is never wrong under the prior, and always wrong elsewhere."""
    part = LikeliestCertificate(complete(3), Privacy("ln(2)"), (1, 0, 0), (0,), 0, 0, 0)
    assert check(part)
    for objective, holds in (("average", True), ("worst", False)):
        whole = ProductCertificate.of_parts(hamming(2, 3), Privacy("ln(2)"), objective, (part,), (0, 0))
        assert bool(check(whole)) is holds
        assert bool(check(Certificate.from_json(whole.to_json()))) is holds


@pytest.mark.parametrize("size", [3, 80])
@pytest.mark.parametrize("digits", [1, 100, 150, 200, 400])
@pytest.mark.parametrize("sign", [-1, 1])
def test_numbers_beyond_doubles_are_judged_and_break_nothing(size, digits, sign):
    unit, far = IntegerMatrix([[int(i == j) for j in range(size)] for i in range(size)]), 10**digits
    weights = (Fraction(far) ** sign,) * size
    error = size * weights[0] / (1 - Fraction(1, 1 << 20))
    part = StrategyPart(IdentityWorkload(size), weights, unit, unit, 1, 20)
    for changed_part in (
        replace(part, denominator=far),
        replace(part, multipliers=(1,) * size),
        replace(part, multipliers=(far,) * size),
        replace(part, multipliers=(far,) * size, dual=unit),
    ):
        verdict = check(StrategyCertificate((changed_part,), "total", "l2", 1, 1, 1, error, 0, error))
        assert not verdict
        assert "sensitivity" not in verdict.reason


def test_a_made_up_kind_of_certificate_never_holds():
    @dataclass(frozen=True)
    class Trusting(Certificate):
        claim: ClassVar[str] = "anything"

        def fields(self):
            return {}

        @classmethod
        def of_fields(cls, _data):
            return cls()

    class Careless(OptimalityCertificate):
        def __post_init__(self):
            pass

    sample = OPTIMAL["average"]
    for forged in (Trusting(), Careless(**{field.name: getattr(sample, field.name) for field in fields(sample)})):
        verdict = check(forged)
        assert not verdict
        assert "unknown" in verdict.reason


def test_the_sum_of_more_doubles_than_one_pass_adds_up_is_exact():
    """Mantissas full of ones, shifted as far as a limb allows: 2^21 of them pass what a double can count."""
    full = 1 - 2.0**-53
    numbers = np.array([[full * 2.0**-15] + [full] * (1 << 21)])
    exact = Fraction(full) * (1 << 21) + Fraction(full) / 2**15
    assert FloatEntries(numbers).total(0, np.ones(numbers.shape[1], dtype=bool)) == exact
