"""The objects by which Gardener installs an extension into every seed that needs it.

Source: rsyslog-relp §3; controller-registration §2.1, §2.2.
"""

from base64 import b64encode
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from hedgerow.api.registrations import CONTROLLER_DEPLOYMENTS, CONTROLLER_REGISTRATIONS
from hedgerow.machinery.objects import Manifest

PRIORITY_CLASS: Final = "gardener-system-900"
"""Gardener defines it in every seed."""
TIMEOUT: Final = "3m0s"


class DeploymentVersion(StrEnum):
    """The version of a ControllerDeployment."""

    V1 = "v1"
    V1BETA1 = "v1beta1"


def controller_registration(
    extension_type: str, chart: bytes, values: Mapping[str, Any], version: DeploymentVersion
) -> tuple[Manifest, Manifest]:
    """The ControllerDeployment, then the ControllerRegistration that refers to it.

    Args:
        extension_type: the type of the Extensions, which is also the name of both objects.
        chart: the archive of the chart.
        values: what the chart gets besides its defaults and what Gardener adds.
        version: of the ControllerDeployment.
    """
    text = b64encode(chart).decode("ascii")
    content: Mapping[str, Any] = {"helm": {"rawChart": text, "values": values}}
    if version is DeploymentVersion.V1BETA1:
        content = {"type": "helm", "providerConfig": {"chart": text, "values": values}}
    deployment = {
        "apiVersion": f"{CONTROLLER_DEPLOYMENTS.group}/{version}",
        "kind": CONTROLLER_DEPLOYMENTS.kind,
        "metadata": {"name": extension_type},
        **content,
    }
    # The lifecycle is left to the defaults.
    resource = {
        "kind": "Extension",
        "type": extension_type,
        "primary": True,
        "globallyEnabled": False,
        "reconcileTimeout": TIMEOUT,
    }
    annotations = {"security.gardener.cloud/pod-security-enforce": "baseline"}
    registration = {
        "apiVersion": CONTROLLER_REGISTRATIONS.api_version,
        "kind": CONTROLLER_REGISTRATIONS.kind,
        "metadata": {"name": extension_type, "annotations": annotations},
        "spec": {"deployment": {"deploymentRefs": [{"name": extension_type}]}, "resources": [resource]},
    }
    return deployment, registration
