"""The controller that deletes what nothing refers to any more, round by round, declared.

What garbage is looked for among is listed before its users, so that whoever begins to use some of it in the meantime is
seen. A list that could not be completed is no list, and nothing is deleted in that round.

Source: managed-resources §15; decision A-5.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Final, TypeAlias

from hedgerow.api.kubernetes import CONFIG_MAPS, OLD_CRON_JOBS, SECRETS
from hedgerow.api.managed_resources import GARBAGE_COLLECTABLE, MANAGED_RESOURCES
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.deletion_guard import Verdict, judge_deletions
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Delete, Plan, WriteResult, failed
from hedgerow.machinery.questions import Found, KindQuestion, ListQuestion, NotAnswered
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce
from hedgerow.resource_manager.garbage_collection.unused import CANDIDATES, MINIMUM_LIFETIME, plan_gc, user_resources

NAME: Final = "garbage-collector"

_LABELLED: Final = f"{GARBAGE_COLLECTABLE}=true"
_MAY_BE_ABSENT: Final = frozenset({MANAGED_RESOURCES, OLD_CRON_JOBS})
_Objects: TypeAlias = Mapping[Resource, Sequence[Manifest]]
_CONFLICT: Final = 409
"""Code of an error: the object changed after the decision read it."""


@dataclass(frozen=True, slots=True)
class GarbageCollectorConfig:
    """When the garbage collector looks where."""

    sync_period: timedelta = timedelta(hours=1)
    """How long after a round the next one begins."""
    namespaces: tuple[str, ...] = ()
    """The only ones that are looked at; none: all."""
    minimum_lifetime: timedelta = MINIMUM_LIFETIME
    """What is younger is spared: its user may be about to be written."""


def garbage_collector(config: GarbageCollectorConfig) -> Controller[GarbageCollectorConfig]:
    """The controller for a configuration. It watches nothing, and asks anew in every round."""
    return Controller(
        name=NAME,
        primary=SECRETS,
        watches=(),
        indexes=(),
        owned=None,
        concurrency=1,
        config=config,
        reconcile=reconcile,
        periodic=True,
        permissions=(
            *(Permission.of(each, "list", "delete") for each in CANDIDATES),
            *(Permission.of(each, "list") for each in user_resources(old_cron_jobs=True)),
        ),
    )


async def reconcile(_key: ObjectKey, _snapshot: Snapshot, context: Context[GarbageCollectorConfig]) -> Plan:
    """Do one round: list what is labelled, then its users, and delete what has none."""
    deletions = await _deletions(context)
    if isinstance(deletions, Failure):
        return failed(deletions)
    failures = _failure(await AtOnce(deletions)) if deletions else ()
    return Plan(failures=failures, requeue_after=context.config.sync_period.total_seconds())


async def _deletions(context: Context[GarbageCollectorConfig]) -> tuple[Delete, ...] | Failure:
    """Deletions of what is not referred to. Where they are very many the users are listed a second time."""
    config = context.config
    labelled = await _found(CANDIDATES, config, label_selector=_LABELLED)
    if isinstance(labelled, Failure):
        return labelled

    def unused(users: Sequence[Manifest]) -> tuple[Delete, ...]:
        candidates = {"secrets": labelled.get(SECRETS, ()), "config_maps": labelled.get(CONFIG_MAPS, ())}
        return plan_gc(**candidates, users=users, now=context.now, min_lifetime=config.minimum_lifetime)

    if not unused(()):
        return ()
    users = await _users(config)
    if isinstance(users, Failure):
        return users
    deletions = unused(users)
    if judge_deletions(len(deletions), sum(map(len, labelled.values())), confirmed=False) is not Verdict.CONFIRM:
        return deletions
    once_more = await _users(config)
    return once_more if isinstance(once_more, Failure) else unused(users + once_more)


async def _found(
    resources: Iterable[Resource], config: GarbageCollectorConfig, *, label_selector: str = ""
) -> _Objects | Failure:
    """All objects of resources in the configured namespaces, or why a list failed.

    ManagedResources that the cluster does not serve have no objects. All other kinds are built in, and never absent.
    """
    questions = tuple(
        ListQuestion(resource, Cluster.TARGET, namespace, label_selector, metadata_only=True)
        for resource in resources
        for namespace in config.namespaces or ("",)
    )
    found: dict[Resource, list[Manifest]] = {}
    for question, answer in zip(questions, await AtOnce(questions), strict=True):
        if isinstance(answer, Found):
            found.setdefault(question.resource, []).extend(answer.objects)
        elif not (answer.is_not_found and question.resource in _MAY_BE_ABSENT):
            problem = f"cannot be listed: {answer.message}"
            return _retried(question.resource, ObjectKey(question.namespace, ""), problem)
    return found


async def _users(config: GarbageCollectorConfig) -> list[Manifest] | Failure:
    """All objects that may refer to others; or why they cannot be listed."""
    answer = await KindQuestion(OLD_CRON_JOBS.object_kind)
    if isinstance(answer, NotAnswered) and not answer.is_not_found:
        return _retried(OLD_CRON_JOBS, ObjectKey("", ""), f"cannot be looked up: {answer.message}")
    resources = user_resources(old_cron_jobs=not isinstance(answer, NotAnswered))
    found = await _found(resources, config)
    return found if isinstance(found, Failure) else [*chain.from_iterable(found.values())]


def _failure(results: Iterable[WriteResult]) -> tuple[Failure, ...]:
    """What went wrong with the deletions of a round, as one failure, told of the first object that is still there.

    That an object has changed meanwhile is nothing wrong: the next round looks at it anew.
    """
    refused = [(result.action, result.error) for result in results if result.error is not None]
    refused = [(action, each) for action, each in refused if not each.is_not_found and each.code != _CONFLICT]
    if not refused:
        return ()
    errors = [f'{action.resource.kind} "{action.key}": {error.message}' for action, error in refused]
    what = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
    problem = f"{len(errors)} error{'s' if errors[1:] else ''} occurred: {what}"
    action, _ = refused[0]
    return (_retried(action.resource, action.key, f"Could not delete all unused resources: {problem}"),)


def _retried(resource: Resource, key: ObjectKey, problem: str) -> Failure:
    return Failure(resource, key, Problem("", problem), retryable=True)
