import copy
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadChannel, BadPrior, TooLarge, UnknownLabel
from leastnoise.exact.sources import SeededSource
from leastnoise.model.channel import Channel
from leastnoise.model.priors import Prior, uniform
from support.channels import channels, distributions, geometric

HALF = Fraction(1, 2)


def test_text_ints_fractions_and_decimals_are_exact():
    channel = Channel([["1/3", "2/3"], [0, 1], [Decimal("0.25"), Fraction(3, 4)]], inputs="abc", outputs=["x", "y"])
    assert channel.is_exact
    assert channel.sums_to_one
    assert channel.row("c") == (Fraction(1, 4), Fraction(3, 4))
    assert channel.probability("y", given="a") == Fraction(2, 3)
    assert channel.matrix().dtype == object
    assert channel.floats()[0, 0] == 1 / 3


def test_floats_stay_the_doubles_they_are():
    channel = Channel(np.array([[0.1, 0.9]]))
    assert not channel.is_exact
    assert channel.row(0) == (0.1, 0.9)
    assert channel.to_exact().row(0) == (Fraction(0.1), Fraction(0.9))
    assert channel.to_exact().to_exact() == channel.to_exact()
    assert not channel.to_exact().sums_to_one
    normal = channel.to_exact(normalise=True)
    assert normal.sums_to_one
    assert sum(normal.row(0)) == 1
    assert normal.row(0)[0] == Fraction(0.1)
    assert abs(normal.row(0)[1] - Fraction(0.9)) < Fraction(1, 10**16)
    assert Channel([[1, 0.0], [0.5, 0.5]]).matrix().dtype == np.float64


def test_nothing_can_be_changed():
    source = np.array([[0.25, 0.75]])
    channel = Channel(source)
    source[0, 0] = 1
    assert channel.row(0) == (0.25, 0.75)
    with pytest.raises(ValueError, match="read-only"):
        channel.matrix()[0, 0] = 1
    with pytest.raises(AttributeError):
        channel.inputs = ("a",)
    exact = Channel([[HALF, HALF]])
    exact.matrix()[0, 0] = 7
    assert exact.row(0) == (HALF, HALF)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([["1/2", "1/3"]], "row of input 0 must sum to 1; given: a sum of 5/6"),
        ([[1, 0], [0.5, 0.4]], "row of input 1 must sum to 1; given: a sum of 0.9"),
        ([[0.3333, 0.3333, 0.3333]], "sum of 0.999"),
        ([["3/2", "-1/2"]], "output 1 for input 0 must be a number from 0 to 1; given: -1/2"),
        ([[1.5, -0.5]], "output 1 for input 0 must be .* given: -0.5"),
        ([[float("nan"), 1.0]], "output 0 for input 0 must be .* given: nan"),
        ([[float("inf"), 0.0]], "given: inf"),
        ([["x", 1]], "output 0 for input 0 .* given: x"),
        ([[True, 0]], "output 0 for input 0 .* given: True"),
        ([["ln(2)", 0]], "must be a number from 0 to 1"),
        ([[1, 0], [1]], "row 0 has 2 entries; given: row 1 has 1"),
        ([], "no rows"),
        ([[]], "no lists of numbers"),
        ("ab", "no lists of numbers"),
        (3, "given: int"),
        (np.ones(3), "shape"),
        (np.ones((0, 3)), "shape"),
        ([[0.5, "1/2"]], "mixes the two"),
        ([[0.5, Fraction(1, 2)]], "mixes the two"),
    ],
)
def test_a_bad_matrix_is_refused_with_its_place(matrix, message):
    with pytest.raises(BadChannel, match=message):
        Channel(matrix)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (["a", "a"], r"inputs\[0\] and inputs\[1\] are the same label; given: 'a'|given: a"),
        (["a"], "there are 2 inputs in the matrix; given: 1 labels"),
        ([["a"], "b"], r"inputs\[0\] cannot be a label"),
        ([1, True], "the same label"),
        ([float("nan"), 1], r"inputs\[0\] is not a number"),
        ([], "at least one"),
    ],
)
def test_bad_labels_are_refused(inputs, message):
    with pytest.raises(BadChannel, match=message):
        Channel([[1], [1]], inputs=inputs)


def test_unknown_labels_name_the_closest():
    channel = Channel.identity(["apple", "pear"])
    with pytest.raises(UnknownLabel, match="there is no input of this name; given: 'appel'; did you mean 'apple'"):
        channel.row("appel")
    with pytest.raises(UnknownLabel, match="the outputs are 'apple', 'pear'"):
        channel.probability(17, given="pear")
    with pytest.raises(UnknownLabel):
        channel.row(["apple"])
    with pytest.raises(UnknownLabel):
        channel.restrict(["apple", "grape"])


