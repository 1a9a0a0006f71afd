"""What is kept of ManagedResources and of Secrets, alike for all controllers that watch them, so that it is kept once.

Of a Secret that is metadata: who needs its data asks for it.

Source: managed-resources §7.1, §10, §11.1.
"""

from typing import Any, Final

from hedgerow.machinery.objects import Manifest

_SECRET_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "finalizers", "deletionTimestamp")


def kept_of_managed_resource(managed_resource: Manifest) -> Manifest:
    """All but who wrote which field: any other may be compared with what is to be written."""
    metadata: dict[str, Any] = {**(managed_resource.get("metadata") or {})}
    metadata.pop("managedFields", None)
    return {**managed_resource, "metadata": metadata}


def kept_of_secret(secret: Manifest) -> Manifest:
    """Which Secret it is, of which version, and what holds it back from being deleted."""
    metadata = secret.get("metadata") or {}
    return {"metadata": {name: metadata[name] for name in _SECRET_METADATA if name in metadata}}
