"""Whether a document is a configuration of the resource manager, and which: decode, default, validate.

All mistakes are found, not the first alone. Reading the file, its environment and what is done with the warnings are
others' concern.

Source: managed-resources §3.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from returns.result import Failure, Result, Success

from hedgerow.api.shape import ShapeError, json_type, read
from hedgerow.machinery.fields import FieldError, forbidden, joined, rendered, unsupported
from hedgerow.resource_manager.configuration.client_connection import ClientConnectionSection
from hedgerow.resource_manager.configuration.configuration import (
    API_VERSION,
    KIND,
    LOG_FORMATS,
    LOG_LEVELS,
    Debugging,
    ResourceManagerConfiguration,
)
from hedgerow.resource_manager.configuration.controllers import ControllersSection
from hedgerow.resource_manager.configuration.leader_election import LeaderElectionSection
from hedgerow.resource_manager.configuration.server import ServerSection
from hedgerow.resource_manager.configuration.shape import Purpose, Section, warnings
from hedgerow.resource_manager.configuration.webhooks import WebhooksSection

_HALF_AN_INVALIDATOR: Final = "controller and webhook for TokenInvalidator must either be both disabled or enabled"
_OUT_OF_SIGHT: Final = "not among the namespaces of sourceClientConnection, so that no request of a kubelet is decided"


class Stage(Enum):
    """How far a document came before it was refused."""

    DECODING = auto()
    """It is another document, or a field has a wrong type."""
    VALIDATION = auto()
    """A field has a value that breaks a rule."""


@dataclass(frozen=True, slots=True)
class ConfigurationErrors:
    """Why a document is no valid configuration; at least one error, all of one stage."""

    stage: Stage
    errors: tuple[ShapeError | FieldError, ...]
    warnings: tuple[str, ...] = ()
    """As those of a valid file: a misspelt field is often what makes it invalid. None from a file that has no shape."""

    def __str__(self) -> str:
        """One error as it is, several as `[first, second]`."""
        return joined(self.errors)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A configuration, and what its author should know of the file."""

    configuration: ResourceManagerConfiguration
    warnings: tuple[str, ...]
    """One clause each, which opens with the full path of the field."""


def decode(document: object) -> Result[Decoded, ConfigurationErrors]:
    """The configuration that a parsed document states for a process in a cluster, or everything wrong with it."""
    return _decode(document, Purpose.RUN)


def decode_offline(document: object) -> Result[Decoded, ConfigurationErrors]:
    """The configuration that a parsed document states for a command that runs named controllers outside a cluster.

    As `decode`, but `leaderElection` may be missing or unable to work: nobody competes. And because the command, not
    the file, says which controllers run, what some sections say must be right even where they are not enabled:
    `controllers.networkPolicy` of namespaces and the ingress controller, `controllers.node` of the time between two
    looks, `controllers.tokenRequestor` of the class and the namespace.
    """
    return _decode(document, Purpose.OFFLINE)


class DebuggingSection(Section):
    """`debugging` as written; no profiles are offered."""

    idle = ("enable_profiling", "enable_contention_profiling")
    enable_profiling: bool = False
    """Not acted on: no profiles are offered."""
    enable_contention_profiling: bool = False
    """Not acted on: no profiles are offered."""

    def settings(self) -> Debugging:
        """The section with its defaults."""
        return Debugging(self.enable_profiling, self.enable_contention_profiling)


