"""All objects of an installation, and which objects it needs to run: these, and those that the cluster makes of them.

Source: managed-resources §4, §19; webhooks-and-tokens §4, §4.4; Kubernetes documentation, "Deployments",
"EndpointSlices", "Leases".
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final

from returns.result import Failure, Result, Success

from hedgerow.admission.blocking import OF_ANY_CLUSTER, OF_OWN_CLUSTER, NeededObject, blocking_webhooks, pods_of
from hedgerow.admission.registration import MUTATING, VALIDATING
from hedgerow.api.definition import CustomResource, build_definition
from hedgerow.api.kubernetes import (
    CERTIFICATES,
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
    ISSUERS,
    METADATA_NAME,
    NAMESPACES,
    NETWORK_POLICIES,
    POD_DISRUPTION_BUDGETS,
    RBAC,
    REPLICA_SETS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
)
from hedgerow.installation.certificates import certificate_objects, certificate_problems
from hedgerow.installation.certificates import registrations as registration_objects
from hedgerow.installation.permissions import Holder, concerns_anything, role_with, roles
from hedgerow.installation.surrounding_objects import (
    POD_MONITORS,
    PROMETHEUS_RULES,
    SERVICE_MONITORS,
    VERTICAL_POD_AUTOSCALERS,
    surrounding_objects,
)
from hedgerow.installation.values import Target
from hedgerow.installation.workload import ROOT_CA, Installed, config_map, deployment, service, service_account
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.reading import object_at

_RENDERED: Final = (
    *(CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, DEPLOYMENTS, SERVICES, SERVICE_ACCOUNTS, POD_DISRUPTION_BUDGETS),
    *(CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES, NETWORK_POLICIES),
    *(POD_MONITORS, PROMETHEUS_RULES, SERVICE_MONITORS, VERTICAL_POD_AUTOSCALERS, CERTIFICATES, ISSUERS, SECRETS),
)
"""The resources of an installation besides registrations."""
RENDERED: Final[Mapping[str, Resource]] = {resource.kind: resource for resource in _RENDERED}


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
    """The pods, and everything that they need to be ready."""
    yield from OF_OWN_CLUSTER
    namespace = key_of(manifest).namespace
    labels = labels_of(object_at(manifest, "spec", "template"))
    yield NeededObject(REPLICA_SETS, ObjectKey(namespace, ""), labels, has_other_labels=True)
    yield pods_of(namespace, labels)
    yield NeededObject(NAMESPACES, ObjectKey("", namespace), {METADATA_NAME: namespace}, has_other_labels=True)
    for events in (EVENTS, CORE_EVENTS):
        yield NeededObject(events, ObjectKey(namespace, ""))
    # Those that pods mount, whose names values tell, and that of the certificates that the process makes itself.
    yield NeededObject(SECRETS, ObjectKey(namespace, ""))
    yield NeededObject(CONFIG_MAPS, ObjectKey(namespace, ROOT_CA))


def manifests(installation: Installed, config_text: str) -> Result[tuple[Manifest, ...], tuple[str, ...]]:
    """The objects of the requested part, in an order in which to apply them; or why they cannot work.

    That no webhook blocks the process is found out about the whole installation, whichever part is requested.
    """
    part, target = installation.part, installation.target
    if problem := next(chain(installation.problems, certificate_problems(installation)), ""):
        return Failure((problem,))
    process = tuple(_marked(installation, each) for each in _process(installation, config_text))
    access = tuple(_marked(installation, each) for each in _access(installation, target)) if target else ()
    registrations = tuple(_marked(installation, each) for each in registration_objects(installation))
    if blocking := blocking_webhooks(installation.registered, needed_objects(access if target else process)):
        return Failure(tuple(map(str, blocking)))
    return Success(
        (
            *(process if _has_process(installation) else ()),
            *(access if part in {"access", "target", "all"} else ()),
            *(registrations if part in {"registrations", "target" if target else "source", "all"} else ()),
        )
    )


def definitions(installation: Installed) -> tuple[Manifest, ...]:
    """The definitions of the component's own resources, for its own cluster, together with the process.

    They are no part of `manifests`: who deletes the objects of an installation keeps its definitions, as a deleted
    definition takes all objects of the kind along.
    """
    defined = installation.installed_definitions if _has_process(installation) else ()
    return tuple(_marked(installation, _definition(installation, each)) for each in defined)


def _has_process(installation: Installed) -> bool:
    return installation.part in {"process", "source", "all"}


def _marked(installation: Installed, manifest: Manifest) -> Manifest:
    """An object with the labels and annotations of all objects; its own count more."""
    metadata = manifest["metadata"]
    labels = {**installation.labels, **metadata.get("labels", {})}
    annotations = {**installation.values.common_annotations, **metadata.get("annotations", {})}
    further = {"annotations": annotations} if annotations else {}
    return {**manifest, "metadata": {**metadata, "labels": labels, **further}}


def _definition(installation: Installed, custom: CustomResource) -> Manifest:
    """A definition that stays when Helm removes the release, unless the values say otherwise."""
    definition = build_definition(custom)
    kept = {"annotations": {"helm.sh/resource-policy": "keep"}} if installation.keeps_definitions else {}
    return {**definition, "metadata": {**definition["metadata"], **kept}}


def _process(installation: Installed, config_text: str) -> Iterator[Manifest]:
    """The process, and its permissions in its own cluster."""
    yield service_account(installation)
    yield config_map(installation, config_text)
    account = {"kind": "ServiceAccount", "name": installation.name, "namespace": installation.namespace}
    clusters = (Cluster.SOURCE,) if installation.target else Cluster
    yield from _grants(installation, account, installation.source.namespaces, *clusters)
    yield service(installation)
    yield deployment(installation)
    yield from certificate_objects(installation)
    yield from surrounding_objects(installation)


def _access(installation: Installed, target: Target) -> Iterator[Manifest]:
    """The permissions of the process in a separate target cluster."""
    subject = target.subject
    holder = {"kind": subject.kind, "name": subject.name}
    if subject.kind == "ServiceAccount":
        holder["namespace"] = subject.namespace
        metadata = {"name": subject.name, "namespace": subject.namespace}
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
        yield {**account, "automountServiceAccountToken": False}
    else:
        holder["apiGroup"] = RBAC
    yield from _grants(installation, holder, installation.target_namespaces, Cluster.TARGET)


def _grants(
    installation: Installed, subject: dict[str, str], namespaces: tuple[str, ...], *clusters: Cluster
) -> Iterator[Manifest]:
    """The roles in one cluster; in the target, the one for managed objects as well."""

    def holder(namespaces: tuple[str, ...], *infix: str) -> Holder:
        name = ":".join((installation.name, *infix, installation.namespace))
        return Holder(name, subject, installation.labels, namespaces)

    permissions = installation.permissions_in(*clusters)
    infix = () if Cluster.SOURCE in clusters else ("target",)
    yield from roles(holder(namespaces, *infix), (each for each in permissions if not concerns_anything(each)))
    if Cluster.TARGET in clusters and (allowed := installation.managed_resources):
        # Only a ClusterRoleBinding reaches cluster-scoped objects.
        yield from role_with(holder(() if allowed.cluster_wide else namespaces, "managed-objects"), allowed.granted)
