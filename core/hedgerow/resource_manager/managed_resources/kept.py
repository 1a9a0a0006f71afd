"""What is kept of ManagedResources and of Secrets, alike for all controllers that watch them, so that it is kept once.

Of a Secret that is metadata: who needs its data asks for it.

Source: managed-resources §7.1, §10, §11.1.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from hedgerow.admission.token_invalidator import ACCOUNT, CONSIDER, PURPOSE
from hedgerow.machinery.objects import Manifest, annotations_of, labels_of

_SECRET_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "finalizers", "deletionTimestamp")
_SECRET_LABELS: Final = (PURPOSE, CONSIDER)
_SECRET_ANNOTATIONS: Final = (ACCOUNT,)


def kept_of_managed_resource(managed_resource: Manifest) -> Manifest:
    """All but who wrote which field: any other may be compared with what is to be written."""
    metadata: dict[str, Any] = {**(managed_resource.get("metadata") or {})}
    metadata.pop("managedFields", None)
    return {**managed_resource, "metadata": metadata}


def kept_of_secret(secret: Manifest) -> Manifest:
    """Which Secret it is, of which version, what holds it back from being deleted, and whose token it holds."""
    metadata = secret.get("metadata") or {}
    kept = {name: metadata[name] for name in _SECRET_METADATA if name in metadata}
    if labels := _some(labels_of(secret), _SECRET_LABELS):
        kept["labels"] = labels
    if annotations := _some(annotations_of(secret), _SECRET_ANNOTATIONS):
        kept["annotations"] = annotations
    return {"metadata": kept}


def _some(texts: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: texts[name] for name in names if name in texts}
