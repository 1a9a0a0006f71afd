"""What the extension deploys and registers, as a real API server takes it when it tolerates no unknown field."""

import http.client
from base64 import b64decode
from collections.abc import Iterator

import pytest
import yaml

from hedgerow.admission.registration import WebhookServer
from hedgerow.api.kubernetes import CONFIG_MAPS, DAEMON_SETS, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import Manifest, Resource, key_of
from hedgerow.rsyslog_relp import operating_system_config_webhook, shoot_admission_webhook
from hedgerow.rsyslog_relp.cleaning import CleanerImages, cleaner_objects
from hedgerow.rsyslog_relp.monitoring import monitoring_config_map
from hedgerow.rsyslog_relp.registration import webhook_configurations
from hedgerow_adapters.protocol.requests import object_path
from tests.e2e.rsyslog.seed import Shoot

REGISTRATIONS = [
    Resource("admissionregistration.k8s.io", "v1", f"{kind.lower()}s", kind, namespaced=False)
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
]


def objects(namespace: str) -> Iterator[tuple[Resource, Manifest]]:
    secret, managed_resource = cleaner_objects(namespace, CleanerImages())
    yield CONFIG_MAPS, monitoring_config_map(namespace)
    yield SECRETS, secret
    yield MANAGED_RESOURCES, managed_resource
    yield from ((DAEMON_SETS, yaml.safe_load(b64decode(each))) for each in secret["data"].values())
    webhooks = (operating_system_config_webhook(), shoot_admission_webhook())
    server = WebhookServer("", namespace, b"-----BEGIN CERTIFICATE-----")
    yield from zip(REGISTRATIONS, webhook_configurations(webhooks, server), strict=True)


@pytest.mark.parametrize("number", range(6))
def test_it_is_accepted_as_it_is(shoot: Shoot, number: int) -> None:
    resource, manifest = [*objects(shoot.namespace)][number]
    collection = object_path(resource, key_of(manifest)).rpartition("/")[0]

    status, answer = shoot.control_plane.request("POST", f"{collection}?dryRun=All&fieldValidation=Strict", manifest)

    assert (status, answer.get("message")) == (http.client.CREATED, None)
    assert answer["kind"] == resource.kind
