"""The registration of webhooks: how it is completed, and when it is refused."""

from typing import Any

import pytest

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.protocol import requests
from tests.contract.objects import causes
from tests.contract.targets import MemoryTarget, Send, ServerTarget
from tests.contract.webhook_bench import MUTATING, VALIDATING, dry
from tests.control_plane import ControlPlane

RULE = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
VALID: dict[str, Any] = {
    "name": "a.hedgerow.dev",
    "clientConfig": {"service": {"name": "s", "namespace": "n"}},
    "rules": [RULE],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}


def configuration(*webhooks: Any) -> dict[str, Any]:
    """A registration of webhooks."""
    return {"metadata": {"name": "completed"}, "webhooks": list(webhooks)}


@pytest.mark.parametrize("resource", [MUTATING, VALIDATING], ids=lambda each: each.kind)
def test_a_registration_is_completed_in_the_same_way_on_both(contract_server: ControlPlane, resource: Resource) -> None:
    where = ObjectKey("", "completed")
    shown = []
    for target in (MemoryTarget(), ServerTarget(contract_server)):
        target.send(requests.create(resource, configuration(VALID)))
        patch = [{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": 3}]
        changed = target.send(requests.json_patch(resource, where, patch)).body
        target.send(requests.delete(resource, where))
        shown.append((changed["webhooks"], changed["metadata"]["generation"]))

    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"name": "a.b"}, [("FieldValueInvalid", "name")]),
        ({"clientConfig": {}}, [("FieldValueRequired", "clientConfig")]),
        ({"clientConfig": {"url": "http://example.com"}}, [("FieldValueInvalid", "clientConfig.url")]),
        ({"clientConfig": {"service": {"name": "s"}}}, [("FieldValueRequired", "clientConfig.service.name")]),
        ({"sideEffects": None}, [("FieldValueRequired", "sideEffects")]),
        ({"sideEffects": "Some"}, [("FieldValueNotSupported", "sideEffects")]),
        ({"failurePolicy": "Maybe"}, [("FieldValueNotSupported", "failurePolicy")]),
        ({"matchPolicy": "Maybe"}, [("FieldValueNotSupported", "matchPolicy")]),
        ({"reinvocationPolicy": "Maybe"}, [("FieldValueNotSupported", "reinvocationPolicy")]),
        ({"timeoutSeconds": 31}, [("FieldValueInvalid", "timeoutSeconds")]),
        ({"admissionReviewVersions": []}, [("FieldValueRequired", "admissionReviewVersions")]),
        ({"admissionReviewVersions": ["v3"]}, [("FieldValueInvalid", "admissionReviewVersions")]),
        ({"rules": [{**RULE, "operations": ["WATCH"]}]}, [("FieldValueNotSupported", "rules[0].operations[0]")]),
        ({"rules": [{**RULE, "apiGroups": []}]}, [("FieldValueRequired", "rules[0].apiGroups")]),
        ({"rules": [{**RULE, "scope": "Universe"}]}, [("FieldValueNotSupported", "rules[0].scope")]),
        (
            {"objectSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}},
            [("FieldValueInvalid", "objectSelector.matchExpressions[0].operator")],
        ),
    ],
)
def test_webhooks_that_could_not_be_called_are_not_registered(send: Send, wrong: Any, expected: Any) -> None:
    answer = send(dry(requests.create(MUTATING, configuration({**VALID, **wrong}))))

    assert causes(answer) == [(reason, f"webhooks[0].{field}") for reason, field in expected]


def test_no_two_webhooks_of_a_registration_have_one_name(send: Send) -> None:
    answer = send(dry(requests.create(VALIDATING, configuration(VALID, VALID))))

    assert causes(answer) == [("FieldValueDuplicate", "webhooks[1].name")]
