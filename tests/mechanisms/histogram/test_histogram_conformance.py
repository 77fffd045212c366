"""The mechanisms of histograms go through the suite that every mechanism passes."""

from fractions import Fraction
from itertools import product

import pytest

from leastnoise.exact import SeededSource, ln
from leastnoise.mechanisms import DiscreteGaussian, Geometric
from leastnoise.mechanisms.histogram.chosen_scale import ChosenScale
from leastnoise.mechanisms.histogram.independent_noise import IndependentNoise, NoiseBlock
from leastnoise.mechanisms.histogram.keys_found import FoundKeys
from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise
from leastnoise.mechanisms.histogram.noisy_threshold import GaussianThreshold, NoisyThreshold, SelectionThreshold
from leastnoise.mechanisms.histogram.selection_noise import SelectionNoise
from leastnoise.model.events import Approximate, Composed, LaplaceNoise, Pure
from leastnoise.model.graphs import from_edges, path
from mechanisms.conformance import Case, Conformance

BAD_VECTORS = [[5678.5, 1], [12345] * 7, "12345", [[1234, 5678]], None, [True, False]]


def box(reach, dimension=2):
    return list(product(range(-reach, reach + 1), repeat=dimension))


def l1(output, answer):
    return sum(abs(y - x) for y, x in zip(output, answer, strict=True))


def of_the_sum(output, answer):
    return abs(output[1] - answer[1])


def first_cell(output, answer):
    return abs(output[0] - answer[0])


ONE_CELL = from_edges([((0, 0), (1, 0)), ((0, 0), (0, 1)), ((1, 0), (1, 1)), ((0, 1), (1, 1))])
BOTH_CELLS = from_edges([((0, 0), (1, 1))])
MAP = ((1, 0), (1, 1))
MAPPED = from_edges([((0, 0), (1, 1)), ((0, 0), (0, 1)), ((1, 1), (1, 2)), ((0, 1), (1, 2))])  # images of ONE_CELL


def cells(blocks, graph, **more):
    return Case(
        IndependentNoise,
        {"blocks": blocks},
        answers=tuple(graph.nodes),
        graph=graph,
        outputs=box(12),
        complete=False,
        loss=first_cell,
        left_out=Fraction(1, 1000),
        samples=50_000,
        bad_answers=BAD_VECTORS,
        **more,
    )


def mapped(noise, event, **more):
    return Case(
        MappedNoise,
        {"matrix": MAP, "noise": noise, "cost": event},
        answers=tuple(MAPPED.nodes),
        graph=MAPPED,
        outputs=[(a, a + b) for a, b in box(12)],
        complete=False,
        loss=l1,
        quantile_loss=of_the_sum,
        left_out=Fraction(1, 1000),
        least_quantiles=False,
        samples=50_000,
        bad_answers=BAD_VECTORS,
        **more,
    )


def unknown_keys(kind=NoisyThreshold, **parameters):
    """One unit has the key "a" alone, another one may join it."""
    answers = [{"a": 1}, {}, {"a": 2}]
    threshold = kind(**parameters).threshold
    return Case(
        kind,
        parameters,
        answers=answers,
        graph=from_edges([("one", "nobody"), ("one", "two")], ["one", "nobody", "two"]),
        outputs=[(), *((("a", count),) for count in range(threshold, threshold + 40))],
        complete=False,
        tight=False,  # the threshold is a whole number
        epsilon=kind(**parameters).epsilon,
        delta=kind(**parameters).delta,
        bad_parameters={
            "epsilon": [0, -1, "one", float("nan"), None],
            "delta": [0, 1, -1, "x", None],
            "groups": [0, 1.5, None],
            "rows": [0, 1.5, None],
        },
        bad_answers=[{"a": 1234.5}, [12345], None, {"a": True}],
    )


def selection(epsilon, delta):
    """The noise of the best selection, on four counts in a row."""
    return Case(
        SelectionNoise,
        {"epsilon": epsilon, "delta": delta},
        answers=range(4),
        graph=path(4),
        outputs=range(-40, 45),
        loss=lambda output, answer: abs(output - answer),
        tight=False,  # the law is rounded to a multiple of 2^-500
        samples=50_000,
        bad_parameters={"epsilon": [0, -1, 65, "one", None], "delta": [0, 1, "x", None]},
        bad_answers=[5678.5, "12345", None],
    )


def found(kind, **parameters):
    """The numbers of the keys found, with pure or Gaussian noise."""
    return list(FoundKeys(**parameters).candidates())[kind]


