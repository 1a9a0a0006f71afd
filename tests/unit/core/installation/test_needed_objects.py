"""What an installation needs to run, and that its own registrations do not block it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow.admission.blocking import BlockingWebhook, blocking_webhooks
from hedgerow.installation.manifests import needed_objects
from hedgerow_adapters.registrations.registered import parse_registrations

CASES = sorted(Path(__file__).parents[3].joinpath("golden", "installation").glob("*/objects.yaml"))
FULL = next(case for case in CASES if case.parent.name == "everything-is-enabled")
SKIP = "high-availability-config.resources.gardener.cloud/skip"


def objects(file: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))


def blocking(manifests: list[dict[str, Any]]) -> tuple[BlockingWebhook, ...]:
    files = [each["data"].get("webhooks.yaml") for each in manifests if each["kind"] == "ConfigMap"]
    registered = {each["metadata"]["name"] for each in manifests if "Webhook" in each["kind"]}
    listed = [item for file in files if file for item in yaml.safe_load(file)["items"]]
    listed = [item for item in listed if item["metadata"]["name"] in registered]  # others are for a separate target
    return blocking_webhooks(parse_registrations([*manifests, *listed]).entries, needed_objects(manifests))


def test_pods_their_controllers_endpoints_secrets_lease_events_and_nodes_are_needed() -> None:
    needed = {str(each) for each in needed_objects(objects(FULL))}

    assert {
        "Deployment garden/gardener-resource-manager",
        "ReplicaSet garden",
        "Pod garden",
        "EndpointSlice garden",
        "Secret garden",
        "Lease",
        "Pod kube-system",
        "CertificateSigningRequest",
        "ConfigMap garden/kube-root-ca.crt",
        "Event garden",
        "Namespace garden",
        "Node",
    } <= needed
    assert not any("Webhook" in each for each in needed)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_no_installation_blocks_itself(case: Path) -> None:
    assert blocking(objects(case)) == ()


def without_label(manifest: dict[str, Any]) -> None:
    if manifest["kind"] == "Deployment":
        del manifest["metadata"]["labels"][SKIP]


def with_other_pods(manifest: dict[str, Any]) -> None:
    if manifest["kind"] == "Deployment":
        manifest["spec"]["template"]["metadata"]["labels"] = {"app": "other"}
    for webhook in manifest.get("webhooks", ()):
        webhook["namespaceSelector"] = {}


def with_hinted_endpoints(manifest: dict[str, Any]) -> None:
    if manifest["kind"] == "Service":
        manifest["metadata"]["labels"]["endpoint-slice-hints.resources.gardener.cloud/consider"] = "true"


@pytest.mark.parametrize(
    ("change", "blocked"),
    [
        (without_label, {"Deployment garden/gardener-resource-manager"}),
        (with_other_pods, {"Pod garden", "Pod kube-system"}),
        (with_hinted_endpoints, {"EndpointSlice garden"}),
    ],
)
def test_an_installation_that_blocks_itself_is_recognized(change: Any, blocked: set[str]) -> None:
    changed = objects(FULL)
    for manifest in changed:
        change(manifest)

    assert {str(each.needed) for each in blocking(changed)} == blocked
