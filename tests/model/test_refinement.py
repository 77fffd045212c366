from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.errors import BadChannel, UnknownLabel
from leastnoise.model import refinement
from leastnoise.model.channel import Channel
from leastnoise.model.losses import from_matrix
from leastnoise.model.remapping import expected_loss
from support.channels import channels, distributions, geometric


def answer(a, b):
    """Whether a ⊑ b, after checking the proof from scratch."""
    refinement = a.refines(b)
    if refinement.holds:
        assert a.then(refinement.remap) == b
        assert all(entry >= 0 for row in refinement.remap.matrix().tolist() for entry in row)
        assert refinement.remap.matrix().sum(axis=1).tolist() == [1] * len(a.outputs)
    else:
        loss_of_a, loss_of_b = (expected_loss(refinement.prior, c, refinement.loss) for c in (a, b))
        assert loss_of_b < loss_of_a
        assert all(entry >= 0 for row in refinement.loss.table(a.inputs).rows for entry in row)
    return refinement.holds


@pytest.mark.slow
@given(channels(), st.data())
def test_post_processing_is_refinement(a, data):
    noise = data.draw(channels(inputs=len(a.outputs)))
    assert answer(a, a.then(noise))
    assert answer(a, a)
    assert answer(a, Channel.uniform(a.inputs, 2))
    assert answer(Channel.identity(a.inputs), a)


@pytest.mark.slow
@given(channels(inputs=3), channels(inputs=3))
def test_every_answer_is_proved(a, b):
    answer(a, b)


@pytest.mark.slow
@given(channels(inputs=3, outputs=4), channels(inputs=4), distributions(3), st.data())
def test_where_it_holds_no_prior_and_loss_says_otherwise(a, noise, prior, data):
    rows = data.draw(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=4))
    assert expected_loss(prior, a, from_matrix(rows)) <= expected_loss(prior, a.then(noise), from_matrix(rows))


@pytest.mark.slow
@given(channels(inputs=3, outputs=5), channels(inputs=5, outputs=3), st.sampled_from([10**-12, 10**-30]), st.data())
def test_differences_below_any_tolerance_are_seen(a, noise, tiny, data):
    b = a.then(noise)
    rows = [list(row) for row in b.matrix().tolist()]
    x = data.draw(st.integers(0, 2))
    giver, taker = data.draw(st.permutations(range(3)))[:2]
    shift = min(Fraction(tiny), rows[x][giver])
    rows[x][giver] -= shift
    rows[x][taker] += shift
    answer(a, Channel(rows))


@pytest.mark.slow
@settings(max_examples=30)
@given(channels(inputs=3), channels(inputs=3))
def test_the_exact_search_alone_gives_the_same_answers(a, b):
    left, right = a.rationals(), b.rationals()
    groups_do_not_matter = a.then(Channel.identity(a.outputs)).rationals()
    for order in ([], list(range(left.shape[1] * right.shape[1]))[::-1]):
        proof = refinement._exactly(groups_do_not_matter, right, order)
        assert proof.proves(left, right)
        assert isinstance(proof, refinement.Remapping) == a.refines(b).holds


def test_a_solver_that_lies_only_costs_time(monkeypatch):
    a = Channel([["1/2", "1/4", "1/4"], ["1/4", "1/4", "1/2"]])
    b, c = a.then(Channel([["1/2", "1/2"], [1, 0], ["1/3", "2/3"]])), Channel.identity(2)
    lies = [None, (np.zeros((3, 2)), np.zeros((2, 2))), (np.ones((3, 2)), np.full((2, 2), np.nan))]
    for lie in lies:
        monkeypatch.setattr(refinement, "_guess", lambda *_, lie=lie: lie)
        assert answer(a, b)
        assert not answer(a, c)


def test_coupling_through_the_row_sums():
    """Every column of b is a mixture of columns of a, but b would need some of them more often than a has them."""
    a = Channel([["1/3", "1/3", "1/3"], [0, "1/3", "2/3"]])
    b = Channel([["1/2", "1/2"], [0, 1]])
    assert not answer(a, b)
    assert answer(b, a)


def test_numbers_beyond_the_range_of_floats():
    tiny = Fraction(1, 10**400)
    a = Channel([[tiny, Fraction(1, 2), Fraction(1, 2) - tiny], [2 * tiny, Fraction(1, 4), Fraction(3, 4) - 2 * tiny]])
    b = a.then(Channel([[1, 0], ["1/2", "1/2"], [0, 1]]))
    sharper = [[2 * entry if y == 0 else entry for y, entry in enumerate(row)] for row in a.matrix().tolist()]
    assert answer(a, b)
    assert not answer(a, Channel([[*row[:2], 1 - row[0] - row[1]] for row in sharper]))


def test_proportional_and_impossible_outputs_do_not_matter():
    a = Channel([["1/4", "1/2", "1/4", 0], ["1/8", "1/4", "5/8", 0]], outputs="abcd")
    b = Channel([["3/4", 0, "1/4"], ["3/8", 0, "5/8"]])
    assert answer(a, b)
    assert answer(b, a)


def test_inputs_are_matched_by_label():
    a = Channel.identity("xy")
    b = Channel([["1/4", "3/4"], [1, 0]], inputs="yx")
    assert a.refines(b).remap.row("x") == (1, 0)
    for other in (Channel.identity("x"), Channel.identity("xyz")):
        with pytest.raises(UnknownLabel):
            a.refines(other)


def test_floats_are_refused_with_a_way_out():
    a = Channel([[0.1, 0.9], [0.5, 0.5]])
    for pair in ((a, Channel.identity(2)), (Channel.identity(2), a.to_exact())):
        with pytest.raises(BadChannel, match=r"to_exact\(normalise=True\)"):
            pair[0].refines(pair[1])
    assert answer(Channel.identity(2), a.to_exact(normalise=True))


@pytest.mark.parametrize(("alpha", "beta", "holds"), [("1/2", "3/4", True), ("3/4", "1/2", False)])
@pytest.mark.parametrize("steps", [1, 11, 29])
def test_more_noise_refines_less(steps, alpha, beta, holds):
    assert answer(geometric(steps, alpha), geometric(steps, beta)) is holds


def test_twelve_outputs_with_dependent_columns_and_a_difference_that_doubles_cannot_see():
    weights = [[1 + (x * x * y + 3 * x + y**3) % 13 for y in range(12)] for x in range(11)]
    a = Channel([[Fraction(weight, sum(row)) for weight in row] for row in weights])
    b = a.pixelate(lambda output: output // 2)
    nudged = [list(row) for row in b.matrix().tolist()]
    nudged[0][0] += Fraction(1, 10**25)
    nudged[0][1] -= Fraction(1, 10**25)
    assert a.rationals().rank() == 11
    assert answer(a, b)
    assert not answer(a, Channel(nudged))
