"""Everything that the resource manager's process is told, decoded, defaulted and valid.

Source: managed-resources §3.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from hedgerow.admission.config import AdmissionConfig
from hedgerow.resource_manager.configuration import (
    client_connection,
    garbage_collector,
    health,
    kubelet_csr_approver,
    leader_election,
    managed_resource,
    network_policy,
    node,
    secret,
    server,
    token_invalidator,
    token_requestor,
    webhooks,
)
from hedgerow.resource_manager.configuration.client_connection import ClientConnection
from hedgerow.resource_manager.configuration.garbage_collector import GarbageCollectorSettings
from hedgerow.resource_manager.configuration.health import HealthSettings
from hedgerow.resource_manager.configuration.kubelet_csr_approver import KubeletCSRApproverSettings
from hedgerow.resource_manager.configuration.leader_election import LeaderElection
from hedgerow.resource_manager.configuration.managed_resource import ManagedResourceSettings
from hedgerow.resource_manager.configuration.network_policy import NetworkPolicySettings
from hedgerow.resource_manager.configuration.node import NodeSettings
from hedgerow.resource_manager.configuration.secret import SecretSettings
from hedgerow.resource_manager.configuration.server import Server
from hedgerow.resource_manager.configuration.token_invalidator import TokenInvalidatorSettings
from hedgerow.resource_manager.configuration.token_requestor import TokenRequestorSettings

API_VERSION: Final = "resourcemanager.config.gardener.cloud/v1alpha1"
KIND: Final = "ResourceManagerConfiguration"
LOG_LEVELS: Final = ("debug", "info", "error")
LOG_FORMATS: Final = ("json", "text")


@dataclass(frozen=True, slots=True)
class Debugging:
    """Which profiles the process offers."""

    enable_profiling: bool
    enable_contention_profiling: bool


@dataclass(frozen=True, slots=True)
class ResourceManagerConfiguration:
    """The configuration of one process."""

    source: ClientConnection
    target: ClientConnection | None
    """The cluster that is looked after, where it is not the source itself."""
    leader_election: LeaderElection
    server: Server
    debugging: Debugging
    log_level: str
    """One of `LOG_LEVELS`."""
    log_format: str
    """One of `LOG_FORMATS`."""
    cluster_id: str
    """The id of the source cluster, or how to find it out; empty: it has none."""
    resource_class: str
    """The class of the ManagedResources that this process is responsible for."""
    garbage_collector: GarbageCollectorSettings
    health: HealthSettings
    kubelet_csr_approver: KubeletCSRApproverSettings
    managed_resource: ManagedResourceSettings
    network_policy: NetworkPolicySettings
    node: NodeSettings
    secret: SecretSettings
    token_invalidator: TokenInvalidatorSettings
    token_requestor: TokenRequestorSettings
    admission: AdmissionConfig
    """The webhooks that are served."""

    @property
    def looked_after(self) -> ClientConnection:
        """The connection to the cluster that is looked after."""
        return self.target or self.source


def with_kubeconfigs(
    configuration: ResourceManagerConfiguration, source: str, target: str
) -> ResourceManagerConfiguration:
    """The configuration with the kubeconfig files that the environment names.

    Args:
        configuration: what the file says.
        source: value of `KUBECONFIG`; empty: the file's stands.
        target: value of `TARGET_KUBECONFIG`; empty: the file's stands. Without a separate target it is ignored.

    Source: managed-resources §4.1.
    """
    if source:
        configuration = replace(configuration, source=replace(configuration.source, kubeconfig=source))
    if target and configuration.target is not None:
        configuration = replace(configuration, target=replace(configuration.target, kubeconfig=target))
    return configuration


def manifest(configuration: ResourceManagerConfiguration) -> dict[str, Any]:
    """The file that states a configuration in full, defaults included, as a plain document."""
    document = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "sourceClientConnection": client_connection.manifest(configuration.source),
        "leaderElection": leader_election.manifest(configuration.leader_election),
        "server": server.manifest(configuration.server),
        "debugging": {
            "enableProfiling": configuration.debugging.enable_profiling,
            "enableContentionProfiling": configuration.debugging.enable_contention_profiling,
        },
        "logLevel": configuration.log_level,
        "logFormat": configuration.log_format,
        "controllers": {
            "clusterID": configuration.cluster_id,
            "resourceClass": configuration.resource_class,
            "garbageCollector": garbage_collector.manifest(configuration.garbage_collector),
            "health": health.manifest(configuration.health),
            "kubeletCSRApprover": kubelet_csr_approver.manifest(configuration.kubelet_csr_approver),
            "managedResource": managed_resource.manifest(configuration.managed_resource),
            "networkPolicy": network_policy.manifest(configuration.network_policy),
            "node": node.manifest(configuration.node),
            "secret": secret.manifest(configuration.secret),
            "tokenInvalidator": token_invalidator.manifest(configuration.token_invalidator),
            "tokenRequestor": token_requestor.manifest(configuration.token_requestor),
        },
        "webhooks": webhooks.manifest(configuration.admission),
    }
    if configuration.target is not None:
        document["targetClientConnection"] = client_connection.manifest(configuration.target)
    return document
