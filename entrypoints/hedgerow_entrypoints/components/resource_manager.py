"""The resource manager: its controllers, its webhooks, and what its process is told (managed-resources §4.2)."""
# ruff: noqa: PLC0415 -- a factory imports what it builds, as `registry` says

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from hedgerow.admission import Webhook
from hedgerow.admission.config import AdmissionConfig
from hedgerow.api.managed_resources import ClassFilter
from hedgerow.machinery.controller import Controller
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration
from hedgerow.resource_manager.configuration.controllers import unlimited_token_requestor
from hedgerow_entrypoints.components.redaction import secret_redaction
from hedgerow_entrypoints.components.registry import Component, ControllerEntry, Remarks, Reviews
from hedgerow_entrypoints.process.settings import ProcessSettings

if TYPE_CHECKING:
    from hedgerow.resource_manager.installation import ResourceManagerInstallation


def _garbage_collector(settings: ResourceManagerConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.resource_manager.garbage_collection.controller import GarbageCollectorConfig, garbage_collector

    config = GarbageCollectorConfig(
        namespaces=settings.looked_after.namespaces,
        has_managed_resources=settings.target is None,
        **_set(sync_period=settings.controllers.garbage_collector.sync_period),
    )
    return garbage_collector(config)


def _health(settings: ResourceManagerConfiguration, cluster_id: str, *, progressing: bool = False) -> Controller[Any]:
    from hedgerow.resource_manager.health.controller import HealthConfig, health_controller, progressing_controller

    section = settings.controllers.health
    config = HealthConfig(ClassFilter(settings.controllers.resource_class), cluster_id, section.sync_period)
    return (progressing_controller if progressing else health_controller)(config, section.concurrent_syncs)


def _kubelet_csr_approver(settings: ResourceManagerConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.resource_manager.kubelet_certificates import KubeletCertificateConfig, kubelet_csr_approver
    from hedgerow_adapters.certificate_requests import decoded_request

    section, namespaces = settings.controllers.kubelet_csr_approver, settings.source.namespaces
    config = KubeletCertificateConfig(decoded_request, section.machine_namespace, namespaces, section.networks)
    return kubelet_csr_approver(config, **_set(concurrency=section.concurrent_syncs))


def _managed_resource(settings: ResourceManagerConfiguration, cluster_id: str) -> Controller[Any]:
    from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
    from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
    from hedgerow_adapters.compression import brotli_decompressed

    section = settings.controllers.managed_resource
    config = ManagedResourceConfig(
        class_filter=ClassFilter(settings.controllers.resource_class),
        cluster_id=cluster_id,
        managed_by=section.managed_by_label_value,
        sync_period=section.sync_period.total_seconds(),
        always_update=section.always_update,
        garbage_collection=settings.controllers.garbage_collector.enabled,
        decompress=brotli_decompressed,
    )
    return managed_resource_controller(config, section.concurrent_syncs)


def _managed_resource_remarks() -> Remarks:
    from hedgerow_entrypoints.components.managed_resource_remarks import MANAGED_RESOURCE_REMARKS

    return MANAGED_RESOURCE_REMARKS


def _network_policy(settings: ResourceManagerConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.resource_manager.network_policies.controller import network_policy_controller

    section = settings.controllers.network_policy
    return network_policy_controller(section.rules, **_set(concurrency=section.concurrent_syncs))


def _node(settings: ResourceManagerConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.resource_manager.nodes import NodeConfig, node_controller

    section = settings.controllers.node
    config = NodeConfig(namespaces=settings.looked_after.namespaces, **_set(backoff=section.backoff))
    return node_controller(config, **_set(concurrency=section.concurrent_syncs))


def _secret(settings: ResourceManagerConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.resource_manager.managed_resources.secret_finalizers import secret_controller

    return secret_controller(
        ClassFilter(settings.controllers.resource_class), settings.controllers.secret.concurrent_syncs
    )


def _token_invalidator(settings: ResourceManagerConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.resource_manager.token_invalidation import token_invalidator

    return token_invalidator(**_set(concurrency=settings.controllers.token_invalidator.workers))


def _token_requestor(settings: ResourceManagerConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.resource_manager.token_requests import TokenRequestorConfig, token_requestor

    section = settings.controllers.token_requestor
    config = TokenRequestorConfig(
        section.class_name, section.each_audience, section.target_namespace, section.source_namespaces
    )
    return token_requestor(config, **_set(concurrency=section.concurrent_syncs))


def _set(**values: Any) -> dict[str, Any]:
    """The values that are set; a controller that is not enabled has its own default for the others."""
    return {name: value for name, value in values.items() if value is not None}


def _settings(configuration: ResourceManagerConfiguration) -> ProcessSettings:
    requestor, namespaces = configuration.controllers.token_requestor, configuration.source.namespaces
    return ProcessSettings(
        source=configuration.source,
        target=configuration.target,
        server=configuration.server,
        leader_election=configuration.leader_election,
        log_level=configuration.log_level,
        log_format=configuration.log_format,
        cluster_id=configuration.controllers.cluster_id,
        problem_of_one_cluster=unlimited_token_requestor(requestor, namespaces),
    )


def _webhooks(configuration: ResourceManagerConfiguration) -> Sequence[Webhook]:
    if configuration.admission == AdmissionConfig():
        return ()
    # Slow to import, and many processes serve none.
    from hedgerow.admission.catalog import webhooks

    return webhooks(configuration.admission)


def _reviews() -> Reviews:
    from hedgerow_entrypoints.components.resource_manager_reviews import REVIEWS

    return REVIEWS


def _installation() -> "type[ResourceManagerInstallation]":
    from hedgerow.resource_manager.installation import ResourceManagerInstallation

    return ResourceManagerInstallation


COMPONENT: Final = Component(
    name="resource-manager",
    document=ResourceManagerConfiguration,
    without_file=lambda _ask: ResourceManagerConfiguration(),
    settings=_settings,
    controllers=(
        ControllerEntry(
            "kubelet-csr-approver", _kubelet_csr_approver, "kubeletCSRApprover", namespaces=("machineNamespace",)
        ),
        ControllerEntry("garbage-collector", _garbage_collector, "garbageCollector"),
        ControllerEntry("health", _health, "health"),
        ControllerEntry("health-progressing", partial(_health, progressing=True), "health"),
        ControllerEntry(
            "managedresource",
            _managed_resource,
            "managedResource",
            aliases=("managed-resource",),
            remarks=_managed_resource_remarks,
        ),
        ControllerEntry("networkpolicy", _network_policy, "networkPolicy", aliases=("network-policy",)),
        ControllerEntry("secret", _secret, "secret"),
        ControllerEntry("token-invalidator", _token_invalidator, "tokenInvalidator"),
        ControllerEntry("token-requestor", _token_requestor, "tokenRequestor", namespaces=("targetNamespace",)),
        ControllerEntry("node", _node, "node"),
    ),
    webhooks=_webhooks,
    reviews=_reviews,
    installation=_installation,
    redaction=secret_redaction,
)
