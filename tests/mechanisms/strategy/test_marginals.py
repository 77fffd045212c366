"""Marginal tables: the closed form against the big table written out, agreement, privacy, certificates."""

import dataclasses
import json
from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
import pytest

import leastnoise as ln
from leastnoise.errors import BadCertificate, BadParameter, LeastNoiseError, TooLarge
from leastnoise.exact import SeededSource
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.mechanisms.strategy import (
    ExplicitWorkload,
    MarginalsMechanism,
    PureMarginalsMechanism,
    plan_marginals,
    plan_strategy,
    shared_price,
)
from leastnoise.model.certificate import Certificate
from leastnoise.model.marginals import MarginalStrategy
from leastnoise.model.strategy_certificates import MarginalsCertificate

RNG = np.random.default_rng(8)
ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
CASES = [
    ((2,), [(0,)]),
    ((3, 2), [(0,), (1,)]),
    ((3, 2), [(), (0, 1)]),
    ((2, 3, 2), [(0, 1), (1, 2)]),
    ((2, 3, 2), [(0, 1, 2), (0,)]),
    ((2, 1, 3), [(0, 1), (1, 2)]),
]


def written_out(sizes, tables):
    """One row for each cell of each table, one column for each cell of the big table."""
    cells = list(product(*(range(size) for size in sizes)))
    return [
        [int(all(cell[i] == value for i, value in zip(table, chosen, strict=True))) for cell in cells]
        for table in tables
        for chosen in product(*(range(sizes[i]) for i in table))
    ]


def measured(mechanism):
    """The matrix that is applied to the big table, one row for each number released, in steps of its grid."""
    sizes = mechanism.strategy.sizes
    columns = []
    for place in range(prod(sizes)):
        big = np.zeros(prod(sizes), dtype=object)
        big[place] = 1
        columns.append(np.concatenate([part.ravel() for part in mechanism.measure(flat(tables_of(big, mechanism)))]))
    return np.array(columns).T


def tables_of(big, mechanism):
    sizes = mechanism.strategy.sizes
    shaped = np.asarray(big).reshape(sizes)
    return [
        np.asarray(shaped.sum(axis=tuple(i for i in range(len(sizes)) if i not in table)))
        for table in mechanism.strategy.tables
    ]


def flat(tables):
    return np.concatenate([table.ravel() for table in tables])


@pytest.mark.parametrize(("sizes", "tables"), CASES)
def test_the_least_error_is_that_of_the_big_table_written_out(sizes, tables):
    """The search for the best strategy, which knows nothing of marginals, finds the same error and bound."""
    for weights in (None, [Fraction(int(w), 2) for w in RNG.integers(1, 6, len(tables))]):
        plan = plan_marginals(sizes, tables, weights)
        ones = weights or [Fraction(1)] * len(tables)
        each = [w for w, t in zip(ones, tables, strict=True) for _ in range(prod(sizes[i] for i in t))]
        found = plan_strategy(ExplicitWorkload(written_out(sizes, tables)), weights=each)
        assert abs(plan.error("total") / found.error - 1) < Fraction(1, 10**5)
        assert plan.bound("total") <= plan.error("total") <= plan.bound("total") * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize("goal", ["total", "largest"])
