"""Prices in every currency: what is charged is never more than was asked, and a wanted error gets its least price."""

import pickle
from fractions import Fraction
from math import comb, erfc, exp, inf, log, sqrt
from unittest.mock import Mock

import pytest

import leastnoise.release as ln
from leastnoise.accounting import Filter
from leastnoise.composition.cost import covers, gaussian_within, pure_within
from leastnoise.errors import BadParameter, BudgetExceeded, UnreachableTarget, WrongCurrency
from leastnoise.mechanisms import Gaussian, IndependentNoise
from leastnoise.model.events import Approximate, BoundedRange, Composed, GaussianPrivacy, LaplaceNoise, Pure
from leastnoise.model.privacy import Privacy
from leastnoise.release.calls import questions_of
from leastnoise.release.pricing import _amount, _place, least_price
from support.people import CITIES

BINS = {"age": [0, 25, 50, 100]}
QUERIES = {
    "count": lambda d: d.count(where="age >= 18"),
    "histogram": lambda d: d.count(keys={"city": CITIES}, bins=BINS),
    "unknown keys": lambda d: d.count(by="city", of="units"),
    "sum": lambda d: d.sum("income", bounds=(0, 1000), by="city", keys=CITIES),
    "mean": lambda d: d.mean("age", bounds=(0, 100), by="city", keys=CITIES, expected_rows=500),
    "variance": lambda d: d.variance("age", bounds=(0, 100), expected_rows=5000),
    "deviation": lambda d: d.deviation("age", bounds=(0, 100)),
    "proportion": lambda d: d.proportion("age >= 30", by="city", keys=CITIES),
    "ratio": lambda d: d.ratio("income", "age", {"income": (0, 1000), "age": (0, 100)}, by="city", keys=CITIES),
    "count distinct": lambda d: d.count_distinct("city"),
    "hierarchy": lambda d: d.hierarchy(["region", "city"], {"north": CITIES[:1], "south": CITIES[1:]}),
    "median": lambda d: d.median("age", bounds=(0, 100)),
    "median with intervals": lambda d: d.median("age", bounds=(0, 100), by="city", keys=CITIES, interval_share="1/5"),
    "minimum": lambda d: d.min("age", bounds=(0, 100)),
    "maximum": lambda d: d.max("age", bounds=(0, 100)),
    "quantiles": lambda d: d.quantile("income", [0.1, 0.25, 0.5, 0.75], bounds=(0, 1000)),
    "most common": lambda d: d.most_common(2, by="city", keys=CITIES),
    "choose": lambda d: d.choose(["age < 30", "age >= 30"]),
    "best sum": lambda d: d.choose(by="city", keys=CITIES, sum_of="income", bounds=(0, 1000)),
    "prefix sums": lambda d: d.workload("prefix sums", bins=BINS),
    "tables": lambda d: d.tables(keys={"city": CITIES, "sex": ["m", "f"]}),
    "design": lambda d: d.design("city", keys=CITIES, at_most=300),
    "decision": lambda d: d.decision(at_least=100),
    "vote": lambda d: d.decision(by="city", keys=CITIES),
    "sorted counts": lambda d: d.sorted_counts(by="city", total=200, top=3),
    "degrees": lambda d: d.graph("degrees", "city", "sex", [*CITIES, "m"]),
    "cut": lambda d: d.graph("cut", "city", "sex", [*CITIES, "m"]),
    "cover": lambda d: d.graph("cover", "city", "sex", [*CITIES, "m"]),
    "facilities": lambda d: d.facilities("city", 1, {city: (k, 0) for k, city in enumerate(CITIES)}),
}
PRICES = [Privacy("1/2"), Privacy("1/2", "1e-6"), Privacy(rho="1/50"), Privacy(mu="1/4")]
ALL = [
    (name, price)
    for name in QUERIES
    for price in PRICES
    if name != "unknown keys" or price.currency == "epsilon and delta"
]


@pytest.fixture
def people_of_six_rows(open_people):
    return open_people(privacy_unit="person", groups_per_unit=2, rows_per_unit=3)


# ── An accountant of its own: finite laws written out, Gaussian ones by their formulas ────────────────────────────────


def atoms_of(event):
    """The parts of an event that are not lists."""
    return [a for part in event.events for a in atoms_of(part)] if isinstance(event, Composed) else [event]


