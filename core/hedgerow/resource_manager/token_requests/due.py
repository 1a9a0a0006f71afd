"""Whether the token of a Secret is to be renewed now, or how long that has time.

Decides from what the Secret says, the data in which its token is, and the time.

Source: webhooks-and-tokens §10.2.
"""

from datetime import datetime
from typing import Final

from returns.result import Failure, Result, Success

from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.timestamps import parse_timestamp
from hedgerow.resource_manager.managed_resources.names import SECRETS
from hedgerow.resource_manager.token_requests.names import KUBECONFIG, RENEW_AT, annotation
from hedgerow.resource_manager.token_requests.token_data import Data, has_token
from hedgerow.resource_manager.token_requests.token_secret import TokenSecret

DUE: Final = 0.0


def seconds_until_due(secret: TokenSecret, data: Data | None, now: datetime) -> Result[float, DomainFailure]:
    """For how many seconds the token need not be renewed; 0: it is due. Or why nobody can say.

    Args:
        secret: what says when it is due.
        data: where the token is; none: in a Secret that does not exist.
        now: the time.
    """
    if not secret.renew_at or data is None:
        return Success(DUE)
    present = has_token(data)
    if isinstance(present, Failure):
        return Failure(_undecidable(secret, present.failure()))
    if not present.unwrap():
        return Success(DUE)
    renew_at = parse_timestamp(secret.renew_at)
    if renew_at is None:
        problem = "could not parse renew timestamp: must be a time such as 2026-01-31T12:00:00Z"
        return Failure(DomainFailure(SECRETS, secret.key, annotation(RENEW_AT), problem))
    return Success(max((renew_at - now).total_seconds(), DUE))


def _undecidable(secret: TokenSecret, problem: str) -> DomainFailure:
    """The Secret of the target cluster is looked at anew: nobody watches it, so that no event tells of a correction."""
    what = f"could not check whether token exists in secret data: {problem}"
    key, retryable = secret.target or secret.key, secret.target is not None
    return DomainFailure(SECRETS, key, f"data[{KUBECONFIG}]", what, retryable)