@pytest.mark.slow
def test_sizes_that_do_not_fit_are_refused_before_they_are_made():
    for make in (
        lambda: Channel.uniform(10**6, 10**6),
        lambda: Channel.identity(10**5),
        lambda: Channel.uniform(1, 10**4).parallel(Channel.uniform(1, 10**4)),
    ):
        with pytest.raises(TooLarge, match="at most 16,777,216 entries"):
            make()


def test_labels_by_number_are_bounded():
    with pytest.raises(TooLarge, match="at most 16,777,216 inputs"):
        Channel.uniform(10**12, 1)
    with pytest.raises(BadChannel, match=r"a list of labels, or how many; given: 2\.5"):
        Channel.uniform(2.5, 1)
    assert Channel.uniform(np.int64(2), 1).inputs == (0, 1)


def test_standard_channels():
    assert Channel.identity("ab").matrix().tolist() == [[1, 0], [0, 1]]
    assert Channel.uniform(2, "xyz").row(1) == (Fraction(1, 3),) * 3
    assert Channel.deterministic({"a": 1, "b": 1, "c": 0}, "abc").outputs == (1, 0)
    assert Channel.deterministic(lambda n: n // 2, 4).row(3) == (0, 1)
    with pytest.raises(UnknownLabel):
        Channel.deterministic({"a": 1}, "ab")
    rows = {"a": {"x": "1/2", "y": "1/2"}, "b": {"z": 1}}
    assert Channel.from_rows(rows).row("b") == (0, 0, 1)
    with pytest.raises(BadChannel, match="nested mappings"):
        Channel.from_rows([[1]])


@pytest.mark.slow
@given(channels(inputs=3, outputs=2), channels(inputs=2, outputs=4), channels(inputs=4))
def test_then_is_the_associative_matrix_product(a, b, c):
    assert a.then(b).matrix().tolist() == (a.matrix() @ b.matrix()).tolist()
    assert a.then(b).then(c) == a.then(b.then(c))
    assert Channel.identity(a.inputs).then(a) == a == a.then(Channel.identity(a.outputs))


def test_then_matches_labels():
    first = Channel([["1/4", "3/4"]], ["in"], ["x", "y"])
    second = Channel([[0, 1], [1, 0], [1, 0]], ["y", "x", "unused"], ["left", "right"])
    assert first.then(second).row("in") == (Fraction(1, 4), Fraction(3, 4))
    with pytest.raises(UnknownLabel, match="'x'"):
        first.then(Channel.identity(["y"]))
    with pytest.raises(UnknownLabel):
        first.then(Channel.identity(2))
    mixed = first.then(Channel([[0.5, 0.5], [1.0, 0.0]], ["x", "y"]))
    assert not mixed.is_exact
    assert mixed.row("in") == (0.875, 0.125)


@pytest.mark.slow
@given(channels(inputs=3), channels(inputs=3))
def test_parallel_has_both_as_margins(a, b):
    both = a.parallel(b)
    assert both.pixelate(lambda pair: pair[0]) == a.pixelate(lambda output: output)
    assert both.pixelate(lambda pair: pair[1]).matrix().tolist() == b.matrix().tolist()
    assert both.probability((0, 0), given=2) == a.probability(0, given=2) * b.probability(0, given=2)


def test_parallel_of_floats_and_of_different_inputs():
    exact, floats = Channel([["1/2", "1/2"]]), Channel([[0.25, 0.75]])
    assert exact.parallel(floats).row(0) == (0.125, 0.375, 0.125, 0.375)
    with pytest.raises(UnknownLabel):
        exact.parallel(Channel.identity(2))
    with pytest.raises(UnknownLabel):
        Channel.identity(2).parallel(exact)


def test_restrict_select_and_pixelate():
    channel = geometric(4, "1/2")
    assert channel.restrict([4, 0]).row(0) == channel.row(0)
    assert channel.restrict([4, 0]).inputs == (4, 0)
    assert channel.select({"low": 0, "also low": 0}).row("also low") == channel.row(0)
    halves = channel.pixelate(lambda output: output > 2)
    assert halves.outputs == (False, True)
    assert halves.row(0) == (Fraction(11, 12), Fraction(1, 12))
    floats = Channel(channel.floats()).pixelate(lambda output: output > 2)
    assert floats.outputs == (False, True)
    assert floats.row(0) == pytest.approx((11 / 12, 1 / 12))
    with pytest.raises(BadChannel, match="the same label"):
        channel.restrict([1, 1])
    with pytest.raises(UnknownLabel):
        channel.pixelate({0: "a"})


@pytest.mark.slow
@given(channels(inputs=3), distributions(3))
def test_joint_marginal_and_posteriors_agree(channel, prior):
    joint = channel.joint(prior)
    assert [sum(row) for row in joint.tolist()] == prior
    marginal = channel.output_marginal(prior)
    assert sum(marginal.values()) == 1
    posteriors = channel.posteriors(prior)
    assert set(posteriors) == {output for output, mass in marginal.items() if mass}
    for output, posterior in posteriors.items():
        assert sum(posterior.values()) == 1
        assert all(joint[x, output] == posterior[x] * marginal[output] for x in channel.inputs)


def test_floats_in_floats_out():
    channel = Channel([[0.5, 0.5], [0.25, 0.75]])
    assert channel.joint([0.5, 0.5]).tolist() == [[0.25, 0.25], [0.125, 0.375]]
    assert channel.output_marginal([0.5, 0.5]) == {0: 0.375, 1: 0.625}
    assert channel.posteriors([1, 0]) == {0: {0: 1.0, 1: 0.0}, 1: {0: 1.0, 1: 0.0}}


def test_priors_are_matched_by_label_or_place():
    channel = Channel.identity("ab")
    assert channel.output_marginal({"b": 1}) == {"a": 0, "b": 1}
    assert channel.output_marginal(Prior({"b": HALF, "a": HALF})) == {"a": HALF, "b": HALF}
    with pytest.raises(UnknownLabel):
        channel.joint(uniform(2))
    with pytest.raises(BadPrior, match="each of the 2 inputs; given: 3"):
        channel.joint([0.5, 0.25, 0.25])


@pytest.mark.slow
@given(channels())
def test_equality_hash_copies_and_json(channel):
    for twin in (copy.deepcopy(channel), Channel.from_json(channel.to_json())):
        assert twin == channel
        assert hash(twin) == hash(channel)
    renamed = Channel(channel.matrix(), outputs=[f"o{y}" for y in channel.outputs])
    assert renamed != channel
    assert channel != channel.matrix().tolist()
    assert Channel(channel.floats()) != channel


def test_samples_follow_the_row():
    channel = Channel([["1/4", "3/4"], [1, 0]], outputs=[("a", 1), ("b", 2)])
    drawn = channel.sample(0, size=4000, source=SeededSource(1))
    assert drawn.shape == (4000,)
    # P(|count − 3000| > 150) < 1e-6 for a binomial with deviation 27.4; the stream is fixed, so this never flickers.
    assert abs(sum(label == ("b", 2) for label in drawn) - 3000) < 150
    assert channel.sample(1, size=(2, 2)).tolist() == [[("a", 1)] * 2] * 2
    assert channel.sample(1) == ("a", 1)
    with pytest.raises(UnknownLabel):
        channel.sample(2)


def test_samples_of_many_inputs_follow_their_own_rows():
    """The same words as for one input alone, so each law is the one enumerated for a row."""
    channel = Channel([["1/4", "3/4", 0], [0, 0, 1], ["1/3", "1/3", "1/3"]], inputs="abc", outputs=["x", ("y", 1), "z"])
    asked = ["b", "c", "a", "c", "b", "a", "a"] * 300
    drawn = channel.sample_each(asked, source=SeededSource(5))
    words = SeededSource(5).words(len(asked), 64)
    for label, word, output in zip(asked, words.tolist(), drawn.tolist(), strict=True):
        reached = sum(Fraction(word, 2**64) >= border for border in accumulate(channel.row(label)[:-1]))
        assert output == channel.outputs[reached]
    assert channel.sample_each([]).tolist() == []
    assert copy.deepcopy(channel).sample_each("bb").tolist() == ["z", "z"]
    with pytest.raises(UnknownLabel):
        channel.sample_each("ad")


def test_samples_of_floats_have_the_doubles_as_weights():
    tiny = 2.0**-1074
    assert Channel([[tiny, 1.0]]).sample(0, size=50, source=SeededSource(3)).tolist() == [1] * 50


@given(st.integers(1, 40), st.integers(1, 40))
def test_printing_shows_labels_and_elides_the_middle(height, width):
    channel = Channel.uniform(height, width)
    lines = str(channel).splitlines()
    assert len(lines) == 1 + min(height, 16)
    assert ("…" in lines[0]) == (width > 10)
    assert len({len(line) for line in lines[1:]}) == 1
    assert repr(channel) == f"Channel({height} inputs, {width} outputs, exact)"


def test_printing_is_readable():
    channel = Channel(
        [["1/3", "2/3"], [Fraction(1, 10**12), 1 - Fraction(1, 10**12)]], ["short", "x" * 40], ["a", "b\n"]
    )
    assert str(channel).splitlines() == [
        f"{'':24}       a  b\\n",
        f"{'short':24}     1/3  2/3",
        f"{'x' * 23}…  ≈1e-12   ≈1",
    ]
    assert "0.25" in str(Channel([[0.25, 0.75]]))


def test_html_escapes_labels():
    page = Channel.identity(["<script>alert(1)</script>", "a&b"])._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a&amp;b" in page
    assert page.startswith("<table")
