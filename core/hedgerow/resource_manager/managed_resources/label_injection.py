"""Which labels a managed object and the objects made from its templates get on top of their own.

Pods and PersistentVolumeClaims are reached through the template fields of workloads, of whatever kind. Selectors are
left alone, for they cannot be changed, and so are the templates of CronJobs.

Source: managed-resources §7.9.
"""

from collections.abc import Mapping

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import object_at, texts_at, with_each, with_value


def with_injected_labels(manifest: Manifest, labels: Mapping[str, str]) -> Manifest:
    """The object with labels at itself and in its templates, where they replace what stands there.

    Args:
        manifest: the object; it stays as it is, and what is returned shares with it what does not change.
        labels: what to add; the object itself is returned if there are none.

    Raises:
        UnreadableError: labels, or what they stand in, have another shape.
    """
    if not labels:
        return manifest
    injected = _labelled(manifest, labels)
    if object_at(manifest, "spec").get("template") is not None:
        injected = _labelled(injected, labels, "spec", "template")
    return with_each(injected, ("spec", "volumeClaimTemplates"), lambda claim: _labelled(claim, labels))


def _labelled(manifest: Manifest, labels: Mapping[str, str], *path: str) -> Manifest:
    """The object with labels added to the metadata below a path."""
    place = (*path, "metadata", "labels")
    return with_value(manifest, place, {**texts_at(manifest, *place), **labels})
