"""Where the token is in the data of a Secret: in a kubeconfig if there is one, else under a key of its own.

Of a kubeconfig the token of the current user counts. Whatever else it holds stays as it is, but for empty tokens, which
are none. It is read once, as that takes long where it is large. What is said of data that cannot be used repeats
nothing of them but the names of contexts and users.

Source: webhooks-and-tokens §10.2, §10.4; I-5, I-14; the reference, against I-15.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from returns.pipeline import is_successful
from returns.result import Failure, Result, Success

from hedgerow.api.tokens import KUBECONFIG, TOKEN
from hedgerow.machinery.documents.budget import ReadingBudget, finished
from hedgerow.machinery.documents.streams import documents_in_slices
from hedgerow.machinery.documents.yaml_writing import sorted_yaml
from hedgerow.machinery.failures import rendered
from hedgerow.machinery.reading import UnreadableError, object_at, objects_at, text_at, with_value, without

LARGEST: Final = 128 * 1024
"""Bytes of the largest kubeconfig that is read: nothing else happens meanwhile, and real ones are a tenth of that."""
_MOST_VALUES: Final = 5_000
"""Values in the largest kubeconfig that is read, which takes 20 ms: 300 clusters with contexts and users."""
_LARGEST_TOKEN: Final = 16 * 1024
_KINDS: Final = (("apiVersion", "v1"), ("kind", "Config"))


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """A kubeconfig that has a current user."""

    content: Mapping[str, Any]
    user: int
    """Where in the list of users the current one is."""

    @property
    def token(self) -> str:
        """The token of the current user; empty if there is none."""
        return text_at(self._users[self.user], "user", TOKEN) or ""

    def with_token(self, token: str) -> bytes:
        """The text of the kubeconfig with this token of the current user, the same for equal ones."""
        users = [_without_empty_token(each) for each in self._users]
        users[self.user] = with_value(users[self.user], ("user", TOKEN), token)
        return sorted_yaml({**self.content, "users": users}).encode()

    @property
    def takes_token(self) -> bool:
        """Whether it can still be read once another token is in it: written out it may be larger than it was."""
        return len(self.with_token("")) <= LARGEST - _LARGEST_TOKEN

    @property
    def _users(self) -> Sequence[Mapping[str, Any]]:
        return objects_at(self.content, "users")


def read_kubeconfig(raw: bytes) -> Result[Kubeconfig, str]:
    """A kubeconfig in YAML or JSON, or why nobody can say whose token it holds."""
    return decoded_kubeconfig(raw).bind(with_current_user)


def decoded_kubeconfig(raw: bytes) -> Result[Mapping[str, Any], str]:
    """The content of a kubeconfig in YAML or JSON, or why it is none; its current context need not exist."""
    if len(raw) > LARGEST:
        return Failure(f"is larger than {LARGEST // 1024} KiB")
    try:
        return _document(raw).bind(_shaped)
    except UnreadableError as error:
        return Failure(str(error))


def _document(raw: bytes) -> Result[Any, str]:
    """The one document of a text; a mapping without entries where there is none."""
    budget = ReadingBudget(nodes=_MOST_VALUES)
    try:
        documents = finished(documents_in_slices(raw.decode("utf-8-sig"), budget))
    except UnicodeDecodeError:
        return Failure("is not UTF-8 text")
    if budget.exceeded:
        return Failure(f"holds {budget.exceeded}")
    if any(document.problems for document in documents):
        # What is wrong in which line is left out, as that may repeat the line.
        return Failure("is neither YAML nor JSON")
    values = [document.value for document in documents if document.value is not None]
    return Failure("holds more than one document") if len(values) > 1 else Success(values[0] if values else {})


def _without_empty_token(user: Mapping[str, Any]) -> Mapping[str, Any]:
    """An entry without a token that is empty, as whoever writes kubeconfigs leaves it out."""
    return without(user, ("user", TOKEN)) if text_at(user, "user", TOKEN) == "" else user


def with_current_user(content: Mapping[str, Any]) -> Result[Kubeconfig, str]:
    """The kubeconfig with its current user, or what is missing: the current context or its user."""
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


def _shaped(content: Mapping[str, Any]) -> Result[Mapping[str, Any], str]:
    """The content of a kubeconfig, or why it is that of another object.

    Raises:
        UnreadableError: a field has another shape than kubeconfigs have.
    """
    for name, expected in _KINDS:
        if text_at(content, name) not in {None, "", expected}:
            return Failure(f"{name}: must be {expected}")
    text_at(content, "current-context")
    _, contexts, users = (_named(content, name) for name in ("clusters", "contexts", "users"))
    _check_texts(contexts, "contexts", "context", "user")
    _check_texts(users, "users", "user", TOKEN)
    return Success(content)


def _named(content: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    """The entries of a list whose names are texts."""
    entries = objects_at(content, name)
    _check_texts(entries, name, "name")
    return entries


def _check_texts(entries: Sequence[Mapping[str, Any]], list_name: str, *path: str) -> None:
    """Have it said if a field of any entry is no text: no reader of kubeconfigs takes such a one, whosever it is."""
    for index, entry in enumerate(entries):
        try:
            object_at(entry, *path[:-1])
            text_at(entry, *path)
        except UnreadableError as error:
            raise error.below(f"{list_name}[{index}]") from error


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
