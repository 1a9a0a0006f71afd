"""Whether the token of a Secret is to be renewed now, or how long that has time.

Decides from what the Secret says, the data in which its token is, and the time. And whether a change of a Secret can
make a difference to that, which most cannot: they are the renewals themselves.

Source: webhooks-and-tokens §10.2.
"""

from datetime import datetime
from typing import Final

from returns.result import Failure, Result, Success

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.tokens import KUBECONFIG, RENEW_AT, TARGET_NAME, TOKEN, annotation
from hedgerow.machinery.controller import Change
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, annotations_of, labels_of, uid_of
from hedgerow.machinery.timestamps import parse_timestamp
from hedgerow.resource_manager.token_requests.token_data import TokenData
from hedgerow.resource_manager.token_requests.token_secret import TokenSecret, data_of

DUE: Final = 0.0


def seconds_until_due(secret: TokenSecret, data: TokenData | None, now: datetime) -> Result[float, DomainFailure]:
    """For how many seconds the token need not be renewed; 0: it is due. Or why nobody can say.

    Args:
        secret: what says when it is due.
        data: where the token is; none: in a Secret that does not exist.
        now: the time.
    """
    if not secret.renew_at or data is None:
        return Success(DUE)
    present = data.has_token
    if isinstance(present, Failure):
        return Failure(_undecidable(secret, present.failure()))
    if not present.unwrap():
        return Success(DUE)
    renew_at = parse_timestamp(secret.renew_at)
    if renew_at is None:
        problem = "could not parse renew timestamp: must be a time such as 2026-01-31T12:00:00Z"
        return Failure(DomainFailure(SECRETS, secret.key, annotation(RENEW_AT), problem))
    return Success(max((renew_at - now).total_seconds(), DUE))


def is_mere_renewal(change: Change) -> bool:
    """Whether a Secret has got a token of its own that is renewed later, and asks for the same as before.

    It needs no look: until now it was due earlier, so that it is looked at by then anyway; unless it asks for what
    cannot be, which it still does. What is in a kubeconfig, or in another Secret, may matter in other ways.
    """
    old, new = change.old, change.new
    if old is None or new is None or uid_of(old) != uid_of(new) or labels_of(old) != labels_of(new):
        return False
    asked = _asked(new)
    if asked != _asked(old) or TARGET_NAME in asked:
        return False
    if TOKEN not in data_of(new) or KUBECONFIG in data_of(old) or KUBECONFIG in data_of(new):
        return False
    return _is_later(annotations_of(new).get(RENEW_AT), annotations_of(old).get(RENEW_AT))


def _asked(secret: Manifest) -> dict[str, str]:
    """What a Secret asks for: all that it says but when its token is renewed."""
    return {name: value for name, value in annotations_of(secret).items() if name != RENEW_AT}


def _is_later(new: str | None, old: str | None) -> bool:
    """Whether one time comes after another, or after none: what says none is due at once."""
    time = parse_timestamp(new)
    if time is None or not old:
        return time is not None
    before = parse_timestamp(old)
    return before is not None and before < time


def _undecidable(secret: TokenSecret, problem: str) -> DomainFailure:
    """The Secret of the target cluster is looked at anew: nobody watches it, so that no event tells of a correction."""
    what = f"could not check whether token exists in secret data: {problem}"
    key, retryable = secret.target or secret.key, secret.target is not None
    return DomainFailure(SECRETS, key, f"data[{KUBECONFIG}]", what, retryable)
