"""A label selector with an unknown field would select everything, so its object is not applied."""

from typing import Any

import pytest
from returns.result import Success

from hedgerow.resource_manager.managed_resources.merge.kinds import selector_problem
from hedgerow.resource_manager.managed_resources.merge.merging import Instructions, merge

NETWORK = "networking.k8s.io/v1"
ADMISSION = "admissionregistration.k8s.io/v1"
MISSPELT = {"matchLabel": {"app": "cart"}}
RIGHT = {"matchLabels": {"app": "cart"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}


def of(api_version: str, kind: str, **members: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "cart"}, **members}


@pytest.mark.parametrize(
    ("manifest", "field"),
    [
        (of(NETWORK, "NetworkPolicy", spec={"podSelector": MISSPELT}), "spec.podSelector.matchLabel"),
        (
            of(
                NETWORK,
                "NetworkPolicy",
                spec={"podSelector": {}, "ingress": [{}, {"from": [{"ipBlock": {}}, {"namespaceSelector": MISSPELT}]}]},
            ),
            "spec.ingress[1].from[1].namespaceSelector.matchLabel",
        ),
        (
            of(NETWORK, "NetworkPolicy", spec={"egress": [{"to": [{"podSelector": MISSPELT}]}]}),
            "spec.egress[0].to[0].podSelector.matchLabel",
        ),
        (of("policy/v1", "PodDisruptionBudget", spec={"selector": MISSPELT}), "spec.selector.matchLabel"),
        (
            of(
                ADMISSION,
                "MutatingWebhookConfiguration",
                webhooks=[{"objectSelector": RIGHT}, {"objectSelector": MISSPELT}],
            ),
            "webhooks[1].objectSelector.matchLabel",
        ),
        (
            of(ADMISSION, "ValidatingWebhookConfiguration", webhooks=[{"namespaceSelector": MISSPELT}]),
            "webhooks[0].namespaceSelector.matchLabel",
        ),
        (
            of("rbac.authorization.k8s.io/v1", "ClusterRole", aggregationRule={"clusterRoleSelectors": [MISSPELT]}),
            "aggregationRule.clusterRoleSelectors[0].matchLabel",
        ),
        (of("apps/v1", "Deployment", spec={"selector": RIGHT | MISSPELT}), "spec.selector.matchLabel"),
    ],
)
def test_an_unknown_field_of_a_selector_is_named_with_the_nearest_known_one(
    manifest: dict[str, Any], field: str
) -> None:
    problem = f"{field}: is an unknown field; did you mean matchLabels?"

    assert str(merge(manifest, None, Instructions("shop/cart")).failure()) == problem
    assert str(merge(manifest, manifest, Instructions("shop/cart")).failure()) == problem


def test_a_misspelt_expression_is_refused_as_well() -> None:
    selector = {
        "matchExpressions": [{"key": "a", "operator": "Exists"}, {"key": "a", "operator": "In", "value": ["b"]}]
    }
    problem = selector_problem(of("policy/v1", "PodDisruptionBudget", spec={"selector": selector}))

    assert str(problem) == "spec.selector.matchExpressions[1].value: is an unknown field; did you mean values?"


@pytest.mark.parametrize(
    "manifest",
    [
        of(NETWORK, "NetworkPolicy", spec={"podSelector": {}}),
        of(NETWORK, "NetworkPolicy", spec={"podSelector": RIGHT, "ingress": [{"from": [{"podSelector": {}}]}]}),
        of(NETWORK, "NetworkPolicy", spec={"podSelector": None, "ingress": None, "egress": [None]}),
        of(NETWORK, "NetworkPolicy", spec=[]),
        of("v1", "Service", spec={"selector": {"matchLabel": "a label of this name"}}),
        of("example.org/v1", "NetworkPolicy", spec={"podSelector": MISSPELT}),
        of("v1", "ConfigMap", data={"matchLabel": ""}),
    ],
    ids=["all pods", "well spelt", "nulls", "another shape", "labels", "a custom resource", "no selectors"],
)
def test_other_objects_are_applied(manifest: dict[str, Any]) -> None:
    assert selector_problem(manifest) is None


def test_an_explicit_empty_selector_stays_what_it_is() -> None:
    policy = of(NETWORK, "NetworkPolicy", spec={"podSelector": {}})

    merged = merge(policy, None, Instructions("shop/cart"))

    assert merged.map(lambda manifest: manifest["spec"]) == Success({"podSelector": {}})
