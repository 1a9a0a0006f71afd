"""Whether a ManagedResource is judged at all, now or later, and which of its changes are occasion to ask.

Source: managed-resources §11.1, §11.2 steps 1 and 2.
"""

from collections.abc import Callable
from enum import Enum, auto
from typing import Final

from hedgerow.api.managed_resources import IGNORE, RESOURCES_APPLIED, ClassFilter, class_of
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.controller import Change
from hedgerow.machinery.go_syntax import parse_bool
from hedgerow.machinery.objects import Manifest, annotations_of, is_terminating
from hedgerow.machinery.reading import text_at
from hedgerow.resource_manager.health.checks import status_condition

_NOT_YET: Final = {None, ConditionStatus.PROGRESSING.value, ConditionStatus.FALSE.value}
"""What the condition `ResourcesApplied` says, or that it does not exist, while objects are not applied yet."""


class Turn(Enum):
    """What is to be done about a ManagedResource."""

    LEAVE = auto()
    """Nothing, until it changes."""
    WAIT = auto()
    """Nothing for now: its objects are not applied yet."""
    JUDGE = auto()
    """Its objects are to be looked at."""


def turn_of(managed_resource: Manifest, class_filter: ClassFilter) -> Turn:
    """Whether the objects of a ManagedResource are looked at now."""
    if is_ignored(managed_resource) or is_terminating(managed_resource):
        return Turn.LEAVE
    if not class_filter.is_responsible(managed_resource):
        return Turn.LEAVE
    return Turn.WAIT if _applied_status(managed_resource) in _NOT_YET else Turn.JUDGE


def is_ignored(managed_resource: Manifest) -> bool:
    """Whether somebody asked for a ManagedResource to be left alone."""
    return parse_bool(annotations_of(managed_resource).get(IGNORE, "")).value_or(False)  # noqa: FBT003 -- the default


def calls_for_judgement(class_filter: ClassFilter) -> Callable[[Change], bool]:
    """The predicate of changes after which a ManagedResource may have to be judged anew."""

    def passes(change: Change) -> bool:
        old, new = change.old, change.new
        if new is None or is_ignored(new) or not class_filter.passes(new):
            return False
        return old is None or _differs(old, new)

    return passes


def _differs(old: Manifest, new: Manifest) -> bool:
    return class_of(old) != class_of(new) or _applied_status(old) != _applied_status(new) or is_ignored(old)


def _applied_status(managed_resource: Manifest) -> str | None:
    applied = status_condition(managed_resource, RESOURCES_APPLIED)
    return None if applied is None else text_at(applied, "status")
