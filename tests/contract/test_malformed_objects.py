"""Whatever is wrong with an object that a controller reads, the in-memory cluster says of it what a server says."""

import json
from typing import Any

import pytest

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.memory.shapes import anything
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Response
from tests.contract.malformed import VALID, variants
from tests.contract.objects import INGRESSES, NAMESPACES, NETWORK_POLICIES, SERVICES
from tests.contract.targets import MemoryTarget, ServerTarget, Target
from tests.control_plane import ControlPlane

MALFORMED = "malformed"


# Allotted by servers, from addresses that the in-memory cluster does not have.
ALLOTTED = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")


def outcome(response: Response) -> str:
    """What was made of a request: the object without nulls and what servers choose, or the reason and the causes."""
    body = response.body
    if response.is_success:
        spec = {name: value for name, value in body["spec"].items() if name not in ALLOTTED}
        stored = {"spec": spec, "status": body.get("status"), "labels": body["metadata"].get("labels")}
        stored = anything(stored, path="")
        return f"{response.status} {json.dumps(stored, sort_keys=True)}"
    causes = {f"{cause['reason']} {cause['field']}" for cause in body.get("details", {}).get("causes", ())}
    return f"{response.status} {body['reason']} {sorted(causes)}"


def numbered(body: dict[str, Any], resource: Resource, number: int) -> dict[str, Any]:
    """The object under a name of its own in the namespace of this module, unless it is these that are wrong."""
    metadata, valid = body["metadata"], VALID[resource.kind]["metadata"]
    if not isinstance(metadata, dict):
        return body
    ours = {"name": f"{resource.plural}-{number}", "namespace": MALFORMED}
    renamed = {name: ours[name] for name in ours if name in metadata and metadata[name] == valid[name]}
    return {**body, "metadata": {**metadata, **renamed}}


def outcomes(target: Target, resource: Resource) -> dict[str, str]:
    """What the target makes of the valid object, and of every variant of it."""
    bodies = {"": VALID[resource.kind], **dict(variants(VALID[resource.kind]))}
    namespace = MALFORMED if resource.namespaced else ""
    return {
        what: outcome(target.send(requests.create(resource, numbered(body, resource, number), namespace)))
        for number, (what, body) in enumerate(bodies.items())
    }


@pytest.mark.parametrize("resource", [NAMESPACES, SERVICES, INGRESSES, NETWORK_POLICIES], ids=lambda each: each.kind)
def test_every_single_mistake_has_the_same_outcome_on_both(contract_server: ControlPlane, resource: Resource) -> None:
    targets = MemoryTarget(), ServerTarget(contract_server)
    for target in targets:
        target.send(requests.create(NAMESPACES, {"metadata": {"name": MALFORMED}}))

    in_memory, real = (outcomes(target, resource) for target in targets)

    assert real[""].startswith("201 ")
    assert [f"{what}: {in_memory[what]} | {real[what]}" for what in real if in_memory[what] != real[what]] == []
