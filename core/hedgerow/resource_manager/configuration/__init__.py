"""The component configuration of the resource manager: one class per section.

`decode` turns a parsed document into a `ResourceManagerConfiguration`, its method `manifest` turns it back. A class is
the only description of its section, as `hedgerow.machinery.configuration` explains; controllers read the same class.

Source: managed-resources §3.
"""

from collections.abc import Iterator
from typing import Annotated, Final, TypeAlias

from returns.result import Result

from hedgerow.admission.config import AdmissionConfig
from hedgerow.machinery.configuration import reading
from hedgerow.machinery.configuration.process import ClientConnection, Debugging, LeaderElection, Server
from hedgerow.machinery.configuration.reading import ConfigurationErrors, Document
from hedgerow.machinery.configuration.rules import one_of
from hedgerow.machinery.configuration.section import ZERO_IS_UNSET, Named, Purpose
from hedgerow.machinery.failures import Problem, forbidden
from hedgerow.resource_manager.configuration.controllers import Controllers, unlimited_token_requestor
from hedgerow.resource_manager.configuration.webhooks import Webhooks

API_VERSION: Final = "resourcemanager.config.gardener.cloud/v1alpha1"
KIND: Final = "ResourceManagerConfiguration"
HALF_AN_INVALIDATOR: Final = "controller and webhook for TokenInvalidator must either be both disabled or enabled"
OUT_OF_SIGHT: Final = "not among the namespaces of sourceClientConnection, so that no request of a kubelet is decided"


class ResourceManagerConfiguration(Document):
    """The component configuration of `hedgerow run resource-manager`."""

    api_version = API_VERSION
    kind = KIND

    source: Annotated[ClientConnection, Named("sourceClientConnection")] = ClientConnection()
    """The cluster with the Lease and the ManagedResources, mostly the one that the process runs in."""
    target: Annotated[ClientConnection | None, Named("targetClientConnection")] = None
    """The cluster that the controllers work on. Left out, it is the source; an empty section is a connection of its
    own."""
    server: Server = Server()
    leader_election: LeaderElection = LeaderElection(resource_name="gardener-resource-manager")
    """Which Lease replicas compete for. Controllers work on the one that holds it, webhooks on all."""
    debugging: Debugging = Debugging()
    """Profiles."""
    log_level: Annotated[str, ZERO_IS_UNSET, one_of(("debug", "info", "error"))] = "info"
    """How much is logged."""
    log_format: Annotated[str, ZERO_IS_UNSET, one_of(("json", "text"))] = "json"
    """How lines are logged."""
    controllers: Controllers = Controllers()
    webhooks: Webhooks = Webhooks()

    @property
    def looked_after(self) -> ClientConnection:
        """The connection to the target cluster, which may be the source."""
        return self.target or self.source

    @property
    def admission(self) -> AdmissionConfig:
        """The configuration of the enabled webhooks."""
        return self.webhooks.config

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[Problem]:
        """The errors of the sections; half a token invalidator, an unlimited token requestor."""
        yield from super().problems(path, purpose)
        if self.controllers.token_invalidator.enabled != self.webhooks.token_invalidator.enabled:
            yield forbidden("controllers.tokenInvalidator", HALF_AN_INVALIDATOR)
        unlimited = unlimited_token_requestor(self.controllers.token_requestor, self.source.namespaces)
        if unlimited is not None and self.target is None:
            yield unlimited

    def warnings(self, path: str, purpose: Purpose, /) -> Iterator[str]:
        """The warnings of the sections; Machines that the kubelet CSR approver cannot read."""
        yield from super().warnings(path, purpose)
        approver, seen = self.controllers.kubelet_csr_approver, self.source.namespaces
        if approver.is_checked(purpose) and seen and approver.machine_namespace not in {"", *seen}:
            yield f"controllers.kubeletCSRApprover.machineNamespace: {OUT_OF_SIGHT}"


Decoded: TypeAlias = reading.Decoded[ResourceManagerConfiguration]


def decode(document: object, purpose: Purpose = Purpose.RUN) -> Result[Decoded, ConfigurationErrors]:
    """The configuration that a parsed document states, or everything wrong with it.

    For a command that runs named controllers outside a cluster, `leaderElection` may be missing or unable to work, and
    the sections of disabled controllers have to be valid, except for the number of workers.
    """
    return reading.decode(ResourceManagerConfiguration, document, purpose)
