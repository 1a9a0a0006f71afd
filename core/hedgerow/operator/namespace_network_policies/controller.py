"""The Namespace NetworkPolicy controller, declared: which changes concern which namespaces, and which Garden counts.

Source: network-and-nodes §3.2, §3.3, §4.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from returns import result
from returns.result import Result, Success

from hedgerow.api.gardener import CLUSTERS, GARDENS
from hedgerow.api.kubernetes import ENDPOINTS, NAMESPACES, NETWORK_POLICIES, namespace_key
from hedgerow.api.network_policies import identifying_metadata, transform_policy
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.controller import Change, Controller, Watch, own_key
from hedgerow.machinery.deletion_guard import transform_allowance
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, labels_of
from hedgerow.machinery.reading import UnreadableError, list_at, text_at
from hedgerow.machinery.selectors import LabelSelector, field_query
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.operator.namespace_network_policies.policies import NAMES, relevant_namespaces
from hedgerow.operator.namespace_network_policies.reconcile import OWN_POLICIES, reconcile
from hedgerow.operator.namespace_network_policies.views import (
    API_SERVER,
    NamespacePolicyConfig,
    NamespaceView,
    RuntimeNetworks,
    ShootView,
)

_NOTHING: Mapping[str, Any] = {}
NAME: Final = "networkpolicy"
DEFAULT_CONCURRENCY: Final = 5
_API_SERVER_ALONE: Final = field_query({"metadata.namespace": API_SERVER.namespace, "metadata.name": API_SERVER.name})
_NETWORKING = ("spec", "runtimeCluster", "networking")


def still_exists(change: Change) -> bool:
    """Whether an object was created or changed: with a Namespace that is gone everything in it is."""
    return change.new is not None


def cluster_changed(change: Change) -> bool:
    """Whether a Cluster was updated so that networks of its shoot are different."""
    return change.old is not None and change.new is not None and cluster_networks_changed(change.old, change.new)


def cluster_networks_changed(old: Manifest, new: Manifest) -> bool:
    """Whether an update of a Cluster changes the networks that matter of its shoot.

    Pods and nodes matter only where there are workers. Shoots that cannot be read, and one that says nothing about its
    networks any more, change nothing.
    """
    before, after = ShootView.of(old), ShootView.of(new)
    if before is None or after is None or after.networking is None:
        return False
    if after.has_workers:
        return before.networks != after.networks
    return before.networking is None or before.networking.services != after.networking.services


def namespace_of_policy(policy: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    """The namespace in which a policy of one of the seven names is."""
    key = key_of(policy)
    return (namespace_key(key.namespace),) if key.name in NAMES else ()


def transform_namespace(namespace: Manifest) -> Manifest:
    """What the rules read of a Namespace: identity, all labels, the phase, and what the deletion guard reads."""
    phase = (namespace.get("status") or _NOTHING).get("phase")
    metadata = {**identifying_metadata(namespace), "labels": labels_of(namespace)}
    if allowance := transform_allowance(namespace):
        metadata["annotations"] = allowance
    return {"metadata": metadata, "status": {"phase": phase}}


def transform_endpoints(endpoints: Manifest) -> Manifest:
    """What the rules read of Endpoints: identity and subsets."""
    return {"metadata": identifying_metadata(endpoints), "subsets": endpoints.get("subsets")}


def transform_cluster(cluster: Manifest) -> Manifest:
    """What the rules read of a Cluster: identity, the networks of its shoot, and whether that has workers."""
    shoot = ShootView.of(cluster)
    return {"metadata": identifying_metadata(cluster), "spec": {"shoot": shoot.manifest()} if shoot else {}}


def namespace_network_policy_controller(
    config: NamespacePolicyConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[NamespacePolicyConfig]:
    """The controller for a configuration.

    While it runs it may be given another one with other networks, or another outcome of the resolver. The additional
    selectors stay: by them it knows which namespaces a change of the API server's endpoints concerns.
    """

    def relevant(_endpoints: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        views = map(NamespaceView.of, snapshot.list(NAMESPACES))
        return [namespace_key(name) for name in relevant_namespaces(views, config.additional_selectors)]

    return Controller(
        name=NAME,
        primary=NAMESPACES,
        watches=(
            Watch(NAMESPACES, transform_namespace, own_key, still_exists),
            Watch(ENDPOINTS, transform_endpoints, relevant, field_selector=_API_SERVER_ALONE),
            Watch(NETWORK_POLICIES, transform_policy, namespace_of_policy),
            Watch(CLUSTERS, transform_cluster, own_key, cluster_changed, may_be_absent=True),
        ),
        indexes=(OWN_POLICIES,),
        owned=OWN_POLICIES,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(Permission(NETWORK_POLICIES.group, NETWORK_POLICIES.plural, ("create", "patch", "delete")),),
    )


@dataclass(frozen=True, slots=True)
class NamespacePolicySettings:
    """What the component configuration says about the controller."""

    concurrent_syncs: int = DEFAULT_CONCURRENCY
    additional_namespace_selectors: tuple[LabelSelector, ...] = ()


def register(
    *, already: bool, garden: Manifest | None, settings: NamespacePolicySettings
) -> Result[NamespacePolicyConfig | None, Failure]:
    """The configuration to start the controller with; none if there is nothing to start, or what keeps it from that.

    Args:
        already: whether it was started in this process.
        garden: the Garden of which was heard; none if it is gone again. One that is being deleted still counts.
        settings: what the component configuration says.
    """
    if already or garden is None:
        return Success(None)
    return runtime_networks(garden).map(
        lambda networks: NamespacePolicyConfig(networks, settings.additional_namespace_selectors)
    )


def runtime_networks(garden: Manifest) -> Result[RuntimeNetworks, Failure]:
    """The networks of its runtime cluster that a Garden names; or which of them is missing."""
    try:
        pods, services, nodes = (text_at(garden, *_NETWORKING, name) for name in ("pods", "services", "nodes"))
        blocked = list_at(garden, *_NETWORKING, "blockCIDRs")
    except UnreadableError as error:
        return result.Failure(Failure(GARDENS, key_of(garden), error.problem))
    for name, text in (("pods", pods), ("services", services)):
        if not text:
            return result.Failure(
                Failure(GARDENS, key_of(garden), Problem(".".join((*_NETWORKING, name)), "is missing"))
            )
    return Success(RuntimeNetworks(pods or "", services or "", nodes or None, tuple(map(str, blocked))))
