"""What somebody who waits for a ManagedResource concludes from its status: as it should be, or what is wrong.

Knows only the ManagedResource, none of its objects.

Source: managed-resources §18.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from hedgerow.machinery.conditions import ConditionStatus, conditions_of, find
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.health.checks import number_at
from hedgerow.resource_manager.managed_resources.names import (
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
)

Judgement: TypeAlias = Callable[[Manifest], str | None]
_TYPES: Final = frozenset({RESOURCES_APPLIED, RESOURCES_HEALTHY, RESOURCES_PROGRESSING})


def _status_is_outdated(managed_resource: Manifest) -> str | None:
    """The status has to be about the spec as it is now, neither older nor newer."""
    observed = number_at(managed_resource, "status", "observedGeneration")
    current = number_at(managed_resource, "metadata", "generation")
    if observed == current:
        return None
    return f"observed generation of managed resource {_name(managed_resource)} outdated ({observed}/{current})"


def _condition_is_not(condition_type: str, expected: ConditionStatus) -> Judgement:
    """The condition has to be there, and to say what is expected."""

    def judge(managed_resource: Manifest) -> str | None:
        condition, name = find(conditions_of(managed_resource), condition_type), _name(managed_resource)
        if condition is None:
            return f"condition {condition_type} for managed resource {name} has not been reported yet"
        if condition.status == expected:
            return None
        return f"condition {condition_type} of managed resource {name} is {condition.status}: {condition.message}"

    return judge


_APPLIED: Final = (_status_is_outdated, _condition_is_not(RESOURCES_APPLIED, ConditionStatus.TRUE))
_HEALTHY: Final = (_condition_is_not(RESOURCES_HEALTHY, ConditionStatus.TRUE),)
_ROLLED_OUT: Final = (_condition_is_not(RESOURCES_PROGRESSING, ConditionStatus.FALSE),)


def check_applied(managed_resource: Manifest) -> str | None:
    """What keeps a ManagedResource, as it is now, from being applied; none if it is."""
    return _first(_APPLIED, managed_resource)


def check_healthy(managed_resource: Manifest) -> str | None:
    """What keeps the objects of a ManagedResource from being healthy; none if they are."""
    return _first(_HEALTHY, managed_resource)


def check_progressing(managed_resource: Manifest) -> str | None:
    """What of a ManagedResource still rolls out; none if nothing does."""
    return _first(_ROLLED_OUT, managed_resource)


def check(managed_resource: Manifest) -> str | None:
    """What keeps a ManagedResource, as it is now, from being applied and healthy; none if it is both."""
    return _first((*_APPLIED, *_HEALTHY), managed_resource)


def _first(judgements: tuple[Judgement, ...], managed_resource: Manifest) -> str | None:
    try:
        return next((text for judge in judgements if (text := judge(managed_resource)) is not None), None)
    except UnreadableError as error:
        return f"managed resource {_name(managed_resource)} is unreadable: {error}"


def conditions_changed(change: Change) -> bool:
    """Whether a change may change what an observer concludes; creation and deletion may."""
    return change.old is None or change.new is None or _said(change.old) != _said(change.new)


def _said(managed_resource: Manifest) -> dict[str, tuple[str, str, str]]:
    conditions = conditions_of(managed_resource)
    return {each.type: (each.status, each.reason, each.message) for each in conditions if each.type in _TYPES}


def _name(managed_resource: Manifest) -> str:
    namespace, name = key_of(managed_resource)
    return f"{namespace}/{name}"
