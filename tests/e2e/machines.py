"""Machines at an API server, as far as anything here reads them."""

import http.client
from typing import Any, Final

from tests.control_plane import PATIENCE, ControlPlane, wait_until

_GROUP: Final = "machine.sapcloud.io"
_DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MACHINE_DEFINITION: Final = f"{_DEFINITIONS}/machines.{_GROUP}"


def define_machines(control_plane: ControlPlane) -> None:
    """Returns once the API server stores Machines, whatever is in them."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Machine", "listKind": "MachineList", "plural": "machines", "singular": "machine"}
    manifest = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"machines.{_GROUP}"},
        "spec": {"group": _GROUP, "scope": "Namespaced", "names": names, "versions": [version]},
    }
    status, answer = control_plane.request("POST", _DEFINITIONS, manifest)
    assert status == http.client.CREATED, answer
    wait_until(
        lambda: control_plane.request("GET", machines_in("default"))[0] == http.client.OK,
        timeout=PATIENCE,
        otherwise=lambda: AssertionError("Machines are not served"),
    )


def machines_in(namespace: str) -> str:
    """The path of the Machines of a namespace."""
    return f"/apis/{_GROUP}/v1alpha1/namespaces/{namespace}/machines"


def machine(namespace: str, name: str, *, node: str) -> dict[str, Any]:
    """A Machine that has become a Node."""
    metadata = {"namespace": namespace, "name": name, "labels": {"node": node}}
    return {"apiVersion": f"{_GROUP}/v1alpha1", "kind": "Machine", "metadata": metadata, "spec": {}}
