"""A request id is bound to every public parameter, and what releases draws with its own source."""

import json
import pickle
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import partial
from unittest.mock import Mock

import networkx
import numpy as np
import pytest

import leastnoise as ln
from leastnoise import combinatorial
from leastnoise.accounting import Ledger
from leastnoise.errors import BadChannel, BadParameter, EngineFailure, InsecureSource, RequestConflict
from leastnoise.exact import Enclosure, SeededSource, SystemSource
from leastnoise.mechanisms import DiscreteGaussian, Geometric, PermuteAndFlip, RandomizedResponse, Staircase
from leastnoise.mechanisms.combinatorial import KMedian
from leastnoise.mechanisms.rank import Quantile
from leastnoise.mechanisms.vector import CountingBody, CrossPolytope, KNorm
from leastnoise.model.events import Pure
from leastnoise.model.mechanism import ErrorEstimate, Mechanism, Reason
from leastnoise.model.privacy import Privacy
from leastnoise.release import Dataset, release_mechanism
from leastnoise.release.calls import questions_of
from leastnoise.release.mechanism import fingerprint_of

CLUB, TOWN = networkx.karate_club_graph(), [[x, y] for x in range(3) for y in range(3)]
FEW, EDGES = networkx.path_graph(6), list(networkx.path_graph(6).edges)
TWO, HALF = combinatorial.EdgeWeights(2), combinatorial.EdgeWeights(step="1/2")


def apart(rows, columns):
    return (rows[:, None] != columns[None, :]).astype(float)


def further(rows, columns):
    return np.abs(rows[:, None] - columns[None, :]).astype(float)


def facilities(**options):
    return KMedian(1, 2, **{"points": TOWN, **options})


# For every function: a question, and the same with each of its public parameters changed in turn.
COMBINATORIAL = {
    "min cut": (
        partial(combinatorial.min_cut, EDGES),
        {"epsilon": 1, "delta": 0, "nodes": 6, "weights": None},
        [
            {"epsilon": 2},
            {"delta": "1e-6"},
            {"nodes": 7},
            {"nodes": [5, 4, 3, 2, 1, 0]},
            {"weights": TWO},
            {"weights": HALF},
        ],
    ),
    "raised cut": (
        partial(combinatorial.min_cut, list(CLUB.edges)),
        {"epsilon": 1, "delta": 0, "nodes": 34, "weights": None},
        [{"epsilon": 2}, {"delta": "1e-6"}, {"nodes": 35}, {"weights": TWO}],
    ),
    "k-median": (
        partial(combinatorial.k_median, demand=[0, 0, 4, 8]),
        {"points_or_metric": TOWN, "k": 2, "epsilon": 1, "delta": 0, "steps": 4},
        [
            {"points_or_metric": [[2 * x, y] for x, y in TOWN]},
            {"points_or_metric": [*TOWN[:4], [1, 1.5], *TOWN[5:]]},
            {"points_or_metric": facilities(steps=4, resolution=100)},
            {"points_or_metric": facilities(steps=4, diameter=1)},
            {"points_or_metric": facilities(steps=4, points=None, metric=apart, count=9)},
            {"points_or_metric": facilities(steps=4, points=None, metric=further, count=9)},
            {"k": 3},
            {"epsilon": 2},
            {"delta": "1e-6"},
            {"steps": 5},
        ],
    ),
    "vertex cover": (
        partial(combinatorial.vertex_cover, EDGES),
        {"epsilon": 1, "nodes": 6},
        [{"epsilon": 2}, {"nodes": 7}, {"nodes": [1, 0, 2, 3, 4, 5]}],
    ),
    "sorted counts": (
        partial(combinatorial.sorted_counts, [9, 4, 4, 1]),
        {"epsilon": 1, "total": 20, "top": None, "longest": 10, "example": [9, 9]},
        [
            {"epsilon": 2},
            {"total": 21},
            {"top": 3},
            {"longest": 11},
            {"longest": None},
            {"example": [9, 8]},
            {"example": None},
        ],
    ),
}

