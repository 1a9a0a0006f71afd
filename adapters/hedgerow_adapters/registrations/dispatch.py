"""Which registered webhooks an API server calls for a request, in which order, as which version; what failures mean.

Mutating webhooks are called one after the other, each with what the ones before made of the object, in the order of
the names of their registration objects and, within one, of its list. If the object was changed, those that ask for it
are called once more: a webhook after which another one changed something. None is called for the first time then.

Source: webhooks-and-tokens §4.3; Kubernetes documentation, "Dynamic Admission Control"; Kubernetes API,
admissionregistration.k8s.io/v1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hedgerow.admission.registration import ANY, GROUP, Rule, Scope
from hedgerow.admission.request import CREATE, UPDATE, AdmissionRequest, GroupVersionKind, GroupVersionResource
from hedgerow.admission.review import KIND, V1
from hedgerow.admission.webhook import BAD_REQUEST, Denied, internal_error
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.selectors import Labels
from hedgerow_adapters.registrations.registered import Entry, Registrations

_NAMESPACES: Final = GroupVersionResource("", "v1", "namespaces")
_EXEMPT_KINDS: Final = frozenset(
    f"{effect}{kind}"
    for effect in ("Mutating", "Validating")
    for kind in ("WebhookConfiguration", "AdmissionPolicy", "AdmissionPolicyBinding")
)
"""No webhook is called for these, so that a broken one can be removed."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """What selects the webhooks of a request."""

    request: AdmissionRequest
    namespace_labels: Labels
    """Of the object's namespace; they do not count for a cluster-scoped object."""
    equivalents: tuple[Resource, ...] = ()
    """As what else the API server serves the same objects, in its order."""

    def with_object(self, changed: Any) -> "Attributes":
        """The same once a webhook has changed the object."""
        return replace(self, request=replace(self.request, object=changed))


@dataclass(frozen=True, slots=True)
class Call:
    """A webhook that is to be called, and the version in which it gets the objects."""

    entry: Entry
    kind: GroupVersionKind
    resource: GroupVersionResource

    def converts(self, request: AdmissionRequest) -> bool:
        """True if the call needs the objects of a request in another version."""
        return self.kind != request.kind


def call_of(entry: Entry, attributes: Attributes) -> Call | None:
    """The call of a webhook for a request; none if the webhook is not registered for it."""
    request = attributes.request
    if request.kind.group == GROUP and request.kind.kind in _EXEMPT_KINDS:
        return None
    if not (_selects_namespace(entry, attributes) and _selects_object(entry, request)):
        return None
    if any(_matches(rule, request, request.resource) for rule in entry.rules):
        return Call(entry, request.kind, request.resource)
    if not entry.matches_equivalents:
        return None
    for rule in entry.rules:
        for other in attributes.equivalents:
            resource = GroupVersionResource(other.group, other.version, other.plural)
            if _matches(rule, request, resource):
                return Call(entry, GroupVersionKind(other.group, other.version, other.kind), resource)
    return None


def _selects_namespace(entry: Entry, attributes: Attributes) -> bool:
    request, labels = attributes.request, attributes.namespace_labels
    if request.resource != _NAMESPACES:
        return not request.namespace or entry.namespace_selector.matches(labels)
    # A Namespace is in itself, with the labels that it is to have, or has if it is not changed.
    if request.operation in (CREATE, UPDATE) and not request.subresource:
        return entry.namespace_selector.matches(_labels(request.object))
    return entry.namespace_selector.matches(labels or _labels(request.old_object))


def _selects_object(entry: Entry, request: AdmissionRequest) -> bool:
    """Whether the object is selected as it is or as it will be; the empty selector needs no object."""
    selector = entry.object_selector
    return selector.is_empty or any(
        selector.matches(_labels(manifest))
        for manifest in (request.object, request.old_object)
        if isinstance(manifest, Mapping)
    )


