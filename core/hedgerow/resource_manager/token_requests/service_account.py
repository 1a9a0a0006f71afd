"""The ServiceAccount whose token is wanted: it is created, pods get no tokens of it, and the token is requested.

The cached object counts until a write is refused; then the object is read live. Its namespace is not created.

Source: webhooks-and-tokens §10.1, steps 3 to 5; Kubernetes API, authentication.k8s.io/v1 TokenRequest.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from hedgerow.api.kubernetes import SERVICE_ACCOUNTS
from hedgerow.api.tokens import TOKEN
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure, retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import ApiError, Create, MergePatch
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, text_at
from hedgerow.machinery.scalars import parse_timestamp
from hedgerow.machinery.snapshot import Snapshot

LONGEST_LIFE: Final = timedelta(hours=24)
"""A token that is valid for longer is renewed as if it were not: one that leaked is replaced within a day."""
SHORTEST_LIFE: Final = timedelta(minutes=1)
"""A token that is valid for less by our clock is not used: API servers make no such tokens, so the clocks differ."""
_CONFLICT: Final = 409
_AUTOMOUNT: Final = "automountServiceAccountToken"


class Token(NamedTuple):
    """A token, and until when it is valid; that may be less long than was asked for."""

    value: str
    expiration: datetime


class Schedule(NamedTuple):
    """When a token is renewed, as a span and as a moment."""

    renew_after: timedelta
    renew_at: datetime


def renewal(expiration: datetime, now: datetime, jitter: float) -> Schedule:
    """When a token is to be renewed; not later than now if it has expired.

    Args:
        expiration: of the token.
        now: the time.
        jitter: from 0 to less than 1, so that not all tokens of one time are renewed at one time.
    """
    base = min(expiration - now, LONGEST_LIFE) * 80 // 100
    renew_after = base + base * 0.05 * jitter
    return Schedule(renew_after, now + renew_after)


def token_request(account: ObjectKey, life: timedelta, audiences: Sequence[str]) -> Create:
    """The request for a token of a ServiceAccount that is valid for whole seconds; no audience: the API server."""
    manifest = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": {"namespace": account.namespace, "name": account.name},
        "spec": {"audiences": [*audiences], "expirationSeconds": int(life.total_seconds())},
    }
    return Create(SERVICE_ACCOUNTS, manifest, "renewal-due", subresource=TOKEN)


def granted(answer: Manifest | None) -> Token | None:
    """The token in an API server's answer, if any."""
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
    if error is None:
        return None
    # The object exists after all, or no longer.
    is_race = error.code == _CONFLICT if isinstance(change, Create) else error.is_not_found
    return await _prepare_live(key, change, error) if is_race else _not_changed(change, error)


async def token_of(key: ObjectKey, request: Create) -> Token | Failure:
    """The token that is requested, or why there is none. An account that does not exist after all is created."""
    result = await request
    if result.error is not None and result.error.is_not_found:
        if failure := await _prepare_live(key, request, result.error):
            return failure
        result = await request
    if result.error is not None:
        return retryable_failure(SERVICE_ACCOUNTS, key, f"gets no token: {result.error.message}")
    return granted(result.stored) or retryable_failure(SERVICE_ACCOUNTS, key, "gets no token: the answer holds none")


async def _prepare_live(key: ObjectKey, tried: _Change, error: ApiError) -> Failure | None:
    """The same for the live object, after a request that relied on the cache was refused."""
    answer = await ObjectQuestion(SERVICE_ACCOUNTS, key, Cluster.TARGET)
    if isinstance(answer, NotAnswered) and not answer.is_not_found:
        return retryable_failure(SERVICE_ACCOUNTS, key, f"cannot be read: {answer.message}")
    change = _change(key, answer.objects[0] if isinstance(answer, Found) else None)
    if change is None:
        return None
    latest_error = error if change == tried else (await change).error
    return None if latest_error is None else _not_changed(change, latest_error)


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


def _not_changed(change: _Change, error: ApiError) -> Failure:
    verb = "created" if isinstance(change, Create) else "changed"
    return retryable_failure(SERVICE_ACCOUNTS, change.key, f"cannot be {verb}: {error.message}")
