"""Events as the API server serves them in two API groups from one store.

They are stored as core/v1 has them; `events.k8s.io/v1` names fields differently and demands more of a new Event.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.api.kubernetes import CORE_EVENTS, EVENTS
from hedgerow.machinery.names import label_key_problem
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import FieldError, checked, invalid, required
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.shapes import anything, micro_time, number, structure, text

_LONGEST: Final = 128
_LONGEST_NOTE: Final = 1024
_SERVED_NAMES: Final = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_STORED_NAMES: Final = {served: stored for stored, served in _SERVED_NAMES.items()}
_REFERENCE_FIELDS: Final = ("apiVersion", "kind", "namespace", "name", "uid", "resourceVersion", "fieldPath")
_REFERENCE: Final = structure(dict.fromkeys(_REFERENCE_FIELDS, text))
_SELECTABLE: Final = (
    *(f"involvedObject.{field}" for field in _REFERENCE_FIELDS),
    "reason",
    "reportingComponent",
    "type",
)
_STORED_FIELDS: Final = {
    "involvedObject": _REFERENCE,
    "related": _REFERENCE,
    "reason": text,
    "message": text,
    "type": text,
    "action": text,
    "reportingComponent": text,
    "reportingInstance": text,
    "eventTime": micro_time,
    "series": structure({"count": number, "lastObservedTime": micro_time}),
    "source": anything,
    "firstTimestamp": text,
    "lastTimestamp": text,
    "count": number,
}


def as_served(event: Manifest) -> Manifest:
    """A stored Event with the names that events.k8s.io gives its fields."""
    return _renamed(event, _SERVED_NAMES, EVENTS)


def as_stored(event: Manifest) -> Manifest:
    """An Event of events.k8s.io with the names that core/v1 gives its fields."""
    return _renamed(event, _STORED_NAMES, CORE_EVENTS)


def _renamed(event: Manifest, names: Mapping[str, str], resource: Resource) -> dict[str, Any]:
    fields = {names.get(name, name): value for name, value in event.items()}
    return {**fields, "apiVersion": resource.api_version}


def core_errors(event: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """What is wrong with an Event of core/v1."""
    yield from _errors(event, "reportingComponent")


def errors(event: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    """What is wrong with an Event of events.k8s.io/v1; a new one names its time and its type."""
    yield from _errors(as_stored(event), "reportingController")
    if old is not None:
        return
    if "eventTime" not in event:
        yield required("eventTime")
    if event.get("type") not in ("Normal", "Warning"):
        yield invalid("type", "", f"has invalid value: {event.get('type', '')}")


def _errors(event: Manifest, controller_field: str) -> Iterator[FieldError]:
    namespace = event["metadata"]["namespace"]
    concerned = event.get("involvedObject", {}).get("namespace", "")
    if "eventTime" not in event:
        if (concerned or "default") != namespace:
            yield invalid("involvedObject.namespace", concerned, "does not match event.namespace")
        return
    if not concerned and namespace not in ("default", "kube-system"):
        yield invalid("involvedObject.namespace", concerned, "does not match event.namespace")
    controller = event.get("reportingComponent", "")
    if not controller:
        yield required(controller_field)
    yield from checked(controller_field, controller, label_key_problem(controller))
    for name in ("reportingInstance", "action", "reason"):
        yield from _text_errors(event.get(name, ""), name)
    if len(event.get("message", "")) > _LONGEST_NOTE:
        yield invalid("message", "", f"can have at most {_LONGEST_NOTE} characters")


def _text_errors(written: str, field: str) -> Iterator[FieldError]:
    if not written:
        yield required(field)
    if len(written) > _LONGEST:
        yield invalid(field, "", f"can have at most {_LONGEST} characters")


STORED_EVENTS: Final = Kind(CORE_EVENTS, fields=_STORED_FIELDS, selectable=_SELECTABLE, rules=core_errors)
SERVED_EVENTS: Final = Kind(
    EVENTS,
    fields={_SERVED_NAMES.get(name, name): shape for name, shape in _STORED_FIELDS.items()},
    rules=errors,
    storage=CORE_EVENTS,
    to_stored=as_stored,
    from_stored=as_served,
)
