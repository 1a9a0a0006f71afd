"""Lets the API server know ManagedResources for a while, as somebody installs what `hedgerow crds` prints."""

import contextlib
import http.client
from collections.abc import Iterator
from typing import Any, Final

from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.e2e.resource_manager import run_here

GROUP: Final = "resources.gardener.cloud"
API_VERSION: Final = f"{GROUP}/v1alpha1"
DEFINITION: Final = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/managedresources.{GROUP}"


def path_of(namespace: str = "", name: str = "") -> str:
    """Where ManagedResources are: all of them, those of a namespace, or one."""
    within = f"/namespaces/{namespace}" if namespace else ""
    return f"/apis/{API_VERSION}{within}/managedresources{f'/{name}' if name else ''}"


@contextlib.contextmanager
def undefined(control_plane: ControlPlane) -> Iterator[None]:
    """The API server knows no ManagedResources before the block, nor after it, whatever happens within."""
    assert control_plane.request("GET", path_of())[0] == http.client.NOT_FOUND
    try:
        yield
    finally:
        remove(control_plane)


def remove(control_plane: ControlPlane) -> None:
    """Return once the API server knows no ManagedResources; nobody sees to those that there are."""
    for each in control_plane.request("GET", path_of())[1].get("items", ()):
        metadata = each["metadata"]
        path = path_of(metadata["namespace"], metadata["name"])
        control_plane.request("PATCH", path, {"metadata": {"finalizers": None}})
    control_plane.request("DELETE", DEFINITION)
    _wait(control_plane, http.client.NOT_FOUND)


def install(control_plane: ControlPlane) -> None:
    """Define ManagedResources as the command's help says."""
    printed = run_here("crds", "managedresources")
    assert (printed.returncode, printed.stderr) == (0, "")
    control_plane.kubectl("apply", "-f", "-", input=printed.stdout)
    _wait(control_plane, http.client.OK)


def deliver_nothing(control_plane: ControlPlane, namespace: str, name: str, **spec: Any) -> None:
    """Create a ManagedResource that refers to a Secret of its name, in which there is nothing."""
    secret = {"metadata": {"name": name}, "data": {}}
    control_plane.request("POST", f"/api/v1/namespaces/{namespace}/secrets", secret)
    manifest = {
        "apiVersion": API_VERSION,
        "kind": "ManagedResource",
        "metadata": {"name": name},
        "spec": {"secretRefs": [{"name": name}], **spec},
    }
    status, answer = control_plane.request("POST", path_of(namespace), manifest)
    assert status == http.client.CREATED, answer


def statuses(control_plane: ControlPlane, namespace: str, name: str) -> dict[str, str]:
    """What the conditions of a ManagedResource say."""
    conditions = control_plane.request("GET", path_of(namespace, name))[1].get("status", {}).get("conditions", ())
    return {each["type"]: each["status"] for each in conditions}


SETTLED: Final = {"ResourcesApplied": "True", "ResourcesHealthy": "True", "ResourcesProgressing": "False"}
"""What they say once all is well."""


def _wait(control_plane: ControlPlane, status: int) -> None:
    """Returns once the API server answers so when it is asked for ManagedResources."""
    wait_until(
        lambda: control_plane.request("GET", path_of())[0] == status,
        timeout=PATIENCE,
        otherwise=lambda: AssertionError(f"{path_of()} does not answer {status}"),
    )
