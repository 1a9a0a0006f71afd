"""ConfigMaps and Secrets that are immutable, and what is said about it: field by field, for programs to read."""

from typing import Any

import pytest

from hedgerow.machinery.objects import Resource
from hedgerow.machinery.plan import Cause
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.responses import status_error
from hedgerow_adapters.protocol.transport import Response
from tests.contract.objects import CONFIG_MAPS, SECRETS, key, version
from tests.contract.targets import Send

FORBIDDEN = "FieldValueForbidden"
PROBLEM = "Forbidden: field is immutable when `immutable` is set"


def immutable(resource: Resource, data: dict[str, str], **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": resource.kind,
        "metadata": {"name": "a"},
        "immutable": True,
        "data": data,
        **fields,
    }


def refused_causes(response: Response) -> list[Cause]:
    """What is wrong, each once: a real server may say the same twice."""
    error = status_error(response)
    assert (error.status, error.reason) == (422, "Invalid")
    return list(dict.fromkeys(error.details))


@pytest.mark.parametrize("resource", [CONFIG_MAPS, SECRETS], ids=str)
def test_neither_the_data_nor_the_mark_of_an_immutable_object_changes(
    send: Send, namespace: str, resource: Resource
) -> None:
    created = send(requests.create(resource, immutable(resource, {"x": "MQ=="}), namespace))
    changes = {
        "data": immutable(resource, {"x": "Mg=="}),
        "immutable": immutable(resource, {"x": "MQ=="}, immutable=False),
    }

    for field, changed in changes.items():
        refused = send(requests.update(resource, key(namespace, "a"), changed))
        assert refused_causes(refused) == [(FORBIDDEN, PROBLEM, field)]
        patched = send(requests.merge_patch(resource, key(namespace, "a"), {field: changed[field]}))
        assert refused_causes(patched) == [(FORBIDDEN, PROBLEM, field)]
    assert version(send(requests.get(resource, key(namespace, "a")))) == version(created)


@pytest.mark.parametrize("resource", [CONFIG_MAPS, SECRETS], ids=str)
def test_its_metadata_changes_and_it_can_be_replaced_by_another_object(
    send: Send, namespace: str, resource: Resource
) -> None:
    send(requests.create(resource, immutable(resource, {"x": "MQ=="}), namespace))

    labelled = send(requests.merge_patch(resource, key(namespace, "a"), {"metadata": {"labels": {"l": "v"}}}))
    assert labelled.status == 200
    assert send(requests.delete(resource, key(namespace, "a"))).status == 200
    assert send(requests.create(resource, immutable(resource, {"x": "Mg=="}), namespace)).status == 201
