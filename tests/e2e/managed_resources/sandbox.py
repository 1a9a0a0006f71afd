"""The part of a shared API server that one test's processes look after: a class of ManagedResources, a namespace."""

import http.client
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.e2e.managed_resources.manifests import RBAC, managed_resource, named, secret_of
from tests.e2e.managed_resources.urls import Manifest, collection, collection_of, path_of
from tests.e2e.permissions import ACCOUNT, account_kubeconfig, user_of
from tests.e2e.resource_manager import configuration

WRITES: Final = ("create", "update", "patch", "delete", "deletecollection")
APPLIED: Final = {"ResourcesApplied": "True"}
SETTLED: Final = {"ResourcesApplied": "True", "ResourcesHealthy": "True", "ResourcesProgressing": "False"}
FINALIZER: Final = "resources.gardener.cloud/gardener-resource-manager"


class ManagedResourceSandbox:
    """A namespace, a class and an account of the test's own; whoever may do everything speaks for the test itself."""

    def __init__(self, control_plane: ControlPlane, name: str, folder: Path) -> None:
        self.control_plane: Final = control_plane
        self.class_name: Final = name.partition("-")[0]
        """Short, as a finalizer is called after it."""
        self.namespace: Final = name
        self.folder: Final = folder
        self.create(named("v1", "Namespace", "", name))
        self.kubeconfig: Final = self.account(name)
        self.user: Final = user_of(name)

    def account(self, namespace: str) -> Path:
        """A kubeconfig of an account in a namespace that may do everything, as the target's objects may be anything."""
        subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}
        role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
        self.create(
            named("v1", "ServiceAccount", namespace, ACCOUNT),
            named(f"{RBAC}/v1", "ClusterRoleBinding", "", f"admin:{namespace}", roleRef=role, subjects=[subject]),
        )
        return account_kubeconfig(self.control_plane, namespace, self.folder)

    def configuration(
        self, *, controllers: Mapping[str, Any] | None = None, class_name: str | None = None, **sections: Any
    ) -> Manifest:
        """The configuration of a process that looks after the class, or another one."""
        settings = {"resourceClass": self.class_name if class_name is None else class_name, **(controllers or {})}
        return configuration(self.kubeconfig, controllers=settings, **sections)

    # What is written.

    def create(self, *manifests: Manifest) -> None:
        """Make objects."""
        self.control_plane.create_all((collection_of(each), each) for each in manifests)

    def deliver(self, name: str, *objects: Manifest, **spec: Any) -> Manifest:
        """A ManagedResource of the class with one Secret, which is created first."""
        secret = self.secret(name, *objects)
        self.create(secret)
        managed = managed_resource(self.namespace, name, secret["metadata"]["name"], class_name=self.class_name, **spec)
        self.create(managed)
        return managed

    def secret(self, name: str, *objects: Manifest) -> Manifest:
        """A Secret with these objects, named after its ManagedResource."""
        return secret_of(self.namespace, f"managedresource-{name}", objects)

    def redeliver(self, name: str, *objects: Manifest) -> None:
        """Put these objects into that Secret in place of all that it has, whoever else writes to it meanwhile."""
        secret = self.secret(name, *objects)
        while True:
            replaced = {**secret, "metadata": self.get(secret)["metadata"]}
            status, answer = self.control_plane.request("PUT", path_of(secret), replaced)
            if status != http.client.CONFLICT:
                assert status == http.client.OK, answer
                return

    def patch(self, manifest: Manifest, patch: Manifest) -> None:
        """Merge something into an object."""
        self._expect(http.client.OK, "PATCH", path_of(manifest), patch)

    def delete(self, manifest: Manifest) -> None:
        """Ask for the end of an object."""
        self._expect(http.client.OK, "DELETE", path_of(manifest))

    # What is there.

    def find(self, manifest: Manifest) -> Manifest | None:
        """The object as it is now, if it is there."""
        status, answer = self.control_plane.request("GET", path_of(manifest))
        assert status in {http.client.OK, http.client.NOT_FOUND}, answer
        return answer if status == http.client.OK else None

    def get(self, manifest: Manifest) -> Manifest:
        """The object as it is now."""
        return self._expect(http.client.OK, "GET", path_of(manifest))

    def uid(self, manifest: Manifest) -> str:
        """Which object it is."""
        return str(self.get(manifest)["metadata"]["uid"])

    def all(self, api_version: str, kind: str) -> dict[str, Manifest]:
        """The objects of a kind in the namespace, by name."""
        items = self._expect(http.client.OK, "GET", collection(api_version, kind, self.namespace))["items"]
        return {item["metadata"]["name"]: item for item in items}

    def managed_resources(self) -> dict[str, Manifest]:
        """The ManagedResources of the namespace, by name."""
        return self.all("resources.gardener.cloud/v1alpha1", "ManagedResource")

    def condition(self, managed: Manifest, kind: str = "ResourcesApplied") -> tuple[str, str, str]:
        """Status, reason and message of a condition; empty where there is none."""
        for condition in self.get(managed).get("status", {}).get("conditions", ()):
            if condition["type"] == kind:
                return condition["status"], condition["reason"], condition["message"]
        return "", "", ""

    # What to wait for.

    def wait_for(self, condition: Callable[[], bool], what: str, timeout: float = PATIENCE) -> None:
        """Returns when a condition holds."""
        wait_until(condition, timeout=timeout, otherwise=lambda: AssertionError(f"not within {timeout} s: {what}"))

    def wait_for_condition(self, managed: Manifest, kind: str, expected: tuple[str, str, str]) -> None:
        """Returns when a condition has this status, reason and message."""
        wait_until(
            lambda: self.condition(managed, kind) == expected,
            timeout=PATIENCE,
            otherwise=lambda: AssertionError(f"{kind} is {self.condition(managed, kind)}, not {expected}"),
        )

    def wait_until_applied(self, *names: str, expected: Mapping[str, str] = APPLIED, timeout: float = PATIENCE) -> None:
        """Returns when all ManagedResources of the namespace, or those named, are as their last generation asks for."""

        path = collection("resources.gardener.cloud/v1alpha1", "ManagedResource", self.namespace)
        listed = self._expect(http.client.OK, "GET", path)
        found = {each["metadata"]["name"]: each for each in listed["items"]}

        def left() -> dict[str, Any]:
            asked = {name: found[name] for name in names} if names else found
            return {name: _conditions_of(each) for name, each in asked.items() if not _shows(each, expected)}

        deadline, version = time.monotonic() + timeout, listed["metadata"]["resourceVersion"]
        with self.control_plane.stream(path, resource_version=version, patience=timeout) as stream:
            events = stream.events()
            while missing := left():
                assert time.monotonic() < deadline, f"not {dict(expected)} within {timeout} s: {missing}"
                changed = _next_of(events, missing)
                found[changed["metadata"]["name"]] = changed

    def wait_until_gone(self, *manifests: Manifest) -> None:
        """Returns when none of these objects is there any more."""
        for manifest in manifests:
            self.wait_for(partial(self._is_gone, manifest), f"{path_of(manifest)} is gone")

    def _is_gone(self, manifest: Manifest) -> bool:
        return self.find(manifest) is None

    # What happened.

    def writes(
        self, since: int, *, user: str = "", verb: str = "", resource: str = "", stored: bool = False
    ) -> list[str]:
        """What has been asked to be written since a position in the audit log, leases and dry runs aside.

        Args:
            since: the position.
            user: by whom; none: the test's account.
            verb: how; none: in any way.
            resource: what; none: anything.
            stored: whether what was refused is left out.
        """
        self._wait_for_the_audit_log()
        events = self.control_plane.audit_events(user or self.user, [verb] if verb else WRITES, since=since)
        return [
            f"{event['verb']} {_told(event['objectRef'])}"
            for event in events
            if event["objectRef"]["resource"] != "leases"
            and "dryRun=All" not in event["requestURI"]
            and resource in {"", event["objectRef"]["resource"]}
            and (not stored or event["responseStatus"]["code"] < http.client.MULTIPLE_CHOICES)
        ]

    def _wait_for_the_audit_log(self) -> None:
        marker = f"/api/v1/namespaces/{self.namespace}-marker-{self.control_plane.audit_position()}"
        self.control_plane.request("GET", marker)

        def stands_there() -> bool:
            return any(event["requestURI"] == marker for event in self.control_plane.audit_events("admin", ["get"]))

        self.wait_for(stands_there, "the audit log is complete")

    def _expect(self, status: int, method: str, path: str, body: Manifest | None = None) -> Manifest:
        answered, answer = self.control_plane.request(method, path, body)
        assert answered == status, f"{method} {path}: {answer}"
        return answer


def _next_of(events: Iterator[Manifest], missing: Mapping[str, Any]) -> Manifest:
    """The object of the next event."""
    try:
        changed: Manifest = next(events)["object"]
    except TimeoutError:
        raise AssertionError(f"nothing changes any more, and these are not as expected: {missing}") from None
    return changed


def uids(sandbox: ManagedResourceSandbox, objects: Iterable[Manifest]) -> list[str]:
    """Which objects these are."""
    return [sandbox.uid(each) for each in objects]


def _told(place: Mapping[str, Any]) -> str:
    subresource = f"/{place['subresource']}" if "subresource" in place else ""
    return f"{place['resource']}{subresource} {place.get('name', '')}".strip()


def _shows(managed: Manifest, expected: Mapping[str, str]) -> bool:
    observed = managed.get("status", {}).get("observedGeneration")
    found = _conditions_of(managed)
    return observed == managed["metadata"]["generation"] and all(
        found.get(kind, "").startswith(status) for kind, status in expected.items()
    )


def _conditions_of(managed: Manifest) -> dict[str, str]:
    conditions = managed.get("status", {}).get("conditions", ())
    return {each["type"]: f"{each['status']} {each['reason']}: {each['message']}" for each in conditions}
