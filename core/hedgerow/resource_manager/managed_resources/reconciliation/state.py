"""What a reconciliation leaves to the next one, so that unchanged objects are neither read nor compared again.

It decides what is read, written and hashed. It is small: of each object that is as it should be, what identifies the
cached version. A process that has just started has no state, and reads everything once.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from hedgerow.api.references import Identity
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource
from hedgerow.resource_manager.managed_resources.autoscalers import Scaling
from hedgerow.resource_manager.managed_resources.server_defaults.differences import Difference
from hedgerow.resource_manager.managed_resources.write_context import UNKNOWN, WriteContext

_DIGEST_LENGTH = 16


class ObjectState(NamedTuple):
    """One object that is as its manifest asks for."""

    identity: Identity
    resource: Resource
    key: ObjectKey
    asked: bytes
    """Digest of all that has a say in it, beside what was asked before."""
    fingerprint: str
    """Of the live object."""
    seen: datetime
    """When the whole of it was last read, or written."""
    tried: datetime | None
    """When a write or a dry run last showed what the server makes of it; none: this process has made neither."""
    context: WriteContext = UNKNOWN
    """What the result of that depended on."""
    changed: datetime | None = None
    """When that was last found to have changed; none: never."""
    settled: tuple[Difference, ...] = ()
    """What the server makes of it beyond what is known."""
    scaling: Scaling = Scaling()
    """What autoscalers set of it."""


@dataclass(frozen=True, slots=True)
class State:
    """What was the case at the end of a reconciliation."""

    objects: Mapping[Identity, ObjectState] = field(default_factory=dict)
    attempted: bytes = b""
    """Digest of what was asked for when conditions were last told that it is another."""
    finished: tuple[Any, ...] = ()
    """What all was as it should be for: versions of the ManagedResource and of its Secrets, and what the status says of
    them; empty where it was not."""
    unserved: Mapping[Kind, datetime] = field(default_factory=dict)
    """Since when kinds were found not to be served, of objects that are to go."""
    checked: bytes = b""
    """Digest of the values that the checksum is of."""
    checksum: str = ""
    """Computed last, as a large Secret takes seconds."""


def digest(value: Any) -> bytes:
    """What stands for a parsed value, and for no other; nothing does for one that is nested too deep."""
    try:
        text = json.dumps(value, sort_keys=True)
    except RecursionError:
        return b""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=_DIGEST_LENGTH).digest()


def version_of(manifest: Manifest) -> tuple[Any, Any]:
    """What one version of an object is recognised by, whole or projected."""
    metadata = manifest.get("metadata") or {}
    return metadata.get("uid"), metadata.get("resourceVersion")


def spec_version(managed_resource: Manifest) -> tuple[Any, Any]:
    """What changes if, and only if, the spec of a ManagedResource changes."""
    metadata = managed_resource.get("metadata") or {}
    return metadata.get("uid"), metadata.get("generation")
