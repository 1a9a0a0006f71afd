"""The webhooks that change objects against what the reference answered, asked the same."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from hedgerow.admission import AdmissionRequest, Decision, Denied
from hedgerow.admission.catalog import webhooks
from hedgerow.admission.config import AdmissionConfig, HighAvailabilityConfig, SystemComponentsConfig
from hedgerow.admission.review import parse_review
from hedgerow.api.gardener import HVPAS
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.selectors import LabelSelector
from tests.golden.reference.recordings import cases
from tests.unit.core.admission.world import changed_object, decided

SYSTEM_COMPONENTS = "worker.gardener.cloud/system-components"
CONFIG = AdmissionConfig(
    endpoint_slice_hints=True,
    high_availability_config=HighAvailabilityConfig(not_ready_seconds=60, unreachable_seconds=60),
    kubernetes_service_host="api.example.com",
    pod_topology_spread_constraints=True,
    projected_token_mount=43200,
    system_components_config=SystemComponentsConfig(
        LabelSelector(((SYSTEM_COMPONENTS, "true"),)), {SYSTEM_COMPONENTS: "true"}
    ),
    token_invalidator=True,
)
WEBHOOKS = {webhook.path: webhook for webhook in webhooks(CONFIG)}
RECORDINGS = [*cases("admission.jsonl")]
EVERY_HVPA = [
    manifest
    for recording in RECORDINGS
    for manifest in (recording.values[0] or {"context": []})["context"]
    if manifest["kind"] == HVPAS.kind
]


@pytest.mark.parametrize("recording", RECORDINGS)
def test_the_same_is_allowed_and_becomes_of_the_object(recording: Mapping[str, Any]) -> None:
    webhook = WEBHOOKS[f"/webhooks/{recording['webhook']}"]
    request = parse_review({"request": recording["request"]}).unwrap().request

    decision = decided(webhook, request, *recording["context"])

    assert isinstance(decision, Denied) is not recording["allowed"]
    if not isinstance(decision, Denied):
        expected = comparable(recording["object"])
        contexts = contexts_of_others(request, recording["context"])
        if expected not in [outcome(decided(webhook, request, *context), request) for context in contexts]:
            assert outcome(decision, request) == expected


def contexts_of_others(request: AdmissionRequest, context: Sequence[Manifest]) -> Iterator[list[Manifest]]:
    """What the reference may take for the HVPA of a workload: that of a namesake in any other namespace.

    It takes the first of them all, in no promised order; here only those of the same namespace count (improvement I-8).
    """
    target = {"apiVersion": request.kind.api_version, "kind": request.kind.kind, "name": request.name}
    for hvpa in EVERY_HVPA:
        if hvpa["spec"].get("targetRef") == target and key_of(hvpa).namespace != request.namespace:
            moved = {**hvpa, "metadata": {**hvpa["metadata"], "namespace": request.namespace}}
            yield [*(manifest for manifest in context if manifest["kind"] != HVPAS.kind), moved]


def outcome(decision: Decision, request: AdmissionRequest) -> Any:
    """What becomes of the object of a request, to be compared; none if it is denied."""
    return None if isinstance(decision, Denied) else comparable(changed_object(decision) or request.object)


def comparable(manifest: Manifest) -> Any:
    """An object without nulls and empty maps and lists, its tolerations as a set.

    Nor does its status count, which no webhook decides: the reference's types add zeros to it.
    """
    return pruned({name: member for name, member in manifest.items() if name != "status"})


def pruned(value: Any, name: str = "") -> Any:
    """What is left of the member of an object; none if that is nothing."""
    if isinstance(value, dict):
        members = {field: pruned(member, field) for field, member in value.items()}
        return {field: member for field, member in members.items() if member is not None} or None
    if isinstance(value, list):
        items = [item for each in value if (item := pruned(each)) is not None]
        return (sorted({repr(sorted(each.items())) for each in items}) if name == "tolerations" else items) or None
    return value
