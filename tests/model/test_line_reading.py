"""The best reading along a line, in one pass, is that of the whole table of costs."""

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check
from leastnoise.designer.theorems import recognise
from leastnoise.exact import ln
from leastnoise.model.certificate import Certificate
from leastnoise.model.design_problem import read_problem
from leastnoise.model.line_reading import (
    LINE_LOSSES,
    Move,
    best_line_reading,
    line_loss,
    line_table,
    worst_line_loss,
)
from leastnoise.model.losses import from_function, squared, zero_one

weights = st.lists(st.sampled_from([0, 0, 1, 2, 5, 1000]), min_size=2, max_size=9).filter(any)
growths = st.fractions(Fraction(26, 25), 20, max_denominator=50)


def law(alpha, size):
    def share(y):
        return (1 - alpha) / (1 + alpha) if 0 < y < size - 1 else 1 / (1 + alpha)

    return [[alpha ** abs(x - y) * share(y) for y in range(size)] for x in range(size)]


def costs(alpha, table, prior):
    """What each guess costs at each output, by the definition."""
    size, channel = len(prior), law(alpha, len(prior))
    return [[sum(row[x] * prior[x] * channel[x][y] for x in range(size)) for row in table] for y in range(size)]


@pytest.mark.slow
@given(weights=weights, growth=growths, name=st.sampled_from(LINE_LOSSES))
@settings(max_examples=150)
def test_the_pass_finds_the_least_cost_of_every_output(weights, growth, name):
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    table, size = line_table(name, len(prior)), len(prior)
    whole = costs(1 / growth, table, prior)
    least = sum(min(row) for row in whole)
    for form in (name, table):
        found = best_line_reading(ln(growth), form, prior)
        assert found.loss.lower <= least <= found.loss.upper
        assert found.loss.width < Fraction(1, 2**240)
        assert sum(whole[y][w] for y, w in enumerate(found.guesses)) == least
    moves = [Move(y, w, Fraction(1, 2)) for y in range(size) for w in (0, y)]
    said = sum((whole[y][0] + whole[y][y]) / 2 for y in range(size))
    enclosed = line_loss(ln(growth), name, prior, moves)
    assert enclosed.lower <= said <= enclosed.upper
    assert enclosed.width < Fraction(1, 2**240)
    channel = law(1 / growth, size)
    worst = max(sum(channel[x][y] * (table[0][x] + table[y][x]) / 2 for y in range(size)) for x in range(size))
    enclosed = worst_line_loss(ln(growth), table, size, moves)
    assert enclosed.lower <= worst <= enclosed.upper
    assert enclosed.width < Fraction(1, 2**240)


@pytest.mark.slow
@given(data=st.data(), weights=weights, growth=growths)
@settings(max_examples=40)
def test_tables_may_hold_any_numbers(data, weights, growth):
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    entries = st.fractions(-5, 5, max_denominator=6)
    table = data.draw(st.lists(st.lists(entries, min_size=len(prior), max_size=len(prior)), min_size=1, max_size=4))
    least = sum(min(row) for row in costs(1 / growth, table, prior))
    found = best_line_reading(ln(growth), table, prior)
    assert found.loss.lower <= least <= found.loss.upper


PRIORS = {
    "rising": [Fraction(2 * (k + 1), 100 * 101) for k in range(100)],
    "far apart": [Fraction(1, 2), *[Fraction(0)] * 98, Fraction(1, 2)],
    "uniform": None,
}


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("loss", [None, squared, zero_one, from_function(lambda w, x: min(3, abs(w - x)))], ids=str)
@pytest.mark.parametrize("epsilon", [1, "ln(2)"])
def test_a_proof_holds_prior_loss_value_and_remap_and_no_change_passes(prior, loss, epsilon):
    found = recognise(read_problem("path:100", epsilon, prior=PRIORS[prior], loss=loss))
    data = json.loads(found.certificate.to_json())
    assert check(Certificate.from_json(json.dumps(data)))
    assert found.gap < Fraction(1, 2**200)
    other = [str(Fraction(1, 100) + (k - 49) * Fraction(1, 10**6) * (k in (49, 50, 48))) for k in range(100)]
    moved = [*data["remap"]]
    moved = [[3, 60, "1"], *(move for move in moved if move[0] != 3)]
    changes = [{"epsilon": "2"}, {"prior": other}, {"value": "1"}, {"lower_bound": "0"}, {"gap": "1"}, {"remap": moved}]
    changes += [{"loss": "squared" if data["loss"] != "squared" else "distance", "guesses": None}, {"delta": "1/9"}]
    for change in changes:
        assert not check(Certificate.from_json(json.dumps(data | change))), change


@pytest.mark.slow
def test_a_hundred_thousand_nodes_with_a_prior_take_seconds():
    size = 100_000
    prior = [Fraction(1 + k % 7, 400_000 - 4) for k in range(size)]
    prior[0] += 1 - sum(prior)
    found = recognise(read_problem(f"path:{size}", "1/10", prior=prior))
    assert 9 < found.loss.lower <= found.loss.upper < 10
    assert found.mechanism.draw(500) in range(size)
    assert check(found.certificate)
