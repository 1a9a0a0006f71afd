"""The controller that deletes ConfigMaps and Secrets that nothing refers to any more, round by round.

Only labelled objects are deleted, and none that is younger than it takes to write its user. Decides over metadata
alone: annotations say what a user refers to. Candidates are listed before users, so that a user that appears in the
meantime is seen. If a list fails, nothing is deleted in that round.

Secrets that seem unused as the definition of ManagedResource is lost stay: they alone say what was delivered.

Source: managed-resources §15; decision A-5.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final, TypeAlias

from returns import result
from returns.result import Result, Success

from hedgerow.api.definition_deletion import kept, lost_definition, reads_definitions
from hedgerow.api.kubernetes import (
    CONFIG_MAPS,
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    OLD_CRON_JOBS,
    PODS,
    SECRETS,
    STATEFUL_SETS,
)
from hedgerow.api.managed_resources import GARBAGE_COLLECTABLE, MANAGED_RESOURCES
from hedgerow.api.reference_annotations import CONFIG_MAP, SECRET, kind_from_annotation_key
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.deletion_guard import Verdict, judge_deletions
from hedgerow.machinery.failures import Failure, joined, retryable_failure
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    Resource,
    annotations_of,
    is_terminating,
    key_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.plan import Delete, Plan, WriteResult, failed
from hedgerow.machinery.questions import Found, KindQuestion, ListQuestion, NotAnswered
from hedgerow.machinery.reading import UnreadableError, text_at, texts_at, unexpected
from hedgerow.machinery.scalars import parse_timestamp
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce

MINIMUM_LIFETIME: Final = timedelta(minutes=10)
CANDIDATES: Final = (SECRETS, CONFIG_MAPS)
"""The resources whose objects may be garbage."""
_USERS: Final = (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, JOBS, PODS, CRON_JOBS, MANAGED_RESOURCES)
_THAT_MAY_BE_ABSENT: Final = (OLD_CRON_JOBS, MANAGED_RESOURCES)
_OF_ANY_KIND: Final = Resource("", "", "objects", "object")
_CONFLICT: Final = 409
_Objects: TypeAlias = Mapping[Resource, Sequence[Manifest]]


@dataclass(frozen=True, slots=True)
class GarbageCollectorConfig:
    """When the garbage collector looks where."""

    sync_period: timedelta = timedelta(hours=1)
    """The time between two rounds."""
    namespaces: tuple[str, ...] = ()
    """The only namespaces that it looks at; none: all."""
    minimum_lifetime: timedelta = MINIMUM_LIFETIME
    """Younger objects are spared: their users may be about to be written."""
    has_managed_resources: bool = False
    """True if source and target are one cluster. While the definition of ManagedResource is lost, Secrets stay."""


def user_resources(*, old_cron_jobs: bool) -> tuple[Resource, ...]:
    """The resources whose objects count as users; `old_cron_jobs` if the target's API server still serves them."""
    return (*_USERS, OLD_CRON_JOBS) if old_cron_jobs else _USERS


def plan_gc(
    *,
    secrets: Iterable[Manifest],
    config_maps: Iterable[Manifest],
    users: Iterable[Manifest],
    now: datetime,
    min_lifetime: timedelta = MINIMUM_LIFETIME,
) -> Result[tuple[Delete, ...], tuple[Failure, ...]]:
    """The deletions of everything that nothing refers to, by kind, namespace and name; or what cannot be read.

    An object that changes after it was listed is not deleted.

    Args:
        secrets: listed before the users, and complete.
        config_maps: listed before the users too.
        users: all objects of the `user_resources` in the namespaces of the candidates, from complete lists.
        now: the time, aware of its time zone.
        min_lifetime: younger objects are not deleted.
    """
    candidates, users = {CONFIG_MAPS: tuple(config_maps), SECRETS: tuple(secrets)}, tuple(users)
    failures = tuple(chain.from_iterable(_malformed(*each) for each in (*candidates.items(), (_OF_ANY_KIND, users))))
    return result.Failure(failures) if failures else Success(_unused(candidates, users, now - min_lifetime))


def _malformed(resource: Resource, manifests: Iterable[Any]) -> Iterator[Failure]:
    """The objects whose metadata no API server would have stored."""
    for manifest in manifests:
        key = ObjectKey("", "")
        try:
            if not isinstance(manifest, (dict, Mapping)):
                raise unexpected("manifest", "an object", manifest)
            key = ObjectKey(*(text_at(manifest, "metadata", name) or "" for name in ("namespace", "name")))
            for name in ("labels", "annotations"):
                texts_at(manifest, "metadata", name)
        except UnreadableError as error:
            yield Failure(resource, key, error.problem)


def _unused(candidates: _Objects, users: Iterable[Manifest], latest: datetime) -> tuple[Delete, ...]:
    """The deletions of candidates, which have been checked, that were created by then and are not referred to."""
    referenced = {
        (kind, key_of(user).namespace, name)
        for user in users
        for key, name in annotations_of(user).items()
        if (kind := kind_from_annotation_key(key))
    }
    deletions = [
        Delete(resource, key_of(each), "unreferenced", uid_of(each), resource_version_of(each))
        for resource, kind in ((CONFIG_MAPS, CONFIG_MAP), (SECRETS, SECRET))
        for each in candidates.get(resource, ())
        if labels_of(each).get(GARBAGE_COLLECTABLE) == "true" and not is_terminating(each)
        if _was_created_by(latest, each) and (kind, *key_of(each)) not in referenced
    ]
    return tuple(sorted(deletions, key=lambda deletion: (deletion.resource.plural, deletion.key)))


