"""What is counted and written of one running controller."""

import io
import json
from typing import Any, get_args

import pytest

from hedgerow.machinery.clusters import Cluster, ReadScope
from hedgerow.machinery.controller import SINGLETON, Controller
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import Action, Create, Event, Plan
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.informer.exchanges import Refused
from hedgerow_adapters.informer.informer import Watched
from hedgerow_adapters.protocol.responses import StatusError
from hedgerow_adapters.protocol.transport import Request
from hedgerow_adapters.runtime.executor import NotWritten
from hedgerow_adapters.runtime.write_conflicts import WriteConflict
from hedgerow_adapters.telemetry.controller import KINDS, ControllerTelemetry
from hedgerow_adapters.telemetry.logs import configure_logs
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics

POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
SERVICES = Resource("", "v1", "services", "Service")
PODS = Resource("", "v1", "pods", "Pod")
LIST = Request("GET", "/api/v1/services")
CART, STOCK = ObjectKey("shop", "cart"), ObjectKey("shop", "stock")
POLICY = Create(POLICIES, {"metadata": {"namespace": "shop", "name": "ingress"}}, "desired")
CONTROLLER: Controller[None] = Controller(
    name="networkpolicy",
    primary=SERVICES,
    watches=(),
    owned=Index("owned", POLICIES, lambda _manifest: ()),
    concurrency=5,
    config=None,
    reconcile=lambda _key, _snapshot, _context: Plan(),
)


class Heard:
    """A controller's ears, with a clock that tests set, and what they wrote."""

    def __init__(self) -> None:
        self.now = 100.0
        self._stream = io.StringIO()
        configure_logs("debug", "json", self._stream)
        self._metrics = RuntimeMetrics()
        self.telemetry = ControllerTelemetry(
            CONTROLLER, self._metrics, clock=lambda: self.now, unix_time=lambda: 1_700_000_000
        )

    def count(self, name: str, **labels: str) -> float | None:
        by_name = {"name": "networkpolicy"} if name.startswith("workqueue") else {}
        found = self._metrics.registry.get_sample_value(name, {"controller": "networkpolicy", **by_name, **labels})
        return None if found is None else float(found)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._stream.getvalue().splitlines()]

    def worrying(self) -> list[tuple[str, str]]:
        """What is written without anybody asking for more."""
        return [message for message in self.messages() if message[0] != "debug"]

    def messages(self) -> list[tuple[str, str]]:
        return [(line["level"], line["msg"]) for line in self.lines()]


@pytest.fixture
def heard() -> Heard:
    return Heard()


def test_a_reconciliation_is_counted_and_its_lines_belong_together(heard: Heard) -> None:
    heard.telemetry.began(CART)
    heard.telemetry.acted(CART, POLICY)
    heard.telemetry.reconciled(CART, "success", 0.02)
    heard.telemetry.synced()

    acted, reconciled, synced = heard.lines()
    assert acted["reconcileID"] == reconciled["reconcileID"]
    assert "reconcileID" not in synced
    del acted["ts"], acted["reconcileID"]
    assert acted == {
        "level": "info", "msg": "Carried out", "logger": "controller", "controller": "networkpolicy",
        "object": "shop/cart", "action": "create", "resource": "networkpolicies.networking.k8s.io",
        "key": "shop/ingress", "reason": "desired",
    }  # fmt: skip
    assert heard.count("controller_runtime_reconcile_total", result="success") == 1
    assert heard.count("controller_runtime_reconcile_errors_total") == 0
    assert heard.count("controller_runtime_reconcile_time_seconds_sum") == 0.02
    assert heard.count("hedgerow_plan_actions_total", action="create") == 1
    assert heard.count("hedgerow_cache_sync_timestamp_seconds") == 1_700_000_000


def test_work_in_progress_is_worked_out_when_somebody_asks(heard: Heard) -> None:
    heard.telemetry.began(CART)
    heard.now += 10
    heard.telemetry.began(STOCK)
    heard.now += 5

    assert heard.count("controller_runtime_active_workers") == 2
    assert heard.count("workqueue_unfinished_work_seconds") == 20
    assert heard.count("workqueue_longest_running_processor_seconds") == 15

    heard.telemetry.reconciled(CART, "success", 15)
    heard.telemetry.reconciled(STOCK, "success", 5)

    assert heard.count("controller_runtime_active_workers") == 0
    assert heard.count("workqueue_unfinished_work_seconds") == 0
    assert heard.count("workqueue_longest_running_processor_seconds") == 0


