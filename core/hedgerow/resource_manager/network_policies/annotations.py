"""The keys and well-known values through which Services, Namespaces and pods state who may talk to whom.

Source: network-and-nodes §1.1, §2.8.
"""

from typing import Final

from hedgerow.api.kubernetes import METADATA_NAME, NAMESPACES, NETWORK_POLICIES
from hedgerow.machinery.objects import ObjectKey
from hedgerow.network_policies.names import ALLOWED, DESCRIPTION, DOMAIN, SERVICE_NAME, SERVICE_NAMESPACE

__all__ = [
    "ACCESS_TARGET_API_SERVER",
    "ALLOWED",
    "ALLOWED_PORTS_PREFIX",
    "ALLOWED_PORTS_SUFFIX",
    "ALL_ISTIO_INGRESSES",
    "ALL_SCRAPE_TARGETS",
    "ALL_SEED_SCRAPE_TARGETS",
    "ALL_SHOOTS",
    "ALL_WEBHOOK_TARGETS",
    "DESCRIPTION",
    "DOMAIN",
    "EXTENSIONS",
    "FROM_WORLD_TO_PORTS",
    "METADATA_NAME",
    "NAMESPACES",
    "NAMESPACE_ALIAS",
    "NAMESPACE_SELECTORS",
    "NETWORK_POLICIES",
    "SERVICE_NAME",
    "SERVICE_NAMESPACE",
    "allowed_ports_alias",
    "annotation_field",
    "namespace_key",
]

NAMESPACE_SELECTORS: Final = f"{DOMAIN}/namespace-selectors"
"""On a Service: JSON list of label selectors of further namespaces whose pods may connect."""

NAMESPACE_ALIAS: Final = f"{DOMAIN}/pod-label-selector-namespace-alias"
"""On a Service: what stands for its namespace in the pod labels of other namespaces."""

FROM_WORLD_TO_PORTS: Final = f"{DOMAIN}/from-world-to-ports"
"""On a Service: JSON list of the container ports that anybody may reach; the empty list means every port."""

ALLOWED_PORTS_PREFIX: Final = f"{DOMAIN}/from-"
ALLOWED_PORTS_SUFFIX: Final = "-allowed-ports"

ALL_SCRAPE_TARGETS: Final = "all-scrape-targets"
ALL_SEED_SCRAPE_TARGETS: Final = "all-seed-scrape-targets"
ALL_WEBHOOK_TARGETS: Final = "all-webhook-targets"
"""Aliases that components agree on for `from-<alias>-allowed-ports`."""

ALL_SHOOTS: Final = "all-shoots"
EXTENSIONS: Final = "extensions"
ALL_ISTIO_INGRESSES: Final = "all-istio-ingresses"
"""Namespace aliases that components agree on."""

ACCESS_TARGET_API_SERVER: Final = ("networking.gardener.cloud/access-target-apiserver", ALLOWED)
"""Label of namespaces whose components call the API servers of shoots or of the virtual garden."""


def allowed_ports_alias(annotation: str) -> str | None:
    """The alias of a `from-<alias>-allowed-ports` annotation key; none for any other key or an empty alias."""
    if not (annotation.startswith(ALLOWED_PORTS_PREFIX) and annotation.endswith(ALLOWED_PORTS_SUFFIX)):
        return None
    return annotation[len(ALLOWED_PORTS_PREFIX) : -len(ALLOWED_PORTS_SUFFIX)] or None


def annotation_field(annotation: str) -> str:
    """Path of an annotation as failures name it."""
    return f'metadata.annotations["{annotation}"]'


def namespace_key(name: str) -> ObjectKey:
    """Key of a Namespace object."""
    return ObjectKey("", name)
