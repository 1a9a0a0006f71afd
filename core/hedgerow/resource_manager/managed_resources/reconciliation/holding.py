"""That nothing is applied for a ManagedResource before this instance holds it, and nothing is left of it after.

Source: managed-resources §5, §7.2, §7.11.
"""

from typing import Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import resource_version_of
from hedgerow.machinery.plan import Action, MergePatch, Plan
from hedgerow.machinery.reading import list_at
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES
from hedgerow.resource_manager.managed_resources.reconciliation.cleaning import foreign_events
from hedgerow.resource_manager.managed_resources.reconciliation.deciding import OPERATION_DONE
from hedgerow.resource_manager.managed_resources.reconciliation.secrets import secret_questions
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage, failure

_NOT_FOUND: Final = 404
_HOLD: Final = "held"
_RELEASE: Final = "released"
_PROBLEMS: Final = {
    _HOLD: "failed to add finalizer",
    _RELEASE: "failed to remove finalizer",
    OPERATION_DONE: "failed to remove operation annotation",
}
"""What a refused write to the ManagedResource comes to, by the reason of the write; all others write its status."""


def own_write_was_refused(stage: Stage) -> Stage | Plan:
    """Where a write to the ManagedResource itself fails, the turn ends: it is another one now, or nothing works."""
    refused = next((outcome for outcome in stage.own_writes() if outcome.refusal is not None), None)
    if refused is None or refused.refusal is None:
        return stage
    if refused.refusal.code == _NOT_FOUND:
        return Plan()
    problem = _PROBLEMS.get(refused.action.reason, "could not update the ManagedResource status")
    return Plan(failures=(failure(stage, f"{problem}: {refused.refusal.message}"),), memory=stage.memory)


def is_released(stage: Stage) -> Stage | Plan:
    """Once it is released it is nobody's, or somebody else's."""
    return Plan() if any(outcome.action.reason == _RELEASE for outcome in stage.own_writes()) else stage


def hold(stage: Stage) -> Stage | Plan:
    """The finalizer is there before anything else happens."""
    finalizers, own = list_at(stage.managed_resource, "metadata", "finalizers"), stage.config.class_filter.finalizer
    if own in finalizers:
        return stage
    return Plan((_finalizers_patch(stage, [*finalizers, own], _HOLD),), questions=secret_questions(stage), goes_on=True)


def release(stage: Stage) -> Plan:
    """Nothing is left: who waits for the ManagedResource may have it."""
    finalizers, own = list_at(stage.managed_resource, "metadata", "finalizers"), stage.config.class_filter.finalizer
    if own not in finalizers:
        return Plan()
    others = [finalizer for finalizer in finalizers if finalizer != own]
    return Plan((_finalizers_patch(stage, others or None, _RELEASE),), foreign_events(stage), goes_on=True)


def _finalizers_patch(stage: Stage, finalizers: list[str] | None, reason: str) -> Action:
    """A merge patch replaces the whole list, so it must not meet one to which somebody else has added."""
    patch = {"metadata": {"finalizers": finalizers}}
    version = resource_version_of(stage.managed_resource)
    return MergePatch(MANAGED_RESOURCES, stage.key, patch, reason, version, cluster=Cluster.SOURCE)
