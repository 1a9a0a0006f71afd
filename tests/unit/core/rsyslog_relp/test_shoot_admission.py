from typing import Any

import pytest

from hedgerow.admission import Allowed, Decision, Denied
from hedgerow.admission.request import creation, deletion
from hedgerow.api.gardener import SHOOTS
from hedgerow.api.kubernetes import CONFIG_MAPS
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.questions import NotAnswered
from hedgerow.rsyslog_relp.naming import TYPE
from hedgerow.rsyslog_relp.shoot_admission import shoot_admission_webhook
from tests.unit.core.admission.world import decided, told
from tests.unit.core.rsyslog_relp.configs import plain, secured

WEBHOOK = shoot_admission_webhook()
REFERENCE = {"name": "rsyslog-tls", "resourceRef": {"kind": "Secret", "name": "rsyslog-secret"}}
NO_CONFIG = "Required value: Rsyslog relp configuration is required when using gardener-extension-shoot-rsyslog-relp"


def enabled(config: Any, **fields: Any) -> dict[str, Any]:
    return {"type": TYPE, "providerConfig": config, **fields}


def shoot(*extensions: Any, resources: Any = (), **metadata: Any) -> Manifest:
    return {
        "apiVersion": SHOOTS.api_version,
        "kind": SHOOTS.kind,
        "metadata": {"name": "foo", "namespace": "bar", **metadata},
        "spec": {"extensions": [*extensions], "resources": [*resources]},
    }


def secret(*keys: str) -> Manifest:
    metadata = {"name": "rsyslog-secret", "namespace": "bar"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": dict.fromkeys(keys, "")}


def decision(subject: Any, *objects: Manifest) -> Decision:
    return decided(WEBHOOK, creation(SHOOTS, subject), *objects)


@pytest.mark.parametrize(
    "subject",
    [
        shoot(enabled(None, disabled=True)),
        shoot(),
        shoot({"type": "other"}),
        shoot(enabled(plain())),
        shoot(enabled(None, disabled=True), enabled(None)),
        shoot(enabled(secured()), deletionTimestamp="2026-01-01T00:00:00Z"),
    ],
)
def test_a_shoot_is_allowed(subject: Manifest) -> None:
    assert decision(subject) == Allowed()


def test_a_deletion_is_allowed() -> None:
    assert decided(WEBHOOK, deletion(SHOOTS, shoot(enabled(None)))) == Allowed()


@pytest.mark.parametrize("mode", ["name", "fingerprint"])
def test_a_shoot_with_a_good_secret_is_allowed(mode: str) -> None:
    config = secured(authMode=mode, permittedPeer=["localhost"])

    assert decision(shoot(enabled(config), resources=[REFERENCE]), secret("ca", "crt", "key")) == Allowed()


def test_what_is_valid_and_hardly_meant_is_a_warning() -> None:
    config = secured(authMode="name")

    assert decision(shoot(enabled(config), resources=[REFERENCE]), secret("ca", "crt", "key")) == Allowed(
        warnings=("tls.permittedPeer: is empty, so that authMode name refuses every server",)
    )


@pytest.mark.parametrize(
    ("subject", "problem"),
    [
        (
            shoot({"type": "a"}, enabled(None)),
            f"spec.extensions[1].providerConfig: {NO_CONFIG}",
        ),
        (
            shoot(enabled(plain(kind="Bar"))),
            'no kind "Bar" is registered for version "rsyslog-relp.extensions.gardener.cloud/v1alpha1"',
        ),
        (shoot(enabled(plain(port=-1))), "port: Invalid value: -1: port cannot be less than 0"),
        (shoot(enabled(plain(other=1))), "other: is an unknown field"),
        (shoot(enabled(secured())), "missing or invalid referenced resource: rsyslog-tls"),
        (
            shoot(enabled(secured()), resources=[{"name": "rsyslog-tls", "resourceRef": {"kind": CONFIG_MAPS.kind}}]),
            "invalid referenced resource, expected kind Secret, not ConfigMap: rsyslog-tls",
        ),
        (
            shoot(enabled(secured()), resources=[{"name": "other"}, REFERENCE]),
            "referenced secret bar/rsyslog-secret does not exist",
        ),
    ],
)
def test_a_shoot_is_denied(subject: Manifest, problem: str) -> None:
    assert decision(subject) == Denied(422, problem)


def test_the_secret_has_to_hold_three_values() -> None:
    subject = shoot(enabled(secured()), resources=[REFERENCE])

    assert decision(subject, secret("key")) == Denied(422, "secret bar/rsyslog-secret is missing ca value")


def test_what_cannot_be_read_is_undecided() -> None:
    subject = shoot(enabled(secured()), resources=[REFERENCE])

    made, _ = told(WEBHOOK, creation(SHOOTS, subject), NotAnswered(500, "", "away"))

    assert made == Denied(422, "failed to get referenced secret bar/rsyslog-secret with error: away")
    assert isinstance(made, Denied)
    assert made.is_undecided


def test_rules_beyond_the_references_can_be_switched_off() -> None:
    request = creation(SHOOTS, shoot(enabled(plain(port=0))))

    assert isinstance(decided(WEBHOOK, request), Denied)
    assert decided(shoot_admission_webhook(is_strict=False), request) == Allowed()


@pytest.mark.parametrize("subject", [None, {**shoot(), "spec": []}, shoot({"type": 1})])
def test_what_is_no_shoot_is_a_bad_request(subject: Any) -> None:
    made = decision(subject)

    assert isinstance(made, Denied)
    assert made.code == 400


def test_another_kind_is_a_bad_request() -> None:
    made = decided(WEBHOOK, creation(CONFIG_MAPS, {}))

    assert made == Denied(400, "unexpected request kind v1, Kind=ConfigMap")
