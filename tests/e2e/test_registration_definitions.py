"""The definitions of the registration of extensions, as an API server takes them."""

import http.client
from collections.abc import Iterator
from typing import Any

import pytest

from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.e2e.resource_manager import run_here

API = "/apis/core.gardener.cloud/v1beta1"
KINDS = {
    "ControllerRegistration": "controllerregistrations",
    "ControllerDeployment": "controllerdeployments",
    "ControllerInstallation": "controllerinstallations",
}
WORKER = {"kind": "Worker", "type": "aws"}
OPTIONS: list[dict[str, Any]] = [{"globallyEnabled": False}, {"reconcileTimeout": "1m"}, {"lifecycle": {}}]
REFERENCES = {"registrationRef": {"name": "a"}, "seedRef": {"name": "b"}}


@pytest.fixture(scope="module")
def garden(servers: object) -> Iterator[ControlPlane]:
    """An API server that knows the three kinds; the shared one would show them to other tests."""
    with ControlPlane() as running:
        printed = run_here("crds")
        assert (printed.returncode, printed.stderr) == (0, "")
        running.kubectl("apply", "-f", "-", input=printed.stdout)
        for plural in KINDS.values():
            wait_until(
                lambda path=f"{API}/{plural}": running.request("GET", path)[0] == http.client.OK,  # type: ignore[misc]
                timeout=PATIENCE,
                otherwise=lambda: AssertionError("not served"),
            )
        yield running


def create(garden: ControlPlane, kind: str, name: str, **fields: Any) -> tuple[int, Any]:
    manifest = {"apiVersion": "core.gardener.cloud/v1beta1", "kind": kind, "metadata": {"name": name}, **fields}
    return garden.request("POST", f"{API}/{KINDS[kind]}", manifest)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("ControllerRegistration", {}),
        (
            "ControllerRegistration",
            {"spec": {"resources": [WORKER], "deployment": {"deploymentRefs": [{"name": "d"}]}}},
        ),
        (
            "ControllerRegistration",
            {
                "spec": {
                    "resources": [{**WORKER, "primary": False}],
                    "deployment": {
                        "type": "helm",
                        "providerConfig": {"chart": "H4sI", "values": {"foo": {"bar": [1, "x"]}}},
                        "policy": "Always",
                        "seedSelector": {"matchLabels": {"env": "dev"}},
                    },
                }
            },
        ),
        ("ControllerDeployment", {"type": "helm", "providerConfig": {"chart": "H4sI", "values": {"a": [1]}}}),
        ("ControllerInstallation", {"spec": REFERENCES}),
    ],
)
def test_what_is_valid_is_stored_whole(garden: ControlPlane, kind: str, fields: dict[str, Any]) -> None:
    status, stored = create(garden, kind, "some-extension", **fields)
    garden.request("DELETE", f"{API}/{KINDS[kind]}/some-extension")

    assert status == http.client.CREATED, stored
    assert {name: stored.get(name) for name in fields} == fields


@pytest.mark.parametrize(
    ("kind", "name", "fields", "field"),
    [
        ("ControllerRegistration", "a.b", {}, ""),
        ("ControllerRegistration", "a" * 64, {}, ""),
        ("ControllerRegistration", "a", {"spec": {"resources": [{**WORKER, "kind": "foo"}]}}, "spec.resources[0].kind"),
        ("ControllerRegistration", "a", {"spec": {"resources": [{**WORKER, "type": ""}]}}, "spec.resources[0].type"),
        *(
            ("ControllerRegistration", "a", {"spec": {"resources": [{**WORKER, **option}]}}, "spec.resources[0]")
            for option in OPTIONS
        ),
        ("ControllerRegistration", "a", {"spec": {"deployment": {"policy": "foo"}}}, "spec.deployment.policy"),
        ("ControllerRegistration", "a", {"spec": {"resources": [WORKER], "deployment": {"seedSelector": {}}}}, "spec"),
        (
            "ControllerRegistration",
            "a",
            {"spec": {"deployment": {"deploymentRefs": [{"name": "a"}, {"name": "b"}]}}},
            "spec.deployment.deploymentRefs",
        ),
        (
            "ControllerRegistration",
            "a",
            {"spec": {"deployment": {"deploymentRefs": [{"name": "a"}], "type": "helm"}}},
            "spec.deployment",
        ),
        ("ControllerDeployment", "a", {"type": ""}, "type"),
        ("ControllerDeployment", "a", {}, "type"),
        ("ControllerInstallation", "a", {"spec": {**REFERENCES, "seedRef": {}}}, "spec"),
    ],
)
def test_a_schema_refuses_what_is_wrong_without_any_webhook(
    garden: ControlPlane, kind: str, name: str, fields: dict[str, Any], field: str
) -> None:
    status, refusal = create(garden, kind, name, **fields)

    assert status == http.client.UNPROCESSABLE_ENTITY, refusal
    assert field in [cause["field"].removeprefix("<nil>") for cause in refusal["details"]["causes"]]


def test_an_installation_stays_where_it_is(garden: ControlPlane) -> None:
    created, _ = create(garden, "ControllerInstallation", "stays", spec=REFERENCES)
    path = f"{API}/controllerinstallations/stays"
    moved, refusal = garden.request("PATCH", path, {"spec": {"seedRef": {"name": "c"}}})
    followed, _ = garden.request("PATCH", path, {"spec": {"seedRef": {"resourceVersion": "2"}}})

    assert (created, moved, followed) == (http.client.CREATED, http.client.UNPROCESSABLE_ENTITY, http.client.OK)
    assert "seedRef.name is immutable" in refusal["message"]
