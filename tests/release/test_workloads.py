"""Linear workloads and hierarchies through the whole release: which answers, how far off, that they agree, ranges."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.composition.cost import pure_within
from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.mechanisms import PrefixSums, PureStrategyMechanism, StrategyMechanism
from leastnoise.mechanisms.strategy import plan_pure_strategy
from leastnoise.model import Sensitivity
from leastnoise.model.privacy import Privacy
from leastnoise.release.queries.workload_problem import WorkloadProblem
from support.people import SURE
from support.statistics import ALPHA

AGES = [int(age) for age in np.random.default_rng(5).integers(0, 64, 500)]
PRECISE = Privacy(mu=1000, insist=True)
TREE = {"North": {"Kent": [0, 1, 2], "Essex": [3, 4]}, "South": {"Devon": [5, 6, 7]}}


@pytest.fixture
def ages(tmp_path):
    table = pa.table({"age": pa.array(AGES, pa.int64())})
    with ln.open(table, name="ages", budget=Privacy(mu=10**4, insist=True), ledger=tmp_path / "ledger") as dataset:
        yield dataset


@pytest.mark.slow
@pytest.mark.parametrize(("price", "kind"), [(Privacy(1), PureStrategyMechanism), (Privacy(rho=1), StrategyMechanism)])
def test_many_prefix_sums_are_answered_by_a_strategy_with_a_certificate(ages, price, kind):
    plan = ages.workload("prefix sums", by="age", keys=range(64)).plan(price)
    assert isinstance(plan.mechanism, kind)
    assert any("proven" in note for note in plan.notes)
    assert ln.check(plan.mechanism.certificate())
    others = [option for option in plan.options if "cells" in option.mechanism.name]
    assert all(plan.options[0].expected.upper < other.expected.upper for other in others)


@pytest.mark.parametrize("goal", ["total", "largest"])
@pytest.mark.parametrize("groups", [1, 3])
def test_laplace_noise_is_left_out_only_where_it_is_proven_to_be_worse(goal, groups):
    left_out = []
    for price in (Privacy(mu="1/2"), Privacy(1, "1e-6"), Privacy(4, "1e-12"), Privacy(1, "1e-30")):
        problem = WorkloadProblem(PrefixSums(24), price, Sensitivity(groups, 2, ""), goal=goal)
        offered = {type(mechanism): mechanism for mechanism in problem.candidates()}
        left_out.append(PureStrategyMechanism not in offered)
        if left_out[-1]:
            epsilon = pure_within(price)
            plan = plan_pure_strategy(PrefixSums(24), epsilon=epsilon, goal=goal, groups=groups, rows=2)
            assert PureStrategyMechanism(plan, epsilon).expected_square > offered[StrategyMechanism].expected_square
    assert left_out[0] == (groups == 1)
    assert not left_out[-1]


@pytest.mark.slow
def test_ranges_are_answered_lazily_and_agree(ages):
    release = ages.workload("ranges", by="age", keys=range(64)).release(PRECISE)
    count = Counter(AGES)
    for first, last in ((0, 63), (18, 40), (7, 7)):
        found = release.range(first, last)
        assert found.low <= sum(count[age] for age in range(first, last + 1)) <= found.high
        assert found.low <= found.value <= found.high
    assert release.range(3, 20).value == pytest.approx(release.range(3, 9).value + release.range(10, 20).value)
    listed, lazy = next(row[1:] for row in release.table if row[0] == "18 … 40"), release.range(18, 40)
    assert listed == pytest.approx(tuple(lazy), rel=1e-6)
    wide, narrow = release.range(18, 40, 0.99), release.range(18, 40, 0.5)
    assert wide.high - wide.low > narrow.high - narrow.low
    for ends in ((40, 18), (0, 64), ("a", 3), (None, None)):
        with pytest.raises(BadParameter):
            release.range(*ends)


def test_ranges_of_bins_go_from_edge_to_edge(ages):
    for price in (SURE, PRECISE):
        release = ages.workload("prefix sums", by="age", bins=[0, 18, 40, 64]).release(price)
        truth = sum(18 <= age < 40 for age in AGES)
        assert round(release.range(18, 40).value) == truth
        with pytest.raises(BadParameter, match="edges"):
            release.range(18, 39)
    with pytest.raises(BadParameter, match="ranges"):
        ages.count(by="age", keys=[1, 2]).release("1/10").range(1, 2)


def test_a_thousand_cells_have_half_a_million_ranges_and_a_table_of_cells(ages, monkeypatch):
    monkeypatch.setattr("leastnoise.release.queries.workloads.MOST_CELLS", 100)  # as if there were more answers
    release = ages.workload("ranges", by="age", keys=range(64)).release(PRECISE)
    assert release.table.names == ("age", "value", "low", "high")
    assert [round(value) for value in release.table["value"]] == [Counter(AGES)[age] for age in range(64)]
    assert any("cells" in note for note in release.plan.notes)


def test_a_repeated_request_gives_the_recorded_answers(ages):
    query = ages.workload("ranges", by="age", keys=range(40))
    first, second = (query.release(rho=1, request_id="r") for _ in range(2))
    assert first.table == second.table
    assert first.range(3, 30) == second.range(3, 30)


@pytest.mark.slow
def test_weights_goals_and_targets_move_the_error(ages):
    def errors(**settings):
        plan = ages.workload("prefix sums", by="age", keys=range(32), **settings).plan(rho=1)
        return [float(error) for error in plan.mechanism.squared_errors()]

    plain, worst = errors(), errors(goal="largest")
    assert max(worst) < max(plain)
    assert sum(plain) < sum(worst)
    assert errors(weights=[100] + [1] * 31)[0] < plain[0]
    targets = [1] + [3] * 31
    wanted = errors(targets=targets)
    assert max(e / t**2 for e, t in zip(wanted, targets, strict=True)) < max(
        e / t**2 for e, t in zip(worst, targets, strict=True)
    )
    for settings in (
        {"weights": [1]},
        {"goal": "best"},
        {"targets": [0] * 32},
        {"targets": [1] * 32, "goal": "largest"},
    ):
        with pytest.raises(LeastNoiseError):
            errors(**settings)


def test_all_levels_of_a_hierarchy_agree_and_are_right(ages):
    query = ages.hierarchy(["region", "county", "age"], TREE)
    truth, release = Counter(AGES), query.release(PRECISE)
    found = {row[:4]: row[4] for row in release.table}
    for (level, *path), value in found.items():
        leaves = _leaves(TREE, [key for key in path if key != "*"])
        assert round(value) == sum(truth[leaf] for leaf in leaves), (level, path)
    noisy = {row[:4]: row[4] for row in query.release(rho="1/10").table}
    north, counties = noisy["region", "North", "*", "*"], [noisy["county", "North", c, "*"] for c in ("Kent", "Essex")]
    assert north == pytest.approx(sum(counties))
    assert noisy["all", "*", "*", "*"] == pytest.approx(sum(v for k, v in noisy.items() if k[0] == "age"))
    assert any("by level" in note and "county" in note for note in query.plan(rho=1).notes)
    paths = [(r, c, leaf) for r, counties in TREE.items() for c, leaves in counties.items() for leaf in leaves]
    same = ages.hierarchy(["region", "county", "age"], paths)
    assert same.parameters() == query.parameters()


def _leaves(tree, path):
    for key in path:
        tree = tree[key] if isinstance(tree, dict) else [key]
    return [leaf for below in tree.values() for leaf in _leaves(below, [])] if isinstance(tree, dict) else list(tree)


def test_a_level_that_counts_more_gets_less_noise(ages):
    def region_error(**settings):
        query = ages.hierarchy(["region", "county", "age"], TREE, **settings)
        place = query.answer_keys()["level"].index("region")
        return float(query.plan(rho=1).mechanism.squared_errors()[place])

    assert region_error(weights={"region": 50}) < region_error()


def test_wrong_trees_are_refused(ages):
    levels = ["region", "age"]
    for tree in ({"a": [1, 1]}, {"a": [1], "b": [1]}, {}, {"a": {"b": [1]}}, [("a",)], [("a", 1, 2)], "ab", 3, [3]):
        with pytest.raises(LeastNoiseError):
            ages.hierarchy(levels, tree)
    for wrong in ([], ["age", "age"], "age", [3], None, ["region", "town"]):
        with pytest.raises(LeastNoiseError):
            ages.hierarchy(wrong, {"a": [1]})
    with pytest.raises(LeastNoiseError):
        ages.hierarchy(levels, {"a": [1]}, weights={"county": 1})


@pytest.mark.slow
def test_the_measured_error_is_the_stated_one(ages):
    """A thousand releases: Σ(error²/stated) over one answer is a χ² with a thousand degrees."""
    from scipy.stats import chi2

    plan = ages.workload("ranges", by="age", keys=range(64)).plan(rho=1)
    mechanism, histogram = plan.mechanism, [Counter(AGES)[age] for age in range(64)]
    place = mechanism.workloads[0].place(10, 50)
    stated, truth = mechanism.squared_errors()[place], sum(histogram[10:51])
    drawn = mechanism.draw(histogram, 1000)
    total = sum(float((mechanism.estimates(one).range(10, 50) - truth) ** 2 / stated) for one in drawn)
    low, high = chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], 1000)
    assert low < total < high
    assert not low < 1.5 * total < high  # a third more would be noticed
    assert Fraction(plan.error.expected.upper) ** 2 <= mechanism.expected_square / 2080 * (1 + Fraction(1, 10**9))


@pytest.mark.slow
def test_no_step_moves_a_value_out_of_its_interval(ages):
    release = ages.workload("ranges", by="age", keys=range(40)).release(Privacy(rho=200, insist=True))
    assert any(round(v, -1) < low or round(v, -1) > high for _, v, low, high in release.table)  # rounding alone would
    for changed in (release.rounded(), release.rounded(-1), release.non_negative(), release.non_negative().rounded()):
        assert all(low <= value <= high for _, value, low, high in changed.table)
        assert all(low <= value <= high for _, value, low, high in changed.with_confidence(0.5).table)
