"""Where requests lead, whatever names they are made from, and which of them carries an action out."""

import pytest

from hedgerow.api.kubernetes import DEPLOYMENTS, NAMESPACES, PODS
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Action, Create, Delete, Update
from hedgerow_adapters.kubernetes.http_session import url_of
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.requests import UnaddressableError, collection_path, object_path
from hedgerow_adapters.protocol.transport import Request

LEADS_ELSEWHERE = (
    "shop/services/http:victim:80/proxy/admin",
    "../../secrets",
    "/",
    "..",
    ".",
    "%2e%2e",
    "a%2Fb",
    "a\r\nHost: b",
    "\ud800",
)


def test_paths_are_those_of_the_kubernetes_api() -> None:
    assert collection_path(PODS) == "/api/v1/pods"
    assert collection_path(DEPLOYMENTS, "shop") == "/apis/apps/v1/namespaces/shop/deployments"
    assert object_path(NAMESPACES, ObjectKey("", "shop")) == "/api/v1/namespaces/shop"
    assert (
        object_path(DEPLOYMENTS, ObjectKey("shop", "cart"), "scale")
        == f"{collection_path(DEPLOYMENTS, 'shop')}/cart/scale"
    )


@pytest.mark.parametrize("text", LEADS_ELSEWHERE)
def test_no_text_leads_out_of_its_place_in_a_path(text: str) -> None:
    with pytest.raises(UnaddressableError, match="cannot be a segment of a path"):
        requests.get(PODS, ObjectKey(text, "cart"))
    with pytest.raises(UnaddressableError):
        requests.get(PODS, ObjectKey("shop", text))
    with pytest.raises(UnaddressableError):
        requests.list_page(PODS, namespace=text)


def test_an_object_without_a_name_is_not_the_list_of_all() -> None:
    with pytest.raises(UnaddressableError):
        requests.delete(PODS, ObjectKey("shop", ""))


def test_names_that_are_no_dns_names_lead_to_their_objects() -> None:
    url = url_of("https://api", requests.get(PODS, ObjectKey("shop", "system:a?b#c d")))

    assert url.raw_path_qs == "/api/v1/namespaces/shop/pods/system:a%3Fb%23c%20d"


SHOP = ObjectKey("shop", "cart")
MANIFEST = {"metadata": {"namespace": "shop", "name": "cart", "resourceVersion": "7"}}
OPTIONS = {"apiVersion": "v1", "kind": "DeleteOptions"}
PLACE = "/api/v1/namespaces/shop/pods"


@pytest.mark.parametrize(
    ("action", "request_"),
    [
        (Create(PODS, MANIFEST, ""), Request("POST", PLACE, body=MANIFEST)),
        (Update(PODS, MANIFEST, ""), Request("PUT", f"{PLACE}/cart", body=MANIFEST)),
        (Update(PODS, MANIFEST, "", "status"), Request("PUT", f"{PLACE}/cart/status", body=MANIFEST)),
        (Delete(PODS, SHOP, ""), Request("DELETE", f"{PLACE}/cart", body=OPTIONS)),
        (
            Delete(PODS, SHOP, "", "u", "7", "Foreground"),
            Request("DELETE", f"{PLACE}/cart",
                    body={**OPTIONS, "propagationPolicy": "Foreground",
                          "preconditions": {"uid": "u", "resourceVersion": "7"}}),
        ),
    ],
)  # fmt: skip
def test_an_action_is_one_request(action: Action, request_: Request) -> None:
    assert requests.for_action(action) == request_
