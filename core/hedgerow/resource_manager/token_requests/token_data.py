"""Where the token is in the data of a Secret: in a kubeconfig if there is one, else under a key of its own.

Values are as a Secret holds them, encoded in base64. Messages about them repeat none. A kubeconfig is read once, as
that takes long where it is large.

Source: webhooks-and-tokens §10.2, §10.4; the reference, against I-15.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from hedgerow.api.tokens import KUBECONFIG, TOKEN
from hedgerow.resource_manager.token_requests.kubeconfig import (
    LARGEST,
    Kubeconfig,
    decoded_kubeconfig,
    with_current_user,
)

Data: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TokenData:
    """Data that hold a token, or are to hold one."""

    data: Data
    content: Result[Mapping[str, Any], str] | None
    """Of the kubeconfig, or why it cannot be read; none: there is no kubeconfig."""

    @classmethod
    def of(cls, data: Data) -> "TokenData":
        """Data, with their kubeconfig read."""
        return cls(data, _decoded(data[KUBECONFIG]) if KUBECONFIG in data else None)

    @property
    def has_token(self) -> Result[bool, str]:
        """True if the data hold a token, or why that cannot be told; one of its own counts even if it is empty.

        A kubeconfig without a current user holds none: a token is due, for which the ServiceAccount comes first.
        """
        return Success(TOKEN in self.data) if self.content is None else self.content.map(_has_token)

    @property
    def problem(self) -> str | None:
        """Why a token cannot be put into the data; none if it can."""
        kubeconfig = self._kubeconfig
        if kubeconfig is None:
            return None
        if isinstance(kubeconfig, Failure):
            problem: str = kubeconfig.failure()
            return problem
        takes_token = kubeconfig.unwrap().takes_token
        return None if takes_token else f"would be larger than {LARGEST // 1024} KiB with a new token"

    def with_token(self, token: str) -> Result[Data, str]:
        """The data that change once they hold a token, or why they cannot; a token beside a kubeconfig stays."""
        kubeconfig = self._kubeconfig
        if kubeconfig is None:
            return Success({TOKEN: _encoded(token.encode())})
        return kubeconfig.map(lambda kubeconfig: {KUBECONFIG: _encoded(kubeconfig.with_token(token))})

    @property
    def _kubeconfig(self) -> Result[Kubeconfig, str] | None:
        return None if self.content is None else self.content.bind(with_current_user)


def _has_token(content: Mapping[str, Any]) -> bool:
    kubeconfig = with_current_user(content)
    return is_successful(kubeconfig) and bool(kubeconfig.unwrap().token)


def _decoded(value: str) -> Result[Mapping[str, Any], str]:
    try:
        raw = b64decode(value, validate=True)
    except ValueError:
        return Failure("is not encoded in base64")
    return decoded_kubeconfig(raw)


def _encoded(value: bytes) -> str:
    return b64encode(value).decode()
