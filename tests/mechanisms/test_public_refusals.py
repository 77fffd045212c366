"""A refusal of a rank, choice or combinatorial mechanism depends on public things only.

Three nets: every `raise` of the two rooms, and of the reading of truths, is listed with the public fact it looks at, so
that a new one must be thought about; private inputs on both sides of every power of two and of every former limit are
answered alike; random private inputs and their neighbours too.
"""

import ast
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import leastnoise.mechanisms
from leastnoise.errors import LeastNoiseError
from leastnoise.exact import SeededSource
from leastnoise.mechanisms import Exponential, LatticeLaplace, OneShotTopK, PermuteAndFlip
from leastnoise.mechanisms.combinatorial import (
    DegreeOrder,
    EdgeWeights,
    ExponentialCut,
    IsotonicCounts,
    KMedian,
    KWayCut,
    NoisyDemand,
    PenalisedCover,
    RaisedCut,
    SortedCounts,
    StoppedCut,
    VertexCoverOrder,
)
from leastnoise.mechanisms.rank import BoundedMean, IntervalQuantile, Quantile, SeveralQuantiles, SmoothMedian
from leastnoise.mechanisms.rank.tally import Tally

ROOT = Path(leastnoise.mechanisms.__file__).parent
FORM = "the form of the private input: its type and its shape"
FINITE = "its form, and whether the one who asks replaced all missing values, as the mechanism demands"
PARAMETER = "a public parameter"
ALWAYS = "nothing: it always raises"

# Where the rooms raise, how often, and what it depends on.
RAISES = {
    "combinatorial/graph_input.py": {
        "read_nodes": (1, PARAMETER),
        "public_nodes": (1, FORM),
        "read_graph": (1, FORM),
        "_listings_of": (2, FORM),
    },
    "combinatorial/k_median/k_median.py": {
        "KMedian.__init__": (1, PARAMETER),
        "KMedian.law": (1, PARAMETER),
        "KMedian.cost_bound": (1, PARAMETER),
        "KMedian.certificate": (1, PARAMETER),
        "KMedian.read": (1, FORM),
    },
    "combinatorial/k_median/local_search.py": {"read_demand": (1, FORM)},
    "combinatorial/k_median/metric.py": {
        "PublicMetric.__init__": (2, PARAMETER),
        "PublicMetric._checked": (1, PARAMETER),
        "read_metric": (4, PARAMETER),
    },
    "combinatorial/k_median/noisy_demand.py": {
        "NoisyDemand.__init__": (1, PARAMETER),
        "NoisyDemand.pmf": (1, ALWAYS),
        "NoisyDemand._read_opening": (1, PARAMETER),
    },
    "combinatorial/k_median/planning.py": {"plan_k_median": (1, PARAMETER)},  # its example is public
    "combinatorial/min_cut/cut_mechanism.py": {
        "EdgeWeights.__init__": (1, PARAMETER),
        "CutMechanism.require_room": (1, PARAMETER),
        "CutMechanism.law": (1, PARAMETER),
        "CutMechanism.certify": (1, PARAMETER),
        "read_cut_nodes": (2, PARAMETER),
        "read_weights": (1, PARAMETER),
    },
    "combinatorial/min_cut/exponential_cut.py": {"_two_nodes": (1, PARAMETER)},
    "combinatorial/min_cut/k_way_cut.py": {"KWayCut.__init__": (1, PARAMETER)},
    "combinatorial/min_cut/planning.py": {"_extra.progress": (1, PARAMETER)},  # its example is public
    "combinatorial/min_cut/weighed_cut.py": {
        "WeighedCut.__init__": (1, PARAMETER),
        "WeighedCut.certificate": (1, PARAMETER),
    },
    "combinatorial/sorted_counts/diagram.py": {"_clamped": (1, FORM)},
    "combinatorial/sorted_counts/isotonic_counts.py": {"IsotonicCounts.pmf": (1, ALWAYS)},
    "combinatorial/sorted_counts/planning.py": {
        "plan_sorted_counts": (1, PARAMETER),
        "zipf_counts": (1, PARAMETER),
        "_read_example": (1, PARAMETER),
    },
    "combinatorial/sorted_counts/sorted_counts.py": {
        "half_decay": (1, PARAMETER),
        "SortedCounts.__init__": (1, PARAMETER),
        "SortedCounts.certificate": (1, ALWAYS),
    },
    "combinatorial/vertex_cover/cover_order.py": {
        "VertexCoverOrder.__init__": (1, PARAMETER),
        "VertexCoverOrder.pmf": (1, PARAMETER),
        "VertexCoverOrder.certificate": (1, ALWAYS),
        "plain_cover": (1, ALWAYS),
    },
    "combinatorial/vertex_cover/degree_order.py": {"DegreeOrder.pmf": (1, ALWAYS)},
    "combinatorial/vertex_cover/penalised_cover.py": {"PenalisedCover.__init__": (2, PARAMETER)},
    "rank/bounded_mean.py": {"BoundedMean.certificate": (1, PARAMETER)},
    "rank/lattice.py": {
        "read_bounds": (1, PARAMETER),
        "_read_bound": (2, PARAMETER),
        "read_grid": (7, PARAMETER),
        "read_interval": (2, PARAMETER),
    },
    "rank/quantile.py": {"certify": (1, PARAMETER), "read_method": (2, PARAMETER)},
    "rank/quantile_bound.py": {"QuantileBound.__init__": (2, PARAMETER)},
    "rank/quantile_table.py": {"QuantileTable.__post_init__": (2, PARAMETER), "QuantileTable._read": (1, FORM)},
    "rank/rank_law.py": {"read_level": (1, PARAMETER)},
    "rank/several_quantiles.py": {
        "SeveralQuantiles.__init__": (2, PARAMETER),
        "SeveralQuantiles.pmf": (1, PARAMETER),
        "_read_levels": (4, PARAMETER),
    },
    "rank/smooth_median.py": {"SmoothMedian.__init__": (1, PARAMETER), "SmoothMedian.certificate": (1, ALWAYS)},
    "rank/tally.py": {"Tally.__init__": (1, FORM), "Tally.checked": (2, FORM)},
    "truths.py": {
        "read_whole": (1, FORM),
        "read_real": (1, FINITE),
        "read_whole_vector": (1, FORM),
        "read_candidates": (2, PARAMETER),
        "read_scores": (1, FINITE),
        "_score_of": (1, FORM),  # a fraction whose denominator has more than 600 digits is no score
        "place_of": (2, PARAMETER),
        "private_place": (1, FORM),
        "read_records": (2, FORM),  # and the number of records, where it was said in public
    },
}


