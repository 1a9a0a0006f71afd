"""What a server makes of a write depends on: webhooks, the namespace, limits, the definition, the server's version.

An object that was written stays as it is for as long as none of this changes. When it does, another write of the same
manifest may store something else, which a dry run tells. Whether the change concerns the object is decided generously:
a dry run too many changes nothing, one too few keeps a Deployment without its replicas.

MutatingAdmissionPolicies are not watched, nor what a webhook itself depends on: for these each object is tried again
once an hour.

Source: decision "steady state"; Kubernetes documentation, "Dynamic Admission Control" and "Admission Control in
Kubernetes", LimitRanger.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from returns.result import Success

from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS, LIMIT_RANGES, MUTATING_WEBHOOKS, NAMESPACES
from hedgerow.api.managed_objects import digest_of_metadata, transform_of
from hedgerow.machinery.controller import Watch, no_key
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, labels_of, resource_version_of, uid_of
from hedgerow.machinery.selectors import Labels, parse_label_selector
from hedgerow.machinery.snapshot import Snapshot

_LIMITED: Final = frozenset({("", "pods"), ("", "persistentvolumeclaims")})
"""Group and plural of what LimitRanges set defaults and bounds for."""
_ANY: Final = "*"
_Known: TypeAlias = str | None
"""Equal for as long as nothing has changed; none: not known."""
_NOT_CONCERNED: Final = ""


class WriteContext(NamedTuple):
    """What the result of a write depends on, beside the object that is written."""

    webhooks: _Known = None
    """The mutating webhook configurations that could match."""
    namespace: _Known = None
    """Labels and annotations of the object's namespace."""
    limits: _Known = None
    """The LimitRanges of the namespace, where the kind is limited."""
    definition: _Known = None
    """The definition of a custom resource."""
    server: _Known = None
    """The versions of the API server."""

    def differs(self, earlier: "WriteContext") -> bool:
        """Whether anything has changed, as far as both know it: a list that is denied or late is no change."""
        return any(new != old for new, old in zip(self, earlier, strict=True) if new is not None and old is not None)

    def completed_by(self, later: "WriteContext") -> "WriteContext":
        """The same with what was not known and is by now."""
        return WriteContext(*(new if old is None else old for old, new in zip(self, later, strict=True)))


UNKNOWN: Final = WriteContext()


def write_context(
    snapshot: Snapshot, resource: Resource, namespace: str, server_versions: frozenset[str]
) -> WriteContext:
    """What a write of an object depends on now.

    Args:
        snapshot: what is watched of the target cluster.
        resource: of the object.
        namespace: of the object; empty: it has none.
        server_versions: those that were seen of the API server.
    """
    is_known = namespace and snapshot.has_synced(NAMESPACES)
    found = snapshot.get(NAMESPACES, ObjectKey("", namespace)) if is_known else None
    metadata = None if found is None else f"{uid_of(found)}{digest_of_metadata(found)}"
    return WriteContext(
        webhooks=_webhooks(snapshot, resource, found),
        namespace=metadata if namespace else _NOT_CONCERNED,
        limits=_limits(snapshot, resource, namespace),
        definition=_definition(snapshot, resource),
        server=" ".join(sorted(server_versions)) or None,
    )


def watches_of_write_context() -> tuple[Watch, ...]:
    """What has to be watched for it; nothing is prevented where a list is denied.

    Changes enqueue nothing: every ManagedResource looks at the new context when its period is over, so that no change
    is a burst.
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


def _webhooks(snapshot: Snapshot, resource: Resource, namespace: Manifest | None) -> _Known:
    if not snapshot.has_synced(MUTATING_WEBHOOKS):
        return None
    labels = None if namespace is None else labels_of(namespace)
    return _versions(each for each in snapshot.list(MUTATING_WEBHOOKS) if could_match(each, resource, labels))


def _limits(snapshot: Snapshot, resource: Resource, namespace: str) -> _Known:
    if (resource.group, resource.plural) not in _LIMITED:
        return _NOT_CONCERNED
    return _versions(snapshot.list(LIMIT_RANGES, namespace=namespace)) if snapshot.has_synced(LIMIT_RANGES) else None


def _definition(snapshot: Snapshot, resource: Resource) -> _Known:
    if "." not in resource.group:
        return _NOT_CONCERNED
    if not snapshot.has_synced(CUSTOM_RESOURCE_DEFINITIONS):
        return None
    found = snapshot.get(CUSTOM_RESOURCE_DEFINITIONS, ObjectKey("", f"{resource.plural}.{resource.group}"))
    return _NOT_CONCERNED if found is None else _versions([found])


def _versions(manifests: Iterable[Manifest]) -> str:
    """The versions of objects; their status does not count where changes are counted."""

    def version(manifest: Manifest) -> str:
        generation = (manifest.get("metadata") or {}).get("generation")
        return f"{uid_of(manifest)}" + (f"#{generation}" if generation else f"@{resource_version_of(manifest)}")

    return " ".join(sorted(map(version, manifests)))


def could_match(configuration: Manifest, resource: Resource, namespace_labels: Labels | None) -> bool:
    """Whether a webhook configuration has a webhook that may be called when an object is updated.

    Labels of the object and conditions in CEL are not looked at, nor which versions of a kind are equivalent.

    Args:
        configuration: a MutatingWebhookConfiguration.
        resource: of the object.
        namespace_labels: of the object's namespace; none: not known, or there is no namespace.
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
        return isinstance(found, list) and any(value in found for value in (_ANY, *values))

    scope = {"Namespaced": True, "Cluster": False}.get(rule.get("scope") or _ANY, resource.namespaced)
    return (
        has("operations", "UPDATE")
        # Names of subresources, such as `pods/status`, do not stand for objects.
        and has("resources", "*/*", resource.plural, f"{resource.plural}/*")
        and scope is resource.namespaced
        and (not exactly or (has("apiGroups", resource.group) and has("apiVersions", resource.version)))
    )


def _objects(items: Any) -> Iterator[Manifest]:
    return (item for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())
