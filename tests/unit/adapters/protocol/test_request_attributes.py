"""What a request is to the API server's authorization."""

import pytest

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Attributes, Request, attributes_of

SERVICES = Resource("", "v1", "services", "Service")
POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
CART = ObjectKey("shop", "cart")
SHOP = ObjectKey("", "shop")


@pytest.mark.parametrize(
    ("request_", "attributes"),
    [
        (requests.list_page(SERVICES), Attributes("list", "services")),
        (requests.list_page(SERVICES, namespace="shop"), Attributes("list", "services", "shop")),
        (requests.watch(SERVICES, resource_version="1", timeout_seconds=9), Attributes("watch", "services")),
        (requests.get(SERVICES, CART), Attributes("get", "services", "shop", "cart")),
        (requests.create(POLICIES, {}, "shop"), Attributes("create", "networkpolicies.networking.k8s.io", "shop")),
        (requests.update(SERVICES, CART, {}, "status"), Attributes("update", "services/status", "shop", "cart")),
        (
            requests.merge_patch(POLICIES, CART, {}),
            Attributes("patch", "networkpolicies.networking.k8s.io", "shop", "cart"),
        ),
        (requests.delete(SERVICES, CART), Attributes("delete", "services", "shop", "cart")),
        (Request("DELETE", "/api/v1/namespaces/shop/services"), Attributes("deletecollection", "services", "shop")),
        (requests.list_page(NAMESPACES), Attributes("list", "namespaces")),
        (requests.list_page(NAMESPACES, name="shop"), Attributes("list", "namespaces", name="shop")),
        (
            Request("GET", "/api/v1/namespaces", {"fieldSelector": "status.phase=Active"}),
            Attributes("list", "namespaces"),
        ),
        (requests.get(NAMESPACES, SHOP), Attributes("get", "namespaces", name="shop")),
        (requests.update(NAMESPACES, SHOP, {}, "status"), Attributes("update", "namespaces/status", name="shop")),
        (requests.update(NAMESPACES, SHOP, {}, "finalize"), Attributes("update", "namespaces/finalize", name="shop")),
        (Request("GET", "/healthz"), Attributes("get", "/healthz")),
        (Request("GET", "/apis"), Attributes("get", "/apis")),
        (Request("GET", "/apis/apps/v1"), Attributes("get", "/apis/apps/v1")),
    ],
    ids=lambda value: f"{value.verb} {value.resource}" if isinstance(value, Attributes) else "",
)
def test_a_request_asks_for_a_verb_on_a_resource(request_: Request, attributes: Attributes) -> None:
    assert attributes_of(request_) == attributes
