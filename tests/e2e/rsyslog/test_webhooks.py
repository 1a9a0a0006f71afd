"""What an API server stores when it asks the installed process about OperatingSystemConfigs and Shoots."""

import http.client
import json
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hedgerow.admission.registration import WebhookServer
from hedgerow.api.gardener import OPERATING_SYSTEM_CONFIGS, SHOOTS
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.rsyslog_relp import decode, operating_system_config_webhook, shoot_admission_webhook
from hedgerow.rsyslog_relp.operating_system_config import shoot_identity, with_node_files
from hedgerow.rsyslog_relp.registration import webhook_configurations
from hedgerow_adapters.protocol.requests import object_path
from tests.contract.webhook_server import ServingPair
from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.control_plane.kubectl import KubectlError
from tests.e2e.rsyslog.seed import TYPE, ExtensionProcess, Shoot

COLLECTIONS = "/apis/admissionregistration.k8s.io/v1"
PLURALS = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}
CONFIG = {
    "apiVersion": "rsyslog-relp.extensions.gardener.cloud/v1alpha1",
    "kind": "RsyslogRelpConfig",
    "target": "logs.example.com",
    "port": 2514,
    "loggingRules": [{"severity": 3}],
}
LABELS = {f"extensions.extensions.gardener.cloud/{TYPE}": "true"}
FOREIGN = {"path": "/etc/theirs", "content": {"inline": {"encoding": "", "data": "theirs"}}}


@pytest.fixture
def process(shoot: Shoot, serving_pair: ServingPair, tmp_path: Path) -> Iterator[ExtensionProcess]:
    """The extension's process, which the API server asks about everything that concerns it."""
    served = {"operatingSystemConfig": {"enabled": True}, "shoot": {"enabled": True}}
    settings = shoot.settings(webhooks=served, controllers={"lifecycle": {"enabled": False}})
    with ExtensionProcess(tmp_path, settings, name="extension") as running:
        running.wait_ready()
        url = f"https://127.0.0.1:{running.webhook_port}"
        server = WebhookServer("", "", serving_pair.certificate_pem, url)
        webhooks = (operating_system_config_webhook(), shoot_admission_webhook())
        with registered(shoot.control_plane, webhook_configurations(webhooks, server)):
            yield running


@contextmanager
def registered(control_plane: ControlPlane, manifests: Any) -> Iterator[None]:
    for manifest in manifests:
        status, answer = control_plane.request("POST", f"{COLLECTIONS}/{PLURALS[manifest['kind']]}", manifest)
        assert status == http.client.CREATED, answer
    try:
        yield
    finally:
        for manifest in manifests:
            name = manifest["metadata"]["name"]
            control_plane.request("DELETE", f"{COLLECTIONS}/{PLURALS[manifest['kind']]}/{name}")


def osc(shoot: Shoot, name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"namespace": shoot.namespace, "name": name}
    return {"metadata": metadata, "spec": {"purpose": "reconcile", "files": [FOREIGN], "units": [], **spec}}


def until_asked(shoot: Shoot, resource: Resource, refused: dict[str, Any]) -> None:
    """Returns once the API server asks: it learns of a registration a moment after it has stored it."""
    path = object_path(resource, ObjectKey(shoot.namespace, "probe")).rpartition("/")[0]
    metadata = {"namespace": shoot.namespace, "name": "probe", **refused.pop("metadata", {})}
    probe = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **refused}

    def is_asked() -> bool:
        return shoot.control_plane.request("POST", f"{path}?dryRun=All", probe)[0] != http.client.CREATED

    wait_until(is_asked, timeout=PATIENCE, otherwise=lambda: AssertionError("the API server does not ask"))


@pytest.fixture
def osc_webhook(process: ExtensionProcess, shoot: Shoot) -> ExtensionProcess:
    """The process, once the API server asks it about OperatingSystemConfigs: there is no Extension yet."""
    until_asked(shoot, OPERATING_SYSTEM_CONFIGS, {"spec": {"purpose": "reconcile"}})
    return process


@pytest.fixture
def shoot_webhook(process: ExtensionProcess, shoot: Shoot) -> ExtensionProcess:
    """The process, once the API server asks it about Shoots."""
    until_asked(shoot, SHOOTS, {"metadata": {"labels": LABELS}, "spec": {"extensions": [{"type": TYPE}]}})
    return process


@pytest.mark.usefixtures("osc_webhook")
def test_nodes_get_the_files_and_keep_those_of_others(shoot: Shoot) -> None:
    shoot.enable(CONFIG)
    sent = osc(shoot, "nodes")
    shoot.create(OPERATING_SYSTEM_CONFIGS, sent)

    stored = shoot.get(OPERATING_SYSTEM_CONFIGS, ObjectKey(shoot.namespace, "nodes"))["spec"]

    identity = shoot_identity(shoot.namespace, {"metadata": {"name": "foo", "uid": "uid"}})
    planned = with_node_files(sent, decode(CONFIG, is_strict=True).unwrap(), identity, None)
    assert stored == planned["spec"]
    assert stored["files"][0] == FOREIGN
    files = {each["path"]: b64decode(each["content"]["inline"]["data"]).decode() for each in stored["files"][1:]}
    assert 'target="logs.example.com"' in files["/var/lib/rsyslog-relp-configurator/rsyslog.d/60-audit.conf"]
    assert [each["name"] for each in stored["units"]] == ["rsyslog-configurator.service"]


@pytest.mark.usefixtures("osc_webhook")
def test_nothing_is_stored_that_would_stop_rsyslog(shoot: Shoot) -> None:
    shoot.enable({**CONFIG, "target": "", "loggingRules": []})

    status, answer = shoot.ask_to_create(OPERATING_SYSTEM_CONFIGS, osc(shoot, "nodes"))

    assert status == http.client.UNPROCESSABLE_ENTITY
    assert "target: Required value: target must not be empty" in answer["message"]
    assert "loggingRules: Required value: at least one logging rule is required" in answer["message"]


@pytest.mark.usefixtures("shoot_webhook")
def test_a_shoot_with_an_invalid_configuration_is_refused(shoot: Shoot) -> None:
    def created(name: str, config: dict[str, Any]) -> tuple[int, Any]:
        metadata = {"namespace": shoot.namespace, "name": name, "labels": LABELS}
        spec = {"extensions": [{"type": TYPE, "providerConfig": config}]}
        return shoot.ask_to_create(SHOOTS, {"metadata": metadata, "spec": spec})

    refused, answer = created("bad", {**CONFIG, "port": -1, "prot": 1})
    accepted, _ = created("good", CONFIG)

    assert (refused, accepted) == (http.client.UNPROCESSABLE_ENTITY, http.client.CREATED)
    assert "prot" in answer["message"]


@pytest.mark.usefixtures("shoot_webhook")
def test_whoever_writes_what_is_hardly_meant_is_warned(shoot: Shoot) -> None:
    metadata = {"namespace": shoot.namespace, "name": "warned", "labels": LABELS}
    config = {**CONFIG, "tls": {"enabled": False, "secretReferenceName": "certificates"}}
    head = {"apiVersion": SHOOTS.api_version, "kind": SHOOTS.kind, "metadata": metadata}
    manifest = {**head, "spec": {"extensions": [{"type": TYPE, "providerConfig": config}]}}

    with pytest.raises(KubectlError, match="Warning: tls: has no effect"):
        shoot.control_plane.kubectl("--warnings-as-errors", "create", "-f", "-", input=json.dumps(manifest))
    assert shoot.get(SHOOTS, ObjectKey(shoot.namespace, "warned")) is not None
