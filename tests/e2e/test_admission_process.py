"""The process serves its webhooks on every replica, from before it is ready until nobody can be asking any more."""

import http.client
import json
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from hedgerow.api.kubernetes import DEPLOYMENTS
from tests.contract.webhook_server import ServingPair
from tests.control_plane import PATIENCE, wait_until
from tests.e2e.admission import CONSIDERED, HIGH_AVAILABILITY, calling, deployment, patched, registered, review
from tests.e2e.admission_server.clients import anybody
from tests.e2e.faults import silent_api_server
from tests.e2e.hvpas import hvpas_defined
from tests.e2e.replicas import LEASE, Replica
from tests.e2e.resource_manager import ResourceManager, errors_of, run_command
from tests.e2e.sandbox import Sandbox

WEBHOOKS = {"highAvailabilityConfig": {"enabled": True}}
DELAY = 6
"""Seconds for which webhooks answer once the process is told to end."""
_DEPLOYMENTS = "/apis/apps/v1/namespaces/{namespace}/deployments"


@pytest.fixture
def process(sandbox: Sandbox, serving_pair: ServingPair) -> Iterator[ResourceManager]:
    """A process that serves a webhook, and is ready."""
    with ResourceManager(sandbox.folder, sandbox.configuration(webhooks=WEBHOOKS)) as running:
        running.wait_ready()
        yield running


@pytest.fixture
def shop(sandbox: Sandbox) -> str:
    """A namespace whose workloads are to be highly available."""
    return sandbox.namespace("shop", handled=True, **CONSIDERED)


def about(namespace: str, name: str = "cart") -> dict[str, Any]:
    return review(DEPLOYMENTS, "CREATE", namespace, name, deployment(namespace, name))


def replicas_of(response: dict[str, Any]) -> Any:
    return patched(response).get("/spec/replicas")


def test_every_replica_serves_whoever_leads(sandbox: Sandbox, serving_pair: ServingPair, shop: str) -> None:
    with Replica(sandbox, "leader", webhooks=WEBHOOKS) as leader:
        leader.wait_until_leading()
        with Replica(sandbox, "standby", webhooks=WEBHOOKS) as standby:
            for replica in (leader, standby):
                replica.wait_ready()
                with calling(replica, serving_pair) as caller:
                    assert replicas_of(caller.ask(HIGH_AVAILABILITY, about(shop))) == 2
            assert standby.metric("leader_election_master_status", name=LEASE) == 0
            assert standby.log_lines("Starting workers") == []


def test_it_is_ready_once_its_webhooks_can_be_called(process: ResourceManager) -> None:
    assert process.probe("/readyz/webhook-server") == (http.client.OK, "ok")
    assert process.probe("/readyz?verbose")[1].splitlines() == [
        "[+]source-informer-sync ok",
        "[+]webhook-server ok",
        "readyz check passed",
    ]


def test_with_authorities_for_clients_it_is_ready_and_refuses_who_shows_no_certificate(
    sandbox: Sandbox, serving_pair: ServingPair
) -> None:
    config, authorities = sandbox.configuration(webhooks=WEBHOOKS), str(sandbox.folder / "tls.crt")
    with ResourceManager(sandbox.folder, config, client_ca_file=authorities) as process:
        process.wait_ready()
        stranger = http.client.HTTPSConnection("127.0.0.1", process.webhook_port, context=anybody())
        stranger.request("POST", "/webhooks/any", b"{}")

        assert stranger.getresponse().status == http.client.UNAUTHORIZED
        stranger.close()
        (line,) = process.log_lines("TLS handshake failed")
        assert line["error"] == "the client showed no certificate"


def test_webhooks_are_served_where_no_file_can_be_written(sandbox: Sandbox, serving_pair: ServingPair) -> None:
    with ResourceManager(sandbox.folder, sandbox.configuration(webhooks=WEBHOOKS), writes=False) as process:
        process.wait_ready()

        assert process.terminate() == 0