def worst_laws(atoms):
    """Laws of the privacy loss, (loss, chance), one of which is the worst of all pure atoms together, and their δ."""
    tilts = [Fraction(k, 16) for k in range(1, 16)] if any(type(a) is BoundedRange for a in atoms) else [Fraction(1, 2)]
    laws = []
    for tilt in tilts:  # a bounded range ε has losses t and t − ε, whatever t is
        law = {0.0: 1.0}
        for atom in atoms:
            if isinstance(atom, GaussianPrivacy):
                continue
            epsilon = float(atom.epsilon)
            if epsilon == 0:
                continue
            high = epsilon * float(tilt) if type(atom) is BoundedRange else epsilon
            low = high - epsilon if type(atom) is BoundedRange else -epsilon
            # P(high) with Q = P·e^−loss a probability: p·e^−high + (1 − p)·e^−low = 1
            p = (exp(-low) - 1) / (exp(-low) - exp(-high)) if high > 0 else 0.0
            spread = {}
            for loss, chance in law.items():
                for more, part in ((high, p), (low, 1 - p)):
                    key = round(loss + more, 12)
                    spread[key] = spread.get(key, 0.0) + chance * part
            law = spread
        laws.append(law)
    return laws, sum(float(getattr(a, "delta", 0)) for a in atoms)


def phi(x):
    return erfc(-x / sqrt(2)) / 2


def gaussian_delta(mu, epsilon):
    return phi(mu / 2 - epsilon / mu) - exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def delta_at(event, epsilon):
    """The δ of an event at an ε: by its law, or by the profile of Gaussian privacy; no event here mixes the two."""
    atoms = atoms_of(event)
    mu = sqrt(sum(float(a.mu_squared) for a in atoms if isinstance(a, GaussianPrivacy)))
    laws, own = worst_laws(atoms)
    if mu:
        assert all(isinstance(a, GaussianPrivacy) for a in atoms)
        return gaussian_delta(mu, epsilon)
    gaps = [sum(p * max(0.0, 1 - exp(epsilon - loss)) for loss, p in law.items()) for law in laws]
    return max(gaps) + own


def rho_of(event):
    """The largest D_α/α over many orders."""
    atoms = atoms_of(event)
    mu_squared = sum(float(a.mu_squared) for a in atoms if isinstance(a, GaussianPrivacy))
    laws, own = worst_laws(atoms)
    if own:
        return inf
    orders = [1 + 10 ** (k / 8 - 3) for k in range(60)]

    def divergence(law, order):
        top = max(loss * (order - 1) for loss in law)
        return (top + log(sum(p * exp(loss * (order - 1) - top) for loss, p in law.items()))) / (order - 1)

    return mu_squared / 2 + max(divergence(law, order) / order for law in laws for order in orders)


def is_charged_at_most(price, event):
    if price.currency == "rho":
        return rho_of(event) <= float(price.rho) * (1 + 1e-9)
    if price.currency == "mu":
        grid = [k / 40 for k in range(80)]
        return all(delta_at(event, e) <= gaussian_delta(float(price.mu), e) * (1 + 1e-7) + 1e-13 for e in grid)
    return delta_at(event, float(price.epsilon)) <= float(price.delta) * (1 + 1e-9) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("name", "price"), ALL, ids=str)
def test_what_is_charged_is_never_more_than_the_price(people_of_six_rows, name, price):
    how = QUERIES[name](people_of_six_rows).answer_plan(price)
    assert covers(price, how.event)
    assert is_charged_at_most(price, how.event)
    assert not is_charged_at_most(multiple(price, "1/2"), how.event)  # and the accountant would notice


def test_no_question_is_forgotten():
    """Private bounds and rows are in test_private_scale.py, batches in test_batch.py."""
    calls = Mock()
    for ask in QUERIES.values():
        ask(calls)
    assert {name for name, _, _ in calls.method_calls} == questions_of(ln.Dataset).keys() - {"batch"}


def multiple(price, factor):
    numbers = {name: Fraction(text) * Fraction(factor) for name, text in price.to_dict().items() if name != "delta"}
    return Privacy(**numbers, **({"delta": price.delta} if price.currency == "epsilon and delta" else {}))


@pytest.mark.parametrize(
    "event", [Pure("1/2"), LaplaceNoise("1/2"), BoundedRange("1/2"), GaussianPrivacy("1/9")], ids=str
)
@pytest.mark.parametrize("copies", [1, 3])
def test_a_price_covers_what_the_accountant_finds_and_hardly_less(event, copies):
    many = Composed((event,) * copies)
    for price, found in ((Privacy(rho=1), rho_of(many)),):
        assert covers(multiple(price, Fraction(found * 1.01)), many)
        assert not covers(multiple(price, Fraction(found * 0.98)), many)
    assert not covers(Privacy(mu="1/100"), many)
    assert covers(Privacy(mu=3), many)


