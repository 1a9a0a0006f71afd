"""Tells on a Seed whether all its installations are ready. Source: controller-registration §11."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from hedgerow.api.registrations import (
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    EXTENSIONS_READY,
    HEALTHY,
    INSTALLED,
    PROGRESSING,
    SEEDS,
    VALID,
)
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import Condition, ConditionStatus, conditions_of, get_or_init, updated
from hedgerow.machinery.conditions import failed as condition_failed
from hedgerow.machinery.controller import Context, Controller, Watch
from hedgerow.machinery.failures import retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Plan, failed
from hedgerow.machinery.reading import UnreadableError, keeping
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.registration.conditions import (
    BETWEEN_WRITES,
    CheckConfig,
    conditions_changed,
    is_creation,
    write_conditions,
    writes_conditions_of,
)
from hedgerow.registration.garden import INSTALLATIONS_BY_SEED, garden_watch
from hedgerow.registration.installations import Installation, is_chart

_INSTALLED: Final = "NotAllExtensionsInstalled", "Some extensions are not installed"
_HEALTHY: Final = "NotAllExtensionsHealthy", "Some extensions are not healthy"
_EXPECTED: Final = {
    VALID: (ConditionStatus.TRUE, ("NotAllExtensionsValid", "Some extensions are not valid")),
    INSTALLED: (ConditionStatus.TRUE, _INSTALLED),
    HEALTHY: (ConditionStatus.TRUE, _HEALTHY),
    PROGRESSING: (ConditionStatus.FALSE, ("SomeExtensionsProgressing", "Some extensions are progressing")),
}
"""Status of each condition of an installation, and reason and opening of what the Seed says if it is another one.

The first that an installation lacks counts.
"""
_OF_OTHERS: Final = frozenset({VALID, INSTALLED})
"""What an installation has to tell that somebody else deploys (§7)."""


def seed_check_controller(config: CheckConfig, concurrency: int = 5) -> Controller[CheckConfig]:
    """The controller for a configuration."""

    def own(keys: Iterable[ObjectKey]) -> list[ObjectKey]:
        return [key for key in keys if config.seed in {"", key.name}]

    return Controller(
        name="seed-extensions-check",
        primary=SEEDS,
        primary_cluster=Cluster.SOURCE,
        watches=(
            Watch(
                SEEDS,
                keeping("metadata.name", "metadata.uid", "metadata.resourceVersion", "status.conditions"),
                lambda seed, _snapshot: own([key_of(seed)]),
                is_creation,
                cluster=Cluster.SOURCE,
            ),
            garden_watch(
                CONTROLLER_INSTALLATIONS,
                lambda installation, _snapshot: own(INSTALLATIONS_BY_SEED.values(installation)),
                conditions_changed(*_EXPECTED),
            ),
            garden_watch(CONTROLLER_REGISTRATIONS),
            garden_watch(CONTROLLER_DEPLOYMENTS),
        ),
        indexes=(INSTALLATIONS_BY_SEED,),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        yields_to=("controllerinstallation", "controllerinstallation-care"),
        longest_wait=config.sync_period.total_seconds(),
        shortest_wait=BETWEEN_WRITES,
        permissions=writes_conditions_of(SEEDS),
    )


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[CheckConfig]) -> Plan:
    """Write into the status of one Seed whether its installations are ready."""
    seed, config = snapshot.get(SEEDS, key, Cluster.SOURCE), context.config
    if seed is None or config.seed not in {"", key.name}:
        return Plan()
    installations = snapshot.by_index(INSTALLATIONS_BY_SEED, key)
    of_others = {key_of(each).name for each in installations if _is_of_others(each, snapshot)}

    def check(existing: Sequence[Condition]) -> list[Condition]:
        old = get_or_init(existing, EXTENSIONS_READY, context.now)
        return [extensions_ready(installations, of_others, old, config.threshold, context.now)]

    problem = await write_conditions(SEEDS, seed, check, "installations-judged")
    if problem is not None:
        return failed(retryable_failure(SEEDS, key, problem))
    return Plan(requeue_after=config.sync_period.total_seconds())


def _is_of_others(manifest: Manifest, snapshot: Snapshot) -> bool:
    """True if somebody else deploys an installation; one that cannot be read is the project's."""
    try:
        installation = Installation.of(manifest)
    except UnreadableError:
        return False
    holder = snapshot.get(*installation.holder, Cluster.SOURCE)
    return holder is not None and not is_chart(installation, holder)


def extensions_ready(
    installations: Iterable[Manifest], of_others: Collection[str], old: Condition, threshold: timedelta, now: datetime
) -> Condition:
    """The condition of a Seed, given its installations and which of them somebody else deploys.

    Those need not say whether they are healthy. While the threshold lasts, what is not ready counts as progressing.
    """
    groups: dict[tuple[str, str], dict[str, str]] = {group: {} for _, group in _EXPECTED.values()}
    for manifest in sorted(installations, key=key_of):
        name = key_of(manifest).name
        required = _OF_OTHERS if name in of_others else _EXPECTED.keys()
        for group, message in _problems(conditions_of(manifest), required).items():
            groups[group][name] = message
    for (reason, opening), messages in groups.items():
        if messages:
            text = f"{opening}: map[{' '.join(f'{name}:{message}' for name, message in messages.items())}]"
            is_tolerated = threshold > timedelta(0) and old.status != ConditionStatus.FALSE
            return condition_failed(old, reason, text, now=now, threshold=threshold if is_tolerated else None)
    message = "All extensions installed into the seed cluster are ready and healthy."
    return updated(old, ConditionStatus.TRUE, "AllExtensionsReady", message, now=now)


def _problems(conditions: Sequence[Condition], required: Collection[str]) -> dict[tuple[str, str], str]:
    """The groups that an installation is in, each with the message about it."""
    if not conditions:
        return {_INSTALLED: "extension was not yet installed"}
    reported = {each.type: each for each in conditions if each.type in _EXPECTED}
    problems = {
        group: reported[type_].message
        for type_, (status, group) in _EXPECTED.items()
        if type_ in reported and reported[type_].status != status
    }
    if not reported.keys() >= set(required):
        problems.setdefault(_HEALTHY, "not all required conditions found in ControllerInstallation")
    return problems
