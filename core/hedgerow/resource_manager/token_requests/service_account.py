"""Sees to it that the ServiceAccount exists whose token is wanted, and that pods do not get tokens of it on their own.

What the cache shows of it is believed until a write for it is refused; then it is asked for. Its namespace is not made,
and its other fields are nobody's business here.

Source: webhooks-and-tokens §10.1, step 3.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import Create, MergePatch, Outcome, Plan, Refusal
from hedgerow.machinery.questions import Answer, Answers, Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.token_requests.names import SERVICE_ACCOUNTS

_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_AUTOMOUNT: Final = "automountServiceAccountToken"

_Change: TypeAlias = Create | MergePatch


def missing_account(key: ObjectKey, snapshot: Snapshot, answers: Answers, outcomes: Sequence[Outcome]) -> Plan | None:
    """What is still to be done until the ServiceAccount is as it should be, or why it cannot be; none if it is.

    Args:
        key: of the ServiceAccount.
        snapshot: shows ServiceAccounts of the target cluster.
        answers: what is known of what was asked in this turn.
        outcomes: what became of the actions of this turn.
    """
    question = ObjectQuestion(SERVICE_ACCOUNTS, key, Cluster.TARGET)
    answer = answers.get(question)
    if answer is None and _is_gone(key, outcomes):
        return Plan(questions=(question,))
    if isinstance(answer, NotAnswered) and not answer.is_not_found:
        return _failed(key, f"cannot be read: {answer.message}")
    change = _change(key, _account(key, snapshot, answer))
    return None if change is None else _still_to_do(change, outcomes, None if answer else question)


def _still_to_do(change: _Change, outcomes: Sequence[Outcome], question: ObjectQuestion | None) -> Plan | None:
    """What becomes of a change that a ServiceAccount needs; none if it was carried out.

    Args:
        change: what is to be done.
        outcomes: what became of the actions of this turn.
        question: for the ServiceAccount, where that can tell something new; none: that was asked already.
    """
    tried = next((each for each in outcomes if each.action == change), None)
    if tried is None:
        return Plan((change,), goes_on=True)
    if tried.refusal is None:
        return None
    if question is not None and _is_race(change, tried.refusal):
        return Plan(questions=(question,))
    verb = "created" if isinstance(change, Create) else "changed"
    return _failed(change.key, f"cannot be {verb}: {tried.refusal.message}")


def _is_gone(key: ObjectKey, outcomes: Sequence[Outcome]) -> bool:
    """Whether the ServiceAccount turned out not to exist when a token of it was asked for."""
    return any(
        each.action.resource == SERVICE_ACCOUNTS
        and each.action.key == key
        and isinstance(each.action, Create)
        and bool(each.action.subresource)
        and each.refusal is not None
        and each.refusal.code == _NOT_FOUND
        for each in outcomes
    )


def _account(key: ObjectKey, snapshot: Snapshot, answer: Answer | None) -> Manifest | None:
    """The ServiceAccount as far as is known; none if it does not exist."""
    if answer is None:
        return snapshot.get(SERVICE_ACCOUNTS, key)
    return answer.objects[0] if isinstance(answer, Found) else None


def _change(key: ObjectKey, account: Manifest | None) -> _Change | None:
    """What makes a ServiceAccount as it should be; none if it is."""
    if account is None:
        manifest = {
            "apiVersion": SERVICE_ACCOUNTS.api_version,
            "kind": SERVICE_ACCOUNTS.kind,
            "metadata": {"namespace": key.namespace, "name": key.name},
            _AUTOMOUNT: False,
        }
        return Create(SERVICE_ACCOUNTS, manifest, "service-account-missing")
    if account.get(_AUTOMOUNT) is not False:
        return MergePatch(SERVICE_ACCOUNTS, key, {_AUTOMOUNT: False}, "pods-get-tokens")
    return None


def _is_race(change: _Change, refusal: Refusal) -> bool:
    """Whether a refusal says that the ServiceAccount exists after all, or that it does not."""
    return refusal.code == (_CONFLICT if isinstance(change, Create) else _NOT_FOUND)


def _failed(key: ObjectKey, problem: str) -> Plan:
    return Plan(failures=(DomainFailure(SERVICE_ACCOUNTS, key, "", problem, retryable=True),))