def test_a_delta_is_in_no_price_but_one_with_a_delta():
    event = Composed((Pure("1/10"), Approximate(0, "1e-9")))
    assert covers(Privacy("1/10", "1e-9"), event)
    for price in (Privacy(1), Privacy(rho=1), Privacy(mu=1), Privacy(1, "1e-10")):
        assert not covers(price, event)


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_the_largest_noise_that_fits_is_taken(price):
    epsilon = pure_within(price)
    assert covers(price, Pure(epsilon))
    assert not covers(price, Pure(epsilon * Fraction(1001, 1000)))
    if mu_squared := gaussian_within(price):
        assert covers(price, GaussianPrivacy(mu_squared))
        assert not covers(price, GaussianPrivacy(mu_squared * (1 + Fraction(1, 1 << 30))))


# ── Releases ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_gaussian_histogram_is_charged_as_what_it_is(people, tmp_path):
    with ln.open(people[0], privacy_unit="person", budget=Privacy(rho="1/10"), ledger=tmp_path / "ledger") as opened:
        release = opened.count(by="city", keys=CITIES).release(rho="1/100")
        assert release.event == GaussianPrivacy("1/50")
        assert opened.left.rho == Fraction(9, 100)
        opened.count().release(mu="1/10")
        assert opened.left.rho == Fraction(85, 1000)
        with pytest.raises(BudgetExceeded):
            opened.count().release(rho="1/11")
        assert opened.left.rho == Fraction(85, 1000)


def test_a_histogram_in_twenty_groups_fits_more_than_a_hundred_times(open_people):
    """At (0.1, 1e-8) from a budget of (1, 1e-6); charged as (ε, δ) it would fit ten times."""
    query = open_people(privacy_unit="person", groups_per_unit=20).count(by="age", keys=range(100))
    event = query.answer_plan(Privacy("1/10", "1e-8")).event
    assert isinstance(event, GaussianPrivacy)
    kept, times = Filter(Privacy(1, "1e-6")), 0
    while kept.admits(event):
        kept.debit(event)
        times += 1
    assert times >= 116


@pytest.mark.parametrize(
    ("budget", "ask", "price"),
    [
        (Privacy(1), "histogram", {"mu": "1/10"}),
        (Privacy(1), "histogram", {"rho": "1/100"}),
        (Privacy(1), "unknown keys", {"epsilon": "1/10", "delta": "1e-9"}),
        (Privacy(rho=1), "unknown keys", {"epsilon": "1/10", "delta": "1e-9"}),
        (Privacy(mu=1), "unknown keys", {"epsilon": "1/10", "delta": "1e-9"}),
        (Privacy(1, "1e-6"), "unknown keys", {"rho": "1/100"}),
    ],
    ids=str,
)
def test_a_currency_that_the_budget_does_not_take_is_refused_and_nothing_read(people, tmp_path, budget, ask, price):
    with ln.open(people[0], privacy_unit="person", budget=budget, ledger=tmp_path / "ledger") as opened:
        before, query = opened.left, QUERIES[ask](opened)
        object.__setattr__(query, "read", lambda: pytest.fail("the data was read"))
        with pytest.raises(WrongCurrency):
            query.release(**price)
        assert opened.left == before
        assert not list(opened.ledger.balances())  # not even the budget was granted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("price", "match"),
    [
        ({}, "one currency"),
        ({"epsilon": 1, "rho": 1}, "one currency"),
        ({"rho": 1, "mu": 1}, "one currency"),
        ({"mu": 1, "delta": "1e-6"}, "one currency"),
        ({"epsilon": Privacy(1), "delta": "1e-6"}, "whole price"),
        ({"epsilon": Privacy(1), "mu": 1}, "whole price"),
        ({"epsilon": 21}, "insist"),
        ({"epsilon": 1, "delta": "1/2"}, "insist"),
        ({"rho": 21}, "insist"),
        ({"mu": 7}, "insist"),
        ({"epsilon": "1e-10"}, "epsilon"),
        ({"rho": "1e-19"}, "rho"),
        ({"mu": "1e-9"}, "mu"),
        ({"epsilon": 1, "confidence": 1}, "confidence"),
        ({"epsilon": 1, "confidence": 0}, "confidence"),
        ({"epsilon": 1, "confidence": 95}, "confidence"),
    ],
    ids=str,
)
def test_a_price_that_makes_no_sense_is_refused(open_people, price, match):
    query = open_people().count()
    for ask in (query.plan, query.release):
        with pytest.raises(BadParameter, match=match):
            ask(**price)