def test_without_webhooks_nothing_is_served_and_no_certificate_needed(resource_manager: ResourceManager) -> None:
    assert "webhook" not in resource_manager.probe("/readyz?verbose")[1]
    assert 'controller="webhooks"' not in resource_manager.metrics()
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection("127.0.0.1", resource_manager.webhook_port, timeout=10).connect()


def test_the_api_server_stores_what_a_webhook_makes_of_a_workload(
    sandbox: Sandbox, process: ResourceManager, serving_pair: ServingPair, shop: str
) -> None:
    path = _DEPLOYMENTS.format(namespace=shop)

    def stored(name: str) -> dict[str, Any]:
        status, answer = sandbox.control_plane.request("POST", path, deployment(shop, name))
        assert status == http.client.CREATED, answer
        spec: dict[str, Any] = answer["spec"]
        return spec

    with registered(sandbox, process, serving_pair):
        # The API server takes up a new registration some moments later.
        wait_until(
            lambda: (
                stored("probe")["replicas"] == 2
                or sandbox.control_plane.request("DELETE", f"{path}/probe")[0] != http.client.OK
            ),
            timeout=PATIENCE,
            otherwise=lambda: AssertionError("the API server does not ask"),
        )
        spec = stored("cart")

    assert spec["replicas"] == 2
    assert [each["topologyKey"] for each in spec["template"]["spec"]["topologySpreadConstraints"]] == [
        "kubernetes.io/hostname"
    ]
    assert errors_of(process.log_lines()) == []


def test_reviews_are_counted_by_webhook(process: ResourceManager, serving_pair: ServingPair, shop: str) -> None:
    with calling(process, serving_pair) as caller:
        for name in ("cart", "till", "stock"):
            assert replicas_of(caller.ask(HIGH_AVAILABILITY, about(shop, name))) == 2

    webhook = {"webhook": HIGH_AVAILABILITY}
    assert process.metric("controller_runtime_webhook_requests_total", code="200", **webhook) == 3
    assert process.metric("controller_runtime_webhook_latency_seconds_count", **webhook) == 3
    assert process.metric("controller_runtime_webhook_requests_in_flight", **webhook) == 0
    assert process.metric("certwatcher_read_certificate_total") == 1
    assert process.metric("certwatcher_read_certificate_errors_total") == 0
    assert process.metric("hedgerow_cache_sync_timestamp_seconds", controller="webhooks") > 0


def test_what_is_being_reviewed_is_answered_before_a_process_ends(
    sandbox: Sandbox, process: ResourceManager, serving_pair: ServingPair
) -> None:
    with calling(process, serving_pair) as caller:
        with silent_api_server(sandbox.control_plane):
            # No cache knows this Namespace, so the API server is asked for it, which says nothing.
            caller.send(HIGH_AVAILABILITY, about(f"{sandbox.prefix}-new"), timeout="4s")
            process.wait_for(
                lambda: process.metric("controller_runtime_webhook_requests_in_flight") == 1, "is not asked"
            )
            process.send_signal(signal.SIGTERM)
            process.wait_for(
                lambda: (
                    process.probe("/readyz/webhook-server")
                    == (500, "internal server error: webhook server is shutting down\n")
                ),
                "still says that it is ready",
            )
            response = caller.answer()
        assert process.wait() == 0

    assert (response["allowed"], response["status"]["code"]) == (False, 500)
    assert response["status"]["message"] == "high-availability-config waited 3.6 s for its live reads"
    assert [line["msg"] for line in process.log_lines("Stop")] == ["Stopping", "Stopped"]


