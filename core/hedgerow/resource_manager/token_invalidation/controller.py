"""The controller that labels Secrets whose static tokens are to be worthless.

Every Secret with a token gets the purpose label, by which the webhook can undo an invalidation later. The
ServiceAccount decides whether its tokens are invalidated. While a pod mounts the Secret its token stays as it is, and
the pods are listed again after as long as it has waited, 1 to 1 000 s. Of Secrets the controller sees metadata alone.

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
from hedgerow.machinery.failures import Failure, retryable_failure
from hedgerow.machinery.names import dns_subdomain_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, key_of, labels_of, resource_version_of
from hedgerow.machinery.plan import MergePatch, Plan, failed
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, boolean_at, each_at, text_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now

DEFAULT_CONCURRENCY: Final = 5
FIRST_LOOK: Final = 1.0
LONGEST_WAIT: Final = 1000.0
"""Seconds after which a Secret that a pod mounts is checked again, at first and at the longest."""


@dataclass(frozen=True, slots=True)
class Labelling:
    """The labels that a Secret lacks or has to lose."""

    labels: Mapping[str, str | None]
    """As a merge patch has them: none removes a label."""
    has_to_wait: bool = False
    """True if more labels follow once no pod mounts the Secret."""


def labelling(secret: Manifest, account: Manifest, pods: Iterable[Manifest]) -> Result[Labelling, Failure]:
    """The labels that a Secret lacks or has to lose, or which object cannot be read.

    Args:
        secret: its metadata is enough.
        account: the ServiceAccount whose token it holds.
        pods: those of its namespace; read only if the token is to be invalidated.
    """
    depends_on_pods = _depends_on_pods(secret, account)
    if isinstance(depends_on_pods, Failure):
        return result.Failure(depends_on_pods)
    labels = labels_of(secret)
    purpose = {} if PURPOSE in labels else {PURPOSE: TOKEN_INVALIDATOR}
    if not depends_on_pods:
        is_released = CONSIDER in labels and not mounts_no_token(account)
        return Success(Labelling(purpose | ({CONSIDER: None} if is_released else {})))
    is_mounted = False
    for pod in pods:
        try:
            is_mounted |= mounts(pod, key_of(secret).name)
        except UnreadableError as error:
            # The correction of a pod is no event here.
            return result.Failure(Failure(PODS, key_of(pod), error.problem, retryable=True))
    return Success(Labelling(purpose, has_to_wait=True) if is_mounted else Labelling({**purpose, CONSIDER: "true"}))


def _depends_on_pods(secret: Manifest, account: Manifest) -> bool | Failure:
    """True if a token is to be invalidated, which has to wait while a pod mounts it."""
    try:
        return mounts_no_token(account) and CONSIDER not in labels_of(secret)
    except UnreadableError as error:
        return Failure(SERVICE_ACCOUNTS, key_of(account), error.problem)


def mounts_no_token(account: Manifest) -> bool:
    """True if pods get no token of a ServiceAccount, and it has not asked to be skipped."""
    return boolean_at(account, "automountServiceAccountToken") is False and SKIP not in labels_of(account)


def mounts(pod: Manifest, secret_name: str) -> bool:
    """True if a volume of the pod, in any phase, shows the Secret, alone or as a source of a projected volume.

    The reference ignores projected volumes: their pods lose a token that they still use.
    """
    return any(secret_name in names for names in each_at(_secrets_of, pod, "spec", "volumes"))


def _secrets_of(volume: Manifest) -> tuple[str | None, ...]:
    projected = each_at(lambda source: text_at(source, "secret", "name"), volume, "projected", "sources")
    return (text_at(volume, "secret", "secretName"), *projected)


def token_invalidator(concurrency: int = DEFAULT_CONCURRENCY) -> Controller[None]:
    """The controller."""
    accounts = Watch(
        SERVICE_ACCOUNTS, transform_service_account, _listed_secrets, _changes_its_mind, is_desired_state=True
    )
    return Controller(
        name=TOKEN_INVALIDATOR,
        primary=SECRETS,
        watches=(
            Watch(SECRETS, transform_secret, own_key, _holds_a_token, metadata_only=True, is_desired_state=True),
            accounts,
        ),
        concurrency=concurrency,
        config=None,
        reconcile=reconcile,
        permissions=(
            Permission.of(SECRETS, "patch"),
            Permission.of(SERVICE_ACCOUNTS, "get"),
            Permission.of(PODS, "list"),
        ),
    )


def _holds_a_token(change: Change) -> bool:
    return change.new is not None and bool(_account_name(change.new))


def _account_name(secret: Manifest) -> str:
    return annotations_of(secret).get(SERVICE_ACCOUNT_NAME, "")


def _changes_its_mind(change: Change) -> bool:
    """True if an existing ServiceAccount may want something else of its tokens now."""
    old, new = change.old, change.new
    if old is None or new is None:
        return False
    automount = "automountServiceAccountToken"
    return old.get(automount) != new.get(automount) or labels_of(old).get(SKIP) != labels_of(new).get(SKIP)


def _listed_secrets(account: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    """The Secrets that a ServiceAccount lists; another that holds its token is handled when it changes itself."""
    namespace, names = key_of(account).namespace, each_at(lambda each: text_at(each, "name"), account, "secrets")
    return tuple(ObjectKey(namespace, name) for name in names if name)


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[None]) -> Plan:
    """Label one Secret."""
    secret = snapshot.get(SECRETS, key)
    if secret is None or not _account_name(secret):
        return Plan()
    account = await _account(ObjectKey(key.namespace, _account_name(secret)), snapshot)
    if isinstance(account, Failure):
        return failed(account)
    return Plan() if account is None else await _labelled(secret, account, snapshot, context)


async def _account(key: ObjectKey, snapshot: Snapshot) -> Manifest | Failure | None:
    """The ServiceAccount; none if it does not exist. It may be newer than the caches, so it is asked for."""
    account = snapshot.get(SERVICE_ACCOUNTS, key)
    if account is not None or dns_subdomain_problem(key.name) is not None:
        return account
    match await ObjectQuestion(SERVICE_ACCOUNTS, key, Cluster.TARGET):
        case Found((account,)):
            return account
        case NotAnswered(message=message) as answer if not answer.is_not_found:
            return retryable_failure(SERVICE_ACCOUNTS, key, f"could not fetch ServiceAccount: {message}")
        case _:
            return None


async def _labelled(secret: Manifest, account: Manifest, snapshot: Snapshot, context: Context[None]) -> Plan:
    """The plan for a Secret whose ServiceAccount exists."""
    key, pods = key_of(secret), tuple[Manifest, ...]()
    if isinstance(depends_on_pods := _depends_on_pods(secret, account), Failure):
        return failed(depends_on_pods)
    if depends_on_pods:
        answer = await ListQuestion(PODS, Cluster.TARGET, key.namespace)
        if isinstance(answer, NotAnswered):
            text = f"could not list Pods: {answer.message}"
            return failed(retryable_failure(PODS, ObjectKey(key.namespace, ""), text))
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
    actions = (_patch(secret, wanted.labels),) if wanted.labels else ()
    if not wanted.has_to_wait:
        return Plan(actions)
    since = context.state if isinstance(context.state, datetime) else now
    waited = (now - since).total_seconds()
    return Plan(actions, requeue_after=min(max(waited, FIRST_LOOK), LONGEST_WAIT), state=since)


def _patch(secret: Manifest, labels: Mapping[str, str | None]) -> MergePatch:
    reason = "service-account-token"
    if CONSIDER in labels:
        reason = "automount-disabled" if labels[CONSIDER] else "automount-enabled"
    return MergePatch(SECRETS, key_of(secret), {"metadata": {"labels": labels}}, reason, resource_version_of(secret))