def test_what_fails_is_counted_until_it_succeeds_and_since_when(heard: Heard) -> None:
    assert (heard.count("hedgerow_failing_keys"), heard.count("hedgerow_failing_seconds")) == (0, 0)

    heard.telemetry.reconciled(CART, "error", 1)
    heard.now += 600
    heard.telemetry.reconciled(STOCK, "error", 1)
    heard.telemetry.reconciled(CART, "error", 1)
    heard.telemetry.reconciled(CART, "requeue", 1)
    heard.now += 300

    assert (heard.count("hedgerow_failing_keys"), heard.count("hedgerow_failing_seconds")) == (2, 900)

    heard.telemetry.reconciled(CART, "success", 1)
    assert (heard.count("hedgerow_failing_keys"), heard.count("hedgerow_failing_seconds")) == (1, 300)

    heard.telemetry.reconciled(STOCK, "requeue_after", 1)
    assert (heard.count("hedgerow_failing_keys"), heard.count("hedgerow_failing_seconds")) == (0, 0)


def test_a_key_whose_input_has_to_change_hides_no_other_failure(heard: Heard) -> None:
    invalid = Failure(SERVICES, CART, Problem("spec", "is invalid"))
    heard.telemetry.refused(CART, [invalid])
    heard.telemetry.reconciled(CART, "error", 1)
    heard.now += 600
    heard.telemetry.reconciled(STOCK, "error", 1)
    heard.now += 60
    assert (heard.count("hedgerow_rejected_keys"), heard.count("hedgerow_failing_keys")) == (1, 2)
    assert heard.count("hedgerow_failing_seconds") == 60

    heard.telemetry.reconciled(STOCK, "success", 1)
    heard.telemetry.refused(CART, [invalid, Failure(SERVICES, CART, Problem("", "no answer"), retryable=True)])
    heard.telemetry.reconciled(CART, "error", 1)
    heard.now += 5
    assert (heard.count("hedgerow_rejected_keys"), heard.count("hedgerow_failing_seconds")) == (0, 5)

    heard.telemetry.refused(CART, [invalid])
    heard.telemetry.reconciled(CART, "error", 1)
    heard.telemetry.reconciled(CART, "success", 1)
    assert (heard.count("hedgerow_rejected_keys"), heard.count("hedgerow_failing_keys")) == (0, 0)


def test_the_age_of_the_queue_is_asked_for(heard: Heard) -> None:
    assert heard.count("hedgerow_queue_age_seconds") == 0

    heard.telemetry.queues(lambda: 17.0)

    assert heard.count("hedgerow_queue_age_seconds") == 17


def test_the_queue_is_counted(heard: Heard) -> None:
    heard.telemetry.added(1)
    heard.telemetry.added(2)
    heard.telemetry.taken(1, 0.5)
    heard.telemetry.finished(0.25)
    heard.telemetry.retried()

    assert heard.count("workqueue_depth") == 1
    assert heard.count("workqueue_adds_total") == 2
    assert heard.count("workqueue_queue_duration_seconds_sum") == 0.5
    assert heard.count("workqueue_work_duration_seconds_sum") == 0.25
    assert heard.count("workqueue_retries_total") == 1


def test_a_defect_is_a_panic_with_a_traceback_and_slowness_is_not(heard: Heard) -> None:
    heard.telemetry.raised(CART, ZeroDivisionError("division by zero"))
    heard.telemetry.raised(CART, TimeoutError())
    heard.telemetry.reconciled(CART, "error", 1)

    assert heard.count("controller_runtime_reconcile_panics_total") == 1
    assert heard.count("controller_runtime_reconcile_errors_total") == 1
    assert heard.messages()[:2] == [
        ("error", "Reconciliation ended with a defect"),
        ("error", "Reconciliation took too long"),
    ]
    assert heard.lines()[0]["stacktrace"].endswith("ZeroDivisionError: division by zero")


def test_a_change_that_cannot_be_mapped_is_a_defect_too(heard: Heard) -> None:
    heard.telemetry.unmapped(SERVICES, ZeroDivisionError("division by zero"))

    assert heard.count("controller_runtime_reconcile_panics_total") == 1
    assert heard.messages() == [("error", "Could not map a change")]
    assert heard.lines()[0]["resource"] == "services"


@pytest.mark.parametrize(("retryable", "terminal"), [(False, 1), (True, 0)], ids=["bad input", "may heal"])
def test_what_went_wrong_is_told_and_counts_as_terminal_unless_it_may_heal(
    heard: Heard, *, retryable: bool, terminal: int
) -> None:
    heard.telemetry.refused(CART, [Failure(SERVICES, CART, Problem("spec.ports", "no ports"), retryable=retryable)])

    assert heard.count("controller_runtime_terminal_reconcile_errors_total") == terminal
    assert heard.lines()[0].items() >= {"level": "error", "error": "Service shop/cart: spec.ports: no ports"}.items()


