"""The webhooks of a garden: defaults, validation, and registered types."""

from typing import Any

import pytest

from hedgerow.admission import Allowed, Decision, Denied, creation, deletion, update
from hedgerow.admission.registration import WebhookServer
from hedgerow.api.gardener import SHOOTS
from hedgerow.api.registrations import (
    BACKUP_BUCKETS,
    BACKUP_ENTRIES,
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_REGISTRATIONS,
    SEEDS,
)
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.questions import NotAnswered
from hedgerow.registration.admission import webhook_configurations, webhooks
from tests.unit.core.admission.world import changed_object, decided, told

DEFAULTS, VALIDATION, USED_TYPES = webhooks()
PRIMARILY = "another ControllerRegistration resource already exists that controls resource Worker/aws primarily"


def of(resource: Resource, name: str = "a", **fields: Any) -> dict[str, Any]:
    namespace = {"namespace": "garden-x"} if resource.namespaced else {}
    metadata = {"name": name, "resourceVersion": "1", **namespace}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **fields}


def registration(name: str, *ids: str, primary: bool = True, **deployment: Any) -> dict[str, Any]:
    pairs = (listed.split("/") for listed in ids)
    resources = [{"kind": kind, "type": type_, "primary": primary} for kind, type_ in pairs]
    return of(CONTROLLER_REGISTRATIONS, name, spec={"resources": resources, "deployment": deployment})


def denial(decision: Decision) -> tuple[int, str]:
    assert isinstance(decision, Denied), decision
    return decision.code, decision.message


def test_defaults_are_stored() -> None:
    sent = of(CONTROLLER_REGISTRATIONS, spec={"resources": [{"kind": "Worker", "type": "aws"}], "deployment": {}})

    changed = changed_object(decided(DEFAULTS, creation(CONTROLLER_REGISTRATIONS, sent)))

    assert changed == {
        **sent,
        "spec": {
            "resources": [{"kind": "Worker", "type": "aws", "primary": True}],
            "deployment": {"policy": "OnDemand"},
        },
    }
    assert decided(DEFAULTS, creation(CONTROLLER_REGISTRATIONS, changed)) == Allowed()


@pytest.mark.parametrize("webhook", [VALIDATION, DEFAULTS])
def test_an_object_that_cannot_be_read_is_denied_with_its_field(webhook: Any) -> None:
    sent = of(CONTROLLER_REGISTRATIONS, spec={"resources": 1})

    code, message = denial(decided(webhook, creation(CONTROLLER_REGISTRATIONS, sent)))

    assert code in {400, 422}
    assert "spec.resources: " in message


def test_what_is_wrong_with_an_object_is_told_whole() -> None:
    sent = registration("a", "foo/bar", policy="Never")

    code, message = denial(decided(VALIDATION, creation(CONTROLLER_REGISTRATIONS, sent)))

    assert code == 422
    assert message.startswith('ControllerRegistration.core.gardener.cloud "a" is invalid: [spec.resources[0].kind: ')
    assert "spec.deployment.policy: Unsupported value" in message


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (registration("b", "Worker/aws"), (403, PRIMARILY)),
        (registration("b", "Worker/aws", primary=False), None),
        (registration("a", "Worker/aws"), None),
        (of(CONTROLLER_REGISTRATIONS, "b", spec={"resources": [{"kind": 1}]}), None),
    ],
)
def test_a_type_has_one_primary_controller(other: Any, expected: tuple[int, str] | None) -> None:
    decision = decided(VALIDATION, creation(CONTROLLER_REGISTRATIONS, registration("a", "Worker/aws")), other)

    assert (None if decision == Allowed() else denial(decision)) == expected


