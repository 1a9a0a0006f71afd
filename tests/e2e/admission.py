"""Asks a process's webhooks, as API servers do, and lets the real API server ask them."""

import contextlib
import http.client
import json
import ssl
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from hedgerow.admission.config import AdmissionConfig, HighAvailabilityConfig
from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.machinery.objects import Resource
from tests.contract.webhook_server import ServingPair
from tests.control_plane import PATIENCE, ControlPlane
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import LABEL, Manifest, Sandbox

HIGH_AVAILABILITY: Final = "/webhooks/high-availability-config"
CONSIDERED: Final = {"high-availability-config.resources.gardener.cloud/consider": "true"}
OF_WORKLOADS: Final = AdmissionConfig(high_availability_config=HighAvailabilityConfig())
_CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


def review(resource: Resource, operation: str, namespace: str, name: str, manifest: Manifest | None) -> Manifest:
    """An AdmissionReview that asks about an object, or, without one, about the deletion of many."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": f"{operation}-{resource.plural}",
            "kind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
            "resource": {"group": resource.group, "version": resource.version, "resource": resource.plural},
            "operation": operation,
            "namespace": namespace,
            "name": name,
            "object": manifest,
        },
    }


class Caller:
    """A connection to a process's webhooks, kept as long as the process keeps it."""

    def __init__(self, process: ResourceManager, pair: ServingPair) -> None:
        context = ssl.create_default_context(cadata=pair.certificate_pem.decode())
        self._connection = http.client.HTTPSConnection(
            "127.0.0.1", process.webhook_port, timeout=PATIENCE, context=context
        )

    def ask(self, path: str, body: Manifest, *, timeout: str = "10s") -> Manifest:
        """The response to a review."""
        self.send(path, body, timeout=timeout)
        return self.answer()

    def send(self, path: str, body: Manifest, *, timeout: str = "10s") -> None:
        headers = {"Content-Type": "application/json"}
        self._connection.request("POST", f"{path}?timeout={timeout}", json.dumps(body), headers)

    def answer(self) -> Manifest:
        response = self._connection.getresponse()
        content = response.read()
        assert response.status == http.client.OK, content
        answered: Manifest = json.loads(content)["response"]
        return answered


@contextlib.contextmanager
def calling(process: ResourceManager, pair: ServingPair) -> Iterator[Caller]:
    caller = Caller(process, pair)
    with contextlib.closing(caller._connection):
        yield caller


def patched(response: Mapping[str, Any]) -> dict[str, Any]:
    """What an allowed response sets, by its path."""
    assert response["allowed"], response
    operations = json.loads(b64decode(response["patch"])) if "patch" in response else []
    return {operation["path"]: operation.get("value") for operation in operations}


def deployment(namespace: str, name: str, *, replicas: int = 1) -> Manifest:
    """A Deployment of a controller."""
    labels = {"app": name, "high-availability-config.resources.gardener.cloud/type": "controller"}
    pod = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "c:1"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": namespace, "name": name, "labels": labels},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": pod},
    }


@contextlib.contextmanager
def registered(
    sandbox: Sandbox,
    process: ResourceManager,
    pair: ServingPair,
    config: AdmissionConfig = OF_WORKLOADS,
) -> Iterator[None]:
    """The API server asks the process about objects of this test's namespaces: workloads, if nothing else is said."""
    selected = {LABEL: sandbox.prefix}
    with _registered(sandbox.control_plane, sandbox.prefix, selected, process, _rendered(sandbox.home, pair, config)):
        yield


@contextlib.contextmanager
def registered_for(
    control_plane: ControlPlane, namespace: str, process: ResourceManager, pair: ServingPair
) -> Iterator[None]:
    """The API server asks the process about workloads of one namespace."""
    selected = {"kubernetes.io/metadata.name": namespace}
    with _registered(control_plane, namespace, selected, process, _rendered(namespace, pair, OF_WORKLOADS)):
        yield


def _rendered(home: str, pair: ServingPair, config: AdmissionConfig) -> Manifest:
    (manifest,) = build_webhook_configurations(Mode.RUNTIME, "", home, pair.certificate_pem, config)
    return dict(manifest)


@contextlib.contextmanager
def _registered(
    control_plane: ControlPlane, name: str, selected: Mapping[str, str], process: ResourceManager, rendered: Manifest
) -> Iterator[None]:
    manifest = {**rendered, "metadata": {**rendered["metadata"], "name": name}}
    for webhook in manifest["webhooks"]:
        service = webhook["clientConfig"].pop("service")
        webhook["clientConfig"]["url"] = f"https://127.0.0.1:{process.webhook_port}{urlsplit(service['path']).path}"
        webhook["namespaceSelector"].setdefault("matchLabels", {}).update(selected)
    status, answer = control_plane.request("POST", _CONFIGURATIONS, manifest)
    assert status == http.client.CREATED, answer
    try:
        yield
    finally:
        control_plane.request("DELETE", f"{_CONFIGURATIONS}/{name}")
