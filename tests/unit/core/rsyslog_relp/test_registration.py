"""How the webhooks of the extension are registered."""

from typing import Any

from hedgerow.admission.registration import WebhookServer
from hedgerow.rsyslog_relp import operating_system_config_webhook, shoot_admission_webhook
from hedgerow.rsyslog_relp.registration import webhook_configurations

SERVER = WebhookServer("", "extension", b"PEM")
OSC, SHOOT = operating_system_config_webhook(), shoot_admission_webhook()


def entry(manifest: Any) -> Any:
    (only,) = manifest["webhooks"]
    return only


def test_operating_system_configs_of_shoots_with_the_extension_are_asked_about() -> None:
    (manifest,) = webhook_configurations([OSC], SERVER)

    assert (manifest["kind"], manifest["metadata"]["name"]) == (
        "MutatingWebhookConfiguration",
        "gardener-extension-shoot-rsyslog-relp",
    )
    assert manifest["metadata"]["labels"] == {"remediation.webhook.shoot.gardener.cloud/exclude": "true"}
    registered = entry(manifest)
    assert registered["name"] == "operating-system-config.shoot-rsyslog-relp.extensions.gardener.cloud"
    assert registered["rules"] == [
        {
            "apiGroups": ["extensions.gardener.cloud"],
            "apiVersions": ["v1alpha1"],
            "resources": ["operatingsystemconfigs"],
            "operations": ["CREATE", "UPDATE"],
        }
    ]
    assert registered["namespaceSelector"]["matchExpressions"] == [
        {"key": "extensions.gardener.cloud/shoot-rsyslog-relp", "operator": "In", "values": ["true"]}
    ]
    assert registered["clientConfig"]["service"] == {
        "name": "gardener-extension-shoot-rsyslog-relp",
        "namespace": "extension",
        "path": "/operating-system-config",
    }
    assert (registered["failurePolicy"], registered["matchPolicy"]) == ("Fail", "Exact")


def test_shoots_with_the_extension_are_asked_about() -> None:
    (manifest,) = webhook_configurations([SHOOT], SERVER)

    assert (manifest["kind"], manifest["metadata"]["name"]) == (
        "ValidatingWebhookConfiguration",
        "gardener-extension-shoot-rsyslog-relp-admission",
    )
    registered = entry(manifest)
    assert registered["name"] == "validator.shoot-rsyslog-relp-admission.extensions.gardener.cloud"
    assert registered["rules"][0]["apiVersions"] == ["*"]
    assert registered["objectSelector"]["matchLabels"] == {
        "extensions.extensions.gardener.cloud/shoot-rsyslog-relp": "true"
    }


def test_what_is_not_served_is_not_registered() -> None:
    assert webhook_configurations([], SERVER) == ()
    assert len(webhook_configurations([SHOOT, OSC], SERVER)) == 2
