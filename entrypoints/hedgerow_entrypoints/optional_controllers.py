"""Controllers that a process runs only if it is told to, declared out of a component configuration.

Each is imported where it is declared: a process pays start-up time and memory for what is switched on alone.
"""
# ruff: noqa: PLC0415 -- as above

from typing import TYPE_CHECKING, Any

from hedgerow.machinery.controller import Controller

if TYPE_CHECKING:
    from hedgerow.resource_manager.configuration import ResourceManagerConfiguration


def garbage_collector(configuration: "ResourceManagerConfiguration | None") -> Controller[Any]:
    """The garbage collector as a configuration has it, enabled or not; without one, as by default."""
    from hedgerow.resource_manager.garbage_collection.controller import GarbageCollectorConfig, garbage_collector

    if configuration is None:
        return garbage_collector(GarbageCollectorConfig())
    namespaces, period = configuration.looked_after.namespaces, configuration.garbage_collector.sync_period
    if period is None:
        return garbage_collector(GarbageCollectorConfig(namespaces=namespaces))
    return garbage_collector(GarbageCollectorConfig(period, namespaces))


def kubelet_csr_approver(configuration: "ResourceManagerConfiguration | None") -> Controller[Any]:
    """The approver of the certificates that kubelets serve with, likewise."""
    from hedgerow.resource_manager.kubelet_certificates import KubeletCertificateConfig, kubelet_csr_approver
    from hedgerow_adapters.certificate_requests import decoded_request

    if configuration is None:
        return kubelet_csr_approver(KubeletCertificateConfig(decoded_request))
    settings, namespaces = configuration.kubelet_csr_approver, configuration.source.namespaces
    config = KubeletCertificateConfig(decoded_request, settings.machine_namespace, namespaces)
    return kubelet_csr_approver(config, **_concurrency(settings.concurrent_syncs))


def network_policy(configuration: "ResourceManagerConfiguration | None") -> Controller[Any]:
    """The controller of the NetworkPolicies of Services, likewise."""
    from hedgerow.resource_manager.network_policies import NetworkPolicyConfig, network_policy_controller

    if configuration is None:
        return network_policy_controller(NetworkPolicyConfig())
    settings = configuration.network_policy
    return network_policy_controller(settings.rules, **_concurrency(settings.concurrent_syncs))


def node(configuration: "ResourceManagerConfiguration | None") -> Controller[Any]:
    """The controller of nodes, likewise."""
    from hedgerow.resource_manager.nodes import NodeConfig, node_controller

    if configuration is None:
        return node_controller()
    settings, namespaces = configuration.node, configuration.looked_after.namespaces
    config = NodeConfig(namespaces=namespaces)
    if settings.backoff is not None:
        config = NodeConfig(settings.backoff, namespaces)
    return node_controller(config, **_concurrency(settings.concurrent_syncs))


def token_invalidator(configuration: "ResourceManagerConfiguration | None") -> Controller[Any]:
    """The controller that has static tokens invalidated, likewise."""
    from hedgerow.resource_manager.token_invalidation import token_invalidator

    if configuration is None:
        return token_invalidator()
    return token_invalidator(**_concurrency(configuration.token_invalidator.concurrent_syncs))


def token_requestor(configuration: "ResourceManagerConfiguration | None") -> Controller[Any]:
    """The controller that keeps tokens fresh, likewise."""
    from hedgerow.resource_manager.token_requests import TokenRequestorConfig, token_requestor

    if configuration is None:
        return token_requestor()
    settings = configuration.token_requestor
    config = TokenRequestorConfig(settings.class_name, settings.audiences, settings.target_namespace)
    return token_requestor(config, **_concurrency(settings.concurrent_syncs))


def _concurrency(concurrent_syncs: int | None) -> dict[str, int]:
    """How many workers a controller is to have; whoever is not switched on has its own default."""
    return {} if concurrent_syncs is None else {"concurrency": concurrent_syncs}
