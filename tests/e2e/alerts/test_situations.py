"""Which alerts fire in which situation of a real process, by what it tells then. Without any, none fires."""

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hedgerow.api.kubernetes import DEPLOYMENTS
from tests.contract.webhook_server import ServingPair
from tests.control_plane import ControlPlane
from tests.control_plane.credentials import User, kubeconfig, write_private
from tests.control_plane.fault_proxy import FaultProxy
from tests.e2e.admission import CONSIDERED, HIGH_AVAILABILITY, calling, deployment, review
from tests.e2e.alerts.monitored import NO_ANSWER, Monitored, Prometheus, Scrape, Series
from tests.e2e.managed_definition import install, remove
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import config_map
from tests.e2e.managed_resources.sandbox import SETTLED, ManagedResourceSandbox
from tests.e2e.permissions import ACCOUNT, account_kubeconfig
from tests.e2e.replicas import LEASE, Replica
from tests.e2e.resource_manager import NETWORK_POLICIES, ResourceManager
from tests.e2e.sandbox import Manifest, Sandbox, pair, service

WEBHOOKS = {"highAvailabilityConfig": {"enabled": True}}
TIME_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"
DELIVERIES = 30
CONDITION = "hedgerow_managed_resource_condition"
AGES = (
    "hedgerow_failing_seconds",
    "hedgerow_queue_age_seconds",
    "hedgerow_cache_sync_age_seconds",
    "workqueue_longest_running_processor_seconds",
)


def elected(namespace: str) -> Manifest:
    return {"leaderElect": True, "resourceNamespace": namespace}


def take_lease(sandbox: Sandbox) -> None:
    """Let the Lease belong to somebody who never gives it back."""
    now = datetime.now(UTC).strftime(TIME_FORMAT)
    times = {"leaseDurationSeconds": 3600, "acquireTime": now, "renewTime": now}
    sandbox.patch("Lease", sandbox.home, LEASE, {"spec": {"holderIdentity": "somebody-else", **times}})


def refused(namespace: str) -> Manifest:
    """An object that no API server takes."""
    return {**config_map(namespace, "settings"), "data": {"a key with blanks": "value"}}


def test_one_delivery_that_fails_among_many_wakes_somebody_after_a_quarter_of_an_hour(
    deliveries: ManagedResourceSandbox, long_pair: ServingPair, prometheus: Prometheus
) -> None:
    namespace = deliveries.namespace
    config = deliveries.configuration(leaderElection=elected(namespace), webhooks=WEBHOOKS)
    for number in range(DELIVERIES):
        deliveries.deliver(f"mr-{number}", config_map(namespace, f"settings-{number}"))
    with Manager(deliveries.folder, config) as process:
        process.wait_ready()
        deliveries.wait_until_applied(expected=SETTLED)
        process.wait_for(lambda: process.metric(CONDITION) == 3 * DELIVERIES, "does not report all conditions")
        process.wait_until_idle()
        healthy = Scrape.of(process)
        prometheus.require_firing(Monitored(healthy, healthy), after=120, expected={})

        deliveries.deliver("bad", refused(namespace))
        bad = {"name": "bad", "type": "ResourcesApplied", "status": "False"}
        process.wait_for(lambda: process.metric(CONDITION, **bad) == 1, "does not report the condition")
        process.wait_for(lambda: process.metric("hedgerow_failing_keys") == 1, "does not count the key")
        failing = Monitored(healthy, Scrape.of(process), growing=AGES[:1])

    prometheus.require_firing(failing, after=14, expected={})
    prometheus.require_firing(
        failing,
        after=20,
        expected={"HedgerowDeliveryFails": 1, "HedgerowErrors": 1},
        where={
            "HedgerowDeliveryFails": {"exported_namespace": namespace, "name": "bad", "severity": "critical"},
            "HedgerowErrors": {"controller": "managedresource"},
        },
    )


@pytest.fixture
def shop(sandbox: Sandbox) -> str:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))
    return shop


@pytest.fixture
def process(sandbox: Sandbox, shop: str, long_pair: ServingPair) -> Iterator[ResourceManager]:
    """A process with a webhook that has done what there was to do."""
    with ResourceManager(sandbox.folder, sandbox.configuration(webhooks=WEBHOOKS)) as running:
        running.wait_ready()
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        running.wait_until_idle()
        yield running


def test_an_installation_that_nobody_leads_is_told_from_one_that_somebody_leads(
    sandbox: Sandbox, prometheus: Prometheus
) -> None:
    with Replica(sandbox, "leader") as leader:
        leader.wait_until_leading()
        led = Scrape.of(leader)
        assert leader.terminate() == 0
    take_lease(sandbox)
    with Replica(sandbox, "standby") as standby:
        standby.wait_for_line("Leader election")
        unled = Scrape.of(standby)

    prometheus.require_firing(
        Monitored(led, led, namespace="one"),
        Monitored(unled, unled, namespace="one", instance="10.0.0.2:8080"),
        Monitored(unled, unled, namespace="other"),
        after=10,
        expected={"HedgerowNobodyLeads": 1},
        where={"HedgerowNobodyLeads": {"namespace": "other", "name": LEASE}},
    )


