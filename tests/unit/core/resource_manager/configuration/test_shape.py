"""JSON types, null and unknown fields, whatever section they stand in."""

from collections.abc import Callable

import pytest

from hedgerow.resource_manager.configuration import ConfigurationErrors, Decoded, Stage


def test_null_means_the_same_as_absent(decoded: Callable[[str], Decoded]) -> None:
    nothing = "{sourceClientConnection: null, targetClientConnection: null, logLevel: null, controllers: {node: null}}"

    assert decoded(nothing) == decoded("{}")


@pytest.mark.parametrize(
    ("fragment", "text"),
    [
        pytest.param("logLevel: 1", "logLevel: expected a string, got an integer", id="string"),
        pytest.param("controllers: []", "controllers: expected an object, got a list", id="object"),
        pytest.param(
            "controllers: {networkPolicy: {concurrentSyncs: '5'}}",
            "controllers.networkPolicy.concurrentSyncs: expected an integer, got a string",
            id="integer",
        ),
        pytest.param(
            "controllers: {networkPolicy: {concurrentSyncs: 5.5}}",
            "controllers.networkPolicy.concurrentSyncs: expected an integer, got 5.5",
            id="fraction",
        ),
        pytest.param(
            "controllers: {networkPolicy: {concurrentSyncs: true}}",
            "controllers.networkPolicy.concurrentSyncs: expected an integer, got a boolean",
            id="a boolean is no integer",
        ),
        pytest.param(
            "controllers: {networkPolicy: {enabled: 'true'}}",
            "controllers.networkPolicy.enabled: expected a boolean, got a string",
            id="boolean",
        ),
        pytest.param(
            "sourceClientConnection: {qps: fast}",
            "sourceClientConnection.qps: expected a number, got a string",
            id="number",
        ),
        pytest.param(
            "sourceClientConnection: {qps: .nan}",
            "sourceClientConnection.qps: expected a finite number, got NaN",
            id="finite number",
        ),
        pytest.param(
            "sourceClientConnection: {burst: 2147483648}",
            "sourceClientConnection.burst: expected an integer of 32 bits, got a longer one",
            id="32 bits",
        ),
        pytest.param(
            "sourceClientConnection: {namespaces: [garden, null]}",
            "sourceClientConnection.namespaces[1]: expected a string, got null",
            id="null in a list",
        ),
        pytest.param(
            "sourceClientConnection: {cacheResyncPeriod: 30}",
            'sourceClientConnection.cacheResyncPeriod: expected a duration such as "1h30m0s", got an integer',
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
            "expected a string, got a boolean",
            id="label value",
        ),
        pytest.param(
            "controllers: {2: two, resourceClass: 3}",
            "[controllers.resourceClass: expected a string, got an integer, "
            "controllers[2]: expected a string as key, got an integer]",
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
        sourceClientConnection: {kubeConfig: /etc/kubeconfig}
        server: {webhooks: {tls: {certDir: /certs}}}
        controllers:
          networkPolicy: {concurentSyncs: 3, namespaceSelectors: [{matchLabel: {}}]}
          tokenRequestor: {syncs: 1}
        foo.bar: null
    """)

    assert answer.warnings == (
        "[foo.bar]: unknown field, ignored",
        "sourceClientConnection.kubeConfig: unknown field, ignored; did you mean kubeconfig?",
        "server.webhooks.tls.certDir: unknown field, ignored; did you mean serverCertDir?",
        "controllers.networkPolicy.concurentSyncs: unknown field, ignored; did you mean concurrentSyncs?",
        "controllers.networkPolicy.namespaceSelectors[0].matchLabel: unknown field, ignored; did you mean matchLabels?",
        "controllers.tokenRequestor.syncs: unknown field, ignored",
    )
