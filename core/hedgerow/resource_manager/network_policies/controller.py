"""The Service NetworkPolicy controller, declared.

Source: network-and-nodes §2.2.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from hedgerow.api.kubernetes import INGRESSES, NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow.api.network_policies import NAMESPACE_SELECTORS, kept_of_policy
from hedgerow.machinery.controller import Controller, Watch, creation_deletion_or, every_change, own_key
from hedgerow.machinery.deletion_guard import kept_of_allowance
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, key_of
from hedgerow.machinery.permissions import Permission
from hedgerow.machinery.selectors import matches_any
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.network_policies.changes import (
    ingress_changed,
    kept_of_ingress,
    kept_of_namespace,
    kept_of_service,
    service_changed,
    service_of_policy,
)
from hedgerow.resource_manager.network_policies.config import NetworkPolicyConfig
from hedgerow.resource_manager.network_policies.ingresses import services_of_ingress
from hedgerow.resource_manager.network_policies.peers import parse_namespace_selectors
from hedgerow.resource_manager.network_policies.reconcile import POLICIES_BY_SERVICE, reconcile
from hedgerow.resource_manager.network_policies.views import NamespaceView

NAME: Final = "networkpolicy"
DEFAULT_CONCURRENCY: Final = 5


def network_policy_controller(
    config: NetworkPolicyConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[NetworkPolicyConfig]:
    """The controller for a configuration; without an ingress controller it does not watch Ingresses.

    Args:
        config: whose Services are handled, and where the ingress controller runs.
        concurrency: how many Services are reconciled at once.
    """
    watches: tuple[Watch, ...] = (
        Watch(SERVICES, kept_of_service, own_key, predicate=creation_deletion_or(service_changed)),
        Watch(NETWORK_POLICIES, kept_of_policy, _owner, predicate=every_change),
        Watch(NAMESPACES, kept_of_namespace, partial(_concerned_services, config=config), metadata_only=True),
    )
    if config.ingress_controller:
        ingresses = Watch(INGRESSES, kept_of_ingress, _backends, predicate=creation_deletion_or(ingress_changed))
        watches = (*watches, ingresses)
    return Controller(
        name=NAME,
        primary=SERVICES,
        watches=watches,
        indexes=(POLICIES_BY_SERVICE, _SELECTING),
        owned=POLICIES_BY_SERVICE,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(Permission.of(NETWORK_POLICIES, "create", "patch", "delete"),),
    )


def _owner(policy: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    return service_of_policy(policy)


def _selects_namespaces(service: Manifest) -> tuple[bool, ...]:
    return (True,) if NAMESPACE_SELECTORS in annotations_of(service) else ()


_SELECTING: Final = Index("services that select namespaces", SERVICES, _selects_namespaces)


def _concerned_services(namespace: Manifest, snapshot: Snapshot, config: NetworkPolicyConfig) -> Iterator[ObjectKey]:
    """The Services whose policies depend on a Namespace: its own, and those that select it.

    The ingress controller's Namespace concerns every Service. Where a Namespace allows held deletions, so are Services
    of it concerned that are gone and have left policies.
    """
    view = NamespaceView.of(namespace)
    controller = config.ingress_controller
    is_everybodys = controller is not None and controller.namespace == view.name
    for service in snapshot.list(SERVICES, namespace=None if is_everybodys else view.name):
        yield key_of(service)
    for service in snapshot.by_index(_SELECTING, True):  # noqa: FBT003 -- a value of the index
        selectors = parse_namespace_selectors(annotations_of(service)[NAMESPACE_SELECTORS]).value_or(())
        if matches_any(selectors, view.labels):
            yield key_of(service)
    if kept_of_allowance(namespace):
        owners = {owner for policy in snapshot.list(NETWORK_POLICIES) for owner in service_of_policy(policy)}
        yield from (owner for owner in owners if owner.namespace == view.name)


def _backends(ingress: Manifest, _snapshot: Snapshot) -> frozenset[ObjectKey]:
    return services_of_ingress(ingress)
