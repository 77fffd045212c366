"""What every ledger does, wherever it is kept."""

import csv
import io
import json
import os
import threading
from fractions import Fraction

import pytest

from leastnoise.accounting import (
    INTERRUPTIONS,
    Approximate,
    Concentrated,
    Ledger,
    Pure,
    Request,
    Scope,
    export_csv,
    export_json,
)
from leastnoise.errors import (
    BadParameter,
    BudgetExceeded,
    DatasetSuspended,
    LedgerMissing,
    LedgerUnavailable,
    RequestConflict,
    UncoveredDebit,
)
from leastnoise.model.privacy import Privacy


class Clock:
    """A clock that a test sets."""

    def __init__(self, now=1_000_000):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def ledger(place, clock):
    with Ledger.create(place(), clock=clock) as made:
        made.grant(Privacy(1), dataset="census")
        yield made


def ask(name, epsilon="1/4", dataset="census", analyst="ada", purpose="any", **parameters):
    return Request(name, Pure(epsilon), dataset=dataset, analyst=analyst, purpose=purpose, parameters=parameters)


def spent(ledger, **scope):
    return next(balance.spent.epsilon for balance in ledger.balances() if balance.scope == Scope(**scope))


def test_debit_then_answer_then_record(ledger):
    order = []

    def draw():
        order.append(spent(ledger, dataset="census"))
        return {"count": 42}

    assert ledger.release(ask("q1"), draw) == {"count": 42}
    assert order == [Fraction(1, 4)], "the debit was there before the data was looked at"
    kinds = [json.loads(row.body)["kind"] for row in ledger.entries()]
    assert kinds == ["open", "grant", "debit", "answer"]


def test_asking_again_returns_the_recorded_answer_for_free(ledger, place, clock):
    first = ledger.release(ask("q1"), lambda: 17)
    assert ledger.release(ask("q1"), lambda: pytest.fail("drawn twice")) == first
    with Ledger.open(place(), clock=clock) as other:
        assert other.release(ask("q1"), lambda: pytest.fail("drawn twice")) == first
        assert other.debit(ask("q1")).answer == first
        assert spent(other, dataset="census") == Fraction(1, 4)


def test_an_id_is_bound_to_its_parameters(ledger):
    ledger.release(ask("q1", column="age"), lambda: 1)
    for other in (
        ask("q1", column="income"),
        ask("q1", "1/8", column="age"),
        ask("q1", purpose="research", column="age"),
        ask("q1", dataset="survey", column="age"),
        Request("q1", Concentrated("1/100"), dataset="census", analyst="ada", parameters={"column": "age"}),
    ):
        with pytest.raises(RequestConflict, match="another dataset, purpose, event or parameters"):
            ledger.debit(other)
    assert spent(ledger, dataset="census") == Fraction(1, 4)


def test_ids_of_different_analysts_are_different(ledger):
    assert ledger.release(ask("q1"), lambda: 1) == 1
    assert ledger.release(ask("q1", analyst="eve"), lambda: 2) == 2
    assert spent(ledger, dataset="census") == Fraction(1, 2)


def test_the_budget_is_spent_exactly_and_not_beyond(ledger):
    for i in range(4):
        assert ledger.debit(ask(f"q{i}")).fresh
    with pytest.raises(BudgetExceeded, match=r"dataset 'census'.*nothing fits any more"):
        ledger.debit(ask("q4"))
    assert not ledger.debit(ask("q3")).fresh, "a repeated request still costs nothing"
    assert ledger.left("census", "ada").epsilon == 0


def test_a_refused_request_does_not_draw_and_may_ask_for_less(ledger):
    ledger.debit(ask("q1", "9/10"))
    with pytest.raises(BudgetExceeded, match=r"ε = 1/4; a query of at most ε = 0\.1 still fits"):
        ledger.release(ask("q2"), lambda: pytest.fail("drawn without a debit"))
    assert ledger.debit(ask("q3", "1/10")).state == "committed"


