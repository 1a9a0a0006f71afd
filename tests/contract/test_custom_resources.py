"""Definitions of custom resources: what they define is served, protected by webhooks, and gone with them."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from hedgerow.admission import deletion_protection
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request
from tests.contract.objects import key, names, refusal
from tests.contract.targets import Send
from tests.contract.webhook_bench import Bench, Hook, setting, until
from tests.contract.workloads import CRDS

_numbers = itertools.count(1)
CONFIRMED = {"confirmation.gardener.cloud/deletion": "true"}
MUST_BE_CONFIRMED = 'must have a "confirmation.gardener.cloud/deletion" annotation to delete'


def definition(resource: Resource, *, versions: tuple[str, ...] = (), **metadata: Any) -> dict[str, Any]:
    """The definition of a resource, whose version is the one that is stored."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "metadata": {"name": f"{resource.plural}.{resource.group}", **metadata},
        "spec": {
            "group": resource.group,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "names": {"plural": resource.plural, "kind": resource.kind},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == resource.version,
                    "schema": schema,
                    "subresources": {"status": {}},
                }
                for version in (resource.version, *versions)
            ],
        },
    }


def custom(resource: Resource, name: str, **fields: Any) -> dict[str, Any]:
    """A custom resource."""
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": name}, **fields}


def define(send: Send, resource: Resource, **options: Any) -> ObjectKey:
    """Define a resource, and return the key of the definition once the resource is served in each of its versions."""
    created = send(requests.create(CRDS, definition(resource, **options)))
    assert created.status == 201, created.body
    for version in (resource.version, *options.get("versions", ())):
        listing = requests.list_page(resource._replace(version=version))
        until(lambda listing=listing: send(listing), lambda answer: answer.is_success)  # type: ignore[misc]  # a default
    return ObjectKey("", created.body["metadata"]["name"])


@pytest.fixture
def widgets(send: Send) -> Iterator[Resource]:
    """A resource that is not defined yet, of a group of its own; its definition is deleted at the end."""
    resource = Resource(f"example-{next(_numbers)}.hedgerow.dev", "v1", "widgets", "Widget")
    yield resource
    send(requests.delete(CRDS, ObjectKey("", f"{resource.plural}.{resource.group}")))


@pytest.fixture
def infrastructures(send: Send) -> Iterator[Resource]:
    """A resource that the deletion protection is for, defined and gone again at the end."""
    resource = Resource("extensions.gardener.cloud", "v1alpha1", "infrastructures", "Infrastructure")
    where = define(send, resource)
    yield resource
    send(requests.delete(CRDS, where))
    until(lambda: send(requests.get(CRDS, where)), lambda answer: answer.status == 404)


def test_what_is_defined_is_served_until_the_definition_is_deleted(
    send: Send, namespace: str, widgets: Resource
) -> None:
    listing = requests.list_page(widgets, namespace=namespace)
    before = send(listing)
    where = define(send, widgets)
    send(requests.create(widgets, custom(widgets, "a"), namespace))
    during = send(listing)
    send(requests.delete(CRDS, where))

    assert before.status == 404
    assert (during.body["kind"], names(during)) == ("WidgetList", ["a"])
    until(lambda: send(listing), lambda answer: answer.status == 404)
    define(send, widgets)
    assert names(send(listing)) == []


def test_a_custom_resource_keeps_every_field_and_counts_changes(send: Send, namespace: str, widgets: Resource) -> None:
    define(send, widgets)
    given = {"spec": {"empty": {}, "none": None, "list": []}, "other": 1, "status": {"forgotten": True}}
    a = key(namespace, "a")

    created = send(requests.create(widgets, custom(widgets, "a", **given), namespace)).body
    mixed = {"metadata": {"labels": {"x": "y"}}, "status": {"forgotten": True}}
    labelled = send(requests.merge_patch(widgets, a, mixed)).body
    reported = send(requests.merge_patch(widgets, a, {"status": {"x": "y"}}, subresource="status")).body
    changed = send(requests.merge_patch(widgets, a, {"other": 2, "status": {"x": "z"}})).body
    unversioned = send(requests.update(widgets, a, custom(widgets, "a")))

    assert {name: created.get(name) for name in ("spec", "other", "status")} == {**given, "status": None}
    assert "status" not in labelled
    assert [each["metadata"]["generation"] for each in (created, labelled, reported, changed)] == [1, 1, 1, 2]
    assert (changed["other"], changed["status"]) == (2, {"x": "y"})
    assert refusal(unversioned)[0] == 422


