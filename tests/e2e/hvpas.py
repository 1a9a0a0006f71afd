"""Lets the API server know HVPAs for a while."""

import contextlib
import http.client
from collections.abc import Callable, Iterator

from hedgerow.api.gardener import HVPAS
from tests.control_plane import PATIENCE, ControlPlane, wait_until

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_NAME = f"{HVPAS.plural}.{HVPAS.group}"
_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@contextlib.contextmanager
def hvpas_defined(control_plane: ControlPlane) -> Iterator[Callable[[str, str], None]]:
    """While the block lasts there are HVPAs; what is given creates one that scales a Deployment of its name."""
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": _NAME,
            "annotations": {"api-approved.kubernetes.io": "unapproved, request not yet submitted"},
        },
        "spec": {
            "group": HVPAS.group,
            "scope": "Namespaced",
            "names": {"plural": HVPAS.plural, "singular": "hvpa", "kind": HVPAS.kind},
            "versions": [
                {"name": HVPAS.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": _ANYTHING}}
            ],
        },
    }
    status, answer = control_plane.request("POST", DEFINITIONS, definition)
    assert status == http.client.CREATED, answer
    try:
        _wait(control_plane, http.client.OK)
        yield lambda namespace, name: _create(control_plane, namespace, name)
    finally:
        control_plane.request("DELETE", f"{DEFINITIONS}/{_NAME}")
        _wait(control_plane, http.client.NOT_FOUND)


def _create(control_plane: ControlPlane, namespace: str, name: str) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    spec = {"targetRef": target, "hpa": {"deploy": True, "template": {"spec": {"maxReplicas": 9}}}}
    manifest = {
        "apiVersion": HVPAS.api_version,
        "kind": HVPAS.kind,
        "metadata": {"namespace": namespace, "name": name},
        "spec": spec,
    }
    path = f"/apis/{HVPAS.api_version}/namespaces/{namespace}/{HVPAS.plural}"
    status, answer = control_plane.request("POST", path, manifest)
    assert status == http.client.CREATED, answer


def _wait(control_plane: ControlPlane, status: int) -> None:
    """Returns once the API server answers so when it is asked for HVPAs."""
    path = f"/apis/{HVPAS.api_version}/{HVPAS.plural}"
    wait_until(
        lambda: control_plane.request("GET", path)[0] == status,
        timeout=PATIENCE,
        otherwise=lambda: AssertionError(f"{path} does not answer {status}"),
    )
