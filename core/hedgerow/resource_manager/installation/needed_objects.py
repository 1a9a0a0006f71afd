"""Which objects an installation needs in a cluster to run: its manifests, and what the cluster makes of them.

Source: Kubernetes documentation, "Deployments", "EndpointSlices", "Leases".
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from hedgerow.admission.dispatch.parsing import is_registration
from hedgerow.admission.registration.blocking import OF_ANY_CLUSTER, NeededObject, pods_of
from hedgerow.api.kubernetes import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    CORE_EVENTS,
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    ENDPOINT_SLICE_MANAGER,
    ENDPOINT_SLICE_SERVICE,
    ENDPOINT_SLICES,
    EVENTS,
    LEASES,
    METADATA_NAME,
    NAMESPACES,
    POD_DISRUPTION_BUDGETS,
    REPLICA_SETS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
)
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.reading import object_at, objects_at

RENDERED: Final[Mapping[str, Resource]] = {
    resource.kind: resource
    for resource in (
        CONFIG_MAPS,
        CUSTOM_RESOURCE_DEFINITIONS,
        DEPLOYMENTS,
        SERVICES,
        SERVICE_ACCOUNTS,
        POD_DISRUPTION_BUDGETS,
        CLUSTER_ROLE_BINDINGS,
        CLUSTER_ROLES,
        ROLE_BINDINGS,
        ROLES,
    )
}
"""What an installation is rendered to beside registrations, by kind."""


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
        kept_by = {ENDPOINT_SLICE_SERVICE: key.name, ENDPOINT_SLICE_MANAGER: "endpointslice-controller.k8s.io"}
        yield NeededObject(ENDPOINT_SLICES, ObjectKey(key.namespace, ""), {**labels, **kept_by})


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
