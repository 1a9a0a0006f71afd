"""The policies follow whatever happens to Services, Namespaces, Ingresses and to the policies themselves."""

import json

import pytest

from tests.e2e.resource_manager import ResourceManager, errors_of
from tests.e2e.sandbox import DESCRIPTION, Manifest, N, Sandbox, cross_pair, ingress, pair, service

SERVICE_LABELS = (f"{N}/service-name", f"{N}/service-namespace")
INGRESS_PODS = {"matchLabels": {"app": "nginx"}}


@pytest.fixture
def shop(sandbox: Sandbox) -> str:
    return sandbox.namespace("shop")


@pytest.fixture
def backend(sandbox: Sandbox) -> str:
    """Whose Services are left alone; pods of it may be let in all the same."""
    return sandbox.namespace("backend", handled=False)


def team(name: str, sandbox: Sandbox) -> dict[str, str]:
    """The annotation that lets in the pods of the namespaces of a team."""
    labels = {"team": f"{name}-{sandbox.prefix}"}
    return {"namespace-selectors": json.dumps([{"matchLabels": labels}])}


def test_policies_follow_the_ports_of_a_service_and_go_with_it(
    sandbox: Sandbox, resource_manager: ResourceManager, shop: str
) -> None:
    sandbox.create(service(shop, "cart"))
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))

    sandbox.patch("Service", shop, "cart", {"spec": {"ports": [{"port": 80, "targetPort": "http", "protocol": "TCP"}]}})
    sandbox.wait_for_policies(pair("shop", "cart-tcp-http"))

    sandbox.patch("Service", shop, "cart", {"spec": {"selector": {"app": "other"}}})
    resource_manager.wait_for(
        lambda: (
            sandbox.policies()["shop/ingress-to-cart-tcp-http"]["spec"]["podSelector"]
            == {"matchLabels": {"app": "other"}}
        ),
        "has not followed the selector",
    )

    sandbox.delete("Service", shop, "cart")
    sandbox.wait_for_policies([])
    assert errors_of(resource_manager.log_lines()) == []


def test_a_namespace_that_gets_and_loses_a_label_is_let_in_and_out(
    sandbox: Sandbox, resource_manager: ResourceManager, shop: str, backend: str
) -> None:
    own = pair("shop", "cart-tcp-8080")
    sandbox.create(service(shop, "cart", annotations=team("a", sandbox)))
    sandbox.wait_for_policies(own)

    sandbox.label_namespace(backend, {"team": f"a-{sandbox.prefix}"})
    sandbox.wait_for_policies(own | cross_pair("shop", "cart-tcp-8080", "backend"))

    sandbox.label_namespace(backend, {"team": f"b-{sandbox.prefix}"})
    sandbox.wait_for_policies(own)

    sandbox.namespace("late", handled=False, team=f"a-{sandbox.prefix}")
    sandbox.wait_for_policies(own | cross_pair("shop", "cart-tcp-8080", "late"))


def test_services_get_policies_as_long_as_their_namespace_is_looked_after(
    sandbox: Sandbox, resource_manager: ResourceManager, shop: str, backend: str
) -> None:
    sandbox.create(service(shop, "cart"), service(backend, "stock"))
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))

    label = next(iter(sandbox.handled["namespaceSelectors"][0]["matchLabels"]))
    sandbox.label_namespace(backend, {label: sandbox.prefix})
    sandbox.label_namespace(shop, {label: None})

    sandbox.wait_for_policies(pair("backend", "stock-tcp-8080"))


def test_annotations_open_ports_as_long_as_they_are_there(
    sandbox: Sandbox, resource_manager: ResourceManager, shop: str, backend: str
) -> None:
    own = pair("shop", "cart-tcp-8080")
    cart = service(shop, "cart")
    sandbox.create(cart)
    sandbox.label_namespace(backend, {"team": f"a-{sandbox.prefix}"})

    sandbox.annotate(
        cart, {"from-world-to-ports": "[]", "from-probes-allowed-ports": '[{"port": 9, "protocol": "UDP"}]'}
    )
    opened = own | pair("shop", "cart-udp-9-via-probes") | {"shop/ingress-to-cart-from-world"}
    sandbox.wait_for_policies(opened)

    sandbox.annotate(cart, team("a", sandbox))
    crossed = cross_pair("shop", "cart-tcp-8080", "backend") | {
        "shop/ingress-to-cart-udp-9-via-probes-from-backend",
        "backend/egress-to-shop-cart-udp-9-via-probes",
    }
    sandbox.wait_for_policies(opened | crossed)

    sandbox.annotate(cart, {"pod-label-selector-namespace-alias": "all-shops"})
    resource_manager.wait_for(
        lambda: (
            sandbox.policies()["backend/egress-to-shop-cart-tcp-8080"]["spec"]["podSelector"]
            == {"matchLabels": {f"{N}/to-all-shops-cart-tcp-8080": "allowed"}}
        ),
        "has not followed the alias",
    )

    names = (
        "from-world-to-ports",
        "from-probes-allowed-ports",
        "namespace-selectors",
        "pod-label-selector-namespace-alias",
    )
    sandbox.annotate(cart, dict.fromkeys(names))
    sandbox.wait_for_policies(own)