@pytest.mark.parametrize(("sizes", "tables"), CASES)
def test_privacy_and_error_are_those_of_what_is_measured(sizes, tables, goal):
    """Exact least squares with the matrix and the variances of the mechanism itself."""
    plan = plan_marginals(sizes, tables, goal=goal)
    mechanism = MarginalsMechanism(plan, "1/3", rows=3)
    matrix = RationalMatrix([[Fraction(int(e)) for e in row] for row in measured(mechanism)])
    variances = [v for block in mechanism.blocks for v in block.variances()]
    information = matrix.transposed() @ matrix.scaled_rows([1 / v for v in variances])
    diagonal = {information.rows[i][i] for i in range(prod(sizes))}
    assert diagonal == {mechanism.mu_squared / 9}  # one cell with three rows
    asked = RationalMatrix(written_out(sizes, tables))
    solved = information.solve(asked.transposed())
    assert solved is not None
    errors = [(asked @ solved).rows[k][k] for k in range(asked.shape[0])]
    stated = [
        error
        for table, error in zip(mechanism.strategy.tables, mechanism.squared_errors(), strict=True)
        for _ in range(prod(sizes[i] for i in table))
    ]
    assert all(e <= s <= e * (1 + Fraction(1, 10**9)) for e, s in zip(errors, stated, strict=True))
    assert ln.check(mechanism.certificate())
    assert ln.check(MarginalsMechanism(plan, 1, 2, 3).certificate())


@pytest.mark.slow
@pytest.mark.parametrize("groups", [2, 3, 5])
@pytest.mark.parametrize(("sizes", "tables"), CASES)
def test_no_unit_in_several_cells_moves_more_than_is_paid_for(sizes, tables, groups):
    """All sets of cells, with the matrix and the variances of the mechanism itself, and all signs of a change."""
    plan = plan_marginals(sizes, tables, groups=groups)
    mechanism = MarginalsMechanism(plan, "1/3", groups, 3)
    matrix = RationalMatrix([[Fraction(int(e)) for e in row] for row in measured(mechanism)])
    variances = [v for block in mechanism.blocks for v in block.variances()]
    rows = (matrix.transposed() @ matrix.scaled_rows([1 / v for v in variances])).rows
    worst = Fraction(0)
    for cells in combinations(range(prod(sizes)), min(groups, prod(sizes))):
        for signs in product((3, -3), repeat=len(cells) - 1):
            moved = list(zip(cells, (3, *signs), strict=True))
            worst = max(worst, sum(a * b * rows[i][j] for i, a in moved for j, b in moved))
    assert worst <= mechanism.mu_squared
    best = MarginalsMechanism(plan_marginals(sizes, tables), "1/3", groups, 3)
    assert sum(mechanism.squared_errors()) > 0
    assert mechanism.error().expected.upper <= best.error().expected.upper * (1 + Fraction(1, 10**9))


def test_units_in_several_cells_of_small_tables_cost_less_than_as_often_as_they_are_there():
    """Noise on nine cells: g cells change g of them, and not one of them g times."""
    cells = MarginalStrategy((3, 3), ((0, 1),), (1,), (9, 3, 3, 1))
    for g, moved in ((1, 4), (2, 8), (5, 20), (9, 36), (50, 36)):
        assert moved <= cells.privacy_of(g, 2) <= moved * (1 + Fraction(1, 2**100))
    beside = MarginalStrategy((3, 3, 2), ((0, 1),), (1,), (9, 3, 3, 1))  # two cells may be one of these nine
    for g, moved in ((1, 1), (2, 4), (4, 8)):
        assert moved <= beside.privacy_of(g, 1) <= moved * (1 + Fraction(1, 2**100))
    wide = plan_marginals((2,) * 15, list(combinations(range(15), 2)))
    assert wide.privacy_of(3, 2) == 36 * wide.privacy  # too many kinds of pairs to look at
    near = plan_marginals((10, 10), [(0, 1), (0,), (1,), ()], groups=10)
    one = plan_marginals((10, 10), [(0, 1), (0,), (1,), ()])
    assert near.error("total", 10) < one.error("total", 10) * Fraction(7, 10) < 100 * one.error("total") / 5


@pytest.mark.parametrize(("sizes", "tables"), CASES)
def test_without_noise_the_tables_are_the_truth(sizes, tables):
    mechanism = MarginalsMechanism(plan_marginals(sizes, tables), 1)
    truth = tables_of(RNG.integers(0, 10**6, prod(sizes)), mechanism)
    exact = np.concatenate([part.ravel() for part in mechanism.measure(flat(truth))])
    grid = Fraction(prod(sizes) << 4, 1 << 64)
    for found, true in zip(mechanism.tables(exact), truth, strict=True):
        assert all(abs(a - int(b)) <= grid for a, b in zip(found.ravel(), true.ravel(), strict=True))


