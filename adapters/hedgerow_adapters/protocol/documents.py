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


_BUILT_IN_GROUPS: Final = frozenset({"", "apps", "autoscaling", "batch", "policy"}).union(
    f"{name}.k8s.io"
    for name in (
        *("admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization"),
        *("certificates", "coordination", "discovery", "events", "flowcontrol.apiserver", "networking", "node"),
        *("rbac.authorization", "resource", "scheduling", "storage"),
    )
)
_STABLE: Final = re.compile(r"v\d+")


@dataclass(frozen=True, slots=True)
class Served:
    """What one group and version holds."""

    resources: Mapping[str, Resource]
    """By the name of the kind."""
    watchable: frozenset[Resource]

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
    """True if `groups`, the answer to `/apis`, is a list of API groups, and does not hold a group and version.

    A group whose own server is away stays in the list. The core group is in no such list, and never lacking.
    """
    listed = groups.get("groups") if isinstance(groups, Mapping) and groups.get("kind") == "APIGroupList" else None
    if not isinstance(listed, list) or not listed or "/" not in api_version:
        return False
    for group in listed:
        versions = group.get("versions") if isinstance(group, Mapping) else None
        if not isinstance(versions, list):
            return False
        if any(not isinstance(each, Mapping) or each.get("groupVersion") == api_version for each in versions):
            return False
    return True


def served(api_version: str, body: Any) -> Served | NotAnswered:
    """What a group and version holds, by its discovery document; whatever else answers with success tells nothing."""
    is_of_version = isinstance(body, Mapping) and body.get("groupVersion") == api_version
    entries = body.get("resources") if is_of_version else None
    if not isinstance(entries, list):
        return NotAnswered(500, "", f'the API server\'s list of the resources of "{api_version}" is none')
    group, _, version = api_version.rpartition("/")
    resources: dict[str, Resource] = {}
    watchable = set()
    for entry in entries:
        if (resource := _resource(group, version, entry)) is None:
            continue
        verbs = entry.get("verbs")
        is_watchable = isinstance(verbs, list) and "list" in verbs and "watch" in verbs
        if is_watchable:
            watchable.add(resource)
        # Of several of one kind, that one counts whose objects are kept.
        if is_watchable or resource.kind not in resources:
            resources[resource.kind] = resource
    return Served(resources, frozenset(watchable))


def _resource(group: str, version: str, entry: Any) -> Resource | None:
    """The resource that an entry describes; none for subresources, and for what no request can name."""
    kind, name = (entry.get("kind"), entry.get("name")) if isinstance(entry, Mapping) else (None, None)
    if not (isinstance(kind, str) and kind and isinstance(name, str)):
        return None
    resource = Resource(group, version, name, kind, namespaced=bool(entry.get("namespaced")))
    try:
        requests.collection_path(resource)
    except requests.UnaddressableError:
        return None
    return resource
