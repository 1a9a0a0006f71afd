"""What a running process answers to probes and to Prometheus."""

from prometheus_client.parser import text_string_to_metric_families

from hedgerow.version import __version__
from tests.e2e.faults import no_api_server
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import Manifest, Sandbox, pair, service

NAMES = {
    "controller_runtime_active_workers": {"controller"},
    "controller_runtime_max_concurrent_reconciles": {"controller"},
    "controller_runtime_reconcile_errors_total": {"controller"},
    "controller_runtime_reconcile_time_seconds_bucket": {"controller", "le"},
    "controller_runtime_reconcile_time_seconds_count": {"controller"},
    "controller_runtime_reconcile_time_seconds_sum": {"controller"},
    "controller_runtime_reconcile_total": {"controller", "result"},
    "controller_runtime_terminal_reconcile_errors_total": {"controller"},
    "leader_election_master_status": {"name"},
    "rest_client_requests_total": {"code", "method", "host"},
    "workqueue_adds_total": {"name", "controller"},
    "workqueue_depth": {"name", "controller"},
    "workqueue_longest_running_processor_seconds": {"name", "controller"},
    "workqueue_queue_duration_seconds_bucket": {"name", "controller", "le"},
    "workqueue_retries_total": {"name", "controller"},
    "workqueue_unfinished_work_seconds": {"name", "controller"},
    "workqueue_work_duration_seconds_bucket": {"name", "controller", "le"},
}


ANSWERS = {
    "/healthz": (200, "ok"),
    "/healthz?verbose": (200, "[+]apiserver-healthz ok\n[+]ping ok\nhealthz check passed\n"),
    "/healthz/ping": (200, "ok"),
    "/healthz/apiserver-healthz": (200, "ok"),
    "/readyz": (200, "ok"),
    "/readyz?verbose": (200, "[+]source-informer-sync ok\nreadyz check passed\n"),
    "/readyz/source-informer-sync": (200, "ok"),
}


def test_probes_are_answered_together_and_one_by_one(resource_manager: ResourceManager) -> None:
    assert {path: resource_manager.probe(path) for path in ANSWERS} == ANSWERS


def test_the_log_opens_with_name_version_and_flags(resource_manager: ResourceManager) -> None:
    first = resource_manager.log_lines()[0]
    assert (first["msg"], first["component"], first["version"]) == ("Starting", "resource-manager", __version__)
    assert first["flags"] == {"config": str(resource_manager.config_file)}


def test_a_process_without_its_api_server_is_ready_but_not_healthy(
    sandbox: Sandbox, resource_manager: ResourceManager
) -> None:
    failed = "[-]apiserver-healthz failed: reason withheld\n[+]ping ok\nhealthz check failed\n"
    with no_api_server(sandbox.control_plane):
        resource_manager.wait_for(lambda: resource_manager.probe("/healthz") == (500, failed), "is not unhealthy")
        reason = f"cannot connect to {sandbox.control_plane.url}: Connection refused"
        assert resource_manager.probe("/healthz/apiserver-healthz") == (500, f"internal server error: {reason}\n")
        assert resource_manager.probe("/healthz/ping") == (200, "ok")
        assert resource_manager.probe("/readyz") == (200, "ok")
    resource_manager.wait_for(lambda: resource_manager.probe("/healthz") == (200, "ok"), "is not healthy again")
    assert resource_manager.log_lines("Probe failed")[-1]["checks"] == {"apiserver-healthz": reason}


def leading(sandbox: Sandbox) -> Manifest:
    return sandbox.configuration(
        {"concurrentSyncs": 7}, leaderElection={"leaderElect": True, "resourceNamespace": sandbox.home}
    )


def test_metrics_have_the_names_that_operators_of_the_reference_know(sandbox: Sandbox) -> None:
    sandbox.create(service(sandbox.namespace("shop"), "cart"))
    with ResourceManager(sandbox.folder, leading(sandbox)) as process:
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        process.wait_until_idle()
        samples = [sample for family in text_string_to_metric_families(process.metrics()) for sample in family.samples]
        labels = {sample.name: set(sample.labels) for sample in samples}
        host = sandbox.control_plane.url.removeprefix("https://")

        assert {name: labels.get(name) for name in NAMES} == NAMES
        assert process.metric("controller_runtime_max_concurrent_reconciles", controller="networkpolicy") == 3 * 7
        assert process.metric("controller_runtime_reconcile_total", controller="networkpolicy", result="success") > 0
        assert process.metric("controller_runtime_reconcile_errors_total") == 0
        assert process.metric("leader_election_master_status", name="gardener-resource-manager") == 1
        assert process.metric("rest_client_requests_total", code="201", method="POST", host=host) >= 2
        assert process.metric("process_resident_memory_bytes") > 0