@pytest.mark.slow
def test_all_sums_agree_exactly_and_errors_are_the_stated_ones():
    sizes, tables = (4, 3, 2), [(0, 1), (1, 2), (0,), ()]
    mechanism = MarginalsMechanism(plan_marginals(sizes, tables), "1/9", groups=2)
    truth = tables_of(RNG.integers(0, 50, 24), mechanism)
    drawn = mechanism.draw(flat(truth), size=800, source=SeededSource(3))
    squares, within = [[] for _ in tables], [[] for _ in tables]
    reach = [float(half) for half in mechanism.half_widths()]
    for row in drawn:
        first, second, third, total = mechanism.tables(row)
        assert (first.sum(axis=0) == second.sum(axis=1)).all()
        assert (first.sum(axis=1) == third).all()
        assert third.sum() == total[()]
        for k, (found, true) in enumerate(zip((first, second, third, total), truth, strict=True)):
            off = float((found.ravel() - true.ravel())[0])
            squares[k].append(off**2)
            within[k].append(abs(off) <= reach[k])
    for k, stated in enumerate(mechanism.squared_errors()):
        assert abs(np.mean(squares[k]) / float(stated) - 1) < 6 * (2 / 800) ** 0.5
        assert abs(np.mean(within[k]) - 0.95) < 6 * (0.95 * 0.05 / 800) ** 0.5


@pytest.mark.parametrize(("sizes", "tables"), CASES)
def test_laplace_noise_on_all_tables_is_made_to_agree_by_exact_least_squares(sizes, tables):
    mechanism = PureMarginalsMechanism(sizes, tables, 1, groups=2, rows=3)
    (noise,) = set(mechanism.noises)
    assert (noise.sensitivity, noise.epsilon) == (6, mechanism.epsilon / len(tables))
    matrix = RationalMatrix(written_out(sizes, tables))
    solved = (matrix.transposed() @ matrix).solve(matrix.transposed())
    projection = matrix @ solved
    released = [int(y) for y in RNG.integers(-50, 50, matrix.shape[0])]
    found = [x for table in mechanism.tables(released) for x in table.ravel()]
    exact = (projection @ RationalMatrix([[y] for y in released])).rows
    assert found == [row[0] for row in exact]
    errors = [e for e, t in zip(mechanism.squared_errors(), tables, strict=True) for _ in range(cells_of(sizes, t))]
    assert errors == [projection.rows[k][k] * noise.moment(2).upper for k in range(len(errors))]
    assert mechanism.reason().lower_bound.upper <= mechanism.error().expected.upper


def cells_of(sizes, table):
    return prod(sizes[i] for i in table)


SPLIT = [
    ((3, 2), [(0,), (1,)], {(0,): 3, (1,): 2}),
    ((3, 2), [(0, 1), (0,), ()], {(0, 1): 1}),
    ((2, 3, 2), [(0, 1), (1, 2)], {(0, 1): 5, (1, 2): 1, (1,): 2}),
    ((2, 1, 3), [(0, 1), (1, 2), (2,)], {(): 1, (0, 1): 7, (1, 2): 4}),
]