class DocumentSection(Section):
    """The whole file as written. An empty log level or format is unset."""

    api_version: str
    """Always `resourcemanager.config.gardener.cloud/v1alpha1`."""
    kind: str
    """Always `ResourceManagerConfiguration`."""
    source_client_connection: ClientConnectionSection = ClientConnectionSection()
    """The cluster with the Lease and the ManagedResources, mostly the one that the process runs in."""
    target_client_connection: ClientConnectionSection | None = None
    """The cluster that is looked after. Left out, it is the source; an empty section is a connection of its own."""
    server: ServerSection = ServerSection()
    """Where the process listens."""
    leader_election: LeaderElectionSection = LeaderElectionSection()
    """Which Lease replicas compete for. Controllers work on the one that holds it, webhooks on all."""
    debugging: DebuggingSection = DebuggingSection()
    """Profiles."""
    log_level: str = ""
    """How much is logged. One of `debug`, `info`, `error`."""
    log_format: str = ""
    """How lines are logged. One of `json`, `text`."""
    controllers: ControllersSection = ControllersSection()
    """Which controllers run, and how."""
    webhooks: WebhooksSection = WebhooksSection()
    """Which webhooks are served, and what they go by."""

    def settings(self) -> ResourceManagerConfiguration:
        """The configuration with all defaults."""
        return ResourceManagerConfiguration(
            source=self.source_client_connection.settings(),
            target=self.target_client_connection.settings() if self.target_client_connection else None,
            leader_election=self.leader_election.settings(),
            server=self.server.settings(),
            debugging=self.debugging.settings(),
            log_level=self.log_level or "info",
            log_format=self.log_format or "json",
            cluster_id=self.controllers.cluster_id,
            resource_class=self.controllers.resource_class,
            garbage_collector=self.controllers.garbage_collector.settings(),
            health=self.controllers.health.settings(),
            kubelet_csr_approver=self.controllers.kubelet_csr_approver.settings(),
            managed_resource=self.controllers.managed_resource_settings(),
            network_policy=self.controllers.network_policy.settings(),
            node=self.controllers.node.settings(),
            secret=self.controllers.secret.settings(),
            token_invalidator=self.controllers.token_invalidator_settings(),
            token_requestor=self.controllers.token_requestor.settings(),
            admission=self.webhooks.settings(),
        )

    def problems(self, _path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """Unknown log levels and formats, what is wrong in the sections, and half a token invalidator."""
        yield from self.source_client_connection.problems("sourceClientConnection", purpose)
        if self.target_client_connection is not None:
            yield from self.target_client_connection.problems("targetClientConnection", purpose)
        yield from self.server.problems("server", purpose)
        yield from self.leader_election.problems("leaderElection", purpose)
        if self.log_level and self.log_level not in LOG_LEVELS:
            yield unsupported("logLevel", self.log_level, LOG_LEVELS)
        if self.log_format and self.log_format not in LOG_FORMATS:
            yield unsupported("logFormat", self.log_format, LOG_FORMATS)
        yield from self.controllers.problems("controllers", purpose)
        yield from self.webhooks.problems("webhooks", purpose)
        if self.controllers.token_invalidator_settings().enabled != self.webhooks.invalidates_tokens:
            yield forbidden("controllers.tokenInvalidator", _HALF_AN_INVALIDATOR)

    def contradictions(self, purpose: Purpose) -> Iterator[str]:
        """What makes a controller useless that is valid by itself: Machines out of sight.

        Args:
            purpose: what the configuration is read for.
        """
        approver, seen = self.controllers.kubelet_csr_approver, self.source_client_connection.settings().namespaces
        runs = approver.enabled or purpose is Purpose.OFFLINE
        if runs and seen and approver.machine_namespace and approver.machine_namespace not in seen:
            yield f"controllers.kubeletCSRApprover.machineNamespace: {_OUT_OF_SIGHT}"


def _decode(document: object, purpose: Purpose) -> Result[Decoded, ConfigurationErrors]:
    return (
        _of_this_kind(document)
        .bind(lambda ours: read(DocumentSection, ours))
        .alt(lambda errors: ConfigurationErrors(Stage.DECODING, errors))
        .bind(lambda section: _valid(section, purpose))
    )


def _of_this_kind(document: object) -> Result[object, tuple[ShapeError, ...]]:
    """The document, unless it is something else than a configuration of the resource manager."""
    if not isinstance(document, Mapping):
        return Failure((ShapeError("", f"expected an object, got {json_type(document)}"),))
    errors = tuple(
        ShapeError(name, f"expected {rendered(expected)}, got {_shown(document.get(name))}")
        for name, expected in (("apiVersion", API_VERSION), ("kind", KIND))
        if document.get(name) != expected
    )
    return Failure(errors) if errors else Success(document)


def _valid(section: DocumentSection, purpose: Purpose) -> Result[Decoded, ConfigurationErrors]:
    """The configuration of a well-formed document, if its values break no rule."""
    remarks = (*warnings(section), *section.contradictions(purpose))
    if problems := tuple(section.problems("", purpose)):
        return Failure(ConfigurationErrors(Stage.VALIDATION, problems, remarks))
    return Success(Decoded(section.settings(), remarks))


def _shown(value: object) -> str:
    return "nothing" if value is None else rendered(value)
