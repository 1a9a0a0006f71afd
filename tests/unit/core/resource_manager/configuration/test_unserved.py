"""Sections of the reference that this version does not act on."""

from collections.abc import Callable

import pytest

from hedgerow.resource_manager.configuration import ConfigurationErrors, Decoded

CONTROLLERS = (
    "garbageCollector",
    "kubeletCSRApprover",
    "node",
    "tokenInvalidator",
    "tokenRequestor",
    "tokenValidator",
)
WEBHOOKS = (
    "crdDeletionProtection",
    "endpointSliceHints",
    "extensionValidation",
    "highAvailabilityConfig",
    "kubernetesServiceHost",
    "podSchedulerName",
    "podTopologySpreadConstraints",
    "projectedTokenMount",
    "seccompProfile",
    "systemComponentsConfig",
    "tokenInvalidator",
    "tokenValidator",
)
SWITCHES = [("controllers", name) for name in CONTROLLERS] + [("webhooks", name) for name in WEBHOOKS]


@pytest.mark.parametrize(("parent", "name"), SWITCHES)
def test_what_does_not_exist_cannot_be_switched_on(
    parent: str, name: str, refusal: Callable[[str], ConfigurationErrors]
) -> None:
    errors = refusal(f"{parent}: {{{name}: {{enabled: true}}}}")

    assert str(errors) == f"{parent}.{name}: Forbidden: this {parent[:-1]} does not exist in this version"


@pytest.mark.parametrize(("parent", "name"), SWITCHES)
@pytest.mark.parametrize("section", ["{}", "{enabled: false}", "null"])
def test_what_is_off_passes_in_silence(parent: str, name: str, section: str, decoded: Callable[[str], Decoded]) -> None:
    assert decoded(f"{parent}: {{{name}: {section}}}") == decoded("{}")


def test_the_fields_of_a_section_that_is_off_are_known_but_not_looked_at(decoded: Callable[[str], Decoded]) -> None:
    answer = decoded("""
        controllers:
          garbageCollector: {syncPeriod: 1s}
          kubeletCSRApprover: {enabled: false, concurrentSyncs: 0, machineNamespace: shoot--foo--bar}
          node: {backoff: 10s}
          tokenRequestor: {class: shoot, audiences: [gardener], targetNamespace: kube-system}
        webhooks:
          highAvailabilityConfig: {defaultNotReadyTolerationSeconds: 60, defaultUnreachableTolerationSeconds: 60}
          kubernetesServiceHost: {host: api.example.com}
          podSchedulerName: {schedulerName: bin-packing-scheduler}
          projectedTokenMount: {expirationSeconds: 43200}
          systemComponentsConfig: {nodeSelector: {a: b}, podNodeSelector: {a: b}, podTolerations: [{key: a}]}
    """)

    assert answer.warnings == ()


@pytest.mark.parametrize(
    "section",
    [
        "health: {concurrentSyncs: 5, syncPeriod: 1m}",
        "managedResource: {concurrentSyncs: 5, syncPeriod: 1m, alwaysUpdate: false, managedByLabelValue: gardener}",
        "managedResources: {}",
        "secret: {concurrentSyncs: 5}",
    ],
)
def test_a_section_without_a_switch_is_a_warning(section: str, decoded: Callable[[str], Decoded]) -> None:
    name = section.partition(":")[0]

    assert decoded(f"controllers: {{{section}}}").warnings == (
        f"controllers.{name}: this section is not acted on in this version",
    )


@pytest.mark.parametrize(
    ("fragment", "fields"),
    [
        pytest.param(
            "debugging: {enableProfiling: true, enableContentionProfiling: true}",
            ("debugging.enableProfiling", "debugging.enableContentionProfiling"),
            id="profiling",
        ),
        pytest.param("controllers: {clusterID: seed-1}", ("controllers.clusterID",), id="cluster"),
        pytest.param("controllers: {clusterID: <default>}", ("controllers.clusterID",), id="cluster to look up"),
        pytest.param(
            "sourceClientConnection: {contentType: application/json, acceptContentTypes: application/json}",
            ("sourceClientConnection.acceptContentTypes", "sourceClientConnection.contentType"),
            id="content types of the source",
        ),
        pytest.param(
            "targetClientConnection: {contentType: application/json}",
            ("targetClientConnection.contentType",),
            id="content type of the target",
        ),
        pytest.param(
            "server: {webhooks: {tls: {serverCertDir: /certs}}}",
            ("server.webhooks.tls.serverCertDir",),
            id="certificate of webhooks",
        ),
    ],
)
def test_a_field_that_does_nothing_yet_is_a_warning_where_it_is_set(
    fragment: str, fields: tuple[str, ...], decoded: Callable[[str], Decoded]
) -> None:
    warnings = decoded(fragment).warnings

    assert warnings == tuple(f"{field}: this field is not acted on in this version" for field in fields)


@pytest.mark.parametrize(
    "fragment",
    [
        "debugging: {enableProfiling: false, enableContentionProfiling: false}",
        "controllers: {clusterID: ''}",
        "sourceClientConnection: {contentType: '', acceptContentTypes: ''}",
        "server: {webhooks: {port: 9449, tls: {serverCertDir: ''}}}",
        "server: {webhooks: {port: 0}}",
    ],
)
def test_a_field_that_does_nothing_yet_passes_in_silence_where_it_asks_for_nothing(
    fragment: str, decoded: Callable[[str], Decoded]
) -> None:
    assert decoded(fragment).warnings == ()
