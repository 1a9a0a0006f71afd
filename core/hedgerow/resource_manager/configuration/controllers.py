"""The sections of the controllers: `controllers`.

A further controller is a section here, and a field of `Controllers`.

Source: managed-resources §3.1; webhooks-and-tokens §2.1, §2.2; network-and-nodes §2.3, §5.4, §6.2; decision D-4.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Final, TypeAlias

from hedgerow.api.managed_resources import DEFAULT_CLASS, ClassFilter
from hedgerow.machinery.configuration.rules import at_least, each_set, longer_than_zero, must_be_set, valid
from hedgerow.machinery.configuration.section import (
    LIMIT,
    ZERO_IS_UNSET,
    Alias,
    Named,
    Purpose,
    Section,
    Switched,
    WhenEnabled,
)
from hedgerow.machinery.failures import FieldErrorType, Problem, required
from hedgerow.machinery.names import dns_label_problem, label_key_problem, label_value_problem
from hedgerow.machinery.selectors import LabelSelector, parse_label_selector
from hedgerow.resource_manager.network_policies.views import IngressController, NetworkPolicyConfig

SHORTEST_SYNC_PERIOD: Final = timedelta(seconds=15)
UNLIMITED: Final = (
    "source and target are one cluster, in which everybody who may write a Secret would get a token of any "
    "ServiceAccount: set targetNamespace, or sourceNamespaces, or namespaces of sourceClientConnection"
)

Workers: TypeAlias = Annotated[int | None, at_least(1, only_if_enabled=True), WhenEnabled(5)]
"""The number of workers of a controller that can be disabled."""
AlwaysWorkers: TypeAlias = Annotated[int, at_least(1)]
SyncPeriod: TypeAlias = Annotated[timedelta, at_least(SHORTEST_SYNC_PERIOD)]


class SwitchedController(Switched):
    """A controller that is disabled by default."""

    enabled: bool = False
    """Whether the controller runs."""


class GarbageCollectorSettings(SwitchedController):
    """Deletes ConfigMaps and Secrets that are marked for it when nothing refers to them any more."""

    sync_period: Annotated[timedelta | None, at_least(SHORTEST_SYNC_PERIOD), WhenEnabled(timedelta(hours=1))] = None
    """Between two rounds."""


class HealthSettings(Section):
    """Judges health and progress of what ManagedResources deliver."""

    concurrent_syncs: AlwaysWorkers = 5
    """How many workers there are; each has up to three ManagedResources under way, as API servers take time."""
    sync_period: SyncPeriod = timedelta(minutes=1)
    """After this time a ManagedResource is judged again although nothing has changed."""


def _network_problem(text: str) -> str | None:
    is_network = "/" in text
    try:
        ip_network(text)
    except ValueError:
        is_network = False
    return None if is_network else "must be a network such as 100.64.0.0/13"


class KubeletCSRApproverSettings(SwitchedController):
    """Approves or denies the serving certificates that kubelets ask for."""

    concurrent_syncs: Annotated[int | None, at_least(1, only_if_enabled=True), WhenEnabled(1)] = None
    """How many workers there are; each has up to three requests under way, as API servers take time."""
    machine_namespace: Annotated[str, LIMIT] = ""
    """Where in the source cluster the Machines of Nodes are; empty: in any namespace."""
    service_networks: Annotated[tuple[str, ...], LIMIT, valid(_network_problem)] = ()
    """The networks of Services in the target cluster, such as `100.64.0.0/13`: a request for an address in them is
    denied. Those of the Service `default/kubernetes` always are."""

    @property
    def networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """The networks of Services, in a valid section."""
        return tuple(map(ip_network, self.service_networks))


class ManagedResourceSettings(Section):
    """Applies what ManagedResources deliver."""

    concurrent_syncs: AlwaysWorkers = 5
    """How many workers there are; each has up to three ManagedResources under way, as API servers take time."""
    sync_period: SyncPeriod = timedelta(minutes=1)
    """After this time a ManagedResource is applied again although nothing has changed."""
    always_update: bool = False
    """Whether objects are written even where they are as they should be."""
    managed_by_label_value: Annotated[
        str, must_be_set("must specify value of managed-by label", "Not empty."), valid(label_value_problem)
    ] = "gardener"
    """What the label `resources.gardener.cloud/managed-by` of every delivered object says."""


class RequirementSection(Section):
    """One match expression."""

    is_strict = True
    omits_defaults = True

    key: str = ""
    """Key of the label."""
    operator: str = ""
    """How the label is compared. One of `In`, `NotIn`, `Exists`, `DoesNotExist`."""
    values: tuple[str, ...] = ()
    """With `In` and `NotIn`: what it is compared with."""


class SelectorSection(Section):
    """A label selector."""

    is_strict = True
    omits_defaults = True

    match_labels: Mapping[str, str] = field(default_factory=dict)
    """Labels with their values; all have to match."""
    match_expressions: tuple[RequirementSection, ...] = ()
    """Requirements on labels; all have to match."""

    @property
    def selector(self) -> LabelSelector:
        """The selector of a valid section."""
        return parse_label_selector(self.manifest()).unwrap()

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[Problem]:
        """Every key, operator and value that no label selector may have."""
        for problem in parse_label_selector(self.manifest(), path).swap().value_or(()):
            yield replace(problem, type=FieldErrorType.INVALID)


class IngressControllerSection(Section):
    """The pods of the ingress controller, known by namespace and labels together."""

    namespace: Annotated[
        str, must_be_set("must name the namespace of the ingress controller"), valid(dns_label_problem)
    ] = ""
    """The namespace of its pods."""
    pod_selector: Annotated[SelectorSection | None, must_be_set("must select the pods of the ingress controller")] = (
        None
    )
    """The labels of its pods."""

    @property
    def pods(self) -> IngressController | None:
        """The pods of a valid section."""
        return IngressController(self.namespace, self.pod_selector.selector) if self.pod_selector else None


class NetworkPolicySettings(SwitchedController):
    """Opens traffic to Services that ask for it, by NetworkPolicies."""

    concurrent_syncs: Workers = None
    """How many workers there are; each has up to three Services under way, as API servers take time."""
    namespace_selectors: Annotated[tuple[SelectorSection, ...], LIMIT] = ()
    """Services in Namespaces that match any of these are handled; empty: all."""
    ingress_controller_selector: IngressControllerSection | None = None
    """The ingress controller that may reach the backends of Ingresses; left out: none."""

    @property
    def rules(self) -> NetworkPolicyConfig:
        """The configuration of the controller, for a valid section."""
        selectors, ingress = self.namespace_selectors, self.ingress_controller_selector
        return NetworkPolicyConfig(tuple(section.selector for section in selectors), ingress.pods if ingress else None)


class NodeSettings(SwitchedController):
    """Keeps pods away from new Nodes until their critical components are ready."""

    concurrent_syncs: Workers = None
    """How many workers there are; each has up to three Nodes under way, as API servers take time."""
    backoff: Annotated[timedelta | None, longer_than_zero(), WhenEnabled(timedelta(seconds=10))] = None
    """After this time a Node on which something is missing is checked again."""


class SecretSettings(Section):
    """Protects Secrets that ManagedResources refer to."""

    concurrent_syncs: AlwaysWorkers = 5
    """How many workers there are; each has up to three Secrets under way, as API servers take time."""


class TokenInvalidatorSettings(SwitchedController):
    """Labels Secrets whose static tokens the webhook makes worthless."""

    concurrent_syncs: Annotated[int | None, WhenEnabled(5)] = None
    """How many workers there are; each has up to three Secrets under way, as API servers take time; less than 1 counts
    as 1."""

    @property
    def workers(self) -> int | None:
        """The number of workers. The reference runs one whatever the file says."""
        return None if self.concurrent_syncs is None else max(self.concurrent_syncs, 1)

    def warnings(self, path: str, purpose: Purpose, /) -> Iterator[str]:
        """A number of workers that cannot be."""
        if self.enabled and self.concurrent_syncs != self.workers:
            yield f"{path}: one worker runs instead of {self.concurrent_syncs}"
        yield from super().warnings(path, purpose)


class TokenRequestorSettings(SwitchedController):
    """Keeps tokens of ServiceAccounts fresh in Secrets that ask for it."""

    concurrent_syncs: Workers = None
    """How many workers there are; each has up to three Secrets under way, as API servers take time."""
    class_name: Annotated[str | None, Named("class"), ZERO_IS_UNSET, LIMIT, valid(label_value_problem)] = None
    """Only Secrets whose label `resources.gardener.cloud/class` says so get tokens; empty: all."""
    audiences: Annotated[tuple[str, ...], each_set("must not be empty")] = ()
    """Who is to believe the tokens; empty: the API server that makes them."""
    target_namespace: Annotated[str, LIMIT, valid(dns_label_problem, may_be_empty=True)] = ""
    """Where the ServiceAccounts are, whatever Secrets say; empty: where each Secret says. Without a separate target
    cluster either this, `sourceNamespaces`, or `namespaces` of `sourceClientConnection` must be set."""
    source_namespaces: Annotated[tuple[str, ...], LIMIT, valid(dns_label_problem)] = ()
    """Only Secrets in these namespaces of the source cluster get tokens; empty: all that are in sight."""

    @property
    def each_audience(self) -> tuple[str, ...]:
        """The audiences without repetitions."""
        return tuple(dict.fromkeys(self.audiences))


def unlimited_token_requestor(settings: TokenRequestorSettings, seen: Collection[str]) -> Problem | None:
    """The error of a token requestor without limits if source and target are one cluster.

    There it lets every author of a Secret become any ServiceAccount. With a separate target cluster the authors of
    Secrets are those who run it. The process is restricted to the namespaces in `seen`; none: it sees all.
    """
    if not settings.enabled or settings.target_namespace or settings.source_namespaces or seen:
        return None
    return required("controllers.tokenRequestor.targetNamespace", UNLIMITED)


def _class_problem(name: str) -> str | None:
    problem = label_key_problem(ClassFilter(name).finalizer)
    return problem and f"no finalizer can be called after it: {problem}"


class Controllers(Section):
    """Which controllers run, and how."""

    cluster_id: Annotated[str, Named("clusterID")] = ""
    """The id of the source cluster in the origins of applied objects. `<cluster>`: that in the ConfigMap
    `kube-system/cluster-identity`, without which the process ends; `<default>`: the same, or none; empty: none."""
    resource_class: Annotated[
        str, LIMIT, must_be_set("must provide a resource class", "Not empty."), valid(_class_problem)
    ] = DEFAULT_CLASS
    """The class of the ManagedResources that the process handles."""
    garbage_collector: GarbageCollectorSettings = GarbageCollectorSettings()
    health: HealthSettings = HealthSettings()
    kubelet_csr_approver: Annotated[KubeletCSRApproverSettings, Named("kubeletCSRApprover")] = (
        KubeletCSRApproverSettings()
    )
    managed_resource: Annotated[ManagedResourceSettings, Alias("managedResources", "Another spelling")] = (
        ManagedResourceSettings()
    )
    network_policy: NetworkPolicySettings = NetworkPolicySettings()
    node: NodeSettings = NodeSettings()
    secret: SecretSettings = SecretSettings()
    token_invalidator: Annotated[
        TokenInvalidatorSettings, Alias("tokenValidator", "An older name", is_deprecated=True)
    ] = TokenInvalidatorSettings()
    """Labels Secrets whose static tokens are to be worthless. Enabled together with its webhook, or neither."""
    token_requestor: TokenRequestorSettings = TokenRequestorSettings()
