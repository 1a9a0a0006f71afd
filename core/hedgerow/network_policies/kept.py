"""What caches keep of objects: what the controllers of NetworkPolicies read of them.

Of NetworkPolicies all of them keep the same, so that those of one process share a cache.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, annotations_of, labels_of
from hedgerow.network_policies.names import DESCRIPTION, SERVICE_NAME, SERVICE_NAMESPACE

_NOTHING: Mapping[str, Any] = {}
_IDENTITY: Final = ("name", "namespace", "uid", "resourceVersion", "deletionTimestamp")


def identity_of(manifest: Manifest) -> dict[str, Any]:
    """The metadata by which an object, its version and its end are recognised."""
    metadata = manifest.get("metadata") or _NOTHING
    return {name: metadata[name] for name in _IDENTITY if name in metadata}


def kept_of_policy(policy: Manifest) -> Manifest:
    """What the rules read of a policy: identity, the labels of its owner, the description, and the spec."""
    labels, annotations = labels_of(policy), annotations_of(policy)
    metadata = identity_of(policy)
    metadata["labels"] = {name: labels[name] for name in (SERVICE_NAME, SERVICE_NAMESPACE) if name in labels}
    metadata["annotations"] = {DESCRIPTION: annotations[DESCRIPTION]} if DESCRIPTION in annotations else {}
    return {"metadata": metadata, "spec": policy.get("spec") or {}}
