"""The controller that deletes what nothing refers to any more, round by round, declared.

What garbage is looked for among is listed before its users, so that whoever begins to use some of it in the meantime is
seen. A list that could not be completed is no list, and nothing is deleted in that round.

Source: managed-resources §15; decision A-5.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.deletion_guard import Verdict, judge_deletions
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.permissions import Permission
from hedgerow.machinery.plan import Delete, Outcome, Plan
from hedgerow.machinery.questions import Answers, Found, Kinds, ListQuestion, NotAnswered
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.garbage_collection.unused import (
    CANDIDATES,
    MINIMUM_LIFETIME,
    OLD_CRON_JOBS,
    plan_gc,
    user_resources,
)
from hedgerow.resource_manager.managed_resources.names import CONFIG_MAPS, GARBAGE_COLLECTABLE, SECRETS

NAME: Final = "garbage-collector"

_LABELLED: Final = f"{GARBAGE_COLLECTABLE}=true"
_RACES: Final = frozenset({404, 409})
"""Codes that tell of an object which is gone, or not the one any more that was looked at."""


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


def reconcile(_key: ObjectKey, _snapshot: Snapshot, context: Context[GarbageCollectorConfig]) -> Plan:
    """Do one round: list what is labelled, then its users, and delete what has none."""
    config = context.config
    if context.outcomes:
        return Plan(failures=_failure(context.outcomes), requeue_after=config.sync_period.total_seconds())
    labelled = _lists(CANDIDATES, config, label_selector=_LABELLED)
    if obstacle := _obstacle(labelled, context.answers):
        return obstacle
    return _deletions(labelled, context)


def _deletions(labelled: Sequence[ListQuestion], context: Context[GarbageCollectorConfig]) -> Plan:
    """Deletions of what is not referred to. Where they are very many the users have to be listed a second time."""
    config, answers = context.config, context.answers
    done = Plan(requeue_after=config.sync_period.total_seconds())
    if not _unused(labelled, (), context):
        return done
    resources = _users(context.kinds)
    if isinstance(resources, Plan):
        return resources
    users = _lists(resources, config)
    if obstacle := _obstacle(users, answers):
        return obstacle
    deletions = _unused(labelled, users, context)
    if judge_deletions(len(deletions), len(_objects(labelled, answers)), confirmed=False) is Verdict.CONFIRM:
        once_more = _lists(resources, config, attempt=1)
        if obstacle := _obstacle(once_more, answers):
            return obstacle
        deletions = _unused(labelled, (*users, *once_more), context)
    return Plan(deletions, goes_on=True) if deletions else done


def _lists(
    resources: Iterable[Resource], config: GarbageCollectorConfig, *, label_selector: str = "", attempt: int = 0
) -> tuple[ListQuestion, ...]:
    """The questions for all objects of resources, in the namespaces that are looked at."""
    return tuple(
        ListQuestion(resource, Cluster.TARGET, namespace, label_selector, metadata_only=True, attempt=attempt)
        for resource in resources
        for namespace in config.namespaces or ("",)
    )


def _obstacle(questions: Sequence[ListQuestion], answers: Answers) -> Plan | None:
    """The plan that asks what is not known yet, or fails since it cannot be known; none if all of it is known.

    What the cluster does not serve has no objects.
    """
    if any(question not in answers for question in questions):
        return Plan(questions=tuple(questions))
    for question in questions:
        answer = answers[question]
        if isinstance(answer, NotAnswered) and not answer.is_not_found:
            problem = f"cannot be listed: {answer.message}"
            return Plan(failures=(_retried(question.resource, ObjectKey(question.namespace, ""), problem),))
    return None


def _users(kinds: Kinds) -> tuple[Resource, ...] | Plan:
    """The resources whose objects count as users; or the plan without which nobody can tell."""
    kind = OLD_CRON_JOBS.object_kind
    match kinds.get(kind):
        case None:
            return Plan(kinds=(kind,))
        case NotAnswered() as answer if not answer.is_not_found:
            problem = f"cannot be looked up: {answer.message}"
            return Plan(failures=(_retried(OLD_CRON_JOBS, ObjectKey("", ""), problem),))
        case answer:
            return user_resources(old_cron_jobs=not isinstance(answer, NotAnswered))


def _unused(
    labelled: Sequence[ListQuestion], users: Sequence[ListQuestion], context: Context[GarbageCollectorConfig]
) -> tuple[Delete, ...]:
    """Deletions of the labelled objects that no user refers to."""
    return plan_gc(
        secrets=_objects([each for each in labelled if each.resource == SECRETS], context.answers),
        config_maps=_objects([each for each in labelled if each.resource == CONFIG_MAPS], context.answers),
        users=_objects(users, context.answers),
        now=context.now,
        min_lifetime=context.config.minimum_lifetime,
    )


def _objects(questions: Iterable[ListQuestion], answers: Answers) -> list[Manifest]:
    found = (answers[question] for question in questions)
    return [manifest for answer in found if isinstance(answer, Found) for manifest in answer.objects]


def _failure(outcomes: Iterable[Outcome]) -> tuple[DomainFailure, ...]:
    """What went wrong with the deletions of a round, as one failure, told of the first object that is still there.

    That an object has changed meanwhile is nothing wrong: the next round looks at it anew.
    """
    refused = [each for each in outcomes if each.refusal is not None and each.refusal.code not in _RACES]
    if not refused:
        return ()
    errors = [_error(outcome) for outcome in refused]
    what = f"1 error occurred: {errors[0]}" if len(errors) == 1 else f"{len(errors)} errors occurred: {_listed(errors)}"
    action = refused[0].action
    return (_retried(action.resource, action.key, f"Could not delete all unused resources: {what}"),)


def _error(outcome: Outcome) -> str:
    action, message = outcome.action, outcome.refusal.message if outcome.refusal else ""
    return f'{action.resource.kind} "{action.key}": {message}'


def _listed(errors: Iterable[str]) -> str:
    return f"[{', '.join(errors)}]"


def _retried(resource: Resource, key: ObjectKey, problem: str) -> DomainFailure:
    return DomainFailure(resource, key, "", problem, retryable=True)
