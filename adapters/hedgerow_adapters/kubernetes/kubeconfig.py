"""What a kubeconfig may hold, and which cluster and user one of its contexts names.

Only embedded credentials and token files are allowed: everything else would run programs, read files or speak for
others with the controller's rights. Decides from the text alone; resolves no path and opens no connection. No answer
repeats a credential.

Source: managed-resources §4.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import yaml

from hedgerow_adapters.kubernetes.credentials import UnusableError

Fields: TypeAlias = Mapping[str, Any]

USER_FIELDS: Final = ("client-certificate-data", "client-key-data", "token", "username", "password", "tokenFile")
REFUSED_USER_FIELDS: Final = {
    "client-certificate": "client certificate files",
    "client-key": "client key files",
    **dict.fromkeys(("as", "as-uid", "as-groups", "as-user-extra"), "impersonation configurations"),
    "auth-provider": "auth provider configurations",
    "exec": "exec configurations",
}
CLUSTER_TEXTS: Final = ("server", "certificate-authority", "certificate-authority-data", "tls-server-name")
LONGEST_HOST: Final = 253
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


def parsed_kubeconfig(text: str) -> Fields:
    """The document of a kubeconfig; raises UnusableError if it is none, or one of its users is not allowed."""
    try:
        document = yaml.safe_load(text)
    except RecursionError:
        raise UnusableError("nested too deeply") from None
    except Exception as error:  # noqa: BLE001 -- a scalar that is none of its type raises anything
        # The error's own text quotes the document, which may hold credentials.
        mark = getattr(error, "problem_mark", None)
        place = f": line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise UnusableError(f"not YAML{place}") from None
    if not isinstance(document, dict):
        raise UnusableError("not a kubeconfig, which is a mapping")
    _check(document.get("kind", "Config") == "Config", f"kind is {document.get('kind')!s}, not Config")
    _check(isinstance(document.get("current-context") or "", str), "current-context is not a text")
    for section, entry in _SECTIONS.items():
        _check_section(document, section, entry)
    for name, user in _named(document, "users").items():
        for refused, what in REFUSED_USER_FIELDS.items():
            valid = " ".join(USER_FIELDS)
            _check(
                not user.get(refused),
                f'{what} are not supported (user "{name}"), these are the valid fields: [{valid}]',
            )
        _check_texts(user, USER_FIELDS, f'user "{name}"')
    return document


def selected(document: Fields, context: str = "") -> Selection:
    """What a context of an allowed kubeconfig, or the current one, names; UnusableError: nothing usable."""
    contexts, clusters, users = (_named(document, section) for section in ("contexts", "clusters", "users"))
    name = context or document.get("current-context") or ""
    if name not in contexts:
        missing = f'no context "{name}"' if name else "no current-context"
        choice = f"there are: {', '.join(sorted(contexts))}" if contexts else "there are none"
        raise UnusableError(f"{missing}, {choice}")
    cluster, user = (str(contexts[name].get(part) or "") for part in ("cluster", "user"))
    _check(cluster in clusters, f'context "{name}" names cluster "{cluster}", which is not there')
    _check(not user or user in users, f'context "{name}" names user "{user}", which is not there')
    selection = Selection(name, cluster, clusters[cluster], user, users[user] if user else {})
    _check_selection(selection)
    return selection


def _check(is_fine: bool, problem: str) -> None:  # noqa: FBT001 -- reads like assert
    if not is_fine:
        raise UnusableError(problem)


def _check_section(document: Fields, section: str, entry: str) -> None:
    entries = document.get(section) or []
    if not isinstance(entries, list) or not all(_is_entry(value, entry) for value in entries):
        raise UnusableError(f"{section} is not a list of entries with name and {entry}")
    names = [value["name"] for value in entries]
    for name in names:
        _check(names.count(name) == 1, f'{section} has "{name}" twice')


def _is_entry(value: object, entry: str) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get(entry) or {}, dict)


def _check_selection(selection: Selection) -> None:
    cluster, whose = selection.cluster, f'cluster "{selection.cluster_name}"'
    _check_texts(cluster, CLUSTER_TEXTS, whose)
    _check(
        _is_server_url(cluster.get("server") or ""),
        f"server of {whose} is not a URL with http or https and a host, and without credentials",
    )
    _check(_is_host(cluster.get("tls-server-name") or "localhost"), f"tls-server-name of {whose} is not a host name")
    _check(not cluster.get("proxy-url"), f"proxy-url of {whose} is not supported")
    skips = cluster.get("insecure-skip-tls-verify") or False
    _check(isinstance(skips, bool), f"insecure-skip-tls-verify of {whose} is neither true nor false")
    user = selection.user
    _check(
        bool(user.get("client-certificate-data")) == bool(user.get("client-key-data")),
        f'user "{selection.user_name}" has only one of client-certificate-data and client-key-data',
    )


def _check_texts(fields: Fields, names: tuple[str, ...], whose: str) -> None:
    for name in names:
        value = fields.get(name)
        _check(value is None or isinstance(value, str), f"{name} of {whose} is not a text")
        is_readable = not value or name.endswith("-data") or value.isprintable()
        _check(is_readable, f"{name} of {whose} has a line break or another control character")


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
    return {entry["name"]: entry.get(_SECTIONS[section]) or {} for entry in document.get(section) or ()}
