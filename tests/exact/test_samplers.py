"""What holds for the samplers beside their laws: shapes, types, widths, refusals."""

from fractions import Fraction

import numpy as np
import pytest

from leastnoise import exact
from leastnoise.errors import BadParameter, LeastNoiseError, NumberTooLarge
from leastnoise.exact import SeededSource
from support.sources import ScriptedSource

SAMPLERS = {
    "uniform_integer": lambda **kw: exact.uniform_integer(10, **kw),
    "bernoulli": lambda **kw: exact.bernoulli("1/3", **kw),
    "bernoulli_exp": lambda **kw: exact.bernoulli_exp(1, **kw),
    "geometric": lambda **kw: exact.geometric("1/1000", **kw),
    "discrete_laplace": lambda **kw: exact.discrete_laplace(1000, **kw),
    "truncated_geometric": lambda **kw: exact.truncated_geometric(3, 0, 9, 2, **kw),
    "discrete_gaussian": lambda **kw: exact.discrete_gaussian(9, **kw),
    "discrete_gaussian wide": lambda **kw: exact.discrete_gaussian(10**8, **kw),
    "categorical": lambda **kw: exact.categorical([1, 2], **kw),
    "categorical_exp": lambda **kw: exact.categorical_exp([1, 2], **kw),
    "negative_binomial": lambda **kw: exact.negative_binomial(3, 1, **kw),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_shapes_and_types(name):
    draw = SAMPLERS[name]
    assert type(draw()) in (int, bool)
    assert draw(size=5).shape == (5,)
    assert draw(size=(2, 3)).shape == (2, 3)
    assert draw(size=0).shape == (0,)
    assert draw(size=()).shape == ()
    assert draw(size=70_000).dtype in (np.int64, np.bool_)


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("size", [-1, 1.5, "3", True, (2, -1)])
def test_a_meaningless_size_is_refused(name, size):
    with pytest.raises(BadParameter, match="size"):
        SAMPLERS[name](size=size)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_seed_repeats(name):
    draw = SAMPLERS[name]
    same = [draw(size=100, source=SeededSource(9)).tolist() for _ in range(2)]
    assert same[0] == same[1] != draw(size=100, source=SeededSource(10)).tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda: exact.discrete_laplace(),
        lambda: exact.discrete_laplace(1, rate=1),
        lambda: exact.discrete_laplace(0),
        lambda: exact.discrete_laplace(-1),
        lambda: exact.discrete_laplace(float("nan")),
        lambda: exact.discrete_laplace("ln(3)"),
        lambda: exact.discrete_laplace([1.0, -1.0]),
        lambda: exact.discrete_laplace([1.0, float("nan")]),
        lambda: exact.discrete_laplace(np.array([1.0, np.inf])),
        lambda: exact.discrete_laplace([1, 2], size=3),
        lambda: exact.discrete_laplace([[1, 2], [3]]),
        lambda: exact.geometric(0),
        lambda: exact.geometric(["ln(1)"]),
        lambda: exact.bernoulli(1.1),
        lambda: exact.bernoulli(-0.1),
        lambda: exact.bernoulli([0.5, 1.5]),
        lambda: exact.bernoulli("ln(2)"),
        lambda: exact.bernoulli(True),
        lambda: exact.bernoulli_exp(-1),
        lambda: exact.bernoulli_exp([-1]),
        lambda: exact.discrete_gaussian(0),
        lambda: exact.discrete_gaussian([-1]),
        lambda: exact.uniform_integer(0),
        lambda: exact.uniform_integer(2.5),
        lambda: exact.uniform_integer([3, 0]),
        lambda: exact.uniform_integer([1.5]),
        lambda: exact.permutation(-1),
        lambda: exact.categorical([]),
        lambda: exact.categorical([0, 0]),
        lambda: exact.categorical([1, -1]),
        lambda: exact.categorical(["1/2", -0.5]),
        lambda: exact.categorical([[1, 2]]),
        lambda: exact.categorical_exp([]),
        lambda: exact.categorical_exp(np.array([0.0, np.nan])),
        lambda: exact.categorical_exp(np.array([0.0, np.inf])),
        lambda: exact.categorical_exp([1, 2], base=[1]),
        lambda: exact.categorical_exp([1, 2], base=[0, 0]),
        lambda: exact.categorical_exp([1, 2], base=[1, -1]),
        lambda: exact.categorical_exp([1, 2], rate=0),
        lambda: exact.categorical_exp([1, 2], rate="1e-200"),
        lambda: exact.categorical_exp([True, False]),
        lambda: exact.truncated_geometric(11, 0, 10, 1),
        lambda: exact.truncated_geometric(1, 10, 0, 1),
        lambda: exact.truncated_geometric(1.5, 0, 10, 1),
        lambda: exact.truncated_geometric([1, 2], 0, 10, 1, size=3),
        lambda: exact.negative_binomial(0, 1),
        lambda: exact.enumerate_law(lambda source: source.bits(1), 0),
    ],
)
def test_bad_parameters_are_refused(call):
    with pytest.raises(LeastNoiseError) as refusal:
        call()
    assert refusal.value.fix


