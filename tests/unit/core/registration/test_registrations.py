"""Registrations with their defaults (§2.1)."""

from datetime import timedelta
from typing import Any

import pytest

from hedgerow.machinery.reading import UnreadableError
from hedgerow.registration.registrations import Registration, ServedType, with_defaults

LIFECYCLE = {"reconcile": "AfterKubeAPIServer", "delete": "BeforeKubeAPIServer", "migrate": "BeforeKubeAPIServer"}


def registration(*resources: Any, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a", "resourceVersion": "7"}, "spec": {"resources": [*resources], **spec}}


@pytest.mark.parametrize(
    ("given", "added"),
    [
        ({"kind": "OperatingSystemConfig"}, {"primary": True}),
        ({"kind": "OperatingSystemConfig", "primary": False}, {}),
        (
            {"kind": "Extension"},
            {"primary": True, "globallyEnabled": False, "reconcileTimeout": "3m0s", "lifecycle": LIFECYCLE},
        ),
        (
            {"kind": "Extension", "primary": False, "globallyEnabled": True, "reconcileTimeout": "62s"},
            {"reconcileTimeout": "1m2s", "lifecycle": LIFECYCLE},
        ),
        (
            {"kind": "Worker", "lifecycle": {"delete": "AfterKubeAPIServer"}},
            {"primary": True, "lifecycle": {**LIFECYCLE, "delete": "AfterKubeAPIServer"}},
        ),
        ({"kind": "Worker", "reconcileTimeout": "soon"}, {"primary": True}),
    ],
)
def test_a_resource_has_the_defaults_of_its_kind(given: dict[str, Any], added: dict[str, Any]) -> None:
    assert with_defaults(registration(given))["spec"]["resources"] == [{**given, **added}]


@pytest.mark.parametrize(
    ("deployment", "policy"), [({}, "OnDemand"), ({"policy": "Always"}, "Always"), ({"policy": ""}, "")]
)
def test_a_deployment_has_a_policy(deployment: dict[str, Any], policy: str) -> None:
    assert with_defaults(registration(deployment=deployment))["spec"]["deployment"] == {"policy": policy}


def test_what_deploys_nothing_has_no_policy() -> None:
    assert with_defaults(registration())["spec"] == {"resources": []}


def test_a_registration_is_read_with_its_defaults() -> None:
    manifest = registration({"kind": "Extension", "type": "foo"}, deployment={"deploymentRefs": [{"name": "d"}]})

    read = Registration.of(manifest)

    assert (read.name, read.policy, read.deployment_refs) == ("a", "OnDemand", ("d",))
    assert read.manifest == with_defaults(manifest)
    assert read.ids == {"Extension/foo"}
    assert read.served == (
        ServedType(
            "Extension",
            "foo",
            primary=True,
            globally_enabled=False,
            workerless_supported=False,
            reconcile_timeout=timedelta(minutes=3),
            lifecycle=LIFECYCLE,
        ),
    )


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        (registration({"kind": 1}), "spec.resources[0].kind: expected a string, got an integer"),
        (
            registration({"kind": "Extension", "reconcileTimeout": "soon"}),
            'spec.resources[0].reconcileTimeout: Invalid value: "soon": ',
        ),
        (registration(deployment={"deploymentRefs": 1}), "spec.deployment.deploymentRefs: expected a list, got an int"),
    ],
)
def test_what_cannot_be_read_is_named(manifest: dict[str, Any], problem: str) -> None:
    with pytest.raises(UnreadableError) as error:
        Registration.of(manifest)

    assert str(error.value).startswith(problem)
