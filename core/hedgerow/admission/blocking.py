"""Which registered webhooks could keep the process that serves them from running.

An API server refuses a request when a webhook with failurePolicy `Fail` gives no answer. If it asks such a webhook
about an object that the process needs to run, nothing starts the process again once no replica is left.

Decides from registrations and labels alone, for any registrations. Unknown labels may have any value, so a webhook
counts unless its rules or selectors exclude the object for certain.

Source: Kubernetes documentation, "Dynamic Admission Control", avoiding deadlocks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from hedgerow.admission.registration import ANY, KUBE_SYSTEM, Rule, Scope
from hedgerow.admission.request import CREATE, DELETE, UPDATE
from hedgerow.api.kubernetes import (
    CERTIFICATE_SIGNING_REQUESTS,
    CONFIG_MAPS,
    CSI_NODES,
    DAEMON_SETS,
    LEASES,
    METADATA_NAME,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    SERVICE_ACCOUNTS,
)
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.selectors import Labels, LabelSelector, Operator, Requirement

_WRITES: Final = (ANY, CREATE, UPDATE, DELETE)
"""Also those of subresources: a pod without a binding or a status does not run either."""


class Registered(Protocol):
    """A webhook as a registration object registers it."""

    @property
    def name(self) -> str: ...  # noqa: D102 -- as below: fields of a registration, by Kubernetes' names
    @property
    def rules(self) -> tuple[Rule, ...]: ...  # noqa: D102
    @property
    def namespace_selector(self) -> LabelSelector: ...  # noqa: D102
    @property
    def object_selector(self) -> LabelSelector | None: ...  # noqa: D102
    @property
    def matches_equivalents(self) -> bool: ...  # noqa: D102
    @property
    def ignores_failures(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class NeededObject:
    """An object without which the process does not run."""

    resource: Resource
    key: ObjectKey
    """Without a namespace, a namespaced object may be in any; without a name, it may have any."""
    labels: Labels = field(default_factory=dict)
    has_other_labels: bool = False
    """Whether others may have added labels that we do not know."""

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.key}".rstrip("/ ")


@dataclass(frozen=True, slots=True)
class BlockingWebhook:
    """A webhook that an API server could call for a needed object, by one of its rules."""

    webhook: Registered
    rule: Rule
    needed: NeededObject

    def __str__(self) -> str:
        rule = f"{', '.join(self.rule.operations)} of {', '.join(self.rule.resources)}"
        return (
            f'webhook "{self.webhook.name}" could block {self.needed}, '
            f"without which the process does not run: its rule for {rule} fails while no replica answers"
        )


OF_ANY_CLUSTER: Final = (
    *(NeededObject(each, ObjectKey("", ""), has_other_labels=True) for each in (NODES, LEASES)),
    *(NeededObject(each, ObjectKey("", "")) for each in (CERTIFICATE_SIGNING_REQUESTS, CSI_NODES)),
)
"""What nodes and elections need: without it, no cluster runs any pod."""
OF_OWN_CLUSTER: Final = (
    *OF_ANY_CLUSTER,
    *(
        NeededObject(each, ObjectKey(KUBE_SYSTEM, ""), has_other_labels=True)
        for each in (PODS, REPLICA_SETS, DAEMON_SETS, SERVICE_ACCOUNTS, CONFIG_MAPS)
    ),
)
"""What the cluster of the process needs besides, to run its pods: network and DNS."""


def pods_of(namespace: str, labels: Labels) -> NeededObject:
    """The pods of the process."""
    return NeededObject(PODS, ObjectKey(namespace, ""), labels, has_other_labels=True)


def blocking_webhooks(webhooks: Sequence[Registered], needed: Iterable[NeededObject]) -> tuple[BlockingWebhook, ...]:
    """Each webhook of a cluster that could block an object needed there, with the first of its rules that matches."""
    return tuple(
        BlockingWebhook(webhook, rule, each)
        for each in needed
        for webhook in webhooks
        if not webhook.ignores_failures and _may_select_namespace(webhook, each)
        for rule in [rule for rule in webhook.rules if _concerns(rule, each, webhook)][:1]
    )


def _may_select_namespace(webhook: Registered, needed: NeededObject) -> bool:
    resource, namespace = needed.resource, needed.key.namespace
    labels = needed.labels if resource == NAMESPACES else {METADATA_NAME: namespace} if namespace else {}
    is_in_one = resource.namespaced or resource == NAMESPACES
    return not is_in_one or _may_match(webhook.namespace_selector, labels, complete=False)


def _may_select_object(webhook: Registered, needed: NeededObject) -> bool:
    selector = webhook.object_selector
    return selector is None or _may_match(selector, needed.labels, complete=not needed.has_other_labels)


def _may_match(selector: LabelSelector, labels: Labels, *, complete: bool) -> bool:
    """True if a selector matches labels, or matches them together with some that are not known."""
    requirements = (
        *(Requirement(key, Operator.IN, (value,)) for key, value in selector.match_labels),
        *selector.match_expressions,
    )
    return all(each.matches(labels) or (not complete and each.key not in labels) for each in requirements)


def _concerns(rule: Rule, needed: NeededObject, webhook: Registered) -> bool:
    """True if a rule is about writes to an object, or to one of its subresources.

    No selector of objects excludes those for certain: a Binding, a Scale or a TokenRequest has none of the labels.
    """
    resource = needed.resource
    below = [
        rest for name, _, rest in (each.partition("/") for each in rule.resources) if name in {ANY, resource.plural}
    ]
    return (
        any(operation in rule.operations for operation in _WRITES)
        and any(group in rule.groups for group in (ANY, resource.group))
        and (webhook.matches_equivalents or any(version in rule.versions for version in (ANY, resource.version)))
        and bool(below)
        and (any(below) or _may_select_object(webhook, needed))
        and (rule.scope is Scope.ALL or (rule.scope is Scope.NAMESPACED) is resource.namespaced)
    )
