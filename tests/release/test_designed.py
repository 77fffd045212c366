"""Counts by the optimal mechanism for a public range and a prior: the law, the optimum, the intervals."""

import pickle
from collections import Counter
from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest

from leastnoise.checker import check
from leastnoise.data import Contribution, open_table
from leastnoise.designer import design
from leastnoise.errors import BadParameter, BadPrior, LeastNoiseError, RequestConflict
from leastnoise.ledger import Opening
from leastnoise.model import Privacy, absolute, expected_loss
from leastnoise.model.graphs import grid, path
from leastnoise.release.dataset import Dataset
from support.people import CITIES

SURE = Privacy(50, insist=True)
PRIOR = [4, 1, 1, 2]


@pytest.fixture(scope="module")
def empty():
    with open_table(pa.table({"u": pa.array([], pa.int64()), "k": pa.array([], pa.string())})) as table:
        yield Dataset(table, None, "t", "a", "p", Contribution("u"), Opening(None, "u"))


def test_without_noise_the_counts_are_the_clamped_true_ones(open_people, people):
    dataset = open_people(privacy_unit="person")
    units = Counter(city for _, city in {(row["person"], row["city"]) for row in people[1]})
    release = dataset.design("city", keys=[*CITIES, "Atlantis"], at_most=200, groups_per_unit=4).release(SURE)
    assert list(release.table["value"]) == [min(units[city], 200) for city in [*CITIES, "Atlantis"]]
    assert dataset.design(at_most=5).release(SURE).value == 5
    assert pickle.loads(pickle.dumps(release)).table == release.table  # noqa: S301 - our own


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero_one"])
def test_the_stated_loss_is_that_of_the_exact_channel_and_no_private_one_beats_it(empty, loss):
    """In rationals: the law of one cell under the prior, against the linear program over all private channels."""
    query = empty.design(at_most=3, prior=PRIOR, loss=loss)
    how = query.answer_plan(Privacy("ln(2)"))
    law = how.mechanism.channel(range(4), range(4))
    weights = [Fraction(w, 8) for w in PRIOR]
    powers = {"absolute": lambda d: d, "squared": lambda d: d * d, "zero_one": lambda d: int(d > 0)}
    rows = law.rationals().rows
    stated = sum(weights[x] * rows[x][y] * powers[loss](abs(x - y)) for x in range(4) for y in range(4))
    assert how.error.expected.lower == how.error.expected.upper == stated == how.lower_bound.lower
    assert check(law, path(4), "ln(2)")
    assert not check(law, path(4), "ln(19/10)")
    least = design("path:4", "ln(2)", prior=weights, loss=query.best(Privacy("ln(2)").epsilon).problem.loss, route="lp")
    assert least.gap == 0
    assert least.loss == how.error.expected


def test_several_cells_are_the_product_and_cost_one(empty):
    """All pairs of counts of two cells: neighbours of the grid within ε, two steps within 2 ε, and no less."""
    how = empty.design("k", keys=["a", "b"], at_most=2, prior=[1, 2, 1]).answer_plan(Privacy("ln(3)"))
    nodes = list(product(range(3), repeat=2))
    law = how.mechanism.channel(nodes, nodes)
    assert check(law, grid(3, 3), "ln(3)").tight_epsilon == Privacy("ln(3)").epsilon
    one = empty.design(at_most=2, prior=[1, 2, 1]).answer_plan(Privacy("ln(3)"))
    assert how.error.expected == one.error.expected


@pytest.mark.parametrize(("groups", "rows"), [(1, 3), (2, 1), (2, 2)])
def test_a_unit_that_counts_more_often_gets_its_share_of_epsilon(empty, groups, rows):
    steps = groups * rows
    query = empty.design("k", keys=["a", "b"], at_most=4, groups_per_unit=groups, rows_per_unit=rows)
    how = query.answer_plan(Privacy(steps * Privacy("ln(2)").epsilon))
    assert how.event.epsilon == steps * Privacy("ln(2)").epsilon
    nodes = list(product(range(5), repeat=2))
    assert check(how.mechanism.channel(nodes, nodes), grid(5, 5), "ln(2)").tight_epsilon == Privacy("ln(2)").epsilon
    assert how.lower_bound is None


def test_intervals_hold_whatever_the_count_is(empty):
    """Enumerated: at every count the interval of the answer holds it at least as often as it says."""
    for prior in (None, [1, 0, 0, 0, 9, 0, 0, 3, 1], [0, 0, 0, 1, 0, 0, 0, 0, 0]):
        how = empty.design(at_most=8, prior=prior).answer_plan(Privacy("ln(2)"))
        for level in (Fraction(1, 2), Fraction(19, 20)):
            far = how.within(level)
            for x in range(9):
                chances = {y: how.mechanism.pmf(y, x).lower for y in range(9)}
                held = 0
                for y, chance in chances.items():
                    if chance:
                        table = how.to_table([y], level)
                        held += chance * (table["low"][0] <= x <= table["high"][0])
                assert held >= level
                assert sum(chance for y, chance in chances.items() if abs(x - y) <= far) >= level


def test_a_request_is_bound_to_its_prior(open_people):
    dataset = open_people(privacy_unit="person")
    first = dataset.design(at_most=9, prior=range(1, 11)).release("1/10", request_id="d")
    again = dataset.design(at_most=9, prior=[2 * weight for weight in range(1, 11)])
    assert again.release("1/10", request_id="d").value == first.value  # the same prior
    with pytest.raises(RequestConflict):
        dataset.design(at_most=9).release("1/10", request_id="d")


def test_a_delta_is_not_spent_and_gives_no_bound(empty):
    how = empty.design(at_most=9).answer_plan(Privacy(1, "1e-6"))
    assert how.event == empty.design(at_most=9).answer_plan(Privacy(1)).event
    assert how.lower_bound is None


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, BadParameter),
        ({"at_most": 0}, BadParameter),
        ({"at_most": 3, "loss": "cubic"}, BadParameter),
        ({"at_most": 3, "prior": [1, 2]}, BadParameter),
        ({"at_most": 3, "prior": [1, -2, 3, 4]}, BadPrior),
        ({"at_most": 3, "prior": [0, 0, 0, 0]}, BadPrior),
        ({"at_most": 3, "prior": {4: 1}}, LeastNoiseError),
        ({"at_most": 3, "prior": "1234"}, BadParameter),
    ],
)
def test_what_is_no_design_is_refused(empty, arguments, error):
    with pytest.raises(error):
        empty.design(**arguments)


def test_the_expected_loss_falls_with_a_better_prior(empty):
    """Whoever knows more errs less: the optimum is concave in the prior."""
    flat = empty.design(at_most=8).answer_plan(Privacy("ln(2)"))
    sharp = empty.design(at_most=8, prior=[0, 0, 0, 1, 2, 1, 0, 0, 0]).answer_plan(Privacy("ln(2)"))
    assert sharp.error.expected.upper < flat.error.expected.lower
    law = flat.mechanism.channel(range(9), range(9))
    assert expected_loss([Fraction(1, 9)] * 9, law, absolute) == flat.error.expected.lower
