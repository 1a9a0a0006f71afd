"""Which webhooks are served, and what they go by."""

from collections.abc import Callable

import pytest

from hedgerow.admission.config import AdmissionConfig, HighAvailabilityConfig, SystemComponentsConfig
from hedgerow.machinery.configuration.reading import ConfigurationErrors
from hedgerow.machinery.names import label_key_problem, label_value_problem
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.configuration import Decoded
from hedgerow.resource_manager.configuration.controllers import TokenInvalidatorSettings

BOTH = "controllers.tokenInvalidator: Forbidden: controller and webhook for TokenInvalidator must either be both"
HALF = f"{BOTH} disabled or enabled"


def admission(decoded: Callable[[str], Decoded], webhooks: str) -> AdmissionConfig:
    return decoded(f"webhooks: {{{webhooks}}}").configuration.admission


@pytest.mark.parametrize(
    ("webhooks", "config"),
    [
        pytest.param("", AdmissionConfig(), id="CFG-1"),
        pytest.param(
            "crdDeletionProtection: {enabled: true}", AdmissionConfig(crd_deletion_protection=True), id="deletions"
        ),
        pytest.param("endpointSliceHints: {enabled: true}", AdmissionConfig(endpoint_slice_hints=True), id="hints"),
        pytest.param("extensionValidation: {enabled: true}", AdmissionConfig(extension_validation=True), id="kinds"),
        pytest.param(
            "podTopologySpreadConstraints: {enabled: true}",
            AdmissionConfig(pod_topology_spread_constraints=True),
            id="spread",
        ),
        pytest.param("seccompProfile: {enabled: true}", AdmissionConfig(seccomp_profile=True), id="seccomp"),
        pytest.param(
            "highAvailabilityConfig: {enabled: true}",
            AdmissionConfig(high_availability_config=HighAvailabilityConfig()),
            id="no tolerations unless asked for",
        ),
        pytest.param(
            "highAvailabilityConfig: "
            "{enabled: true, defaultNotReadyTolerationSeconds: 0, defaultUnreachableTolerationSeconds: 60}",
            AdmissionConfig(high_availability_config=HighAvailabilityConfig(0, 60)),
            id="zero seconds are not none",
        ),
        pytest.param(
            "kubernetesServiceHost: {enabled: true, host: api.example.com}",
            AdmissionConfig(kubernetes_service_host="api.example.com"),
            id="host",
        ),
        pytest.param(
            "podSchedulerName: {enabled: true}", AdmissionConfig(pod_scheduler_name="default-scheduler"), id="CFG-16"
        ),
        pytest.param(
            "podSchedulerName: {enabled: true, schedulerName: bin-packing-scheduler}",
            AdmissionConfig(pod_scheduler_name="bin-packing-scheduler"),
            id="scheduler",
        ),
        pytest.param("projectedTokenMount: {enabled: true}", AdmissionConfig(projected_token_mount=43200), id="CFG-13"),
        pytest.param(
            "projectedTokenMount: {enabled: true, expirationSeconds: 600}",
            AdmissionConfig(projected_token_mount=600),
            id="token",
        ),
        pytest.param(
            "systemComponentsConfig: {enabled: true}",
            AdmissionConfig(system_components_config=SystemComponentsConfig()),
            id="system components, of every Node",
        ),
        pytest.param(
            "systemComponentsConfig: {enabled: true, nodeSelector: {pool: system}, podNodeSelector: {zone: a}, "
            "podTolerations: [{key: system, operator: Exists, value: '', effect: NoExecute, tolerationSeconds: 0}]}",
            AdmissionConfig(
                system_components_config=SystemComponentsConfig(
                    LabelSelector((("pool", "system"),)),
                    {"zone": "a"},
                    ({"key": "system", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0},),
                )
            ),
            id="system components",
        ),
    ],
)
def test_a_webhook_is_served_where_it_is_enabled(
    webhooks: str, config: AdmissionConfig, decoded: Callable[[str], Decoded]
) -> None:
    assert admission(decoded, webhooks) == config


@pytest.mark.parametrize(
    "webhooks",
    [
        "kubernetesServiceHost: {host: ''}",
        "podSchedulerName: {enabled: false, schedulerName: ''}",
        "projectedTokenMount: {expirationSeconds: 1}",
        "systemComponentsConfig: {nodeSelector: {a: b}}",
        "highAvailabilityConfig: null",
        "seccompProfile: {}",
    ],
)
def test_what_is_off_passes_in_silence(webhooks: str, decoded: Callable[[str], Decoded]) -> None:
    answer = decoded(f"webhooks: {{{webhooks}}}")

    assert answer.configuration.admission == AdmissionConfig()
    assert answer.warnings == ()