@pytest.mark.parametrize(("sizes", "tables", "parts"), SPLIT)
def test_parts_of_a_pure_price_give_unbiased_tables_with_the_stated_errors(sizes, tables, parts):
    """The linear map from what is released to the tables, entry by entry."""
    mechanism = PureMarginalsMechanism(sizes, tables, "3/2", groups=2, rows=3, parts=parts)
    rates = [noise.rate for noise in mechanism.noises]
    assert sum(rates) * 6 == Fraction(3, 2)  # one unit changes each measured table by six
    assert [rate / rates[0] for rate in rates] == [Fraction(p, next(iter(parts.values()))) for p in parts.values()]
    units = np.eye(mechanism.dimension, dtype=int)
    columns = [[x for table in mechanism.tables(unit) for x in table.ravel()] for unit in units]
    solved, measured = RationalMatrix(columns).transposed(), RationalMatrix(written_out(sizes, list(parts)))
    assert (solved @ measured).rows == RationalMatrix(written_out(sizes, tables)).rows
    variances = [noise.moment(2).upper for noise in mechanism.cell_noises]
    errors = [sum(a * a * v for a, v in zip(row, variances, strict=True)) for row in solved.rows]
    stated = [e for e, t in zip(mechanism.squared_errors(), tables, strict=True) for _ in range(cells_of(sizes, t))]
    assert errors == stated
    if len(parts) > 1:
        pairs = zip(tables, mechanism._coefficients, strict=True)
        bounds = [one for table, one in pairs for _ in range(cells_of(sizes, table))]
        for row, (largest, place) in zip(solved.rows, bounds, strict=True):
            most = largest**2 * mechanism.noises[place].moment(2).upper
            assert all(abs(a) <= largest for a in row)
            assert all(a * a * v <= most * (1 + Fraction(1, 2**50)) for a, v in zip(row, variances, strict=True))
    places = [place for place, count in enumerate(mechanism._counts) for _ in range(count)]
    terms = [each for table, each in zip(tables, mechanism._terms, strict=True) for _ in range(cells_of(sizes, table))]
    for row, kinds in zip(solved.rows, terms, strict=True):
        listed = [(int(place), size) for place, size, count in kinds.T for _ in range(int(count))]
        assert np.allclose(sorted(listed), sorted(zip(places, map(abs, map(float, row)), strict=True)), 1e-12, 1e-14)
    truth = RNG.integers(0, 40, prod(sizes)).reshape(sizes)
    asked = flat([truth.sum(axis=tuple(i for i in range(len(sizes)) if i not in table)) for table in tables])
    found = [x for table in mechanism.tables(mechanism.measure(asked)) for x in table.ravel()]
    assert found == list(asked)


@pytest.mark.slow
def test_intervals_of_a_split_price_hold_what_they_promise():
    sizes, tables = (6, 4, 2), [(0, 1), (1, 2), (0,)]
    mechanism = PureMarginalsMechanism(sizes, tables, 1, parts=shared_price(sizes, tables))
    drawn = mechanism.draw([0] * 38, size=2000, source=SeededSource(11))
    first = [[float(table.ravel()[0]) for table in mechanism.tables(row)] for row in drawn]
    for k, (error, half) in enumerate(zip(mechanism.squared_errors(), mechanism.half_widths(), strict=True)):
        off = np.array([row[k] for row in first])
        assert abs(np.mean(off**2) / float(error) - 1) < 6 * (5 / 2000) ** 0.5
        outside = np.mean(np.abs(off) > float(half))
        assert outside <= 0.05 + 6 * (0.05 * 0.95 / 2000) ** 0.5
        assert half**2 < 20 * error  # shorter than by Chebyshev's inequality
        assert np.mean(np.abs(off) > 0.9 * float(half)) > 0.05  # and hardly longer than it must be


@pytest.mark.parametrize("goal", ["total", "largest"])
@pytest.mark.parametrize("weights", [None, [1, 9, 1]])
def test_a_split_price_beats_equal_parts(goal, weights):
    sizes, tables = (40, 20, 3), [(0, 1), (0, 2), (1, 2)]
    read = None if weights is None else [Fraction(weight) for weight in weights]
    both = [PureMarginalsMechanism(sizes, tables, 1, parts=p) for p in (None, shared_price(sizes, tables, read, goal))]
    ones = read or [Fraction(1)] * 3
    equal, split = (
        max(w * e for w, e in zip(ones, one.squared_errors(), strict=True))
        if goal == "largest"
        else sum(w * cells_of(sizes, t) * e for w, t, e in zip(ones, tables, one.squared_errors(), strict=True))
        for one in both
    )
    assert split < equal * (Fraction(9, 10) if goal == "total" else Fraction(99, 100))