def test_the_ingress_controller_is_let_in_as_long_as_an_ingress_leads_to_a_service(
    sandbox: Sandbox, shop: str, backend: str
) -> None:
    own = pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-8080")
    selector = {"ingressControllerSelector": {"namespace": backend, "podSelector": INGRESS_PODS}}
    sandbox.create(service(shop, "cart"), service(shop, "till"))
    with ResourceManager(sandbox.folder, sandbox.configuration(selector)) as process:
        sandbox.wait_for_policies(own)

        sandbox.create(ingress(shop, "front", "cart", 80))
        sandbox.wait_for_policies(own | from_ingress_controller("cart-tcp-8080"))
        let_in = sandbox.policies()["shop/ingress-to-cart-tcp-8080-from-ingress-controller"]["spec"]["ingress"]
        assert let_in[0]["from"] == [
            {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": backend}},
                "podSelector": INGRESS_PODS,
            }
        ]

        sandbox.patch("Ingress", shop, "front", {"spec": ingress(shop, "front", "till", 80)["spec"]})
        sandbox.wait_for_policies(own | from_ingress_controller("till-tcp-8080"))

        sandbox.delete("Ingress", shop, "front")
        sandbox.wait_for_policies(own)
        assert errors_of(process.log_lines()) == []


def from_ingress_controller(identity: str) -> set[str]:
    return {
        f"shop/ingress-to-{identity}-from-ingress-controller",
        f"backend/egress-to-shop-{identity}-from-ingress-controller",
    }


@pytest.mark.parametrize(
    "edit",
    [
        {"spec": {"podSelector": {"matchLabels": {"app": "mine"}}, "ingress": [{}]}},
        {"metadata": {"annotations": {DESCRIPTION: "Allows what I want."}}},
        {"metadata": {"annotations": {DESCRIPTION: None}}},
        {"metadata": {"labels": dict.fromkeys(SERVICE_LABELS)}},
    ],
    ids=["spec", "description", "no description", "no labels"],
)
def test_what_somebody_edits_in_a_policy_is_put_back(
    sandbox: Sandbox, resource_manager: ResourceManager, shop: str, edit: Manifest
) -> None:
    sandbox.create(service(shop, "cart"))
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
    before = sandbox.policies()

    sandbox.patch("NetworkPolicy", shop, "ingress-to-cart-tcp-8080", edit)

    resource_manager.wait_for(lambda: sandbox.policies() == before, "has not put the policy back")


def test_a_label_and_an_annotation_of_somebody_else_stay(
    sandbox: Sandbox, resource_manager: ResourceManager, shop: str
) -> None:
    sandbox.create(service(shop, "cart"))
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
    name = "egress-to-cart-tcp-8080"
    foreign = {"labels": {"owner": "me"}, "annotations": {"note": "mine"}}

    sandbox.patch("NetworkPolicy", shop, name, {"metadata": foreign, "spec": {"policyTypes": ["Egress", "Ingress"]}})
    resource_manager.wait_for(
        lambda: sandbox.policies()[f"shop/{name}"]["spec"]["policyTypes"] == ["Egress"], "has not put the spec back"
    )

    metadata = sandbox.policies()[f"shop/{name}"]["metadata"]
    assert metadata["labels"] == {"owner": "me", **dict(zip(SERVICE_LABELS, ("cart", shop), strict=True))}
    assert metadata["annotations"].keys() == {"note", DESCRIPTION}


def test_a_policy_that_somebody_deletes_comes_back(
    sandbox: Sandbox, resource_manager: ResourceManager, shop: str
) -> None:
    sandbox.create(service(shop, "cart"))
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
    before = sandbox.policies()
    uid = sandbox.get("NetworkPolicy", shop, "ingress-to-cart-tcp-8080")["metadata"]["uid"]

    sandbox.delete("NetworkPolicy", shop, "ingress-to-cart-tcp-8080")

    resource_manager.wait_for(lambda: sandbox.policies() == before, "has not made the policy again")
    assert sandbox.get("NetworkPolicy", shop, "ingress-to-cart-tcp-8080")["metadata"]["uid"] != uid


def test_policies_of_others_are_left_alone(sandbox: Sandbox, resource_manager: ResourceManager, shop: str) -> None:
    foreign = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"namespace": shop, "name": "ingress-to-till-tcp-8080"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    }
    sandbox.create(foreign, service(shop, "cart"))
    sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | {"shop/ingress-to-till-tcp-8080"})

    sandbox.delete("Service", shop, "cart")

    sandbox.wait_for_policies(["shop/ingress-to-till-tcp-8080"])
    assert sandbox.policies()["shop/ingress-to-till-tcp-8080"]["metadata"] == foreign["metadata"]


def test_a_target_cluster_that_is_named_is_looked_after_and_waited_for(sandbox: Sandbox, shop: str) -> None:
    sandbox.create(service(shop, "cart"))
    config = sandbox.configuration(targetClientConnection={"kubeconfig": str(sandbox.kubeconfig)})
    with ResourceManager(sandbox.folder, config) as process:
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        assert "[+]target-informer-sync ok" in process.probe("/readyz?verbose")[1]
