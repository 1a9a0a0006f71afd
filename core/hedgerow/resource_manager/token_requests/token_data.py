"""Where the token is in the data of a Secret: in a kubeconfig if there is one, else under a key of its own.

Values are as a Secret holds them, encoded in base64. What is said of them repeats none. A kubeconfig is read once in a
turn: that takes long where it is large.

Source: webhooks-and-tokens §10.2, §10.4; the reference, against I-15.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.machinery.notes import Notes
from hedgerow.resource_manager.token_requests.kubeconfig import LARGEST, Kubeconfig, read_kubeconfig
from hedgerow.resource_manager.token_requests.names import KUBECONFIG, TOKEN

Data: TypeAlias = Mapping[str, str]


def has_token(data: Data, notes: Notes) -> Result[bool, str]:
    """Whether data hold a token, or why nobody can say; one of its own counts even if it is empty."""
    if KUBECONFIG in data:
        return _kubeconfig(data, notes).map(lambda kubeconfig: bool(kubeconfig.token))
    return Success(TOKEN in data)


def unusable(data: Data, notes: Notes) -> str | None:
    """Why a token cannot be put into data; none if it can."""
    if KUBECONFIG not in data:
        return None
    kubeconfig = _kubeconfig(data, notes)
    if isinstance(kubeconfig, Failure):
        problem: str = kubeconfig.failure()
        return problem
    return None if kubeconfig.unwrap().takes_token else f"would be larger than {LARGEST // 1024} KiB with a new token"


def populated(data: Data, token: str, notes: Notes) -> Result[Data, str]:
    """What of the data is different once they hold a token, or why they cannot; a token beside a kubeconfig stays."""
    if KUBECONFIG not in data:
        return Success({TOKEN: _encoded(token.encode())})
    return _kubeconfig(data, notes).map(lambda kubeconfig: {KUBECONFIG: _encoded(kubeconfig.with_token(token))})


def _kubeconfig(data: Data, notes: Notes) -> Result[Kubeconfig, str]:
    value = data[KUBECONFIG]
    return notes.once(KUBECONFIG, (value,), lambda: _read(value))


def _read(value: str) -> Result[Kubeconfig, str]:
    try:
        raw = b64decode(value, validate=True)
    except ValueError:
        return Failure("is not encoded in base64")
    return read_kubeconfig(raw)


def _encoded(value: bytes) -> str:
    return b64encode(value).decode()
