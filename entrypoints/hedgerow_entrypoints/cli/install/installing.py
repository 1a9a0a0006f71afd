"""An installation out of its values: which controllers and webhooks there are, and so which permissions."""

from collections.abc import Mapping
from typing import Any

from returns.result import Failure, Result, Success

from hedgerow.admission.registration import Mode, registered_webhooks
from hedgerow.api.origins import asks_for_identity
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration, decode
from hedgerow.resource_manager.installation.installation import Installation, completed
from hedgerow.resource_manager.installation.permissions import (
    election_permissions,
    identity_permissions,
    permissions_of,
    same_cluster_permissions,
)
from hedgerow.resource_manager.installation.values import Values
from hedgerow.version import __version__
from hedgerow_entrypoints.components.resource_manager import COMPONENT


def installation(values: Values, namespace: str) -> Result[Installation, tuple[str, ...]]:
    """What the objects of an installation depend on; or everything that is wrong with its component configuration."""
    document = completed(values.config, namespace)
    decoded = decode(document)
    if isinstance(decoded, Failure):
        return Failure(tuple(f"config: {error}" for error in decoded.failure().errors))
    configuration = decoded.unwrap().configuration
    if impossible := tuple(f"config: {error}" for error in configuration.server.impossible_ports()):
        return Failure(impossible)
    permissions = permissions_of_process(configuration)
    return Success(Installation(values, namespace, __version__, document, configuration, permissions))


def warnings(values: Values, namespace: str) -> tuple[str, ...]:
    """What the author of the values should know of their component configuration, valid or not."""
    decoded = decode(completed(values.config, namespace))
    found = decoded.failure().warnings if isinstance(decoded, Failure) else decoded.unwrap().warnings
    return tuple(f"config: {warning}" for warning in found)


def permissions_of_process(configuration: ResourceManagerConfiguration) -> tuple[Permission, ...]:
    """All that a process with a configuration has to be allowed."""
    # The id of a cluster is found out when the process starts; nothing that is read or written depends on it.
    controllers = COMPONENT.declared(configuration, cluster_id="")
    mode = Mode.RUNTIME if configuration.target is None else Mode.TARGET
    called = {each.path for each in registered_webhooks(mode, "", "", configuration.admission)}
    election = configuration.leader_election
    lease = ObjectKey(election.resource_namespace, election.resource_name)
    return (
        *same_cluster_permissions(),
        *permissions_of(controllers, COMPONENT.webhooks(configuration), called),
        *(election_permissions(lease) if election.leader_elect else ()),
        *(identity_permissions() if asks_for_identity(configuration.controllers.cluster_id) else ()),
    )


def configuration_of(document: Mapping[str, Any]) -> ResourceManagerConfiguration:
    """The configuration that a document states which is known to be valid."""
    return decode(document).unwrap().configuration