def _labels(manifest: Any) -> Labels:
    metadata = manifest.get("metadata") if isinstance(manifest, Mapping) else None
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    return labels if isinstance(labels, Mapping) else {}


def _matches(rule: Rule, request: AdmissionRequest, resource: GroupVersionResource) -> bool:
    # A Namespace is in none, although requests may name it as its own.
    is_namespaced = resource != _NAMESPACES and bool(request.namespace)
    return (
        _has(rule.operations, request.operation)
        and _has(rule.groups, resource.group)
        and _has(rule.versions, resource.version)
        and any(_is_resource(name, resource.resource, request.subresource) for name in rule.resources)
        and (rule.scope is Scope.ALL or (rule.scope is Scope.NAMESPACED) is is_namespaced)
    )


def _has(allowed: tuple[str, ...], value: str) -> bool:
    return ANY in allowed or value in allowed


def _is_resource(pattern: str, resource: str, subresource: str) -> bool:
    wanted, _, wanted_below = pattern.partition("/")
    return wanted in (ANY, resource) and wanted_below in (ANY, subresource)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a request has come on its way through the mutating webhooks, as places in their list."""

    entries: tuple[Entry, ...]
    position: int = 0
    """Of the next webhook to consider in this round."""
    is_repeat: bool = False
    """True in the second and last round."""
    repeatable: frozenset[int] = frozenset()
    """Called so far, among those that ask to be called again."""
    repeated: frozenset[int] = frozenset()
    """To be called in the second round, because something was changed after they were called."""

    def next_call(self, attributes: Attributes) -> "tuple[Call, Progress] | None":
        """The next call that a request needs as it is now, and the progress with it; none at the end of the way."""
        for place in range(self.position, len(self.entries)):
            if self.is_repeat and place not in self.repeated:
                continue
            if call := call_of(self.entries[place], attributes):
                again = self.repeatable | {place} if call.entry.is_repeated else self.repeatable
                return call, replace(self, position=place + 1, repeatable=again)
        if self.is_repeat or not self.repeated:
            return None
        return replace(self, position=0, is_repeat=True).next_call(attributes)

    def after_change(self) -> "Progress":
        """The progress if the webhook called last has changed the object: those before it get another turn."""
        # Only the webhook that was called last has seen its own change.
        return replace(self, repeated=self.repeatable - {self.position - 1})


def validating_calls(registrations: Registrations, attributes: Attributes) -> tuple[Call, ...]:
    """The calls of validating webhooks for a request whose object no one changes any more."""
    calls = (call_of(entry, attributes) for entry in registrations.validating_entries)
    return tuple(call for call in calls if call)


def failed(entry: Entry, problem: str) -> Denied | None:
    """The denial because a webhook gave no usable answer; none if its failurePolicy ignores that."""
    if entry.ignores_failures:
        return None
    return internal_error(f'failed calling webhook "{entry.name}": {problem}')


def rejected(entry: Entry, denied: Denied) -> Denied:
    """A webhook's denial in the words of the API server."""
    start = f'admission webhook "{entry.name}" denied the request'
    reason = denied.message or denied.reason
    return replace(
        denied,
        code=max(denied.code, BAD_REQUEST),
        message=f"{start}: {reason}" if reason else f"{start} without explanation",
    )


def review_document(request: AdmissionRequest, api_version: str = V1) -> dict[str, Any]:
    """The document that an API server sends about a request; `hedgerow.admission.review.parse_review` reads it."""
    return {
        "apiVersion": api_version,
        "kind": KIND,
        "request": {
            "uid": request.uid,
            "kind": request.kind._asdict(),
            "resource": request.resource._asdict(),
            **({"subResource": request.subresource} if request.subresource else {}),
            "name": request.name,
            "namespace": request.namespace,
            "operation": request.operation,
            "userInfo": {},
            "object": request.object,
            "oldObject": request.old_object,
            "dryRun": request.dry_run,
            "options": None,
        },
    }
