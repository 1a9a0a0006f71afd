"""Deletion: preconditions, finalizers, propagation, collections."""

import pytest

from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from tests.contract.objects import (
    CONFIG_MAPS,
    NETWORK_POLICIES,
    SERVICES,
    causes,
    config_map,
    key,
    names,
    policy,
    refusal,
    version,
)
from tests.contract.targets import Send

REMOVE_FINALIZERS = {"op": "remove", "path": "/metadata/finalizers"}


def test_a_deletion_is_answered_with_what_was_deleted(send: Send, namespace: str) -> None:
    created = send(requests.create(NETWORK_POLICIES, policy("p"), namespace))

    deleted = send(requests.delete(NETWORK_POLICIES, key(namespace, "p")))

    assert deleted.status == 200
    assert deleted.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {
            "name": "p",
            "group": "networking.k8s.io",
            "kind": "networkpolicies",
            "uid": created.body["metadata"]["uid"],
        },
    }
    assert send(requests.get(NETWORK_POLICIES, key(namespace, "p"))).status == 404
    assert refusal(send(requests.delete(NETWORK_POLICIES, key(namespace, "p")))) == (
        404,
        "NotFound",
        'networkpolicies.networking.k8s.io "p" not found',
    )


def test_the_deletion_of_a_service_is_answered_with_the_service(send: Send, namespace: str) -> None:
    created = send(requests.create(SERVICES, {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 1}]}}, namespace))

    assert (
        send(requests.delete(SERVICES, key(namespace, "s"))).body["metadata"]["uid"] == created.body["metadata"]["uid"]
    )


def test_only_the_object_of_the_given_uid_is_deleted(send: Send, namespace: str) -> None:
    uid = send(requests.create(NETWORK_POLICIES, policy("p"), namespace)).body["metadata"]["uid"]

    refused = send(requests.delete(NETWORK_POLICIES, key(namespace, "p"), uid="another"))

    problem = (
        f"the UID in the precondition (another) does not match the UID in record ({uid}). "
        "The object might have been deleted and then recreated"
    )
    message = f'Operation cannot be fulfilled on NetworkPolicy.networking.k8s.io "p": {problem}'
    assert refusal(refused) == (409, "Conflict", message)
    assert send(requests.delete(NETWORK_POLICIES, key(namespace, "p"), uid=uid)).status == 200


def test_only_the_given_version_is_deleted(send: Send, namespace: str) -> None:
    first = version(send(requests.create(CONFIG_MAPS, config_map("a"), namespace)))
    second = version(send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"data": {"x": "1"}})))

    refused = send(requests.delete(CONFIG_MAPS, key(namespace, "a"), resource_version=first))

    problem = (
        f"the ResourceVersion in the precondition ({first}) does not match the ResourceVersion in record ({second}). "
        "The object might have been modified"
    )
    assert refusal(refused) == (409, "Conflict", f'Operation cannot be fulfilled on ConfigMap "a": {problem}')
    assert send(requests.delete(CONFIG_MAPS, key(namespace, "a"), resource_version=second)).status == 200


def test_a_finalizer_holds_an_object_until_it_is_removed(send: Send, namespace: str) -> None:
    send(requests.create(NETWORK_POLICIES, policy("p", finalizers=["hedgerow.dev/hold"]), namespace))

    marked = send(requests.delete(NETWORK_POLICIES, key(namespace, "p")))
    again = send(requests.delete(NETWORK_POLICIES, key(namespace, "p")))

    assert marked.body["kind"] == "NetworkPolicy"
    assert marked.body["metadata"]["deletionTimestamp"]
    assert marked.body["metadata"]["deletionGracePeriodSeconds"] == 0
    assert marked.body["metadata"]["generation"] == 2
    assert again.body == marked.body

    released = send(requests.merge_patch(NETWORK_POLICIES, key(namespace, "p"), {"metadata": {"finalizers": None}}))

    assert "finalizers" not in released.body["metadata"]
    assert version(released) == version(marked)
    assert send(requests.get(NETWORK_POLICIES, key(namespace, "p"))).status == 404