def test_a_workload_out_of_sight_is_denied_and_nobody_is_asked_about_it(
    sandbox: Sandbox, serving_pair: ServingPair, shop: str
) -> None:
    """Its autoscalers are out of sight too, so that nobody can tell how many replicas it is to have."""
    hidden = sandbox.namespace("hidden", handled=True, **CONSIDERED)
    source = {"kubeconfig": str(sandbox.kubeconfig), "namespaces": [shop]}
    with ResourceManager(sandbox.folder, sandbox.configuration(source=source, webhooks=WEBHOOKS)) as process:
        process.wait_ready()
        with calling(process, serving_pair) as caller:
            assert replicas_of(caller.ask(HIGH_AVAILABILITY, about(shop))) == 2
            response = caller.ask(HIGH_AVAILABILITY, about(hidden))
        (said,) = process.log_lines("Could not decide")

    problem = f'Namespace "{hidden}" is not among those that this process is configured to see'
    assert (response["allowed"], response["status"]["message"], said["error"]) == (False, problem, problem)


def test_an_idle_process_says_goodbye_and_ends(process: ResourceManager, serving_pair: ServingPair, shop: str) -> None:
    with calling(process, serving_pair) as caller:
        assert replicas_of(caller.ask(HIGH_AVAILABILITY, about(shop))) == 2
        assert process.terminate() == 0


def test_reviews_are_answered_for_the_configured_time_while_the_lease_is_already_given_back(
    sandbox: Sandbox, serving_pair: ServingPair, shop: str
) -> None:
    election = {"leaderElect": True, "resourceNamespace": sandbox.home}
    config = sandbox.configuration(leaderElection=election, webhooks=WEBHOOKS)
    with ResourceManager(sandbox.folder, config, shutdown_delay=f"{DELAY}s") as process:
        process.wait_ready()
        process.wait_until_at_work()
        told_at = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait_for(lambda: process.probe("/readyz")[0] == http.client.INTERNAL_SERVER_ERROR, "says it is ready")
        process.wait_for(
            lambda: not sandbox.get("Lease", sandbox.home, LEASE)["spec"].get("holderIdentity"), "keeps the lease"
        )
        with calling(process, serving_pair) as caller:
            assert replicas_of(caller.ask(HIGH_AVAILABILITY, about(shop))) == 2

        assert process.wait() == 0
        assert time.monotonic() - told_at >= DELAY


@pytest.mark.parametrize(
    ("certificate", "problem"),
    [
        pytest.param(None, "cannot read {folder}/tls.crt: no such file or directory", id="missing"),
        pytest.param(b"", "tls.crt and tls.key in {folder} are no certificate and key in PEM", id="empty"),
    ],
)
def test_without_a_usable_certificate_it_says_so_in_a_sentence_and_ends(
    sandbox: Sandbox, certificate: bytes | None, problem: str
) -> None:
    process = ResourceManager(sandbox.folder, sandbox.configuration(webhooks=WEBHOOKS))
    if certificate is not None:
        ServingPair.new(sandbox.folder)
        (sandbox.folder / "tls.crt").write_bytes(certificate)

    done = run_command("run", "resource-manager", "--config", str(process.config_file))

    last = json.loads(done.stderr.splitlines()[-1])
    assert (done.returncode, done.stdout, last["msg"]) == (1, "", "Process failed")
    assert last["error"] == f"cannot serve webhooks: {problem.format(folder=sandbox.folder)}"
    assert last["field"] == "server.webhooks.tls.serverCertDir"


def test_a_resource_counts_from_when_it_is_defined_until_it_is_no_longer(
    sandbox: Sandbox, process: ResourceManager, serving_pair: ServingPair, shop: str
) -> None:
    scaled = review(DEPLOYMENTS, "CREATE", shop, "cart", deployment(shop, "cart", replicas=5))

    def replicas() -> Any:
        with calling(process, serving_pair) as caller:
            return replicas_of(caller.ask(HIGH_AVAILABILITY, scaled))

    assert replicas() == 2
    with hvpas_defined(sandbox.control_plane) as create:
        create(shop, "cart")
        process.wait_for(lambda: replicas() is None, "does not know that the workload is scaled")
    process.wait_for(lambda: replicas() == 2, "still takes the workload for scaled")
    process.wait_for(
        lambda: process.metric("hedgerow_watch_restarts_total", controller="webhooks", cause="absent") == 2,
        "has not found the definition gone",
    )

    assert errors_of(process.log_lines()) == []