def test_a_process_that_is_gone_is_missed_where_no_other_answers(
    process: ResourceManager, prometheus: Prometheus
) -> None:
    alive = Scrape.of(process)
    process.kill()
    assert process.metrics() == ""
    gone = Monitored(alive, NO_ANSWER, namespace="one")

    prometheus.require_firing(gone, after=25, expected={"HedgerowTargetMissing": 1, "HedgerowReplicaDown": 1})
    prometheus.require_firing(
        gone,
        Monitored(alive, alive, namespace="one", instance="10.0.0.2:8080"),
        Monitored(alive, alive, namespace="other"),
        after=25,
        expected={"HedgerowReplicaDown": 1},
        where={"HedgerowReplicaDown": {"namespace": "one", "severity": "warning"}},
    )


def test_an_api_server_that_cannot_be_reached_is_named(
    sandbox: Sandbox, proxy: FaultProxy, process: ResourceManager, prometheus: Prometheus
) -> None:
    before = Scrape.of(process)
    with proxy.refusing():
        proxy.reset_all()
        process.wait_for(lambda: process.failed_requests() > 5, "has not asked")
        unreachable = Scrape.of(process)
        answered = {series for series in before.values if is_answered_request(series)}
        assert {unreachable.values[series] - before.values[series] for series in answered} == {0}

    prometheus.require_firing(Monitored(before, unreachable), after=20, expected={"HedgerowUnreachable": 1})


def is_answered_request(series: Series) -> bool:
    return series.name == "rest_client_requests_total" and ("code", "<error>") not in series.labels


def answered_with(process: ResourceManager, code: str) -> float:
    return process.metric("rest_client_requests_total", code=code)


def test_credentials_that_are_refused_are_told(
    sandbox: Sandbox, control_plane: ControlPlane, prometheus: Prometheus
) -> None:
    stranger = User("stranger", token="unknown")  # noqa: S106 -- of nobody
    write_private(sandbox.kubeconfig, kubeconfig(stranger, url=control_plane.url, ca_pem=control_plane.ca_pem))
    with ResourceManager(sandbox.folder, sandbox.configuration()) as process:
        process.wait_for(lambda: answered_with(process, "401") > 0, "is not refused")
        before, refusals = Scrape.of(process), answered_with(process, "401")
        process.wait_for(lambda: answered_with(process, "401") > refusals, "does not try again")

        refused = Monitored(before, Scrape.of(process))

    prometheus.require_firing(refused, after=20, expected={"HedgerowUnauthorized": 1})


def test_watches_that_a_role_does_not_allow_are_blind(
    sandbox: Sandbox, control_plane: ControlPlane, prometheus: Prometheus
) -> None:
    home = sandbox.namespace("stranger", handled=False)
    path = f"/api/v1/namespaces/{home}/serviceaccounts"
    control_plane.request("POST", path, {"metadata": {"name": ACCOUNT}})
    sandbox.kubeconfig = account_kubeconfig(control_plane, home, sandbox.folder)
    with ResourceManager(sandbox.folder, sandbox.configuration()) as process:
        process.wait_for(
            lambda: process.metric("hedgerow_watch_restarts_total", cause="forbidden") > 6, "may read something"
        )
        blind = Scrape.of(process)

    silent = {series.labels for series in blind.values if series.name == "hedgerow_cache_sync_age_seconds"}
    prometheus.require_firing(
        Monitored(blind, blind, growing=AGES), after=20, expected={"HedgerowCacheSilent": len(silent)}
    )


@pytest.fixture
def no_definition(control_plane: ControlPlane) -> Iterator[None]:
    """Somebody has removed the definition of ManagedResources, and installs it again after the test."""
    remove(control_plane)
    yield
    install(control_plane)


def test_a_definition_that_is_missing_is_named(sandbox: Sandbox, no_definition: None, prometheus: Prometheus) -> None:
    with ResourceManager(sandbox.folder, sandbox.configuration()) as process:
        process.wait_ready()
        process.wait_for(lambda: process.metric("hedgerow_waiting_for_definition") == 3, "waits for nothing")
        waiting = Scrape.of(process)

    prometheus.require_firing(Monitored(waiting, waiting), after=20, expected={"HedgerowDefinitionMissing": 3})


def test_an_object_that_somebody_keeps_reverting_is_told(
    sandbox: Sandbox, shop: str, process: ResourceManager, prometheus: Prometheus
) -> None:
    before = Scrape.of(process)
    name = "ingress-to-cart-tcp-8080"
    desired = sandbox.get("NetworkPolicy", shop, name)["spec"]

    def is_slowed() -> bool:
        if sandbox.get("NetworkPolicy", shop, name)["spec"] == desired:
            sandbox.patch("NetworkPolicy", shop, name, {"spec": {"ingress": [], "policyTypes": ["Ingress"]}})
        return process.metric("hedgerow_slowed_keys") == 1

    process.wait_for(is_slowed, "notices no conflict")

    prometheus.require_firing(Monitored(before, Scrape.of(process)), after=20, expected={"HedgerowWriteConflict": 1})


