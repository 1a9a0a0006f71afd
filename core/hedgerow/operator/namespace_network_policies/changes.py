"""Which changes of Endpoints and Clusters concern namespaces, and what of objects is worth keeping.

Source: network-and-nodes §3.2.
"""

from collections.abc import Mapping
from typing import Any

from hedgerow.api.kubernetes import namespace_key
from hedgerow.api.network_policies import identity_of
from hedgerow.machinery.controller import Change
from hedgerow.machinery.deletion_guard import kept_of_allowance
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, labels_of
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.operator.namespace_network_policies.policies import NAMES
from hedgerow.operator.namespace_network_policies.views import ShootView

_NOTHING: Mapping[str, Any] = {}


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


def kept_of_namespace(namespace: Manifest) -> Manifest:
    """What the rules read of a Namespace: identity, all labels, the phase, and what the deletion guard reads."""
    phase = (namespace.get("status") or _NOTHING).get("phase")
    metadata = {**identity_of(namespace), "labels": labels_of(namespace)}
    if allowance := kept_of_allowance(namespace):
        metadata["annotations"] = allowance
    return {"metadata": metadata, "status": {"phase": phase}}


def kept_of_endpoints(endpoints: Manifest) -> Manifest:
    """What the rules read of Endpoints: identity and subsets."""
    return {"metadata": identity_of(endpoints), "subsets": endpoints.get("subsets")}


def kept_of_cluster(cluster: Manifest) -> Manifest:
    """What the rules read of a Cluster: identity, the networks of its shoot, and whether that has workers."""
    shoot = ShootView.of(cluster)
    return {"metadata": identity_of(cluster), "spec": {"shoot": shoot.manifest()} if shoot else {}}
