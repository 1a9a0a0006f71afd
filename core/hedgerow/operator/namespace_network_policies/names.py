"""The objects, labels and policies by which traffic of namespaces is opened.

Source: network-and-nodes §1.1, §3.2, §3.4.
"""

from typing import Final

from hedgerow.machinery.objects import ObjectKey

API_SERVER: Final = ObjectKey("default", "kubernetes")
"""The Endpoints of the API server."""

LABEL_DOMAIN: Final = "networking.gardener.cloud"
GARDEN_NAMESPACE: Final = "garden"
SHOOT_NAMESPACE_PREFIX: Final = "shoot-"

DENY_ALL: Final = "deny-all"
ALLOW_TO_RUNTIME_API_SERVER: Final = "allow-to-runtime-apiserver"
ALLOW_TO_PUBLIC_NETWORKS: Final = "allow-to-public-networks"
ALLOW_TO_PRIVATE_NETWORKS: Final = "allow-to-private-networks"
ALLOW_TO_BLOCKED_CIDRS: Final = "allow-to-blocked-cidrs"
ALLOW_TO_DNS: Final = "allow-to-dns"
ALLOW_TO_SHOOT_NETWORKS: Final = "allow-to-shoot-networks"