def test_deletions_that_are_held_back_are_told(sandbox: Sandbox, shop: str, prometheus: Prometheus) -> None:
    services = [service(shop, f"s{number}") for number in range(30)]
    sandbox.create(*services)
    with ResourceManager(sandbox.folder, sandbox.configuration(), name="first") as process:
        process.wait_for(lambda: len(sandbox.policies()) == 2 * 31, "has not made the policies")
        before = Scrape.of(process)
    elsewhere = {"namespaceSelectors": [{"matchLabels": {"nobody": "has-it"}}]}
    with ResourceManager(sandbox.folder, sandbox.configuration(elsewhere), name="second") as process:
        process.wait_for(lambda: process.metric("hedgerow_deletion_guard_stops_total") > 0, "holds nothing back")
        held = Scrape.of(process)

    prometheus.require_firing(Monitored(before, held), after=5, expected={"HedgerowDeletionsHeld": 1})


def test_turns_that_hang_and_keys_that_wait_for_them_are_told(
    sandbox: Sandbox, proxy: FaultProxy, prometheus: Prometheus
) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(*(service(shop, f"s{number}") for number in range(30)))
    slow = sandbox.configuration({"concurrentSyncs": 1}, source={"qps": 8, "burst": 1})
    with ResourceManager(sandbox.folder, slow) as process:
        process.wait_for(lambda: len(sandbox.policies()) >= 6, "has not begun")
        with proxy.black_hole():
            process.wait_for(lambda: process.metric("workqueue_longest_running_processor_seconds") > 2, "does not hang")
            hanging = Scrape.of(process)

    waiting = [series for series, age in hanging.values.items() if series.name == AGES[1] and age]
    prometheus.require_firing(
        Monitored(hanging, hanging, growing=(AGES[1], AGES[3])),
        after=20,
        expected={"HedgerowStuck": 1, "HedgerowQueueStands": len(waiting)},
        where={"HedgerowStuck": {"controller": NETWORK_POLICIES}},
    )


def test_a_webhook_that_cannot_decide_is_told(
    sandbox: Sandbox, shop: str, long_pair: ServingPair, prometheus: Prometheus
) -> None:
    hidden = sandbox.namespace("hidden", handled=True, **CONSIDERED)
    source = {"kubeconfig": str(sandbox.kubeconfig), "namespaces": [shop]}
    about = review(DEPLOYMENTS, "CREATE", hidden, "cart", deployment(hidden, "cart"))
    with ResourceManager(sandbox.folder, sandbox.configuration(source=source, webhooks=WEBHOOKS)) as process:
        process.wait_ready()
        before = Scrape.of(process)
        with calling(process, long_pair) as caller:
            assert not caller.ask(HIGH_AVAILABILITY, about)["allowed"]

        undecided = Monitored(before, Scrape.of(process))

    prometheus.require_firing(undecided, after=25, expected={"HedgerowWebhookFails": 1})


def test_a_certificate_that_cannot_be_used_is_told(
    sandbox: Sandbox, process: ResourceManager, prometheus: Prometheus
) -> None:
    before = Scrape.of(process)
    (sandbox.folder / "tls.crt").write_text("no certificate")
    process.wait_for(lambda: process.metric("certwatcher_read_certificate_errors_total") > 0, "has not read it")

    after = Monitored(before, Scrape.of(process))

    prometheus.require_firing(after, after=5, expected={"HedgerowCertificateUnusable": 1})


@pytest.mark.parametrize(
    ("lasts", "expected"),
    [
        (timedelta(days=6), {"HedgerowCertificateExpires": 1}),
        (timedelta(minutes=5), {"HedgerowCertificateExpires": 1, "HedgerowCertificateExpired": 1}),
    ],
)
def test_a_certificate_is_told_that_expires_within_a_week(
    sandbox: Sandbox, prometheus: Prometheus, tmp_path: Path, lasts: timedelta, expected: dict[str, int]
) -> None:
    ServingPair.new(tmp_path, lasts=lasts)
    with ResourceManager(sandbox.folder, sandbox.configuration(webhooks=WEBHOOKS)) as process:
        process.wait_for_line("Serving webhooks")
        then = Scrape.of(process)

    prometheus.require_firing(Monitored(then, then), after=30, expected=expected)


def test_a_client_that_does_not_trust_the_webhook_server_is_told(
    process: ResourceManager, prometheus: Prometheus
) -> None:
    before = Scrape.of(process)
    address = ("127.0.0.1", process.webhook_port)
    with socket.create_connection(address) as plain, pytest.raises(ssl.SSLCertVerificationError):
        ssl.create_default_context().wrap_socket(plain, server_hostname="127.0.0.1")
    failures = "hedgerow_webhook_handshake_failures_total"
    process.wait_for(lambda: process.metric(failures, reason="untrusted-certificate") > 0, "has not noticed")

    distrusted = Monitored(before, Scrape.of(process))

    prometheus.require_firing(distrusted, after=25, expected={"HedgerowHandshakesFail": 1})
