"""What an API server adds to objects when it stores them, as far as decisions rely on it.

Pure functions over objects; where these come from and where they go is not known here.

Source: Kubernetes documentation, "Namespaces", automatic labelling.
"""

from collections.abc import Iterable
from typing import Any

from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.machinery.objects import Manifest, key_of, labels_of


def as_stored(objects: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """The objects as they would be read back: a Namespace carries its name as a label. The inputs do not change."""
    return tuple(_labelled(manifest) if _is_namespace(manifest) else manifest for manifest in objects)


def implied_namespaces(objects: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """The Namespaces that objects live in and that are not among them, sorted by name, as they would be stored."""
    objects = tuple(objects)
    present = {key_of(manifest).name for manifest in objects if _is_namespace(manifest)}
    needed = {key_of(manifest).namespace for manifest in objects} - {""}
    return as_stored(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(needed - present)
    )


def _is_namespace(manifest: Manifest) -> bool:
    return manifest.get("kind") == "Namespace" and manifest.get("apiVersion") == "v1"


def _labelled(namespace: Manifest) -> Manifest:
    labels = {**labels_of(namespace), METADATA_NAME: key_of(namespace).name}
    metadata: dict[str, Any] = {**namespace["metadata"], "labels": labels}
    return {**namespace, "metadata": metadata}