def _was_created_by(latest: datetime, manifest: Manifest) -> bool:
    """True if an object existed at a time. Without a time of creation it did; one that cannot be read may be recent."""
    created = manifest["metadata"].get("creationTimestamp")
    moment = latest if created is None else parse_timestamp(created)
    return moment is not None and moment <= latest


def garbage_collector(config: GarbageCollectorConfig) -> Controller[GarbageCollectorConfig]:
    """The controller for a configuration. It watches nothing, and lists anew in every round."""
    return Controller(
        name="garbage-collector",
        primary=SECRETS,
        watches=(),
        concurrency=1,
        config=config,
        reconcile=reconcile,
        periodic=True,
        permissions=(
            *(Permission.of(resource, "list", "delete") for resource in CANDIDATES),
            *(Permission.of(resource, "list") for resource in user_resources(old_cron_jobs=True)),
            *((reads_definitions(MANAGED_RESOURCES, cluster=Cluster.SOURCE),) if config.has_managed_resources else ()),
        ),
    )


async def reconcile(_key: ObjectKey, _snapshot: Snapshot, context: Context[GarbageCollectorConfig]) -> Plan:
    """Do one round: list labelled objects, then users, and delete the objects that have none."""
    labelled = await _found(CANDIDATES, context.config, label_selector=f"{GARBAGE_COLLECTABLE}=true")
    if isinstance(labelled, Failure):
        return failed(labelled)
    deletions = await _deletions(labelled, context)
    if isinstance(deletions, Failure):
        return failed(deletions)
    plan = Plan(deletions)
    if context.config.has_managed_resources:
        plan = await _without_lost_definition(plan, labelled.get(SECRETS, ()))
    failures = _failures(await AtOnce(plan.actions)) if plan.actions else ()
    wait = context.config.sync_period.total_seconds()
    return replace(plan, actions=(), failures=(*plan.failures, *failures), requeue_after=wait)


async def _deletions(labelled: _Objects, context: Context[GarbageCollectorConfig]) -> tuple[Delete, ...] | Failure:
    """The deletions of a round. If they are very many, the users are listed a second time."""
    config, latest = context.config, context.now - context.config.minimum_lifetime
    if not _unused(labelled, (), latest):
        return ()
    users = await _users(config)
    if isinstance(users, Failure):
        return users
    deletions = _unused(labelled, users, latest)
    if judge_deletions(len(deletions), sum(map(len, labelled.values())), confirmed=False) is not Verdict.CONFIRM:
        return deletions
    again = await _users(config)
    return again if isinstance(again, Failure) else _unused(labelled, users + again, latest)


async def _without_lost_definition(plan: Plan, secrets: Iterable[Manifest]) -> Plan:
    """The plan; without deletions of Secrets if ManagedResources that use them may be gone with their definition.

    Asked after the users were listed: a list may be short while the definition goes, and when it has just come back.
    """
    others = tuple(action for action in plan.actions if action.resource != SECRETS)
    deleted = {action.key for action in plan.actions if action.resource == SECRETS}
    unwanted = sorted((each for each in secrets if key_of(each) in deleted), key=_age)
    if not unwanted:
        return plan
    lost = await lost_definition([MANAGED_RESOURCES], Cluster.SOURCE, unwanted=unwanted)
    if lost is None:
        return plan
    if isinstance(lost, NotAnswered) and not lost.is_not_found:
        text = f"could not read whether the definition is being deleted, so no Secret is: {lost.message}"
        failure = retryable_failure(MANAGED_RESOURCES, ObjectKey("", ""), text)
        return replace(plan, actions=others, failures=(failure,))
    stays = "unused Secrets stay, this one among them"
    event = kept(SECRETS, unwanted[0], stays, Cluster.SOURCE, lost=MANAGED_RESOURCES)
    return replace(plan, actions=others, events=(event,))


def _age(manifest: Manifest) -> str:
    """What sorts the oldest objects first."""
    return text_at(manifest, "metadata", "creationTimestamp") or ""


async def _users(config: GarbageCollectorConfig) -> list[Manifest] | Failure:
    """All objects that may refer to others, or why they cannot be listed."""
    answer = await KindQuestion(OLD_CRON_JOBS.object_kind)
    if isinstance(answer, NotAnswered) and not answer.is_not_found:
        return retryable_failure(OLD_CRON_JOBS, ObjectKey("", ""), f"cannot be looked up: {answer.message}")
    found = await _found(user_resources(old_cron_jobs=not isinstance(answer, NotAnswered)), config)
    return found if isinstance(found, Failure) else [*chain.from_iterable(found.values())]


async def _found(
    resources: Iterable[Resource], config: GarbageCollectorConfig, *, label_selector: str = ""
) -> _Objects | Failure:
    """All objects of resources in the configured namespaces, or why a list failed.

    Built-in kinds are never absent.
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
        elif not answer.is_not_found or question.resource not in _THAT_MAY_BE_ABSENT:
            key = ObjectKey(question.namespace, "")
            return retryable_failure(question.resource, key, f"cannot be listed: {answer.message}")
    return found


def _failures(results: Iterable[WriteResult]) -> tuple[Failure, ...]:
    """The errors of deletions as one failure of the first object. One that is gone or has changed is no error."""
    refused = [(result.action, result.error) for result in results if result.error is not None]
    refused = [(action, error) for action, error in refused if not error.is_not_found and error.code != _CONFLICT]
    if not refused:
        return ()
    errors = [f'{action.resource.kind} "{action.key}": {error.message}' for action, error in refused]
    count = f"{len(errors)} error{'s' if errors[1:] else ''} occurred"
    first, _ = refused[0]
    text = f"Could not delete all unused resources: {count}: {joined(errors)}"
    return (retryable_failure(first.resource, first.key, text),)
