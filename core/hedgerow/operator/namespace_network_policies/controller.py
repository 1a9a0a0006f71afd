"""The Namespace NetworkPolicy controller, declared.

Source: network-and-nodes §3.2.
"""

from typing import Final

from hedgerow.api.gardener import CLUSTERS
from hedgerow.api.kubernetes import ENDPOINTS, NAMESPACES, NETWORK_POLICIES, namespace_key
from hedgerow.api.network_policies import kept_of_policy
from hedgerow.machinery.controller import Controller, Watch, own_key
from hedgerow.machinery.field_selectors import field_query
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.permissions import Permission
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.operator.namespace_network_policies.changes import (
    cluster_changed,
    kept_of_cluster,
    kept_of_endpoints,
    kept_of_namespace,
    namespace_of_policy,
    still_exists,
)
from hedgerow.operator.namespace_network_policies.config import NamespacePolicyConfig
from hedgerow.operator.namespace_network_policies.names import API_SERVER
from hedgerow.operator.namespace_network_policies.reconcile import OWN_POLICIES, reconcile
from hedgerow.operator.namespace_network_policies.selection import relevant_namespaces
from hedgerow.operator.namespace_network_policies.views import NamespaceView

NAME: Final = "networkpolicy"
DEFAULT_CONCURRENCY: Final = 5
_API_SERVER_ALONE: Final = field_query({"metadata.namespace": API_SERVER.namespace, "metadata.name": API_SERVER.name})


def namespace_network_policy_controller(
    config: NamespacePolicyConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[NamespacePolicyConfig]:
    """The controller for a configuration.

    While it runs it may be given another one with other networks, or another outcome of the resolver. The additional
    selectors stay: by them it knows which namespaces a change of the API server's endpoints concerns.

    Args:
        config: the networks, further namespaces, and where the API server is.
        concurrency: how many namespaces are reconciled at once.
    """

    def relevant(_endpoints: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        views = map(NamespaceView.of, snapshot.list(NAMESPACES))
        return [namespace_key(name) for name in relevant_namespaces(views, config.additional_selectors)]

    return Controller(
        name=NAME,
        primary=NAMESPACES,
        watches=(
            Watch(NAMESPACES, kept_of_namespace, own_key, still_exists),
            Watch(ENDPOINTS, kept_of_endpoints, relevant, field_selector=_API_SERVER_ALONE),
            Watch(NETWORK_POLICIES, kept_of_policy, namespace_of_policy),
            Watch(CLUSTERS, kept_of_cluster, own_key, cluster_changed, may_be_absent=True),
        ),
        indexes=(OWN_POLICIES,),
        owned=OWN_POLICIES,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(Permission(NETWORK_POLICIES.group, NETWORK_POLICIES.plural, ("create", "patch", "delete")),),
    )
