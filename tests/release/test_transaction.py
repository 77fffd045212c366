"""The order of steps: nothing is read that is not covered, nothing is answered that was not charged."""

import json
import math
from fractions import Fraction

import pytest

import leastnoise.release as ln
from leastnoise.accounting import Ledger, Pure, Request
from leastnoise.errors import (
    BadFilter,
    BadParameter,
    BudgetChanged,
    BudgetExceeded,
    Closed,
    DatasetSuspended,
    EngineFailure,
    ForeignProcess,
    InsecureSource,
    LeastNoiseError,
    LedgerUnavailable,
    NumberTooLarge,
    RequestConflict,
    TooLarge,
    UnknownColumn,
    engine_failure,
)
from leastnoise.mechanisms import Geometric
from leastnoise.model.privacy import Privacy
from leastnoise.release.transaction import FLOOR, release_once
from support.processes import Child, kill_myself


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "ledger") as made:
        made.grant(Privacy(1), dataset="census")
        yield made


def request(name="q", epsilon="1/4", **parameters):
    return Request(name, Pure(epsilon), dataset="census", analyst="ada", parameters=parameters)


def spent(ledger):
    return ledger.balances()[0].spent.epsilon


def kinds(ledger):
    return [json.loads(row.body)["kind"] for row in ledger.entries()][2:]


def forbidden():
    raise AssertionError("the data was touched")


def test_the_price_is_held_before_the_data_is_read_and_paid_before_the_answer_is_drawn(ledger):
    steps = []

    def read():
        steps.append(("read", kinds(ledger)[-1]))
        return 7

    def draw(truth):
        steps.append(("draw", kinds(ledger)[-1]))
        return truth + 1

    assert release_once(ledger, request(), read, draw) == 8
    assert steps == [("read", "reserve"), ("draw", "commit")]
    assert kinds(ledger) == ["reserve", "commit", "answer"]


def test_an_answered_request_touches_nothing_and_costs_nothing(ledger):
    first = release_once(ledger, request(), lambda: 1, lambda truth: [truth, "noise"])
    assert release_once(ledger, request(), forbidden, forbidden) == first
    assert spent(ledger) == Fraction(1, 4)


def test_an_id_is_bound_to_its_parameters(ledger):
    release_once(ledger, request(city="Lyon"), lambda: 1, str)
    with pytest.raises(RequestConflict):
        release_once(ledger, request(city="Metz"), forbidden, forbidden)


def test_what_the_budget_does_not_cover_is_not_read(ledger):
    release_once(ledger, request("first", "9/10"), lambda: 1, str)
    with pytest.raises(BudgetExceeded):
        release_once(ledger, request("second"), forbidden, forbidden)
    assert spent(ledger) == Fraction(9, 10)


def interrupted(*_):
    raise KeyboardInterrupt


def test_an_interruption_while_reading_spends_nothing(ledger):
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            release_once(ledger, request(), interrupted, forbidden)
        assert spent(ledger) == 0
    assert kinds(ledger) == ["reserve", "cancel"] * 2
    assert release_once(ledger, request(), lambda: 6, lambda truth: truth) == 6
    assert release_once(ledger, request(), forbidden, forbidden) == 6
    assert spent(ledger) == Fraction(1, 4)
    with pytest.raises(RequestConflict):
        release_once(ledger, request(city="Metz"), forbidden, forbidden)


def test_interruptions_are_rationed(ledger):
    """Else "does it take longer than this?" could be asked for nothing, again and again."""
    for time in range(3):
        with pytest.raises(KeyboardInterrupt):
            release_once(ledger, request(f"q{time}"), interrupted, forbidden)
    with pytest.raises(DatasetSuspended):
        release_once(ledger, request("q3"), interrupted, forbidden)
    assert spent(ledger) == 0
    ledger.clear("census", "ada")
    assert release_once(ledger, request(), lambda: 6, lambda truth: truth) == 6


def test_interruptions_of_one_request_that_was_debited_are_rationed_too(ledger):
    """Else one price would buy any number of looks at how long a draw takes."""
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            release_once(ledger, request(), lambda: 1, interrupted)
    with pytest.raises(DatasetSuspended):
        release_once(ledger, request(), forbidden, forbidden)
    assert spent(ledger) == Fraction(1, 4)
    ledger.clear("census", "ada")
    assert release_once(ledger, request(), lambda: 1, lambda truth: truth) == 1
    assert spent(ledger) == Fraction(1, 4)


