"""The configuration files of the two processes: one for the garden, one for each seed.

Source: controller-registration §13, §16; decisions, "Registration".
"""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from datetime import timedelta
from typing import Annotated, Final, Self

from hedgerow.api.registrations import EXTENSIONS_READY
from hedgerow.machinery.configuration.process import ClientConnection, LeaderElection, Server
from hedgerow.machinery.configuration.reading import Document
from hedgerow.machinery.configuration.rules import at_least, longer_than_zero, must_be_set, one_of, valid
from hedgerow.machinery.configuration.section import LIMIT, ZERO_IS_UNSET, Alias, Named, Purpose, Section, Switched
from hedgerow.machinery.failures import Problem, child, forbidden
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem
from hedgerow.version import __version__

_ELSEWHERE: Final = "must not be set together with targetClientConnection: controller-manager decides for all seeds"
_GARDEN: Final = (Named("sourceClientConnection"), Alias("gardenClientConnection", "Gardener's name"))
_LEASE: Final = "hedgerow-seed-extensions"
_NO_TIME: Final = timedelta(0)
_SECOND: Final = timedelta(seconds=1)


class ControllerSettings(Switched):
    """A controller."""

    enabled: bool = True
    """Whether it runs."""
    concurrent_syncs: Annotated[int, at_least(1)] = 5
    """How many workers there are; each has up to three objects under way, as API servers take time."""


class PeriodicSettings(ControllerSettings):
    """A controller that looks again although nothing has changed."""

    sync_period: Annotated[timedelta, at_least(_SECOND)] = timedelta(seconds=30)
    """How long after the last look at an object."""


class GardenControllers(Section):
    """What a process does in the garden."""

    controller_registration: ControllerSettings = ControllerSettings()
    """Decides which ControllerInstallations a seed needs, and keeps registrations and seeds that have some."""
    controller_deployment: ControllerSettings = ControllerSettings()
    """Keeps ControllerDeployments that a registration refers to."""


class _Process(Document):
    """What both files have."""

    server: Server = Server()
    log_level: Annotated[str, ZERO_IS_UNSET, one_of(("debug", "info", "error"))] = "info"
    """How much is logged."""
    log_format: Annotated[str, ZERO_IS_UNSET, one_of(("json", "text"))] = "json"
    """How lines are logged."""
    require_garden_secrets: bool = False
    """Whether nothing is decided about a Seed that has no Secrets in its namespace of the garden."""
    seed_provider_extensions: bool = True
    """Whether a Seed itself needs extensions, those of its own provider and of its DNS provider."""


class GardenWebhooks(Section):
    """What the API server of the garden asks the process. None has to run: controllers set the defaults, too."""

    controller_registration_defaults: Switched = Switched()
    """Sets the defaults of ControllerRegistrations."""
    controller_registration_validation: Switched = Switched()
    """Refuses ControllerRegistrations, ControllerDeployments and ControllerInstallations that are not valid."""
    registered_types: Switched = Switched()
    """Refuses Seeds, Shoots, BackupBuckets and BackupEntries that use an unregistered type."""


class ControllerManagerConfiguration(_Process):
    """The component configuration of `hedgerow run controller-manager`."""

    api_version = "controllermanager.config.gardener.cloud/v1alpha1"
    kind = "ControllerManagerConfiguration"

    garden_client_connection: Annotated[ClientConnection, *_GARDEN] = ClientConnection()
    """The garden."""
    leader_election: LeaderElection = LeaderElection(resource_name="hedgerow-controller-manager")
    """Which Lease of the garden replicas compete for."""
    controllers: GardenControllers = GardenControllers()
    webhooks: GardenWebhooks = GardenWebhooks()


class ConditionThreshold(Section):
    """For how long a failure counts as progress."""

    type: Annotated[str, one_of((EXTENSIONS_READY,))] = EXTENSIONS_READY
    """Of the condition."""
    duration: Annotated[timedelta, at_least(_NO_TIME)] = _NO_TIME
    """So long the condition is `Progressing` before it is `False`."""


class SeedExtensionsCheckSettings(PeriodicSettings):
    """Tells on the Seed whether all its installations are ready."""

    condition_thresholds: tuple[ConditionThreshold, ...] = ()
    """For how long failures count as progress; the last of a type counts."""

    @property
    def threshold(self) -> timedelta:
        """For how long extensions that are not ready count as progressing."""
        return next((each.duration for each in reversed(self.condition_thresholds)), _NO_TIME)


class SeedControllers(GardenControllers):
    """What a process does for a seed. The controllers of the garden run in it where seed and garden are one cluster."""

    controller_registration: ControllerSettings = ControllerSettings(enabled=False)
    controller_deployment: ControllerSettings = ControllerSettings(enabled=False)
    controller_installation: ControllerSettings = ControllerSettings(concurrent_syncs=20)
    """Deploys the charts of installations, and takes them away."""
    controller_installation_care: PeriodicSettings = PeriodicSettings(concurrent_syncs=20)
    """Tells how installations are, from their ManagedResources."""
    controller_installation_required: ControllerSettings = ControllerSettings(concurrent_syncs=1)
    """Tells which installations the extension objects of the seed still need."""
    seed_extensions_check: SeedExtensionsCheckSettings = SeedExtensionsCheckSettings()
    shoot_extensions: ControllerSettings = ControllerSettings(enabled=False)
    """Makes the Extension objects of Shoots. Only where no gardenlet does."""

    @property
    def need_a_seed(self) -> bool:
        """True if a controller runs that works for one seed."""
        of_garden = {declared.attribute for declared in GardenControllers.declared}
        return any(getattr(self, each.attribute).enabled for each in self.declared if each.attribute not in of_garden)