def test_the_tightest_budget_binds(ledger):
    ledger.grant(Privacy("1/2"), dataset="census", analyst="ada")
    ledger.grant(Privacy("3/10"), purpose="fun")
    ledger.debit(ask("q1", "3/10", purpose="fun"))
    with pytest.raises(BudgetExceeded, match="purpose 'fun'"):
        ledger.debit(ask("q2", "1/100", purpose="fun"))
    with pytest.raises(BudgetExceeded, match="dataset 'census', analyst 'ada'"):
        ledger.debit(ask("q3", "1/4"))
    ledger.debit(ask("q4", "1/5"))
    assert ledger.left("census", "ada").epsilon == 0
    assert ledger.left("census", "eve").epsilon == Fraction(1, 2)
    assert ledger.left("census", "eve", "fun").epsilon == 0
    ledger.debit(ask("q5", "1/2", analyst="eve"))
    assert spent(ledger, dataset="census") == 1


def test_what_no_budget_covers_is_refused(ledger):
    ledger.grant(Privacy(1), analyst="ada")
    with pytest.raises(UncoveredDebit, match="medical"):
        ledger.debit(ask("q1", dataset="medical"))
    with pytest.raises(RequestConflict, match="must bind"):
        ledger.grant(Privacy(1))


def test_a_reservation_counts_until_it_is_cancelled(ledger):
    assert ledger.reserve(ask("q1", "3/4")).state == "reserved"
    with pytest.raises(BudgetExceeded):
        ledger.debit(ask("q2", "1/2"))
    ledger.cancel(ask("q1", "3/4"))
    assert spent(ledger, dataset="census") == 0
    assert ledger.debit(ask("q2", "1/2")).fresh
    with pytest.raises(BudgetExceeded):
        ledger.reserve(ask("q1", "3/4"))


def test_a_cancelled_request_may_be_made_again_and_stays_the_same_question(ledger):
    for _ in range(3):
        assert ledger.reserve(ask("q1")).fresh
        assert ledger.cancel(ask("q1")).state == "cancelled"
        assert spent(ledger, dataset="census") == 0
    with pytest.raises(RequestConflict, match="another dataset, purpose, event or parameters"):
        ledger.reserve(ask("q1", "1/8"))
    with pytest.raises(RequestConflict, match="cancelled can't commit"):
        ledger.commit(ask("q1"))
    assert ledger.release(ask("q1"), lambda: 7) == 7
    assert spent(ledger, dataset="census") == Fraction(1, 4)
    assert ledger.verify().requests == 1


def test_a_committed_debit_is_never_given_back(ledger):
    ledger.reserve(ask("q1"))
    assert ledger.commit(ask("q1")).state == "committed"
    with pytest.raises(RequestConflict, match="stays spent"):
        ledger.cancel(ask("q1"))
    assert ledger.record(ask("q1"), 5) == 5
    with pytest.raises(RequestConflict):
        ledger.cancel(ask("q1"))
    assert spent(ledger, dataset="census") == Fraction(1, 4)


def test_steps_may_be_repeated_but_not_skipped(ledger):
    with pytest.raises(RequestConflict, match="reserve it first"):
        ledger.commit(ask("q1"))
    with pytest.raises(RequestConflict, match="no answer without its debit"):
        ledger.record(ask("q1"), 5)
    for _ in range(2):
        assert ledger.reserve(ask("q1")).state == "reserved"
    with pytest.raises(RequestConflict, match="no answer without its debit"):
        ledger.record(ask("q1"), 5)
    assert ledger.debit(ask("q1")).state == "committed"
    for _ in range(2):
        assert ledger.commit(ask("q1")).state == "committed"
    assert ledger.record(ask("q1"), 5) == 5
    assert ledger.record(ask("q1"), 6) == 5, "the first recorded answer is the answer"
    assert spent(ledger, dataset="census") == Fraction(1, 4)


