"""What is said, and remembered, when all that can be read is applied.

Source: managed-resources §7.10, decision "undecodable documents".
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.plan import Event, JsonPatch, Plan
from hedgerow.resource_manager.managed_resources.names import MANAGED_RESOURCES, RESOURCES_APPLIED
from hedgerow.resource_manager.managed_resources.reconciliation.cleaning import foreign_events
from hedgerow.resource_manager.managed_resources.reconciliation.invalidating import asked_for
from hedgerow.resource_manager.managed_resources.reconciliation.memory import Memory
from hedgerow.resource_manager.managed_resources.reconciliation.settled import finished
from hedgerow.resource_manager.managed_resources.reconciliation.stage import (
    Stage,
    Statement,
    event,
    status_write,
    warning_of,
)

_APPLIED: Final = Statement(RESOURCES_APPLIED, ConditionStatus.TRUE, "ApplySucceeded", "All resources are applied.")


def finish(stage: Stage) -> Plan:
    """The status tells what was applied, and whether that is all."""
    desired, statement = stage.desired, _statement(stage)
    references, generation = desired.in_status(), _generation(stage)
    actions = status_write(
        stage,
        "applied" if statement is _APPLIED else statement.reason,
        statement,
        resources=references,
        checksum=desired.checksum,
        observed_generation=generation,
    )
    told = {
        "observedGeneration": generation,
        "resources": references,
        "secretsDataChecksum": desired.checksum,
    }
    return Plan(
        actions,
        events=tuple(_events(stage, statement)) if actions else (),
        failures=_failures(stage),
        requeue_after=stage.config.sync_period,
        memory=_memory(stage, told, statement.reason),
    )


def _statement(stage: Stage) -> Statement:
    if not stage.desired.decoding_errors:
        return _APPLIED
    message = f"Could not {_undecoded(stage)}"
    return Statement(RESOURCES_APPLIED, ConditionStatus.FALSE, "DecodingFailed", message)


def _failures(stage: Stage) -> tuple[DomainFailure, ...]:
    """What could not be decoded can only be corrected, which is an event of its own."""
    if not stage.desired.decoding_errors:
        return ()
    return (DomainFailure(MANAGED_RESOURCES, stage.key, "", f"could not {_undecoded(stage)}"),)


def _undecoded(stage: Stage) -> str:
    return f"decode all new resources: [{' '.join(stage.desired.decoding_errors)}]"


def _generation(stage: Stage) -> int:
    generation = (stage.managed_resource.get("metadata") or {}).get("generation")
    return generation if isinstance(generation, int) else 0


def _memory(stage: Stage, status: Mapping[str, Any], reason: str) -> Memory:
    """What is known of every single object makes the next turn short."""
    objects = {each.identity: each for each in stage.applied}
    is_complete = len(objects) == len(stage.desired.objects)
    return Memory(objects, asked_for(stage), finished(stage, status, reason) if is_complete else ())


def _events(stage: Stage, statement: Statement) -> Iterator[Event]:
    if statement.status is ConditionStatus.FALSE:
        yield from warning_of(stage, statement.reason, statement.message)
    elif _was_in_trouble(stage):
        yield event(stage, "Normal", statement.reason, statement.message)
    yield from foreign_events(stage)
    if repeated := stage.desired.repeated:
        objects = ", ".join(f'"{identity}"' for identity in repeated)
        yield event(
            stage, "Warning", "RepeatedResources", f"only the last of several manifests is applied of {objects}"
        )


def _was_in_trouble(stage: Stage) -> bool:
    """Whether the condition was false when this turn began."""
    before = [
        _condition_before(outcome.action) for outcome in stage.own_writes() if isinstance(outcome.action, JsonPatch)
    ]
    if before:
        return before[0] == ConditionStatus.FALSE
    said = stage.said(RESOURCES_APPLIED)
    return said is not None and said.status == ConditionStatus.FALSE


def _condition_before(patch: JsonPatch) -> str:
    """What a status was that a patch replaces: the patch tests for it."""
    tested = {operation["path"]: operation["value"] for operation in patch.operations if operation["op"] == "test"}
    types = (path for path, value in tested.items() if path.endswith("/type") and value == RESOURCES_APPLIED)
    return next((str(tested.get(f"{path.removesuffix('type')}status")) for path in types), "")
