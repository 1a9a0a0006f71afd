"""Metrics as Prometheus reads them."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hedgerow_adapters.telemetry.metrics import QUEUE_SECONDS, RECONCILE_SECONDS, RuntimeMetrics


def exposed(metrics: RuntimeMetrics) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Values by series name and labels."""
    text = metrics.exposition().decode()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def series(name: str, /, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


def test_a_controller_has_all_its_series_from_the_start() -> None:
    metrics = RuntimeMetrics()
    metrics.controller("networkpolicy", 5)
    metrics.queue("networkpolicy")

    found = exposed(metrics)

    controller, queue = {"controller": "networkpolicy"}, {"name": "networkpolicy", "controller": "networkpolicy"}
    for result in ("success", "error", "requeue", "requeue_after"):
        assert found[series("controller_runtime_reconcile_total", result=result, **controller)] == 0
    assert found[series("controller_runtime_max_concurrent_reconciles", **controller)] == 5
    for name in (
        "controller_runtime_reconcile_errors_total",
        "controller_runtime_terminal_reconcile_errors_total",
        "controller_runtime_reconcile_panics_total",
        "controller_runtime_reconcile_time_seconds_count",
        "controller_runtime_active_workers",
        "hedgerow_cache_wait_seconds_count",
        "hedgerow_cache_wait_timeouts_total",
        "hedgerow_deletion_guard_stops_total",
        "hedgerow_write_conflicts_total",
        "hedgerow_slowed_keys",
        "hedgerow_cache_sync_timestamp_seconds",
    ):
        assert found[series(name, **controller)] == 0, name
    for name in (
        "workqueue_depth",
        "workqueue_adds_total",
        "workqueue_queue_duration_seconds_count",
        "workqueue_work_duration_seconds_count",
        "workqueue_unfinished_work_seconds",
        "workqueue_longest_running_processor_seconds",
        "workqueue_retries_total",
    ):
        assert found[series(name, **queue)] == 0, name


def test_what_happens_once_in_a_while_appears_when_it_happens() -> None:
    metrics = RuntimeMetrics()
    controller = metrics.controller("networkpolicy", 5)

    metrics.reading("networkpolicy").watch_restarts("services", "expired").inc()
    controller.plan_actions("create").inc()
    metrics.request_sent("200", "GET", "api:443")
    metrics.request_sent("200", "GET", "api:443")
    metrics.request_sent("<error>", "PUT", "api:443")
    metrics.leads("hedgerow", is_leading=False)

    found = exposed(metrics)
    restarts = series("hedgerow_watch_restarts_total", controller="networkpolicy", resource="services", cause="expired")
    assert found[restarts] == 1
    assert found[series("hedgerow_plan_actions_total", controller="networkpolicy", action="create")] == 1
    assert found[series("rest_client_requests_total", code="200", method="GET", host="api:443")] == 2
    assert found[series("rest_client_requests_total", code="<error>", method="PUT", host="api:443")] == 1
    assert found[series("leader_election_master_status", name="hedgerow")] == 0


def test_what_boards_ask_of_any_process_is_there() -> None:
    names = {name for name, _ in exposed(RuntimeMetrics())}

    assert names >= {
        "process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes",
        "process_start_time_seconds", "process_open_fds", "process_max_fds",
    }  # fmt: skip


def test_no_series_tells_when_another_was_created() -> None:
    metrics = RuntimeMetrics()
    metrics.controller("networkpolicy", 5)
    metrics.queue("networkpolicy")

    assert not [name for name, _ in exposed(metrics) if name.endswith("_created")]


def test_two_processes_in_one_count_for_themselves() -> None:
    one, other = RuntimeMetrics(), RuntimeMetrics()

    one.leads("hedgerow", is_leading=True)

    assert series("leader_election_master_status", name="hedgerow") not in exposed(other)


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("controller_runtime_reconcile_time_seconds", RECONCILE_SECONDS),
        ("workqueue_queue_duration_seconds", QUEUE_SECONDS),
        ("workqueue_work_duration_seconds", QUEUE_SECONDS),
    ],
)
def test_histograms_have_the_buckets_that_dashboards_expect(name: str, bounds: tuple[float, ...]) -> None:
    metrics = RuntimeMetrics()
    metrics.controller("networkpolicy", 5)
    metrics.queue("networkpolicy")

    found = [float(dict(labels)["le"]) for series_name, labels in exposed(metrics) if series_name == f"{name}_bucket"]

    assert sorted(found) == [*bounds, float("inf")]
    assert (len(RECONCILE_SECONDS), QUEUE_SECONDS[0], QUEUE_SECONDS[-1]) == (40, 1e-8, 1e3)
