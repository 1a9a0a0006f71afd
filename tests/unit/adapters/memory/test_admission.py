"""Webhooks of the in-memory cluster: answers that are none, and what a cluster does that nobody gave a way to them."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.memory import CallFailedError, InMemoryCluster, WebhookCall
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Response

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
GROUP = "admissionregistration.k8s.io"
MUTATING = Resource(GROUP, "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", namespaced=False)
VALIDATING = Resource(
    GROUP, "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", namespaced=False
)
UNCHANGED = {"metadata": {"name": "a"}}
RULE = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}


def registration(**fields: Any) -> dict[str, Any]:
    """The registration of one webhook for ConfigMaps."""
    webhook = {
        "name": "test.hedgerow.dev",
        "clientConfig": {"url": "https://127.0.0.1/path"},
        "rules": [RULE],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **fields,
    }
    return {"metadata": {"name": "test"}, "webhooks": [webhook]}


def answered(changes: Mapping[str, Any], resource: Resource = MUTATING, **fields: Any) -> Response:
    """What becomes of a new ConfigMap if a webhook allows it by an answer in which something is changed."""

    def call(question: WebhookCall) -> bytes:
        response = {"uid": question.review["request"]["uid"], "allowed": True, **changes.get("response", {})}
        document = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", **changes, "response": response}
        return json.dumps(document).encode()

    return created(InMemoryCluster(call_webhook=call), resource, **fields)


def created(cluster: InMemoryCluster, resource: Resource = MUTATING, **fields: Any) -> Response:
    """What becomes of a new ConfigMap once a webhook is registered."""
    assert cluster.handle(requests.create(resource, registration(**fields))).status == 201
    return cluster.handle(requests.create(CONFIG_MAPS, UNCHANGED, "default"))


def patch(text: str) -> str:
    """A patch as answers hold it."""
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"response": {"uid": "other"}}, 'expected response.uid="'),
        ({"apiVersion": "admission.k8s.io/v1beta1"}, "expected webhook response of admission.k8s.io/v1"),
        ({"kind": "Review"}, "expected webhook response of "),
        ({"response": {"patch": patch("[]")}}, "webhook returned response.patch but not response.patchType"),
        ({"response": {"patchType": "JSONPatch"}}, "webhook returned response.patchType but not response.patch"),
        ({"response": {"patch": patch("{}"), "patchType": "MergePatch"}}, 'invalid response.patchType of "MergePatch"'),
        ({"response": {"patch": "%", "patchType": "JSONPatch"}}, "illegal base64 data"),
    ],
)
def test_an_answer_that_contradicts_itself_or_the_question_counts_as_none(
    changes: Mapping[str, Any], problem: str
) -> None:
    refused = answered(changes)

    assert (refused.status, refused.body["reason"]) == (500, "InternalError")
    assert 'failed calling webhook "test.hedgerow.dev": ' in refused.body["message"]
    assert problem in refused.body["message"]
    assert answered(changes, failurePolicy="Ignore").status == 201


@pytest.mark.parametrize(
    "text", ["{}", "[1]", '[{"op":"remove","path":"/data/missing"}]', '[{"op":"dance"}]', "no JSON"]
)
def test_a_patch_that_cannot_be_applied_stops_the_request_whatever_the_failure_policy(text: str) -> None:
    response = {"patch": patch(text), "patchType": "JSONPatch"}

    refused = answered({"response": response}, failurePolicy="Ignore")

    assert (refused.status, refused.body["reason"]) == (500, "InternalError")


def test_a_patch_without_operations_changes_nothing() -> None:
    assert answered({"response": {"patch": patch("[]"), "patchType": "JSONPatch"}}).status == 201


def test_a_validating_webhook_may_not_change_anything() -> None:
    refused = answered({"response": {"patch": patch("[]"), "patchType": "JSONPatch"}}, VALIDATING)

    assert "validating webhook may not return response.patch" in refused.body["message"]


@pytest.mark.parametrize("answer", [b"no JSON", b"[]", b"{}", {}])
def test_what_is_no_review_counts_as_no_answer(answer: bytes | Mapping[str, Any]) -> None:
    assert created(InMemoryCluster(call_webhook=lambda _call: answer)).status == 500


def test_a_patch_that_changes_nothing_brings_no_webhook_a_second_question() -> None:
    questions = []

    def call(question: WebhookCall) -> dict[str, Any]:
        questions.append(question.entry.name)
        request = question.review["request"]
        operations = [{"op": "replace", "path": "/metadata/name", "value": request["object"]["metadata"]["name"]}]
        response = {
            "uid": request["uid"],
            "allowed": True,
            "patchType": "JSONPatch",
            "patch": patch(json.dumps(operations)),
        }
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}

    cluster = InMemoryCluster(call_webhook=call)
    again = registration(reinvocationPolicy="IfNeeded")
    again["webhooks"].append({**again["webhooks"][0], "name": "second.hedgerow.dev"})
    cluster.handle(requests.create(MUTATING, again))

    assert cluster.handle(requests.create(CONFIG_MAPS, UNCHANGED, "default")).status == 201
    assert questions == ["test.hedgerow.dev", "second.hedgerow.dev"]


@pytest.mark.parametrize(("accepted", "asked"), [(["v1beta1", "v1"], "v1beta1"), (["v2", "v1"], "v1")])
def test_a_question_comes_in_the_first_version_that_both_know(accepted: list[str], asked: str) -> None:
    versions = []

    def call(question: WebhookCall) -> dict[str, Any]:
        versions.append(question.review["apiVersion"])
        return {}

    created(InMemoryCluster(call_webhook=call), admissionReviewVersions=accepted)

    assert versions == [f"admission.k8s.io/{asked}"]


def test_a_cluster_that_was_given_no_way_to_webhooks_reaches_none() -> None:
    refused = created(InMemoryCluster())

    assert refused.body["message"] == (
        'Internal error occurred: failed calling webhook "test.hedgerow.dev": failed to call webhook: '
        'Post "https://127.0.0.1:443/path?timeout=10s": connect: connection refused'
    )


def test_a_registration_that_is_deleted_is_forgotten() -> None:
    cluster = InMemoryCluster()
    assert created(cluster).status == 500

    cluster.handle(requests.delete(MUTATING, ObjectKey("", "test")))

    assert cluster.handle(requests.create(CONFIG_MAPS, UNCHANGED, "default")).status == 201


def test_a_terminating_namespace_waits_for_what_a_webhook_protects() -> None:
    def fail(_call: WebhookCall) -> bytes:
        raise CallFailedError("no")

    cluster = InMemoryCluster(call_webhook=fail, namespaces=("shop",))
    cluster.handle(requests.create(CONFIG_MAPS, UNCHANGED, "shop"))
    cluster.handle(requests.create(VALIDATING, registration()))
    cluster.handle(requests.delete(NAMESPACES, ObjectKey("", "shop")))

    cluster.run_controllers()
    assert cluster.get(CONFIG_MAPS, ObjectKey("shop", "a"))

    cluster.handle(requests.delete(VALIDATING, ObjectKey("", "test")))
    cluster.run_controllers()
    assert cluster.get(NAMESPACES, ObjectKey("", "shop")) is None


def test_what_a_webhook_does_to_its_question_does_not_reach_the_object() -> None:
    def spoil(call: WebhookCall) -> dict[str, Any]:
        call.review["request"]["object"]["data"] = {"spoilt": "yes"}
        response = {"uid": call.review["request"]["uid"], "allowed": True}
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}

    assert "data" not in created(InMemoryCluster(call_webhook=spoil)).body


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": ""}, "name"),
        ({"clientConfig": None}, "clientConfig"),
        ({"clientConfig": {"url": "https://u@h"}}, "clientConfig.url"),
        ({"clientConfig": {"url": "https://h:99999"}}, "clientConfig.url"),
        ({"clientConfig": {"service": {"name": "s", "namespace": "n", "path": "x"}}}, "clientConfig.service.path"),
        ({"clientConfig": {"service": {"name": "s", "namespace": "n", "port": 0}}}, "clientConfig.service.port"),
        ({"rules": [{**RULE, "operations": ["CREATE", "create"]}]}, "rules[0].operations[1]"),
        ({"rules": [{**RULE, "scope": "All"}]}, "rules[0].scope"),
        ({"matchPolicy": "Same"}, "matchPolicy"),
        ({"timeoutSeconds": 31}, "timeoutSeconds"),
        ({"timeoutSeconds": 0}, "timeoutSeconds"),
        ({"matchConditions": [{"name": "n"}]}, "matchConditions"),
    ],
)
def test_a_webhook_that_could_not_be_called_is_not_registered(wrong: Mapping[str, Any], field: str) -> None:
    refused = InMemoryCluster().handle(requests.create(MUTATING, registration(**wrong)))

    assert [cause["field"] for cause in refused.body["details"]["causes"]] == [f"webhooks[0].{field}"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"rules": {}},
        {"rules": [1]},
        {"rules": [{**RULE, "operations": "*"}]},
        {"namespaceSelector": []},
        {"failurePolicy": True},
        {"timeoutSeconds": True},
    ],
)
def test_a_webhook_of_another_form_is_not_registered(wrong: Mapping[str, Any]) -> None:
    assert InMemoryCluster().handle(requests.create(MUTATING, registration(**wrong))).status == 400
