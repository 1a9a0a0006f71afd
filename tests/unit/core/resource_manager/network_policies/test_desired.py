"""Which policies a Service asks for; the worked examples of the specification are golden cases."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
import yaml
from returns.result import Failure, Success

from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.network_policies import (
    DesiredPolicies,
    IngressController,
    NetworkPolicyConfig,
    desired_network_policies,
)
from hedgerow.resource_manager.network_policies.ports import MOST_PORTS
from hedgerow.resource_manager.network_policies.views import IngressView, NamespaceView, ServiceView
from tests.unit.core.resource_manager.network_policies.objects import (
    BEHIND_INGRESS,
    DOMAIN,
    backend,
    ingress,
    namespace,
    service,
)

TO_ALL = {"namespace-selectors": "[{}]"}
MANIFESTS = """
apiVersion: v1
kind: Service
metadata:
  name: cart
  namespace: shop
  annotations:
    networking.resources.gardener.cloud/namespace-selectors: '[{"matchLabels":{"team":"x"}}]'
    networking.resources.gardener.cloud/pod-label-selector-namespace-alias: all-shops
    networking.resources.gardener.cloud/from-all-scrape-targets-allowed-ports: '[{"port":"metrics"}]'
    networking.resources.gardener.cloud/from-world-to-ports: '[{"port":8080,"protocol":"TCP"}]'
spec:
  selector: {app: cart}
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: b, labels: {team: x}}
---
apiVersion: v1
kind: Namespace
metadata: {name: c, labels: {team: x}, deletionTimestamp: 2026-01-01T00:00:00Z}
---
apiVersion: v1
kind: Namespace
metadata: {name: garden}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  rules:
  - http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: cart, port: {number: 80}}}}]}