def test_who_insists_may_pay_more(open_people):
    assert open_people().count().release(Privacy(30, insist=True)).cost.epsilon == 30


# ── Intervals ─────────────────────────────────────────────────────────────────────────────────────────────────────────

LEVELS = [Fraction(1, 2), Fraction(9, 10), Fraction(19, 20), Fraction(99999, 100000)]


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS, ids=str)
@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize("name", ["count", "histogram", "sum"])
def test_intervals_hold_as_often_as_they_say_and_shorter_ones_do_not(people_of_six_rows, name, price, level):
    """By the exact law of the noise: all masses within the interval are added up."""
    query = QUERIES[name](people_of_six_rows)
    how = query.answer_plan(price)
    assert isinstance(how.mechanism, IndependentNoise)
    noise, step = how.mechanism.blocks[0].noise, how.sensitivity.step
    far = int(how.within(level) / step)

    def inside(reach):
        return 1 - 2 * noise.tail(reach + 1, 256).lower, 1 - 2 * noise.tail(reach + 1, 256).upper

    assert inside(far)[1] >= level
    assert far == 0 or inside(far - 1)[0] < level
    if far < 60:
        summed = sum(noise.noise_pmf(k, 128).upper for k in range(-far, far + 1))
        assert summed >= level
    table = how.to_table([0] * how.mechanism.dimension, level)
    assert float(table["high"][0]) == pytest.approx(float(far * step))
    assert table["low"][0] == -table["high"][0]


def test_a_release_has_intervals_at_any_level(open_people):
    query = open_people().count(by="city", keys=CITIES)
    release = query.release("1/10", request_id="once", confidence="9/10")
    assert release.confidence == Fraction(9, 10)
    assert "90 % error" in str(release)
    for level in LEVELS:
        again = query.release("1/10", request_id="once", confidence=level)
        other = release.with_confidence(level)
        assert other == again
        assert (
            release.interval(level)
            == other.interval()
            == tuple(zip(again.table["low"], again.table["high"], strict=True))
        )
        assert other.plan.error_within == query.plan("1/10", confidence=level).error_within
    assert release.interval() == release.interval("9/10")
    widths = [high - low for level in LEVELS for low, high in release.interval(level)[:1]]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


@pytest.mark.slow
def test_steps_are_taken_again_at_another_level(open_people):
    dataset = open_people()
    count = dataset.count(where="age > 200").release(1, request_id="zero")
    at_least_zero = count.non_negative().with_confidence("999/1000")
    assert at_least_zero == count.with_confidence("999/1000").non_negative()
    assert at_least_zero.interval()[0] == 0
    mean = dataset.mean("age", bounds=(0, 100)).release(1).rounded(1)
    assert mean.with_confidence("1/2").value == mean.value == round(mean.value, 1)
    tables = dataset.tables(keys={"city": CITIES, "sex": ["m", "f"], "member": [True, False]}).release(1)
    assert tables.with_confidence("1/2").table["value"] == tables.table["value"]
    assert tables.with_confidence("1/2").table["low"] != tables.table["low"]
    choice = dataset.choose(["age < 30", "age >= 30"]).release(1)
    assert choice.interval() is None
    with pytest.raises(BadParameter, match="a choice has none"):
        choice.interval("1/2")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "price"), ALL, ids=str)
def test_releases_and_plans_survive_pickling_and_hold_nothing_of_the_table(people_of_six_rows, name, price):
    query = QUERIES[name](people_of_six_rows)
    release = query.release(price)
    told = pickle.dumps(release)
    assert b"people.parquet" not in told
    back = pickle.loads(told)  # noqa: S301 - our own bytes
    people_of_six_rows.close()
    assert back == release
    assert back.with_confidence("3/4").table == release.with_confidence("3/4").table
    assert back.plan.prices == release.plan.prices


# ── The price of a wanted error ───────────────────────────────────────────────────────────────────────────────────────

WANTED = {
    "count": 10,
    "histogram": 25,
    "sum": 5000,
    "mean": 20,
    "median": 60,
    "most common": 100,
    "choose": 20,
    "prefix sums": 100,
    "unknown keys": 30,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WANTED)
