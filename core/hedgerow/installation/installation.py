"""One installation: its values and configuration, and what follows from them for all its objects.

Source: managed-resources §4; webhooks-and-tokens §4.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, TypeVar

from hedgerow.admission.provisioning.permissions import provisioning_permissions
from hedgerow.admission.registration import API_VERSION, MUTATING, VALIDATING, RegisteredWebhook
from hedgerow.admission.webhook import Webhook
from hedgerow.api.definition import CustomResource
from hedgerow.installation.alerts import Alert
from hedgerow.installation.dashboard import Row
from hedgerow.installation.overrides import Overrides, on_terms_of, overridden, override_problems, strictness_problems
from hedgerow.installation.permissions import election_permissions, permissions_of, same_cluster_permissions
from hedgerow.installation.values import (
    DefinitionValues,
    ManagedResources,
    Record,
    Rendered,
    Target,
    TargetValues,
    Values,
    Webhooks,
    WebhookValues,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.configuration.process import ClientConnection, LeaderElection, Provision, Server
from hedgerow.machinery.configuration.reading import Document
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import Manifest, ObjectKey

_A_TARGET: Final = "the component configuration has a targetClientConnection"
_NO_TARGET: Final = "the component configuration has no targetClientConnection"
NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
V = TypeVar("V", bound=Values)
C = TypeVar("C", bound=Document)


@dataclass(frozen=True, kw_only=True)
class Installation(Generic[V, C]):
    """Everything that the objects of an installation depend on. Every component has a subclass."""

    component: ClassVar[str]
    """As `hedgerow run` takes it; also the name of its chart."""
    process: ClassVar[str]
    """The name of the container and of its folders; also the name of all objects, unless values say otherwise."""
    description: ClassVar[str]
    """Of the chart."""
    values_type: ClassVar[type[Values]]
    completion: ClassVar[Mapping[str, Any]] = NOTHING
    """What a component configuration gets that leaves it out, besides the namespace of the Lease and the folder of the
    certificate."""
    definitions: ClassVar[tuple[CustomResource, ...]] = ()
    """The resources that it defines."""
    writes_temporary_files: ClassVar[bool] = False
    """Whether its pods need a folder for them, as nothing else can be written to."""
    extension_type: ClassVar[str] = ""
    """The type of the Extensions that it looks after; empty: Gardener does not install it."""
    own_alerts: ClassVar[tuple[Alert, ...]] = ()
    """Those beside the alerts of every component."""
    own_rows: ClassVar[tuple[Row, ...]] = ()
    """Those beside the rows of the dashboards of every component."""

    values: V
    namespace: str
    """The namespace of the process."""
    version: str
    """The tag of the image, if the values name none."""
    document: Mapping[str, Any]
    """The `completed` component configuration."""
    configuration: C
    """The decoded document; the next four are parts of it."""
    source: ClientConnection
    separate_target: ClientConnection | None
    """The way to the target cluster; none: it is the source."""
    server: Server
    leader_election: LeaderElection
    controllers: tuple[Controller[Any], ...]
    """Those that run."""
    webhooks: tuple[Webhook, ...]
    """Those that are served."""

    @classmethod
    def named(cls, _values: V, /) -> str:
        """The name of the objects of an installation with these values."""
        return cls.process

    @property
    def name(self) -> str:
        """The name of its objects."""
        return self.named(self.values)

    @property
    def selector(self) -> dict[str, str]:
        """The label that selects its pods. It never changes, as an API server lets no Deployment change it."""
        return {"app": self.name}

    @property
    def labels(self) -> dict[str, str]:
        """The labels of its objects and pods."""
        recommended = {
            "app.kubernetes.io/name": self.process,
            "app.kubernetes.io/instance": self.name,
            "app.kubernetes.io/component": self.component,
            "app.kubernetes.io/part-of": "hedgerow",
            "app.kubernetes.io/version": self.version,
        }
        return {**recommended, **self.values.common_labels, **self.selector}

    @property
    def deployment_labels(self) -> Mapping[str, str]:
        """Further labels of the Deployment."""
        return NOTHING

    @property
    def pod_labels(self) -> Mapping[str, str]:
        """Further labels of the pods that no value replaces."""
        return NOTHING

    @property
    def target(self) -> Target | None:
        """How pods reach a separate target cluster; none: it is the cluster of the process."""
        return self.values.target if isinstance(self.values, TargetValues) and self.separate_target else None

    @property
    def target_namespaces(self) -> tuple[str, ...]:
        """The only namespaces of the target cluster that the process reads; none: all."""
        return (self.separate_target or self.source).namespaces

    @property
    def serving(self) -> Webhooks | None:
        """How API servers reach the webhooks; none: none is served."""
        return self.values.webhooks if isinstance(self.values, WebhookValues) and self.webhooks else None

    @property
    def provision(self) -> Provision | None:
        """Who provides for the serving certificate; none: no webhook is served."""
        return Provision(self.server.webhooks.tls.provision) if self.serving else None

    @property
    def own_certificates(self) -> ObjectKey | None:
        """The Secret in which the process keeps certificates that it makes; none: it makes none."""
        own = self.server.webhooks.tls.self_provision
        return ObjectKey(own.secret_namespace, own.secret_name) if self.provision is Provision.SELF else None

    @property
    def part(self) -> Rendered:
        """What is rendered."""
        return self.values.part

    @property
    def installed_definitions(self) -> tuple[CustomResource, ...]:
        """The resources whose definitions are rendered."""
        return self.definitions if isinstance(self.values, DefinitionValues) and self.values.crds.enabled else ()

    @property
    def keeps_definitions(self) -> bool:
        """Whether definitions stay when Helm removes the release."""
        return isinstance(self.values, DefinitionValues) and self.values.crds.keep

    @property
    def record(self) -> Record | None:
        """How pods record their decisions; none: they do not."""
        return None

    @property
    def managed_resources(self) -> ManagedResources | None:
        """What the process may do with objects that others describe; none: it writes its own alone."""
        return None

    @property
    def usually_registered(self) -> tuple[RegisteredWebhook, ...]:
        """The webhooks that API servers call, on their usual terms."""
        return ()

    @property
    def usual_registrations(self) -> tuple[Manifest, ...]:
        """The objects that register them."""
        return ()

    @property
    def overrides(self) -> Overrides:
        """The other terms of webhooks that values ask for."""
        return self.values.webhooks.overrides if isinstance(self.values, WebhookValues) else {}

    @property
    def registered(self) -> tuple[RegisteredWebhook, ...]:
        """The webhooks that API servers call."""
        return tuple(overridden(each, self.overrides) for each in self.usually_registered)

    @property
    def registrations(self) -> tuple[Manifest, ...]:
        """The objects that register them."""
        return tuple(on_terms_of(each, self.registered) for each in self.usual_registrations)

    @property
    def registration_names(self) -> Mapping[str, str]:
        """What the objects are called that may register them, by kind, whether they are enabled or not."""
        return {MUTATING: self.name, VALIDATING: self.name}

    @property
    def provided_registrations(self) -> tuple[Manifest, ...]:
        """The registration objects that the process fills in or, where none of their webhooks is enabled, empties."""
        of_kind = {each["kind"]: each for each in self.registrations}
        return tuple(
            {
                "apiVersion": API_VERSION,
                "kind": kind,
                "metadata": {"name": name},
                "webhooks": of_kind[kind]["webhooks"] if kind in of_kind else [],
            }
            for kind, name in self.registration_names.items()
        )

    @property
    def further_permissions(self) -> tuple[Permission, ...]:
        """Those that no controller and no webhook declares, nor every process needs."""
        return ()

    @property
    def permissions(self) -> tuple[Permission, ...]:
        """All permissions of the process, some perhaps more than once."""
        election, called = self.leader_election, {webhook.path for webhook in self.registered}
        lease = ObjectKey(election.resource_namespace, election.resource_name)
        return (
            *same_cluster_permissions(),
            *permissions_of(self.controllers, self.webhooks, called),
            *(election_permissions(lease) if election.leader_elect else ()),
            *(
                provisioning_permissions(self.own_certificates, self.provided_registrations)
                if self.own_certificates
                else ()
            ),
            *self.further_permissions,
        )

    def permissions_in(self, *clusters: Cluster) -> tuple[Permission, ...]:
        """The permissions in the cluster that has these roles."""
        return tuple(permission for permission in self.permissions if permission.cluster in clusters)

    @property
    def problems(self) -> Iterator[str]:
        """Why the values cannot work together."""
        if self.managed_resources:
            yield from self.managed_resources.problems
        yield from override_problems(self.overrides, (each.name for each in self.usually_registered))
        yield from strictness_problems(self.overrides, self.usually_registered)
        if isinstance(self.values, TargetValues):
            secret, is_separate = self.values.target.kubeconfig_secret, self.separate_target is not None
            if is_separate and not secret:
                yield f"target.kubeconfigSecret must name a Secret, as {_A_TARGET}"
            if secret and not is_separate:
                yield f"target.kubeconfigSecret leads nowhere, as {_NO_TARGET}"
        if self.part in {"target", "access"} and self.target is None:
            yield f"{_NO_TARGET}, so that there is no separate target cluster"
        is_injected = self.provision is Provision.CERT_MANAGER and not (self.serving and self.serving.ca_bundle)
        if is_injected and self.target:
            yield (
                "webhooks.caBundle must name the authorities, as cert-manager cannot do so in a separate target "
                "cluster; with server.webhooks.tls.provision: self the process does"
            )
        if self.source.kubeconfig:
            yield (
                "the component configuration has a kubeconfig for the cluster of the process, which nothing mounts: "
                "leave it out, as pods have the credentials of their ServiceAccount"
            )
        if self.server.health_probes.bind_address.startswith(("127.", "localhost", "::1")):
            yield (
                "config.server.healthProbes.bindAddress must not be a loopback address, "
                "as kubelets ask pods at their own addresses"
            )