def keys_found(kind, outputs, **parameters):
    """One unit has the key "a" alone, with a value of one; another one may join it."""
    numbers = len(parameters["each"])
    return Case(
        found,
        {"kind": kind, **parameters},
        answers=[{"a": (1,) * numbers}, {}, {"a": (2, *[1] * (numbers - 1))}],
        graph=from_edges([("one", "nobody"), ("one", "two")], ["one", "nobody", "two"]),
        outputs=outputs(found(kind, **parameters).threshold),
        complete=False,
        tight=False,
        epsilon=parameters["epsilon"],
        delta=parameters["delta"],
        samples=3_000,
        bad_answers=[{"a": (1234.5, 1)}, [12345], None, {"a": 1234}],
    )


def with_sums(threshold):
    return [((), ()), *(((("a", (n, s)),), ()) for n in range(threshold, threshold + 12) for s in range(-9, 12))]


def with_rest(threshold):
    hidden = [((), (total,)) for total in range(-12, 15)]
    return [*hidden, *(((("a", (n,)),), (t,)) for n in range(threshold, threshold + 9) for t in range(-9, 10))]


def chosen(**parameters):
    """Two options, the second of which has more noise and cuts off less."""
    options = (Geometric("ln(4)"), Geometric("ln(4)", 2))
    noise, cut = (Fraction(1), Fraction(2)), ((Fraction(0), Fraction(1)), (Fraction(0), Fraction(0)))
    return ChosenScale(Geometric("ln(2)"), options, noise, cut, Pure("ln(4)"), **parameters)


def answers_on_a_scale():
    mechanism, counts = chosen(), list(product(range(-6, 9), range(-6, 12)))
    return [(each, mechanism.choose(each), answer) for each in counts for answer in range(-7, 9)]


CHOSEN = Case(
    chosen,
    {},
    answers=[((1, 3), (1, 2)), ((1, 4), (2, 4)), ((0, 3), (0, 0))],  # a unit that is cut off, and one that is not
    graph=from_edges([(0, 1), (0, 2)], [0, 1, 2]),
    outputs=answers_on_a_scale(),
    complete=False,
    tight=False,
    samples=3_000,
    bad_answers=[(12345,), None, ((12345.5, 1), (1, 1)), ((1, 2), (12345, 1, 2))],
)


CASES = [
    CHOSEN,
    cells((NoiseBlock(Geometric("ln(4)"), 2, Pure("ln(4)")),), ONE_CELL),
    cells((NoiseBlock(Geometric("ln(4)"), 2, Composed((LaplaceNoise("ln(4)"),) * 2)),), BOTH_CELLS, epsilon=ln(16)),
    cells(
        (NoiseBlock(Geometric("ln(4)"), 1, Pure("ln(4)")), NoiseBlock(Geometric("ln(6)"), 1, Pure("ln(6)"))),
        BOTH_CELLS,
        epsilon=ln(24),
    ),
    cells((NoiseBlock(DiscreteGaussian(4), 2, Approximate(1, "1/5")),), ONE_CELL, tight=False),
    mapped(Geometric("ln(4)"), Pure("ln(4)")),
    unknown_keys(epsilon="ln(2)", delta="1/10"),
    unknown_keys(epsilon="ln(9)", delta="1/10", groups=2),
    unknown_keys(epsilon=1, delta="1/100"),
    unknown_keys(SelectionThreshold, epsilon="ln(2)", delta="1/10"),
    unknown_keys(SelectionThreshold, epsilon=1, delta="1/100", groups=2),
    unknown_keys(GaussianThreshold, epsilon=1, delta="1/100"),
    unknown_keys(GaussianThreshold, epsilon=1, delta="1/100", groups=3, rows=2),
    keys_found(0, with_sums, epsilon=2 * ln(3), delta=Fraction(1, 10), groups=1, each=(1, 1)),
    keys_found(1, with_sums, epsilon=Fraction(2), delta=Fraction(1, 10), groups=1, each=(1, 1)),
    keys_found(0, with_rest, epsilon=5 * ln(2), delta=Fraction(1, 10), groups=1, each=(1,), rest=True),
    keys_found(1, with_rest, epsilon=Fraction(3), delta=Fraction(1, 10), groups=2, each=(1,), rest=True),
    selection("ln(2)", "1/100"),
    selection(1, "1/50"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestHistogramMechanisms(Conformance):
    """Independent noise on cells, noise carried through a map, and keys that nobody listed."""


@pytest.mark.slow
def test_an_option_is_chosen_by_the_noisy_counts_and_nothing_else():
    """The true counts would choose the first option in one of the two and the second in the other."""
    mechanism = chosen()
    for truth in (((3, mechanism.sure), (5, 50)), ((0, mechanism.sure + 1), (5, 50))):
        drawn = mechanism.draw(truth, size=400, source=SeededSource(3)).tolist()
        assert {place for _, place, _ in drawn} == {0, 1}
        assert all(place == mechanism.choose(counts) for counts, place, _ in drawn)
        assert all((answer > 27) == place for _, place, answer in drawn)
