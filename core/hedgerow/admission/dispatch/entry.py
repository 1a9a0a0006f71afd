"""Whether an API server calls one registered webhook for a request, and what it makes of a denial or of no answer.

Source: webhooks-and-tokens §4.3; Kubernetes API, admissionregistration.k8s.io/v1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from hedgerow.admission.decision import BAD_REQUEST, Denied, internal_error
from hedgerow.admission.request import CREATE, UPDATE, AdmissionRequest, GroupVersionKind, GroupVersionResource
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.selectors import Labels, LabelSelector

ANY: Final = "*"
GROUP: Final = "admissionregistration.k8s.io"
_NAMESPACES: Final = GroupVersionResource("", "v1", "namespaces")
_EXEMPT_KINDS: Final = frozenset(
    f"{kind}{suffix}"
    for kind, suffixes in {"Webhook": ("Configuration",), "AdmissionPolicy": ("", "Binding")}.items()
    for kind in (f"Mutating{kind}", f"Validating{kind}")
    for suffix in suffixes
)
"""What no webhook is asked about, so that a broken one can be removed."""
_NO_LABELS: Final[Labels] = {}


class Scope(StrEnum):
    """Which resources a rule is for."""

    ALL = "*"
    CLUSTER = "Cluster"
    NAMESPACED = "Namespaced"


@dataclass(frozen=True, slots=True)
class Rule:
    """Requests that a webhook is called for; in each field `*` stands for everything."""

    operations: tuple[str, ...]
    groups: tuple[str, ...]
    versions: tuple[str, ...]
    resources: tuple[str, ...]
    """Such as `pods`, `pods/scale`, `pods/*` (pods and all their subresources), `*/scale`, `*` (no subresource)."""
    scope: Scope = Scope.ALL

    def matches(self, request: AdmissionRequest, resource: GroupVersionResource) -> bool:
        """Whether a request is one of these, if its objects are said to be of that resource."""
        return (
            _has(self.operations, request.operation)
            and _has(self.groups, resource.group)
            and _has(self.versions, resource.version)
            and any(_is_resource(name, resource.resource, request.subresource) for name in self.resources)
            and (self.scope is Scope.ALL or (self.scope is Scope.NAMESPACED) is _is_namespaced(request, resource))
        )


def _has(allowed: tuple[str, ...], value: str) -> bool:
    return ANY in allowed or value in allowed


def _is_resource(pattern: str, resource: str, subresource: str) -> bool:
    wanted, _, wanted_below = pattern.partition("/")
    return wanted in (ANY, resource) and wanted_below in (ANY, subresource)


def _is_namespaced(request: AdmissionRequest, resource: GroupVersionResource) -> bool:
    """Whether an object is in a namespace; a Namespace is not, although requests may name it as its own."""
    return resource != _NAMESPACES and bool(request.namespace)


@dataclass(frozen=True, slots=True)
class Client:
    """Where a webhook is reached: always over TLS."""

    host: str
    """Of a Service: `<name>.<namespace>.svc`."""
    path: str
    port: int = 443
    ca_bundle: str = ""
    """The certificates that the server must be signed by, as the registration object holds them (base64 of PEM)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One webhook as a registration object registers it, defaults filled in."""

    configuration: str
    """Name of the registration object."""
    name: str
    client: Client
    rules: tuple[Rule, ...]
    namespace_selector: LabelSelector = LabelSelector()  # noqa: RUF009 -- immutable
    object_selector: LabelSelector = LabelSelector()  # noqa: RUF009 -- immutable
    matches_equivalents: bool = True
    """matchPolicy `Equivalent`: other versions of a resource in the rules count, and are converted for the call."""
    ignores_failures: bool = False
    """failurePolicy `Ignore`: a webhook that gives no answer is left out."""
    is_repeated: bool = False
    """reinvocationPolicy `IfNeeded`: called again if webhooks after it have changed the object."""
    timeout_seconds: int = 10
    review_versions: tuple[str, ...] = ("v1",)
    """Of AdmissionReview, the preferred one first."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """All that selects the webhooks of a request."""

    request: AdmissionRequest
    namespace_labels: Labels
    """Of the namespace that the object is in; nobody looks at those of a cluster-scoped object."""
    equivalents: tuple[Resource, ...] = ()
    """As what else the API server serves the same objects, in its order."""

    def with_object(self, changed: Any) -> "Attributes":
        """The same once a webhook has changed the object."""
        return replace(self, request=replace(self.request, object=changed))


@dataclass(frozen=True, slots=True)
class Call:
    """A webhook that is to be called, and what the objects and the request sent to it must say they are."""

    entry: Entry
    kind: GroupVersionKind
    resource: GroupVersionResource

    def converts(self, request: AdmissionRequest) -> bool:
        """Whether the objects of a request have to be converted for the call, and the changed one back."""
        return self.kind != request.kind


def call_of(entry: Entry, attributes: Attributes) -> Call | None:
    """The call of a webhook that a request brings about; none if it is none of the webhook's business.

    Source: webhooks-and-tokens §4.3.
    """
    request = attributes.request
    if request.kind.group == GROUP and request.kind.kind in _EXEMPT_KINDS:
        return None
    if not (_selects_namespace(entry, attributes) and _selects_object(entry, request)):
        return None
    return _call_by_rules(entry, attributes)


def _selects_namespace(entry: Entry, attributes: Attributes) -> bool:
    request = attributes.request
    if request.resource == _NAMESPACES:
        return entry.namespace_selector.matches(_labels_of_namespace(attributes))
    return not request.namespace or entry.namespace_selector.matches(attributes.namespace_labels)


def _labels_of_namespace(attributes: Attributes) -> Labels:
    """The labels by which a Namespace is in itself: those that it is to have, or has if it is not changed."""
    request = attributes.request
    if request.operation in (CREATE, UPDATE) and not request.subresource:
        return _labels(request.object)
    return attributes.namespace_labels or _labels(request.old_object)


def _selects_object(entry: Entry, request: AdmissionRequest) -> bool:
    """Whether the object is selected as it is or as it will be; the empty selector needs no object."""
    selector = entry.object_selector
    return selector.is_empty or any(
        selector.matches(_labels(manifest))
        for manifest in (request.object, request.old_object)
        if isinstance(manifest, Mapping)
    )


def _labels(manifest: Any) -> Labels:
    """The labels of what may or may not be an object."""
    metadata = manifest.get("metadata") if isinstance(manifest, Mapping) else None
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    return labels if isinstance(labels, Mapping) else _NO_LABELS


def _call_by_rules(entry: Entry, attributes: Attributes) -> Call | None:
    """The call as what the client sent, if a rule names that, else as an equivalent; earlier rules come first."""
    request = attributes.request
    if any(rule.matches(request, request.resource) for rule in entry.rules):
        return Call(entry, request.kind, request.resource)
    if not entry.matches_equivalents:
        return None
    for rule in entry.rules:
        for other in attributes.equivalents:
            resource = GroupVersionResource(other.group, other.version, other.plural)
            if rule.matches(request, resource):
                return Call(entry, GroupVersionKind(other.group, other.version, other.kind), resource)
    return None


def failed(entry: Entry, problem: str) -> Denied | None:
    """What it means that a webhook gave no answer, or none that could be read: nothing, or the end of the request."""
    if entry.ignores_failures:
        return None
    return internal_error(f'failed calling webhook "{entry.name}": {problem}')


def rejected(entry: Entry, denied: Denied) -> Denied:
    """A webhook's denial as the client of the API server is told about it."""
    start = f'admission webhook "{entry.name}" denied the request'
    reason = denied.message or denied.reason
    return replace(
        denied,
        code=max(denied.code, BAD_REQUEST),
        message=f"{start}: {reason}" if reason else f"{start} without explanation",
    )
