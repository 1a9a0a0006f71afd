"""Which objects the webhooks are never asked about, as they are registered."""

from typing import Any

import pytest

from hedgerow.admission import creation
from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.api.kubernetes import ENDPOINT_SLICES, PODS, SECRETS
from hedgerow.api.tokens import CONSIDER
from hedgerow.machinery.objects import Resource
from hedgerow_adapters.registrations.dispatch import Attributes, Progress
from hedgerow_adapters.registrations.registered import parse_registrations
from tests.unit.core.admission.properties import CONFIG

OURS = {"resources.gardener.cloud/managed-by": "gardener"}
KUBE_SYSTEM = {"gardener.cloud/purpose": "kube-system"}
REGISTERED = parse_registrations(build_webhook_configurations(Mode.TARGET, "", "garden", b"certificates", CONFIG))
INJECT = "apiserver-proxy.networking.gardener.cloud/inject"
HINTS = "endpoint-slice-hints.resources.gardener.cloud/consider"
PURPOSE = "resources.gardener.cloud/purpose"


def is_asked(webhook: str, labels: Any, resource: Resource = PODS, namespace_labels: Any = KUBE_SYSTEM) -> bool:
    """Whether a webhook of a cluster that is looked after is asked about a new object."""
    metadata = {"namespace": "kube-system", "name": "x", "labels": {**OURS, **labels}}
    manifest = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    attributes = Attributes(creation(resource, manifest), namespace_labels)
    progress, asked = Progress(REGISTERED.mutating_entries), set()
    while step := progress.next_call(attributes):
        call, progress = step
        asked.add(call.entry.name)
    return f"{webhook}.resources.gardener.cloud" in asked


@pytest.mark.parametrize(
    ("labels", "namespace_labels", "expected"),
    [
        pytest.param({INJECT: "disable"}, {}, False, id="K04 pod"),
        pytest.param({}, {INJECT: "disable"}, False, id="K04 namespace"),
        pytest.param({INJECT: "enable"}, {}, True, id="K05"),
        pytest.param({}, {}, True, id="without the label"),
    ],
)
def test_pods_or_namespaces_may_do_without_the_service_host(
    labels: Any, namespace_labels: Any, *, expected: bool
) -> None:
    assert is_asked("kubernetes-service-host", labels, namespace_labels=namespace_labels) is expected


@pytest.mark.parametrize(
    ("webhook", "labels"),
    [
        pytest.param("projected-token-mount", {"projected-token-mount.resources.gardener.cloud/skip": "x"}, id="P10"),
        pytest.param("projected-token-mount", {"app": "gardener-resource-manager"}, id="P10 app"),
        pytest.param(
            "pod-topology-spread-constraints",
            {"topology-spread-constraints.resources.gardener.cloud/skip": ""},
            id="S08",
        ),
        pytest.param("pod-topology-spread-constraints", {"app": "gardener-resource-manager"}, id="S08 app"),
        pytest.param(
            "system-components-config", {"system-components-config.resources.gardener.cloud/skip": "false"}, id="C10"
        ),
        pytest.param(
            "system-components-config", {"resources.gardener.cloud/managed-by": "somebody"}, id="C10 of others"
        ),
    ],
)
def test_pods_may_do_without_a_webhook(webhook: str, labels: Any) -> None:
    assert is_asked(webhook, {"app": "x"})
    assert not is_asked(webhook, labels)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param({}, False, id="E05"),
        pytest.param({HINTS: "false"}, False, id="E05 false"),
        pytest.param({HINTS: "true"}, True, id="considered"),
    ],
)
def test_slices_are_hinted_on_demand(labels: Any, *, expected: bool) -> None:
    assert is_asked("endpoint-slice-hints", labels, ENDPOINT_SLICES) is expected


@pytest.mark.parametrize(
    ("purpose", "expected"), [pytest.param("other", False, id="I09"), pytest.param("token-invalidator", True, id="I03")]
)
def test_a_token_is_invalidated_only_in_secrets_of_that_purpose(purpose: str, *, expected: bool) -> None:
    assert is_asked("token-invalidator", {PURPOSE: purpose, CONSIDER: "true"}, SECRETS) is expected
