"""Documents as a whole: which are configurations, what all sections default to, in which order errors come."""

import string
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.pipeline import is_successful
from returns.result import Result

from hedgerow.machinery.configuration.reading import ConfigurationErrors, Stage
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.resource_manager.configuration import API_VERSION, KIND, Decoded, decode

Answer = Callable[[str], Decoded]
Refusal = Callable[[str], ConfigurationErrors]
Entry = Callable[[object], Result[Decoded, ConfigurationErrors]]

DEFAULT_CONNECTION = {
    "kubeconfig": "",
    "acceptContentTypes": "",
    "contentType": "",
    "namespaces": [],
    "cacheResyncPeriod": "24h0m0s",
}
DEFAULTS = {
    "apiVersion": "resourcemanager.config.gardener.cloud/v1alpha1",
    "kind": "ResourceManagerConfiguration",
    "sourceClientConnection": DEFAULT_CONNECTION,
    "leaderElection": {
        "leaderElect": True,
        "leaseDuration": "15s",
        "renewDeadline": "10s",
        "retryPeriod": "2s",
        "resourceLock": "leases",
        "resourceName": "gardener-resource-manager",
        "resourceNamespace": "garden",
    },
    "server": {
        "webhooks": {
            "bindAddress": "",
            "port": 9449,
            "tls": {
                "provision": "files",
                "self": {
                    "secretName": "",
                    "secretNamespace": "",
                    "registrations": "",
                    "certificateLifetime": "2160h0m0s",
                    "authorityLifetime": "8760h0m0s",
                },
                "serverCertDir": "",
                "clientCAFile": "",
            },
            "shutdownDelay": "10s",
        },
        "healthProbes": {"bindAddress": "", "port": 8081},
        "metrics": {"bindAddress": "", "port": 8080},
    },
    "debugging": {"enableProfiling": False, "enableContentionProfiling": False},
    "logLevel": "info",
    "logFormat": "json",
    "controllers": {
        "clusterID": "",
        "resourceClass": "resources",
        "garbageCollector": {"enabled": False},
        "health": {"concurrentSyncs": 5, "syncPeriod": "1m0s"},
        "kubeletCSRApprover": {"enabled": False, "machineNamespace": "", "serviceNetworks": []},
        "managedResource": {
            "concurrentSyncs": 5,
            "syncPeriod": "1m0s",
            "alwaysUpdate": False,
            "managedByLabelValue": "gardener",
        },
        "networkPolicy": {"enabled": False, "namespaceSelectors": []},
        "node": {"enabled": False},
        "secret": {"concurrentSyncs": 5},
        "tokenInvalidator": {"enabled": False},
        "tokenRequestor": {"enabled": False, "audiences": [], "targetNamespace": "", "sourceNamespaces": []},
    },
    "webhooks": {
        name: {"enabled": False}
        for name in (
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
        )
    },
}


def test_a_file_that_says_nothing_but_where_the_lease_is_gets_every_default(decoded: Answer) -> None:
    answer = decoded("{}")

    assert answer.configuration.manifest() == DEFAULTS
    assert answer.warnings == ()


@pytest.mark.parametrize("entry", [decode, partial(decode, purpose=Purpose.OFFLINE)])
@pytest.mark.parametrize(
    ("document", "text"),
    [
        pytest.param(None, "expected an object, got null", id="an empty file"),
        pytest.param([], "expected an object, got a list", id="a list"),
        pytest.param(
            {"apiVersion": API_VERSION, "kind": "Foo"},
            'kind: expected "ResourceManagerConfiguration", got "Foo"',
            id="CFG-18",
        ),
        pytest.param(
            {"kind": KIND, "logLevel": 7},
            'apiVersion: expected "resourcemanager.config.gardener.cloud/v1alpha1", got nothing',
            id="no version",
        ),
        pytest.param(
            {"apiVersion": 1, "kind": "Pod"},
            '[apiVersion: expected "resourcemanager.config.gardener.cloud/v1alpha1", got 1, '
            'kind: expected "ResourceManagerConfiguration", got "Pod"]',
            id="another object",
        ),
    ],
)
def test_another_document_is_not_decoded(document: object, text: str, entry: Entry) -> None:
    errors = entry(document).failure()

    assert errors.stage is Stage.DECODING
    assert str(errors) == text


