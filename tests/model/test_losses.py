from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadChannel, BadLoss, BadParameter, UnknownLabel
from leastnoise.model.losses import (
    absolute,
    from_function,
    from_matrix,
    is_legal,
    lipschitz_constant,
    squared,
    zero_one,
)

GRID = [Fraction(n, 4) for n in range(5)]


def test_standard_losses():
    assert absolute.table([0, 3]).rows == ((0, 3), (3, 0))
    assert squared.table([0, 0.5]).rows[0][1] == Fraction(1, 4)
    assert zero_one.table("ab").rows == ((0, 1), (1, 0))
    assert absolute.floats([0, 3]).tolist() == [[0, 3], [3, 0]]
    assert squared.guessing([1]).table([0, 3]).rows == ((1, 4),)
    assert repr(absolute) == "Loss(absolute)"


def test_distances_need_numbers():
    for label in ("a", "3", True, (1,), None):
        with pytest.raises(BadParameter, match="must be a number to have a distance"):
            absolute.table([label, 2])


def test_matrices_are_looked_up_by_label():
    loss = from_matrix([[0, "1/2"], [2.5, 0]], guesses=["stay", "go"], inputs=["rain", "sun"])
    assert loss.table(["sun", "rain"]).rows == ((Fraction(1, 2), 0), (0, Fraction(5, 2)))
    with pytest.raises(UnknownLabel, match="no input of this name; given: 'snow'"):
        loss.table(["snow"])
    with pytest.raises(UnknownLabel, match="no guess of this name; given: 'run'"):
        loss.table(["sun"], guesses=["run"])


@pytest.mark.parametrize("rows", [[], [[1, 2], [3]]])
def test_a_ragged_or_empty_matrix_is_refused(rows):
    with pytest.raises(BadLoss, match="rows of equal length"):
        from_matrix(rows)


def test_what_is_no_loss_is_refused():
    with pytest.raises(BadLoss, match="guessing 0 for 1 must be a rational number; given: nan"):
        from_matrix([[0, float("nan")]])
    with pytest.raises(BadLoss, match="guessing 'a' for 'b'"):
        from_function(lambda w, x: None if w != x else 0).table("ab")
    with pytest.raises(BadLoss, match="a function of guess and input"):
        from_function(3)
    with pytest.raises(BadChannel, match="the same label"):
        absolute.guessing([1, 1])


def test_legal_losses():
    for loss in (absolute, squared, zero_one, absolute.guessing([0, Fraction(1, 3), 7])):
        assert is_legal(loss, GRID)
    skewed = from_function(lambda w, x: abs(w - x) * (3 if x > Fraction(1, 2) else 1))  # m may depend on x
    assert is_legal(skewed, GRID)


def test_an_illegal_loss_comes_with_a_witness():
    late = from_function(lambda w, x: max(0, x - w))  # guessing too high is free: not a function of the distance
    verdict = is_legal(late, [0, 1, 2])
    assert not verdict
    x, nearer, farther = verdict.violation
    assert abs(nearer - x) <= abs(farther - x)
    assert late.function(nearer, x) > late.function(farther, x)
    tie = from_matrix([[1], [2]], guesses=[-1, 1], inputs=[0])
    assert is_legal(tie, [0]).violation == (0, 1, -1)


def test_positions_stand_in_for_guesses_that_are_no_numbers():
    loss = from_matrix([[0, 2], [1, 0]], guesses=["low", "high"], inputs=[0, 1])
    assert is_legal(loss, [0, 1], positions={"low": 0, "high": 1})
    assert not is_legal(loss, [0, 1], positions={"low": 1, "high": 0})
    with pytest.raises(UnknownLabel, match="'high'"):
        is_legal(loss, [0, 1], positions={"low": 0})
    with pytest.raises(BadParameter, match="must be a number"):
        is_legal(loss, [0, 1])


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=3, max_size=3))
def test_legality_is_what_the_definition_says(rows):
    """Brute force over all pairs, against the one pass over the sorted guesses."""
    loss = from_matrix(rows)
    pairs = [(w, v, x) for x in range(3) for w in range(3) for v in range(3) if abs(w - x) <= abs(v - x)]
    assert is_legal(loss, range(3)).holds == all(rows[w][x] <= rows[v][x] for w, v, x in pairs)


def test_lipschitz_constants_of_the_literature():
    # FMM 2021, after equation 16: |w − x| is 1-Lipschitz and its square is 2-Lipschitz on [0, 1].
    fine = [Fraction(n, 1000) for n in range(1001)]
    assert lipschitz_constant(absolute.guessing(GRID), fine) == 1
    assert 2 - lipschitz_constant(squared.guessing(GRID), fine) == Fraction(1, 1000)
    assert lipschitz_constant(absolute, [5]) == 0
    with pytest.raises(BadLoss, match="the same number"):
        lipschitz_constant(absolute, [0.5, Fraction(1, 2)])


@given(st.lists(st.integers(-9, 9), min_size=4, max_size=4), st.permutations([0, 1, 3, 7]))
def test_lipschitz_constant_is_the_steepest_pair(costs, inputs):
    loss = from_matrix([costs], guesses=["any"], inputs=inputs)
    at = dict(zip(inputs, costs, strict=True))
    slopes = [Fraction(abs(at[x] - at[y]), abs(x - y)) for x in inputs for y in inputs if x != y]
    assert lipschitz_constant(loss, inputs) == max(slopes)
