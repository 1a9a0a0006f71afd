"""What the server's result of a write depends on: webhooks, namespace, limits, definition, server version.

A written object stays as it is while none of this changes. After a change another write of the same manifest may store
something else, which a dry run tells. Whether a change concerns an object is decided generously: a needless dry run
changes nothing, a missing one may leave a Deployment without its replicas.

MutatingAdmissionPolicies and the other inputs of webhooks are not watched: for these each object is tried once an hour.

Source: decision "steady state"; Kubernetes documentation, "Dynamic Admission Control" and "Admission Control in
Kubernetes", LimitRanger.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from returns.result import Success

from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS, LIMIT_RANGES, MUTATING_WEBHOOKS, NAMESPACES
from hedgerow.api.managed_objects import digest_of_metadata, transform_of
from hedgerow.machinery.controller import Watch, no_key
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, labels_of, resource_version_of, uid_of
from hedgerow.machinery.selectors import Labels, parse_label_selector
from hedgerow.machinery.snapshot import Snapshot

_LIMITED: Final = frozenset({("", "pods"), ("", "persistentvolumeclaims")})
"""Group and plural of the resources that LimitRanges limit."""
_NOT_CONCERNED: Final = ""


class WriteContext(NamedTuple):
    """Versions of all that a write depends on, beside the object; none: not known."""

    webhooks: str | None = None
    """The mutating webhook configurations that could match."""
    namespace: str | None = None
    """Labels and annotations of the object's namespace."""
    limits: str | None = None
    """The LimitRanges of the namespace, if the kind is limited."""
    definition: str | None = None
    """The definition of a custom resource."""
    server: str | None = None

    def differs(self, earlier: "WriteContext") -> bool:
        """True if anything has changed that both know; a list that is denied or late is no change."""
        return any(new != old for new, old in zip(self, earlier, strict=True) if new is not None and old is not None)

    def completed_by(self, later: "WriteContext") -> "WriteContext":
        """The same, with what only `later` knows."""
        return WriteContext(*(new if old is None else old for old, new in zip(self, later, strict=True)))


UNKNOWN: Final = WriteContext()


def write_context(
    snapshot: Snapshot, resource: Resource, namespace: str, server_versions: frozenset[str]
) -> WriteContext:
    """What a write of an object depends on now; the namespace of a cluster-scoped object is empty."""
    found = snapshot.get(NAMESPACES, ObjectKey("", namespace))
    metadata = None if found is None else f"{uid_of(found)}{digest_of_metadata(found)}"
    return WriteContext(
        webhooks=_webhooks(snapshot, resource, found),
        namespace=metadata if namespace else _NOT_CONCERNED,
        limits=_limits(snapshot, resource, namespace),
        definition=_definition(snapshot, resource),
        server=" ".join(sorted(server_versions)) or None,
    )


def watches_of_write_context() -> tuple[Watch, ...]:
    """The watches for write contexts; a denied list prevents nothing.

    Changes enqueue nothing: every ManagedResource looks at them after its sync period, so that no change is a burst.
    """
    return tuple(
        Watch(
            resource,
            transform_of(resource),
            no_key,
            lambda _change: False,
            metadata_only=resource != MUTATING_WEBHOOKS,
            may_be_absent=True,
            required_for_sync=False,
        )
        for resource in (MUTATING_WEBHOOKS, NAMESPACES, LIMIT_RANGES, CUSTOM_RESOURCE_DEFINITIONS)
    )


def _webhooks(snapshot: Snapshot, resource: Resource, namespace: Manifest | None) -> str | None:
    if not snapshot.has_synced(MUTATING_WEBHOOKS):
        return None
    labels = None if namespace is None else labels_of(namespace)
    return _versions(each for each in snapshot.list(MUTATING_WEBHOOKS) if could_match(each, resource, labels))


def _limits(snapshot: Snapshot, resource: Resource, namespace: str) -> str | None:
    if (resource.group, resource.plural) not in _LIMITED:
        return _NOT_CONCERNED
    return _versions(snapshot.list(LIMIT_RANGES, namespace=namespace)) if snapshot.has_synced(LIMIT_RANGES) else None


def _definition(snapshot: Snapshot, resource: Resource) -> str | None:
    if "." not in resource.group:
        return _NOT_CONCERNED
    if not snapshot.has_synced(CUSTOM_RESOURCE_DEFINITIONS):
        return None
    found = snapshot.get(CUSTOM_RESOURCE_DEFINITIONS, ObjectKey("", f"{resource.plural}.{resource.group}"))
    return _versions([found] if found else [])


def _versions(manifests: Iterable[Manifest]) -> str:
    """The generations of objects; their resource versions where they have none."""

    def version(manifest: Manifest) -> str:
        generation = (manifest.get("metadata") or {}).get("generation")
        return f"{uid_of(manifest)}" + (f"#{generation}" if generation else f"@{resource_version_of(manifest)}")

    return " ".join(sorted(map(version, manifests)))


def could_match(configuration: Manifest, resource: Resource, namespace_labels: Labels | None) -> bool:
    """True if a MutatingWebhookConfiguration has a webhook that may be called when an object is updated.

    Ignores labels of the object, conditions in CEL and equivalent versions. Without labels of a namespace any namespace
    selector matches.
    """
    return any(
        _selects(webhook.get("namespaceSelector"), namespace_labels)
        and any(
            _has_rule_for(rule, resource, exactly=webhook.get("matchPolicy") == "Exact")
            for rule in _objects(webhook.get("rules"))
        )
        for webhook in _objects(configuration.get("webhooks"))
    )


def _selects(selector: Any, labels: Labels | None) -> bool:
    if not selector or labels is None:
        return True
    parsed = parse_label_selector(selector)
    return not isinstance(parsed, Success) or parsed.unwrap().matches(labels)


def _has_rule_for(rule: Manifest, resource: Resource, *, exactly: bool) -> bool:
    def has(member: str, *values: str) -> bool:
        found = rule.get(member)
        return isinstance(found, list) and any(value in found for value in ("*", *values))

    scope = {"Namespaced": True, "Cluster": False}.get(rule.get("scope") or "*", resource.namespaced)
    return (
        has("operations", "UPDATE")
        # Names of subresources, such as `pods/status`, do not stand for objects.
        and has("resources", "*/*", resource.plural, f"{resource.plural}/*")
        and scope is resource.namespaced
        and (not exactly or (has("apiGroups", resource.group) and has("apiVersions", resource.version)))
    )


def _objects(items: Any) -> Iterator[Manifest]:
    return (item for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())