def test_adult_at_a_pure_price():
    """Equal parts have 125.6; a search in all of these dimensions by L-BFGS finds 74.826 (for variances 2/θ²)."""
    tables = list(combinations(range(14), 2))
    mechanism = PureMarginalsMechanism(ADULT, tables, 1, parts=shared_price(ADULT, tables))
    cells = sum(prod(ADULT[i] for i in table) for table in tables)
    assert float(mechanism.error().expected.upper / cells) ** 0.5 < 74.83


def test_parts_that_are_none_are_refused():
    for parts in ({(0, 1): 1}, {(0,): 1}, {(0,): 1, (1,): 0}, {(0,): 1, (1,): 1.5}, {}, {(0,): 1, (1,): 1, (2,): 1}):
        with pytest.raises(BadParameter):
            PureMarginalsMechanism((2, 3), [(0,), (1,)], 1, parts=parts)


@pytest.mark.slow
@pytest.mark.parametrize(("most", "least", "expected"), [(2, 2, 6.359), (3, 0, 10.665)])
def test_tables_of_adult(most, least, expected):
    tables = [table for k in range(least, most + 1) for table in combinations(range(14), k)]
    plan = plan_marginals(ADULT, tables)
    cells = sum(prod(ADULT[i] for i in table) for table in tables)
    assert abs(float(plan.error("total") / cells) ** 0.5 / expected - 1) < 1e-4
    assert plan.error("total") / plan.bound("total") - 1 < Fraction(1, 10**15)
    largest = plan_marginals(ADULT, tables, goal="largest")
    assert max(largest.cell_errors) * largest.privacy < max(plan.cell_errors) * plan.privacy
    assert largest.error("largest") / largest.bound("largest") - 1 < Fraction(1, 10**5)


def test_every_tampered_entry_is_refused():
    for goal in ("total", "largest"):
        certificate = MarginalsMechanism(plan_marginals((2, 3), [(0,), (0, 1)], [1, 2], goal), 1, 2, 3).certificate()
        text = certificate.to_json()
        assert Certificate.from_json(text) == certificate
        assert ln.check(certificate)
        data = json.loads(text)
        for name, value in data.items():
            if name in ("format", "version", "claim", "digest"):
                continue
            changes = [(name, k) for k in range(len(value))] if isinstance(value, list) else [(name,)]
            for path in changes:
                forged = json.loads(text)
                place, key = (forged, name) if len(path) == 1 else (forged[name], path[1])
                place[key] = _changed(place[key])
                with pytest.raises(LeastNoiseError):
                    Certificate.from_json(json.dumps(forged))
                try:
                    read = MarginalsCertificate.of_fields(forged)  # whoever forges may write the digest anew
                except (LeastNoiseError, ValueError):
                    continue
                assert not ln.check(read), path
        for path in (("digest",), ("tables", 0), ("weights", 0)):  # also a change after which all claims hold
            forged = json.loads(text)
            if path == ("digest",):
                forged["digest"] = forged["digest"][::-1]
            else:
                forged[path[0]].reverse()
            with pytest.raises(LeastNoiseError):
                Certificate.from_json(json.dumps(forged))


def _changed(value):
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return value[1:]
    return str(Fraction(value) + Fraction(1, 7)) if value[-1].isdigit() else value + "x"


