"""Origins: the annotation that names the ManagedResource of a managed object, and the cluster of that.

Several source clusters may deliver into one target cluster, so an origin has the id of the source cluster, unless that
is empty.

Source: managed-resources §4.4.
"""

import json
from typing import Final, NamedTuple

from returns.result import Failure, Result, Success

from hedgerow.api.managed_resources import ORIGIN
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of
from hedgerow.machinery.questions import Answer, Found

CLUSTER_IDENTITY: Final = ObjectKey("kube-system", "cluster-identity")
"""The ConfigMap with the identity of the source cluster."""
_IDENTITY_ENTRY: Final = "cluster-identity"
_REQUIRED: Final = "<cluster>"
_OPTIONAL: Final = "<default>"
_UNKNOWN: Final = "unable to determine cluster id: cannot determine cluster identity from configmap: "


class Origin(NamedTuple):
    """A ManagedResource, and the id of its cluster, which may be empty."""

    cluster_id: str
    managed_resource: ObjectKey

    def __str__(self) -> str:
        """As the annotation of the object spells it."""
        namespace, name = self.managed_resource
        return f"{self.cluster_id}:{namespace}/{name}" if self.cluster_id else f"{namespace}/{name}"

    def may_be(self, other: "Origin") -> bool:
        """True if two origins may name one ManagedResource, whose cluster has got or lost its id."""
        either_is_without_id = not self.cluster_id or not other.cluster_id
        return self.managed_resource == other.managed_resource and (
            self.cluster_id == other.cluster_id or either_is_without_id
        )


def parse_origin(text: str) -> Result[Origin, str]:
    """The origin in an annotation, or why there is none."""
    *cluster, key = text.split(":")
    parts = key.split("/")
    if len(cluster) > 1 or len(parts) != 2:  # noqa: PLR2004 -- namespace and name
        return Failure(f"unexpected origin format: {json.dumps(text, ensure_ascii=False)}")
    return Success(Origin("".join(cluster), ObjectKey(*parts)))


def origin_of(live: Manifest) -> Origin | None:
    """The origin of a live object; none if the annotation is absent or unreadable."""
    text = annotations_of(live).get(ORIGIN)
    return None if text is None else parse_origin(text).value_or(None)


def managed_resource_of(live: Manifest, cluster_id: str) -> ObjectKey | None:
    """The ManagedResource of a live object; none if it is of another cluster or unknown."""
    origin = origin_of(live)
    return origin.managed_resource if origin is not None and origin.cluster_id == cluster_id else None


def other_origin(live: Manifest, own: Origin) -> Origin | None:
    """The origin of a live object if it is another than `own`; none if it is `own` or unknown."""
    origin = origin_of(live)
    return None if origin is None or origin.may_be(own) else origin


def asks_for_identity(configured: str) -> bool:
    """True if the configuration says to read the cluster id from the cluster."""
    return configured in {_REQUIRED, _OPTIONAL}


def cluster_id(configured: str, identity: Answer) -> Result[str, str]:
    """The effective id of the source cluster, or why the process cannot start without one.

    Args:
        configured: what the configuration says: an id, or how to find one.
        identity: the ConfigMap that tells it, or why it could not be read; it matters only where it was asked for.
    """
    if not asks_for_identity(configured):
        return Success(configured)
    is_optional = configured == _OPTIONAL
    if not isinstance(identity, Found):
        return Success("") if is_optional and identity.is_not_found else Failure(_UNKNOWN + identity.message)
    for config_map in identity.objects:
        if (value := (config_map.get("data") or {}).get(_IDENTITY_ENTRY)) is not None:
            return Success(value)
    return Success("") if is_optional else Failure(f"{_UNKNOWN}no cluster-identity entry")