@pytest.mark.parametrize(
    ("fragment", "text"),
    [
        pytest.param(
            "logLevel: foo",
            'logLevel: Unsupported value: "foo": supported values: "debug", "info", "error"',
            id="CFG-7 level",
        ),
        pytest.param(
            "logFormat: bar",
            'logFormat: Unsupported value: "bar": supported values: "json", "text"',
            id="CFG-7 format",
        ),
    ],
)
def test_a_log_level_or_format_must_be_one_of_few(fragment: str, text: str, refusal: Refusal) -> None:
    errors = refusal(fragment)

    assert errors.stage is Stage.VALIDATION
    assert str(errors) == text


def test_all_rules_that_are_broken_come_in_the_order_of_the_sections(refusal: Refusal) -> None:
    errors = refusal("""
        webhooks: {kubernetesServiceHost: {enabled: true}, tokenInvalidator: {enabled: true}}
        controllers: {resourceClass: "", node: {enabled: true, backoff: 0s}}
        logFormat: bar
        logLevel: foo
        leaderElection: {}
        server: {metrics: {port: -1}}
        targetClientConnection: {burst: -1}
        sourceClientConnection: {burst: -1}
    """)

    assert [error.path for error in errors.errors] == [
        "sourceClientConnection.burst",
        "targetClientConnection.burst",
        "server.metrics.port",
        "leaderElection.resourceNamespace",
        "logLevel",
        "logFormat",
        "controllers.resourceClass",
        "controllers.node.backoff",
        "webhooks.kubernetesServiceHost.host",
        "controllers.tokenInvalidator",
    ]
    assert str(errors).startswith("[sourceClientConnection.burst: Invalid value: -1: must be non-negative, target")


def test_an_invalid_file_still_tells_of_the_misspelt_field_behind_it(refusal: Refusal) -> None:
    errors = refusal("leaderElection: {resourceNamspace: garden}")

    assert str(errors) == 'leaderElection.resourceNamespace: Invalid value: "": resourceNamespace is required'
    assert errors.warnings == (
        "leaderElection.resourceNamspace: unknown field, ignored; did you mean resourceNamespace?",
    )


def test_offline_a_file_needs_nothing_but_the_section_of_the_controller() -> None:
    answer = decode(
        {"apiVersion": API_VERSION, "kind": KIND, "controllers": {"networkPolicy": {"enabled": True}}}, Purpose.OFFLINE
    ).unwrap()

    assert answer.configuration.controllers.network_policy.enabled
    assert answer.configuration.leader_election.resource_namespace == ""


def test_offline_every_other_rule_holds(document: Callable[[str], dict[str, Any]]) -> None:
    errors = decode(document("{logLevel: foo, leaderElection: {leaseDuration: 1s}}"), Purpose.OFFLINE).failure()

    assert str(errors) == 'logLevel: Unsupported value: "foo": supported values: "debug", "info", "error"'


NAMES = st.sampled_from(
    [
        "bindAddress",
        "burst",
        "cacheResyncPeriod",
        "concurrentSyncs",
        "controllers",
        "enabled",
        "health",
        "ingressControllerSelector",
        "key",
        "leaderElection",
        "leaseDuration",
        "managedResources",
        "matchExpressions",
        "matchLabels",
        "namespace",
        "namespaceSelectors",
        "namespaces",
        "networkPolicy",
        "node",
        "operator",
        "podSelector",
        "port",
        "qps",
        "resourceClass",
        "seccompProfile",
        "server",
        "sourceClientConnection",
        "values",
        "webhooks",
    ]
)
TEXTS = st.sampled_from(["", "In", "Exists", "10s", "-5m", "garden", "_"]) | st.text(string.printable, max_size=5)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | TEXTS | st.integers(), inner, max_size=4),
    max_leaves=20,
)


@given(rest=st.dictionaries(NAMES, VALUES), entry=st.sampled_from([decode, partial(decode, purpose=Purpose.OFFLINE)]))
def test_whatever_a_document_holds_it_is_decoded_or_refused_with_a_reason(rest: dict[str, Any], entry: Entry) -> None:
    answer = entry({"apiVersion": API_VERSION, "kind": KIND, **rest})

    if is_successful(answer):
        assert answer.unwrap().configuration.manifest()["kind"] == KIND
    else:
        assert str(answer.failure())
