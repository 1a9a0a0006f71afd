"""What the documents of an API server hold: lists and objects, and which resources it serves or lacks.

Decides from the documents alone. Source: Kubernetes documentation, "The Kubernetes API"; decision "absence".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource
from hedgerow.machinery.questions import NO_MATCH, NotAnswered
from hedgerow_adapters.protocol import requests

NO_LIST: Final = "the answer to a list that is no list"


class ListPage(NamedTuple):
    """One page of a list."""

    items: Sequence[Manifest]
    continuation: str
    """Token of the next page; empty: this is the last."""
    resource_version: str
    """Empty for lists that cannot be watched."""


def list_page(body: Any) -> ListPage | None:
    """The page that an answer shows; none if it is no list of objects."""
    if not isinstance(body, Mapping) or "items" not in body:
        return None
    items, metadata = body["items"] or (), body.get("metadata") or {}
    if not isinstance(items, list | tuple) or not isinstance(metadata, Mapping):
        return None
    if not all(isinstance(item, Mapping) for item in items):
        return None
    return ListPage(items, metadata.get("continue") or "", metadata.get("resourceVersion") or "")


def is_object_of(key: ObjectKey, body: Any) -> bool:
    """True if an answer is the object of a key."""
    metadata = body.get("metadata") if isinstance(body, Mapping) else None
    return isinstance(metadata, Mapping) and (metadata.get("namespace") or "", metadata.get("name")) == key


_NO_ANSWER: Final = 500
_BUILT_IN_GROUPS: Final = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    }
)
_STABLE: Final = re.compile(r"v\d+")


@dataclass(frozen=True, slots=True)
class Served:
    """What one group and version holds."""

    resources: Mapping[str, Resource]
    """By the name of the kind."""
    watchable: frozenset[Resource]
    """Those that can be listed and watched."""

    def holds(self, answer: Resource | NotAnswered) -> bool:
        """Whether it says the same as an earlier answer about a kind that is served."""
        return isinstance(answer, Resource) and self.resources.get(answer.kind) == answer


def is_built_in(kind: Kind) -> bool:
    """True if a kind is part of kube-apiserver and does not go with an upgrade, as beta versions do."""
    return kind.group in _BUILT_IN_GROUPS and _STABLE.fullmatch(kind.api_version.rpartition("/")[2]) is not None


def no_match(kind: Kind) -> NotAnswered:
    """What is said of a kind that a discovery document lacks."""
    return NotAnswered(404, NO_MATCH, f'no matches for kind "{kind.kind}" in version "{kind.api_version}"')


def lacks_version(groups: Any, api_version: str) -> bool:
    """True if a list of API groups is one, and does not hold a group and version.

    A group whose own server is away stays in the list.

    Args:
        groups: the answer to `/apis`.
        api_version: as manifests spell it; the core group is in no such list, and never lacking.
    """
    listed = groups.get("groups") if isinstance(groups, Mapping) and groups.get("kind") == "APIGroupList" else None
    if not isinstance(listed, list) or not listed or "/" not in api_version:
        return False
    return not any(_may_hold(group, api_version) for group in listed)


def _may_hold(group: Any, api_version: str) -> bool:
    """True unless an entry of a list of groups shows that the group does not hold the version."""
    versions = group.get("versions") if isinstance(group, Mapping) else None
    if not isinstance(versions, list):
        return True
    return any(not isinstance(each, Mapping) or each.get("groupVersion") == api_version for each in versions)


def served(api_version: str, body: Any) -> Served | NotAnswered:
    """What a group and version holds, by its discovery document; whatever else answers with success tells nothing."""
    is_of_version = isinstance(body, Mapping) and body.get("groupVersion") == api_version
    entries = body.get("resources") if is_of_version else None
    if not isinstance(entries, list):
        return NotAnswered(_NO_ANSWER, "", f'the API server\'s list of the resources of "{api_version}" is none')
    group, _, version = api_version.rpartition("/")
    resources: dict[str, Resource] = {}
    watchable = set()
    for entry in entries:
        if not _is_resource(entry):
            continue
        resource = Resource(group, version, entry["name"], entry["kind"], namespaced=bool(entry.get("namespaced")))
        if not _is_addressable(resource):
            continue
        verbs = entry.get("verbs")
        is_watchable = isinstance(verbs, list) and "list" in verbs and "watch" in verbs
        if is_watchable:
            watchable.add(resource)
        # Of several of one kind, that one counts whose objects are kept.
        if is_watchable or resource.kind not in resources:
            resources[resource.kind] = resource
    return Served(resources, frozenset(watchable))


def _is_resource(entry: Any) -> bool:
    """Whether an entry is one of a resource; others are of subresources."""
    return (
        isinstance(entry, Mapping)
        and isinstance(kind := entry.get("kind"), str)
        and bool(kind)
        and isinstance(name := entry.get("name"), str)
        and "/" not in name
    )


def _is_addressable(resource: Resource) -> bool:
    """Whether requests can name a resource; a server may call one anything."""
    try:
        requests.list_page(resource)
    except requests.UnaddressableError:
        return False
    return True