@pytest.mark.parametrize(
    ("cause", "problem", "message"),
    [
        ("absent", None, "Nothing to do before the API server knows the resource"),
        ("refused", Refused(LIST, StatusError(404, "NotFound", "no such resource")), "Watch interrupted"),
    ],
    ids=["optional", "required"],
)
def test_a_controller_that_waits_for_the_definition_of_its_resource_warns_and_counts_until_it_is_there(
    heard: Heard, cause: str, problem: Exception | None, message: str
) -> None:
    def waits() -> float | None:
        return heard.count("hedgerow_waiting_for_definition", resource="services")

    heard.telemetry.interrupted(Watched(SERVICES), cause, problem)
    waiting = waits()
    heard.telemetry.resumed(Watched(SERVICES))

    assert heard.worrying()[0] == ("warning", message)
    assert (waiting, waits()) == (1, 0)


def test_a_controller_does_not_wait_for_what_it_can_do_without_nor_because_a_server_is_ill(heard: Heard) -> None:
    heard.telemetry.interrupted(Watched(PODS), "absent", None)
    heard.telemetry.interrupted(Watched(SERVICES), "refused", Refused(LIST, StatusError(503, "", "overloaded")))

    assert not [name for name in ("pods", "services") if heard.count("hedgerow_waiting_for_definition", resource=name)]
    assert ("warning", "Nothing to do before the API server knows the resource") not in heard.messages()


def test_an_event_of_type_warning_is_told_once_in_a_while(heard: Heard) -> None:
    warning = Event(SERVICES, CART, None, "Warning", "Odd", "as it says")

    for _ in range(3):
        heard.telemetry.warned(CART, warning)

    assert heard.worrying() == [("warning", "Warned")]
    assert heard.lines()[0].items() >= {"reason": "Odd", "note": "as it says"}.items()


def fail(heard: Heard, *failures: Failure, times: int = 1) -> None:
    """Reconcile a key in vain, or successfully where there are no failures, a second later each time."""
    for _ in range(times):
        heard.now += 1
        heard.telemetry.began(CART)
        if failures:
            heard.telemetry.refused(CART, failures)
        heard.telemetry.reconciled(CART, "error" if failures else "success", 0.1)


def test_what_fails_again_and_again_is_one_line_and_a_reminder(heard: Heard) -> None:
    missing, forbidden = (Failure(SERVICES, CART, Problem("", problem), retryable=True) for problem in ("gone", "no"))

    fail(heard, missing, times=100)
    assert heard.worrying() == [("error", "Could not reconcile")]
    fail(heard, missing, forbidden, times=100)
    assert heard.worrying() == [("error", "Could not reconcile")] * 2
    fail(heard, missing, forbidden, times=550)
    assert heard.worrying() == [("error", "Could not reconcile")] * 4


def test_what_fails_again_after_it_had_come_right_is_told_again(heard: Heard) -> None:
    missing = Failure(SERVICES, CART, Problem("", "gone"), retryable=True)

    fail(heard, missing, times=100)
    fail(heard)
    fail(heard, missing, times=100)

    assert heard.worrying() == [("error", "Could not reconcile")] * 2


def test_a_round_of_work_is_about_no_object_and_what_it_could_not_list_is_named(heard: Heard) -> None:
    heard.telemetry.began(SINGLETON)
    heard.telemetry.refused(SINGLETON, [Failure(SERVICES, SINGLETON, Problem("", "cannot be listed"), retryable=True)])
    heard.telemetry.refused(
        SINGLETON, [Failure(PODS, ObjectKey("shop", ""), Problem("", "cannot be listed"), retryable=True)]
    )
    heard.telemetry.reconciled(SINGLETON, "error", 0.1)

    told = heard.lines()[:2]
    assert [line["error"] for line in told] == [
        "Service objects: cannot be listed", "Pod objects in namespace shop: cannot be listed"
    ]  # fmt: skip
    assert not any("object" in line for line in told)


@pytest.mark.parametrize(("is_race", "level"), [(False, "error"), (True, "debug")])
def test_a_write_that_failed_is_told_and_a_lost_race_only_to_those_who_debug(
    heard: Heard, *, is_race: bool, level: str
) -> None:
    heard.telemetry.not_written(CART, NotWritten(POLICY, "exists", is_race=is_race))

    assert heard.messages() == [(level, "Could not carry out")]


