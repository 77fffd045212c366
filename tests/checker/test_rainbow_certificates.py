"""A best mechanism, or two that rule one out: accepted only where exact programs over all private channels agree."""

import json
from dataclasses import fields, replace
from fractions import Fraction
from itertools import permutations
from unittest.mock import patch

import numpy as np
import pytest

from leastnoise.checker import check
from leastnoise.errors import BadBoundary, BadParameter, LeastNoiseError
from leastnoise.mechanisms.rainbow import existence
from leastnoise.model import Certificate, Channel, DominanceCertificate, Multiplier, NoOptimumCertificate, Privacy
from leastnoise.model.graphs import complete, cycle, path
from leastnoise.rainbow import BestMechanism, NoBestMechanism, Operator, RainbowGraph, find_best, prove_best

HALF = Fraction(1, 2)


def scenarios(seed, count=8):
    """Random rankings of three colours on small graphs, with two rows that are near each other."""
    random = np.random.default_rng(seed)
    orders = list(permutations(range(3)))
    while count:
        graph = [path(4), cycle(5), complete(4), cycle(4)][int(random.integers(4))]
        ranks = {x: orders[int(random.integers(6)) if random.random() < 0.5 else 0] for x in graph.nodes}
        if len(set(ranks.values())) == 1:
            continue
        delta = [0, Fraction(1, 20)][int(random.integers(2))]
        rows = {}
        for x in (0, graph.size - 1 if random.random() < 0.5 else 1):
            whole = [int(n) for n in random.integers(2, 6, 3)]
            rows[x] = tuple(Fraction(n, sum(whole)) for n in whole)
        try:
            yield RainbowGraph(graph, ranks), rows, delta, prove_best(RainbowGraph(graph, ranks), rows, "ln(2)", delta)
        except BadBoundary:
            continue
        count -= 1


@pytest.mark.parametrize("seed", range(4))
def test_what_is_proven_is_accepted_and_read_again(seed):
    kinds = set()
    for _, _, _, certificate in scenarios(seed):
        verdict = check(certificate)
        assert verdict, verdict.reason
        assert Certificate.from_json(certificate.to_json()) == certificate
        kinds.add(type(certificate))
    assert kinds


def test_both_kinds_and_both_kinds_of_proof_occur():
    made = [certificate for seed in range(4) for _, _, _, certificate in scenarios(seed)]
    best = [certificate for certificate in made if isinstance(certificate, DominanceCertificate)]
    assert 3 < len(best) < len(made) - 3
    assert any(certificate.proofs for certificate in best)


