"""The law of each sampler, found by walking the tree of its bits, against its pmf: no simulation, no tolerance."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from leastnoise import exact
from leastnoise.exact import enumerate_law, read_exact
from leastnoise.exact.inversion import InverseTable
from leastnoise.exact.samplers.gaussian import gaussian_law
from leastnoise.exact.samplers.laplace import geometric_tables, head_law, remainder_law
from support.sources import ScriptedSource


def number(text):
    return read_exact(text, "x")


def remainder_pmf(k, rate, modulus):
    """P(R = k) ∝ e^(−rate·k), from the geometric law: P(G = k)/P(G < modulus)."""
    top, bottom = exact.geometric_pmf(k, rate, 128), exact.geometric_cdf(modulus - 1, rate, 128)
    return exact.Enclosure(top.lower / bottom.upper, top.upper / bottom.lower)


SMALL_TABLES = {
    "geometric ln 2": (head_law(number("ln(2)"), 1, False), lambda k: exact.geometric_pmf(k, "ln(2)")),
    "geometric 1": (head_law(number(1), 1, False), lambda k: exact.geometric_pmf(k, 1)),
    "geometric 1/4": (head_law(number("1/4"), 1, False), lambda k: exact.geometric_pmf(k, "1/4")),
    "laplace ln 3": (head_law(number("ln(3)"), 1, True), lambda k: exact.discrete_laplace_pmf(k, rate="ln(3)")),
    "laplace 1": (head_law(number(1), 1, True), lambda k: exact.discrete_laplace_pmf(k, rate=1)),
    "laplace 5": (head_law(number(5), 1, True), lambda k: exact.discrete_laplace_pmf(k, rate=5)),
    "remainder": (remainder_law(number("1/10"), 16), lambda k: remainder_pmf(k, "1/10", 16)),
    "remainder, nearly flat": (remainder_law(number("1e-9"), 8), lambda k: remainder_pmf(k, "1e-9", 8)),
    "gaussian 1": (gaussian_law(number(1)), lambda k: exact.discrete_gaussian_pmf(k, 1)),
    "gaussian 1/10": (gaussian_law(number("1/10")), lambda k: exact.discrete_gaussian_pmf(k, "1/10")),
    "gaussian 9": (gaussian_law(number(9)), lambda k: exact.discrete_gaussian_pmf(k, 9)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL_TABLES)
def test_inversion_follows_its_law_to_the_last_bit(name):
    """Tables of 8 bits, so that the tree can be walked through look-up, refinement and settling."""
    law, pmf = SMALL_TABLES[name]
    table = InverseTable(law, index_bits=8, refine_bits=8)
    undecided = []
    for depth in (8, 16, 24):
        found = enumerate_law(lambda source: int(table.draw(1, source)[0]), depth)
        assert sum(found.masses.values()) + found.undecided == 1
        for outcome in found.masses:
            p = pmf(outcome)
            assert found.agrees_with(outcome, p.lower, p.upper)
        undecided.append(found.undecided)
    assert undecided[0] > undecided[1] > undecided[2] or undecided[-1] == 0
    assert undecided[-1] < Fraction(1, 2**15)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "pmf"),
    [
        (lambda s: exact.uniform_integer(5, source=s), lambda k: exact.uniform_integer_pmf(k, 5)),
        (lambda s: exact.uniform_integer(256, source=s), lambda k: exact.uniform_integer_pmf(k, 256)),
        (lambda s: exact.categorical([1, 0, 2, 3], source=s), lambda k: exact.categorical_pmf(k, [1, 0, 2, 3])),
        (lambda s: exact.categorical(["1/3", 0.5, 2], source=s), lambda k: exact.categorical_pmf(k, ["1/3", 0.5, 2])),
    ],
)
def test_rejection_follows_its_law(draw, pmf):
    found = enumerate_law(draw, 16)
    assert sum(found.masses.values()) + found.undecided == 1
    for outcome, mass in found.masses.items():
        assert mass <= pmf(outcome) <= mass + found.undecided
        # Rejection leaves the accepted outcomes in exact proportion at every depth.
        assert mass / (1 - found.undecided) == pmf(outcome)
    assert found.undecided < Fraction(1, 4)


def test_permutations_are_equally_likely():
    """Keys are 64 bits wide, so the tree is replaced by every order of three keys."""
    orders = [
        tuple(exact.permutation(3, source=ScriptedSource(np.array(keys, dtype=np.uint64))).tolist())
        for keys in permutations((5, 2**40, 2**63))
    ]
    assert sorted(orders) == sorted(permutations(range(3)))
    retried = exact.permutation(2, source=ScriptedSource([7, 7], [9, 3]))
    assert retried.tolist() == [1, 0]


TABLES = {
    "laplace, rate 1": (
        geometric_tables(number(1), True).head,
        lambda k: exact.discrete_laplace_cdf(k, rate=1, bits=128),
    ),
    "laplace, rate 1/100": (
        geometric_tables(number("1/100"), True).head,
        lambda k: exact.discrete_laplace_cdf(k, rate="1/100", bits=128),
    ),
    "laplace, rate ln 3": (
        geometric_tables(number("ln(3)"), True).head,
        lambda k: exact.discrete_laplace_cdf(k, rate="ln(3)", bits=128),
    ),
    "geometric, rate 1/7": (
        geometric_tables(number("1/7"), False).head,
        lambda k: exact.geometric_cdf(k, "1/7", bits=128),
    ),
    "gaussian, variance 50": (
        InverseTable(gaussian_law(number(50))),
        lambda k: exact.discrete_gaussian_cdf(k, 50, bits=128),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_every_cell_of_the_full_table_lies_between_its_thresholds(name):
    """All 65536 first words at once; each open cell refined at its two ends and at random."""
    table, cdf = TABLES[name]
    for script in ("least", "most", "random"):
        source = ScriptedSource(np.arange(1 << 16))
        if script != "random":
            probe = ScriptedSource(np.arange(1 << 16))
            table.draw(1 << 16, probe)
            opened = len(probe.given[1][1])
            source = ScriptedSource(np.arange(1 << 16), np.full(opened, 0 if script == "least" else 2**32 - 1))
        drawn = table.draw(1 << 16, source)
        start = np.arange(1 << 16, dtype=object) << 32
        width = np.full(1 << 16, 1 << 32, dtype=object)
        # What was refined shows in the request that followed: its cells are known to 48 bits.
        refined = np.flatnonzero(np.isin(np.arange(1 << 16), open_cells(table)))
        start[refined] += source.given[1][1].astype(object)
        width[refined] = 1
        settled = [i for i in refined if not decided(cdf, drawn[i], start[i], width[i])]
        assert len(settled) <= 4  # those that needed more than 48 bits
        for i in np.setdiff1d(np.arange(1 << 16), settled)[:: 7 if script == "random" else 1]:
            assert decided(cdf, drawn[i], start[i], width[i]), (name, script, i)


def open_cells(table):
    return np.flatnonzero(table._table == table._open)


def decided(cdf, outcome, start, width, _known={}):  # noqa: B006 - one cache for all cells
    """Whether [start, start + width)·2^-48 lies between P(X < outcome) and P(X ≤ outcome)."""
    outcome = int(outcome)
    for x in (outcome - 1, outcome):
        if (cdf, x) not in _known:
            _known[cdf, x] = cdf(x)
    low, high = Fraction(start, 1 << 48), Fraction(start + width, 1 << 48)
    return _known[cdf, outcome - 1].lower <= low and high <= _known[cdf, outcome].upper


@pytest.mark.parametrize("p", ["1/3", "1/2", "1e-12", "0.999999999999", 0, 1])
@pytest.mark.parametrize("as_array", [False, True])
def test_a_coin_is_heads_exactly_where_its_uniform_is_below_p(p, as_array):
    chance, width = number(p), 64 if as_array else 32
    shift = 11 if as_array else 0
    border = int(chance * 2 ** (width - shift))
    for near in range(max(border - 2, 0), min(border + 3, 2 ** (width - shift))):
        source = ScriptedSource([near << shift])
        heads = bool(exact.bernoulli([p] if as_array else p, None if as_array else 1, source)[0])
        revealed, bits = near, width - shift
        for given_bits, words in source.given[1:]:
            for word in words:
                revealed, bits = (revealed << given_bits) | int(word), bits + given_bits
        low, high = Fraction(revealed, 2**bits), Fraction(revealed + 1, 2**bits)
        assert high <= chance if heads else low >= chance


@pytest.mark.parametrize("rate", ["1", "1/1000", "ln(2)", "37", "1e-9"])
def test_geometric_for_each_rate_inverts_its_uniform(rate):
    """Words on either side of e^(−rate·k): the draw must be the k of the U that was revealed."""
    for k in (1, 2, 3, 10, 1000):
        border = int(exact.exp_below(-number(rate) * k, 90) * 2**53)
        for near in range(max(border - 1, 0), min(border + 2, 2**53)):
            source = ScriptedSource([near << 11])
            drawn = int(exact.geometric([rate], source=source)[0])
            revealed, bits = near, 53
            for given_bits, words in source.given[1:]:
                for word in words:
                    revealed, bits = (revealed << given_bits) | int(word), bits + given_bits
            low, high = Fraction(revealed, 2**bits), Fraction(revealed + 1, 2**bits)
            assert high <= exact.exp_above(-number(rate) * drawn, bits + 64)
            assert low >= exact.exp_below(-number(rate) * (drawn + 1), bits + 64)


@pytest.mark.parametrize(
    ("exponents", "base", "rate"),
    [
        ([0, 1, 2, 3], None, 1),
        (np.array([0.5, -1000.0, 0.25]), None, "1/3"),
        (["ln(3)", 0, "1/7"], [1, 2, "1/2"], 1),
        (np.array([5, 5, 5, 5]), None, "ln(2)"),
        (np.array([10**18, 10**18 - 1, -(10**18)]), None, 1),
        ([7, 1, 0], [0, 1, 1], 1),
    ],
)
def test_categorical_exp_inverts_its_uniform(exponents, base, rate):
    """Words around every cumulative share: the choice must be that of the U that was revealed."""
    count = len(exponents)
    shares = [exact.categorical_exp_cdf(i, exponents, base, 200, rate=rate) for i in range(-1, count)]
    borders = {int(share.lower * 2**53) for share in shares}
    for near in {b + d for b in borders for d in (-1, 0, 1) if 0 <= b + d < 2**53}:
        source = ScriptedSource([near << 11])
        chosen = int(exact.categorical_exp(exponents, base, source=source, rate=rate))
        revealed, bits = near, 53
        for given_bits, words in source.given[1:]:
            for word in words:
                revealed, bits = (revealed << given_bits) | int(word), bits + given_bits
        assert shares[chosen].lower <= Fraction(revealed + 1, 2**bits)
        assert Fraction(revealed, 2**bits) <= shares[chosen + 1].upper
        p = exact.categorical_exp_pmf(chosen, exponents, base, rate=rate)
        assert p.upper > 0


def test_masses_of_categorical_exp_are_right():
    exponents, base = ["ln(2)", 0, "ln(5)"], [3, 4, "1/5"]
    for i, mass in enumerate((Fraction(6, 11), Fraction(4, 11), Fraction(1, 11))):
        assert mass in exact.categorical_exp_pmf(i, exponents, base)


@pytest.mark.parametrize("rate", ["ln(2)", "ln(3/2)", "1/3", 2])
@pytest.mark.parametrize("terms", [1, 2, 5])
def test_sums_of_geometrics_have_the_masses_of_a_convolution(terms, rate):
    """Rational and irrational rates take different ways."""
    single = [exact.geometric_pmf(k, rate, 200) for k in range(9)]
    masses = [(Fraction(int(k == 0)),) * 2 for k in range(9)]
    for _ in range(terms):
        pairs = [[(masses[i], single[k - i]) for i in range(k + 1)] for k in range(9)]
        masses = [(sum(m[0] * p.lower for m, p in row), sum(m[1] * p.upper for m, p in row)) for row in pairs]
    for k in range(9):
        mass, share = exact.negative_binomial_pmf(k, terms, rate), exact.negative_binomial_cdf(k, terms, rate)
        assert mass.lower <= masses[k][1]
        assert masses[k][0] <= mass.upper
        assert mass.upper - mass.lower < Fraction(1, 2**40)
        assert share.lower <= sum(high for _, high in masses[: k + 1])
        assert sum(low for low, _ in masses[: k + 1]) <= share.upper
        assert share.upper - share.lower < Fraction(1, 2**40)


def test_truncated_geometric_is_the_known_matrix():
    rows = [[exact.truncated_geometric_pmf(y, x, 0, 2, rate="ln(4)").lower for y in range(3)] for x in range(3)]
    fifth = Fraction(1, 20)
    assert rows == [[16 * fifth, 3 * fifth, fifth], [4 * fifth, 12 * fifth, 4 * fifth], [fifth, 3 * fifth, 16 * fifth]]


@pytest.mark.slow
@pytest.mark.parametrize("value", [0, 1, 2])
def test_truncated_geometric_follows_its_matrix_exactly(value):
    """The noise's own law is enumerated above; here every noise value is pushed through the truncation."""
    table = InverseTable(head_law(number("ln(4)"), 1, True), index_bits=8, refine_bits=8)
    found = enumerate_law(lambda source: min(max(value + int(table.draw(1, source)[0]), 0), 2), 24)
    for y in range(3):
        p = exact.truncated_geometric_pmf(y, value, 0, 2, rate="ln(4)")
        assert found.agrees_with(y, p.lower, p.upper)