@pytest.mark.parametrize(
    ("webhooks", "text"),
    [
        pytest.param(
            "podSchedulerName: {enabled: true, schedulerName: ''}",
            "webhooks.podSchedulerName.schedulerName: "
            "Required value: must specify schedulerName when webhook is enabled",
            id="CFG-15",
        ),
        pytest.param(
            "projectedTokenMount: {enabled: true, expirationSeconds: 599}",
            "webhooks.projectedTokenMount.expirationSeconds: Invalid value: 599: must be at least 600",
            id="CFG-13",
        ),
        pytest.param(
            "projectedTokenMount: {enabled: true, expirationSeconds: 0}",
            "webhooks.projectedTokenMount.expirationSeconds: Invalid value: 0: must be at least 600",
            id="no time is not the default",
        ),
        pytest.param(
            "highAvailabilityConfig: {defaultNotReadyTolerationSeconds: -1, defaultUnreachableTolerationSeconds: -2}",
            "[webhooks.highAvailabilityConfig.defaultNotReadyTolerationSeconds: "
            "Invalid value: -1: must be greater than or equal to 0, "
            "webhooks.highAvailabilityConfig.defaultUnreachableTolerationSeconds: "
            "Invalid value: -2: must be greater than or equal to 0]",
            id="CFG-14, although it is not enabled",
        ),
        pytest.param(
            "systemComponentsConfig: {enabled: true, nodeSelector: {-a: b}, podNodeSelector: {a: 'b c', d.e/f: -}}",
            f'[webhooks.systemComponentsConfig.nodeSelector: Invalid value: "-a": {label_key_problem("-a")}, '
            f'webhooks.systemComponentsConfig.podNodeSelector.a: Invalid value: "b c": {label_value_problem("b c")}, '
            f'webhooks.systemComponentsConfig.podNodeSelector[d.e/f]: Invalid value: "-": {label_value_problem("-")}]',
            id="labels that no Node can have",
        ),
        pytest.param(
            "kubernetesServiceHost: {enabled: true}",
            "webhooks.kubernetesServiceHost.host: Required value: must specify host when webhook is enabled",
            id="no host",
        ),
        pytest.param(
            "kubernetesServiceHost: {enabled: true, host: ''}, podSchedulerName: {enabled: true, schedulerName: ''}",
            "[webhooks.kubernetesServiceHost.host: Required value: must specify host when webhook is enabled, "
            "webhooks.podSchedulerName.schedulerName: "
            "Required value: must specify schedulerName when webhook is enabled]",
            id="several at once",
        ),
        pytest.param(
            "seccompProfile: {enabled: 'yes'}",
            'webhooks.seccompProfile.enabled: expected a boolean, got a string: "yes"',
            id="type",
        ),
    ],
)
def test_a_rule_that_is_broken_is_told(webhooks: str, text: str, refusal: Callable[[str], ConfigurationErrors]) -> None:
    assert str(refusal(f"webhooks: {{{webhooks}}}")) == text


def test_an_alias_is_told_whether_it_switches_anything_on_or_not(decoded: Callable[[str], Decoded]) -> None:
    answer = decoded("{controllers: {tokenValidator: {}}, webhooks: {tokenValidator: {enabled: false}}}")

    assert answer.warnings == (
        "controllers.tokenValidator: is an alias of tokenInvalidator",
        "webhooks.tokenValidator: is an alias of tokenInvalidator",
    )


@pytest.mark.parametrize("controller", ["tokenInvalidator", "tokenValidator"])
@pytest.mark.parametrize("webhook", ["tokenInvalidator", "tokenValidator"])
def test_the_token_invalidator_is_switched_on_as_a_pair_under_either_name(
    controller: str, webhook: str, decoded: Callable[[str], Decoded]
) -> None:
    both = f"{{controllers: {{{controller}: {{enabled: true}}}}, webhooks: {{{webhook}: {{enabled: true}}}}}}"

    answer = decoded(both)

    assert answer.configuration.admission == AdmissionConfig(token_invalidator=True)
    assert answer.configuration.controllers.token_invalidator == TokenInvalidatorSettings(
        enabled=True, concurrent_syncs=5
    )
    assert answer.warnings == tuple(
        f"{section}.tokenValidator: is an alias of tokenInvalidator"
        for section, name in (("controllers", controller), ("webhooks", webhook))
        if name == "tokenValidator"
    )
    assert answer.configuration.manifest()["controllers"]["tokenInvalidator"] == {"enabled": True, "concurrentSyncs": 5}


@pytest.mark.parametrize(
    "fragment",
    [
        pytest.param("controllers: {tokenInvalidator: {enabled: true}}", id="CFG-12"),
        pytest.param("webhooks: {tokenInvalidator: {enabled: true}}", id="the webhook alone"),
        pytest.param("webhooks: {tokenValidator: {enabled: true}}", id="the webhook alone, by its other name"),
    ],
)
def test_half_a_token_invalidator_is_refused(fragment: str, refusal: Callable[[str], ConfigurationErrors]) -> None:
    assert str(refusal(fragment)) == HALF


def test_half_a_token_invalidator_is_told_last(refusal: Callable[[str], ConfigurationErrors]) -> None:
    errors = refusal("webhooks: {tokenInvalidator: {enabled: true}, kubernetesServiceHost: {enabled: true}}")

    assert str(errors.errors[-1]) == HALF
