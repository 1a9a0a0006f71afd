"""Which ManagedResources a plan leaves alone, and why: that nothing is to be done about them is no sign of health."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from hedgerow.machinery.objects import Manifest, annotations_of, is_terminating, key_of
from hedgerow.resource_manager.managed_resources.class_filter import ClassFilter, class_of
from hedgerow.resource_manager.managed_resources.merge.application import is_ignored
from hedgerow.resource_manager.managed_resources.names import DEFAULT_CLASS, FINALIZER, IGNORE, OPERATION
from hedgerow_adapters.files.loaded import printable
from hedgerow_entrypoints.worlds import abridged

_WAITS: Final = "wait-for-state"


def remarks(managed_resources: Iterable[Manifest], class_filter: ClassFilter) -> Iterator[str]:
    """A sentence for each reason to leave ManagedResources alone, with those to which it applies.

    Args:
        managed_resources: all there are.
        class_filter: for whom is planned.
    """
    names: Mapping[str, list[str]] = defaultdict(list)
    for each in managed_resources:
        if reason := _reason(each, class_filter):
            names[reason].append(str(key_of(each)))
    for reason, found in names.items():
        subjects, are = ("ManagedResource", "is") if len(found) == 1 else ("ManagedResources", "are")
        yield f"{subjects} {abridged([printable(name) for name in found])} {are} {printable(reason)}"


def _reason(managed_resource: Manifest, class_filter: ClassFilter) -> str | None:
    own_class, asked_for = class_filter.own_class or DEFAULT_CLASS, class_of(managed_resource)
    if not class_filter.passes(managed_resource):
        return f'of class "{asked_for}", planned for is "{own_class}"'
    if not class_filter.has_to_act(managed_resource):
        finalizers = managed_resource["metadata"]["finalizers"]
        holder = next(each for each in finalizers if isinstance(each, str) and each.startswith(FINALIZER))
        return f"held by another class until that takes the finalizer {holder} away"
    if annotations_of(managed_resource).get(OPERATION) == _WAITS:
        return f"left alone, as the annotation {OPERATION}={_WAITS} says"
    if is_ignored(managed_resource) and not is_terminating(managed_resource):
        return f"ignored, as the annotation {IGNORE} says"
    return None
