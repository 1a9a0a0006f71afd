"""What controllers are told, out of a component configuration and what was found out at the start."""

from typing import TYPE_CHECKING

from hedgerow.resource_manager.health.config import HealthConfig
from hedgerow.resource_manager.managed_resources.class_filter import ClassFilter
from hedgerow.resource_manager.managed_resources.config import ManagedResourceConfig
from hedgerow_adapters.compression import brotli_decompressed

if TYPE_CHECKING:
    from hedgerow.resource_manager.configuration import ResourceManagerConfiguration


def class_filter(configuration: "ResourceManagerConfiguration") -> ClassFilter:
    """Whose ManagedResources the process is responsible for."""
    return ClassFilter(configuration.resource_class)


def managed_resource_config(configuration: "ResourceManagerConfiguration", cluster_id: str) -> ManagedResourceConfig:
    """How ManagedResources are applied that live in a cluster of this id, which may be empty."""
    settings = configuration.managed_resource
    return ManagedResourceConfig(
        class_filter=class_filter(configuration),
        cluster_id=cluster_id,
        managed_by=settings.managed_by_label_value,
        sync_period=settings.sync_period.total_seconds(),
        always_update=settings.always_update,
        garbage_collection=configuration.garbage_collector.enabled,
        decompress=brotli_decompressed,
    )


def health_config(configuration: "ResourceManagerConfiguration", cluster_id: str) -> HealthConfig:
    """How ManagedResources are judged that live in a cluster of this id, which may be empty."""
    return HealthConfig(class_filter(configuration), cluster_id, configuration.health.sync_period)
