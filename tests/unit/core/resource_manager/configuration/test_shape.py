"""JSON types, null and unknown fields, whatever section they stand in."""

from collections.abc import Callable

import pytest

from hedgerow.machinery.configuration.reading import ConfigurationErrors, Stage
from hedgerow.resource_manager.configuration import Decoded


def test_null_means_the_same_as_absent(decoded: Callable[[str], Decoded]) -> None:
    nothing = "{sourceClientConnection: null, targetClientConnection: null, logLevel: null, controllers: {node: null}}"

    assert decoded(nothing) == decoded("{}")


@pytest.mark.parametrize(
    ("fragment", "text"),
    [
        pytest.param("logLevel: 1", "logLevel: expected a string, got an integer: 1", id="string"),
        pytest.param("controllers: []", "controllers: expected an object, got a list", id="object"),
        pytest.param(
            "controllers: {networkPolicy: {concurrentSyncs: '5'}}",
            'controllers.networkPolicy.concurrentSyncs: expected an integer, got a string: "5"',
            id="integer",
        ),
        pytest.param(
            "controllers: {networkPolicy: {concurrentSyncs: 5.5}}",
            "controllers.networkPolicy.concurrentSyncs: expected an integer, got a decimal number: 5.5",
            id="fraction",
        ),
        pytest.param(
            "controllers: {networkPolicy: {concurrentSyncs: true}}",
            "controllers.networkPolicy.concurrentSyncs: expected an integer, got a boolean: true",
            id="a boolean is no integer",
        ),
        pytest.param(
            "controllers: {networkPolicy: {enabled: 'true'}}",
            'controllers.networkPolicy.enabled: expected a boolean, got a string: "true"',
            id="boolean",
        ),
        pytest.param(
            "sourceClientConnection: {namespaces: garden}",
            'sourceClientConnection.namespaces: expected a list, got a string: "garden"',
            id="list",
        ),
        pytest.param(
            "webhooks: {systemComponentsConfig: {nodeSelector: [pool]}}",
            "webhooks.systemComponentsConfig.nodeSelector: expected an object, got a list",
            id="map",
        ),
        pytest.param(
            "sourceClientConnection: {qps: fast}",
            'sourceClientConnection.qps: expected a number, got a string: "fast"',
            id="number",
        ),
        pytest.param(
            "sourceClientConnection: {qps: .nan}",
            "sourceClientConnection.qps: expected a finite number, got NaN",
            id="finite number",
        ),
        pytest.param(
            "sourceClientConnection: {burst: 2147483648}",
            "sourceClientConnection.burst: expected an integer of 32 bits, got 2147483648",
            id="32 bits",
        ),
        pytest.param(
            "sourceClientConnection: {namespaces: [garden, null]}",
            "sourceClientConnection.namespaces[1]: expected a string, got null",
            id="null in a list",
        ),
        pytest.param(
            "sourceClientConnection: {cacheResyncPeriod: 30}",
            'sourceClientConnection.cacheResyncPeriod: expected a duration such as "1h30m0s", got an integer: 30',
            id="a duration is a string",
        ),
        pytest.param(
            "sourceClientConnection: {cacheResyncPeriod: 1d}",
            'sourceClientConnection.cacheResyncPeriod: must be a duration such as "1h30m0s", "15s" or "100ms", '
            'got "1d"',
            id="durations have no days",
        ),
        pytest.param(
            "controllers: {networkPolicy: {namespaceSelectors: [{matchLabels: {gardener.cloud/role: true}}]}}",
            "controllers.networkPolicy.namespaceSelectors[0].matchLabels[gardener.cloud/role]: "
            "expected a string, got a boolean: true",
            id="label value",
        ),
        pytest.param(
            "controllers: {2: two, resourceClass: 3}",
            "[controllers.resourceClass: expected a string, got an integer: 3, "
            "controllers[2]: expected a string as key, got an integer: 2]",
            id="several",
        ),
    ],
)
def test_a_value_of_a_wrong_type_is_named_with_its_path_and_what_was_expected(
    fragment: str, text: str, refusal: Callable[[str], ConfigurationErrors]
) -> None:
    errors = refusal(fragment)

    assert errors.stage is Stage.DECODING
    assert str(errors) == text


def test_an_unknown_field_anywhere_is_a_warning_with_its_full_path(decoded: Callable[[str], Decoded]) -> None:
    answer = decoded("""
        sourceClientConnection: {brust: 3}
        server: {webhooks: {tls: {certDir: /certs}}}
        controllers:
          networkPolicy: {concurentSyncs: 3}
          tokenRequestor: {syncs: 1}
        foo.bar: null
    """)

    assert answer.warnings == (
        "[foo.bar]: unknown field, ignored",
        "sourceClientConnection.brust: unknown field, ignored; did you mean burst?",
        "server.webhooks.tls.certDir: unknown field, ignored; did you mean serverCertDir?",
        "controllers.networkPolicy.concurentSyncs: unknown field, ignored; did you mean concurrentSyncs?",
        "controllers.tokenRequestor.syncs: unknown field, ignored",
    )


