"""What a kubeconfig may hold, and which cluster and user one of its contexts names.

Only embedded credentials and token files are allowed: everything else would run programs, read files or speak for
others with the controller's rights. Decides from the text alone; resolves no path and opens no connection. No answer
repeats a credential.

Source: managed-resources §4.1.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

import yaml
from returns.result import Failure, Result, Success

Fields: TypeAlias = Mapping[str, Any]

USER_FIELDS: Final = ("client-certificate-data", "client-key-data", "token", "username", "password", "tokenFile")
REFUSED_USER_FIELDS: Final = {
    "client-certificate": "client certificate files",
    "client-key": "client key files",
    "as": "impersonation configurations",
    "as-uid": "impersonation configurations",
    "as-groups": "impersonation configurations",
    "as-user-extra": "impersonation configurations",
    "auth-provider": "auth provider configurations",
    "exec": "exec configurations",
}
CLUSTER_TEXTS: Final = ("server", "certificate-authority", "certificate-authority-data", "tls-server-name")
LONGEST_HOST: Final = 253
"""Characters of a host name."""
_T = TypeVar("_T")

_SECTIONS: Final = {"clusters": "cluster", "users": "user", "contexts": "context"}


@dataclass(frozen=True, slots=True)
class Selection:
    """The cluster and the user that one context names."""

    context: str
    cluster_name: str
    cluster: Fields
    user_name: str
    """Empty: the context names no user, requests are anonymous."""
    user: Fields = field(repr=False)


def parsed_kubeconfig(text: str) -> Result[Fields, str]:
    """The document of a kubeconfig if it is one and all its users are allowed, or what is wrong, as a clause."""
    try:
        document = yaml.safe_load(text)
    except RecursionError:
        return Failure("nested too deeply")
    except Exception as error:  # noqa: BLE001 -- a scalar that is none of its type raises anything
        # The error's own text quotes the document, which may hold credentials.
        return Failure(f"not YAML{_place(error)}")
    if not isinstance(document, dict):
        return Failure("not a kubeconfig, which is a mapping")
    return _judged(document, next(_document_problems(document), None))


def selected(document: Fields, context: str = "") -> Result[Selection, str]:
    """What a context of an allowed kubeconfig names, or why it names nothing usable, as a clause.

    Args:
        document: what `parsed_kubeconfig` returned.
        context: the context's name; empty: the document's current one.
    """
    contexts, clusters, users = (_named(document, section) for section in ("contexts", "clusters", "users"))
    name = context or document.get("current-context") or ""
    if name not in contexts:
        missing = f'no context "{name}"' if name else "no current-context"
        return Failure(f"{missing}, {_choice(contexts)}")
    cluster, user = (str(contexts[name].get(part) or "") for part in ("cluster", "user"))
    if cluster not in clusters:
        return Failure(f'context "{name}" names cluster "{cluster}", which is not there')
    if user and user not in users:
        return Failure(f'context "{name}" names user "{user}", which is not there')
    selection = Selection(name, cluster, clusters[cluster], user, users[user] if user else {})
    return _judged(selection, next(_selection_problems(selection), None))


def _document_problems(document: Fields) -> Iterator[str]:
    """What is wrong with a document, first things first; what comes later relies on what came before."""
    if document.get("kind", "Config") != "Config":
        yield f"kind is {document['kind']!s}, not Config"
    if not isinstance(document.get("current-context") or "", str):
        yield "current-context is not a text"
    for section, entry in _SECTIONS.items():
        yield from _section_problems(document, section, entry)
    for name, user in _named(document, "users").items():
        yield from _user_problems(name, user)


def _section_problems(document: Fields, section: str, entry: str) -> Iterator[str]:
    entries = document.get(section) or []
    if not isinstance(entries, list) or not all(_is_entry(value, entry) for value in entries):
        yield f"{section} is not a list of entries with name and {entry}"
        return
    names = [value["name"] for value in entries]
    yield from (f'{section} has "{name}" twice' for name in names if names.count(name) > 1)


def _is_entry(value: object, entry: str) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get(entry) or {}, dict)


def _user_problems(name: str, user: Fields) -> Iterator[str]:
    for refused, what in REFUSED_USER_FIELDS.items():
        if user.get(refused):
            valid = " ".join(USER_FIELDS)
            yield f'{what} are not supported (user "{name}"), these are the valid fields: [{valid}]'
    yield from _text_problems(user, USER_FIELDS, f'user "{name}"')


def _selection_problems(selection: Selection) -> Iterator[str]:
    """What is wrong with the cluster and the user that are to be used."""
    cluster, whose = selection.cluster, f'cluster "{selection.cluster_name}"'
    yield from _text_problems(cluster, CLUSTER_TEXTS, whose)
    if not _is_server_url(cluster.get("server") or ""):
        yield f"server of {whose} is not a URL with http or https and a host, and without credentials"
    if not _is_host(cluster.get("tls-server-name") or "localhost"):
        yield f"tls-server-name of {whose} is not a host name"
    if cluster.get("proxy-url"):
        yield f"proxy-url of {whose} is not supported"
    if not isinstance(cluster.get("insecure-skip-tls-verify") or False, bool):
        yield f"insecure-skip-tls-verify of {whose} is neither true nor false"
    if bool(selection.user.get("client-certificate-data")) != bool(selection.user.get("client-key-data")):
        yield f'user "{selection.user_name}" has only one of client-certificate-data and client-key-data'


def _text_problems(fields: Fields, names: tuple[str, ...], whose: str) -> Iterator[str]:
    for name in names:
        value = fields.get(name)
        if value is not None and not isinstance(value, str):
            yield f"{name} of {whose} is not a text"
        elif value and not name.endswith("-data") and not value.isprintable():
            yield f"{name} of {whose} has a line break or another control character"


def _is_server_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        return False
    return url.scheme in {"http", "https"} and _is_host(url.hostname or "") and "@" not in url.netloc and port != 0


def _is_host(text: str) -> bool:
    """Whether a text can be looked up, being an address or a name whose parts are neither empty nor too long."""
    try:
        return 0 < len(text.encode("idna")) <= LONGEST_HOST
    except UnicodeError:
        return False


def _named(document: Fields, section: str) -> dict[str, Fields]:
    """The entries of a well-formed section by their names."""
    return {entry["name"]: entry.get(_SECTIONS[section]) or {} for entry in document.get(section) or ()}


def _choice(contexts: Mapping[str, Fields]) -> str:
    return f"there are: {', '.join(sorted(contexts))}" if contexts else "there are none"


def _place(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f": line {mark.line + 1}, column {mark.column + 1}" if mark else ""


def _judged(value: _T, problem: str | None) -> Result[_T, str]:
    """The value, or the problem if there is one."""
    return Success(value) if problem is None else Failure(problem)