MECHANISMS = [
    (Geometric(1), 3, [Geometric(1, 2), Geometric("1.5"), Staircase(1, 1, 1)]),
    (Staircase(1, 2), 3, [Staircase(1, 2, 2), Staircase(1, 3)]),
    (DiscreteGaussian(4), 3, [DiscreteGaussian(5), DiscreteGaussian(16, 2)]),
    (
        PermuteAndFlip(1, list("abc")),
        [1, 2, 3],
        [PermuteAndFlip(1, list("abd")), PermuteAndFlip(1, list("acb")), PermuteAndFlip(1, list("abc"), 2)],
    ),
    (RandomizedResponse(1, ["yes", "no"]), "yes", [RandomizedResponse(1, ["no", "yes"])]),
    (Quantile(1, [0, 1, 2], "1/2"), [0, 1, 1], [Quantile(1, [0, 1, 3], "1/2"), Quantile(1, [0, 1, 2], "1/3")]),
    (KNorm(1, CountingBody(2)), (1, 1), [KNorm(1, CrossPolytope(2)), KNorm(1, CountingBody(2), 2)]),
    (ln.design("path:4", "ln(2)").mechanism, 1, [ln.design("cycle:4", "ln(2)").mechanism]),
    (
        ln.design(ln.graphs.from_edges([(0, 1), (1, 2), (1, 3)]), "ln(2)").mechanism,
        1,
        [ln.design(ln.graphs.from_edges([(0, 1), (1, 2), (2, 3), (1, 3)]), "ln(2)").mechanism],
    ),
]


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "ledger") as made:
        made.grant(Privacy(1000, "1/2", insist=True), dataset="d")
        yield made


def value_of(release):
    return sorted(release.value) if isinstance(release.value, frozenset) else np.asarray(release.value).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("ask", "parameters", "changes"), COMBINATORIAL.values(), ids=COMBINATORIAL)
def test_every_public_parameter_of_a_combinatorial_release_is_bound(ledger, ask, parameters, changes):
    charge = {"ledger": ledger, "dataset": "d", "request_id": "q"}
    first = ask(**parameters, **charge)
    spent = ledger.left("d", "anyone").epsilon
    assert {name for change in changes for name in change} == set(parameters)
    for change in changes:
        with pytest.raises((RequestConflict, BadParameter)) as caught:
            ask(**parameters | change, **charge)
        if caught.type is BadParameter:  # a ready mechanism must agree with the parameters beside it
            assert "ready mechanism" in str(caught.value)
    assert value_of(ask(**parameters, **charge)) == value_of(first)
    assert ledger.left("d", "anyone").epsilon == spent


@pytest.mark.slow
@pytest.mark.parametrize(("mechanism", "truth", "others"), MECHANISMS, ids=lambda part: getattr(part, "name", ""))
def test_every_parameter_of_a_mechanism_is_bound(ledger, mechanism, truth, others):
    charge = {"ledger": ledger, "dataset": "d", "request_id": "q"}
    first = release_mechanism(mechanism, truth, **charge)
    mechanism.error(), mechanism.draw(truth)  # what is computed and kept on the way changes nothing
    assert value_of(release_mechanism(mechanism, truth, **charge)) == value_of(first)
    assert fingerprint_of(pickle.loads(pickle.dumps(mechanism))) == fingerprint_of(mechanism)  # noqa: S301
    for other in others:
        with pytest.raises(RequestConflict):
            release_mechanism(other, truth, **charge)
    with pytest.raises(RequestConflict):
        release_mechanism(mechanism, truth, parameters={"year": 2024}, **charge)


