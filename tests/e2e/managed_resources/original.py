"""What gardener-resource-manager, the original, has left in a cluster: recorded objects, in namespaces of a test.

A line of `original.jsonl` is a ManagedResource of one object: its spec, the manifest in its Secret, the object as the
original left it, and its status. Finalizers and checksums are as the original of the test's class sets them.
`original_policies.json` holds Services, and the NetworkPolicies that the original made for them.
"""

import base64
import hashlib
import http.client
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.e2e.managed_resources.manifests import named
from tests.e2e.managed_resources.sandbox import FINALIZER, ManagedResourceSandbox
from tests.e2e.managed_resources.urls import Manifest, collection_of, path_of

RECORDED: Final = Path(__file__).with_name("original.jsonl")
POLICIES: Final = Path(__file__).with_name("original_policies.json")
FIELD_MANAGER: Final = "gardener-resource-manager"
LEASE: Final = "gardener-resource-manager"
HOLDER: Final = "gardener-resource-manager-7d9c5b6f4-x2x4v_3f1c9a52-6a0e-4b5e-9a0b-0c9e6f6f2d11"
_TIMES: Final = {"lastTransitionTime": "2026-01-01T00:00:00Z", "lastUpdateTime": "2026-01-01T00:00:00Z"}


def recorded(file: Path = RECORDED) -> list[dict[str, Any]]:
    """The lines of a recording."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


class Original:
    """ManagedResources, their Secrets and their objects, after the original has settled."""

    def __init__(self, sandbox: ManagedResourceSandbox, recordings: Iterable[Mapping[str, Any]]) -> None:
        self._sandbox = sandbox
        self._targets = f"{sandbox.namespace}-t"
        sandbox.create(named("v1", "Namespace", "", self._targets))
        self.secrets, self.managed, self.delivered = list[Manifest](), list[Manifest](), list[Manifest]()
        for recording in recordings:
            self._restore(self._here(recording))

    def _here(self, recording: Mapping[str, Any]) -> dict[str, Any]:
        """The recording with the namespaces of the test in place of its own."""
        text = json.dumps(recording)
        moved: dict[str, Any] = json.loads(
            text.replace("mrs-31", self._sandbox.namespace).replace("mrt-31", self._targets)
        )
        return moved

    def _restore(self, recording: dict[str, Any]) -> None:
        namespace, name = self._sandbox.namespace, recording["after"]["metadata"]["name"]
        (reference,) = recording["spec"]["secretRefs"]
        text, status = json.dumps(recording["manifest"]).encode(), recording["status"]
        data = {"objects.yaml": base64.b64encode(text).decode()}
        secret = named("v1", "Secret", namespace, reference["name"], type="Opaque", data=data)
        spec = {**recording["spec"], "class": self._sandbox.class_name}
        managed = named("resources.gardener.cloud/v1alpha1", "ManagedResource", namespace, name, spec=spec)
        for each in (secret, managed):
            each["metadata"]["finalizers"] = [f"{FINALIZER}-{self._sandbox.class_name}"]
        delivered = as_created(recording["after"])
        for each in (secret, managed, delivered, *recording["autoscalers"]):
            self._create(each)
        checksum = hashlib.sha256(text * len(status.get("resources", ()))).hexdigest()
        conditions = [{**each, **_TIMES} for each in status["conditions"]]
        self._put_status(managed, {**status, "conditions": conditions, "secretsDataChecksum": checksum})
        self.secrets.append(secret)
        self.managed.append(managed)
        self.delivered.append(delivered)

    def _create(self, manifest: Manifest) -> None:
        path = f"{collection_of(manifest)}?fieldManager={FIELD_MANAGER}"
        status, answer = self._sandbox.control_plane.request("POST", path, manifest)
        assert status == http.client.CREATED, answer

    def _put_status(self, managed: Manifest, status: Manifest) -> None:
        path = f"{path_of(managed)}/status?fieldManager={FIELD_MANAGER}"
        body = {**self._sandbox.get(managed), "status": status}
        code, answer = self._sandbox.control_plane.request("PUT", path, body)
        assert code == http.client.OK, answer


class OriginalPolicies:
    """Services in namespaces that carry one label, and the NetworkPolicies that the original made for them."""

    def __init__(self, sandbox: ManagedResourceSandbox) -> None:
        self._sandbox = sandbox
        self.label: Final = {"tests.hedgerow.dev/sandbox": sandbox.class_name}
        text = POLICIES.read_text(encoding="utf-8").replace("w11-12", sandbox.class_name)
        stored = json.loads(text)
        objects = [_as_new(each) for each in stored["objects"]]
        for each in objects:
            if each["kind"] == "Namespace":
                each["metadata"]["labels"] = {**each["metadata"].get("labels", {}), **self.label}
        self.policies: Final = [{**_POLICY, **each} for each in stored["policies"]]
        sandbox.create(*objects, *self.policies)
        self._namespaced: Final = [each for each in (*objects, *self.policies) if each["kind"] != "Namespace"]

    def now(self) -> list[Manifest]:
        """The policies as they are now."""
        return [self._sandbox.get(each) for each in self.policies]

    def clear(self) -> None:
        """Remove them: to the process of the next test they would be left over from namespaces that it must not see."""
        for each in self._namespaced:
            self._sandbox.delete(each)


_POLICY: Final = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy"}


def _as_new(stored: Manifest) -> Manifest:
    said = ("name", "namespace", "labels", "annotations")
    metadata = {name: value for name, value in stored["metadata"].items() if name in said}
    new = {name: value for name, value in stored.items() if name != "status"}
    spec = {"spec": _without_addresses(stored["spec"])} if stored["kind"] == "Service" else {}
    return {**new, **spec, "metadata": metadata}


def as_created(recorded: Manifest) -> Manifest:
    """The recorded object as it can be created: what servers allocate to one object is no other's."""
    allocated = _ALLOCATED.get(recorded["kind"])
    return recorded if allocated is None else {**recorded, "spec": allocated(recorded["spec"])}


def _without_addresses(spec: Manifest) -> Manifest:
    ports = [{name: value for name, value in port.items() if name != "nodePort"} for port in spec.get("ports", ())]
    if spec.get("clusterIP") != "None":
        spec = {
            name: value
            for name, value in spec.items()
            if name not in {"clusterIP", "clusterIPs", "healthCheckNodePort"}
        }
    return {**spec, "ports": ports} if ports else spec


def _without_uid(spec: Manifest) -> Manifest:
    spec = {name: value for name, value in spec.items() if name not in {"selector", "manualSelector"}}
    metadata = spec["template"]["metadata"]
    labels = {
        name: value for name, value in metadata["labels"].items() if not name.endswith(("controller-uid", "job-name"))
    }
    return {**spec, "template": {**spec["template"], "metadata": {**metadata, "labels": labels}}}


_ALLOCATED: Final[Mapping[str, Callable[[Manifest], Manifest]]] = {"Service": _without_addresses, "Job": _without_uid}
