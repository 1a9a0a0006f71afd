"""All objects of an installation, for the cluster of the process and for a separate target cluster.

Source: managed-resources §4, §19; webhooks-and-tokens §4, §4.4.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from returns.result import Failure, Result, Success

from hedgerow.admission.dispatch import parse_registrations
from hedgerow.admission.registration import build_webhook_configurations
from hedgerow.admission.registration.blocking import BlockingWebhook, blocking_webhooks
from hedgerow.api.definition import build_definition
from hedgerow.api.resources_v1alpha1 import MANAGED_RESOURCE
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.permissions import Permission
from hedgerow.resource_manager.installation.installation import Installation
from hedgerow.resource_manager.installation.needed_objects import needed_objects
from hedgerow.resource_manager.installation.permissions import concerns_anything
from hedgerow.resource_manager.installation.roles import Holder, role_with, roles
from hedgerow.resource_manager.installation.workload import (
    config_map,
    deployment,
    pod_disruption_budget,
    service,
    service_account,
)

NO_TARGET = "the component configuration has no targetClientConnection, so that there is no separate target cluster"
NO_KUBECONFIG = (
    "target.kubeconfigSecret must name a Secret, as the component configuration has a targetClientConnection"
)
NO_CONNECTION = "target.kubeconfigSecret leads nowhere, as the component configuration has no targetClientConnection"
NO_PROBES = (
    "config.server.healthProbes.bindAddress must not be a loopback address, as kubelets ask pods at their own addresses"
)
_LOOPBACK: Final = ("127.", "localhost", "::1")


def manifests(installation: Installation, config_text: str) -> Result[tuple[Manifest, ...], tuple[str, ...]]:
    """The objects of the parts that are asked for, in an order in which they can be applied; or why they cannot work.

    Args:
        installation: what they depend on.
        config_text: the component configuration as its file has it.
    """
    part, separate = installation.values.part, installation.target_is_separate
    if separate and not installation.values.target.kubeconfig_secret:
        return Failure((NO_KUBECONFIG,))
    if not separate and installation.values.target.kubeconfig_secret:
        return Failure((NO_CONNECTION,))
    if not separate and part == "target":
        return Failure((NO_TARGET,))
    if _is_loopback(installation.configuration.server.health_probes.bind_address):
        return Failure((NO_PROBES,))
    source = tuple(_in_source(installation, config_text)) if part != "target" else ()
    target = tuple(_in_target(installation)) if separate and part != "source" else ()
    if blocking := (*blocked_by_own_webhooks(source), *blocked_by_own_webhooks(target)):
        return Failure(tuple(map(str, blocking)))
    return Success((*source, *target))


def blocked_by_own_webhooks(objects: Sequence[Manifest]) -> tuple[BlockingWebhook, ...]:
    """The registrations among the objects for one cluster that could keep the process from running.

    Args:
        objects: all that an installation puts into the cluster.
    """
    return blocking_webhooks(parse_registrations(objects).unwrap(), needed_objects(objects))


def _is_loopback(address: str) -> bool:
    """Whether nobody outside of the pod can reach an address."""
    return address.startswith(_LOOPBACK)


def _in_source(installation: Installation, config_text: str) -> Iterator[Manifest]:
    """The process itself; where it looks after its own cluster, also what it needs for that."""
    yield build_definition(MANAGED_RESOURCE)
    yield service_account(installation)
    yield config_map(installation, config_text)
    account = {"kind": "ServiceAccount", "name": installation.name, "namespace": installation.namespace}
    namespaces = installation.configuration.source.namespaces
    if installation.target_is_separate:
        yield from roles(_holder(installation, account, namespaces), _named(installation, Cluster.SOURCE))
    else:
        yield from roles(_holder(installation, account, namespaces), _named(installation, *Cluster))
        yield from _managed_objects(installation, account, namespaces)
    yield service(installation)
    yield deployment(installation)
    yield pod_disruption_budget(installation)
    if not installation.target_is_separate:
        yield from _webhooks(installation)


def _in_target(installation: Installation) -> Iterator[Manifest]:
    """What a process elsewhere needs in the cluster that it looks after."""
    subject = installation.values.target.subject
    namespaces = installation.configuration.looked_after.namespaces
    holder = {"kind": subject.kind, "name": subject.name}
    if subject.kind == "ServiceAccount":
        holder["namespace"] = subject.namespace
        metadata = {"name": subject.name, "namespace": subject.namespace, "labels": installation.labels}
        yield {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": metadata,
            "automountServiceAccountToken": False,
        }
    else:
        holder["apiGroup"] = "rbac.authorization.k8s.io"
    yield from roles(_holder(installation, holder, namespaces, "target"), _named(installation, Cluster.TARGET))
    yield from _managed_objects(installation, holder, namespaces)
    yield from _webhooks(installation)


def _named(installation: Installation, *clusters: Cluster) -> Iterator[Permission]:
    """Permissions about resources that are known by name."""
    return (each for each in installation.permissions_in(*clusters) if not concerns_anything(each))


def _holder(installation: Installation, subject: dict[str, str], namespaces: tuple[str, ...], what: str = "") -> Holder:
    name = ":".join(filter(None, (installation.name, what, installation.namespace)))
    return Holder(name, subject, installation.labels, namespaces)


def _managed_objects(
    installation: Installation, subject: dict[str, str], namespaces: tuple[str, ...]
) -> Iterator[Manifest]:
    """What stands for the permissions to do anything, as far as the values go.

    Whatever namespaces are looked after: what is in none is delivered all the same, and only one binding reaches it.
    """
    if not any(concerns_anything(each) for each in installation.permissions):
        return
    allowed = installation.values.managed_objects
    places = () if allowed.cluster_wide else namespaces
    yield from role_with(_holder(installation, subject, places, "managed-objects"), allowed.rules)


def _webhooks(installation: Installation) -> Iterator[Manifest]:
    yield from build_webhook_configurations(
        installation.mode,
        installation.values.name_prefix,
        installation.namespace,
        installation.values.webhooks.ca_bundle.encode(),
        installation.configuration.admission,
    )