def test_what_keeps_many_writes_from_being_made_is_one_line(heard: Heard) -> None:
    for number in range(50):
        policy = Create(POLICIES, {"metadata": {"namespace": "shop", "name": str(number)}}, "desired")
        for key in (CART, STOCK):
            heard.telemetry.not_written(key, NotWritten(policy, "connection refused", hits_all=True))
    heard.telemetry.not_written(CART, NotWritten(POLICY, "this process no longer holds the lease", hits_all=True))

    assert heard.worrying() == [("error", "Could not carry out")] * 2


def test_each_key_is_named_that_a_webhook_says_no_to(heard: Heard) -> None:
    for name in ("a", "b", "c", "a"):
        policy = Create(POLICIES, {"metadata": {"namespace": "shop", "name": f"ingress-to-{name}"}}, "desired")
        denial = 'admission webhook "policy.example" denied the request'
        heard.telemetry.not_written(ObjectKey("shop", name), NotWritten(policy, denial))

    told = [line["key"] for line in heard.lines() if line["level"] == "error"]
    assert told == ["shop/ingress-to-a", "shop/ingress-to-b", "shop/ingress-to-c"]


def test_deletions_that_are_held_back_are_counted_and_told_of_each_key_once_in_a_while(heard: Heard) -> None:
    for key in (CART, STOCK, CART):
        heard.telemetry.deletions_held(key, 40)

    assert heard.count("hedgerow_deletion_guard_stops_total") == 3
    assert heard.worrying() == [("error", "Held deletions back")] * 2
    assert heard.lines()[0].items() >= {"level": "error", "msg": "Held deletions back", "deletions": 40}.items()


def test_the_end_of_a_watch_is_counted_by_cause_and_only_a_problem_is_a_warning(heard: Heard) -> None:
    heard.telemetry.interrupted(Watched(SERVICES), "closed", None)
    heard.telemetry.interrupted(Watched(SERVICES), "disconnected", OSError("reset"))

    assert heard.count("hedgerow_watch_restarts_total", resource="services", cause="closed") == 1
    assert heard.count("hedgerow_watch_restarts_total", resource="services", cause="disconnected") == 1
    assert heard.messages() == [("debug", "Watch ended"), ("warning", "Watch interrupted")]


def test_an_outage_that_ends_all_watches_again_and_again_is_one_line_and_so_is_its_end(heard: Heard) -> None:
    for second in range(60):
        heard.now = 100.0 + second
        heard.telemetry.interrupted(Watched(SERVICES), "disconnected", OSError(f"refused at port {second}"))
        heard.telemetry.interrupted(Watched(POLICIES), "disconnected", OSError("reset"))
    heard.telemetry.interrupted(Watched(PODS), "forbidden", OSError("not yet"))
    heard.telemetry.resumed(Watched(SERVICES))
    heard.telemetry.resumed(Watched(POLICIES))
    assert heard.worrying() == [("warning", "Watch interrupted")]

    heard.telemetry.resumed(Watched(PODS))
    assert heard.worrying() == [("warning", "Watch interrupted"), ("info", "Watches are back")]

    heard.now += 100
    heard.telemetry.interrupted(Watched(SERVICES), "disconnected", OSError("again"))
    assert heard.worrying()[2:] == [("warning", "Watch interrupted")]
    assert heard.count("hedgerow_watch_restarts_total", resource="services", cause="disconnected") == 61


@pytest.mark.parametrize(
    "other",
    [Watched(SERVICES, Cluster.SOURCE), Watched(SERVICES, scope=ReadScope("shop"))],
    ids=["other cluster", "other namespace"],
)
def test_watches_of_one_resource_are_back_only_when_all_of_them_are(heard: Heard, other: Watched) -> None:
    for second in range(100):
        heard.now = 100.0 + second
        heard.telemetry.interrupted(Watched(SERVICES), "disconnected", OSError("reset"))
        heard.telemetry.interrupted(other, "disconnected", OSError("reset"))
        heard.telemetry.resumed(Watched(SERVICES))
    assert heard.worrying() == [("warning", "Watch interrupted")]

    heard.telemetry.resumed(other)
    assert heard.worrying()[1:] == [("info", "Watches are back")]


def test_versions_that_are_forgotten_without_end_are_worth_a_line(heard: Heard) -> None:
    for seconds in (0, 2, 1):
        heard.now += seconds
        assert heard.worrying() == []
        heard.telemetry.interrupted(Watched(SERVICES), "expired", OSError("the continue token is too old"))
        heard.telemetry.interrupted(Watched(PODS), "expired", OSError("the continue token is too old"))

    assert heard.worrying() == [("warning", "Watch interrupted")]


