"""The definition of ManagedResources at an API server, as the project generates it."""

import http.client

from hedgerow.api.definition import build_definition
from hedgerow.api.resources_v1alpha1 import MANAGED_RESOURCE
from tests.control_plane import PATIENCE, ControlPlane, wait_until

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def define_managed_resources(control_plane: ControlPlane) -> None:
    """Returns once the API server stores ManagedResources."""
    manifest = build_definition(MANAGED_RESOURCE)
    status, answer = control_plane.request("POST", DEFINITIONS, manifest)
    assert status == http.client.CREATED, answer
    path = "/apis/resources.gardener.cloud/v1alpha1/managedresources"
    wait_until(
        lambda: control_plane.request("GET", path)[0] == http.client.OK,
        timeout=PATIENCE,
        otherwise=lambda: AssertionError("ManagedResources are not served"),
    )
