"""The status of a ManagedResource: how it is written, and the checks for those who wait for it.

Three controllers write conditions of one object side by side. Each replaces only its own, if that is unchanged since
the decision read it. A new condition requires that the whole object is unchanged. The rest of the status has one
author. The test for a change leaves out the message: equal texts may be spelled in several ways.

Source: managed-resources §2, §18.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hedgerow.api.managed_resources import (
    MANAGED_RESOURCES,
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
)
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import Condition, ConditionStatus, conditions_of, find
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest, key_of, resource_version_of
from hedgerow.machinery.patches import Operation
from hedgerow.machinery.plan import JsonPatch
from hedgerow.machinery.reading import UnreadableError, integer_at

_TELLING: Final = ("type", "status", "reason", "lastTransitionTime", "lastUpdateTime")
"""Members of which at least one differs between two versions of a condition."""
_TYPES: Final = frozenset({RESOURCES_APPLIED, RESOURCES_HEALTHY, RESOURCES_PROGRESSING})


def status_patch(
    managed_resource: Manifest,
    conditions: Sequence[Condition],
    *,
    reason: str,
    resources: Sequence[Manifest] | None = None,
    checksum: str | None = None,
    observed_generation: int | None = None,
) -> JsonPatch | None:
    """The patch to a desired status; none if the status is so already.

    Args:
        managed_resource: the object that the decision read.
        conditions: the desired ones. Other conditions, and members below that are none, stay.
        reason: the rule that asks for the patch.
        resources: the references to the applied objects.
        checksum: of the Secrets that they were applied from.
        observed_generation: of the spec that they were applied for.
    """
    given = {"observedGeneration": observed_generation, "resources": resources, "secretsDataChecksum": checksum}
    members = {name: value for name, value in given.items() if value is not None}
    operations = [*_operations(managed_resource, conditions, members)]
    if not operations:
        return None
    key = key_of(managed_resource)
    return JsonPatch(MANAGED_RESOURCES, key, operations, reason, subresource="status", cluster=Cluster.SOURCE)


def _operations(
    managed_resource: Manifest, conditions: Sequence[Condition], members: Mapping[str, Any]
) -> Iterator[Operation]:
    status = managed_resource.get("status")
    if not isinstance(status, Mapping):
        written = {"conditions": [condition.manifest() for condition in conditions], **members}
        if value := {name: member for name, member in written.items() if member}:
            yield from _unless_changed(managed_resource)
            yield {"op": "add", "path": "/status", "value": value}
        return
    yield from _of_conditions(managed_resource, status.get("conditions"), conditions)
    for name, value in members.items():
        if (status.get(name) or None) != (value or None):
            # Adding a member that exists replaces it.
            yield {"op": "add", "path": f"/status/{name}", "value": value}


def _of_conditions(managed_resource: Manifest, stored: Any, conditions: Sequence[Condition]) -> Iterator[Operation]:
    places: dict[Any, tuple[str, Mapping[str, Any]]] = {}
    for place, entry in enumerate(stored if isinstance(stored, list) else ()):
        if isinstance(entry, Mapping):
            places.setdefault(entry.get("type"), (f"/status/conditions/{place}", entry))
    new = []
    for condition in conditions:
        manifest = condition.manifest()
        if condition.type not in places:
            new.append(manifest)
            continue
        path, entry = places[condition.type]
        if manifest != entry:
            tests = (
                {"op": "test", "path": f"{path}/{name}", "value": entry[name]} for name in _TELLING if name in entry
            )
            yield from (*tests, {"op": "replace", "path": path, "value": manifest})
    if not new:
        return
    yield from _unless_changed(managed_resource)
    if isinstance(stored, list):
        yield from ({"op": "add", "path": "/status/conditions/-", "value": manifest} for manifest in new)
    else:
        yield {"op": "add", "path": "/status/conditions", "value": new}


def _unless_changed(managed_resource: Manifest) -> Iterator[Operation]:
    """The precondition that the object still has the version that the patch was computed for."""
    if version := resource_version_of(managed_resource):
        yield {"op": "test", "path": "/metadata/resourceVersion", "value": version}


def _outdated(managed_resource: Manifest) -> str | None:
    """The status has to be about the current spec, neither an older nor a newer one."""
    observed = integer_at(managed_resource, "status", "observedGeneration") or 0
    current = integer_at(managed_resource, "metadata", "generation") or 0
    if observed == current:
        return None
    return f"observed generation of managed resource {key_of(managed_resource)} outdated ({observed}/{current})"


def _differs(managed_resource: Manifest, condition_type: str, expected: ConditionStatus) -> str | None:
    """The condition has to exist, with the expected status."""
    condition, name = find(conditions_of(managed_resource), condition_type), key_of(managed_resource)
    if condition is None:
        return f"condition {condition_type} for managed resource {name} has not been reported yet"
    if condition.status == expected:
        return None
    return f"condition {condition_type} of managed resource {name} is {condition.status}: {condition.message}"


def check_applied(managed_resource: Manifest) -> str | None:
    """Why the current spec of a ManagedResource is not applied; none if it is."""
    try:
        outdated = _outdated(managed_resource)
    except UnreadableError as error:
        return f"managed resource {key_of(managed_resource)} is unreadable: {error}"
    return outdated or _differs(managed_resource, RESOURCES_APPLIED, ConditionStatus.TRUE)


def check_healthy(managed_resource: Manifest) -> str | None:
    """Why the objects of a ManagedResource are not healthy; none if they are."""
    return _differs(managed_resource, RESOURCES_HEALTHY, ConditionStatus.TRUE)


def check_progressing(managed_resource: Manifest) -> str | None:
    """Why a ManagedResource still rolls out; none if nothing does."""
    return _differs(managed_resource, RESOURCES_PROGRESSING, ConditionStatus.FALSE)


def check(managed_resource: Manifest) -> str | None:
    """Why the current spec of a ManagedResource is not applied and healthy; none if it is both."""
    return check_applied(managed_resource) or check_healthy(managed_resource)


def conditions_changed(change: Change) -> bool:
    """True if a change may change these checks; creation and deletion may."""
    return change.old is None or change.new is None or _said(change.old) != _said(change.new)


def _said(managed_resource: Manifest) -> dict[str, tuple[str, str, str]]:
    conditions = conditions_of(managed_resource)
    return {each.type: (each.status, each.reason, each.message) for each in conditions if each.type in _TYPES}
