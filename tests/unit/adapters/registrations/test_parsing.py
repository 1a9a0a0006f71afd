"""What registration objects register."""

from typing import Any

import pytest
from returns.result import Success

from hedgerow.admission.registration import Rule, Scope
from hedgerow.machinery.selectors import LabelSelector
from hedgerow_adapters.registrations import Client, Entry, Registrations, parse_registrations

RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
LEAST: dict[str, Any] = {
    "name": "least.example.com",
    "clientConfig": {"url": "https://hooks.example.com/pods"},
    "rules": [RULE],
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
}


def registration(name: str, *webhooks: Any, kind: str = "MutatingWebhookConfiguration") -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "webhooks": list(webhooks),
    }


def only(webhook: dict[str, Any]) -> Entry:
    (entry,) = parse_registrations([registration("c", webhook)]).unwrap().mutating_entries
    return entry


def test_what_is_left_out_has_the_defaults_of_v1() -> None:
    assert only(LEAST) == Entry(
        configuration="c",
        name="least.example.com",
        client=Client("hooks.example.com", "/pods", 443, ""),
        rules=(Rule(("CREATE",), ("",), ("v1",), ("pods",), Scope.ALL),),
        namespace_selector=LabelSelector(),
        object_selector=LabelSelector(),
        matches_equivalents=True,
        ignores_failures=False,
        is_repeated=False,
        timeout_seconds=10,
        review_versions=("v1",),
    )


def test_what_is_said_counts() -> None:
    entry = only(
        {
            **LEAST,
            "clientConfig": {
                "service": {"name": "hooks", "namespace": "garden", "path": "/x", "port": 8443},
                "caBundle": "Y2E=",
            },
            "rules": [{**RULE, "scope": "Namespaced"}],
            "namespaceSelector": {"matchLabels": {"a": "b"}},
            "objectSelector": {"matchLabels": {"c": "d"}},
            "matchPolicy": "Exact",
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "IfNeeded",
            "timeoutSeconds": 2,
            "admissionReviewVersions": ["v1beta1", "v1"],
        }
    )

    assert entry.client == Client("hooks.garden.svc", "/x", 8443, "Y2E=")
    assert entry.rules[0].scope is Scope.NAMESPACED
    assert entry.namespace_selector == LabelSelector((("a", "b"),))
    assert entry.object_selector == LabelSelector((("c", "d"),))
    assert (entry.matches_equivalents, entry.ignores_failures, entry.is_repeated) == (False, True, True)
    assert (entry.timeout_seconds, entry.review_versions) == (2, ("v1beta1", "v1"))


@pytest.mark.parametrize(
    ("config", "client"),
    [
        ({"url": "https://h"}, Client("h", "/")),
        ({"url": "https://h:8443/a/b"}, Client("h", "/a/b", 8443)),
        ({"url": "https://[::1]:443/a"}, Client("[::1]", "/a")),
        ({"service": {"name": "s", "namespace": "n"}}, Client("s.n.svc", "/")),
    ],
)
def test_a_webhook_is_reached_by_url_or_service(config: dict[str, Any], client: Client) -> None:
    assert only({**LEAST, "clientConfig": config}).client == client


def test_configurations_are_ordered_by_name_and_webhooks_by_their_place() -> None:
    def named(name: str) -> dict[str, Any]:
        return {**LEAST, "name": name}

    validating = "ValidatingWebhookConfiguration"
    registered = parse_registrations(
        [
            registration("b", named("b2"), named("b1")),
            registration("z", named("z"), kind=validating),
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "webhooks": 1},
            registration("a", named("a")),
            registration("y", named("y"), kind=validating),
        ]
    ).unwrap()

    assert [entry.name for entry in registered.mutating_entries] == ["a", "b2", "b1"]
    assert [entry.name for entry in registered.validating_entries] == ["y", "z"]


