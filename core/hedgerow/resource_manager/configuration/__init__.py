"""The configuration file of the resource manager: what it may say, what it leaves to defaults, what is wrong with it.

`decode` turns a parsed document into a `ResourceManagerConfiguration`, `manifest` back. One module per section holds
its fields, defaults and rules. Decisions take plain values from it, and know nothing of pydantic.

Source: managed-resources §3.
"""

from hedgerow.resource_manager.configuration.client_connection import ClientConnection
from hedgerow.resource_manager.configuration.configuration import (
    API_VERSION,
    KIND,
    Debugging,
    ResourceManagerConfiguration,
    manifest,
    with_kubeconfigs,
)
from hedgerow.resource_manager.configuration.decoding import (
    ConfigurationErrors,
    Decoded,
    Stage,
    decode,
    decode_offline,
)
from hedgerow.resource_manager.configuration.garbage_collector import GarbageCollectorSettings
from hedgerow.resource_manager.configuration.health import HealthSettings
from hedgerow.resource_manager.configuration.kubelet_csr_approver import KubeletCSRApproverSettings
from hedgerow.resource_manager.configuration.leader_election import LeaderElection
from hedgerow.resource_manager.configuration.managed_resource import ManagedResourceSettings
from hedgerow.resource_manager.configuration.network_policy import NetworkPolicySettings
from hedgerow.resource_manager.configuration.node import NodeSettings
from hedgerow.resource_manager.configuration.secret import SecretSettings
from hedgerow.resource_manager.configuration.server import PORTS, Endpoint, Server, WebhookEndpoint
from hedgerow.resource_manager.configuration.token_invalidator import TokenInvalidatorSettings
from hedgerow.resource_manager.configuration.token_requestor import TokenRequestorSettings

__all__ = [
    "API_VERSION",
    "KIND",
    "PORTS",
    "ClientConnection",
    "ConfigurationErrors",
    "Debugging",
    "Decoded",
    "Endpoint",
    "GarbageCollectorSettings",
    "HealthSettings",
    "KubeletCSRApproverSettings",
    "LeaderElection",
    "ManagedResourceSettings",
    "NetworkPolicySettings",
    "NodeSettings",
    "ResourceManagerConfiguration",
    "SecretSettings",
    "Server",
    "Stage",
    "TokenInvalidatorSettings",
    "TokenRequestorSettings",
    "WebhookEndpoint",
    "decode",
    "decode_offline",
    "manifest",
    "with_kubeconfigs",
]