SMALL_ROWS = (
    (1, 0, 2, 3),
    (0, 5, 0, 0),
    (0, 0, 10**30, 1),
    (1, 1, 1, 0),
    (64, 64, 128, 0),
    (255, 1, 0, 0),
    (1, 254, 1, 3),
)


@pytest.mark.slow
@pytest.mark.parametrize("row", range(len(SMALL_ROWS)))
@pytest.mark.parametrize("other", [None, 0, 3])
def test_rows_of_weights_follow_their_laws_to_the_last_bit(row, other):
    """Words of 8 bits, so that the tree is walked through look-up and settling; alone, and beside another row."""
    rows = exact.CategoricalRows(SMALL_ROWS.__getitem__, word_bits=8)
    total = sum(SMALL_ROWS[row])

    def draw(source):
        if other is None:
            return int(rows.draw_from(row, 1, source)[0])
        return int(rows.draw(np.array([other, row]), source)[1])

    undecided = []
    for depth in (8, 16, 24) if other is None else (16, 24):
        found = enumerate_law(draw, depth)
        assert sum(found.masses.values()) + found.undecided == 1
        for outcome in range(4):
            p = Fraction(SMALL_ROWS[row][outcome], total)
            assert found.agrees_with(outcome, p, p)
        undecided.append(found.undecided)
    assert undecided[-1] <= Fraction(1, 2**12)


def test_words_of_64_bits_are_settled_where_they_meet_a_threshold():
    """U at, just below and just above each threshold of a third, whose word is open: the next word decides."""
    third = 2**64 // 3
    rows = exact.CategoricalRows([(1, 1, 1), (10**40, 10**40, 10**40)].__getitem__)
    for row in (0, 1):
        for word, then, outcome in (
            (third - 1, [], 0),
            (third, [third - 1], 0),
            (third, [third + 1], 1),
            (third + 1, [], 1),
            (2 * third, [2 * third - 1], 1),
            (2 * third, [2 * third + 1], 2),
        ):
            more = b"".join(int(step).to_bytes(8) for step in then)
            script = ScriptedSource(np.array([word], dtype=np.uint64), *([list(more)] if more else []))
            assert rows.draw_from(row, 1, script).tolist() == [outcome]