BINS, KEYS, OTHERS = {"age": [0, 50, 100]}, {"city": ["Lyon", "Metz"]}, {"city": ["Lyon", "Nice"]}
ASKED = [
    lambda d: d.count(of="rows"),
    lambda d: d.count(of="units"),
    lambda d: d.count(where="age > 5"),
    lambda d: d.count(where="age > 6"),
    lambda d: d.count(keys=KEYS),
    lambda d: d.count(keys=OTHERS),
    lambda d: d.count(keys=KEYS, groups_per_unit=2),
    lambda d: d.count(keys=KEYS, rows_per_unit=2),
    lambda d: d.count(bins=BINS),
    lambda d: d.count(bins={"age": [0, 60, 100]}),
    lambda d: d.count(by="city", of="units"),
    lambda d: d.count(by="sex", of="units"),
    lambda d: d.workload("prefix sums", bins=BINS),
    lambda d: d.workload([[1, 2]], bins=BINS),
    lambda d: d.workload([[1, 3]], bins=BINS),
    lambda d: d.workload([[1, 3]], bins=BINS, names=["a"]),
    lambda d: d.workload([[1, 3]], bins=BINS, weights=[2]),
    lambda d: d.workload([[1, 3]], bins=BINS, goal="largest"),
    lambda d: d.tables(keys=KEYS, bins=BINS),
    lambda d: d.tables(keys=OTHERS, bins=BINS),
    lambda d: d.sum("age", bounds=(0, 100)),
    lambda d: d.sum("age", bounds=(1, 100)),
    lambda d: d.sum("age", bounds=(0, 101)),
    lambda d: d.sum("age", bounds=(0, 100), step=2),
    lambda d: d.sum("income", bounds=(0, 100), step=1),
    lambda d: d.mean("age", bounds=(0, 100)),
    lambda d: d.variance("age", bounds=(0, 100)),
    lambda d: d.median("age", bounds=(0, 100), step=1),
    lambda d: d.median("age", bounds=(0, 100), step=2),
    lambda d: d.median("age", bounds=(0, 100), step=1, keys=KEYS),
    lambda d: d.median("age", bounds=(0, 100), step=1, expected_rows=50),
    lambda d: d.median("age", bounds=(0, 100), step=1, interval_share="1/2"),
    lambda d: d.median("age", bounds=(0, 100), step=1, interval_share="1/3"),
    lambda d: d.median("age", bounds=(0, 100), step=1, interval_share="1/2", interval_confidence=0.9),
    lambda d: d.quantile("age", [0.2], bounds=(0, 100), step=1),
    lambda d: d.quantile("age", [0.2, 0.4], bounds=(0, 100), step=1),
    lambda d: d.most_common(keys=KEYS),
    lambda d: d.most_common(2, keys={"city": ["Lyon", "Nice", "Metz"]}),
    lambda d: d.choose(["age > 5", "age > 6"]),
    lambda d: d.choose(["age > 5", "age > 7"]),
    lambda d: d.sorted_counts(by="city", total=100, top=3),
    lambda d: d.sorted_counts(by="city", total=100, top=2),
    lambda d: d.sorted_counts(by="city", total=101, top=3),
    lambda d: d.sum("age", bounds="private"),
    lambda d: d.sum("income", bounds="private"),
    lambda d: d.mean("age", bounds="private"),
    lambda d: d.sum("age", bounds="private", rows_per_unit=2),
    lambda d: d.sum("age", bounds=(0, 100), rows_per_unit="private"),
    lambda d: d.sum("age", bounds=(0, 101), rows_per_unit="private"),
    lambda d: d.count(rows_per_unit="private"),
    lambda d: d.count(rows_per_unit="private", keys=KEYS),
    lambda d: d.sum("age", bounds=(0, 100), by="city"),
    lambda d: d.sum("age", bounds=(0, 101), by="city"),
    lambda d: d.mean("age", bounds=(0, 100), by="city"),
    lambda d: d.mean("age", bounds=(0, 100), by="sex"),
    lambda d: d.most_common(2, by="city"),
    lambda d: d.most_common(3, by="city"),
    lambda d: d.deviation("age", bounds=(0, 100)),
    lambda d: d.proportion("age > 5"),
    lambda d: d.proportion("age > 6"),
    lambda d: d.ratio("age", "income", {"age": (0, 100), "income": (0, 100)}),
    lambda d: d.ratio("income", "age", {"age": (0, 100), "income": (0, 100)}),
    lambda d: d.ratio("age", "income", {"age": (0, 100), "income": (0, 101)}),
    lambda d: d.count_distinct("city"),
    lambda d: d.count_distinct("sex"),
    lambda d: d.count_distinct("city", groups_per_unit=2),
    lambda d: d.min("age", bounds=(0, 100), step=1),
    lambda d: d.max("age", bounds=(0, 100), step=1),
    lambda d: d.hierarchy(["region", "city"], {"north": ["Lyon"], "south": ["Metz"]}),
    lambda d: d.hierarchy(["region", "city"], {"north": ["Lyon", "Metz"]}),
    lambda d: d.hierarchy(["region", "city"], {"north": ["Lyon"], "south": ["Metz"]}, weights={"region": 2}),
    lambda d: d.decision(at_least=100),
    lambda d: d.decision(at_least=101),
    lambda d: d.design(at_most=100),
    lambda d: d.design(at_most=101),
    lambda d: d.design(at_most=100, loss="squared"),
    lambda d: d.design(at_most=100, prior=range(101)),
    lambda d: d.design(at_most=100, prior=range(1, 102)),
    lambda d: d.decision(by="city", keys=["Lyon", "Metz"]),
    lambda d: d.graph("edges", "city", "sex", ["Lyon", "f"]),
    lambda d: d.graph("edges", "sex", "city", ["Lyon", "f"]),
    lambda d: d.graph("edges", "city", "sex", ["Lyon", "m"]),
    lambda d: d.graph("edges", "city", "sex", ["Lyon", "f"], groups_per_unit=2),
    lambda d: d.graph("edges", "city", "sex", ["Lyon", "f"], where="age > 5"),
    lambda d: d.graph("triangles", "city", "sex", ["Lyon", "f"]),
    lambda d: d.graph("cut", "city", "sex", ["Lyon", "f"]),
    lambda d: d.graph("cover", "city", "sex", ["Lyon", "f"]),
    lambda d: d.facilities("city", 1, {"Lyon": (0, 0), "Metz": (1, 0), "Nice": (5, 5)}),
    lambda d: d.facilities("city", 1, {"Lyon": (0, 0), "Metz": (2, 0), "Nice": (5, 5)}),
    lambda d: d.facilities("city", 1, {"Lyon": (0, 0), "Metz": (1, 0), "Rome": (5, 5)}),
    lambda d: d.facilities("city", 2, {"Lyon": (0, 0), "Metz": (1, 0), "Nice": (5, 5)}),
    lambda d: d.facilities("city", 1, {"Lyon": (0, 0), "Metz": (1, 0), "Nice": (5, 5)}, squared=True),
    lambda d: d.facilities("city", 1, {"Lyon": (0, 0), "Metz": (1, 0), "Nice": (5, 5)}, opening=3),
    lambda d: d.facilities("city", 1, {"Lyon": (0, 0), "Metz": (1, 0), "Nice": (5, 5)}, opening=[3, 3, 4]),
    lambda d: d.facilities("age", 1, bins=[0, 20, 60, 100]),
    lambda d: d.facilities("age", 1, bins=[0, 20, 70, 100]),
]


