"""The controller that labels Secrets with tokens of ServiceAccounts whose tokens are not to be worth anything.

The purpose is set on each of them, as it lets the webhook undo an invalidation later. Whether the token is to be worth
anything is up to the ServiceAccount. Of Secrets it sees metadata alone. While a pod mounts the Secret its token stays
as it is, and the pods are listed again after as long as it has waited, 1 to 1 000 s.

Source: webhooks-and-tokens §11.1; improvements I-1, I-16, I-17.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from returns import result
from returns.result import Result, Success

from hedgerow.api.kubernetes import PODS, SECRETS, SERVICE_ACCOUNT_NAME, SERVICE_ACCOUNTS
from hedgerow.api.tokens import CONSIDER, PURPOSE, SKIP, TOKEN_INVALIDATOR, transform_secret, transform_service_account
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, Context, Controller, Watch, own_key
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.names import dns_subdomain_problem
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    Resource,
    annotations_of,
    key_of,
    labels_of,
    resource_version_of,
)
from hedgerow.machinery.plan import MergePatch, Plan, failed
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, boolean_at, each_at, text_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now

DEFAULT_CONCURRENCY: Final = 5
FIRST_LOOK: Final = 1.0
LONGEST_WAIT: Final = 1000.0
"""Seconds after which a Secret is looked at again that a pod mounts, at first and at the longest."""
CONSIDERED: Final = "automount-disabled"
RELEASED: Final = "automount-enabled"
MARKED: Final = "service-account-token"
"""Reasons of patches."""


@dataclass(frozen=True, slots=True)
class Labelling:
    """What is to be done with a Secret."""

    labels: Mapping[str, str | None]
    """Those to be set, and those to be taken away (none), as a merge patch has it; only what changes anything."""
    has_to_wait: bool = False
    """Whether more is to be done once no pod mounts the Secret."""


def labelling(secret: Manifest, account: Manifest, pods: Iterable[Manifest]) -> Result[Labelling, Failure]:
    """The labels that a Secret lacks, and those that it has to lose.

    Args:
        secret: its metadata is enough.
        account: the ServiceAccount whose token it holds.
        pods: those of its namespace; they count only where the token is to be worth nothing from now on.
    """
    pods = tuple(pods)
    asks_for_pods = _asks_for_pods(secret, account)
    if isinstance(asks_for_pods, Failure):
        return result.Failure(asks_for_pods)
    if asks_for_pods and (unreadable := next(filter(None, map(_unreadable_pod, pods)), None)):
        return result.Failure(unreadable)
    labels = labels_of(secret)
    purpose = {} if PURPOSE in labels else {PURPOSE: TOKEN_INVALIDATOR}
    if not mounts_no_token(account):
        return Success(Labelling(purpose | ({CONSIDER: None} if CONSIDER in labels else {})))
    if CONSIDER in labels:
        return Success(Labelling(purpose))
    if any(mounts(pod, key_of(secret).name) for pod in pods):
        return Success(Labelling(purpose, has_to_wait=True))
    return Success(Labelling({**purpose, CONSIDER: "true"}))


def mounts_no_token(account: Manifest) -> bool:
    """Whether a ServiceAccount has switched off that its token is mounted, and does not want to be left alone."""
    return boolean_at(account, "automountServiceAccountToken") is False and SKIP not in labels_of(account)


def mounts(pod: Manifest, secret_name: str) -> bool:
    """True if a volume of the pod, in any phase, shows the Secret, alone or as a source of a projected volume.

    The reference ignores projected volumes: their pods lose a token that they still use.
    """
    return any(secret_name in names for names in each_at(_secrets_of, pod, "spec", "volumes"))


def _secrets_of(volume: Manifest) -> tuple[str | None, ...]:
    """The names of the Secrets that a volume shows."""
    projected = each_at(lambda source: text_at(source, "secret", "name"), volume, "projected", "sources")
    return (text_at(volume, "secret", "secretName"), *projected)


def token_invalidator(concurrency: int = DEFAULT_CONCURRENCY) -> Controller[None]:
    """The controller."""
    return Controller(
        name=TOKEN_INVALIDATOR,
        primary=SECRETS,
        watches=(
            Watch(SECRETS, transform_secret, own_key, _holds_a_token, metadata_only=True, is_desired_state=True),
            Watch(
                SERVICE_ACCOUNTS, transform_service_account, _listed_secrets, _changes_its_mind, is_desired_state=True
            ),
        ),
        indexes=(),
        owned=None,
        concurrency=concurrency,
        config=None,
        reconcile=reconcile,
        permissions=(
            Permission.of(SECRETS, "patch"),
            Permission.of(SERVICE_ACCOUNTS, "get"),
            Permission.of(PODS, "list"),
        ),
    )


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[None]) -> Plan:
    """Label one Secret."""
    secret = snapshot.get(SECRETS, key)
    name = _account_name(secret)
    if secret is None or not name:
        return Plan()
    account = await _account(ObjectKey(key.namespace, name), snapshot)
    if isinstance(account, Failure):
        return failed(account)
    return Plan() if account is None else await _labelled(secret, account, snapshot, context)


async def _labelled(secret: Manifest, account: Manifest, snapshot: Snapshot, context: Context[None]) -> Plan:
    """What is to be done with a Secret whose ServiceAccount exists."""
    key, pods = key_of(secret), tuple[Manifest, ...]()
    if isinstance(asks_for_pods := _asks_for_pods(secret, account), Failure):
        return failed(asks_for_pods)
    if asks_for_pods:
        answer = await ListQuestion(PODS, Cluster.TARGET, key.namespace)
        if isinstance(answer, NotAnswered):
            return failed(_unreadable(PODS, ObjectKey(key.namespace, ""), f"could not list Pods: {answer.message}"))
        pods = answer.objects
        account = snapshot.get(SERVICE_ACCOUNTS, key_of(account)) or account
    now = await Now()
    latest = snapshot.get(SECRETS, key)
    if latest is None or resource_version_of(latest) != resource_version_of(secret):
        # The change gives the key another turn.
        return Plan(state=context.state)
    labels = labelling(secret, account, pods)
    if isinstance(labels, result.Failure):
        return failed(labels.failure())
    wanted = labels.unwrap()
    actions = (_patch(secret, wanted),) if wanted.labels else ()
    if not wanted.has_to_wait:
        return Plan(actions)
    since = context.state if isinstance(context.state, datetime) else now
    waited = (now - since).total_seconds()
    return Plan(actions, requeue_after=min(max(waited, FIRST_LOOK), LONGEST_WAIT), state=since)


def _asks_for_pods(secret: Manifest, account: Manifest) -> bool | Failure:
    """Whether it depends on pods what is to be done with a Secret."""
    try:
        return mounts_no_token(account) and CONSIDER not in labels_of(secret)
    except UnreadableError as error:
        return Failure(SERVICE_ACCOUNTS, key_of(account), error.problem)


def _unreadable_pod(pod: Manifest) -> Failure | None:
    """Why it cannot be told which Secrets a pod mounts. Its correction is no event here, so it is tried again."""
    try:
        mounts(pod, "")
    except UnreadableError as error:
        return Failure(PODS, key_of(pod), error.problem, retryable=True)
    return None


def _patch(secret: Manifest, wanted: Labelling) -> MergePatch:
    reason = MARKED if CONSIDER not in wanted.labels else CONSIDERED if wanted.labels[CONSIDER] else RELEASED
    patch = {"metadata": {"labels": wanted.labels}}
    return MergePatch(SECRETS, key_of(secret), patch, reason, resource_version_of(secret))


async def _account(key: ObjectKey, snapshot: Snapshot) -> Manifest | Failure | None:
    """The ServiceAccount; none if it does not exist. It may be newer than the caches, so it is asked for."""
    account = snapshot.get(SERVICE_ACCOUNTS, key)
    if account is not None or dns_subdomain_problem(key.name) is not None:
        return account
    match await ObjectQuestion(SERVICE_ACCOUNTS, key, Cluster.TARGET):
        case Found((account,)):
            return account
        case NotAnswered(message=message) as answer if not answer.is_not_found:
            return _unreadable(SERVICE_ACCOUNTS, key, f"could not fetch ServiceAccount: {message}")
        case _:
            return None


def _unreadable(resource: Resource, key: ObjectKey, problem: str) -> Failure:
    return Failure(resource, key, Problem("", problem), retryable=True)


def _account_name(secret: Manifest | None) -> str:
    return annotations_of(secret).get(SERVICE_ACCOUNT_NAME, "") if secret is not None else ""


def _holds_a_token(change: Change) -> bool:
    """Whether a Secret, as it is now, holds a token of a ServiceAccount."""
    return bool(_account_name(change.new))


def _changes_its_mind(change: Change) -> bool:
    """Whether a ServiceAccount that was there before may want something else of its tokens now."""
    return change.old is not None and change.new is not None and _mind(change.old) != _mind(change.new)


def _mind(account: Manifest) -> tuple[object, str | None]:
    return account.get("automountServiceAccountToken"), labels_of(account).get(SKIP)


def _listed_secrets(account: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    """The Secrets that a ServiceAccount lists; another that holds its token is looked at when it changes itself."""
    namespace = key_of(account).namespace
    names = each_at(lambda each: text_at(each, "name"), account, "secrets")
    return tuple(ObjectKey(namespace, name) for name in names if name)