def test_a_private_value_never_enters_an_error():
    with pytest.raises(BadParameter) as refusal:
        exact.truncated_geometric(987654, 0, 10, 1)
    assert "987654" not in str(refusal.value)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [2**52, 10**30, 10**300])
def test_huge_scales_give_python_integers_that_never_wrap(scale):
    drawn = exact.discrete_laplace(scale, size=2000)
    assert drawn.dtype == object
    assert all(type(x) is int for x in drawn)
    mean = sum(abs(x) for x in drawn) / 2000 / Fraction(scale)
    assert 0.85 < mean < 1.15  # seven standard errors
    assert type(exact.discrete_laplace(scale)) is int
    assert max(exact.negative_binomial(2, Fraction(1, scale), size=100)) > 0


def test_an_array_of_huge_scales_is_refused_rather_than_wrapped():
    with pytest.raises(NumberTooLarge, match="2\\^50"):
        exact.discrete_laplace([2.0**60])
    with pytest.raises(NumberTooLarge):
        exact.discrete_gaussian(2**200)


def test_truncation_near_the_ends_of_64_bits_does_not_wrap():
    top = 2**63 - 1
    drawn = exact.truncated_geometric(np.array([top, top - 1, 0]), -top, top, 10**6)
    assert all(-top <= x <= top for x in drawn.tolist())
    beyond = exact.truncated_geometric(2**70, 0, 2**71, scale=2)
    assert abs(beyond - 2**70) < 1000
    narrow = exact.truncated_geometric(np.full(1000, 2**60), 2**60 - 1, 2**60 + 1, 10**12)
    assert set(narrow.tolist()) <= {2**60 - 1, 2**60, 2**60 + 1}


def test_uniform_integers_beyond_64_bits():
    bound = 3 * 2**80
    drawn = exact.uniform_integer(bound, size=200)
    assert all(0 <= x < bound for x in drawn)
    assert max(drawn) > bound // 2
    assert exact.uniform_integer(2**63, size=5).dtype == np.int64


def test_one_bound_each():
    drawn = exact.uniform_integer(np.array([[1, 2], [1000, 2**62]]))
    assert drawn.shape == (2, 2)
    assert drawn[0, 0] == 0
    assert drawn[0, 1] in (0, 1)


def test_one_scale_each_keeps_order_and_shape():
    scales = np.array([[0.001, 1e6], [1e6, 0.001]])
    drawn = np.array([exact.discrete_laplace(scales) for _ in range(20)])
    assert drawn.shape == (20, 2, 2)
    assert not drawn[:, 0, 0].any()
    assert not drawn[:, 1, 1].any()
    assert (np.abs(drawn[:, 0, 1]) > 100).all()


def test_weights_beyond_64_bits():
    assert exact.categorical([0, 10**40, 0]) == 1
    assert set(exact.categorical([10**40, 1, 10**40], size=100).tolist()) == {0, 2}


def test_a_weight_too_small_for_a_double_keeps_its_chance():
    """U = 0 exactly so far: the last of the candidates in order is reached only through its true share."""
    exponents = np.array([-2000.0, 0.0])
    share = exact.categorical_exp_pmf(0, exponents)
    assert 0 < share.lower < Fraction(1, 2**2800)
    zeros = ScriptedSource([0], *[[0] * 4] * 200)
    assert exact.categorical_exp(exponents, source=zeros) == 0


def test_the_number_of_bits_drawn_does_not_depend_on_the_private_value():
    def requests(value):
        source = ScriptedSource(seed=3)
        exact.truncated_geometric(value, 0, 1000, 7, size=500, source=source)
        return [(bits, len(words)) for bits, words in source.given]

    assert requests(0) == requests(500) == requests(1000)


def test_memory_stays_below_64_bytes_per_sample():
    import tracemalloc

    exact.discrete_laplace(10, size=10)
    tracemalloc.start()
    drawn = exact.discrete_laplace(10, size=2_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * len(drawn)
