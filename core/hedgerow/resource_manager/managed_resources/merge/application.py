"""What to write so that an object of a manifest is applied: nothing, most of the time.

Source: managed-resources §7.9, §8.6; decision "steady state".
"""

from dataclasses import dataclass
from typing import TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.api.managed_resources import DESCRIPTION, is_ignored
from hedgerow.machinery.failures import Problem, annotation_path
from hedgerow.machinery.objects import Manifest, annotations_of
from hedgerow.resource_manager.managed_resources.merge.additions import with_additions
from hedgerow.resource_manager.managed_resources.merge.merging import Instructions, merge
from hedgerow.resource_manager.managed_resources.server_defaults.differences import Difference, differences
from hedgerow.resource_manager.managed_resources.server_defaults.kinds import stored_rule
from hedgerow.resource_manager.managed_resources.server_defaults.readable import as_readable
from hedgerow.resource_manager.managed_resources.server_defaults.rules import Stored


@dataclass(frozen=True, slots=True)
class CreateObject:
    """The object is to be created."""

    manifest: Manifest


@dataclass(frozen=True, slots=True)
class UpdateObject:
    """The object is to be written in place of the live one, if that still is of the version it was merged with."""

    manifest: Manifest
    because: tuple[Difference, ...]
    """What the update changes; nothing if it is only sent because updates are always to be sent."""


@dataclass(frozen=True, slots=True)
class LeaveObject:
    """The live object is as it should be."""


Application: TypeAlias = CreateObject | UpdateObject | LeaveObject


def application(
    desired: Manifest,
    live: Manifest | None,
    instructions: Instructions,
    *,
    rule: Stored | None = None,
    settled: tuple[Difference, ...] = (),
    always_update: bool = False,
) -> Result[Application, Problem]:
    """What to write so that one object of a manifest is applied.

    Args:
        desired: the object as the manifest has it, without injected labels.
        live: the object as it is in the cluster; none if there is none.
        instructions: what else has a say in the merge.
        rule: how the server stores objects of this kind, for custom resources; those of Kubernetes are known.
        settled: what `left_by_the_server` said of the last write of this object; nothing if there was none.
        always_update: whether to write a live object even if that changes nothing.
    """
    if is_ignored(desired):
        return Success(_application_of_an_ignored(desired, live))
    result = merge(desired, live, instructions)
    if live is None:
        return result.map(CreateObject)
    if isinstance(result, Failure):
        return Failure(result.failure())
    try:
        merged = with_additions(result.unwrap(), live)
        found = left_by_the_server(merged, live, rule)
    except RecursionError:
        return Failure(Problem("", "object is nested too deep to be compared"))
    if found == settled:
        found = ()
    return Success(UpdateObject(merged, found) if found or always_update else LeaveObject())


def left_by_the_server(sent: Manifest, answered: Manifest, rule: Stored | None = None) -> tuple[Difference, ...]:
    """What an API server has otherwise than it was sent, beyond what is known of it.

    After a write these differences are settled: who sends the same once more gets the same answer.

    Args:
        sent: the object that was written.
        answered: the object as the server stored it.
        rule: how the server stores objects of this kind, for custom resources; those of Kubernetes are known.
    """
    return differences(as_readable(sent), answered, rule or stored_rule(sent))


def _application_of_an_ignored(desired: Manifest, live: Manifest | None) -> Application:
    """Once it exists it is only told not to say any more that nobody may edit it."""
    if live is None:
        return CreateObject(desired)
    found = annotations_of(live)
    if DESCRIPTION not in found:
        return LeaveObject()
    annotations = {key: value for key, value in found.items() if key != DESCRIPTION}
    released = {**live, "metadata": {**live["metadata"], "annotations": annotations}}
    because = Difference(annotation_path(DESCRIPTION), None, found[DESCRIPTION])
    return UpdateObject(released, (because,))
