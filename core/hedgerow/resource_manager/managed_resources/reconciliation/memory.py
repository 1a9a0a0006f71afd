"""What a turn leaves to the next one, so that what has not changed is neither read nor compared again.

It is small: of each object that is as it should be, by what the cached version of it is recognised. A process that has
just started has no memory, and reads everything once.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource
from hedgerow.resource_manager.managed_resources.autoscalers import Scaling
from hedgerow.resource_manager.managed_resources.equivalences import Identity
from hedgerow.resource_manager.managed_resources.stored.differences import Difference

_DIGEST_LENGTH = 16


class Remembered(NamedTuple):
    """One object that is as its manifest asks for."""

    identity: Identity
    resource: Resource
    key: ObjectKey
    asked: bytes
    """Digest of all that has a say in it, beside what was asked before."""
    fingerprint: str
    """Of the live object."""
    seen: datetime
    """When the whole of it was last looked at, or written."""
    settled: tuple[Difference, ...] = ()
    """What the server makes of it beyond what is known."""
    scaling: Scaling = Scaling()
    """What autoscalers set of it."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What was the case at the end of a turn."""

    objects: Mapping[Identity, Remembered] = field(default_factory=dict)
    attempted: bytes = b""
    """Digest of what was asked for when conditions were last told that it is another."""
    finished: tuple[Any, ...] = ()
    """What all was as it should be for: versions of the ManagedResource and of its Secrets, and what the status says of
    them; empty where it was not."""
    unserved: Mapping[Kind, datetime] = field(default_factory=dict)
    """Since when kinds were found not to be served, of objects that are to go."""


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
