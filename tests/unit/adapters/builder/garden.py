"""A cluster that knows ManagedResources, and a wire to it that remembers what was sent over it, and when."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from returns.result import Result
from typing_extensions import override

from hedgerow.api.definition import build_definition
from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.resources_v1alpha1 import MANAGED_RESOURCE
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.resource_manager.builder import new_managed_resource
from hedgerow_adapters.builder import NotDone
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster, Lost, MemoryTransport
from hedgerow_adapters.memory import requests as picked
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response

NAMESPACE: Final = "shop"
APP: Final = ObjectKey(NAMESPACE, "app")
CRDS: Final = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
LABEL: Final = "resources.gardener.cloud/garbage-collectable-reference"
MARKED: Final = {LABEL: "true"}


class Garden(InMemoryCluster):
    """The cluster, with the namespace `shop` and perhaps others."""

    def __init__(self, *namespaces: str) -> None:
        super().__init__(namespaces=("default", NAMESPACE, *namespaces))
        self.insist(requests.create(CRDS, build_definition(MANAGED_RESOURCE)))

    def insist(self, request: Request) -> Manifest:
        """What comes of a request, faults or not."""
        faults, self.faults = self.faults, []
        response = self.handle(request)
        self.faults = faults
        assert response.is_success, response.body
        stored: Manifest = response.body
        return stored

    def secrets(self, *names: str, **metadata: Any) -> None:
        """Create Secrets."""
        for name in names:
            secret = {"metadata": {"name": name, **metadata}, "data": {"a": "YQ=="}}
            self.insist(requests.create(SECRETS, secret, NAMESPACE))

    def managed_resource(self, wanted: Manifest) -> Manifest:
        """Create a ManagedResource."""
        return self.insist(requests.create(MANAGED_RESOURCES, wanted, key_of(wanted).namespace))

    def report(self, key: ObjectKey, conditions: Mapping[str, tuple[str, str, str]], generation: int = 1) -> None:
        """Write the status of a ManagedResource: status, reason and message of some conditions."""
        times = dict.fromkeys(("lastTransitionTime", "lastUpdateTime"), "2026-01-01T00:00:00Z")
        status = {
            "observedGeneration": generation,
            "conditions": [
                {"type": f"Resources{name}", "status": value, "reason": reason, "message": message, **times}
                for name, (value, reason, message) in conditions.items()
            ],
        }
        self.insist(requests.merge_patch(MANAGED_RESOURCES, key, {"status": status}, subresource="status"))

    def labels(self, name: str) -> Mapping[str, str]:
        """The labels of a Secret."""
        stored = self.get(SECRETS, ObjectKey(NAMESPACE, name))
        assert stored is not None
        labels: Mapping[str, str] = stored["metadata"].get("labels", {})
        return labels

    def names(self, resource: Resource) -> list[str]:
        """The names of all objects of a resource."""
        return sorted(key_of(each).name for each in self.objects(resource))

    def refuse(self, method: str, path: str, message: str, *, status: int = 403, times: int | None = 1) -> None:
        """Answer the next requests of a kind with a refusal."""
        body = {"kind": "Status", "status": "Failure", "code": status, "message": message}
        self.faults.append(Fault(picked(method, path), Answered(Response(status, body)), times))

    def lose(self, method: str, path: str, **how: bool) -> None:
        """Do not answer the next request of a kind."""
        self.faults.append(Fault(picked(method, path), Lost(**how)))


class Wire(MemoryTransport):
    """Leads to a cluster, where a test may do something just before a request arrives."""

    def __init__(self, garden: Garden, before: Mapping[str, Callable[[], object]] | None = None) -> None:
        """`before`: what to do once, by the request as `sent` shows it."""
        super().__init__(garden)
        self.requests: list[Request] = []
        self.moments: list[float] = []
        self._before = dict(before or {})

    @override
    async def send(self, request: Request, **options: Any) -> Response:
        self.requests.append(request)
        self.moments.append(asyncio.get_running_loop().time())
        self._before.pop(_shown(request), lambda: None)()
        return await super().send(request, **options)

    @property
    def sent(self) -> list[str]:
        """The requests: method, and what of the path tells them apart."""
        return [_shown(request) for request in self.requests]

    @property
    def writes(self) -> list[str]:
        """Those of them that write."""
        return [sent for sent in self.sent if not sent.startswith("GET")]


def _shown(request: Request) -> str:
    path = request.path.removeprefix("/api/v1").removeprefix(f"/apis/{MANAGED_RESOURCES.api_version}")
    return f"{request.method} {path.removeprefix(f'/namespaces/{NAMESPACE}').removeprefix('/')}"


def managed_resource(secrets: Sequence[str] = (), name: str = "app", **options: Any) -> Any:
    """A ManagedResource as a producer wants it."""
    return new_managed_resource(NAMESPACE, name, secret_names=secrets, **options)


def problem(result: Result[Any, NotDone]) -> str:
    """Why something was not done, as users read it."""
    return str(result.failure())
