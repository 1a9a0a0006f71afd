"""What is wrong with registrations, deployments and installations, example by example (§2.5)."""

from typing import Any

import pytest

from hedgerow.registration.registrations import Registration
from hedgerow.registration.validation import other_primary, problems_of

NAME = {"name": "some-extension", "resourceVersion": "1"}
OSC = "OperatingSystemConfig"
KINDS = (
    *("BackupBucket", "BackupEntry", "Bastion", "ContainerRuntime", "ControlPlane", "DNSRecord", "Extension"),
    *("Infrastructure", "Network", "OperatingSystemConfig", "Worker"),
)
BEFORE, AFTER = "BeforeKubeAPIServer", "AfterKubeAPIServer"
OPTIONS: dict[str, Any] = {"globallyEnabled": True, "reconcileTimeout": "10s", "lifecycle": {"reconcile": BEFORE}}


def head(kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "core.gardener.cloud/v1beta1", "kind": kind, "metadata": NAME, **fields}


def registration(*resources: Any, metadata: Any = NAME, **deployment: Any) -> dict[str, Any]:
    spec = {"resources": [*resources], **({"deployment": deployment} if deployment else {})}
    return head("ControllerRegistration", spec=spec, metadata=metadata)


def resource(kind: str, type_: Any = "my-os", **options: Any) -> dict[str, Any]:
    return {"kind": kind, "type": type_, **options}


def secondary(**deployment: Any) -> dict[str, Any]:
    return registration(resource(OSC, primary=False), **deployment)


def selecting(**selector: Any) -> dict[str, Any]:
    return secondary(seedSelector=selector)


def expression(operator: str, *values: str, key: str = "env") -> dict[str, Any]:
    listed = {"values": [*values]} if values else {}
    return selecting(matchExpressions=[{"key": key, "operator": operator, **listed}])


IN_DEPLOYMENT = "spec.deployment"
EXPRESSION = f"{IN_DEPLOYMENT}.seedSelector.matchExpressions[0]"


@pytest.mark.parametrize(
    ("sent", "errors"),
    [
        (registration(metadata={}), ["Required value metadata.name"]),
        (registration(metadata={"name": "extension-abc.test"}), ["Invalid value metadata.name"]),
        (registration(metadata={"name": "extension-abc_test"}), ["Invalid value metadata.name"]),
        (registration(metadata={"name": "a" * 64}), ["Invalid value metadata.name"]),
        (registration(metadata={"generateName": "a-"}), ["Required value metadata.name"]),
        (registration(resource(OSC, "")), ["Required value spec.resources[0].type"]),
        (registration(resource(OSC, "a"), resource(OSC, "a")), ["Duplicate value spec.resources[1]"]),
        (
            registration(resource(OSC, "a"), resource(OSC, "b"), resource(OSC, "a")),
            ["Duplicate value spec.resources[2]"],
        ),
        (registration(*(resource(kind, "foo") for kind in KINDS)), []),
        (registration(resource("BackupBucket"), resource("foo")), ["Unsupported value spec.resources[1].kind"]),
        (
            registration(resource("")),
            ["Required value spec.resources[0].kind", "Unsupported value spec.resources[0].kind"],
        ),
        (head("ControllerRegistration", spec={}), []),
        (head("ControllerRegistration"), []),
        (registration(resource("Extension", **OPTIONS)), []),
        (
            registration(resource(OSC, **OPTIONS)),
            [f"Forbidden spec.resources[0].{name}" for name in ("globallyEnabled", "reconcileTimeout", "lifecycle")],
        ),
        *(
            (registration(resource("Extension", lifecycle={"reconcile": when, "delete": when, "migrate": when})), [])
            for when in (BEFORE, AFTER)
        ),
        (
            registration(resource("Extension", lifecycle={"reconcile": "one", "delete": "two", "migrate": "three"})),
            [f"Unsupported value spec.resources[0].lifecycle.{name}" for name in ("reconcile", "delete", "migrate")],
        ),
        (
            registration(resource("Extension", reconcileTimeout="soon")),
            ["Invalid value spec.resources[0].reconcileTimeout"],
        ),
        (
            registration(resource("Extension", reconcileTimeout="0s")),
            ["Invalid value spec.resources[0].reconcileTimeout"],
        ),
        *((secondary(policy=policy), []) for policy in ("OnDemand", "Always", "AlwaysExceptNoShoots")),
        (secondary(policy="foo"), [f"Unsupported value {IN_DEPLOYMENT}.policy"]),
        (registration(resource(OSC), seedSelector={}), [f"Forbidden {IN_DEPLOYMENT}.seedSelector"]),
        (registration(seedSelector={"matchLabels": {"a": "b"}}), []),
        (
            selecting(matchLabels={"foo": "no/slash/allowed"}),
            [f"Invalid value {IN_DEPLOYMENT}.seedSelector.matchLabels"],
        ),
        (expression("In"), [f"Required value {EXPRESSION}.values"]),
        (expression("NotIn", "a"), []),
        (expression("Exists", "a"), [f"Forbidden {EXPRESSION}.values"]),
        (expression("Has"), [f"Invalid value {EXPRESSION}.operator"]),
        (expression("DoesNotExist", key="bad key"), [f"Invalid value {EXPRESSION}.key"]),
        (
            secondary(deploymentRefs=[{"name": "foo"}, {"name": "bar"}]),
            [f"Forbidden {IN_DEPLOYMENT}.deploymentRefs"],
        ),
        (secondary(deploymentRefs=[{"name": ""}]), [f"Required value {IN_DEPLOYMENT}.deploymentRefs[0].name"]),
        (secondary(type="helm", deploymentRefs=[{"name": "foo"}]), [f"Forbidden {IN_DEPLOYMENT}.type"]),
        (
            secondary(providerConfig={"chart": ""}, deploymentRefs=[{"name": "foo"}]),
            [f"Forbidden {IN_DEPLOYMENT}.providerConfig"],
        ),
        (secondary(type=""), [f"Invalid value {IN_DEPLOYMENT}.type"]),
        (head("ControllerDeployment", type="helm"), []),
        (head("ControllerDeployment"), ["Required value type"]),
        (
            {**head("ControllerInstallation"), "metadata": {}},
            [f"Required value {path}" for path in ("metadata.name", "spec.registrationRef.name", "spec.seedRef.name")],
        ),
    ],
)
def test_everything_that_is_wrong_with_a_new_object_is_told_in_order(sent: Any, errors: list[str]) -> None:
    assert [told(problem) for problem in problems_of(sent["kind"], sent)] == errors


