"""Which registered webhooks could keep the process that serves them from running.

An API server refuses a request when a webhook with failurePolicy `Fail` gives no answer. If it asks such a webhook
about an object that the process needs to run, nothing starts the process again once no replica is left.

Decides from registrations and labels alone. What is not known of labels may be anything, so a webhook counts unless its
rules or selectors exclude the object for certain.

Source: Kubernetes documentation, "Dynamic Admission Control", avoiding deadlocks.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from hedgerow.admission.registration.registered import ANY, Entry, Registrations, Rule, Scope
from hedgerow.admission.request import CREATE, DELETE, UPDATE
from hedgerow.api.kubernetes import LEASES, METADATA_NAME, NAMESPACES, NODES, PODS
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.selectors import Labels, LabelSelector, Operator, Requirement

NODE_LEASES: Final = "kube-node-lease"
_WRITES: Final = (ANY, CREATE, UPDATE, DELETE)
"""Also those of subresources: a pod without a binding or a status does not run either."""


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
        """Kind and key, as far as they are known."""
        return f"{self.resource.kind} {self.key}".rstrip("/ ")


@dataclass(frozen=True, slots=True)
class BlockingWebhook:
    """A webhook that an API server could ask about a needed object, by one of its rules."""

    entry: Entry
    rule: Rule
    needed: NeededObject

    def __str__(self) -> str:
        """Webhook, object and rule."""
        rule = f"{', '.join(self.rule.operations)} of {', '.join(self.rule.resources)}"
        return (
            f'webhook "{self.entry.name}" of {self.entry.configuration} could block {self.needed}, '
            f"without which the process does not run: its rule for {rule} fails while no replica answers"
        )


OF_ANY_CLUSTER: Final = (
    NeededObject(NODES, ObjectKey("", ""), has_other_labels=True),
    NeededObject(LEASES, ObjectKey(NODE_LEASES, "")),
)
"""What nodes need to run any pod."""


def pods_of(namespace: str, labels: Labels) -> NeededObject:
    """The pods of the process."""
    return NeededObject(PODS, ObjectKey(namespace, ""), labels, has_other_labels=True)


def blocking_webhooks(registrations: Registrations, needed: Iterable[NeededObject]) -> tuple[BlockingWebhook, ...]:
    """Each webhook that could block a needed object, with the first of its rules that matches.

    Args:
        registrations: all webhooks of a cluster.
        needed: objects of the same cluster.
    """
    entries = [*registrations.mutating_entries, *registrations.validating_entries]
    return tuple(found for each in needed for entry in entries for found in _blocking(entry, each))


def _blocking(entry: Entry, needed: NeededObject) -> Iterator[BlockingWebhook]:
    if entry.ignores_failures or not (_may_select_namespace(entry, needed) and _may_select_object(entry, needed)):
        return
    rule = next((rule for rule in entry.rules if _concerns(rule, needed.resource, entry)), None)
    if rule is not None:
        yield BlockingWebhook(entry, rule, needed)


def _may_select_namespace(entry: Entry, needed: NeededObject) -> bool:
    if needed.resource == NAMESPACES:
        return _may_match(entry.namespace_selector, needed.labels, complete=False)
    if not needed.resource.namespaced:
        return True
    name = needed.key.namespace
    return _may_match(entry.namespace_selector, {METADATA_NAME: name} if name else {}, complete=False)


def _may_select_object(entry: Entry, needed: NeededObject) -> bool:
    return _may_match(entry.object_selector, needed.labels, complete=not needed.has_other_labels)


def _may_match(selector: LabelSelector, labels: Labels, *, complete: bool) -> bool:
    """True if a selector matches labels, or matches them together with some that are not known."""
    requirements = (
        *(Requirement(key, Operator.IN, (value,)) for key, value in selector.match_labels),
        *selector.match_expressions,
    )
    return all(each.matches(labels) or (not complete and each.key not in labels) for each in requirements)


def _concerns(rule: Rule, resource: Resource, entry: Entry) -> bool:
    """True if a rule is about writes to a resource, or to one of its subresources."""
    return (
        any(operation in rule.operations for operation in _WRITES)
        and any(group in rule.groups for group in (ANY, resource.group))
        and (entry.matches_equivalents or any(version in rule.versions for version in (ANY, resource.version)))
        and any(pattern.partition("/")[0] in (ANY, resource.plural) for pattern in rule.resources)
        and (rule.scope is Scope.ALL or (rule.scope is Scope.NAMESPACED) is resource.namespaced)
    )
