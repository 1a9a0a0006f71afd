"""The part of the shared API server that belongs to one test: its namespaces, and what is in them."""

import http.client
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.e2e.permissions import account_kubeconfig, grant, revoke, user_of
from tests.e2e.resource_manager import configuration

Manifest = dict[str, Any]

LABEL: Final = "tests.hedgerow.dev/sandbox"
N: Final = "networking.resources.gardener.cloud"
DESCRIPTION: Final = "gardener.cloud/description"
WRITES: Final = ("create", "update", "patch", "delete", "deletecollection")
_NETWORKING: Final = "/apis/networking.k8s.io/v1"
_ROOTS: Final = {
    "Namespace": ("/api/v1", "namespaces"),
    "Service": ("/api/v1", "services"),
    "NetworkPolicy": (_NETWORKING, "networkpolicies"),
    "Ingress": (_NETWORKING, "ingresses"),
    "Event": ("/apis/events.k8s.io/v1", "events"),
    "Lease": ("/apis/coordination.k8s.io/v1", "leases"),
}
_API_VERSIONS: Final = {"NetworkPolicy": "networking.k8s.io/v1", "Ingress": "networking.k8s.io/v1"}
_FROM_THE_SERVER: Final = frozenset({"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"})


def path_of(kind: str, namespace: str = "", name: str = "") -> str:
    root, plural = _ROOTS[kind]
    parts = [root, *(("namespaces", namespace) if namespace else ()), plural, *((name,) if name else ())]
    return "/".join(parts)


