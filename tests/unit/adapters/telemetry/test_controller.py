"""What is counted and written of one running controller."""

import io
import json
from typing import Any

import pytest

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import Create, Plan
from hedgerow.machinery.snapshot import Index
from hedgerow_adapters.runtime.executor import NotWritten
from hedgerow_adapters.telemetry import ControllerTelemetry, RuntimeMetrics, configure_logs

POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
SERVICES = Resource("", "v1", "services", "Service")
CART, STOCK = ObjectKey("shop", "cart"), ObjectKey("shop", "stock")
POLICY = Create(POLICIES, {"metadata": {"namespace": "shop", "name": "ingress"}}, "desired")
CONTROLLER: Controller[None] = Controller(
    name="networkpolicy",
    primary=SERVICES,
    watches=(),
    indexes=(),
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
def test_what_cannot_be_planned_is_told_and_counts_as_terminal_unless_it_may_heal(
    heard: Heard, *, retryable: bool, terminal: int
) -> None:
    heard.telemetry.refused(CART, [DomainFailure(SERVICES, CART, "spec.ports", "no ports", retryable=retryable)])

    assert heard.count("controller_runtime_terminal_reconcile_errors_total") == terminal
    assert heard.lines()[0].items() >= {"level": "error", "error": "Service shop/cart: spec.ports: no ports"}.items()


@pytest.mark.parametrize(("is_race", "level"), [(False, "error"), (True, "debug")])
def test_a_write_that_failed_is_told_and_a_lost_race_only_to_those_who_debug(
    heard: Heard, *, is_race: bool, level: str
) -> None:
    heard.telemetry.not_written(CART, NotWritten(POLICY, "exists", is_race=is_race))

    assert heard.messages() == [(level, "Could not carry out")]


def test_deletions_that_are_held_back_are_told_and_counted(heard: Heard) -> None:
    heard.telemetry.deletions_held(CART, 40)

    assert heard.count("hedgerow_deletion_guard_stops_total") == 1
    assert heard.lines()[0].items() >= {"level": "error", "msg": "Held deletions back", "deletions": 40}.items()


def test_the_end_of_a_watch_is_counted_by_cause_and_only_a_problem_is_a_warning(heard: Heard) -> None:
    heard.telemetry.interrupted(SERVICES, "closed", None)
    heard.telemetry.interrupted(SERVICES, "disconnected", OSError("reset"))

    assert heard.count("hedgerow_watch_restarts_total", resource="services", cause="closed") == 1
    assert heard.count("hedgerow_watch_restarts_total", resource="services", cause="disconnected") == 1
    assert heard.messages() == [("debug", "Watch ended"), ("warning", "Watch interrupted")]


def test_the_start_says_how_many_workers_and_keys_there_are(heard: Heard) -> None:
    heard.telemetry.started(7)

    assert heard.lines()[0].items() >= {"msg": "Starting workers", "workers": 5, "keys": 7}.items()
