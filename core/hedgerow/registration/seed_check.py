"""Tells on a Seed whether all its installations are ready. Source: controller-registration §11."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hedgerow.api.registrations import (
    CONTROLLER_INSTALLATIONS,
    EXTENSIONS_READY,
    HEALTHY,
    INSTALLED,
    PROGRESSING,
    SEEDS,
    VALID,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.conditions import Condition, ConditionStatus, conditions_of, get_or_init, updated
from hedgerow.machinery.conditions import failed as condition_failed
from hedgerow.machinery.controller import Change, Context, Controller, Watch
from hedgerow.machinery.failures import retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Plan, failed
from hedgerow.machinery.reading import UnreadableError, keeping
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.registration.conditions import conditions_changed, write_conditions
from hedgerow.registration.indexes import INSTALLATIONS_BY_SEED
from hedgerow.registration.installations import (
    DEPLOYMENT_READS,
    Installation,
    holder_of,
    is_chart,
    transform_installation,
)

DEFAULT_CONCURRENCY: Final = 5
DEFAULT_SYNC_PERIOD: Final = timedelta(seconds=30)
_ALL_READY: Final = "All extensions installed into the seed cluster are ready and healthy."
_NOT_VALID: Final = ("NotAllExtensionsValid", "Some extensions are not valid")
_NOT_INSTALLED: Final = ("NotAllExtensionsInstalled", "Some extensions are not installed")
_NOT_HEALTHY: Final = ("NotAllExtensionsHealthy", "Some extensions are not healthy")
_PROGRESSING: Final = ("SomeExtensionsProgressing", "Some extensions are progressing")
_GROUPS: Final = (_NOT_VALID, _NOT_INSTALLED, _NOT_HEALTHY, _PROGRESSING)
"""Reasons with the openings of their messages; the first that an installation is in counts."""
_EXPECTED: Final = {
    VALID: (ConditionStatus.TRUE, _NOT_VALID),
    INSTALLED: (ConditionStatus.TRUE, _NOT_INSTALLED),
    HEALTHY: (ConditionStatus.TRUE, _NOT_HEALTHY),
    PROGRESSING: (ConditionStatus.FALSE, _PROGRESSING),
}
_OF_OTHERS: Final = frozenset({VALID, INSTALLED})
"""What an installation has to tell that somebody else deploys (§7)."""


@dataclass(frozen=True, slots=True)
class SeedCheckConfig:
    """Which Seeds are judged, and when."""

    seed: str = ""
    """The only one; empty: all."""
    threshold: timedelta = timedelta(0)
    """For how long extensions that are not ready count as progressing."""
    sync_period: timedelta = DEFAULT_SYNC_PERIOD
    """A Seed is judged again after this time, even if nothing has changed."""


def seed_check_controller(
    config: SeedCheckConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[SeedCheckConfig]:
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
                _is_creation,
                cluster=Cluster.SOURCE,
            ),
            Watch(
                CONTROLLER_INSTALLATIONS,
                transform_installation,
                lambda installation, _snapshot: own(INSTALLATIONS_BY_SEED.values(installation)),
                conditions_changed(*_EXPECTED),
                cluster=Cluster.SOURCE,
            ),
            *DEPLOYMENT_READS,
        ),
        indexes=(INSTALLATIONS_BY_SEED,),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        longest_wait=config.sync_period.total_seconds(),
        permissions=(
            Permission.of(SEEDS, "get", cluster=Cluster.SOURCE),
            Permission.of(SEEDS, "patch", cluster=Cluster.SOURCE, subresource="status"),
        ),
    )


def _is_creation(change: Change) -> bool:
    return change.old is None


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[SeedCheckConfig]) -> Plan:
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
    resource, key = holder_of(installation)
    holder = snapshot.get(resource, key, Cluster.SOURCE)
    return holder is not None and not is_chart(installation, holder)


def extensions_ready(
    installations: Iterable[Manifest], of_others: Collection[str], old: Condition, threshold: timedelta, now: datetime
) -> Condition:
    """The condition of a Seed, given its installations.

    Args:
        installations: of the Seed, in any order.
        of_others: names of those that somebody else deploys, who need not say whether they are healthy.
        old: the condition as it is.
        threshold: for how long installations that are not ready count as progressing.
        now: when it is judged.
    """
    groups: dict[tuple[str, str], dict[str, str]] = {group: {} for group in _GROUPS}
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
    return updated(old, ConditionStatus.TRUE, "AllExtensionsReady", _ALL_READY, now=now)


def _problems(conditions: Sequence[Condition], required: Collection[str]) -> dict[tuple[str, str], str]:
    """The groups that an installation is in, each with the message about it."""
    if not conditions:
        return {_NOT_INSTALLED: "extension was not yet installed"}
    told = {each.type: each for each in conditions if each.type in _EXPECTED}
    expected = {type_: _EXPECTED[type_] for type_ in told}
    problems = {
        group: told[type_].message for type_, (status, group) in expected.items() if told[type_].status != status
    }
    if not told.keys() >= set(required):
        problems.setdefault(_NOT_HEALTHY, "not all required conditions found in ControllerInstallation")
    return problems