@pytest.mark.parametrize(("draw", "error"), [(lambda: 1 // 0, ZeroDivisionError), (lambda: float("nan"), BadParameter)])
def test_a_failing_query_stays_charged_and_fails_once_only(ledger, draw, error):
    """Else one debit would buy any number of failures, each of which may tell a bit about the data."""
    with pytest.raises(error):
        ledger.release(ask("q1"), draw)
    assert spent(ledger, dataset="census") == Fraction(1, 4)
    with pytest.raises(RequestConflict, match="failed before"):
        ledger.release(ask("q1"), lambda: pytest.fail("drawn again"))
    with pytest.raises(DatasetSuspended):
        ledger.release(ask("q2"), lambda: pytest.fail("drawn while suspended"))
    assert spent(ledger, dataset="census") == Fraction(1, 4)


def test_an_interrupted_query_is_counted(ledger):
    def interrupted():
        raise KeyboardInterrupt

    for _ in range(INTERRUPTIONS):
        with pytest.raises(KeyboardInterrupt):
            ledger.release(ask("q1"), interrupted)
    with pytest.raises(DatasetSuspended):
        ledger.release(ask("q1"), lambda: pytest.fail("drawn while suspended"))


def test_a_budget_begins_anew_after_its_period(ledger, clock):
    ledger.grant(Privacy("1/2"), dataset="daily", refresh=86400)
    ledger.debit(ask("q1", "1/2", dataset="daily"))
    with pytest.raises(BudgetExceeded):
        ledger.debit(ask("q2", "1/2", dataset="daily"))
    clock.now += 86400
    assert ledger.left("daily", "ada").epsilon == Fraction(1, 2)
    ledger.debit(ask("q3", "1/2", dataset="daily"))
    with pytest.raises(BudgetExceeded):
        ledger.debit(ask("q4", "1/2", dataset="daily"))


def test_a_clock_that_goes_back_brings_no_budget_back(ledger, clock, place):
    ledger.grant(Privacy("1/2"), dataset="daily", refresh=100)
    clock.now += 150
    ledger.debit(ask("q1", "1/2", dataset="daily"))
    for now in (clock.now - 100, clock.now - 10**6, 0, -5):
        clock.now = now
        with pytest.raises(BudgetExceeded):
            ledger.debit(ask("q2", "1/2", dataset="daily"))
        with Ledger.open(place(), clock=clock) as other, pytest.raises(BudgetExceeded):
            other.debit(ask("q3", "1/2", dataset="daily"))
    ledger.debit(ask("q4", "1/10"))
    times = [json.loads(row.body)["time"] for row in ledger.entries()]
    assert times == sorted(times)
    ledger.verify()


def test_a_refused_debit_at_a_late_clock_leaves_no_trace(ledger, clock):
    """Another process with a clock that is behind must count the period as this one does."""
    ledger.grant(Privacy("1/2"), dataset="daily", refresh=100)
    ledger.debit(ask("q1", "1/2", dataset="daily"))
    clock.now += 1000
    with pytest.raises(BudgetExceeded):
        ledger.debit(ask("q2", "3/4", dataset="daily"))
    clock.now -= 1000
    with pytest.raises(BudgetExceeded):
        ledger.debit(ask("q3", "1/2", dataset="daily"))
    ledger.verify()


def test_a_reservation_does_not_outlive_its_period(ledger, clock):
    ledger.grant(Privacy("1/2"), dataset="daily", refresh=100)
    ledger.reserve(ask("q1", "1/2", dataset="daily"))
    clock.now += 100
    with pytest.raises(RequestConflict, match="earlier period"):
        ledger.commit(ask("q1", "1/2", dataset="daily"))
    ledger.cancel(ask("q1", "1/2", dataset="daily"))
    ledger.debit(ask("q2", "1/2", dataset="daily"))
    with pytest.raises(BudgetExceeded):
        ledger.debit(ask("q3", "1/100", dataset="daily"))
    ledger.verify()


def test_a_budget_granted_meanwhile_is_not_circumvented_by_a_reservation(ledger):
    ledger.reserve(ask("q1", "1/2"))
    ledger.grant(Privacy("1/4"), dataset="census", analyst="ada")
    with pytest.raises(RequestConflict, match="other budgets"):
        ledger.commit(ask("q1", "1/2"))
    ledger.cancel(ask("q1", "1/2"))
    assert spent(ledger, dataset="census") == 0
    assert spent(ledger, dataset="census", analyst="ada") == 0, "what was never charged here is not given back"
    ledger.verify()


def test_new_limits_keep_what_is_spent(ledger, place, clock):
    ledger.debit(ask("q1", "3/4"))
    ledger.grant(Privacy(2), dataset="census")
    ledger.debit(ask("q2", "5/4"))
    with pytest.raises(BudgetExceeded):
        ledger.debit(ask("q3", "1/100"))
    ledger.grant(Privacy("1/10"), dataset="census")
    assert ledger.left("census", "ada").epsilon == 0
    with Ledger.open(place(), clock=clock) as other:
        assert spent(other, dataset="census") == 2


def test_delta_and_rho_are_kept_exactly(ledger, place, clock):
    ledger.grant(Privacy(1, "1e-6"), dataset="medical")
    ledger.debit(Request("q1", Approximate("1/10", "1e-7"), dataset="medical", analyst="ada"))
    ledger.debit(Request("q2", Concentrated("1/1000"), dataset="medical", analyst="ada"))
    ledger.debit(Request("q3", Pure("ln(11/10)"), dataset="medical", analyst="ada"))
    for opened in (ledger, Ledger.open(place(), clock=clock)):
        cost = opened.balances()[1].spent
        assert cost.delta == Fraction(1, 10**7)
        assert cost.epsilon is None
        opened.close()


def test_processes_see_each_others_debits(ledger, place, clock):
    with Ledger.open(place(), clock=clock) as other:
        for i in range(2):
            ledger.debit(ask(f"a{i}"))
            other.debit(ask(f"b{i}"))
        for each in (ledger, other):
            with pytest.raises(BudgetExceeded):
                each.debit(ask("c"))
            assert each.witness() == ledger.witness()


@pytest.mark.slow
def test_a_fork_carries_the_ledger_on_safely(ledger):
    ledger.debit(ask("q1"))
    children = []
    for i in range(4):
        child = os.fork()
        if not child:
            try:
                ledger.debit(ask(f"child {i}"))
            except BudgetExceeded:
                os._exit(3)
            except BaseException:
                os._exit(4)
            os._exit(0)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert sorted(codes) == [0, 0, 0, 3]
    assert spent(ledger, dataset="census") == 1
    ledger.verify()


def test_threads_share_a_ledger_and_its_flushes(ledger):
    ledger.grant(Privacy(100, insist=True), dataset="census")
    outcomes = []

    def work(k):
        for i in range(40):
            try:
                answer = ledger.release(ask(f"{k} {i}", "1"), lambda value=(k, i): list(value))
            except BudgetExceeded:
                return
            outcomes.append(answer == [k, i])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 100
    assert spent(ledger, dataset="census") == 100


def test_the_same_request_from_many_threads_is_charged_and_answered_once(ledger):
    answers = []
    threads = [
        threading.Thread(target=lambda k=k: answers.append(ledger.release(ask("q1"), lambda: k))) for k in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert len(set(answers)) == 1
    assert spent(ledger, dataset="census") == Fraction(1, 4)


def test_verification_goes_through_everything(ledger):
    ledger.release(ask("q1"), lambda: 1)
    ledger.reserve(ask("q2"))
    ledger.cancel(ask("q2"))
    report = ledger.verify(ledger.witness())
    assert (report.entries, report.requests) == (6, 2)
    assert report.head == ledger.witness().hash


@pytest.mark.usefixtures("ledger")
def test_creating_twice_and_opening_nothing_are_refused(place, tmp_path):
    with pytest.raises(LedgerUnavailable, match="already"):
        Ledger.create(place())
    with pytest.raises(LedgerMissing):
        Ledger.open(tmp_path / "nowhere.ledger")


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), {1, 2}, object(), {"a": b"x"}])
def test_an_answer_is_plain_json(ledger, answer):
    ledger.debit(ask("q1"))
    with pytest.raises(BadParameter, match="answer"):
        ledger.record(ask("q1"), answer)
    assert ledger.record(ask("q1"), [1, 2.5, None, {"a": "é"}]) == [1, 2.5, None, {"a": "é"}]


@pytest.mark.parametrize("answer", [(1, (2,)), {1: "a", 2: {None: (True,)}}, {"a": 1e-300, "b": -0.0}, "\ud800"])
def test_the_first_answer_is_the_one_that_is_read_again(ledger, answer):
    first = ledger.release(ask("q1"), lambda: answer)
    assert repr(ledger.release(ask("q1"), lambda: pytest.fail("drawn again"))) == repr(first)


@pytest.mark.parametrize("parameters", [{1: 2}, {"a": {1: 2}}, {"a": [({None: 2},)]}, [1], None])
def test_parameters_that_json_would_confuse_are_refused(parameters):
    with pytest.raises(BadParameter, match="text keys"):
        Request("q", Pure(1), dataset="census", analyst="ada", parameters=parameters)


def test_endless_parameters_are_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(BadParameter, match="text keys"):
        Request("q", Pure(1), dataset="census", analyst="ada", parameters={"a": endless})


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), 1e18, "noon", None])
def test_a_clock_that_tells_no_time_costs_nothing(ledger, place, seconds):
    with Ledger.open(place(), clock=lambda: seconds) as other, pytest.raises(LedgerUnavailable, match="clock"):
        other.debit(ask("q1"))
    assert spent(ledger, dataset="census") == 0