@pytest.mark.slow
def test_every_public_parameter_of_a_question_is_bound(open_people):
    dataset = open_people(privacy_unit="person")
    told = {
        json.dumps([query.recorded_as, query.parameters()], sort_keys=True) for query in (ask(dataset) for ask in ASKED)
    }
    assert len(told) == len(ASKED)
    dataset.count().release(1, request_id="q")
    for late in (lambda: dataset.count().release(2, request_id="q"), lambda: dataset.count().release(1, "1e-6", "q")):
        with pytest.raises(RequestConflict):
            late()


def test_no_question_is_left_out():
    calls = Mock()
    for ask in ASKED:
        ask(calls)
    assert {name for name, _, _ in calls.method_calls} == questions_of(Dataset).keys() - {"batch"}


@dataclass(frozen=True)
class Loaded(Mechanism):
    """A coin of one's own, with whatever one likes to keep in it."""

    held: object = None
    name = "loaded coin"
    event = Pure("ln(3)")

    def draw(self, truth, size=None, source=None):
        return RandomizedResponse("ln(3)", [0, 1]).draw(truth, size, source)

    def pmf(self, output, truth, bits=64):
        return RandomizedResponse("ln(3)", [0, 1]).pmf(output, truth, bits)

    def error(self):
        return ErrorEstimate("zero-one", Enclosure(Fraction(1, 4), Fraction(1, 4)))

    def reason(self):
        return Reason("one's own", "nobody")

    def certificate(self):
        return RandomizedResponse("ln(3)", [0, 1]).certificate()