@pytest.mark.parametrize("step", ["reserve", "commit", "record"])
def test_an_interruption_within_the_ledger_leaves_nothing_in_doubt(ledger, monkeypatch, step):
    original = getattr(Ledger, step)

    def stored_and_then_interrupted(*arguments):
        original(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, step, stored_and_then_interrupted)
        with pytest.raises(KeyboardInterrupt):
            release_once(ledger, request(), lambda: 1, lambda truth: truth)
    assert spent(ledger) == (0 if step == "reserve" else Fraction(1, 4))
    assert release_once(ledger, request(), lambda: 1 if step != "record" else forbidden(), lambda truth: truth) == 1
    assert spent(ledger) == Fraction(1, 4)


def test_an_interruption_after_the_debit_keeps_it_and_the_same_id_is_answered_without_a_new_one(ledger):
    with pytest.raises(KeyboardInterrupt):
        release_once(ledger, request(), lambda: 1, interrupted)
    assert spent(ledger) == Fraction(1, 4)
    assert release_once(ledger, request(), lambda: 1, lambda truth: truth) == 1
    assert spent(ledger) == Fraction(1, 4)


# What may come out of an engine, a mechanism or the code of a caller once private rows were seen: whatever its class
# is, and even where it is a class of ours with a text of ours, its text may depend on the data.
RAISED = [
    ZeroDivisionError("row 17 of Ada"),
    MemoryError("row 17 of Ada"),
    RecursionError("row 17 of Ada"),
    StopIteration("row 17 of Ada"),
    *(
        kind("there are 42 rows", given="Ada", fix="Ada")
        for kind in (
            BadParameter,
            BadFilter,
            NumberTooLarge,
            TooLarge,
            UnknownColumn,
            Closed,
            ForeignProcess,
            BudgetExceeded,
            BudgetChanged,
            LedgerUnavailable,
            RequestConflict,
            InsecureSource,
            EngineFailure,
            LeastNoiseError,
        )
    ),
]


@pytest.mark.parametrize("where", ["read", "draw"])
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_whatever_is_raised_once_the_data_was_seen_is_one_failure_and_charged(ledger, where, error):
    def fails(*_):
        raise error

    for _ in range(2):  # the second time nothing is read, and nothing is charged
        with pytest.raises(EngineFailure) as caught:
            release_once(ledger, request(), fails if where == "read" else lambda: 1, fails)
        assert str(caught.value) == str(engine_failure())
        assert spent(ledger) == Fraction(1, 4)
        fails = forbidden
    assert kinds(ledger)[-1] == "fail"
    with pytest.raises(DatasetSuspended):
        release_once(ledger, request("another"), forbidden, forbidden)
    assert spent(ledger) == Fraction(1, 4)
    ledger.clear("census", "ada")
    assert release_once(ledger, request("another"), lambda: 1, str) == "1"


def test_what_failed_in_version_0_1_stays_failed(ledger):
    ledger.debit(request())
    ledger.record(request(), {"failed": True})
    with pytest.raises(EngineFailure):
        release_once(ledger, request(), forbidden, forbidden)


def test_a_cheap_failure_costs_the_floor(ledger):
    with pytest.raises(EngineFailure):
        release_once(ledger, request(epsilon="1e-9"), lambda: 1 / 0, forbidden)
    assert spent(ledger) == FLOOR


def test_a_failure_suspends_its_analyst_and_nobody_else(ledger):
    with pytest.raises(EngineFailure):
        release_once(ledger, request(), lambda: 1 / 0, forbidden)
    other = Request("q", Pure("1/4"), dataset="census", analyst="bob")
    assert release_once(ledger, other, lambda: 1, str) == "1"


NO_JSON = {
    "not a number": math.nan,
    "infinity": math.inf,
    "an object": object(),
    "too many digits": 10**5000,
    "bytes": b"x",
    "deep inside": [[math.nan]],
}


@pytest.mark.parametrize("kind", NO_JSON)
def test_a_drawn_value_that_is_no_json_is_a_failure_and_not_drawn_again(ledger, kind):
    """Else "is it a number?" would be told of any number of fresh draws, for one price."""
    for _ in range(2):
        with pytest.raises(EngineFailure):
            release_once(ledger, request(), lambda: 1, lambda _: NO_JSON[kind])
    assert kinds(ledger) == ["reserve", "commit", "fail"]