class SeedName(Section):
    """The part of a Seed's metadata that matters."""

    name: Annotated[str, LIMIT, valid(dns_subdomain_problem, may_be_empty=True)] = ""
    """Name of the Seed in the garden. Must be set unless only controllers of the garden run."""


class SeedConfig(Section):
    """Which Seed the process works for."""

    metadata: SeedName = SeedName()


def _base64_problem(text: str) -> str | None:
    try:
        b64decode(text, validate=True)
    except ValueError:
        return "must be encoded in base64"
    return None


class GardenClientConnection(ClientConnection):
    """The way to the garden, and how extensions reach it."""

    garden_cluster_address: str = ""
    """The address of the garden's API server for extensions; empty: that of this connection."""
    garden_cluster_ca_cert: Annotated[str, Named("gardenClusterCACert"), valid(_base64_problem)] = ""
    """Certificate authorities of that address, as base64 of PEM; empty: those of this connection."""


class TokenRequestorLease(Section):
    """The Lease of a token requestor, in the seed."""

    namespace: Annotated[str, valid(dns_label_problem, may_be_empty=True)] = ""
    name: Annotated[str, valid(dns_subdomain_problem, may_be_empty=True)] = ""


class GardenAccessSettings(Switched):
    """Gives the pods of extensions a kubeconfig of the garden, with a token that a token requestor keeps fresh."""

    enabled: bool = False
    """Whether pods get it. They cannot start without the token, so that a token requestor of class `garden` has to
    run."""
    token_requestor_lease: TokenRequestorLease = TokenRequestorLease()
    """Held by the token requestor of class `garden`. Must be set where garden access is enabled: no chart is deployed
    while nobody holds it."""

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[Problem]:
        """A token requestor that is not named."""
        yield from super().problems(path, purpose)
        if self.enabled:
            lease, at = self.token_requestor_lease, child(path, "tokenRequestorLease")
            is_needed = must_be_set("names the token requestor of class garden, without which pods wait for a token")
            for name, text in (("namespace", lease.namespace), ("name", lease.name)):
                yield from is_needed.errors(child(at, name), text)


class HelmSettings(Section):
    """How charts are rendered."""

    binary: Annotated[str, must_be_set("must name a program", "Not empty.")] = "helm"
    """Path or name of the program."""
    timeout: Annotated[timedelta, longer_than_zero()] = timedelta(seconds=60)
    """For one chart."""
    api_versions: tuple[str, ...] = ()
    """Which APIs charts see beside those that the program knows, as `group/version` or `group/version/Kind`."""


class Identity(Section):
    """How the process calls itself to charts."""

    version: str = __version__
    """The version of Gardener that charts see."""


class SeedExtensionsConfiguration(_Process):
    """The component configuration of `hedgerow run seed-extensions`."""

    api_version = "seedextensions.config.gardener.cloud/v1alpha1"
    kind = "SeedExtensionsConfiguration"

    garden_client_connection: Annotated[GardenClientConnection, *_GARDEN] = GardenClientConnection()
    """The garden."""
    seed_client_connection: Annotated[ClientConnection | None, Named("targetClientConnection")] = None
    """The seed. Left out, it is the same cluster as the garden; an empty section is a connection of its own."""
    leader_election: LeaderElection = LeaderElection(resource_name=_LEASE)
    """Which Lease of the garden replicas compete for; by default one for each seed, `hedgerow-seed-extensions-` and its
    name."""
    seed_config: SeedConfig = SeedConfig()
    controllers: SeedControllers = SeedControllers()
    garden_access: GardenAccessSettings = GardenAccessSettings()
    helm: HelmSettings = HelmSettings()
    identity: Identity = Identity()
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    """The feature gates that charts see."""

    @property
    def seed(self) -> str:
        """Name of the Seed that the process works for."""
        return self.seed_config.metadata.name

    def defaulted(self) -> Self:
        """The configuration with the name of its Lease."""
        if self.leader_election.resource_name != _LEASE or not self.seed:
            return self
        name = f"{_LEASE}-{self.seed}"
        return replace(self, leader_election=replace(self.leader_election, resource_name=name))

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[Problem]:
        """The errors of the sections; controllers of the garden beside others of it; a Seed that is not named."""
        yield from super().problems(path, purpose)
        if self.seed_client_connection is not None:
            for declared in GardenControllers.declared:
                if getattr(self.controllers, declared.attribute).enabled:
                    yield forbidden(f"controllers.{declared.name}.enabled", _ELSEWHERE)
        if purpose is Purpose.RUN and self.controllers.need_a_seed:
            yield from must_be_set("is the Seed that controllers work for").errors(
                "seedConfig.metadata.name", self.seed
            )
