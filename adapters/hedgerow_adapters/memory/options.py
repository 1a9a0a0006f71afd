"""What a request asks for beside its object: which objects, how a list is cut, how to delete, whether only to try.

Reads query parameters and bodies; knows no storage. Source: Kubernetes documentation, "Kubernetes API concepts",
"Garbage Collection" and "Finalizers".
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from returns.result import Failure

from hedgerow.machinery.objects import Manifest, labels_of
from hedgerow.machinery.selectors import FieldTerm, LabelSelector, parse_field_query, parse_selector_query
from hedgerow_adapters.memory.field_errors import forbidden, not_supported
from hedgerow_adapters.memory.statuses import bad_request, invalid_options
from hedgerow_adapters.protocol.transport import Request

INCONSISTENT: Final = -1
"""The revision in a token that continues a list with whatever there is now."""
_FIELDS: Final = ("metadata.name", "metadata.namespace")


class Selection(NamedTuple):
    """The objects of one namespace, or of all, with certain labels and fields."""

    namespace: str
    labels: LabelSelector
    fields: tuple[FieldTerm, ...]

    @property
    def is_everything(self) -> bool:
        """Whether only the namespace selects."""
        return self.labels.is_empty and not self.fields

    def matches(self, manifest: Manifest) -> bool:
        """Whether an object of the namespace is among them."""
        return all(term.matches(manifest) for term in self.fields) and (
            self.labels.is_empty or self.labels.matches(labels_of(manifest))
        )


class Continuation(NamedTuple):
    """Where a list goes on: at which revision, behind which path."""

    revision: int
    after: str

    def token(self) -> str:
        """As clients hand it back."""
        value = {"v": "meta.k8s.io/v1", "rv": self.revision, "start": self.after}
        return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")


class ListOptions(NamedTuple):
    """How a list is wanted."""

    limit: int | None
    continuation: Continuation | None
    resource_version: int | None
    """None: the most recent."""
    exact: bool
    """Whether the list has to be of that very version."""


def parse_selection(query: Mapping[str, str], namespace: str, selectable: Sequence[str] = ()) -> Selection:
    """The selection that a query asks for; refused if it cannot be read.

    Args:
        query: the parameters of a request.
        namespace: whose objects are selected from; empty: those of all.
        selectable: fields that these objects can be selected by, beside name and namespace.
    """
    labels = parse_selector_query(query.get("labelSelector", ""))
    if isinstance(labels, Failure):
        raise bad_request(f"unable to parse requirement: {labels.failure()}")
    fields = parse_field_query(query.get("fieldSelector", ""))
    if isinstance(fields, Failure):
        raise bad_request(fields.failure())
    for term in fields.unwrap():
        if term.field in (*_FIELDS, *selectable):
            continue
        if selectable:
            raise bad_request(f"field label not supported: {term.field}")
        known = ", ".join(f'"{field}"' for field in _FIELDS)
        raise bad_request(f'"{term.field}" is not a known field selector: only {known}')
    return Selection(namespace, labels.unwrap(), fields.unwrap())


def parse_list_options(query: Mapping[str, str]) -> ListOptions:
    """The way in which a query asks for a list; refused if it makes no sense."""
    version, match = query.get("resourceVersion", ""), query.get("resourceVersionMatch", "")
    limit = whole_number(query, "limit")
    if match not in ("", "Exact", "NotOlderThan"):
        error = not_supported("resourceVersionMatch", match, ("Exact", "NotOlderThan", ""))
        raise invalid_options("ListOptions", error)
    if match and not version:
        detail = "resourceVersionMatch is forbidden unless resourceVersion is provided"
        raise invalid_options("ListOptions", forbidden("resourceVersionMatch", detail))
    continuation = _continuation(query.get("continue", ""))
    if continuation is not None and version not in ("", "0"):
        raise bad_request("specifying resource version is not allowed when using continue")
    if version and not (version.isascii() and version.isdigit()):
        raise bad_request(f"invalid resource version: {unreadable_version(version)}")
    # At version 0 any state will do, and the server hands out all of it.
    cut = limit if limit > 0 and version != "0" else None
    exact = match == "Exact" or (not match and cut is not None and version not in ("", "0"))
    return ListOptions(cut, continuation, int(version) if version else None, exact)


def unreadable_version(written: str) -> str:
    """What is wrong with a resource version that is no number."""
    return f'resourceVersion: Invalid value: "{written}": strconv.ParseUint: parsing "{written}": invalid syntax'


def whole_number(query: Mapping[str, str], name: str) -> int:
    """The number in a query parameter, 0 if it is not there; refused if it is none."""
    written = query.get(name, "")
    try:
        return int(written or "0")
    except ValueError:
        raise bad_request(f'strconv.ParseInt: parsing "{written}": invalid syntax') from None


def _continuation(token: str) -> Continuation | None:
    if not token:
        return None
    try:
        value = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        return Continuation(int(value["rv"]), str(value["start"]))
    except (binascii.Error, ValueError, KeyError, TypeError) as error:
        raise bad_request(f"invalid continue token: continue key is not valid: {error}") from None


ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"
_POLICIES: Final = {"Foreground": FOREGROUND, "Background": None, "Orphan": ORPHAN}
"""Ways to propagate a deletion, with the finalizer by which the garbage collector holds the object until it is done."""


class DeleteOptions(NamedTuple):
    """The preconditions of a deletion, and its propagation to owned objects. The grace period is ignored."""

    uid: str | None = None
    resource_version: str | None = None
    propagation: str = ""

    def failed_precondition(self, manifest: Manifest) -> str | None:
        """Why the object is not the one to delete; none if it is."""
        metadata = manifest["metadata"]
        for name, given, recorded, happened in (
            ("UID", self.uid, metadata["uid"], "deleted and then recreated"),
            ("ResourceVersion", self.resource_version, metadata["resourceVersion"], "modified"),
        ):
            if given not in (None, recorded):
                return (
                    f"the {name} in the precondition ({given}) does not match the {name} in record ({recorded}). "
                    f"The object might have been {happened}"
                )
        return None

    def remaining_finalizers(self, present: Sequence[str]) -> list[str]:
        """The finalizers of an object after the deletion, with the garbage collector's if it has to work."""
        if not self.propagation:
            return list(present)
        others = [name for name in present if name not in (ORPHAN, FOREGROUND)]
        holding = _POLICIES[self.propagation]
        return others if holding is None else [*others, holding]