def test_what_two_watches_have_forgotten_one_after_the_other_is_not_worth_a_line(heard: Heard) -> None:
    heard.telemetry.interrupted(Watched(SERVICES), "expired", OSError("too old resource version"))
    heard.now += 4
    heard.telemetry.interrupted(Watched(PODS), "expired", OSError("too old resource version"))

    assert heard.worrying() == []


def test_a_version_that_is_forgotten_is_not_worth_a_line_as_a_list_follows(heard: Heard) -> None:
    heard.telemetry.interrupted(Watched(SERVICES), "expired", OSError("too old resource version"))
    heard.telemetry.resumed(Watched(SERVICES))

    assert heard.worrying() == []


def test_a_permission_that_is_missing_for_a_moment_is_not_worth_a_line(heard: Heard) -> None:
    sentence = "missing permission: watch services (all namespaces)"
    for resumed in (True, False):
        for seconds in (0, 1, 1.9):
            heard.now += seconds
            heard.telemetry.interrupted(Watched(SERVICES), "forbidden", OSError(sentence))
        if resumed:
            heard.telemetry.resumed(Watched(SERVICES))
    assert heard.worrying() == []

    heard.now += 1
    heard.telemetry.interrupted(Watched(SERVICES), "forbidden", OSError(sentence))
    heard.telemetry.interrupted(Watched(SERVICES), "forbidden", OSError(sentence))

    assert heard.worrying() == [("warning", "Watch interrupted")]
    assert heard.lines()[-2]["error"] == sentence


def test_each_object_that_cannot_be_read_is_named(heard: Heard) -> None:
    for name in ("a", "b", "a"):
        heard.telemetry.interrupted(Watched(SERVICES), "unreadable", OSError(f"Service shop/{name} cannot be read"))

    assert [line["error"] for line in heard.lines() if line["level"] == "warning"] == [
        "Service shop/a cannot be read", "Service shop/b cannot be read",
    ]  # fmt: skip


def test_the_age_of_a_cache_is_asked_for_with_the_metrics_and_the_oldest_of_several_counts(heard: Heard) -> None:
    silence = {"source": 3.0, "target": 5.0}
    heard.telemetry.keeps(SERVICES, lambda: silence["source"])
    heard.telemetry.keeps(SERVICES, lambda: silence["target"])
    assert heard.count("hedgerow_cache_sync_age_seconds", resource="services") == 5.0

    silence["source"] = 60.0
    assert heard.count("hedgerow_cache_sync_age_seconds", resource="services") == 60.0


def test_waits_for_own_writes_are_measured_and_those_that_came_to_nothing_counted_and_told(heard: Heard) -> None:
    heard.telemetry.waited(CART, 0.25, caught_up=True)
    assert heard.lines() == []
    heard.telemetry.waited(CART, 5.0, caught_up=False)
    heard.telemetry.waited(STOCK, 5.0, caught_up=False)

    assert heard.count("hedgerow_cache_wait_seconds_count") == 3
    assert heard.count("hedgerow_cache_wait_seconds_sum") == 10.25
    assert heard.count("hedgerow_cache_wait_timeouts_total") == 2
    assert heard.worrying() == [("warning", "Caches do not show own writes")]


def test_a_fight_is_told_and_counted_and_how_many_keys_are_slowed_down(heard: Heard) -> None:
    heard.telemetry.slowed(1)
    heard.telemetry.conflicted(CART, WriteConflict(POLICY, 6, 130.0, ("kubectl-edit", "rival")), 30.0)

    assert heard.count("hedgerow_write_conflicts_total") == 1
    assert heard.count("hedgerow_slowed_keys") == 1
    (line,) = heard.lines()
    assert line.items() >= {
        "level": "warning", "msg": "Write conflict", "wait": 30.0, "key": "shop/ingress",
        "what": "NetworkPolicy shop/ingress was corrected 6 times within 2 minutes (desired): "
        "kubectl-edit or rival undoes it",
        "managers": ["kubectl-edit", "rival"],
    }.items()  # fmt: skip
    heard.telemetry.slowed(0)
    assert heard.count("hedgerow_slowed_keys") == 0


def test_the_start_says_how_many_workers_and_keys_there_are(heard: Heard) -> None:
    heard.telemetry.started(7)

    assert heard.lines()[0].items() >= {"msg": "Starting workers", "workers": 15, "keys": 7}.items()


def test_every_action_has_a_name() -> None:
    assert set(KINDS) == set(get_args(Action))