class Stateless(Loaded):
    def __init__(self):
        object.__setattr__(self, "held", None)


@pytest.mark.parametrize("held", [lambda x: x, partial(max, 1), len, iter([1])])
def test_a_mechanism_that_cant_be_told_from_others_needs_parameters(ledger, held):
    charge = {"ledger": ledger, "dataset": "d", "request_id": "q"}
    before = len(list(ledger.entries()))
    with pytest.raises(BadParameter, match="parameters="):
        release_mechanism(Loaded(held), 1, **charge)
    assert len(list(ledger.entries())) == before
    first = release_mechanism(Loaded(held), 1, parameters={"version": 1}, **charge)
    assert release_mechanism(Loaded(held), 1, parameters={"version": 1}, **charge) == first
    with pytest.raises(RequestConflict):
        release_mechanism(Loaded(held), 1, parameters={"version": 2}, **charge)
    release_mechanism(Loaded(held), 1)  # without a ledger nothing is bound


class Slotted:
    __slots__ = ("__hidden", "shown")

    def __init__(self, shown, hidden):
        self.shown, self.__hidden = shown, hidden


class BelowSlots(Slotted):
    pass


class Undeclared(Loaded):
    """It inherits a dataclass, and keeps more than its fields."""

    def __init__(self, held, more):
        super().__init__(held)
        object.__setattr__(self, "more", more)


class Sequential(Loaded, tuple):
    """A mechanism first, a sequence second."""

    def __init__(self, held):
        object.__setattr__(self, "held", held)

    def __new__(cls, _):
        return tuple.__new__(cls)


class Knob(Loaded):
    scale = 1


def test_all_that_a_mechanism_of_ones_own_holds_is_told_apart():
    pairs = [
        (BelowSlots(1, 2), BelowSlots(2, 2)),
        (BelowSlots(1, 2), BelowSlots(1, 3)),
        (Undeclared(1, 2), Undeclared(1, 3)),
        (Loaded(Undeclared(1, 2)), Loaded(Undeclared(1, 3))),
        (Sequential(1), Sequential(2)),
        (b"x", (120,)),
        (10**5000, 10**5000 + 1),
    ]
    for one, other in pairs:
        assert fingerprint_of(one) == fingerprint_of(one) != fingerprint_of(other)


def test_what_a_class_sets_for_all_its_objects_is_bound(ledger, monkeypatch):
    charge = {"ledger": ledger, "dataset": "d", "request_id": "q"}
    release_mechanism(Knob(), 1, **charge)
    monkeypatch.setattr(Knob, "scale", 2)
    with pytest.raises(RequestConflict):
        release_mechanism(Knob(), 1, **charge)


