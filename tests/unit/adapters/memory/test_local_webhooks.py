"""Webhooks that answer an in-memory cluster from its own objects."""

from typing import Any

import pytest

from hedgerow.admission import AdmissionRequest, Allowed, Decision, Webhook
from hedgerow.admission.webhook import Reviewing, forbidden
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import EndlessDecisionError
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.admission import WebhookCall
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Response
from hedgerow_adapters.registrations.registered import parse_registrations
from tests.local_webhooks import LocalWebhooks

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
SECRETS = Resource("", "v1", "secrets", "Secret")
WIDGETS = Resource("hedgerow.dev", "v1", "widgets", "Widget")
CONFIGURATIONS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    namespaced=False,
)
BY_COLOUR = Index("by colour", SECRETS, lambda manifest: [manifest["metadata"]["labels"]["colour"]])


def created(review: Reviewing, *, path: str = "/test", **webhook: Any) -> Response:
    """What becomes of a ConfigMap if a webhook reviews it in a cluster with one red Secret."""
    cluster, source = InMemoryCluster(), InMemoryCluster(namespaces=("garden",))
    cluster.answer_webhooks(LocalWebhooks(cluster, [Webhook("test", "/test", review, **webhook)], source=source))
    cluster.handle(requests.create(SECRETS, {"metadata": {"name": "s", "labels": {"colour": "red"}}}, "default"))
    source.handle(requests.create(SECRETS, {"metadata": {"name": "s", "labels": {"colour": "blue"}}}, "garden"))
    cluster.handle(requests.create(CONFIGURATIONS, registration(path)))
    return cluster.handle(requests.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default"))


def registration(path: str) -> dict[str, Any]:
    """What has a cluster ask a webhook about all that is done to ConfigMaps."""
    rule = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    entry = {
        "name": "test.hedgerow.dev",
        "clientConfig": {"url": f"https://127.0.0.1{path}"},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": CONFIGURATIONS.api_version,
        "kind": CONFIGURATIONS.kind,
        "metadata": {"name": "test"},
        "webhooks": [entry],
    }


def whole(manifest: Any) -> Any:
    """Everything is kept."""
    return manifest


def test_a_webhook_reads_what_the_cluster_holds_now_as_it_declares_to() -> None:
    seen: dict[str, Any] = {}

    def review(_request: AdmissionRequest, snapshot: Snapshot) -> Decision:
        seen["red"] = [each["metadata"]["name"] for each in snapshot.by_index(BY_COLOUR, "red")]
        seen["kept"] = list(snapshot.get(SECRETS, ObjectKey("default", "s"), Cluster.TARGET) or {})
        seen["source"] = len(snapshot.list(SECRETS, namespace="garden", cluster=Cluster.SOURCE))
        seen["unknown"] = len(snapshot.list(WIDGETS))
        return Allowed()

    reads = (
        Read(SECRETS, lambda manifest: {"metadata": manifest["metadata"]}),
        Read(SECRETS, whole, cluster=Cluster.SOURCE),
        Read(WIDGETS, whole, may_be_absent=True),
    )
    assert created(review, reads=reads, indexes=(BY_COLOUR,)).status == 201

    assert seen == {"red": ["s"], "kept": ["metadata"], "source": 1, "unknown": 0}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (ObjectQuestion(SECRETS, ObjectKey("default", "s"), Cluster.TARGET), ["s"]),
        (ObjectQuestion(SECRETS, ObjectKey("garden", "s"), Cluster.SOURCE), ["s"]),
        (ListQuestion(SECRETS, Cluster.TARGET, "default"), ["s"]),
        (ListQuestion(SECRETS, Cluster.TARGET, "default", "colour=blue"), []),
        (ListQuestion(SECRETS, Cluster.TARGET, "default", field_selector="metadata.name=t"), []),
        (ObjectQuestion(SECRETS, ObjectKey("default", "missing"), Cluster.TARGET), 404),
        (ListQuestion(WIDGETS, Cluster.TARGET), 404),
    ],
)
def test_questions_are_answered_from_the_cluster(question: Question, expected: list[str] | int) -> None:
    found: list[Any] = []

    async def review(_request: AdmissionRequest, _snapshot: Snapshot) -> Decision:
        match await question:
            case Found(objects):
                found.extend(each["metadata"]["name"] for each in objects)
            case NotAnswered(code):
                found.append(code)
        return Allowed()

    assert created(review).status == 201
    assert found == (expected if isinstance(expected, list) else [expected])


def test_a_review_that_cannot_be_read_is_answered_as_a_server_answers_it() -> None:
    local = LocalWebhooks(InMemoryCluster(), [Webhook("test", "/test", lambda *_: Allowed())])
    (entry,) = parse_registrations([registration("/test")]).mutating_entries

    response = local(WebhookCall(entry, {"request": {"uid": "1", "namespace": "../nodes"}}))["response"]

    assert (response["uid"], response["allowed"], response["status"]["code"]) == ("1", False, 400)


def test_a_path_without_a_webhook_fails_the_call() -> None:
    refused = created(lambda *_: forbidden("never asked"), path="/other")

    assert (refused.status, refused.body["reason"]) == (500, "InternalError")
    assert "could not find the requested resource" in refused.body["message"]


def test_a_webhook_that_reads_without_end_is_stopped() -> None:
    async def review(_request: AdmissionRequest, _snapshot: Snapshot) -> Decision:
        while True:
            await ObjectQuestion(SECRETS, ObjectKey("default", "s"), Cluster.TARGET)

    with pytest.raises(EndlessDecisionError, match="test has not ended after 8 steps"):
        created(review)
