"""The token in the data of a Secret: that of the current user of a kubeconfig if there is one, else under its own key.

Everything else in a kubeconfig stays as it is, except for empty tokens, which are left out. It is read once, as a large
one takes long. Problems name contexts and users, and repeat nothing else.

Source: webhooks-and-tokens §10.2, §10.4; I-5, I-14; the reference, against I-15.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.api.tokens import KUBECONFIG, TOKEN
from hedgerow.machinery.documents.budget import ReadingBudget, finished
from hedgerow.machinery.documents.streams import documents_in_slices
from hedgerow.machinery.documents.yaml_texts import sorted_yaml
from hedgerow.machinery.failures import rendered
from hedgerow.machinery.reading import UnreadableError, each_at, objects_at, text_at, with_value, without

LARGEST: Final = 128 * 1024
"""Bytes of the largest kubeconfig that is read: it blocks everything else, and real ones are a tenth of that."""
_MOST_VALUES: Final = 5_000
"""Values in the largest kubeconfig that is read, which takes 20 ms: 300 clusters with contexts and users."""
_LARGEST_TOKEN: Final = 16 * 1024
_TEXTS: Final = {
    "clusters": (("name",),),
    "contexts": (("name",), ("context", "user")),
    "users": (("name",), ("user", TOKEN)),
}
"""The paths that must be texts in the entries of each list: no reader of kubeconfigs takes anything else."""


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """A kubeconfig that has a current user."""

    content: Mapping[str, Any]
    user: int
    """The position of the current user."""

    @property
    def token(self) -> str:
        """The token of the current user; empty if there is none."""
        return text_at(objects_at(self.content, "users")[self.user], "user", TOKEN) or ""

    def with_token(self, token: str) -> bytes:
        """The text of the kubeconfig with this token of the current user; equal ones have the same text."""
        path = ("user", TOKEN)
        users = [
            without(user, path) if text_at(user, *path) == "" else user for user in objects_at(self.content, "users")
        ]
        users[self.user] = with_value(users[self.user], path, token)
        return sorted_yaml({**self.content, "users": users}).encode()


def read_kubeconfig(raw: bytes) -> Result[Kubeconfig, str]:
    """A kubeconfig in YAML or JSON, or why it cannot be read or has no current user."""
    return decoded_kubeconfig(raw).bind(with_current_user)


def decoded_kubeconfig(raw: bytes) -> Result[Mapping[str, Any], str]:
    """The content of a kubeconfig in YAML or JSON, or why it is none; its current context need not exist."""
    if len(raw) > LARGEST:
        return Failure(f"is larger than {LARGEST // 1024} KiB")
    try:
        return _document(raw).bind(_checked)
    except UnreadableError as error:
        return Failure(str(error))


def _document(raw: bytes) -> Result[Mapping[str, Any], str]:
    """The one document of a text; an empty object if there is none."""
    budget = ReadingBudget(nodes=_MOST_VALUES)
    try:
        documents = finished(documents_in_slices(raw.decode("utf-8-sig"), budget))
    except UnicodeDecodeError:
        return Failure("is not UTF-8 text")
    if budget.exceeded:
        return Failure(f"holds {budget.exceeded}")
    if any(document.problems for document in documents):
        # A problem may repeat a line, which may be confidential.
        return Failure("is neither YAML nor JSON")
    values = [document.value for document in documents if document.value is not None]
    return Failure("holds more than one document") if len(values) > 1 else Success(values[0] if values else {})


def _checked(content: Mapping[str, Any]) -> Result[Mapping[str, Any], str]:
    """The content of a kubeconfig, or why it is that of another object."""
    for name, expected in (("apiVersion", "v1"), ("kind", "Config")):
        if text_at(content, name) not in {None, "", expected}:
            return Failure(f"{name}: must be {expected}")
    text_at(content, "current-context")
    for name, paths in _TEXTS.items():
        each_at(partial(_read_texts, paths), content, name)
    return Success(content)


def _read_texts(paths: Sequence[Sequence[str]], entry: Mapping[str, Any]) -> None:
    for path in paths:
        text_at(entry, *path)


def with_current_user(content: Mapping[str, Any]) -> Result[Kubeconfig, str]:
    """The kubeconfig with its current user, or why it has none."""
    context_name = text_at(content, "current-context")
    contexts, users = objects_at(content, "contexts"), objects_at(content, "users")
    if not context_name:
        return Failure("current-context: is not set")
    context = next((each for each in contexts if each.get("name") == context_name), None)
    if context is None:
        return Failure(f"contexts: there is none named {rendered(context_name)}, which is the current context")
    user_name = text_at(context, "context", "user") or ""
    user = next((index for index, each in enumerate(users) if (each.get("name") or "") == user_name), None)
    if not user_name or user is None:
        return Failure(f"users: there is none named {rendered(user_name)}, which is the user of the current context")
    return Success(Kubeconfig(content, user))


Data: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TokenData:
    """Data that hold a token, or are to hold one."""

    data: Data
    content: Result[Mapping[str, Any], str] | None
    """The content of the kubeconfig, or why it cannot be read; none: there is no kubeconfig."""

    @classmethod
    def of(cls, data: Data) -> "TokenData":
        """Data, with their kubeconfig read."""
        if KUBECONFIG not in data:
            return cls(data, None)
        try:
            return cls(data, decoded_kubeconfig(b64decode(data[KUBECONFIG], validate=True)))
        except ValueError:
            return cls(data, Failure("is not encoded in base64"))

    @property
    def has_token(self) -> Result[bool, str]:
        """True if the data hold a token, or why that is unknown; outside of a kubeconfig even an empty one counts.

        A kubeconfig without a current user holds none: a token is due, for which the ServiceAccount is prepared.
        """
        if self.content is None:
            return Success(TOKEN in self.data)
        return self.content.map(
            lambda content: with_current_user(content).map(lambda found: found.token).value_or("") != ""
        )

    @property
    def problem(self) -> str | None:
        """Why a token cannot be put into the data; none if it can."""
        refused: str | None = self.with_token("", room=_LARGEST_TOKEN).swap().value_or(None)
        return refused

    def with_token(self, token: str, room: int = 0) -> Result[Data, str]:
        """The data to change so that they hold a token, or why they cannot; a token beside a kubeconfig stays.

        A kubeconfig that cannot be read with `room` more bytes is refused.
        """
        if self.content is None:
            return Success({TOKEN: b64encode(token.encode()).decode()})
        return self.content.bind(with_current_user).bind(
            lambda found: _encoded(found.with_token(token), LARGEST - room)
        )


def _encoded(kubeconfig: bytes, longest: int) -> Result[Data, str]:
    if len(kubeconfig) > longest:
        return Failure(f"would be larger than {LARGEST // 1024} KiB with a new token")
    return Success({KUBECONFIG: b64encode(kubeconfig).decode()})