def raises_in(node, names=()):
    for child in ast.iter_child_nodes(node):
        inner = (*names, child.name) if isinstance(child, ast.FunctionDef | ast.ClassDef) else names
        if isinstance(child, ast.Raise):
            yield ".".join(names)
        yield from raises_in(child, inner)


def test_every_raise_is_listed_with_the_public_fact_it_looks_at():
    found = {}
    rooms = (path for room in ("combinatorial", "rank") for path in (ROOT / room).rglob("*.py"))
    for path in [*rooms, ROOT / "truths.py"]:
        counted = Counter(raises_in(ast.parse(path.read_text(encoding="utf-8"))))
        if counted:
            found[path.relative_to(ROOT).as_posix()] = dict(counted)
    assert found == {path: {name: count for name, (count, _) in places.items()} for path, places in RAISES.items()}


def outcome(action):
    """Answered, or exactly which refusal."""
    try:
        action()
    except LeastNoiseError as refusal:
        return type(refusal), str(refusal)
    return "answered"


NEAR = sorted({side + more for side in (2**k for k in (0, 8, 16, 31, 36, 37, 52, 53, 60, 61, 62, 63, 64, 80))
               for more in (-1, 0, 1)} | {10**9, 10**9 + 1, 10**30})  # fmt: skip
TRIANGLE = [(0, 1), (1, 2), (0, 2)]
LINE = [[0.0], [1.0], [2.0], [3.0]]

