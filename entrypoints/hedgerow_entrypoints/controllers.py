"""The controllers that the offline commands know by name, and the configuration that they go by."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from returns.result import Failure

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.questions import Answer
from hedgerow.machinery.restriction import restricted
from hedgerow.resource_manager.health.config import HealthConfig
from hedgerow.resource_manager.health.controller import health_controller
from hedgerow.resource_manager.health.progress_controller import progressing_controller
from hedgerow.resource_manager.managed_resources.class_filter import ClassFilter
from hedgerow.resource_manager.managed_resources.config import ManagedResourceConfig
from hedgerow.resource_manager.managed_resources.controller import managed_resource_controller
from hedgerow.resource_manager.managed_resources.origin import asks_for_identity, cluster_id
from hedgerow.resource_manager.managed_resources.secret_controller import secret_controller
from hedgerow_adapters.compression import brotli_decompressed
from hedgerow_entrypoints import optional_controllers
from hedgerow_entrypoints.declaring import managed_resource_config
from hedgerow_entrypoints.errors import CommandError, note
from hedgerow_entrypoints.garden import NAMESPACE_NETWORK_POLICY, Gardens, namespace_network_policy

if TYPE_CHECKING:
    from hedgerow.resource_manager.configuration import ResourceManagerConfiguration

_Declared: TypeAlias = Callable[["ResourceManagerConfiguration | None", str], Controller[Any]]
"""A controller for a configuration, or for none, and the id of the source cluster."""


def _managed_resource(configuration: "ResourceManagerConfiguration | None", cluster_id: str) -> Controller[Any]:
    if configuration is None:
        return managed_resource_controller(ManagedResourceConfig(cluster_id=cluster_id, decompress=brotli_decompressed))
    return managed_resource_controller(managed_resource_config(configuration, cluster_id))


def _secret(configuration: "ResourceManagerConfiguration | None", _cluster_id: str) -> Controller[Any]:
    return secret_controller(_class_filter(configuration))


def _health(configuration: "ResourceManagerConfiguration | None", cluster_id: str) -> Controller[Any]:
    return health_controller(HealthConfig(_class_filter(configuration), cluster_id))


def _health_progressing(configuration: "ResourceManagerConfiguration | None", cluster_id: str) -> Controller[Any]:
    return progressing_controller(HealthConfig(_class_filter(configuration), cluster_id))


def _in_any_cluster(declare: Callable[["ResourceManagerConfiguration | None"], Controller[Any]]) -> _Declared:
    """A controller that goes by the configuration alone, whatever the id of the source cluster."""
    return lambda configuration, _cluster_id: declare(configuration)


def _class_filter(configuration: "ResourceManagerConfiguration | None") -> ClassFilter:
    return ClassFilter(configuration.resource_class) if configuration else ClassFilter()


CONTROLLERS: Final[dict[str, _Declared]] = {
    "network-policy": _in_any_cluster(optional_controllers.network_policy),
    "managed-resource": _managed_resource,
    "secret": _secret,
    "health": _health,
    "health-progressing": _health_progressing,
    "garbage-collector": _in_any_cluster(optional_controllers.garbage_collector),
    "token-requestor": _in_any_cluster(optional_controllers.token_requestor),
    "token-invalidator": _in_any_cluster(optional_controllers.token_invalidator),
    "node": _in_any_cluster(optional_controllers.node),
    "kubelet-csr-approver": _in_any_cluster(optional_controllers.kubelet_csr_approver),
}
NAMES: Final = (*CONTROLLERS, NAMESPACE_NETWORK_POLICY)
LISTED: Final = "\n".join(f"  {name}" for name in NAMES)
"""Their names, a line each, as helps show them."""


def offline_configuration(config_file: str | None) -> "ResourceManagerConfiguration | None":
    """What a component configuration file says, with a note of what is odd in it; none without a file.

    Raises:
        CommandError: it cannot be read, decoded or accepted.
    """
    if config_file is None:
        return None
    # Slow to import, and most plans do without a configuration.
    from hedgerow.resource_manager.configuration import decode_offline  # noqa: PLC0415
    from hedgerow_entrypoints.configuration import read_configuration  # noqa: PLC0415

    decoded = read_configuration(config_file, decode_offline)
    for warning in decoded.warnings:
        note(f"warning: {config_file}: {warning}")
    return decoded.configuration


def effective_cluster_id(configuration: "ResourceManagerConfiguration | None", identity: Callable[[], Answer]) -> str:
    """The id of the source cluster that origins carry.

    Args:
        configuration: may say it, or that it has to be found out.
        identity: finds out which ConfigMap tells it; asked only if it is needed.

    Raises:
        CommandError: it cannot be found out, and has to be.
    """
    if configuration is None or not asks_for_identity(configuration.cluster_id):
        return configuration.cluster_id if configuration else ""
    found = cluster_id(configuration.cluster_id, identity())
    if isinstance(found, Failure):
        raise CommandError(found.failure())
    return found.unwrap()


def chosen_controllers(
    names: Sequence[str],
    configuration: "ResourceManagerConfiguration | None",
    cluster_id: str = "",
    gardens: Gardens = tuple,
) -> list[Controller[Any]]:
    """The controllers of these names, each once, configured and restricted as a component configuration says.

    Args:
        names: as the command line has them.
        configuration: none: everything is at its default.
        cluster_id: the effective id of the source cluster.
        gardens: finds out which Gardens there are; asked only if a controller goes by one.

    Raises:
        CommandError: a controller cannot be configured out of what there is.
    """
    controllers = [
        namespace_network_policy(gardens)
        if name == NAMESPACE_NETWORK_POLICY
        else CONTROLLERS[name](configuration, cluster_id)
        for name in dict.fromkeys(names)
    ]
    if configuration is None:
        return controllers
    source, target = configuration.source.namespaces, configuration.looked_after.namespaces
    return [restricted(controller, source=source, target=target) for controller in controllers]


def namespaces_looked_after(configuration: "ResourceManagerConfiguration | None") -> Sequence[str]:
    """The namespaces that a component configuration lets controllers see; none: all."""
    return configuration.looked_after.namespaces if configuration else ()