class Sandbox:
    """Namespaces that carry one label, which the processes of the test are told to look after, and no others.

    Processes speak as a service account of the test's own, with exactly the documented permissions. What a test leaves
    is removed: to the process of the next test it would be left over from a namespace that nobody looks after.
    """

    def __init__(self, control_plane: ControlPlane, prefix: str, folder: Path) -> None:
        self.control_plane = control_plane
        self.prefix = prefix
        self.folder = folder
        self.handled: Final = {"namespaceSelectors": [{"matchLabels": {LABEL: prefix}}]}
        self.namespaces: list[str] = []
        self.home = self.namespace("home", handled=False)
        """Where the process itself lives: its account and its lease."""
        grant(control_plane, self.home)
        self.kubeconfig = account_kubeconfig(control_plane, self.home, folder)
        self.user = user_of(self.home)

    def clear(self) -> None:
        """Remove everything that controllers look at, but the namespaces."""
        revoke(self.control_plane, self.home)
        for namespace in self.namespaces:
            for kind in ("Service", "Ingress", "NetworkPolicy"):
                self.control_plane.request("DELETE", path_of(kind, namespace))

    def configuration(self, network_policy: Mapping[str, Any] | None = None, **sections: Any) -> Manifest:
        """The configuration of a process that looks after these namespaces."""
        return configuration(self.kubeconfig, network_policy={**self.handled, **(network_policy or {})}, **sections)

    # What is there.

    def namespace(self, name: str, *, handled: bool = True, **labels: str) -> str:
        """The full name of a new namespace."""
        full = f"{self.prefix}-{name}"
        self.create(self.namespace_manifest(name, handled=handled, **labels))
        return full

    def namespace_manifest(self, name: str, *, handled: bool = True, **labels: str) -> Manifest:
        all_labels = {**({LABEL: self.prefix} if handled else {}), **labels}
        return {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": f"{self.prefix}-{name}", "labels": all_labels},
        }

    def create(self, *manifests: Manifest) -> None:
        for manifest in manifests:
            metadata = manifest["metadata"]
            if manifest["kind"] == "Namespace":
                self.namespaces.append(metadata["name"])
            self._expect(
                http.client.CREATED, "POST", path_of(manifest["kind"], metadata.get("namespace", "")), manifest
            )

    def patch(self, kind: str, namespace: str, name: str, patch: Manifest) -> None:
        self._expect(http.client.OK, "PATCH", path_of(kind, namespace, name), patch)

    def annotate(self, service: Manifest, annotations: Mapping[str, str | None]) -> None:
        """Set annotations of a Service of ours, by their names after the slash; none: take away."""
        full = {f"{N}/{name}": value for name, value in annotations.items()}
        metadata = service["metadata"]
        self.patch("Service", metadata["namespace"], metadata["name"], {"metadata": {"annotations": full}})

    def label_namespace(self, namespace: str, labels: Mapping[str, str | None]) -> None:
        self.patch("Namespace", "", namespace, {"metadata": {"labels": dict(labels)}})

    def delete(self, kind: str, namespace: str, name: str) -> None:
        self._expect(http.client.OK, "DELETE", path_of(kind, namespace, name))

    def get(self, kind: str, namespace: str, name: str) -> Manifest:
        return self._expect(http.client.OK, "GET", path_of(kind, namespace, name))

    def objects(self, kind: str) -> dict[str, Manifest]:
        """The objects of a kind in these namespaces, whole, by namespace and name."""
        items = self._expect(http.client.OK, "GET", path_of(kind))["items"]
        ours = [item for item in items if item["metadata"]["namespace"] in self.namespaces]
        return {f"{item['metadata']['namespace']}/{item['metadata']['name']}": item for item in ours}

    def events_of(self, controller: str) -> list[Manifest]:
        """The Events that a controller recorded; the API server records some about Services, when its caches lag."""
        return [each for each in self.objects("Event").values() if each["reportingController"] == controller]

    def policies(self) -> dict[str, Manifest]:
        """The policies in these namespaces as files would hold them, by namespace and name without the prefix."""
        return self.by_short_name(self.objects("NetworkPolicy").values())

    def by_short_name(self, policies: Iterable[Manifest]) -> dict[str, Manifest]:
        return {self._short(each): _as_in_files(each) for each in policies}

    # What happened.

    def writes(self, since: int) -> list[str]:
        """What processes of this test have written since a position of the audit log, leases aside."""
        self.wait_for_the_audit_log()
        events = self.control_plane.audit_events(self.user, WRITES, since=since)
        places = [(event["verb"], event["objectRef"]) for event in events]
        return [f"{verb} {place['resource']}" for verb, place in places if place["resource"] != "leases"]

    def wait_for_policies(self, expected: Collection[str], timeout: float = PATIENCE) -> None:
        """Returns once there are exactly these policies, named as `policies` does."""
        seen: set[str] = set()

        def there() -> bool:
            seen.clear()
            seen.update(self.policies())
            return seen == set(expected)

        def otherwise() -> AssertionError:
            missing, extra = sorted(set(expected) - seen), sorted(seen - set(expected))
            return AssertionError(
                f"after {timeout} s these policies are missing: {missing}, and these are too many: {extra}"
            )

        wait_until(there, timeout=timeout, otherwise=otherwise)

    def wait_for_the_audit_log(self) -> None:
        """Returns once a request that is sent now stands in the log; those that came before stand there, too."""
        marker = path_of("Namespace", "", f"{self.home}-marker-{self.control_plane.audit_position()}")
        self.control_plane.request("GET", marker)

        def stands_there() -> bool:
            return any(event["requestURI"] == marker for event in self.control_plane.audit_events("admin", ["get"]))

        wait_until(stands_there, timeout=PATIENCE, otherwise=lambda: AssertionError("the audit log is late"))

    def _short(self, manifest: Manifest) -> str:
        metadata = manifest["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}".replace(f"{self.prefix}-", "")

    def _expect(self, status: int, method: str, path: str, body: Manifest | None = None) -> Manifest:
        answered, answer = self.control_plane.request(method, path, body)
        assert answered == status, f"{method} {path}: {answer}"
        return answer


def service(
    namespace: str, name: str, *ports: Manifest, annotations: Mapping[str, str] | None = None, **spec: Any
) -> Manifest:
    """A headless Service, as the shared API server has few addresses; its port is 80, to 8080, unless others are given.

    The names of annotations are given without their prefix.
    """
    full = {f"{N}/{key}": value for key, value in (annotations or {}).items()}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"namespace": namespace, "name": name, "annotations": full},
        "spec": {
            "clusterIP": "None",
            "selector": {"app": name},
            "ports": list(ports) or [{"port": 80, "targetPort": 8080, "protocol": "TCP"}],
            **spec,
        },
    }


def ingress(namespace: str, name: str, service_name: str, port: int | str) -> Manifest:
    """An Ingress whose only path leads to a port of a Service."""
    backend = {"service": {"name": service_name, "port": {"number" if isinstance(port, int) else "name": port}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"rules": [{"http": {"paths": [path]}}]},
    }


def pair(namespace: str, identity: str) -> set[str]:
    """The two policies that open a port of a Service to pods of its own namespace."""
    return {f"{namespace}/ingress-to-{identity}", f"{namespace}/egress-to-{identity}"}


def cross_pair(namespace: str, identity: str, peer: str) -> set[str]:
    """The two policies that open a port of a Service to pods of another namespace."""
    return {f"{namespace}/ingress-to-{identity}-from-{peer}", f"{peer}/egress-to-{namespace}-{identity}"}


def _as_in_files(manifest: Manifest) -> Manifest:
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in _FROM_THE_SERVER}
    kind = manifest.get("kind", "NetworkPolicy")
    return {**manifest, "apiVersion": _API_VERSIONS[kind], "kind": kind, "metadata": metadata}