# A mechanism, an output to ask the law for (None for none), and from one private number an input.
MECHANISMS = {
    "quantile": (Quantile("2*ln(2)", range(4)), 1, lambda n: Tally([n, 0, 1, 0])),
    "odd level": (Quantile(1, range(4), "123456789/1000000000"), 1, lambda n: Tally([1, n, 1, n])),
    "interval": (IntervalQuantile(1, 0, 3, step=1), 1.0, lambda n: Tally([n, n, n, n])),
    "separate": (SeveralQuantiles(1, ["1/4", "1/2"], 0, 3, step=1), (1.0, 1.0), lambda n: Tally([n, 0, 0, 1])),
    "recursive": (SeveralQuantiles(1, ["1/4", "1/2"], 0, 3, step=1, method="recursive", jitter=4), (0.0, 1.0),
                  lambda n: Tally([n, 0, n, 0])),
    "too fine": (SeveralQuantiles(1, ["1/4", "1/2"], 0, 3, step=1, method="recursive"), (0.0, 1.0),
                 lambda n: [0.5] * (n % 40)),
    "one record": (IntervalQuantile(1, 0, 3), 1.0, lambda n: [n, -n]),
    "smooth": (SmoothMedian(1, "1e-6", 0, 3, records=3, step=1), 1.0, lambda n: [n, -n, 1]),
    "mean": (BoundedMean(1, 0, 3), None, lambda n: [n, -n, 1]),
    "sorted": (SortedCounts("1/2", 10), (2, 1), lambda n: [n % 2**31, 3]),
    "isotonic": (IsotonicCounts(1, 10, 3), None, lambda n: [n, n, 1, 2, -n]),
    "isotonic wide": (IsotonicCounts("1e-15", 10, 3), None, lambda n: [n, n, 1, 2, -n]),
    "cover": (VertexCoverOrder(1, 3), (0, 1, 2), lambda n: [(0, n), (n, n), (-n, 1)]),
    "penalised": (PenalisedCover(1, 3), (0,), lambda n: [(0, n), (n, n), (-n, 1)]),
    "cut": (ExponentialCut(1, 3, EdgeWeights()), frozenset({1}), lambda n: [(0, 1, n), (1, 2, 1), (0, 2, -n)]),
    "cut outside": (ExponentialCut(1, 3), frozenset({1}), lambda n: [(0, n), (1, 2)]),
    "fine cut": (ExponentialCut(1, 3, EdgeWeights("1e-6", "1e-6")), frozenset({1}), lambda n: [(0, 1, n / 7)]),
    "parts": (KWayCut(1, 4, 3, EdgeWeights()), None, lambda n: [(0, 1, n), (1, 2, 1), (0, 2, -n), (3, n, 5)]),
    "stopped": (StoppedCut(1, 3, EdgeWeights()), frozenset({1}), lambda n: [(0, 1, n), (1, 2, 1), (0, 2, -n)]),
    "raised": (RaisedCut(8, 4, weights=EdgeWeights()), None, lambda n: [(0, 1, n), (1, 2, n), (2, 3, 1)]),
    "k-median": (KMedian(1, 1, points=LINE, steps=2), None, lambda n: {0: n, 3: n, n: 5, 1: -n}),
    "scores": (PermuteAndFlip(1, 3), None, lambda n: [n**150, 0, -n]),  # up to 4500 digits
    "exponential": (Exponential("1/7", 3), None, lambda n: [Fraction(n**150, 7), 0, -n]),
    "turns": (OneShotTopK(1, 3, 2), None, lambda n: [0, -(n**150), Decimal(n).scaleb(n.bit_length() * 10)]),
    "decimal": (LatticeLaplace(1, 1, "1/4"), None, lambda n: Decimal(n).scaleb(n.bit_length() * 10)),
    "degrees": (DegreeOrder(1, 3), None, lambda n: [(0, n), (n, n), (-n, 1)]),
    "dear places": (NoisyDemand(1, 2, points=LINE, squared=True, opening=3), None, lambda n: {0: n, 3: n, n: 5, 1: -n}),
    "noisy demand": (NoisyDemand(1, 1, points=LINE), None, lambda n: {0: n, 3: n, n: 5, 1: -n}),
    "places": (KMedian(1, 1, points=LINE, steps=2), None, lambda n: [n, 1, -n]),
}  # fmt: skip


def asked(name, number):
    mechanism, output, private = MECHANISMS[name]
    answer = private(number)
    found = [outcome(lambda: mechanism.draw(answer, source=SeededSource(1)))]
    if output is not None:
        found.append(outcome(lambda: mechanism.pmf(output, answer)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_private_numbers_of_every_size_are_answered_alike(name):
    """Each number and the next are neighbours, or their inputs are all of one form."""
    found = {number: asked(name, number) for number in NEAR}
    assert len({str(each) for each in found.values()}) == 1, found
    assert found[1][0] == "answered"


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([name for name in MECHANISMS if name not in ("sorted", "raised")]), st.integers(0, 2**70))
def test_so_are_random_ones(name, number):
    assert asked(name, number) == asked(name, number + 1)


FORMS = {
    "counts": lambda: SortedCounts(1, 10),
    "list": lambda: IntervalQuantile(1, 0, 1),
    "mean": lambda: BoundedMean(1, 0, 1),
    "demand": lambda: KMedian(1, 1, points=LINE),
    "graph": lambda: VertexCoverOrder(1, 5),
    "weighted": lambda: ExponentialCut(1, 5, EdgeWeights()),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_refusal_of_a_form_never_tells_how_much_there_is(name):
    """Tables and texts in place of lists: the same words whatever they hold and however long they are."""
    mechanism = FORMS[name]()
    for make in (lambda n: np.zeros((n, 7)), lambda n: ["text"] * n, lambda n: [[1, 2, 3, 4]] * n, lambda n: "x" * n):
        texts = {outcome(lambda n=n, make=make: mechanism.draw(make(n))) for n in (1, 2, 5, 4711)}
        texts = {(kind, text) for kind, text in texts if kind is not FileNotFoundError and "no file" not in text}
        assert len(texts) <= 1