def parse_delete_options(body: Any, query: Mapping[str, str]) -> DeleteOptions:
    """The options in the body of a deletion, or in its query; refused if they cannot be read."""
    options = {} if body is None else body
    if not isinstance(options, Mapping):
        raise bad_request("cannot read the body as DeleteOptions")
    preconditions = options.get("preconditions") or {}
    propagation = options.get("propagationPolicy") or query.get("propagationPolicy", "")
    if propagation not in ("", *_POLICIES):
        raise invalid_options("DeleteOptions", not_supported("propagationPolicy", propagation, (*_POLICIES, "nil")))
    return DeleteOptions(preconditions.get("uid"), preconditions.get("resourceVersion"), propagation)


_OPTIONS: Final = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions", "DELETE": "DeleteOptions"}


def is_dry_run(request: Request) -> bool:
    """Whether a request asks for a dry run; refused if it asks for something unknown.

    A deletion that has options in its body says it there, and nowhere else.
    """
    stages = [stage] if (stage := request.query.get("dryRun")) else []
    if request.method == "DELETE" and isinstance(request.body, dict):
        stages = list(request.body.get("dryRun") or ())
    if request.method not in _OPTIONS or not stages:
        return False
    if any(stage != "All" for stage in stages):
        raise invalid_options(_OPTIONS[request.method], not_supported("dryRun", stages, ("All",)))
    return True
