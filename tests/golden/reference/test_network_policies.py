"""The Service NetworkPolicy controller against what the reference left in a real cluster."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.api.kubernetes import INGRESSES, NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow.machinery.controller import plans
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import Create, Delete, MergePatch
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.network_policies import IngressController, NetworkPolicyConfig, network_policy_controller
from tests.golden.reference.recordings import cases
from tests.snapshots import snapshot_over

INGRESS_CONTROLLER = IngressController("default", LabelSelector((("foo", "bar"),), ()))
CONTROLLER = network_policy_controller(NetworkPolicyConfig(ingress_controller=INGRESS_CONTROLLER))
DEFAULT_NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
SHORTENED = re.compile(r'"networking\.resources\.gardener\.cloud/[^"]{57}-[0-9a-f]{5}"')
RESOURCES = {resource.kind: resource for resource in (SERVICES, NAMESPACES, INGRESSES)}


@pytest.mark.parametrize("recording", [*cases("network-policies.jsonl")])
def test_the_same_policies_exist_once_settled(recording: Mapping[str, Any]) -> None:
    policies: dict[ObjectKey, Manifest] = {}
    for number, stage in enumerate(recording["stages"], start=1):
        policies = settled(stage["objects"], policies)
        expected = {key_of(policy): comparable(policy) for policy in stage["policies"]}
        actual = {
            key: comparable(policy)
            for key, policy in policies.items()
            if key in expected or not has_shortened_label(policy)
        }
        assert actual == expected, f"stage {number}"


def settled(objects: list[Manifest], policies: Mapping[ObjectKey, Manifest]) -> dict[ObjectKey, Manifest]:
    """The policies that exist once nothing is left to do."""
    world: dict[Resource, list[Manifest]] = {NAMESPACES: [DEFAULT_NAMESPACE], NETWORK_POLICIES: [*policies.values()]}
    for manifest in objects:
        world.setdefault(RESOURCES[manifest["kind"]], []).append(manifest)
    snapshot = snapshot_over(CONTROLLER, world)
    result = dict(policies)
    for _, plan in plans(CONTROLLER, snapshot, datetime.now(tz=UTC)):
        for action in plan.actions:
            match action:
                case Create():
                    result[action.key] = action.manifest
                case MergePatch(_, key, patch):
                    result[key] = apply_merge_patch(result[key], patch)
                case Delete(_, key):
                    del result[key]
                case _:
                    pytest.fail(f"unexpected {action}")
    return result


def comparable(policy: Manifest) -> Mapping[str, Any]:
    """Labels and spec; the peers of policies that open a Service to the world deviate on purpose (decision D-2)."""
    spec = policy["spec"]
    if policy["metadata"]["name"].endswith("-from-world"):
        spec = {**spec, "ingress": [{name: rule[name] for name in rule if name != "from"} for rule in spec["ingress"]]}
    return {"labels": policy["metadata"]["labels"], "spec": spec}


def has_shortened_label(policy: Manifest) -> bool:
    """Whether the reference failed to create this policy, its label being too long (decision D-9)."""
    return SHORTENED.search(json.dumps(policy["spec"])) is not None