"""


def answer(
    subject: Mapping[str, Any], *namespaces: Mapping[str, Any], config: NetworkPolicyConfig = BEHIND_INGRESS
) -> DesiredPolicies:
    """What a Service asks for in the presence of an Ingress that leads to its port 80."""
    return desired_network_policies(subject, namespaces, [ingress(backend(80))], config).unwrap()


def names(desired: DesiredPolicies) -> list[str]:
    return [str(policy.key) for policy in desired.policies]


def test_manifests_and_views_get_the_same_answer_and_stay_as_they_are() -> None:
    subject, *namespaces, web = yaml.safe_load_all(MANIFESTS)
    before = deepcopy((subject, namespaces, web))
    views = ServiceView.of(subject), [NamespaceView.of(each) for each in namespaces], [IngressView.of(web)]

    of_manifests = desired_network_policies(subject, namespaces, [web], BEHIND_INGRESS)
    of_views = desired_network_policies(*views, BEHIND_INGRESS)

    assert of_manifests == of_views
    assert names(of_manifests.unwrap()) == [
        "b/egress-to-shop-cart-tcp-8080",
        "b/egress-to-shop-cart-tcp-metrics-via-all-scrape-targets",
        "garden/egress-to-shop-cart-tcp-8080-from-ingress-controller",
        "shop/egress-to-cart-tcp-8080",
        "shop/egress-to-cart-tcp-metrics-via-all-scrape-targets",
        "shop/ingress-to-cart-from-world",
        "shop/ingress-to-cart-tcp-8080",
        "shop/ingress-to-cart-tcp-8080-from-b",
        "shop/ingress-to-cart-tcp-8080-from-ingress-controller",
        "shop/ingress-to-cart-tcp-metrics-via-all-scrape-targets",
        "shop/ingress-to-cart-tcp-metrics-via-all-scrape-targets-from-b",
    ]
    assert (subject, namespaces, web) == before


def test_namespaces_and_ingresses_may_be_read_but_once() -> None:
    subject, *namespaces, web = yaml.safe_load_all(MANIFESTS)

    once = desired_network_policies(subject, iter(namespaces), iter([web]), BEHIND_INGRESS)

    assert once == desired_network_policies(subject, namespaces, [web], BEHIND_INGRESS)


def test_each_policy_says_which_rule_asks_for_it() -> None:
    subject, *namespaces, web = yaml.safe_load_all(MANIFESTS)
    desired = desired_network_policies(subject, namespaces, [web], BEHIND_INGRESS).unwrap()

    assert {policy.key.name: policy.reason for policy in desired.policies if policy.key.namespace == "shop"} == {
        "egress-to-cart-tcp-8080": "service-port",
        "egress-to-cart-tcp-metrics-via-all-scrape-targets": "allowed-ports",
        "ingress-to-cart-from-world": "from-world",
        "ingress-to-cart-tcp-8080": "service-port",
        "ingress-to-cart-tcp-8080-from-b": "service-port",
        "ingress-to-cart-tcp-8080-from-ingress-controller": "ingress-backend",
        "ingress-to-cart-tcp-metrics-via-all-scrape-targets": "allowed-ports",
        "ingress-to-cart-tcp-metrics-via-all-scrape-targets-from-b": "allowed-ports",
    }


def test_a_change_to_one_manifest_of_the_policy_for_everybody_reaches_no_other() -> None:
    open_to_all = service({"from-world-to-ports": "[]"})
    changed = answer(open_to_all).policies[1].manifest()
    changed["spec"]["ingress"][0]["from"].clear()

    assert len(answer(open_to_all).policies[1].manifest()["spec"]["ingress"][0]["from"]) == 3


def test_without_any_namespace_the_service_still_has_its_own() -> None:
    desired = desired_network_policies(service(), []).unwrap()

    assert names(desired) == ["shop/egress-to-cart-tcp-8080", "shop/ingress-to-cart-tcp-8080"]


def test_a_service_without_policies_says_why() -> None:
    assert answer(service(selector={})) == DesiredPolicies(none_because="service-without-selector")


def test_an_egress_policy_needs_a_living_namespace_of_the_ingress_controller() -> None:
    egress = "garden/egress-to-shop-cart-tcp-8080-from-ingress-controller"
    ingress_half = "shop/ingress-to-cart-tcp-8080-from-ingress-controller"

    assert {egress, ingress_half} <= set(names(answer(service(), namespace("garden"))))
    for desired in (answer(service()), answer(service(), namespace("garden", terminating=True))):
        assert egress not in names(desired)
        assert ingress_half in names(desired)


def test_a_bad_port_refuses_both_halves_everywhere_and_no_other_policy() -> None:
    ports = [{"port": 80, "targetPort": 70000}, {"port": 81, "targetPort": 8081}]
    desired = answer(service(TO_ALL, ports), namespace("b"), namespace("garden"))

    assert sorted(str(refusal.key) for refusal in desired.refused) == [
        "b/egress-to-shop-cart-tcp-70000",
        "garden/egress-to-shop-cart-tcp-70000",
        "garden/egress-to-shop-cart-tcp-70000-from-ingress-controller",
        "shop/egress-to-cart-tcp-70000",
        "shop/ingress-to-cart-tcp-70000",
        "shop/ingress-to-cart-tcp-70000-from-b",
        "shop/ingress-to-cart-tcp-70000-from-garden",
        "shop/ingress-to-cart-tcp-70000-from-ingress-controller",
    ]
    assert [str(failure) for failure in desired.failures] == [
        "Service shop/cart: spec.ports[0]: port must be between 1 and 65535, got 70000"
    ]
    assert len(desired.policies) == 6


def test_a_namespace_alias_that_makes_no_label_refuses_what_other_namespaces_would_get() -> None:
    annotations = {**TO_ALL, "pod-label-selector-namespace-alias": "all shops", "from-x-allowed-ports": '[{"port":1}]'}
    desired = answer(service(annotations), namespace("b"), config=NetworkPolicyConfig())

    assert [str(failure) for failure in desired.failures] == [
        (
            f"Service shop/cart: metadata.annotations[{DOMAIN}/pod-label-selector-namespace-alias]: makes no "
            'pod label: name after "/" must consist of A-Z, a-z, 0-9, "-", "_" and ".", starting and ending with a '
            'letter or digit, for example "MyName" or "my.name"'
        )
    ]
    assert {str(refusal.key) for refusal in desired.refused} == {
        "b/egress-to-shop-cart-tcp-8080",
        "b/egress-to-shop-cart-tcp-1-via-x",
        "shop/ingress-to-cart-tcp-8080-from-b",
        "shop/ingress-to-cart-tcp-1-via-x-from-b",
    }
    assert len(desired.policies) == 4


def test_ports_for_the_world_that_are_bad_refuse_that_policy_alone() -> None:
    desired = answer(service({"from-world-to-ports": '[{"port":80},{"port":"","protocol":"TCP"}]'}))

    assert [(str(refusal.key), str(refusal.failure)) for refusal in desired.refused] == [
        (
            "shop/ingress-to-cart-from-world",
            (
                f"Service shop/cart: metadata.annotations[{DOMAIN}/from-world-to-ports]: [1]: "
                'port name "" must not be empty'
            ),
        )
    ]
    assert len(desired.policies) == 3


def test_everything_that_cannot_be_understood_is_named_at_once() -> None:
    annotations = {"namespace-selectors": "", "from-x-allowed-ports": "1", "from-world-to-ports": "[]"}

    match desired_network_policies(service(annotations), []):
        case Failure(failures):
            assert [str(failure) for failure in failures] == [
                (
                    f"Service shop/cart: metadata.annotations[{DOMAIN}/from-x-allowed-ports]: "
                    "must be a JSON list, got the number 1"
                ),
                f"Service shop/cart: metadata.annotations[{DOMAIN}/namespace-selectors]: is not valid JSON",
            ]
        case Success():
            pytest.fail("it was understood")


FOO, FOO_FROM_B = {"port": 1, "targetPort": "foo"}, {"port": 2, "targetPort": "foo-from-b"}


@pytest.mark.parametrize("ports", [[FOO, FOO_FROM_B], [FOO_FROM_B, FOO]])
def test_of_two_ports_that_want_one_name_the_first_by_name_has_it_in_whatever_order_they_stand(
    ports: list[Mapping[str, Any]],
) -> None:
    only_b = {"namespace-selectors": '[{"matchLabels":{"kubernetes.io/metadata.name":"b"}}]'}
    desired = answer(service(only_b, ports), namespace("b"), config=NetworkPolicyConfig())
    contested = next(each for each in desired.policies if each.key.name == "ingress-to-cart-tcp-foo-from-b")

    assert contested.manifest()["spec"]["ingress"][0]["ports"] == [{"protocol": "TCP", "port": "foo"}]
    assert [str(failure) for failure in desired.failures] == [
        (
            "NetworkPolicy shop/ingress-to-cart-tcp-foo-from-b: metadata.name: the policy that service-port asks for "
            "has the name of the one that service-port asks for"
        )
    ]
    assert [refusal.key for refusal in desired.refused] == [contested.key]


def test_a_namespace_called_ingress_controller_and_the_ingress_controller_want_one_name() -> None:
    desired = answer(service(TO_ALL), namespace("ingress-controller"), namespace("garden"))

    assert [str(failure) for failure in desired.failures] == [
        (
            "NetworkPolicy shop/ingress-to-cart-tcp-8080-from-ingress-controller: metadata.name: the policy that "
            "ingress-backend asks for has the name of the one that service-port asks for"
        )
    ]
    assert ObjectKey("shop", "ingress-to-cart-tcp-8080-from-ingress-controller") in {
        policy.key for policy in desired.policies
    }


def test_a_range_and_its_first_port_want_one_name() -> None:
    desired = answer(service({"from-x-allowed-ports": '[{"port":80,"endPort":90},{"port":80}]'}))
    contested = next(each for each in desired.policies if each.key.name == "ingress-to-cart-tcp-80-via-x")

    assert contested.manifest()["spec"]["ingress"][0]["ports"] == [{"protocol": "TCP", "port": 80}]
    assert len(desired.failures) == 2


def test_the_ingress_controller_may_live_in_the_namespace_of_the_service() -> None:
    config = NetworkPolicyConfig(ingress_controller=IngressController("shop", LabelSelector((("app", "nginx"),))))

    assert names(answer(service(), namespace("shop"), config=config)) == [
        "shop/egress-to-cart-tcp-8080",
        "shop/egress-to-cart-tcp-8080-from-ingress-controller",
        "shop/ingress-to-cart-tcp-8080",
        "shop/ingress-to-cart-tcp-8080-from-ingress-controller",
    ]


def test_a_service_that_asks_for_more_policies_than_anybody_needs_is_refused_as_a_whole() -> None:
    ports = ",".join(f'{{"port":{number}}}' for number in range(1, 100))
    greedy = service({"from-a-allowed-ports": f"[{ports}]", **TO_ALL})
    everybody = [namespace("shop"), *(namespace(f"n{number}") for number in range(25))]

    result = desired_network_policies(greedy, everybody)

    (failure,) = result.failure()
    assert str(failure) == "Service shop/cart: ports and namespaces ask for 5200 policies, at most 5000 are possible"
    assert len(desired_network_policies(greedy, everybody[:25]).unwrap().policies) == 5000


def test_a_service_with_more_ports_than_anybody_needs_is_refused_as_a_whole() -> None:
    ports = [{"port": 1 + number, "targetPort": 8080} for number in range(MOST_PORTS + 1)]
    greedy = service()
    greedy = {**greedy, "spec": {**greedy["spec"], "ports": ports}}

    (failure,) = desired_network_policies(greedy, [namespace("shop")]).failure()

    assert (
        str(failure)
        == f"Service shop/cart: spec.ports: lists {MOST_PORTS + 1} ports, at most {MOST_PORTS} are possible"
    )