def test_strategies_that_are_none_are_refused():
    good = MarginalStrategy((2, 3), ((0,), (1,)), (1, 1), (1, 1, 1))
    bad = {
        "sizes": [(), (0, 3), (2.5, 3), "23"],
        "tables": [(), ((0,), (0,)), ((1, 0),), ((5,),), ((-1,),), (("a",),)],
        "weights": [(1,), (-1, 1), (0, 0), (0.5, 1)],
        "variances": [(1, 1), (0, 1, 1), (-1, 1, 1), (1.5, 1, 1)],
        "table_weights": [(1,), (-1, 1), (0, 0)],
    }
    for name, values in bad.items():
        for value in values:
            with pytest.raises(BadCertificate):
                dataclasses.replace(good, **{name: value})


def test_bad_arguments_are_refused():
    for tables in ([], [(0,), (0,)], [(7,)], [(-1,)], ["a"]):
        with pytest.raises(BadParameter):
            plan_marginals((2, 3), tables)
    with pytest.raises(BadParameter):
        plan_marginals((2, 3), [(0,)], goal="best")
    with pytest.raises(BadParameter):
        plan_marginals((2, 3), [(0,)], weights=[1, 2])
    with pytest.raises(TooLarge):
        plan_marginals((10**5, 10**5), [(0, 1)])
    with pytest.raises(BadParameter, match="grid"):
        MarginalsMechanism(plan_marginals((2,), [(0,)]), 10**6, grid=0)


def test_noise_that_surely_is_not_drawn_has_intervals_of_no_width():
    quiet = PureMarginalsMechanism((3, 2), [(0,), (1,), (0, 1)], 10**6, parts={(0, 1): 5, (0,): 1})
    assert set(quiet.half_widths()) == {0}
    assert min(PureMarginalsMechanism((3, 2), [(0,), (1,)], 5).half_widths(Fraction(999, 1000))) > 0


@pytest.mark.parametrize(("sizes", "tables"), CASES)
def test_on_the_coarser_grid_of_many_cells_a_unit_costs_the_same(sizes, tables, monkeypatch):
    monkeypatch.setattr("leastnoise.mechanisms.strategy.marginals.MOST_LISTED_CELLS", 0)
    mechanism = MarginalsMechanism(plan_marginals(sizes, tables), "1/3", rows=3)
    variances = [v for block in mechanism.blocks for v in block.variances()]
    assert 2**20 <= min(variances, default=2**20) < 2**23
    assert information_of(mechanism) == {mechanism.mu_squared / 9}


@pytest.mark.parametrize(("sizes", "tables"), CASES)
def test_a_long_factor_is_rounded_to_more_noise(sizes, tables, monkeypatch):
    """Of hundreds of interactions the exact factor has thousands of digits."""
    monkeypatch.setattr("leastnoise.mechanisms.strategy.marginals._LONGEST_FACTOR", 0)
    mechanism = MarginalsMechanism(plan_marginals(sizes, tables), "1/3", rows=3)
    (cost,) = information_of(mechanism)
    assert (1 - Fraction(1, 2**127)) * mechanism.mu_squared / 9 <= cost <= mechanism.mu_squared / 9
    every = MarginalsMechanism(plan_marginals(ADULT, [c for k in range(4) for c in combinations(range(14), k)]), 1)
    assert every._factor.denominator.bit_length() <= 2048 < every.strategy.privacy.denominator.bit_length()
    assert every.strategy.privacy <= every._factor <= every.strategy.privacy * (1 + Fraction(1, 2**127))
    assert abs(float(every.strategy.error("total") / 21_043_262) ** 0.5 - 10.6650) < 1e-4


def information_of(mechanism):
    """What one row in one cell costs, in squared standard deviations: all different values."""
    matrix = RationalMatrix([[Fraction(int(e)) for e in row] for row in measured(mechanism)])
    variances = [v for block in mechanism.blocks for v in block.variances()]
    information = matrix.transposed() @ matrix.scaled_rows([1 / v for v in variances])
    return {information.rows[i][i] for i in range(information.shape[0])}


