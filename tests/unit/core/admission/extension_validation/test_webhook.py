"""How the validation answers an API server."""

from dataclasses import replace
from typing import Any

import pytest

from hedgerow.admission import Allowed, Denied, Webhook, creation, deletion, update
from hedgerow.admission.extension_validation import KINDS, review, webhooks
from hedgerow.admission.extension_validation.kinds import MOST_ERRORS
from tests.unit.core.admission.extension_validation.objects import empty, sample
from tests.unit.core.admission.world import decided

EXTENSION = KINDS["Extension"].resource


def test_there_is_one_webhook_for_each_kind_in_the_order_of_registration() -> None:
    assert [webhook.path for webhook in webhooks()] == [
        "/validate-extensions-gardener-cloud-v1alpha1-backupbucket",
        "/validate-extensions-gardener-cloud-v1alpha1-backupentry",
        "/validate-extensions-gardener-cloud-v1alpha1-bastion",
        "/validate-extensions-gardener-cloud-v1alpha1-containerruntime",
        "/validate-extensions-gardener-cloud-v1alpha1-controlplane",
        "/validate-extensions-gardener-cloud-v1alpha1-dnsrecord",
        "/validate-druid-gardener-cloud-v1alpha1-etcd",
        "/validate-extensions-gardener-cloud-v1alpha1-extension",
        "/validate-extensions-gardener-cloud-v1alpha1-infrastructure",
        "/validate-extensions-gardener-cloud-v1alpha1-network",
        "/validate-extensions-gardener-cloud-v1alpha1-operatingsystemconfig",
        "/validate-extensions-gardener-cloud-v1alpha1-worker",
    ]
    assert {webhook.name for webhook in webhooks()} == {"extension-validation"}


@pytest.mark.parametrize(("kind", "webhook"), [*zip(KINDS, webhooks(), strict=True)], ids=KINDS)
def test_each_webhook_takes_objects_of_its_own_kind_only(kind: str, webhook: Webhook) -> None:
    resource, other = KINDS[kind].resource, "Worker" if kind == "Etcd" else "Etcd"

    decision = decided(webhook, creation(resource, sample(other)))

    assert decided(webhook, creation(resource, sample(kind))) == Allowed()
    assert isinstance(decision, Denied)
    expected = f"expected {kind} of {resource.api_version}, got {other} of {KINDS[other].resource.api_version}"
    assert (decision.code, decision.message) == (400, expected)


def test_a_denial_tells_every_error_and_its_cause() -> None:
    manifest = sample("Infrastructure", region="", secretRef={})

    assert review("Infrastructure", creation(KINDS["Infrastructure"].resource, manifest)) == Denied(
        422,
        'Infrastructure.extensions.gardener.cloud "sample" is invalid: [spec.region: Required value: field is required,'
        " spec.secretRef.name: Required value: field is required]",
        "Invalid",
        {
            "group": "extensions.gardener.cloud",
            "kind": "Infrastructure",
            "name": "sample",
            "causes": [
                {
                    "reason": "FieldValueRequired",
                    "message": "Required value: field is required",
                    "field": "spec.region",
                },
                {
                    "reason": "FieldValueRequired",
                    "message": "Required value: field is required",
                    "field": "spec.secretRef.name",
                },
            ],
        },
    )


def test_equal_texts_appear_once_in_the_message_though_each_is_a_cause() -> None:
    old = sample("Extension")
    new = sample("Extension", {"labels": {"-": ""}})

    decision = review("Extension", update(EXTENSION, new, old))

    assert isinstance(decision, Denied)
    assert decision.message.count("metadata.labels") == 1
    assert decision.details is not None
    assert [cause["field"] for cause in decision.details["causes"]] == ["metadata.labels", "metadata.labels"]


def test_an_update_is_measured_against_the_old_object() -> None:
    decision = review("Extension", update(EXTENSION, sample("Extension", type="other"), sample("Extension")))

    assert isinstance(decision, Denied)
    assert decision.message == (
        'Extension.extensions.gardener.cloud "sample" is invalid: spec.type: Invalid value: "other": field is immutable'
    )


def test_v41_a_field_of_a_wrong_type_cannot_be_decoded() -> None:
    decision = review("Extension", creation(EXTENSION, sample("Extension", type=1)))

    assert decision == Denied(400, "spec.type: Invalid value: expected a string, got an integer")


@pytest.mark.parametrize("manifest", [None, 1, [], "text", {}, {"kind": "Extension"}, sample("Extension", type=1)])
def test_whatever_is_no_such_object_is_refused_with_code_400(manifest: Any) -> None:
    good = sample("Extension")
    requests = [
        creation(EXTENSION, manifest),
        deletion(EXTENSION, manifest),
        update(EXTENSION, manifest, good),
        update(EXTENSION, good, manifest),
    ]

    for request in requests:
        decision = review("Extension", request)
        assert isinstance(decision, Denied)
        assert (decision.code, decision.reason, decision.details) == (400, "", None)


def test_an_object_may_be_deleted_however_invalid_it_is() -> None:
    assert review("Extension", deletion(EXTENSION, empty("Extension"))) == Allowed()


def test_connections_are_allowed_unseen() -> None:
    assert review("Extension", replace(creation(EXTENSION, None), operation="CONNECT")) == Allowed()


def test_another_operation_is_refused() -> None:
    request = replace(creation(EXTENSION, sample("Extension")), operation="PATCH")

    assert review("Extension", request) == Denied(400, 'unknown operation "PATCH"')


@pytest.mark.parametrize(
    ("families", "code"),
    [([f"family-{number}" for number in range(5_000)], 422), (list(range(5_000)), 400)],
)
def test_of_very_many_errors_the_first_are_told(families: list[Any], code: int) -> None:
    network = KINDS["Network"].resource

    decision = review("Network", creation(network, sample("Network", ipFamilies=families)))

    assert isinstance(decision, Denied)
    assert (decision.code, decision.message.count("spec.ipFamilies[")) == (code, MOST_ERRORS)
    assert decision.message.endswith(", and more]")
    assert decision.details is None or len(decision.details["causes"]) == MOST_ERRORS
