"""The controller that labels Secrets with tokens of ServiceAccounts, declared.

Of Secrets it sees no more than metadata. Whether a pod mounts one is asked when it matters, and again after a while
where it does: as long as it has gone on already, so that the end of a long wait is noticed later than that of a short
one, and nothing is asked all the time.

Source: webhooks-and-tokens §11.1; improvements I-1, I-16, I-17.
"""

from datetime import datetime
from typing import Final

from hedgerow.admission.projected_token_mount import kept_of_service_account
from hedgerow.admission.resources import PODS, SECRETS, SERVICE_ACCOUNTS
from hedgerow.admission.token_invalidator import ACCOUNT, CONSIDER, NAME, SKIP
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Context, Controller, Watch
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.names import dns_subdomain_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, key_of, labels_of, resource_version_of
from hedgerow.machinery.permissions import Permission
from hedgerow.machinery.plan import MergePatch, Plan
from hedgerow.machinery.questions import Answers, Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.reading import UnreadableError, objects_at, text_at
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.kept import kept_of_secret
from hedgerow.resource_manager.token_invalidation.labelling import Labelling, labelling, needs_pods

DEFAULT_CONCURRENCY: Final = 5
FIRST_LOOK: Final = 1.0
LONGEST_WAIT: Final = 1000.0
"""Seconds after which a Secret is looked at again that a pod mounts, at first and at the longest."""

CONSIDERED: Final = "automount-disabled"
RELEASED: Final = "automount-enabled"
MARKED: Final = "service-account-token"
"""Reasons of patches."""


def token_invalidator(concurrency: int = DEFAULT_CONCURRENCY) -> Controller[None]:
    """The controller.

    Args:
        concurrency: how many Secrets are reconciled at once.
    """
    return Controller(
        name=NAME,
        primary=SECRETS,
        watches=(
            Watch(SECRETS, kept_of_secret, _own_key, _holds_a_token, metadata_only=True, asks=True),
            Watch(SERVICE_ACCOUNTS, kept_of_service_account, _listed_secrets, _changes_its_mind, asks=True),
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


def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[None]) -> Plan:
    """See to the labels of one Secret."""
    secret = snapshot.get(SECRETS, key)
    name = _account_name(secret)
    if secret is None or not name:
        return Plan()
    account = _account(ObjectKey(key.namespace, name), snapshot, context.answers)
    if account is None or isinstance(account, Plan):
        return account or Plan()
    try:
        return _plan(secret, account, context)
    except UnreadableError as error:
        return Plan(failures=(DomainFailure(SECRETS, key, "", str(error)),))


def _plan(secret: Manifest, account: Manifest, context: Context[None]) -> Plan:
    """What is to be done with a Secret whose ServiceAccount exists.

    Raises:
        UnreadableError: something in an object has another shape than an API server stores.
    """
    pods: tuple[Manifest, ...] = ()
    if needs_pods(secret, account):
        question = ListQuestion(PODS, Cluster.TARGET, key_of(secret).namespace)
        match context.answers.get(question):
            case Found(pods):
                pass
            case answer:
                return _without(question, answer, "could not list Pods")
    wanted = labelling(secret, account, pods)
    actions = (_patch(secret, wanted),) if wanted.labels else ()
    if not wanted.has_to_wait:
        return Plan(actions)
    since = context.memory if isinstance(context.memory, datetime) else context.now
    waited = (context.now - since).total_seconds()
    return Plan(actions, requeue_after=min(max(waited, FIRST_LOOK), LONGEST_WAIT), memory=since)


def _patch(secret: Manifest, wanted: Labelling) -> MergePatch:
    reason = MARKED if CONSIDER not in wanted.labels else CONSIDERED if wanted.labels[CONSIDER] else RELEASED
    patch = {"metadata": {"labels": wanted.labels}}
    return MergePatch(SECRETS, key_of(secret), patch, reason, resource_version_of(secret))


def _account(key: ObjectKey, snapshot: Snapshot, answers: Answers) -> Manifest | Plan | None:
    """The ServiceAccount, none where there is none, or the plan that asks for it: it may be newer than the caches."""
    account = snapshot.get(SERVICE_ACCOUNTS, key)
    if account is not None or dns_subdomain_problem(key.name) is not None:
        return account
    question = ObjectQuestion(SERVICE_ACCOUNTS, key, Cluster.TARGET)
    match answers.get(question):
        case Found((account,)):
            return account
        case NotAnswered() as answer if answer.is_not_found:
            return None
        case answer:
            return _without(question, answer, "could not fetch ServiceAccount")


def _without(question: Question, answer: object, problem: str) -> Plan:
    """The plan that asks a question, or fails where the answer is none."""
    if not isinstance(answer, NotAnswered):
        return Plan(questions=(question,))
    key = question.key if isinstance(question, ObjectQuestion) else ObjectKey(question.namespace, "")
    failure = DomainFailure(question.resource, key, "", f"{problem}: {answer.message}", retryable=True)
    return Plan(failures=(failure,))


def _account_name(secret: Manifest | None) -> str:
    return annotations_of(secret).get(ACCOUNT, "") if secret is not None else ""


def _holds_a_token(change: Change) -> bool:
    """Whether a Secret, as it is now, holds a token of a ServiceAccount."""
    return bool(_account_name(change.new))


def _own_key(secret: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    return (key_of(secret),)


def _changes_its_mind(change: Change) -> bool:
    """Whether a ServiceAccount that was there before may want something else of its tokens now."""
    return change.old is not None and change.new is not None and _mind(change.old) != _mind(change.new)


def _mind(account: Manifest) -> tuple[object, str | None]:
    return account.get("automountServiceAccountToken"), labels_of(account).get(SKIP)


def _listed_secrets(account: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    """The Secrets that a ServiceAccount lists; another that holds its token is looked at when it changes itself."""
    namespace = key_of(account).namespace
    return tuple(
        ObjectKey(namespace, name) for each in objects_at(account, "secrets") if (name := text_at(each, "name"))
    )