@pytest.mark.parametrize("kind", [{}, {"delta": "1e-9"}, {"currency": "rho"}, {"currency": "mu"}], ids=str)
def test_a_wanted_error_is_kept_at_its_price_and_not_below(people_of_six_rows, name, kind):
    if name == "unknown keys" and "delta" not in kind:
        with pytest.raises((BadParameter, WrongCurrency), match="delta"):
            QUERIES[name](people_of_six_rows).price(error=WANTED[name], **kind)
        return
    query = QUERIES[name](people_of_six_rows)
    plan = query.price(error=WANTED[name], confidence="9/10", **kind)
    assert plan.confidence == Fraction(9, 10)
    assert plan.error_within <= WANTED[name]
    assert query.plan(plan.price, confidence="9/10") == plan
    (name, amount), *_ = plan.price.to_dict().items()
    less = _amount(_place(Fraction(amount)) - 1)
    assert less < Fraction(amount) < less * Fraction(10011, 10000)
    cheaper = Privacy(**{name: less}, **({"delta": "1e-9"} if "delta" in kind else {}))
    assert query.plan(cheaper, confidence="9/10").error_within > plan.error_within


def test_the_price_of_a_count_is_where_its_tail_is_small_enough(open_people):
    """P(|X| > 10) = 2α^11/(1 + α) = 1/20 for α = e^−ε, solved by hand."""
    found = float(open_people().count().price(error=10).price.epsilon)
    low, high = 0.0, 5.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        alpha = exp(-middle)
        low, high = (low, middle) if 2 * alpha**11 / (1 + alpha) <= 0.05 else (middle, high)
    assert high <= found < high * 1.001


@pytest.mark.parametrize(
    ("ask", "target", "error", "match"),
    [
        ("count", {"error": 0, "confidence": "0.9999999999"}, UnreachableTarget, "no sensible price"),
        ("moment", {"error": 1}, UnreachableTarget, "expected_rows"),
        ("count", {"error": -1}, BadParameter, "error"),
        ("count", {"error": "x"}, BadParameter, "error"),
        ("count", {"error": 1, "currency": "dollars"}, BadParameter, "looked for"),
        ("count", {"error": 1, "currency": "rho", "delta": "1e-6"}, BadParameter, "looked for"),
        ("count", {"error": 1, "confidence": 2}, BadParameter, "confidence"),
        ("count", {"error": 1, "delta": 1}, BadParameter, "delta"),
    ],
    ids=str,
)
def test_targets_that_no_price_meets(people_of_six_rows, ask, target, error, match):
    asked = {**QUERIES, "moment": lambda d: d.mean("age", bounds=(0, 100))}
    before = people_of_six_rows.left
    with pytest.raises(error, match=match):
        asked[ask](people_of_six_rows).price(**target)
    assert people_of_six_rows.left == before


def test_gaussian_noise_has_the_least_variance_of_its_profile(open_people):
    """The bar of one release: a unit in 15 cells at (1, 1e-6)."""
    plan = open_people(privacy_unit="person", groups_per_unit=15).count(by="age", keys=range(40)).plan(1, "1e-6")
    noise = plan.mechanism.blocks[0].noise
    assert isinstance(noise, Gaussian)
    assert 16.3 < sqrt(noise.variance) < 16.4
    assert gaussian_delta(sqrt(15 / noise.variance), 1.0) == pytest.approx(1e-6, rel=1e-6)


def test_the_accountant_of_this_file_knows_randomized_response():
    """Two of them at ε = 1/2: δ at 0 by the binomial formula."""
    p = exp(0.5) / (1 + exp(0.5))
    losses = {(2 * k - 2) * 0.5: comb(2, k) * p**k * (1 - p) ** (2 - k) for k in range(3)}
    by_hand = sum(chance * max(0.0, 1 - exp(-loss)) for loss, chance in losses.items())
    assert delta_at(Composed((Pure("1/2"),) * 2), 0.0) == pytest.approx(by_hand)


def test_a_price_below_the_largest_is_found_where_that_one_alone_is_not_enough():
    """At the largest price another mechanism may have longer tails."""

    def within(price):
        return Fraction(3) if price.mu > 4 else 1 / price.mu

    found = least_price(within, Fraction(1, 2), "mu", Fraction(0)).mu
    assert found == 2
    with pytest.raises(UnreachableTarget):
        least_price(within, Fraction(1, 10), "mu", Fraction(0))
