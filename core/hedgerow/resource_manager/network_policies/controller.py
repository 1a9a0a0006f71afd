"""The Service NetworkPolicy controller, declared.

Source: network-and-nodes §2.2.
"""

from typing import Final

from hedgerow.machinery.controller import Controller, Watch, creation_deletion_or, every_change
from hedgerow.machinery.deletion_guard import kept_of_allowance
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.permissions import Permission
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.network_policies.kept import kept_of_policy
from hedgerow.resource_manager.network_policies.annotations import INGRESSES, NAMESPACES, NETWORK_POLICIES, SERVICES
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
from hedgerow.resource_manager.network_policies.reconcile import POLICIES_BY_SERVICE, reconcile

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
        Watch(SERVICES, kept_of_service, _own_key, predicate=creation_deletion_or(service_changed)),
        Watch(NETWORK_POLICIES, kept_of_policy, _owner, predicate=every_change),
        Watch(NAMESPACES, kept_of_namespace, _every_service, metadata_only=True),
    )
    if config.ingress_controller:
        ingresses = Watch(INGRESSES, kept_of_ingress, _backends, predicate=creation_deletion_or(ingress_changed))
        watches = (*watches, ingresses)
    return Controller(
        name=NAME,
        primary=SERVICES,
        watches=watches,
        indexes=(POLICIES_BY_SERVICE,),
        owned=POLICIES_BY_SERVICE,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(Permission.of(NETWORK_POLICIES, "create", "patch", "delete"),),
    )


def _own_key(service: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    return (key_of(service),)


def _owner(policy: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    return service_of_policy(policy)


def _every_service(namespace: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
    """Any label of any Namespace may be selected by, so every Service is looked at.

    Where the Namespace allows held deletions, so are Services of it that are gone and have left policies.
    """
    services = [key_of(service) for service in snapshot.list(SERVICES)]
    if not kept_of_allowance(namespace):
        return services
    name = key_of(namespace).name
    owners = {owner for policy in snapshot.list(NETWORK_POLICIES) for owner in service_of_policy(policy)}
    return [*services, *(owner for owner in owners if owner.namespace == name)]


def _backends(ingress: Manifest, _snapshot: Snapshot) -> frozenset[ObjectKey]:
    return services_of_ingress(ingress)
