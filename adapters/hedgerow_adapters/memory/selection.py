"""Which objects a list, a watch or a deletion of many speaks of, and how a list is to be cut.

Reads query parameters; knows no storage.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from returns.result import Failure

from hedgerow.machinery.objects import Manifest, labels_of
from hedgerow.machinery.selectors import LabelSelector, parse_selector_query
from hedgerow_adapters.memory.field_errors import forbidden, not_supported
from hedgerow_adapters.memory.statuses import bad_request, invalid_options

EVERYTHING: Final = LabelSelector()
INCONSISTENT: Final = -1
"""The revision in a token that continues a list with whatever there is now."""
_FIELDS: Final = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True)
class Selection:
    """The objects of one namespace, or of all, with certain labels and names."""

    namespace: str
    labels: LabelSelector
    fields: tuple[tuple[str, bool, str], ...]
    """Field of the metadata, whether it has to be equal, and the value."""

    @property
    def is_everything(self) -> bool:
        """Whether only the namespace selects."""
        return self.labels.is_empty and not self.fields

    def matches(self, manifest: Manifest) -> bool:
        """Whether an object of the namespace is among them."""
        metadata = manifest["metadata"]
        return all((metadata.get(name, "") == value) is wanted for name, wanted, value in self.fields) and (
            self.labels.is_empty or self.labels.matches(labels_of(manifest))
        )


@dataclass(frozen=True, slots=True)
class Continuation:
    """Where a list goes on: at which revision, behind which path."""

    revision: int
    after: str

    def token(self) -> str:
        """As clients hand it back."""
        value = {"v": "meta.k8s.io/v1", "rv": self.revision, "start": self.after}
        return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class ListOptions:
    """How a list is wanted."""

    limit: int | None
    continuation: Continuation | None
    resource_version: int | None
    """None: the most recent."""
    exact: bool
    """Whether the list has to be of that very version."""


def parse_selection(query: Mapping[str, str], namespace: str) -> Selection:
    """The selection that a query asks for; refused if it cannot be read."""
    labels = parse_selector_query(query.get("labelSelector", ""))
    if isinstance(labels, Failure):
        raise bad_request(f"unable to parse requirement: {labels.failure()}")
    fields = query.get("fieldSelector", "")
    return Selection(namespace, labels.unwrap(), tuple(_field(part) for part in fields.split(",") if part))


def parse_list_options(query: Mapping[str, str]) -> ListOptions:
    """The way in which a query asks for a list; refused if it makes no sense."""
    version, match = query.get("resourceVersion", ""), query.get("resourceVersionMatch", "")
    limit = whole_number(query, "limit")
    if match not in ("", "Exact", "NotOlderThan"):
        error = not_supported("resourceVersionMatch", match, ("Exact", "NotOlderThan", ""))
        raise invalid_options("ListOptions", (error,))
    if match and not version:
        detail = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        raise invalid_options("ListOptions", (forbidden("resourceVersionMatch", detail),))
    continuation = _continuation(query.get("continue", ""))
    if continuation is not None and version not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")
    # At version 0 any state will do, and the server hands out all of it.
    cut = limit if limit > 0 and version != "0" else None
    exact = match == "Exact" or (not match and cut is not None and version not in ("", "0"))
    return ListOptions(cut, continuation, _version(version), exact)


def whole_number(query: Mapping[str, str], name: str) -> int:
    """The number in a query parameter, 0 if it is not there; refused if it is none."""
    written = query.get(name, "")
    try:
        return int(written or "0")
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{written}": invalid syntax') from None


def _version(written: str) -> int | None:
    if not written:
        return None
    if not (written.isascii() and written.isdigit()):
        problem = f'resourceVersion: Invalid value: "{written}": strconv.ParseUint: parsing "{written}": invalid syntax'
        raise bad_request(f"invalid resource version: {problem}")
    return int(written)


def _continuation(token: str) -> Continuation | None:
    if not token:
        return None
    try:
        value = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        return Continuation(int(value["rv"]), str(value["start"]))
    except (binascii.Error, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
        raise bad_request(f"invalid continue token: continue key is not valid: {error}") from None


def _field(part: str) -> tuple[str, bool, str]:
    for sign, wanted in (("!=", False), ("==", True), ("=", True)):
        name, found, value = part.partition(sign)
        if found:
            if name not in _FIELDS:
                known = ", ".join(f'"{field}"' for field in _FIELDS)
                raise bad_request(f'"{name}" is not a known field selector: only {known}')
            return name.removeprefix("metadata."), wanted, value
    raise bad_request(f"invalid selector: '{part}'; can't understand '{part}'")