def other_values(value, random):
    """Ways to tamper with a field: other numbers, negative ones, swapped, repeated or missing parts."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, Fraction):
        yield from (-value, value + Fraction(1, 97), value / 2, 2 * value, Fraction(0))
    elif isinstance(value, int):
        yield from (value + 1, value - 1, -value, True)
    elif isinstance(value, Channel):
        rows = value.matrix().tolist()
        i, j = (int(n) for n in random.integers(0, len(rows), 2))
        yield Channel([rows[k] for k in [*range(i), j, *range(i + 1, len(rows))]], value.inputs, value.outputs)
        moved = [list(row) for row in rows]
        moved[i] = moved[i][1:] + moved[i][:1]
        yield Channel(moved, value.inputs, value.outputs)
        nudged = [list(row) for row in rows]
        nudge = min(Fraction(1, 50), nudged[i][0])
        nudged[i][0] -= nudge
        nudged[i][1] += nudge
        yield Channel(nudged, value.inputs, value.outputs)
    elif isinstance(value, Privacy):
        yield from (Privacy(3 * value.epsilon, value.delta), Privacy(value.epsilon / 2, value.delta))
        yield from (Privacy(value.epsilon, value.delta / 2), Privacy(value.epsilon, value.delta + Fraction(1, 30)))
    elif isinstance(value, tuple):
        yield value[1:]
        yield (*value, *value[:1])
        yield tuple(reversed(value))
        for place, part in enumerate(value):
            for other in other_values(part, random):
                entry = (*value[:place], other, *value[place + 1 :])
                yield type(value)(*entry) if hasattr(value, "_fields") else entry


def is_true(certificate):
    """The claim by exact programs over all private channels with the fixed rows, one for each prefix sum."""
    graph, delta = certificate.graph, certificate.privacy.delta
    n = len(graph.nodes)
    first = certificate.channel if isinstance(certificate, DominanceCertificate) else certificate.first
    rows = first.matrix().tolist()
    ranks = {x: tuple(first.outputs[y] for y in certificate.preferences[x]) for x in range(n)}
    if len(set(ranks.values())) == 1:
        return None  # no rainbow graph: all rank alike
    scenario = RainbowGraph(graph, ranks)
    fixed = {x: [rows[x][y] for y in certificate.preferences[x]] for x in certificate.fixed}
    try:
        with patch.object(existence._Task, "bounds", lambda *_: {}):
            found = find_best(scenario, fixed, certificate.privacy.epsilon, delta)
    except BadBoundary:
        return False
    if isinstance(certificate, NoOptimumCertificate):
        return isinstance(found, NoBestMechanism)
    return isinstance(found, BestMechanism) and all(
        found.channel.probability(y, x) == first.probability(y, x) for x in graph.nodes for y in first.outputs
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_forged_certificate_is_accepted_only_if_its_claim_is_true(seed):
    random = np.random.default_rng(seed)
    tried = accepted = 0
    for _, _, _, certificate in scenarios(seed, count=3):
        for field in fields(certificate):
            for value in other_values(getattr(certificate, field.name), random):
                try:
                    forged = replace(certificate, **{field.name: value})
                except LeastNoiseError:
                    continue
                tried += 1
                if check(forged):
                    accepted += 1
                    assert is_true(forged) in (True, None), (field.name, value)
    assert tried > 200
    assert accepted < tried / 4


@pytest.mark.parametrize("seed", range(2))
def test_files_with_a_changed_number_are_refused_or_true(seed):
    random = np.random.default_rng(seed)

    def numbers(data, way=()):
        items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
        for key, part in items:
            if isinstance(part, dict | list):
                yield from numbers(part, (*way, key))
            elif isinstance(part, int) or (isinstance(part, str) and part[:1] in "-0123456789"):
                yield (*way, key)

    for _, _, _, certificate in scenarios(seed, count=3):
        text = certificate.to_json()
        for way in numbers(json.loads(text)):
            data = json.loads(text)
            part = data
            for key in way[:-1]:
                part = part[key]
            old = part[way[-1]]
            changed = old + int(random.choice([-1, 1, 7])) if isinstance(old, int) else str(Fraction(old) + HALF)
            part[way[-1]] = random.choice([0, -1]).item() if random.random() < 0.1 and isinstance(old, int) else changed
            try:
                forged = Certificate.from_json(json.dumps(data))
            except LeastNoiseError:
                continue
            if forged != certificate and check(forged):
                assert is_true(forged) in (True, None), way


def test_one_channel_twice_proves_nothing():
    """Whoever hands in the same object as both witnesses, or swaps the two, is refused."""
    five = RainbowGraph(cycle(5), lambda n: (1, 3, 2) if n == 4 else (1, 2, 3))
    certificate = prove_best(five, {0: [0.2, 0.1, 0.7], 3: [0.4, 0.1, 0.5]}, "ln(2)")
    assert isinstance(certificate, NoOptimumCertificate)
    assert check(certificate)
    for first, second in (("first", "first"), ("second", "second"), ("second", "first")):
        forged = replace(certificate, first=getattr(certificate, first), second=getattr(certificate, second))
        assert not check(forged)
    assert not check(replace(certificate, fixed=()))
    assert not check(replace(certificate, among=3))
    assert not check(replace(certificate, place=99))
    twice = [Multiplier(*one[:3], one.value / 2) for one in certificate.multipliers for _ in range(2)]
    assert not check(replace(certificate, multipliers=tuple(twice)))


def test_a_best_mechanism_is_not_best_where_fewer_rows_are_fixed():
    votes = RainbowGraph(path(4), lambda n: ("a", "b") if n > 1 else ("b", "a"))
    certificate = prove_best(votes, {1: [0.6, 0.4], 2: [0.6, 0.4]}, "ln(2)", "1/100")
    assert check(certificate)
    assert certificate.fixed == (1, 2)
    assert not check(replace(certificate, fixed=(1,)))
    assert not check(replace(certificate, fixed=(2, 2)))
    assert not check(replace(certificate, fixed=(1, 2, 9)))


def test_a_certificate_needs_a_rational_factor():
    votes = RainbowGraph(path(4), lambda n: ("a", "b") if n > 1 else ("b", "a"))
    with pytest.raises(BadParameter, match="rational"):
        prove_best(votes, {1: [0.6, 0.4], 2: [0.6, 0.4]}, 1)
    assert not Operator(1).is_exact


def test_a_second_mechanism_with_other_rows_at_the_fixed_nodes_proves_nothing():
    """The best mechanism and its true bound, beside one that was given better rows to start from."""
    votes = RainbowGraph(path(4), lambda n: ("a", "b") if n > 1 else ("b", "a"))
    best, better = (prove_best(votes, {1: [p, 1 - p], 2: [p, 1 - p]}, "ln(2)") for p in (HALF, Fraction(3, 5)))
    task = existence._Task(votes, {1: [HALF, HALF], 2: [HALF, HALF]}, Operator("ln(2)"))
    total = [term for goal in task.goals().values() for term in goal]
    forged = NoOptimumCertificate(
        *(best.graph, best.privacy, best.channel, better.channel, best.preferences, best.fixed),
        place=0,
        among=1,
        multipliers=task.multipliers(total),
    )
    verdict = check(forged)
    assert not verdict
    assert "same rows" in verdict.reason