def test_an_object_that_is_being_deleted_gets_no_new_finalizer_and_no_successor(send: Send, namespace: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a", finalizers=["hedgerow.dev/hold"]), namespace))
    send(requests.delete(CONFIG_MAPS, key(namespace, "a")))

    finalizers = {"metadata": {"finalizers": ["hedgerow.dev/hold", "hedgerow.dev/new"]}}
    more = send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), finalizers))
    again = send(requests.create(CONFIG_MAPS, config_map("a"), namespace))
    changed = send(requests.merge_patch(CONFIG_MAPS, key(namespace, "a"), {"data": {"x": "1"}}))

    problem = (
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
        'found new finalizers []string{"hedgerow.dev/new"}'
    )
    assert refusal(more) == (422, "Invalid", f'ConfigMap "a" is invalid: {problem}')
    assert refusal(again)[2] == 'object is being deleted: configmaps "a" already exists'
    assert changed.body["data"] == {"x": "1"}


@pytest.mark.parametrize(("propagation", "finalizer"), [("Orphan", "orphan"), ("Foreground", "foregroundDeletion")])
def test_the_garbage_collector_holds_what_it_has_to_look_after(
    send: Send, namespace: str, propagation: str, finalizer: str
) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    marked = send(requests.delete(CONFIG_MAPS, key(namespace, "a"), propagation=propagation))
    assert marked.body["metadata"]["finalizers"] == [finalizer]

    send(requests.delete(CONFIG_MAPS, key(namespace, "a"), propagation="Background"))
    assert send(requests.get(CONFIG_MAPS, key(namespace, "a"))).status == 404


def test_an_unknown_propagation_is_refused(send: Send, namespace: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    refused = send(requests.delete(CONFIG_MAPS, key(namespace, "a"), propagation="Sideways"))

    assert causes(refused) == [("FieldValueNotSupported", "propagationPolicy")]
    assert refusal(refused)[2] == (
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": '
        'supported values: "Foreground", "Background", "Orphan", "nil"'
    )


def test_without_a_propagation_nothing_holds_an_object(send: Send, namespace: str) -> None:
    send(requests.create(CONFIG_MAPS, config_map("a"), namespace))

    assert send(requests.delete(CONFIG_MAPS, key(namespace, "a"), propagation=None)).body["status"] == "Success"
    assert send(requests.get(CONFIG_MAPS, key(namespace, "a"))).status == 404


def test_an_object_that_is_being_deleted_is_updated_with_fewer_finalizers_and_not_with_more(
    send: Send, namespace: str
) -> None:
    created = send(requests.create(NETWORK_POLICIES, policy("p", finalizers=["hedgerow.dev/a"]), namespace))
    marked = send(requests.delete(NETWORK_POLICIES, key(namespace, "p"), propagation="Foreground")).body

    def updated_with(*finalizers: str) -> Response:
        body = {**marked, "metadata": {**marked["metadata"], "finalizers": list(finalizers)}}
        return send(requests.update(NETWORK_POLICIES, key(namespace, "p"), body))

    assert sorted(marked["metadata"]["finalizers"]) == ["foregroundDeletion", "hedgerow.dev/a"]
    assert (created.body["metadata"]["generation"], marked["metadata"]["generation"]) == (1, 2)
    more = updated_with("foregroundDeletion", "hedgerow.dev/a", "hedgerow.dev/b")
    assert causes(more) == [("FieldValueForbidden", "metadata.finalizers")]
    assert updated_with("foregroundDeletion").status == 200
    gone = send(requests.json_patch(NETWORK_POLICIES, key(namespace, "p"), [REMOVE_FINALIZERS]))
    assert gone.status == 200
    assert send(requests.get(NETWORK_POLICIES, key(namespace, "p"))).status == 404


def deletion_of(namespace: str, selector: str) -> Request:
    return Request("DELETE", requests.collection_path(CONFIG_MAPS, namespace), {"labelSelector": selector})


def test_a_collection_is_deleted_by_selector(send: Send, namespace: str) -> None:
    for name, colour in (("a", "red"), ("b", "blue"), ("c", "red")):
        send(requests.create(CONFIG_MAPS, config_map(name, labels={"colour": colour}), namespace))
    held = config_map("held", labels={"colour": "red"}, finalizers=["hedgerow.dev/hold"])
    send(requests.create(CONFIG_MAPS, held, namespace))

    deleted = send(deletion_of(namespace, "colour=red"))

    assert (deleted.body["kind"], names(deleted)) == ("ConfigMapList", ["a", "c", "held"])
    assert names(send(requests.list_page(CONFIG_MAPS, namespace=namespace))) == ["b", "held"]
    assert send(requests.get(CONFIG_MAPS, key(namespace, "held"))).body["metadata"]["deletionTimestamp"]
    again = send(deletion_of(namespace, "colour=green"))
    assert (again.status, names(again)) == (200, [])
