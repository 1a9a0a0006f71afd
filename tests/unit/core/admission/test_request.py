"""Requests that are made of manifests."""

from typing import Any

import pytest

from hedgerow.admission import AdmissionRequest, creation, deletion, update
from hedgerow.admission.request import GroupVersionKind, GroupVersionResource
from hedgerow.api.kubernetes import DEPLOYMENTS, NODES
from hedgerow.machinery.objects import ObjectKey

CART = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "shop", "name": "cart"}}


def test_a_creation_has_the_key_of_the_object_that_is_to_be() -> None:
    assert creation(DEPLOYMENTS, CART) == AdmissionRequest(
        kind=GroupVersionKind("apps", "v1", "Deployment"),
        resource=GroupVersionResource("apps", "v1", "deployments"),
        operation="CREATE",
        namespace="shop",
        name="cart",
        object=CART,
    )


def test_an_update_has_both_objects() -> None:
    changed = {**CART, "spec": {}}
    request = update(DEPLOYMENTS, changed, CART)

    assert (request.operation, request.object, request.old_object) == ("UPDATE", changed, CART)


def test_a_deletion_has_the_key_of_the_object_that_is() -> None:
    request = deletion(DEPLOYMENTS, CART)

    assert (request.operation, request.object, request.old_object) == ("DELETE", None, CART)
    assert request.key == ObjectKey("shop", "cart")


def test_a_cluster_scoped_object_has_no_namespace_whatever_its_metadata_say() -> None:
    assert creation(NODES, {"metadata": {"namespace": "shop", "name": "node"}}).key == ObjectKey("", "node")


@pytest.mark.parametrize(
    "manifest", [None, [], 1, {}, {"metadata": None}, {"metadata": "x"}, {"metadata": {"name": None}}]
)
def test_an_object_of_any_shape_can_be_asked_about(manifest: Any) -> None:
    request = creation(DEPLOYMENTS, manifest)

    assert (request.object, request.key) == (manifest, ObjectKey("", ""))


@pytest.mark.parametrize(
    ("kind", "api_version"),
    [(GroupVersionKind("apps", "v1", "Deployment"), "apps/v1"), (GroupVersionKind("", "v1", "Pod"), "v1")],
)
def test_the_core_group_has_no_name(kind: GroupVersionKind, api_version: str) -> None:
    assert kind.api_version == api_version
