"""The order of steps: nothing is read that is not covered, nothing is answered that was not charged."""

import json
from fractions import Fraction

import pytest

import leastnoise.release as ln
from leastnoise.accounting import Ledger, Pure, Request
from leastnoise.errors import BudgetExceeded, EngineFailure, RequestConflict
from leastnoise.mechanisms import Geometric
from leastnoise.model.privacy import Privacy
from leastnoise.release.order import answer_once
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

    assert answer_once(ledger, request(), read, draw) == 8
    assert steps == [("read", "reserve"), ("draw", "commit")]
    assert kinds(ledger) == ["reserve", "commit", "answer"]


def test_an_answered_request_touches_nothing_and_costs_nothing(ledger):
    first = answer_once(ledger, request(), lambda: 1, lambda truth: [truth, "noise"])
    assert answer_once(ledger, request(), forbidden, forbidden) == first
    assert spent(ledger) == Fraction(1, 4)


def test_an_id_is_bound_to_its_parameters(ledger):
    answer_once(ledger, request(city="Lyon"), lambda: 1, str)
    with pytest.raises(RequestConflict):
        answer_once(ledger, request(city="Metz"), forbidden, forbidden)


def test_what_the_budget_does_not_cover_is_not_read(ledger):
    answer_once(ledger, request("first", "9/10"), lambda: 1, str)
    with pytest.raises(BudgetExceeded):
        answer_once(ledger, request("second"), forbidden, forbidden)
    assert spent(ledger) == Fraction(9, 10)


def test_an_interruption_while_reading_spends_nothing(ledger):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_once(ledger, request(), interrupted, forbidden)
    assert spent(ledger) == 0
    assert kinds(ledger) == ["reserve", "cancel"]
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            answer_once(ledger, request(), interrupted, forbidden)
    assert spent(ledger) == 0
    assert answer_once(ledger, request(), lambda: 6, lambda truth: truth) == 6
    assert answer_once(ledger, request(), forbidden, forbidden) == 6
    assert spent(ledger) == Fraction(1, 4)
    with pytest.raises(RequestConflict):
        answer_once(ledger, request(city="Metz"), forbidden, forbidden)


def test_an_interruption_after_the_debit_keeps_it_and_the_same_id_is_answered_without_a_new_one(ledger):
    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_once(ledger, request(), lambda: 1, interrupted)
    assert spent(ledger) == Fraction(1, 4)
    assert answer_once(ledger, request(), lambda: 1, lambda truth: truth) == 1
    assert spent(ledger) == Fraction(1, 4)


@pytest.mark.parametrize("where", ["read", "draw"])
def test_a_failure_is_charged_and_stays_a_failure(ledger, where):
    def fails(*_):
        raise ZeroDivisionError("row 17 of Ada")

    with pytest.raises(EngineFailure):
        answer_once(ledger, request(), fails if where == "read" else lambda: 1, fails)
    assert spent(ledger) == Fraction(1, 4)
    with pytest.raises(EngineFailure):
        answer_once(ledger, request(), forbidden, forbidden)
    assert spent(ledger) == Fraction(1, 4)


@pytest.mark.parametrize("with_ledger", [True, False])
@pytest.mark.parametrize("where", ["read", "draw"])
def test_a_failure_says_nothing(ledger, where, with_ledger):
    private = "Ada is 42"

    def fails(*_):
        held = private  # in a frame of the traceback
        raise ValueError(held) from KeyError(held)

    with pytest.raises(EngineFailure) as caught:
        answer_once(
            ledger if with_ledger else None,
            request() if with_ledger else None,
            fails if where == "read" else lambda: private,
            fails,
        )
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert private not in str(error)
    frame = error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename.endswith("leastnoise/release/order.py"):
            assert private not in repr(list(frame.tb_frame.f_locals.values()))
        assert frame.tb_frame.f_code.co_name != "fails"
        frame = frame.tb_next


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

        report(answer_once(ledger, request(), read, draw))


@pytest.mark.parametrize("die_in", ["read", "draw"])
def test_a_kill_wastes_the_price_at_most_and_the_same_id_goes_on(ledger, tmp_path, die_in):
    code, reports = Child(release_and_die, tmp_path / "ledger", die_in).join()
    assert code < 0
    assert not reports
    assert spent(ledger) == Fraction(1, 4)
    assert answer_once(ledger, request(), lambda: 5, lambda truth: truth) == 5
    assert spent(ledger) == Fraction(1, 4)


def test_any_mechanism_can_be_released(ledger):
    release = ln.release_mechanism(Geometric("1/4"), lambda: 40, ledger=ledger, dataset="census", request_id="g")
    again = ln.release_mechanism(Geometric("1/4"), forbidden, ledger=ledger, dataset="census", request_id="g")
    assert release == again
    assert spent(ledger) == Fraction(1, 4)
    free = ln.release_mechanism(Geometric("1/4"), 40)
    assert free.request_id is None
    assert free.cost == release.cost
    assert spent(ledger) == Fraction(1, 4)