def test_a_registration_refers_to_a_deployment_that_exists() -> None:
    sent = creation(CONTROLLER_REGISTRATIONS, registration("a", deploymentRefs=[{"name": "d"}]))
    unreachable = NotAnswered(500, "", "no answer")

    assert denial(decided(VALIDATION, sent)) == (403, 'ControllerDeployment "d" does not exist')
    assert decided(VALIDATION, sent, of(CONTROLLER_DEPLOYMENTS, "d", type="helm")) == Allowed()
    assert denial(told(VALIDATION, sent, unreachable)[0]) == (500, "no answer")


def test_what_is_on_its_way_out_refers_to_nothing() -> None:
    sent = registration("a", deploymentRefs=[{"name": "d"}])
    sent["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z"

    assert decided(VALIDATION, update(CONTROLLER_REGISTRATIONS, sent, sent)) == Allowed()


@pytest.mark.parametrize("webhook", [VALIDATION, USED_TYPES])
@pytest.mark.parametrize("resource", [CONTROLLER_REGISTRATIONS, SHOOTS])
def test_whatever_is_wrong_can_be_deleted(webhook: Any, resource: Resource) -> None:
    assert decided(webhook, deletion(resource, of(resource, spec={"resources": 1}))) == Allowed()


REGISTERED = registration("r", "ControlPlane/aws", "Infrastructure/aws", "Worker/aws", "Network/calico")
WORKERS = [
    {"machine": {"image": {"name": "coreos"}}, "cri": {"containerRuntimes": [{"type": "gvisor"}]}},
]


def shoot(**spec: Any) -> dict[str, Any]:
    return of(SHOOTS, spec={"provider": {"type": "aws", "workers": WORKERS}, "networking": {"type": "calico"}, **spec})


@pytest.mark.parametrize(
    ("resource", "sent", "missing"),
    [
        (
            BACKUP_BUCKETS,
            of(BACKUP_BUCKETS, spec={"provider": {"type": "s3"}}),
            'given BackupBucket uses non-registered BackupBucket type: spec.provider.type ("s3")',
        ),
        (
            SEEDS,
            of(SEEDS, spec={"provider": {"type": "aws"}, "dns": {"provider": {"type": "route53"}}}),
            None,
        ),
        (
            SEEDS,
            of(SEEDS, spec={"provider": {"type": "aws"}, "ingress": {}, "dns": {"provider": {"type": "route53"}}}),
            'given Seed uses non-registered DNSRecord type: spec.dns.provider.type ("route53")',
        ),
        (
            SEEDS,
            of(SEEDS, spec={"provider": {"type": "aws"}, "backup": {"provider": "s3"}}),
            (
                'given Seed uses non-registered BackupBucket type: spec.backup.provider ("s3"), '
                'given Seed uses non-registered BackupEntry type: spec.backup.provider ("s3")'
            ),
        ),
        (
            SHOOTS,
            shoot(),
            (
                "given Shoot uses non-registered OperatingSystemConfig type: "
                'spec.provider.workers[0].machine.image.name ("coreos"), '
                "given Shoot uses non-registered ContainerRuntime type: "
                'spec.provider.workers[0].cri.containerRuntimes[0].type ("gvisor")'
            ),
        ),
        (
            SHOOTS,
            of(
                SHOOTS,
                spec={
                    "provider": {"type": "gcp"},
                    "extensions": [{"type": "e", "disabled": True}],
                    "dns": {"providers": [{"type": "d", "primary": True}, {"type": "d2"}]},
                },
            ),
            (
                'given Shoot uses non-registered DNSRecord type: spec.dns.providers[0].type ("d"), '
                'given Shoot uses non-registered Extension type: spec.extensions[0].type ("e"), '
                'given Shoot is workerless and uses non-supported extension type: spec.extensions[0].type ("e")'
            ),
        ),
        (
            SHOOTS,
            of(SHOOTS, spec={"provider": {}, "dns": {"providers": [{"type": "unmanaged", "primary": True}]}}),
            None,
        ),
    ],
)
def test_only_registered_types_are_used(resource: Resource, sent: Any, missing: str | None) -> None:
    decision = decided(USED_TYPES, creation(resource, sent), REGISTERED)

    assert (None if decision == Allowed() else denial(decision)) == (None if missing is None else (403, missing))


def test_an_entry_uses_the_type_of_its_bucket() -> None:
    sent = creation(BACKUP_ENTRIES, of(BACKUP_ENTRIES, spec={"bucketName": "b"}))
    bucket = of(BACKUP_BUCKETS, "b", spec={"provider": {"type": "s3"}})

    assert denial(decided(USED_TYPES, sent)) == (403, 'spec.bucketName: BackupBucket "b" does not exist')
    assert denial(decided(USED_TYPES, sent, bucket)) == (
        403,
        'given BackupEntry uses non-registered BackupEntry type: spec.bucketName ("s3")',
    )
    assert decided(USED_TYPES, sent, bucket, registration("r", "BackupEntry/s3")) == Allowed()


@pytest.mark.parametrize(
    ("extensions", "problem"),
    [
        ([{"type": ""}], "spec.extensions[0].type: Required value"),
        ([{"type": "e"}, {"type": "e"}], "spec.extensions[1].type: Duplicate value"),
        ([{"type": "e", "disabled": True, "enabled": True}], "spec.extensions[0].enabled: Invalid value"),
        ([{"type": "e", "disabled": False, "enabled": False}], "spec.extensions[0].enabled: Invalid value"),
        ([{"type": "e", "disabled": True, "enabled": False}], None),
        ([{"type": 1}], "spec.extensions[0].type: expected a string"),
    ],
)
def test_the_extensions_of_a_shoot_are_clear(extensions: Any, problem: str | None) -> None:
    sent = of(SHOOTS, spec={"provider": {"workers": [{}]}, "extensions": extensions})

    decision = decided(USED_TYPES, creation(SHOOTS, sent), registration("r", "Extension/e"))

    assert decision == Allowed() if problem is None else problem in denial(decision)[1]


def test_a_shoot_that_changes_nothing_of_its_spec_is_left_alone() -> None:
    stored = shoot()
    labelled = {**stored, "metadata": {**stored["metadata"], "labels": {"a": "b"}}}

    assert decided(USED_TYPES, update(SHOOTS, labelled, stored)) == Allowed()
    assert isinstance(decided(USED_TYPES, update(SHOOTS, shoot(region="eu"), stored)), Denied)


@pytest.mark.parametrize("webhook", [VALIDATION, USED_TYPES])
def test_objects_of_other_kinds_are_allowed_and_such_of_another_version_are_not(webhook: Any) -> None:
    other = Resource("", "v1", "configmaps", "ConfigMap")
    resource = CONTROLLER_REGISTRATIONS if webhook is VALIDATION else SEEDS
    aged = {**of(resource), "apiVersion": "core.gardener.cloud/v1alpha1"}

    assert decided(webhook, creation(other, of(other))) == Allowed()
    assert denial(decided(webhook, creation(resource, aged)))[0] == 400


def test_webhooks_are_registered_for_what_they_look_at() -> None:
    mutating, validating = webhook_configurations(webhooks(), WebhookServer("svc", "garden"))

    called = {
        entry["name"]: [plural for rule in entry["rules"] for plural in rule["resources"]]
        for each in (mutating, validating)
        for entry in each["webhooks"]
    }
    assert (mutating["kind"], validating["kind"]) == ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
    assert called == {
        "controller-registration-defaults.core.gardener.cloud": ["controllerregistrations"],
        "controller-registration-validation.core.gardener.cloud": [
            "controllerregistrations",
            "controllerdeployments",
            "controllerinstallations",
        ],
        "registered-types.core.gardener.cloud": ["backupbuckets", "backupentries", "seeds", "shoots"],
    }
    assert webhook_configurations((), WebhookServer("svc", "garden")) == ()
