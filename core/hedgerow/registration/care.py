"""Tells how an installation is: the conditions of its ManagedResource become conditions of the ControllerInstallation.

Source: controller-registration §9.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

from hedgerow.api.managed_resources import (
    MANAGED_RESOURCES,
    RESOURCES_APPLIED,
    RESOURCES_HEALTHY,
    RESOURCES_PROGRESSING,
)
from hedgerow.api.registrations import (
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    HEALTHY,
    INSTALLED,
    PROGRESSING,
    SEED_NAMESPACE,
    VALID,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.conditions import Condition, ConditionStatus, conditions_of, find, get_or_init, updated
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.failures import Failure, retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating
from hedgerow.machinery.plan import Plan, failed
from hedgerow.machinery.questions import NOT_FOUND, Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, integer_at
from hedgerow.machinery.reported_states import ReportedStates, conditions_reported
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.registration.conditions import (
    BETWEEN_WRITES,
    CheckConfig,
    conditions_changed,
    is_creation,
    write_conditions,
    writes_conditions_of,
)
from hedgerow.registration.garden import garden_watch
from hedgerow.registration.installations import Installation, is_chart, is_for, managed_resource_watch, own_keys


def care_controller(config: CheckConfig, concurrency: int = 20) -> Controller[CheckConfig]:
    """The controller for a configuration."""
    holders = (CONTROLLER_REGISTRATIONS, CONTROLLER_DEPLOYMENTS)
    return Controller(
        name="controllerinstallation-care",
        primary=CONTROLLER_INSTALLATIONS,
        primary_cluster=Cluster.SOURCE,
        watches=(
            garden_watch(CONTROLLER_INSTALLATIONS, own_keys(config.seed), is_creation),
            managed_resource_watch(conditions_changed(RESOURCES_APPLIED, RESOURCES_HEALTHY, RESOURCES_PROGRESSING)),
            *map(garden_watch, holders),
        ),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        yields_to=("controllerinstallation",),
        longest_wait=config.sync_period.total_seconds(),
        shortest_wait=BETWEEN_WRITES,
        permissions=(
            *writes_conditions_of(CONTROLLER_INSTALLATIONS),
            *(Permission.of(holder, "get", cluster=Cluster.SOURCE) for holder in holders),
            Permission.of(MANAGED_RESOURCES, "get", namespace=SEED_NAMESPACE),
        ),
        reported=ReportedStates(
            "hedgerow_controller_installation_condition",
            "Conditions of ControllerInstallations, each with its status; always 1.",
            conditions_reported(VALID, INSTALLED, HEALTHY, PROGRESSING, concerns=partial(is_for, config.seed)),
        ),
    )


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[CheckConfig]) -> Plan:
    """Write into the status of one installation how its ManagedResource is."""
    manifest = snapshot.get(CONTROLLER_INSTALLATIONS, key, Cluster.SOURCE)
    if manifest is None or is_terminating(manifest) or not is_for(context.config.seed, manifest):
        return Plan()
    try:
        installation = Installation.of(manifest)
    except UnreadableError as error:
        return failed(Failure(CONTROLLER_INSTALLATIONS, key, error.problem))
    if not await _is_chart(installation, snapshot):
        return Plan()
    name = ObjectKey(SEED_NAMESPACE, key.name)
    found = snapshot.get(MANAGED_RESOURCES, name) or await _looked_for(name, conditions_of(manifest))
    try:
        problem = await write_conditions(
            CONTROLLER_INSTALLATIONS,
            manifest,
            partial(_conditions, found, name, now=context.now),
            "installation-judged",
            applies=lambda latest: not is_terminating(latest),
        )
    except UnreadableError as error:
        return failed(Failure(MANAGED_RESOURCES, name, error.problem))
    if isinstance(found, NotAnswered) and not found.is_not_found:
        problem = problem or _unread(name, found)
    if problem is not None:
        return failed(retryable_failure(CONTROLLER_INSTALLATIONS, key, problem))
    return Plan(requeue_after=1 if isinstance(found, NotAnswered) else context.config.sync_period.total_seconds())


async def _is_chart(installation: Installation, snapshot: Snapshot) -> bool:
    """True if the project deploys it. Asks before it concludes that from nothing but the finalizer."""
    holder = snapshot.get(*installation.holder, Cluster.SOURCE)
    if holder is None and is_chart(installation, None):
        answer = await ObjectQuestion(*installation.holder, Cluster.SOURCE)
        holder = answer.objects[0] if isinstance(answer, Found) else None
    return is_chart(installation, holder)


async def _looked_for(name: ObjectKey, conditions: Sequence[Condition]) -> Manifest | NotAnswered:
    """The ManagedResource that the cache lacks. Asks for it, unless the conditions say already that it is missing."""
    missing = NotAnswered(404, NOT_FOUND, f'ManagedResource "{name}" not found')
    if {each.type for each in conditions if each.message == _unread(name, missing)}.issuperset(_ASPECTS):
        return missing
    answer = await ObjectQuestion(MANAGED_RESOURCES, name, Cluster.TARGET)
    if isinstance(answer, Found):
        return answer.objects[0]
    return missing if answer.is_not_found else answer


def _unread(name: ObjectKey, answer: NotAnswered) -> str:
    return f'Failed to get ManagedResource "{name}": {answer.message}'


_ASPECTS: Final = {
    HEALTHY: (
        RESOURCES_HEALTHY,
        "ControllerNotHealthy",
        ("ControllerHealthy", "The controller running in the seed cluster is healthy."),
    ),
    INSTALLED: (
        RESOURCES_APPLIED,
        "InstallationPending",
        ("InstallationSuccessful", "The controller was successfully installed in the seed cluster."),
    ),
    PROGRESSING: (
        RESOURCES_PROGRESSING,
        "ControllerNotRolledOut",
        ("ControllerRolledOut", "The controller has been rolled out successfully."),
    ),
}
"""The condition of a ManagedResource behind each of an installation, in the order in which they are written.

Beside the reason while that is not as expected, and reason and message once it is.
"""


def _conditions(
    found: Manifest | NotAnswered, name: ObjectKey, existing: Sequence[Condition], now: datetime
) -> list[Condition]:
    """The conditions of an installation, given its ManagedResource, or why that is not known."""
    conditions = []
    for type_, (source, pending, fine) in _ASPECTS.items():
        expected, other = ConditionStatus.TRUE, ConditionStatus.FALSE
        if type_ == PROGRESSING:
            expected, other = other, expected
        if isinstance(found, NotAnswered):
            content = (ConditionStatus.UNKNOWN, "SeedReadError", _unread(name, found))
        elif (problem := _problem(found, name, source, expected)) is not None:
            content = (other, pending, problem)
        else:
            content = (expected, *fine)
        conditions.append(updated(get_or_init(existing, type_, now), *content, now=now))
    return conditions


def _problem(managed_resource: Manifest, name: ObjectKey, source: str, expected: str) -> str | None:
    """What is not as expected. Only applied has to be the latest generation; healthy may be an older one."""
    generation = integer_at(managed_resource, "metadata", "generation") or 0
    observed = integer_at(managed_resource, "status", "observedGeneration") or 0
    if source == RESOURCES_APPLIED and observed != generation:
        return f"observed generation of managed resource {name} outdated ({observed}/{generation})"
    condition = find(conditions_of(managed_resource), source)
    if condition is None:
        return f"condition {source} for managed resource {name} has not been reported yet"
    if condition.status == expected:
        return None
    return f"condition {source} of managed resource {name} is {condition.status}: {condition.message}"
