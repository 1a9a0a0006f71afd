"""Where the token is in the data of a Secret: in a kubeconfig if there is one, else under a key of its own.

Values are as a Secret holds them, encoded in base64. What is said of them repeats none.

Source: webhooks-and-tokens §10.2, §10.4; the reference, against I-15.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import TypeAlias

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from hedgerow.resource_manager.token_requests.kubeconfig import Kubeconfig, read_kubeconfig
from hedgerow.resource_manager.token_requests.names import KUBECONFIG, TOKEN

Data: TypeAlias = Mapping[str, str]


def has_token(data: Data) -> Result[bool, str]:
    """Whether data hold a token, or why nobody can say; one of its own counts even if it is empty."""
    if KUBECONFIG in data:
        return _kubeconfig(data).map(lambda kubeconfig: bool(kubeconfig.token))
    return Success(TOKEN in data)


def unusable(data: Data) -> str | None:
    """Why a token cannot be put into data; none if it can."""
    if KUBECONFIG not in data:
        return None
    kubeconfig = _kubeconfig(data)
    return None if is_successful(kubeconfig) else kubeconfig.failure()


def populated(data: Data, token: str) -> Result[Data, str]:
    """What of the data is different once they hold a token, or why they cannot; a token beside a kubeconfig stays."""
    if KUBECONFIG not in data:
        return Success({TOKEN: _encoded(token.encode())})
    return _kubeconfig(data).map(lambda kubeconfig: {KUBECONFIG: _encoded(kubeconfig.with_token(token))})


def _kubeconfig(data: Data) -> Result[Kubeconfig, str]:
    try:
        raw = b64decode(data[KUBECONFIG], validate=True)
    except ValueError:
        return Failure("is not encoded in base64")
    return read_kubeconfig(raw)


def _encoded(value: bytes) -> str:
    return b64encode(value).decode()
