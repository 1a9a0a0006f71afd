"""The resources, labels and annotations by which NetworkPolicies are made and recognised.

Source: network-and-nodes §1.1.
"""

from typing import Final

DOMAIN: Final = "networking.resources.gardener.cloud"

SERVICE_NAME: Final = f"{DOMAIN}/service-name"
SERVICE_NAMESPACE: Final = f"{DOMAIN}/service-namespace"
"""With SERVICE_NAME on every policy that a Service asks for: the only record of the Service that it belongs to."""

DESCRIPTION: Final = "gardener.cloud/description"
ALLOWED: Final = "allowed"