def test_a_refusal_reserves_nothing(ledger):
    def check():
        raise BadParameter("a key is of the wrong kind", fix="pass another")

    before = kinds(ledger)
    with pytest.raises(BadParameter):
        release_once(ledger, request(), forbidden, forbidden, check=check)
    assert kinds(ledger) == before


@pytest.mark.slow
def test_an_answer_may_be_as_long_as_it_is(ledger):
    """Variances by 100,000 keys and workloads of half a million rows are some megabytes."""
    drawn = [(-1) ** k * k**4 for k in range(500_000)]
    assert release_once(ledger, request(), lambda: 1, lambda _: drawn) == drawn
    assert release_once(ledger, request(), forbidden, forbidden) == drawn
    assert kinds(ledger)[:2] == ["reserve", "commit"]
    ledger.verify()


def test_a_value_that_could_not_be_recorded_is_not_seen_and_the_same_id_goes_on(ledger, monkeypatch):
    secret = 8741

    def full(*_):
        raise LedgerUnavailable("no room", fix="make some")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "record", full)
        with pytest.raises(LedgerUnavailable) as caught:
            release_once(ledger, request(), lambda: 1, lambda _: secret)
    require_nothing_private(caught.value, str(secret))
    assert release_once(ledger, request(), lambda: 1, lambda truth: truth) == 1
    assert spent(ledger) == Fraction(1, 4)


def require_nothing_private(error, private):
    assert error.__cause__ is None
    assert error.__context__ is None
    assert private not in str(error)
    frame = error.__traceback__
    while frame is not None:
        if "leastnoise/" in frame.tb_frame.f_code.co_filename:
            assert private not in repr(list(frame.tb_frame.f_locals.values()))
        assert frame.tb_frame.f_code.co_name != "fails"
        frame = frame.tb_next


@pytest.mark.parametrize("with_ledger", [True, False])
@pytest.mark.parametrize("where", ["read", "draw"])
def test_a_failure_says_nothing(ledger, where, with_ledger):
    private = "Ada is 42"

    def fails(*_):
        held = private  # in a frame of the traceback
        raise ValueError(held) from KeyError(held)

    with pytest.raises(EngineFailure) as caught:
        release_once(
            ledger if with_ledger else None,
            request() if with_ledger else None,
            fails if where == "read" else lambda: private,
            fails,
        )
    require_nothing_private(caught.value, private)


def release_and_die(report, place, die_in):
    with Ledger.open(place) as ledger:

        def read():
            if die_in == "read":
                kill_myself()
            return 5

        def draw(truth):
            if die_in == "draw":
                kill_myself()
            return truth

        report(release_once(ledger, request(), read, draw))


@pytest.mark.parametrize("die_in", ["read", "draw"])
def test_a_kill_wastes_the_price_at_most_and_the_same_id_goes_on(ledger, tmp_path, die_in):
    code, reports = Child(release_and_die, tmp_path / "ledger", die_in).join()
    assert code < 0
    assert not reports
    assert spent(ledger) == Fraction(1, 4)
    assert release_once(ledger, request(), lambda: 5, lambda truth: truth) == 5
    assert spent(ledger) == Fraction(1, 4)


def test_a_paid_answer_is_not_held_back_for_what_is_left(ledger, monkeypatch):
    def locked(*_):
        raise LedgerUnavailable("locked", fix="wait")

    monkeypatch.setattr(Ledger, "left", locked)
    release = ln.release_mechanism(Geometric("1/4"), 40, ledger=ledger, dataset="census")
    assert isinstance(release.value, int)
    assert release.plan.left is None


def test_any_mechanism_can_be_released(ledger):
    release = ln.release_mechanism(Geometric("1/4"), lambda: 40, ledger=ledger, dataset="census", request_id="g")
    again = ln.release_mechanism(Geometric("1/4"), forbidden, ledger=ledger, dataset="census", request_id="g")
    assert release == again
    assert spent(ledger) == Fraction(1, 4)
    free = ln.release_mechanism(Geometric("1/4"), 40)
    assert free.request_id is None
    assert free.cost == release.cost
    assert spent(ledger) == Fraction(1, 4)