@pytest.mark.parametrize(
    ("fragment", "field", "meant"),
    [
        ("targetClientConection: {}", "targetClientConection", "targetClientConnection"),
        ("sourceClientConnection: {kubeConfig: /etc/it}", "sourceClientConnection.kubeConfig", "kubeconfig"),
        ("sourceClientConnection: {namspaces: [shop]}", "sourceClientConnection.namspaces", "namespaces"),
        ("controllers: {resourcesClass: seed}", "controllers.resourcesClass", "resourceClass"),
        (
            "controllers: {networkPolicy: {enabled: true, namespaceSelector: [{}]}}",
            "controllers.networkPolicy.namespaceSelector",
            "namespaceSelectors",
        ),
        (
            "controllers: {kubeletCSRApprover: {enabled: true, serviceNetwork: [10.0.0.0/8]}}",
            "controllers.kubeletCSRApprover.serviceNetwork",
            "serviceNetworks",
        ),
        (
            "controllers: {tokenRequestor: {targetNamespace: shop, sourceNamespace: [shop]}}",
            "controllers.tokenRequestor.sourceNamespace",
            "sourceNamespaces",
        ),
        ("server: {webhooks: {tls: {clientCAfile: /ca}}}", "server.webhooks.tls.clientCAfile", "clientCAFile"),
        ("server: {webhooks: {tsl: {clientCAFile: /ca}}}", "server.webhooks.tsl", "tls"),
        ("servers: {webhooks: {tls: {clientCAFile: /ca}}}", "servers", "server"),
        ("controlers: {resourceClass: seed}", "controlers", "controllers"),
        (
            "controllers: {networkPolicies: {enabled: true, namespaceSelectors: [{}]}}",
            "controllers.networkPolicies",
            "networkPolicy",
        ),
        (
            "controllers: {networkPolicy: {ingressControlerSelector: {namespace: a, podSelector: {}}}}",
            "controllers.networkPolicy.ingressControlerSelector",
            "ingressControllerSelector",
        ),
    ],
)
def test_a_misspelt_limit_or_section_with_a_limit_is_refused_and_not_called_ignored(
    fragment: str, field: str, meant: str, refusal: Callable[[str], ConfigurationErrors]
) -> None:
    errors = refusal(fragment)

    assert errors.stage is Stage.VALIDATION
    assert str(errors) == f"{field}: Invalid value: is an unknown field; did you mean {meant}?"
    assert errors.warnings == ()


def test_a_misspelt_section_without_a_limit_is_ignored_with_a_warning(decoded: Callable[[str], Decoded]) -> None:
    answer = decoded("{debuging: {enableProfiling: true}, webhooks: {secompProfile: {enabled: true}}}")

    assert answer.warnings == (
        "debuging: unknown field, ignored; did you mean debugging?",
        "webhooks.secompProfile: unknown field, ignored; did you mean seccompProfile?",
    )


def test_an_error_below_another_spelling_is_told_where_it_was_written(
    refusal: Callable[[str], ConfigurationErrors],
) -> None:
    broken = "controllers: {tokenValidator: {concurrentSyncs: x}, managedResources: {syncPeriod: 1}}"

    assert [error.path for error in refusal(broken).errors] == [
        "controllers.managedResources.syncPeriod",
        "controllers.tokenValidator.concurrentSyncs",
    ]


@pytest.mark.parametrize(
    ("fragment", "text"),
    [
        (
            "controllers: {managedResources: {syncPeriod: 14000ms}}",
            "controllers.managedResources.syncPeriod: Invalid value: 14000ms: must be at least 15s",
        ),
        (
            "controllers: {managedResource: {syncPeriod: 0h}}",
            "controllers.managedResource.syncPeriod: Invalid value: 0h: must be at least 15s",
        ),
        (
            "sourceClientConnection: {namespace: 5}",
            "sourceClientConnection.namespace: expected a string, got an integer: 5",
        ),
        (
            "controllers: {tokenValidator: {concurrentSyncs: x}}",
            'controllers.tokenValidator.concurrentSyncs: expected an integer, got a string: "x"',
        ),
        (
            "controllers: {tokenValidator: {enabled: true}}",
            (
                "controllers.tokenValidator: Forbidden: "
                "controller and webhook for TokenInvalidator must either be both disabled or enabled"
            ),
        ),
    ],
    ids=[
        "another spelling",
        "the first spelling",
        "a single one",
        "an older name, unreadable",
        "an older name, invalid",
    ],
)
def test_an_error_shows_name_and_value_as_they_stand_in_the_file(
    fragment: str, text: str, refusal: Callable[[str], ConfigurationErrors]
) -> None:
    assert str(refusal(fragment)) == text