def test_nothing_registered_is_nothing() -> None:
    assert parse_registrations([]) == Success(Registrations())
    assert parse_registrations([{**registration("c"), "webhooks": None}]) == Success(Registrations())


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": ""}, "name: must be a non-empty string"),
        ({"clientConfig": None}, "clientConfig: must be an object"),
        ({"clientConfig": {}}, "clientConfig: must have either url or service"),
        (
            {"clientConfig": {"url": "http://h"}},
            "clientConfig.url: must be an https URL without query, fragment or user",
        ),
        (
            {"clientConfig": {"url": "https://u@h"}},
            "clientConfig.url: must be an https URL without query, fragment or user",
        ),
        (
            {"clientConfig": {"url": "https://h:99999"}},
            "clientConfig.url: must be an https URL without query, fragment or user",
        ),
        (
            {"clientConfig": {"service": {"name": "s"}}},
            "clientConfig.service.namespace: must be a non-empty string",
        ),
        (
            {"clientConfig": {"service": {"name": "s", "namespace": "n", "path": "x"}}},
            "clientConfig.service.path: must start with a slash",
        ),
        (
            {"clientConfig": {"service": {"name": "s", "namespace": "n", "port": 0}}},
            "clientConfig.service.port: must be an integer from 1 to 65535",
        ),
        ({"rules": {}}, "rules: must be a list"),
        ({"rules": [1]}, "rules[0]: must be an object"),
        ({"rules": [{**RULE, "apiGroups": []}]}, "rules[0].apiGroups: must be a non-empty list of strings"),
        (
            {"rules": [{**RULE, "operations": ["CREATE", "create"]}]},
            "rules[0].operations[1]: must be CREATE, UPDATE, DELETE, CONNECT or *",
        ),
        ({"rules": [{**RULE, "operations": "*"}]}, "rules[0].operations: must be a non-empty list of strings"),
        ({"rules": [{**RULE, "scope": "All"}]}, "rules[0].scope: must be *, Cluster or Namespaced"),
        ({"namespaceSelector": []}, "namespaceSelector: must be a label selector, is a list"),
        (
            {"objectSelector": {"matchLabel": {"a": "b"}}},
            "objectSelector.matchLabel: is an unknown field; did you mean matchLabels?",
        ),
        ({"matchPolicy": "Same"}, "matchPolicy: must be Equivalent or Exact"),
        ({"failurePolicy": True}, "failurePolicy: must be Fail or Ignore"),
        ({"reinvocationPolicy": "Always"}, "reinvocationPolicy: must be Never or IfNeeded"),
        ({"sideEffects": None}, "sideEffects: must be None or NoneOnDryRun"),
        ({"timeoutSeconds": 31}, "timeoutSeconds: must be an integer from 1 to 30"),
        ({"timeoutSeconds": True}, "timeoutSeconds: must be an integer from 1 to 30"),
        ({"admissionReviewVersions": []}, "admissionReviewVersions: must be a non-empty list of strings"),
        ({"matchConditions": [{"name": "n"}]}, "matchConditions: cannot be evaluated"),
    ],
)
def test_what_an_api_server_would_not_store_is_told_by_field(change: dict[str, Any], problem: str) -> None:
    (found,) = parse_registrations([registration("c", LEAST, {**LEAST, **change})]).failure()

    assert str(found) == f"MutatingWebhookConfiguration c: webhooks[1].{problem}"


@pytest.mark.parametrize(
    ("webhooks", "problem"), [({}, "webhooks: must be a list"), ([1], "webhooks[0]: must be an object")]
)
def test_webhooks_are_a_list_of_objects(webhooks: Any, problem: str) -> None:
    (found,) = parse_registrations([{**registration("c"), "webhooks": webhooks}]).failure()

    assert str(found.problem) == problem


def test_all_problems_are_told_at_once() -> None:
    problems = parse_registrations([registration("b", {**LEAST, "name": 1}), registration("a", {})]).failure()

    assert [problem.name for problem in problems] == ["a"] * 4 + ["b"]


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ([], "metadata: must be an object"),
        ("c", "metadata: must be an object"),
        ({"name": 1}, "metadata.name: must be a string"),
    ],
)
def test_what_cannot_have_a_name_is_told_too(metadata: Any, problem: str) -> None:
    (found,) = parse_registrations(
        [registration("a", LEAST), {**registration("c", LEAST), "metadata": metadata}]
    ).failure()

    assert str(found) == f"MutatingWebhookConfiguration: {problem}"
