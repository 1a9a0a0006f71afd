"""Which objects an installation needs in a cluster to run: its manifests, and what the cluster makes of them.

Source: Kubernetes documentation, "Deployments", "EndpointSlices", "Leases".
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from hedgerow.admission.dispatch.parsing import is_registration
from hedgerow.admission.registration.blocking import LEASES, OF_ANY_CLUSTER, NeededObject, pods_of
from hedgerow.admission.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    NAMESPACES,
    SECRETS,
    SERVICE_ACCOUNTS,
)
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.reading import object_at, objects_at
from hedgerow.network_policies.names import METADATA_NAME
from hedgerow.resource_manager.health.events import EVENTS as CORE_EVENTS
from hedgerow.resource_manager.health.kinds import REPLICA_SETS
from hedgerow.resource_manager.installation.permissions import EVENTS
from hedgerow.resource_manager.installation.roles import GROUP as RBAC
from hedgerow.resource_manager.managed_resources.names import CONFIG_MAPS
from hedgerow.resource_manager.network_policies.annotations import SERVICES

RENDERED: Final[Mapping[str, Resource]] = {
    resource.kind: resource
    for resource in (
        CONFIG_MAPS,
        CUSTOM_RESOURCE_DEFINITIONS,
        DEPLOYMENTS,
        SERVICES,
        SERVICE_ACCOUNTS,
        Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget"),
        Resource(RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False),
        Resource(RBAC, "v1", "clusterroles", "ClusterRole", namespaced=False),
        Resource(RBAC, "v1", "rolebindings", "RoleBinding"),
        Resource(RBAC, "v1", "roles", "Role"),
    )
}
"""What an installation is rendered to beside registrations, by kind."""
SERVICE_NAME: Final = "kubernetes.io/service-name"
SLICE_MANAGER: Final = "endpointslice.kubernetes.io/managed-by"


def needed_objects(manifests: Iterable[Manifest]) -> tuple[NeededObject, ...]:
    """All objects that an installation needs in one cluster.

    Args:
        manifests: what is rendered for that cluster. Registrations among them are not needed: no webhook blocks them.
    """
    rendered = [each for each in manifests if not is_registration(each)]
    return (*OF_ANY_CLUSTER, *(needed for manifest in rendered for needed in _of(manifest)))


def _of(manifest: Manifest) -> Iterator[NeededObject]:
    resource, key, labels = RENDERED[manifest["kind"]], key_of(manifest), labels_of(manifest)
    yield NeededObject(resource, key, labels)
    if resource == DEPLOYMENTS:
        yield from _made_of_deployment(manifest)
    elif resource == SERVICES:
        of_slice = {**labels, SERVICE_NAME: key.name, SLICE_MANAGER: "endpointslice-controller.k8s.io"}
        yield NeededObject(ENDPOINT_SLICES, ObjectKey(key.namespace, ""), of_slice)


def _made_of_deployment(manifest: Manifest) -> Iterator[NeededObject]:
    """The pods and whatever they read or write to become and stay ready; Leases may be in another namespace."""
    namespace = key_of(manifest).namespace
    labels = labels_of(object_at(manifest, "spec", "template"))
    yield NeededObject(REPLICA_SETS, ObjectKey(namespace, ""), labels, has_other_labels=True)
    yield pods_of(namespace, labels)
    yield NeededObject(NAMESPACES, ObjectKey("", namespace), {METADATA_NAME: namespace}, has_other_labels=True)
    yield NeededObject(LEASES, ObjectKey("", ""))
    for events in (EVENTS, CORE_EVENTS):
        yield NeededObject(events, ObjectKey(namespace, ""))
    for name in _secrets(manifest):
        yield NeededObject(SECRETS, ObjectKey(namespace, name))


def _secrets(deployment: Manifest) -> Iterator[str]:
    """The names of the Secrets that pods mount."""
    for volume in objects_at(deployment, "spec", "template", "spec", "volumes"):
        if name := object_at(volume, "secret").get("secretName"):
            yield name
        for source in objects_at(volume, "projected", "sources"):
            if name := object_at(source, "secret").get("name"):
                yield name
