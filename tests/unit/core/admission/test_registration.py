"""Which webhooks are registered, whatever is enabled, and that they agree with what is served."""

import itertools
from typing import Any, Final

import pytest

from hedgerow.admission.catalog import webhooks
from hedgerow.admission.config import AdmissionConfig, HighAvailabilityConfig, SystemComponentsConfig
from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.kinds.webhook_configurations import MUTATING_CONFIGURATIONS, VALIDATING_CONFIGURATIONS
from hedgerow_adapters.protocol.requests import create
from hedgerow_adapters.registrations.registered import parse_registrations

ENABLED: Final[dict[str, Any]] = {
    "token_invalidator": True,
    "projected_token_mount": 43200,
    "high_availability_config": HighAvailabilityConfig(),
    "pod_scheduler_name": "bin-packing-scheduler",
    "seccomp_profile": True,
    "kubernetes_service_host": "api.example.com",
    "system_components_config": SystemComponentsConfig(),
    "endpoint_slice_hints": True,
    "pod_topology_spread_constraints": True,
    "crd_deletion_protection": True,
    "extension_validation": True,
}
EVERYTHING: Final = AdmissionConfig(**ENABLED)


def registered(mode: Mode, config: AdmissionConfig) -> tuple[Manifest, ...]:
    return build_webhook_configurations(mode, "", "garden", b"certificates", config)


def entries(mode: Mode, config: AdmissionConfig) -> list[Manifest]:
    return [webhook for manifest in registered(mode, config) for webhook in manifest["webhooks"]]


@pytest.mark.parametrize("mode", Mode)
def test_each_webhook_is_registered_as_if_it_were_alone_in_the_same_order(mode: Mode) -> None:
    alone = {name: entries(mode, AdmissionConfig(**{name: value})) for name, value in ENABLED.items()}

    for chosen in itertools.product([False, True], repeat=len(ENABLED)):
        names = list(itertools.compress(ENABLED, chosen))
        config = AdmissionConfig(**{name: ENABLED[name] for name in names})
        manifests = registered(mode, config)
        assert all(manifest["webhooks"] for manifest in manifests)
        assert [entry for manifest in manifests for entry in manifest["webhooks"]] == [
            entry for name in names for entry in alone[name]
        ]


def test_what_is_served_is_registered_under_the_same_path_in_the_same_order() -> None:
    runtime = [webhook["clientConfig"]["service"]["path"] for webhook in entries(Mode.RUNTIME, EVERYTHING)]
    system_components = "/webhooks/system-components-config"
    served = [webhook.path for webhook in webhooks(EVERYTHING)]

    assert list(dict.fromkeys(runtime)) == [path for path in served if path != system_components]
    assert any(
        webhook["clientConfig"]["url"].endswith(system_components) for webhook in entries(Mode.TARGET, EVERYTHING)
    )


def test_mutating_webhooks_are_registered_under_their_names() -> None:
    names = {
        entry["clientConfig"]["url"].removeprefix("https://gardener-resource-manager.garden:443"): entry["name"]
        for entry in entries(Mode.TARGET, EVERYTHING)
    }

    assert names == {
        webhook.path: f"{webhook.name}.resources.gardener.cloud"
        for webhook in webhooks(EVERYTHING)
        if webhook.path in names
    }


@pytest.mark.parametrize("mode", Mode)
def test_an_api_server_accepts_and_reads_what_is_registered(mode: Mode) -> None:
    for manifest in registered(mode, EVERYTHING):
        kind = MUTATING_CONFIGURATIONS if manifest["kind"].startswith("Mutating") else VALIDATING_CONFIGURATIONS
        assert InMemoryCluster().handle(create(kind.resource, manifest)).status == 201
    found = parse_registrations(registered(mode, EVERYTHING))

    written = entries(mode, EVERYTHING)
    read = [*found.mutating_entries, *found.validating_entries]
    assert [entry.name for entry in read] == [entry["name"] for entry in written]
    assert {entry.client.host for entry in read} == {
        "gardener-resource-manager.garden" if mode is Mode.TARGET else "gardener-resource-manager.garden.svc"
    }
    assert {entry.name.split(".")[0] for entry in read if entry.ignores_failures} == {
        "pod-scheduler-name",
        "kubernetes-service-host",
    }
    assert {entry.name.split(".")[0] for entry in read if entry.matches_equivalents} == {
        "high-availability-config",
        "endpoint-slice-hints",
    }


@pytest.mark.parametrize("mode", [Mode.RUNTIME, Mode.STANDALONE])
def test_a_cluster_starts_the_pods_of_kube_system_without_the_webhooks(mode: Mode) -> None:
    assert failing_pod_webhooks(mode, {"kubernetes.io/metadata.name": "kube-system"}) == set()
    assert failing_pod_webhooks(mode, {"kubernetes.io/metadata.name": "shop"}) == {
        "projected-token-mount",
        "seccomp-profile",
        "pod-topology-spread-constraints",
    }


def test_pods_beside_the_process_start_without_it_outside_gardener_and_are_served_inside() -> None:
    beside = {"kubernetes.io/metadata.name": "garden"}

    assert failing_pod_webhooks(Mode.STANDALONE, beside) == set()
    assert "projected-token-mount" in failing_pod_webhooks(Mode.RUNTIME, beside)


def failing_pod_webhooks(mode: Mode, namespace_labels: dict[str, str]) -> set[str]:
    """The webhooks about pods in a namespace without which these do not start."""
    found = parse_registrations(registered(mode, EVERYTHING))
    return {
        entry.name.split(".")[0]
        for entry in found.mutating_entries
        if not entry.ignores_failures
        and entry.namespace_selector.matches(namespace_labels)
        and any("pods" in rule.resources for rule in entry.rules)
    }


def test_without_certificates_an_api_server_goes_by_those_that_it_trusts() -> None:
    (manifest,) = build_webhook_configurations(Mode.TARGET, "", "garden", b"", AdmissionConfig(seccomp_profile=True))

    assert manifest["webhooks"][0]["clientConfig"] == {
        "url": "https://gardener-resource-manager.garden:443/webhooks/seccomp-profile"
    }
