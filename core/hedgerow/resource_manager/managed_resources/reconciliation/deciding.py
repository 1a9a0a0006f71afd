"""Whether anything is to be done about a ManagedResource, and by this instance.

Source: managed-resources §5, §7.1, §7.2.
"""

from typing import Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.objects import annotations_of, is_terminating
from hedgerow.machinery.plan import MergePatch, Plan
from hedgerow.resource_manager.managed_resources.merge.application import is_ignored
from hedgerow.resource_manager.managed_resources.names import (
    MANAGED_RESOURCES,
    OPERATION,
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
)
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage, Statement, status_write

RETRY_AFTER: Final = 5.0
"""Seconds after which is looked again whether what is waited for has come about."""
OPERATION_DONE: Final = "operation-begun"
"""Reason of the write that takes an operation's annotation away."""
_IGNORED: Final = ("ManagedResourceIgnored", "ManagedResource is marked to be ignored.")


def is_somebody_elses(stage: Stage) -> Stage | Plan:
    """What neither wants to be looked after by this instance nor is held by it is none of its business."""
    return stage if stage.config.class_filter.passes(stage.managed_resource) else Plan()


def is_told_what_to_do(stage: Stage) -> Stage | Plan:
    """`wait-for-state` stops everything; `reconcile` is done by going on, as if nothing was known."""
    match annotations_of(stage.managed_resource).get(OPERATION):
        case "wait-for-state":
            return Plan(memory=stage.memory)
        case "reconcile":
            patch = {"metadata": {"annotations": {OPERATION: None}}}
            done = MergePatch(MANAGED_RESOURCES, stage.key, patch, OPERATION_DONE, cluster=Cluster.SOURCE)
            return Plan((done,), goes_on=True)
        case _:
            return stage


def is_to_be_ignored(stage: Stage) -> Stage | Plan:
    """What is ignored says so, and that is all; once it is to be deleted it is ignored no longer."""
    if not is_ignored(stage.managed_resource) or is_terminating(stage.managed_resource):
        return stage
    return Plan(
        status_write(
            stage,
            "ignored",
            Statement(RESOURCES_APPLIED, ConditionStatus.TRUE, *_IGNORED),
            Statement(RESOURCES_HEALTHY, ConditionStatus.TRUE, *_IGNORED),
            Statement(RESOURCES_PROGRESSING, ConditionStatus.FALSE, *_IGNORED),
        ),
        memory=stage.memory,
    )


def is_held_by_another(stage: Stage) -> Stage | Plan:
    """As long as the instance of another class holds it, this one waits for its release.

    One that is being deleted waits as well, although §7.2 has it deleted by whoever sees it first: this instance has
    applied nothing, and may look after another cluster, where objects of the same names are somebody else's.
    """
    has_to_act = stage.config.class_filter.has_to_act(stage.managed_resource)
    return stage if has_to_act else Plan(requeue_after=RETRY_AFTER)


def is_to_go(stage: Stage) -> bool:
    """Whether this instance is to let go of it: because it is to be deleted, or because another is to have it."""
    return is_terminating(stage.managed_resource) or not stage.config.class_filter.is_responsible(
        stage.managed_resource
    )
