"""Which requests a webhook is asked about: subresources, other versions of a resource, namespaces, registrations."""

import itertools
from collections.abc import Iterator

import pytest

from hedgerow.admission import AdmissionRequest, Allowed, Decision
from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.protocol import requests
from tests.contract.objects import CONFIG_MAPS, NAMESPACES, config_map, key
from tests.contract.targets import Send
from tests.contract.webhook_bench import MUTATING, Bench, Hook, denying, dry, setting
from tests.contract.workloads import AUTOSCALERS, AUTOSCALERS_V1, DEPLOYMENTS, autoscaler, workload

_numbers = itertools.count(1)


def test_status_and_scale_are_none_of_the_business_of_who_asked_for_the_object(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    send(requests.create(DEPLOYMENTS, workload(), namespace))
    webhooks.mutating(Hook("guard", denying("no"), DEPLOYMENTS))
    webhooks.validating(Hook("guard", denying("no"), DEPLOYMENTS))
    cart = key(namespace, "cart")

    scaled = send(requests.merge_patch(DEPLOYMENTS, cart, {"spec": {"replicas": 3}}, subresource="scale"))
    reported = send(requests.merge_patch(DEPLOYMENTS, cart, {"status": {"replicas": 3}}, subresource="status"))

    assert (scaled.status, scaled.body["spec"]) == (200, {"replicas": 3})
    assert (reported.status, reported.body["status"]) == (200, {"replicas": 3})
    assert send(requests.merge_patch(DEPLOYMENTS, cart, {"spec": {"replicas": 5}})).status == 403


def test_who_asks_for_the_scale_sees_and_changes_scales(send: Send, namespace: str, webhooks: Bench) -> None:
    send(requests.create(DEPLOYMENTS, workload(), namespace))
    hook = Hook("scale", setting("spec", "replicas", to=4), DEPLOYMENTS, subresources=["scale"])
    witness = Hook("witness", resource=DEPLOYMENTS, subresources=["scale"])
    webhooks.mutating(hook)
    webhooks.validating(witness)

    scaled = send(
        requests.merge_patch(DEPLOYMENTS, key(namespace, "cart"), {"spec": {"replicas": 3}}, subresource="scale")
    )

    assert scaled.body["spec"] == {"replicas": 4}
    (asked,), (told,) = hook.seen, witness.seen
    assert (asked.kind, asked.resource, asked.subresource, asked.name) == (
        ("autoscaling", "v1", "Scale"),
        ("apps", "v1", "deployments"),
        "scale",
        "cart",
    )
    assert (asked.old_object["spec"], asked.object["spec"]) == ({"replicas": 1}, {"replicas": 3})
    assert (told.old_object["spec"], told.object["spec"]) == ({"replicas": 1}, {"replicas": 4})


def test_who_asks_for_the_status_sees_whole_objects(send: Send, namespace: str, webhooks: Bench) -> None:
    send(requests.create(DEPLOYMENTS, workload(), namespace))
    hook = Hook("status", setting("status", "replicas", to=4), DEPLOYMENTS, subresources=["status"])
    webhooks.mutating(hook)

    cart = key(namespace, "cart")
    reported = send(requests.merge_patch(DEPLOYMENTS, cart, {"status": {"replicas": 3}}, subresource="status"))

    assert reported.body["status"] == {"replicas": 4}
    assert [(request.subresource, request.object["spec"]["replicas"]) for request in hook.seen] == [("status", 1)]


def test_another_version_of_the_resource_arrives_as_the_one_that_was_asked_for(
    send: Send, namespace: str, webhooks: Bench
) -> None:
    hook = Hook("equivalent", setting("spec", "minReplicas", to=2), AUTOSCALERS)
    exact = Hook("exact", resource=AUTOSCALERS, registration={"matchPolicy": "Exact"})
    witness = Hook("witness", resource=AUTOSCALERS)
    webhooks.mutating(hook, exact)
    webhooks.validating(witness)

    given = autoscaler("v1", targetCPUUtilizationPercentage=50)
    created = send(requests.create(AUTOSCALERS_V1, given, namespace))

    assert (created.body["apiVersion"], created.body["spec"]["minReplicas"]) == ("autoscaling/v1", 2)
    assert created.body["spec"]["targetCPUUtilizationPercentage"] == 50
    (asked,), (told,) = hook.seen, witness.seen
    assert exact.seen == []
    for request, replicas in ((asked, 1), (told, 2)):
        assert (request.kind, request.resource) == (
            ("autoscaling", "v2", "HorizontalPodAutoscaler"),
            ("autoscaling", "v2", "horizontalpodautoscalers"),
        )
        assert request.object["apiVersion"] == "autoscaling/v2"
        assert request.object["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 50
        assert request.object["spec"]["minReplicas"] == replicas


def test_the_old_object_is_converted_too(send: Send, namespace: str, webhooks: Bench) -> None:
    send(requests.create(AUTOSCALERS_V1, autoscaler("v1"), namespace))
    hook = Hook("witness", resource=AUTOSCALERS)
    webhooks.mutating(hook)
    cart = key(namespace, "cart")

    send(requests.merge_patch(AUTOSCALERS_V1, cart, {"spec": {"maxReplicas": 7}}))
    send(requests.delete(AUTOSCALERS_V1, cart))

    assert [request.old_object["apiVersion"] for request in hook.seen] == ["autoscaling/v2"] * 2


@pytest.fixture
def named_namespace(send: Send) -> Iterator[str]:
    """The name of a namespace that is still to be created."""
    name = f"admitted-{next(_numbers)}"
    yield name
    send(requests.delete(NAMESPACES, ObjectKey("", name)))


def test_a_namespace_is_selected_by_its_own_labels(send: Send, named_namespace: str, webhooks: Bench) -> None:
    chosen = {"namespaceSelector": {"matchLabels": {"chosen": named_namespace}}}
    hook = Hook("witness", resource=NAMESPACES, registration=chosen)
    webhooks.validating(hook)
    labels = {"chosen": named_namespace}

    send(requests.create(NAMESPACES, {"metadata": {"name": named_namespace}}))
    send(requests.merge_patch(NAMESPACES, ObjectKey("", named_namespace), {"metadata": {"labels": labels}}))
    send(requests.delete(NAMESPACES, ObjectKey("", named_namespace)))

    told = [(request.operation, request.name, request.namespace) for request in hook.seen]
    assert told == [("UPDATE", named_namespace, named_namespace), ("DELETE", named_namespace, named_namespace)]


def test_nothing_is_asked_about_what_cannot_be_created_anyway(send: Send, webhooks: Bench) -> None:
    hook = Hook("witness", registration={"namespaceSelector": {}, "objectSelector": {"matchLabels": {"odd": "yes"}}})
    webhooks.mutating(hook)

    answer = send(requests.create(CONFIG_MAPS, config_map("a", labels={"odd": "yes"}), "nowhere"))

    assert (answer.status, hook.seen) == (404, [])


def test_no_webhook_is_asked_about_the_registration_of_webhooks(send: Send, namespace: str, webhooks: Bench) -> None:
    labels = {"of": namespace}
    hook = Hook("guard", denying("no"), MUTATING, registration={"objectSelector": {"matchLabels": labels}})
    webhooks.mutating(hook)
    webhooks.validating(hook)

    created = send(dry(requests.create(MUTATING, {"metadata": {"name": f"b.{namespace}", "labels": labels}})))

    assert (created.status, hook.seen) == (201, [])


def test_an_update_that_a_webhook_undoes_writes_nothing(send: Send, namespace: str, webhooks: Bench) -> None:
    before = send(requests.create(CONFIG_MAPS, config_map("a", {"x": "1"}), namespace)).body

    def undo(request: AdmissionRequest) -> Decision:
        return setting("data", to={"x": "1"})(request) if request.old_object else Allowed()

    webhooks.mutating(Hook("undo", undo))

    after = send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"data": {"x": "2"}})).body

    assert after == before
