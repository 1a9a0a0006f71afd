"""The clusters that are measured: so many Services, spread evenly over so many namespaces, two policies for each."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.bare_client import send_all
from benchmarks.prepared import NETWORK_POLICIES, Prepared, creation, creation_of_namespace, deletion_of_policies
from hedgerow.resource_manager.network_policies import desired_network_policies
from tests.control_plane import ControlPlane

POLICIES_PER_SERVICE: Final = 2
CALM: Final = 0.25
"""Seconds without a request after which it is worth to look at the cluster."""
PATIENCE: Final = 300.0


@dataclass(frozen=True, slots=True)
class Size:
    """How large a cluster is."""

    namespaces: int
    services: int

    @property
    def policies(self) -> int:
        """How many policies its Services ask for."""
        return self.services * POLICIES_PER_SERVICE

    def __str__(self) -> str:
        """The size as the report shows it."""
        return f"{self.services:,} Services".replace(",", " ")

    def namespace(self, number: int) -> str:
        """The namespace of a Service."""
        return f"ns-{number % self.namespaces}"

    def service(self, number: int) -> dict[str, Any]:
        """A Service of the initial cluster."""
        return service(f"svc-{number}", self.namespace(number))


SMALL: Final = Size(namespaces=10, services=1_000)
LARGE: Final = Size(namespaces=100, services=10_000)


def service(name: str, namespace: str, *, app: str = "") -> dict[str, Any]:
    """A headless Service with one port, which asks for one policy in each direction."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "clusterIP": "None",
            "selector": {"app": app or name},
            "ports": [{"protocol": "TCP", "port": 80, "targetPort": 8080}],
        },
    }


def policies_of(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The policies that a Service of this page asks for."""
    return [policy.manifest() for policy in desired_network_policies(manifest, ()).unwrap().policies]


def create_policies(size: Size) -> list[Prepared]:
    """The requests that make every policy of a cluster."""
    return [creation(policy) for number in range(size.services) for policy in policies_of(size.service(number))]


@contextmanager
def cluster(size: Size) -> Iterator[ControlPlane]:
    """A control plane of its own with the namespaces and Services of a size, and no policy."""
    with ControlPlane() as plane:
        send_all(plane, (creation_of_namespace(size.namespace(number)) for number in range(size.namespaces)))
        send_all(plane, (creation(size.service(number)) for number in range(size.services)))
        yield plane


def delete_policies(plane: ControlPlane, size: Size) -> None:
    """Leave no policy."""
    send_all(plane, (deletion_of_policies(size.namespace(number)) for number in range(size.namespaces)))


def wait_for_policies(plane: ControlPlane, expected: int, *, still: Callable[[], None] = lambda: None) -> None:
    """Returns a moment after so many policies exist.

    While anybody writes, nothing is asked of the API server: what is measured is to have it for itself.

    Args:
        plane: where they are counted.
        expected: how many there will be.
        still: fails once there is nothing to wait for any more.
    """
    deadline = time.monotonic() + PATIENCE
    while (count := count_policies(plane)) != expected:
        still()
        if time.monotonic() > deadline:
            raise TimeoutError(f"{count} policies instead of {expected} after {PATIENCE:.0f} s")
        wait_for_calm(plane)


def wait_for_calm(plane: ControlPlane, calm: float = CALM) -> None:
    """Returns once the API server has had no request for a while, as far as its audit log tells."""
    position = -1
    while position != (position := plane.audit_position()):
        time.sleep(calm)


def count_policies(plane: ControlPlane) -> int:
    """How many policies exist."""
    _, body = plane.request("GET", f"{NETWORK_POLICIES}?limit=1")
    return len(body["items"]) + int(body["metadata"].get("remainingItemCount", 0))
