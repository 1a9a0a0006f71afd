"""All objects of an installation, and which objects it needs to run: these, and those that the cluster makes of them.

Source: managed-resources §4, §19; webhooks-and-tokens §4, §4.4; Kubernetes documentation, "Deployments",
"EndpointSlices", "Leases".
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from returns.result import Failure, Result, Success

from hedgerow.admission.blocking import OF_ANY_CLUSTER, NeededObject, blocking_webhooks, pods_of
from hedgerow.admission.registration import MUTATING, VALIDATING, build_webhook_configurations, registered_webhooks
from hedgerow.api.definition import build_definition
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
    RBAC,
    REPLICA_SETS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
)
from hedgerow.api.resources_v1alpha1 import MANAGED_RESOURCE
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.reading import object_at, objects_at
from hedgerow.resource_manager.installation.installation import Installation
from hedgerow.resource_manager.installation.permissions import Holder, concerns_anything, role_with, roles
from hedgerow.resource_manager.installation.workload import (
    config_map,
    deployment,
    pod_disruption_budget,
    service,
    service_account,
)

_RENDERED: Final = (
    *(CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS, SERVICES, SERVICE_ACCOUNTS, POD_DISRUPTION_BUDGETS),
    *(CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES),
)
"""The resources of an installation besides registrations."""
RENDERED: Final[Mapping[str, Resource]] = {resource.kind: resource for resource in _RENDERED}
_LOOPBACK: Final = ("127.", "localhost", "::1")


def needed_objects(manifests: Iterable[Manifest]) -> tuple[NeededObject, ...]:
    """All objects that an installation needs in one cluster.

    Args:
        manifests: all that is rendered for that cluster. No webhook blocks the registrations among them.
    """
    rendered = [manifest for manifest in manifests if manifest["kind"] not in (MUTATING, VALIDATING)]
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
    """The pods, and everything that they need to be ready; Leases may be in another namespace."""
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


def manifests(installation: Installation, config_text: str) -> Result[tuple[Manifest, ...], tuple[str, ...]]:
    """The objects of the requested parts, in an order in which to apply them; or why they cannot work."""
    part, separate = installation.values.part, installation.target_is_separate
    secret = installation.values.target.kubeconfig_secret
    with_one = "the component configuration has a targetClientConnection"
    without = "the component configuration has no targetClientConnection"
    address = "config.server.healthProbes.bindAddress"
    is_loopback = installation.configuration.server.health_probes.bind_address.startswith(_LOOPBACK)
    refusals = (
        (separate and not secret, f"target.kubeconfigSecret must name a Secret, as {with_one}"),
        (not separate and secret, f"target.kubeconfigSecret leads nowhere, as {without}"),
        (not separate and part == "target", f"{without}, so that there is no separate target cluster"),
        (is_loopback, f"{address} must not be a loopback address, as kubelets ask pods at their own addresses"),
    )
    if problem := next((text for applies, text in refusals if applies), ""):
        return Failure((problem,))
    source = tuple(_in_source(installation, config_text)) if part != "target" else ()
    target = tuple(_in_target(installation)) if separate and part != "source" else ()
    config = installation.configuration.admission
    webhooks = registered_webhooks(installation.mode, installation.name, installation.namespace, config)
    calling = target if separate else source
    if calling and (blocking := blocking_webhooks(webhooks, needed_objects(calling))):
        return Failure(tuple(map(str, blocking)))
    return Success((*source, *target))


def _in_source(installation: Installation, config_text: str) -> Iterator[Manifest]:
    """The process, and its permissions in its own cluster."""
    yield build_definition(MANAGED_RESOURCE)
    yield service_account(installation)
    yield config_map(installation, config_text)
    account = {"kind": "ServiceAccount", "name": installation.name, "namespace": installation.namespace}
    namespaces = installation.configuration.source.namespaces
    clusters = (Cluster.SOURCE,) if installation.target_is_separate else Cluster
    yield from _grants(installation, account, namespaces, *clusters)
    yield service(installation)
    yield deployment(installation)
    yield pod_disruption_budget(installation)
    if not installation.target_is_separate:
        yield from _webhooks(installation)


def _in_target(installation: Installation) -> Iterator[Manifest]:
    """The permissions of the process in a separate target cluster, and the webhooks there."""
    subject = installation.values.target.subject
    namespaces = installation.configuration.looked_after.namespaces
    holder = {"kind": subject.kind, "name": subject.name}
    if subject.kind == "ServiceAccount":
        holder["namespace"] = subject.namespace
        metadata = {"name": subject.name, "namespace": subject.namespace, "labels": installation.labels}
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
        yield {**account, "automountServiceAccountToken": False}
    else:
        holder["apiGroup"] = RBAC
    yield from _grants(installation, holder, namespaces, Cluster.TARGET)
    yield from _webhooks(installation)


def _grants(
    installation: Installation, subject: dict[str, str], namespaces: tuple[str, ...], *clusters: Cluster
) -> Iterator[Manifest]:
    """The roles in one cluster; in the target, those to deliver ManagedResources as well."""

    def holder(namespaces: tuple[str, ...], *infix: str) -> Holder:
        name = ":".join((installation.name, *infix, installation.namespace))
        return Holder(name, subject, installation.labels, namespaces)

    permissions = installation.permissions_in(*clusters)
    infix = () if Cluster.SOURCE in clusters else ("target",)
    yield from roles(holder(namespaces, *infix), (each for each in permissions if not concerns_anything(each)))
    if Cluster.TARGET in clusters:
        # Only a ClusterRoleBinding reaches cluster-scoped objects.
        allowed = installation.values.managed_objects
        yield from role_with(holder(() if allowed.cluster_wide else namespaces, "managed-objects"), allowed.rules)


def _webhooks(installation: Installation) -> Iterator[Manifest]:
    yield from build_webhook_configurations(
        installation.mode,
        installation.values.name_prefix,
        installation.namespace,
        installation.values.webhooks.ca_bundle.encode(),
        installation.configuration.admission,
    )
