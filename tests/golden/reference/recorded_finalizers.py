"""Recorded reconciliations of finalizers in the garden."""

from collections.abc import Mapping
from typing import Any

from hedgerow.machinery import snapshot_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context
from hedgerow.machinery.objects import Kind, ObjectKey, is_terminating
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import MergePatch
from hedgerow.machinery.questions import Found, ListQuestion
from hedgerow.machinery.steps import Step
from hedgerow.registration.finalizers import PROTECTIONS, finalizer_controller, reconcile
from tests.executions import executed
from tests.golden.reference.recorded_extension import NOW


def check(recording: Mapping[str, Any]) -> None:
    """The object has the same finalizers, or is gone, and the same is an error."""
    objects = recording["objects"]
    (protection,) = (each for each in PROTECTIONS if each.resource.kind == recording["kind"])
    controller, key = finalizer_controller(protection), ObjectKey("", recording["name"])
    snapshot = snapshot_of(controller, objects).unwrap()

    def perform(step: Step[Any]) -> Found:
        assert isinstance(step, ListQuestion)
        return Found(tuple(each for each in objects if Kind.of(each) == step.resource.object_kind))

    plan, _ = executed(reconcile(key, snapshot, Context(NOW, protection)), perform)

    assert bool(plan.failures) is (recording["error"] is not None)
    manifest = snapshot.get(protection.resource, key, Cluster.SOURCE)
    for action in plan.actions:
        assert isinstance(action, MergePatch)
        manifest = apply_merge_patch(manifest, action.patch)
    finalizers = None if manifest is None else manifest["metadata"].get("finalizers") or []
    is_gone = manifest is None or (is_terminating(manifest) and not finalizers)
    assert (None if is_gone else finalizers) == recording["finalizers"]
