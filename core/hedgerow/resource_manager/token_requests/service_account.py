"""The ServiceAccount whose token is wanted: it is created, pods get no tokens of it, and it is asked for the token.

What the cache shows of it is believed until a write for it is refused; then it is asked for. Its namespace is not made,
and its other fields are nobody's business here.

Source: webhooks-and-tokens §10.1, steps 3 to 5; Kubernetes API, authentication.k8s.io/v1 TokenRequest.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from returns.result import Result

from hedgerow.api.kubernetes import SECRETS, SERVICE_ACCOUNTS
from hedgerow.api.tokens import EXPIRATION, TOKEN
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure, Problem, annotation_path
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import ApiError, Create, MergePatch
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, text_at
from hedgerow.machinery.scalars import parse_duration, parse_timestamp
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.token_requests.token_secret import TokenSecret

USUAL_LIFE: Final = timedelta(hours=12)
_SECOND: Final = timedelta(seconds=1)
_CONFLICT: Final = 409
_AUTOMOUNT: Final = "automountServiceAccountToken"


class Token(NamedTuple):
    """A token, and until when it is valid; that may be less long than was asked for."""

    value: str
    expiration: datetime


def lifetime(secret: TokenSecret) -> Result[timedelta, Failure]:
    """For how long a Secret wants its token to be valid, or why nobody can say."""
    text = secret.expiration
    if text is None:
        return Result.from_value(USUAL_LIFE)
    return parse_duration(text).alt(
        lambda problem: Failure(SECRETS, secret.key, Problem(annotation_path(EXPIRATION), problem))
    )


def token_request(account: ObjectKey, life: timedelta, audiences: Sequence[str]) -> Create:
    """The request for a token of a ServiceAccount.

    Args:
        account: whose token.
        life: for how long it is to be valid, in whole seconds; what is left of one is dropped.
        audiences: who is to believe it; none: the API server.
    """
    manifest = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": {"namespace": account.namespace, "name": account.name},
        "spec": {"audiences": [*audiences], "expirationSeconds": int(life / _SECOND)},
    }
    return Create(SERVICE_ACCOUNTS, manifest, "renewal-due", subresource=TOKEN)


def granted(answer: Manifest | None) -> Token | None:
    """The token in an API server's answer; none where there is none."""
    try:
        value = text_at(answer or {}, "status", "token")
        expiration = parse_timestamp(text_at(answer or {}, "status", "expirationTimestamp"))
    except UnreadableError:
        return None
    return Token(value, expiration) if value and expiration else None


_Change: TypeAlias = Create | MergePatch


async def prepare_account(key: ObjectKey, snapshot: Snapshot) -> Failure | None:
    """Make a ServiceAccount of the target cluster as it should be; or why it cannot be."""
    change = _change(key, snapshot.get(SERVICE_ACCOUNTS, key))
    if change is None:
        return None
    error = (await change).error
    if error is not None and _is_race(change, error):
        return await _prepare_live(key, change, error)
    return _not_changed(change, error)


async def token_of(key: ObjectKey, request: Create) -> Token | Failure:
    """The token that a request asks for, or why there is none. An account that does not exist after all is created."""
    result = await request
    if result.error is not None and result.error.is_not_found:
        if failure := await _prepare_live(key, request, result.error):
            return failure
        result = await request
    if result.error is not None:
        return _failure(key, f"gets no token: {result.error.message}")
    return granted(result.stored) or _failure(key, "gets no token: the answer holds none")


async def _prepare_live(key: ObjectKey, tried: _Change, error: ApiError) -> Failure | None:
    """The same by the live object, after a request that relied on the cache was refused."""
    answer = await ObjectQuestion(SERVICE_ACCOUNTS, key, Cluster.TARGET)
    if isinstance(answer, NotAnswered) and not answer.is_not_found:
        return _failure(key, f"cannot be read: {answer.message}")
    change = _change(key, answer.objects[0] if isinstance(answer, Found) else None)
    if change is None or change == tried:
        return None if change is None else _not_changed(change, error)
    return _not_changed(change, (await change).error)


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


def _is_race(change: _Change, error: ApiError) -> bool:
    """Whether a refusal says that the ServiceAccount exists after all, or that it does not."""
    return error.code == _CONFLICT if isinstance(change, Create) else error.is_not_found


def _not_changed(change: _Change, error: ApiError | None) -> Failure | None:
    if error is None:
        return None
    verb = "created" if isinstance(change, Create) else "changed"
    return _failure(change.key, f"cannot be {verb}: {error.message}")


def _failure(key: ObjectKey, problem: str) -> Failure:
    return Failure(SERVICE_ACCOUNTS, key, Problem("", problem), retryable=True)
