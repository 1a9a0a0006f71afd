"""Objects, resources and readings that the cases of the contract share."""

from collections.abc import Iterable, Mapping
from typing import Any

from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response
from tests.contract.targets import Watch

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
EVENTS = Resource("events.k8s.io", "v1", "events", "Event")
CORE_EVENTS = Resource("", "v1", "events", "Event")
INGRESSES = Resource("networking.k8s.io", "v1", "ingresses", "Ingress")
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
NETWORK_POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)
SECRETS = Resource("", "v1", "secrets", "Secret")
SERVICES = Resource("", "v1", "services", "Service")


def config_map(name: str, data: Mapping[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    """A ConfigMap."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}
    return {**body, "data": data} if data else body


def policy(name: str = "policy", spec: Any = None, **metadata: Any) -> dict[str, Any]:
    """A NetworkPolicy; without a spec it selects all pods."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, **metadata},
        "spec": {"podSelector": {}} if spec is None else spec,
    }


def lease(name: str, holder: str, **metadata: Any) -> dict[str, Any]:
    """A Lease held by somebody."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, **metadata},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z"},
    }


def version(response: Response) -> str:
    """The resourceVersion of an answered object or list."""
    resource_version: str = response.body["metadata"]["resourceVersion"]
    return resource_version


def names(response: Response) -> list[str]:
    """The names in an answered list."""
    return [item["metadata"]["name"] for item in response.body["items"]]


def refusal(response: Response) -> tuple[int, str | None, str]:
    """Status code, reason and message of a refusal."""
    assert response.body["kind"] == "Status"
    assert response.body["status"] == "Failure"
    assert response.body["code"] == response.status
    return response.status, response.body.get("reason"), response.body["message"]


def causes(response: Response) -> list[tuple[str, str]]:
    """Reason and field of every cause of a refusal as invalid, each once, in order.

    A real server often says the same twice, or says about one value in how many ways it is bad.
    """
    assert refusal(response)[:2] == (422, "Invalid")
    return list(dict.fromkeys((cause["reason"], cause["field"]) for cause in response.body["details"]["causes"]))


def watch_from(
    resource: Resource, namespace: str, resource_version: str, *, selector: str = "", seconds: int = 30
) -> Request:
    """The request for a watch of a namespace without bookmarks."""
    request = requests.watch(
        resource,
        resource_version=resource_version,
        timeout_seconds=seconds,
        namespace=namespace,
        selector=selector,
    )
    return Request("GET", request.path, {**request.query, "allowWatchBookmarks": "false"})


def happened(watch: Watch, until: str) -> list[tuple[str, str]]:
    """Type and object name of the events of a watch, up to the first of the object of that name, which is left out."""
    events = list(_events_until(watch, until))
    return [(event["type"], event["object"]["metadata"]["name"]) for event in events]


def _events_until(watch: Watch, last: str) -> Iterable[Mapping[str, Any]]:
    while (event := watch.next()) is not None and event["object"]["metadata"].get("name") != last:
        yield event


def key(namespace: str, name: str) -> ObjectKey:
    """The key of an object."""
    return ObjectKey(namespace, name)
