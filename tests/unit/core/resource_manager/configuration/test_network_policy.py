"""Whose Services are handled, and how fast."""

from collections.abc import Callable
from typing import Any

import pytest

from hedgerow.machinery.configuration.reading import ConfigurationErrors
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement
from hedgerow.resource_manager.configuration import Decoded, decode
from hedgerow.resource_manager.configuration.controllers import NetworkPolicySettings
from hedgerow.resource_manager.network_policies.views import IngressController, NetworkPolicyConfig

Answer = Callable[[str], Decoded]
Refusal = Callable[[str], ConfigurationErrors]


def settings(decoded: Answer, section: str) -> NetworkPolicySettings:
    return decoded(f"controllers: {{networkPolicy: {section}}}").configuration.controllers.network_policy


@pytest.mark.parametrize(
    ("section", "enabled", "concurrent_syncs"),
    [
        pytest.param("{}", False, None, id="off by default, and then without defaults"),
        pytest.param("{enabled: true}", True, 5, id="five at once"),
        pytest.param("{enabled: true, concurrentSyncs: 20}", True, 20, id="as written"),
        pytest.param("{enabled: false, concurrentSyncs: 0}", False, 0, id="not checked while off"),
    ],
)
def test_how_many_services_are_looked_at_at_once(
    section: str, *, enabled: bool, concurrent_syncs: int | None, decoded: Answer
) -> None:
    assert settings(decoded, section) == NetworkPolicySettings(enabled=enabled, concurrent_syncs=concurrent_syncs)


def test_selectors_and_the_ingress_controller_become_the_rules_of_the_decision(decoded: Answer) -> None:
    rules = settings(
        decoded,
        """{
          enabled: true,
          namespaceSelectors: [
            {matchLabels: {gardener.cloud/role: shoot}},
            {matchExpressions: [{key: handler.exposureclass.gardener.cloud/name, operator: Exists}]},
            {},
          ],
          ingressControllerSelector: {namespace: garden, podSelector: {matchLabels: {app: nginx-ingress}}},
        }""",
    ).rules

    assert rules == NetworkPolicyConfig(
        namespace_selectors=(
            LabelSelector((("gardener.cloud/role", "shoot"),)),
            LabelSelector((), (Requirement("handler.exposureclass.gardener.cloud/name", Operator.EXISTS),)),
            LabelSelector(),
        ),
        ingress_controller=IngressController("garden", LabelSelector((("app", "nginx-ingress"),))),
    )


@pytest.mark.parametrize(
    ("section", "text"),
    [
        pytest.param(
            "concurrentSyncs: 0",
            "controllers.networkPolicy.concurrentSyncs: Invalid value: 0: must be at least 1",
            id="no worker",
        ),
        pytest.param(
            "namespaceSelectors: [{matchExpressions: [{key: role, operator: in, values: [shoot]}]}]",
            "controllers.networkPolicy.namespaceSelectors[0].matchExpressions[0].operator: "
            'Invalid value: must be In, NotIn, Exists or DoesNotExist, is "in"',
            id="unknown operator",
        ),
        pytest.param(
            "namespaceSelectors: [{matchLabels: {role: shoot}}, {matchLabel: {role: shoot}}]",
            "controllers.networkPolicy.namespaceSelectors[1].matchLabel: "
            "Invalid value: is an unknown field; did you mean matchLabels?",
            id="a selector that lost a letter",
        ),
        pytest.param(
            "namespaceSelectors: [{matchExpressions: [{key: role, operator: In, values: [shoot], value: 1}]}]",
            "controllers.networkPolicy.namespaceSelectors[0].matchExpressions[0].value: "
            "Invalid value: is an unknown field; did you mean values?",
            id="an expression with an unknown field",
        ),
        pytest.param(
            "ingressControllerSelector: {}",
            "[controllers.networkPolicy.ingressControllerSelector.namespace: "
            "Required value: must name the namespace of the ingress controller, "
            "controllers.networkPolicy.ingressControllerSelector.podSelector: "
            "Required value: must select the pods of the ingress controller]",
            id="an ingress controller nowhere",
        ),
        pytest.param(
            "ingressControllerSelector: {namespace: '', podSelector: {matchExpressions: [{key: a, operator: In}]}}",
            "[controllers.networkPolicy.ingressControllerSelector.namespace: "
            "Required value: must name the namespace of the ingress controller, "
            "controllers.networkPolicy.ingressControllerSelector.podSelector.matchExpressions[0].values: "
            "Invalid value: must have at least one value for operator In]",
            id="an ingress controller of unknown pods",
        ),
        pytest.param(
            "ingressControllerSelector: {namespace: ../x, podSelector: {}}",
            'controllers.networkPolicy.ingressControllerSelector.namespace: Invalid value: "../x": '
            'must consist of a-z, 0-9 and "-", starting and ending with a letter or digit, '
            'for example "my-name" or "123-abc"',
            id="an ingress controller in what is no namespace",
        ),
    ],
)
def test_an_enabled_section_must_be_right(section: str, text: str, refusal: Refusal) -> None:
    assert str(refusal(f"controllers: {{networkPolicy: {{enabled: true, {section}}}}}")) == text


def test_all_pods_of_a_namespace_may_be_the_ingress_controller(decoded: Answer) -> None:
    section = "{enabled: true, ingressControllerSelector: {namespace: ingress, podSelector: {}}}"

    assert settings(decoded, section).rules.ingress_controller == IngressController("ingress", LabelSelector())


@pytest.mark.parametrize(
    "section",
    [
        pytest.param({"namespaceSelectors": [{}]}, id="readable"),
        pytest.param({"namespaceSelectors": [{}, {"matchLabels": {"": "x"}}]}, id="unreadable"),
        pytest.param({"ingressControllerSelector": {"namespace": "garden"}}, id="incomplete"),
        pytest.param({"ingressControllerSelector": {"namespace": "../x", "podSelector": {}}}, id="no namespace"),
    ],
)
def test_a_section_that_is_off_is_kept_as_written_and_never_refused(section: dict[str, Any], decoded: Answer) -> None:
    written = {"enabled": False, "namespaceSelectors": [], **section}

    assert settings(decoded, str(section)).manifest() == written


def test_offline_the_rules_must_be_right_even_where_the_section_is_off(
    document: Callable[[str], dict[str, Any]],
) -> None:
    section = "{concurrentSyncs: 0, ingressControllerSelector: {namespace: garden}}"

    errors = decode(document(f"controllers: {{networkPolicy: {section}}}"), Purpose.OFFLINE).failure()

    assert str(errors) == (
        "controllers.networkPolicy.ingressControllerSelector.podSelector: "
        "Required value: must select the pods of the ingress controller"
    )
