"""What offline commands say about ManagedResources beside the plan for them.

Which ones a plan leaves alone, and why: that nothing is to be done about them is no sign of health. And which ones
deliver manifests that cannot be applied.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.api.managed_resources import (
    DEFAULT_CLASS,
    FINALIZER,
    IGNORE,
    OPERATION,
    RESOURCES_APPLIED,
    ClassFilter,
    class_of,
    is_ignored,
)
from hedgerow.machinery.conditions import ConditionStatus, conditions_of, find
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, annotations_of, is_terminating, key_of
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.server_defaults.differences import as_readable
from hedgerow_adapters.files.sources import printable
from hedgerow_entrypoints.components.registry import Remarks
from hedgerow_entrypoints.errors import abridged

_WAITS: Final = "wait-for-state"


def _notes(controller: Controller[Any], snapshot: Snapshot) -> Iterator[str]:
    names: Mapping[str, list[str]] = defaultdict(list)
    for each in snapshot.list(controller.primary, cluster=controller.primary_cluster):
        if reason := _reason(each, controller.config.class_filter):
            names[reason].append(str(key_of(each)))
    for reason, found in names.items():
        subjects, are = ("ManagedResource", "is") if len(found) == 1 else ("ManagedResources", "are")
        yield f"{subjects} {abridged([printable(name) for name in found])} {are} {printable(reason)}"


def _failures(controller: Controller[Any], managed_resource: Manifest) -> Iterator[Failure]:
    """What a ManagedResource of this class says of manifests that cannot be applied, which who plans has to correct."""
    applied = find(conditions_of(managed_resource), RESOURCES_APPLIED)
    is_ours = controller.config.class_filter.is_responsible(managed_resource)
    if is_ours and applied and applied.status == ConditionStatus.FALSE:
        yield Failure(controller.primary, key_of(managed_resource), Problem("", applied.message))


MANAGED_RESOURCE_REMARKS: Final = Remarks(_notes, _failures, as_readable)


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
