"""What registration objects register."""

from typing import Any

import pytest

from hedgerow.admission.registration import Rule, Scope
from hedgerow.machinery.selectors import LabelSelector
from hedgerow_adapters.registrations.registered import Client, Entry, Registrations, parse_registrations, url_client

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
    (entry,) = parse_registrations([registration("c", webhook)]).mutating_entries
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
    )

    assert [entry.name for entry in registered.mutating_entries] == ["a", "b2", "b1"]
    assert [entry.name for entry in registered.validating_entries] == ["y", "z"]


def test_nothing_registered_is_nothing() -> None:
    assert parse_registrations([]) == Registrations()
    assert parse_registrations([{**registration("c"), "webhooks": None}]) == Registrations()


@pytest.mark.parametrize(
    "url", ["http://h", "https://u@h", "https://h:99999", "https://h:0", "https://h/?a=b", "https://"]
)
def test_other_urls_lead_to_no_webhook(url: str) -> None:
    assert url_client(url) is None
