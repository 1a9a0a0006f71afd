"""How what is said of a ManagedResource gets into its status, beside others who say something there.

Three controllers write conditions of one object side by side. Each replaces only its own, and only if that still says
what it said when the decision was made; only where a condition is new nobody else may have changed anything. The rest
of the status has one author. Whether it still says so is told by all of it but the message: a server compares texts as
they are spelled, and what people have written can be spelled in many ways.

Knows no condition by name, and does not decide what they say.

Source: managed-resources §2.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import Condition
from hedgerow.machinery.json_diff import Operation
from hedgerow.machinery.objects import Manifest, key_of, resource_version_of
from hedgerow.machinery.plan import JsonPatch
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES

_TELLING: Final = ("type", "status", "reason", "lastTransitionTime", "lastUpdateTime")
"""Members that differ between two statements of one author."""


def status_patch(
    managed_resource: Manifest,
    conditions: Sequence[Condition],
    *,
    reason: str,
    resources: Sequence[Manifest] | None = None,
    checksum: str | None = None,
    observed_generation: int | None = None,
) -> JsonPatch | None:
    """The patch that brings the status to what is to be said; none where it says so already.

    Args:
        managed_resource: the object that the decision saw.
        conditions: those to be said; others stay as they are.
        reason: the rule that asks for the patch.
        resources: the references to the applied objects; none: they stay.
        checksum: of what they were applied from; none: it stays.
        observed_generation: of the spec that they were applied for; none: it stays.
    """
    said = {"observedGeneration": observed_generation, "resources": resources, "secretsDataChecksum": checksum}
    members = {name: value for name, value in said.items() if value is not None}
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
        written = [condition.manifest() for condition in conditions]
        value = {**({"conditions": written} if written else {}), **_without_nothing(members)}
        if value:
            yield from _unless_changed(managed_resource)
            yield {"op": "add", "path": "/status", "value": value}
        return
    yield from _of_conditions(managed_resource, status.get("conditions"), conditions)
    for name, value in members.items():
        if (status.get(name) or None) != (value or None):
            # Adding a member that exists replaces it.
            yield {"op": "add", "path": f"/status/{name}", "value": value}


def _without_nothing(members: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in members.items() if value}


def _of_conditions(managed_resource: Manifest, stored: Any, conditions: Sequence[Condition]) -> Iterator[Operation]:
    entries = stored if isinstance(stored, list) else []
    places: dict[Any, int] = {}
    for place, entry in enumerate(entries):
        if isinstance(entry, Mapping):
            places.setdefault(entry.get("type"), place)
    for condition in conditions:
        at = places.get(condition.type)
        if at is not None and condition.manifest() != entries[at]:
            yield from _replacement(f"/status/conditions/{at}", entries[at], condition)
    new = [condition.manifest() for condition in conditions if condition.type not in places]
    if not new:
        return
    yield from _unless_changed(managed_resource)
    if isinstance(stored, list):
        for manifest in new:
            yield {"op": "add", "path": "/status/conditions/-", "value": manifest}
    else:
        yield {"op": "add", "path": "/status/conditions", "value": new}


def _replacement(path: str, entry: Mapping[str, Any], condition: Condition) -> Iterator[Operation]:
    for member in _TELLING:
        if member in entry:
            yield {"op": "test", "path": f"{path}/{member}", "value": entry[member]}
    yield {"op": "replace", "path": path, "value": condition.manifest()}


def _unless_changed(managed_resource: Manifest) -> Iterator[Operation]:
    """What lets a patch meet none but the very version that it was computed for."""
    if version := resource_version_of(managed_resource):
        yield {"op": "test", "path": "/metadata/resourceVersion", "value": version}