def test_the_longest_period_has_a_date(ledger):
    ledger.grant(Privacy(1), dataset="census", refresh=10**10)
    assert "UTC" in ledger._repr_html_()
    with pytest.raises(BadParameter, match="refresh"):
        ledger.grant(Privacy(1), dataset="census", refresh=10**10 + 1)


@pytest.mark.parametrize("wrong", [None, 3, ["x"], {"a": 1}, b"census", 1.5, object()])
def test_arguments_of_a_wrong_type_are_refused_and_cost_nothing(ledger, wrong):
    calls = [
        lambda: ledger.debit(wrong),
        lambda: ledger.cancel(wrong),
        lambda: ledger.cancel(wrong, interrupted=True),
        lambda: ledger.fail(wrong, floor=1),
        lambda: ledger.record(wrong, 1),
        lambda: ledger.left(wrong, "ada"),
        lambda: ledger.left("census", wrong),
        lambda: ledger.left("census", "ada", wrong),
        lambda: ledger.budget_of(wrong),
        lambda: ledger.privacy_unit(wrong),
        lambda: ledger.clear("census", wrong),
        lambda: ledger.check_opening("census", wrong),
        lambda: ledger.grant(wrong, dataset="census"),
        lambda: Ledger.open(wrong),
        lambda: Ledger.create(wrong),
    ]
    if wrong is not None:
        calls += [
            lambda: ledger.verify(wrong),
            lambda: ledger.reserve(ask("q1"), wrong),
            lambda: ledger.left("census", "ada", opening=wrong),
        ]
    for call in calls:
        with pytest.raises(BadParameter):
            call()
    assert len(list(ledger.entries())) == 2


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_a_path_that_is_none_is_refused(path):
    for call in (Ledger.open, Ledger.create):
        with pytest.raises((BadParameter, LedgerUnavailable)):
            call(path)


