"""What an API server is asked for a token with, and what its answer says.

Source: webhooks-and-tokens §10.1, steps 4 and 5; Kubernetes API, authentication.k8s.io/v1 TokenRequest.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from returns.result import Result

from hedgerow.api.kubernetes import SECRETS, SERVICE_ACCOUNTS
from hedgerow.api.tokens import EXPIRATION, TOKEN, annotation
from hedgerow.machinery.durations import parse_duration
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import Create
from hedgerow.machinery.reading import UnreadableError, text_at
from hedgerow.machinery.timestamps import parse_timestamp
from hedgerow.resource_manager.token_requests.token_secret import TokenSecret

USUAL_LIFE: Final = timedelta(hours=12)
_SECOND: Final = timedelta(seconds=1)


class Token(NamedTuple):
    """A token, and until when it is valid; that may be less long than was asked for."""

    value: str
    expiration: datetime


def lifetime(secret: TokenSecret) -> Result[timedelta, DomainFailure]:
    """For how long a Secret wants its token to be valid, or why nobody can say."""
    text = secret.expiration
    if text is None:
        return Result.from_value(USUAL_LIFE)
    return parse_duration(text).alt(lambda problem: DomainFailure(SECRETS, secret.key, annotation(EXPIRATION), problem))


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