def told(problem: Any) -> str:
    return f"{problem.type.value} {problem.path}"


def test_a_field_of_a_wrong_type_hides_what_else_is_wrong() -> None:
    assert [str(each) for each in problems_of("ControllerRegistration", registration(resource(OSC, type_=1)))] == [
        "spec.resources[0].type: Invalid value: expected a string, got an integer"
    ]


IN_DELETION = {**NAME, "deletionTimestamp": "2024-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("old", "new", "errors"),
    [
        (
            registration(resource(OSC), metadata=IN_DELETION),
            registration(resource(OSC, "another-os"), metadata=IN_DELETION),
            ["Forbidden spec"],
        ),
        (
            registration(resource(OSC), metadata=IN_DELETION),
            registration(resource("foo"), metadata=IN_DELETION),
            ["Forbidden spec", "Unsupported value spec.resources[0].kind"],
        ),
        (registration(resource(OSC), metadata=IN_DELETION), registration(resource(OSC), metadata=IN_DELETION), []),
        (registration(resource(OSC)), registration(resource(OSC, primary=True)), []),
        (
            registration(resource(OSC)),
            registration(resource(OSC, primary=False)),
            ["Invalid value spec.resources[0].primary"],
        ),
        (registration(resource(OSC)), registration(resource(OSC, "another-os", primary=False)), []),
        (
            head("ControllerInstallation", spec={"registrationRef": {"name": "a"}, "seedRef": {"name": "b"}}),
            head(
                "ControllerInstallation",
                spec={
                    "registrationRef": {"name": "x", "resourceVersion": "2"},
                    "seedRef": {"name": "y", "resourceVersion": "2"},
                },
            ),
            ["Invalid value spec.registrationRef.name", "Invalid value spec.seedRef.name"],
        ),
        (
            head("ControllerInstallation", spec={"registrationRef": {"name": "a"}, "seedRef": {"name": "b"}}),
            head(
                "ControllerInstallation",
                spec={
                    "registrationRef": {"name": "a", "resourceVersion": "2"},
                    "seedRef": {"name": "b"},
                    "deploymentRef": {"name": "d"},
                },
            ),
            [],
        ),
    ],
)
def test_some_fields_must_stay_as_they_are(old: Any, new: Any, errors: list[str]) -> None:
    assert [told(problem) for problem in problems_of(new["kind"], new, old)] == errors


def test_what_changed_during_a_deletion_is_listed() -> None:
    old, new = (registration(resource(OSC, name), metadata=IN_DELETION) for name in ("my-os", "another-os"))

    assert [str(each) for each in problems_of("ControllerRegistration", new, old)] == [
        "spec: Forbidden: resources[0].type: another-os != my-os"
    ]


@pytest.mark.parametrize(
    ("other", "conflict"),
    [
        (resource(OSC, "a"), f"{OSC}/a"),
        (resource(OSC, "a", primary=False), None),
        (resource(OSC, "b"), None),
    ],
)
def test_a_type_has_one_primary_controller(other: Any, conflict: str | None) -> None:
    new = Registration.of(registration(resource(OSC, "z"), resource(OSC, "a")))
    former = registration(resource(OSC, "z2"), other, metadata={"name": "former"})

    assert other_primary(new, [new, Registration.of(former)]) == conflict