def test_classes_that_a_function_makes_cant_be_told_apart(ledger):
    def made(value):
        class Made(Loaded):
            def draw(self, truth, size=None, source=None):  # noqa: ARG002
                return value

        return Made()

    with pytest.raises(BadParameter, match="parameters="):
        release_mechanism(made(1), 1, ledger=ledger, dataset="d", request_id="q")
    assert ledger.left("d", "anyone").epsilon == 1000


STRANGE = {
    "date": date(2020, 1, 1),
    "decimal": Decimal(1),
    "bytes": b"a",
    "complex": 1j,
    "long": 10**5000,
    "inside": (1, date(2020, 1, 1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("charged", [True, False])
def test_labels_that_cant_be_recorded_are_refused_before_anything_is_spent(ledger, kind, charged):
    label = STRANGE[kind]
    charge = {"ledger": ledger, "dataset": "d", "request_id": "q"} if charged else {}
    asks = [
        lambda: combinatorial.min_cut([("a", "b")], 1, nodes=["a", "b", label], **charge),
        lambda: combinatorial.min_cut([("a", "b")], 1, "1e-6", nodes=["a", "b", label], **charge),
        lambda: combinatorial.vertex_cover([("a", "b")], 1, nodes=["a", "b", label], **charge),
        *(
            partial(release_mechanism, mechanism, truth, parameters={"version": 1}, **charge)
            for mechanism, truth in [
                (PermuteAndFlip(1, ["a", label]), [1, 0]),
                (RandomizedResponse(1, ["a", label]), "a"),
            ]
        ),
    ]
    for ask in asks:
        with pytest.raises((BadChannel, BadParameter)):
            ask()
    assert ledger.left("d", "anyone").epsilon == 1000


def test_nodes_of_any_kind_come_back_as_they_are(ledger):
    nodes = [0, "0", 2.5, None, (1, "x"), (2, "y"), Fraction(1, 3)]
    order = combinatorial.vertex_cover([(0, "0")], 1, nodes=nodes, ledger=ledger, dataset="d").value
    assert sorted(map(repr, order)) == sorted(map(repr, nodes))
    pairs = [(i, j) for i in range(2) for j in range(2)]
    assert sorted(combinatorial.vertex_cover([(pairs[0], pairs[1])], 1, nodes=pairs).value) == pairs
    for names in (nodes, [10, 20, 30, 40, 50], list("abcde"), 5):
        listed = names if isinstance(names, list) else range(names)
        edges = [(listed[1], listed[4]), (listed[4], listed[0])]
        order = combinatorial.vertex_cover(edges, 1, nodes=names).value
        cover = set(combinatorial.decode(order, edges))
        assert all(one in cover or other in cover for one, other in edges)


def test_values_of_any_kind_are_told_apart():
    values = [
        None, False, 0, 0.0, -0.0, Fraction(1, 2), 0.5, "0.5", "", (), (0,), (0, 0), ((0,), 0), {0}, {0: 1}, {0: None},
        {"a": 1, "b": 2}, {"a": 2, "b": 1}, range(3), range(4), np.zeros(2), np.ones(2), np.zeros((2, 1)),
        np.zeros(2, dtype=int), np.array([1, None], dtype=object), np.array(["a"]), b"x",
        Loaded(1), Loaded(1.0), Loaded("1"), Stateless(),
        ln.graphs.path(3), ln.graphs.path(4), ln.Channel([[1, 0], [0, 1]]), ln.Channel([[0, 1], [1, 0]]),
        ln.Channel([[1, 0], [0, 1]], inputs="ab"),
    ]  # fmt: skip
    prints = [fingerprint_of(value) for value in values]
    assert len(set(prints)) == len(values)
    assert fingerprint_of({"b": 2, "a": 1}) == fingerprint_of({"a": 1, "b": 2})
    endless = []
    endless.append(endless)
    with pytest.raises(BadParameter):
        fingerprint_of(endless)


def seeded_draw():
    source = SeededSource(7)
    return lambda answer: Geometric(1).draw(answer, source=source)


class Disguised(SystemSource):
    """A subclass may give any bits."""


HIDDEN = {
    "itself": SeededSource(7),
    "in a list": [[SeededSource(7)]],
    "in a dict": {"a": {"source": SeededSource(7)}},
    "in an array": np.array([SeededSource(7)], dtype=object),
    "in another mechanism": Loaded(SeededSource(7)),
    "in a partial": partial(Geometric(1).draw, source=SeededSource(7)),
    "in a closure": seeded_draw(),
    "as a method": SeededSource(7).words,
    "in a default": lambda source=SeededSource(7): source,  # noqa: B008
    "disguised": Disguised(),
}


@pytest.mark.parametrize("held", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("charged", [True, False])
def test_a_mechanism_that_holds_a_predictable_source_is_refused(ledger, held, charged):
    charge = {"ledger": ledger, "dataset": "d"} if charged else {}
    before = len(list(ledger.entries()))
    with pytest.raises(InsecureSource):
        release_mechanism(Loaded(held), 1, parameters={"version": 1}, **charge)
    assert len(list(ledger.entries())) == before
    release_mechanism(Loaded(SystemSource()), 1, **charge)


@pytest.mark.slow
def test_no_argument_of_a_release_takes_a_source_or_another_draw():
    asks = [partial(release_mechanism, Geometric(1), 3)]
    asks += [partial(ask, **parameters) for ask, parameters, _ in COMBINATORIAL.values()]
    for ask in asks:
        for name in ("source", "draw"):
            with pytest.raises(TypeError, match=name):
                ask(**{name: SeededSource(7)})
    with pytest.raises(InsecureSource):
        Geometric(1).release(3, source=SeededSource(7))
    with pytest.raises(InsecureSource):
        ln.design("path:4", "ln(2)").release(1, source=SeededSource(7))


def test_what_overrides_release_does_not_choose_the_source(ledger):
    class Sly(Loaded):
        def release(self, answer, source=None):  # noqa: ARG002 - the attack
            return self.draw(answer, source=SeededSource(7))

        def draw(self, truth, size=None, source=None):
            assert type(source) is SystemSource
            return super().draw(truth, size, source)

    charge = {"ledger": ledger, "dataset": "d", "parameters": {"version": 1}}
    assert release_mechanism(Sly(), 1, **charge).value in (0, 1)


TUCKED_AWAY = SeededSource(7)


class Made(Loaded):
    def draw(self, truth, size=None, source=None):  # noqa: ARG002 - the attack
        return super().draw(truth, size, SeededSource(7))


class Global(Loaded):
    def draw(self, truth, size=None, source=None):  # noqa: ARG002 - the attack
        return super().draw(truth, size, TUCKED_AWAY)


@pytest.mark.parametrize("kind", [Made, Global])
def test_a_draw_that_finds_a_seeded_source_elsewhere_gives_no_answer(ledger, kind):
    with pytest.raises(EngineFailure):
        release_mechanism(kind(), 1, ledger=ledger, dataset="d")
    with pytest.raises(EngineFailure):
        release_mechanism(kind(), 1)
    assert kind().draw(1) in (0, 1)  # outside of a release it may


def test_a_source_whose_bits_were_replaced_is_not_used():
    def words(*_):
        raise AssertionError("predictable bits were used")

    rigged = SystemSource()
    rigged.words = rigged.bits = words
    assert isinstance(Geometric("1/100").release(0, source=rigged), int)


def test_only_what_reports_progress_takes_one(ledger):
    with pytest.raises(BadParameter, match="no progress"):
        release_mechanism(Geometric(1), 3, progress=print, ledger=ledger, dataset="d")
    assert ledger.left("d", "anyone").epsilon == 1000