@pytest.mark.parametrize("tables", [[(0, 1), (1, 2), (0, 1, 2)], [(0, 1, 2)]])
@pytest.mark.parametrize("size", [1, 2**20, 2**31, 2**43, 2**62, 2**63 - 1, 2**70])
def test_measurements_of_any_counts_are_exact(size, tables):
    """In 64 bits where they fit, in Python's integers where not: the same numbers."""
    sizes = (5, 4, 3)
    mechanism = MarginalsMechanism(plan_marginals(sizes, tables), 1)
    signs = RNG.choice([-1, 1], 60).astype(object)
    for big in (signs * size, np.full(60, size, dtype=object), np.arange(60).astype(object) * (size // 60 + 1)):
        truth = flat(tables_of(big, mechanism))
        narrow = truth.astype(np.int64) if max(map(abs, truth)) < 2**63 else truth
        found = [part.ravel().tolist() for part in mechanism.measure(narrow)]
        plain = [contrasts_of(big.reshape(sizes), block) for block in mechanism.blocks]
        assert found == plain


def contrasts_of(big, block):
    """The definition, entry by entry: products of h_k along each column of the interaction, ones along the others."""
    found = []
    for ks in product(*(range(1, size + 1) for size in block.shape)):
        total = 0
        for cell in np.ndindex(big.shape):
            weight = 1
            for k, column in zip(ks, block.part, strict=True):
                weight *= 1 if cell[column] < k else -k if cell[column] == k else 0
            total += weight * int(big[cell])
        found.append(total << block.bits)
    return found


@pytest.mark.parametrize("largest", [10, 2**30, 2**52, 2**62, 2**90])
@pytest.mark.parametrize(("sizes", "tables"), [*CASES, ((30, 20), [(0, 1), (0,), ()])])
def test_tables_in_doubles_are_as_near_to_the_exact_ones_as_they_say(sizes, tables, largest):
    mechanism = MarginalsMechanism(plan_marginals(sizes, tables), 1)
    for spread in (1.0, 40.0):  # numbers of one size, and of very different ones
        drawn = [int(largest * 2 ** (-spread * RNG.random()) * RNG.choice([-1, 1])) for _ in range(mechanism.dimension)]
        released = np.array(drawn, dtype=object)
        for exact, (doubles, off) in zip(mechanism.tables(released), mechanism.double_tables(released), strict=True):
            pairs = list(zip(exact.ravel(), doubles.ravel().tolist(), strict=True))
            grid = Fraction(exact.size << len(sizes), 1 << 64)  # of the exact ones
            assert max(abs(Fraction(found) - true) for true, found in pairs) <= Fraction(off) + grid
            assert off < 2.0**-40 * max(abs(float(true)) for true, _ in pairs) * exact.size + 2.0**-30


@pytest.mark.parametrize(("sizes", "tables"), [((2,), [()]), ((4,), [(0,)]), ((4, 3), [(0, 1), (0,)])])
def test_intervals_hold_also_where_rounding_is_a_part_of_the_noise(sizes, tables):
    """On the coarsest grid there is each interval holds its cell as often as it says; six deviations are 1e-9."""
    plan = plan_marginals(sizes, tables)
    mechanism = MarginalsMechanism(plan, 4 * min(plan.variances) * plan.privacy, grid=0)
    assert min(block.base for block in mechanism.blocks) == Fraction(1, 4)
    draws, truth = 3_000, flat(tables_of(np.zeros(prod(sizes), dtype=np.int64), mechanism))
    drawn = mechanism.draw(truth, size=draws, source=SeededSource(11))
    for level in (Fraction(1, 2), Fraction(19, 20), Fraction(99, 100)):
        halves = mechanism.half_widths(level)
        inside = [np.zeros([sizes[i] for i in table]) for table in mechanism.strategy.tables]
        for release in drawn:
            for count, (table, _), half in zip(inside, mechanism.double_tables(release), halves, strict=True):
                count += np.abs(table) <= float(half)
        allowed = 6 * (float(level * (1 - level)) * draws) ** 0.5
        assert min(count.min() for count in inside) >= draws * level - allowed
