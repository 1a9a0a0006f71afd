"""The kinds of objects that the in-memory API server knows.

One declaration a kind; those with rules of their own have a module each. A further kind is a further line in
`DEFAULT_RESOURCES`.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import FieldError, invalid
from hedgerow_adapters.memory.kinds.events import SERVED_EVENTS, STORED_EVENTS
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.kinds.leases import LEASES
from hedgerow_adapters.memory.kinds.namespaces import NAMESPACES
from hedgerow_adapters.memory.kinds.network_policies import NETWORK_POLICIES
from hedgerow_adapters.memory.kinds.secrets import CONFIG_MAPS, SECRETS
from hedgerow_adapters.memory.kinds.services import SERVICES
from hedgerow_adapters.memory.shapes import anything, flag


def ingress_errors(ingress: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """An Ingress leads somewhere."""
    spec = ingress.get("spec", {})
    if not spec.get("rules") and not spec.get("defaultBackend"):
        yield invalid("spec", None, "either `defaultBackend` or `rules` must be specified")


DEFAULT_RESOURCES: Final = (
    NAMESPACES,
    SERVICES,
    NETWORK_POLICIES,
    CONFIG_MAPS,
    SECRETS,
    LEASES,
    STORED_EVENTS,
    SERVED_EVENTS,
    Kind(
        Resource("networking.k8s.io", "v1", "ingresses", "Ingress"),
        rules=ingress_errors,
        has_status=True,
        initial_status={"loadBalancer": {}},
        has_generation=True,
    ),
    Kind(Resource("", "v1", "nodes", "Node", namespaced=False), has_status=True),
    Kind(Resource("", "v1", "endpoints", "Endpoints"), fields={"subsets": anything}),
    Kind(
        Resource("", "v1", "serviceaccounts", "ServiceAccount"),
        fields={"secrets": anything, "imagePullSecrets": anything, "automountServiceAccountToken": flag},
        answers_deleted_object=True,
    ),
    Kind(
        Resource("", "v1", "pods", "Pod"),
        has_status=True,
        initial_status={"phase": "Pending"},
        has_generation=True,
        answers_deleted_object=True,
    ),
)

__all__ = ["DEFAULT_RESOURCES", "Kind"]