def test_a_custom_resource_keeps_nulls_that_are_created_and_gets_none_from_a_merge_patch(
    send: Send, namespace: str, widgets: Resource
) -> None:
    define(send, widgets)
    nulls = {"none": None, "object": {"none": None}, "list": [{"none": None}, None]}
    a = key(namespace, "a")

    created = send(requests.create(widgets, custom(widgets, "a", spec=nulls), namespace)).body
    patched = send(requests.merge_patch(widgets, a, {"spec": {"none": None, "new": nulls}})).body

    assert created["spec"] == nulls
    assert patched["spec"] == {
        "object": {"none": None},
        "list": [{"none": None}, None],
        "new": {"object": {}, "list": [{}, None]},
    }


def test_each_version_shows_the_same_objects(send: Send, namespace: str, widgets: Resource) -> None:
    define(send, widgets, versions=("v1beta1",))
    older = widgets._replace(version="v1beta1")

    send(requests.create(older, custom(older, "a", spec={"x": 1}), namespace))
    shown = send(requests.get(widgets, key(namespace, "a"))).body

    assert (shown["apiVersion"], shown["spec"]) == (widgets.api_version, {"x": 1})


def test_webhooks_see_custom_resources_in_the_version_that_they_ask_for(
    send: Send, namespace: str, widgets: Resource, webhooks: Bench
) -> None:
    define(send, widgets, versions=("v1beta1",))
    older = widgets._replace(version="v1beta1")
    hook = Hook("witness", resource=widgets)
    webhooks.mutating(hook)

    send(requests.create(older, custom(older, "a"), namespace))

    assert [request.object["apiVersion"] for request in hook.seen] == [widgets.api_version]


def test_a_webhook_can_change_the_status_of_a_custom_resource(
    send: Send, namespace: str, widgets: Resource, webhooks: Bench
) -> None:
    define(send, widgets)
    send(requests.create(widgets, custom(widgets, "a", spec={"x": 1}), namespace))
    webhooks.mutating(Hook("status", setting("status", "added", to=2), widgets, subresources=["status"]))

    patch = {"status": {"given": 1}}
    reported = send(requests.merge_patch(widgets, key(namespace, "a"), patch, subresource="status"))

    assert (reported.body["status"], reported.body["spec"]) == ({"added": 2, "given": 1}, {"x": 1})


def test_a_protected_resource_is_deleted_once_that_is_confirmed(
    send: Send, namespace: str, infrastructures: Resource, webhooks: Bench
) -> None:
    send(requests.create(infrastructures, custom(infrastructures, "a"), namespace))
    webhooks.validating(protection(infrastructures))
    a = key(namespace, "a")

    refused = send(requests.delete(infrastructures, a))
    send(requests.merge_patch(infrastructures, a, {"metadata": {"annotations": CONFIRMED}}))
    deleted = send(requests.delete(infrastructures, a))

    message = f'admission webhook "protection.hedgerow.dev" denied the request: {MUST_BE_CONFIRMED}'
    assert refusal(refused) == (403, "Forbidden", message)
    assert deleted.status == 200


def test_one_protected_resource_keeps_the_whole_collection(
    send: Send, namespace: str, infrastructures: Resource, webhooks: Bench
) -> None:
    for name in ("a", "b"):
        send(requests.create(infrastructures, custom(infrastructures, name), namespace))
    send(requests.merge_patch(infrastructures, key(namespace, "a"), {"metadata": {"annotations": CONFIRMED}}))
    webhooks.validating(protection(infrastructures))
    everything = Request("DELETE", requests.collection_path(infrastructures, namespace))
    listing = requests.list_page(infrastructures, namespace=namespace)

    assert refusal(send(everything))[0] == 403
    assert names(send(listing)) == ["a", "b"]

    send(requests.merge_patch(infrastructures, key(namespace, "b"), {"metadata": {"annotations": CONFIRMED}}))
    assert send(everything).status == 200
    assert names(send(listing)) == []


def test_a_protected_definition_is_deleted_once_that_is_confirmed(
    send: Send, widgets: Resource, webhooks: Bench
) -> None:
    labels = {"gardener.cloud/deletion-protected": "true"}
    where = define(send, widgets, labels=labels)
    webhooks.validating(protection(CRDS, objectSelector={"matchLabels": labels}))

    refused = send(requests.delete(CRDS, where))
    send(requests.merge_patch(CRDS, where, {"metadata": {"annotations": CONFIRMED}}))
    deleted = send(requests.delete(CRDS, where))

    assert (refused.status, deleted.status) == (403, 200)


def protection(resource: Resource, **registration: Any) -> Hook:
    """The deletion protection, asked about one resource."""
    return Hook(
        "protection",
        resource=resource,
        operations=["DELETE"],
        answers=deletion_protection.webhook(),
        registration=registration,
    )