@pytest.mark.parametrize("name", ["", " census", "a\nb", "x" * 201, None, 7, "\x00"])
def test_names_are_short_printable_text(name):
    with pytest.raises(BadParameter):
        Request("q", Pure(1), dataset=name, analyst="ada")
    with pytest.raises(BadParameter):
        Request(name, Pure(1), dataset="census", analyst="ada")


def test_exports(ledger):
    ledger.release(Request("=cmd()", Pure("1/4"), dataset="census", analyst="ada"), lambda: 12.5)
    table, lines = io.StringIO(), io.StringIO()
    export_csv(ledger.entries(), table)
    export_json(ledger.entries(), lines)
    rows = list(csv.DictReader(io.StringIO(table.getvalue())))
    assert [row["kind"] for row in rows] == ["open", "grant", "debit", "answer"]
    assert (rows[2]["epsilon"], rows[2]["request"], rows[3]["answer"]) == ("1/4", "'=cmd()", "12.5")
    stored = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [entry["hash"] for entry in stored] == [row.hash for row in ledger.entries()]


def test_nothing_of_the_question_but_its_hash_is_kept(ledger):
    ledger.release(ask("q1", where="patient = 'Jane Roe'"), lambda: 1)
    assert not any("Roe" in row.body for row in ledger.entries())
    assert "Roe" not in repr(ledger)
