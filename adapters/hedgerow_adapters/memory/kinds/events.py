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
from hedgerow_adapters.memory.shapes import anything, micro_time, number, text

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
_REFERENCE: Final = dict.fromkeys(
    ("apiVersion", "kind", "namespace", "name", "uid", "resourceVersion", "fieldPath"), text
)
_TEXTS: Final = ("reason", "message", "type", "action", "reportingComponent", "reportingInstance")
_FIELDS: Final = {
    **dict.fromkeys(("involvedObject", "related"), _REFERENCE),
    **dict.fromkeys((*_TEXTS, "firstTimestamp", "lastTimestamp"), text),
    "eventTime": micro_time,
    "series": {"count": number, "lastObservedTime": micro_time},
    "source": anything,
    "count": number,
}


def _as_served(event: Manifest) -> Manifest:
    return _renamed(event, _SERVED_NAMES, EVENTS)


def _as_stored(event: Manifest) -> Manifest:
    return _renamed(event, _STORED_NAMES, CORE_EVENTS)


def _renamed(event: Manifest, names: Mapping[str, str], resource: Resource) -> dict[str, Any]:
    fields = {names.get(name, name): value for name, value in event.items()}
    return {**fields, "apiVersion": resource.api_version}


def _served_errors(event: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    yield from _errors(_as_stored(event), old, "reportingController")
    if old is not None:
        return
    if "eventTime" not in event:
        yield required("eventTime")
    if event.get("type") not in ("Normal", "Warning"):
        yield invalid("type", "", f"has invalid value: {event.get('type', '')}")


def _errors(
    event: Manifest, _old: Manifest | None, controller_field: str = "reportingComponent"
) -> Iterator[FieldError]:
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
    yield from checked(label_key_problem)(controller, controller_field)
    for name in ("reportingInstance", "action", "reason"):
        if not event.get(name):
            yield required(name)
        elif len(event[name]) > _LONGEST:
            yield invalid(name, "", f"can have at most {_LONGEST} characters")
    if len(event.get("message", "")) > _LONGEST_NOTE:
        yield invalid("message", "", f"can have at most {_LONGEST_NOTE} characters")


STORED_EVENTS: Final = Kind(
    CORE_EVENTS,
    fields=_FIELDS,
    selectable=(*(f"involvedObject.{field}" for field in _REFERENCE), "reason", "reportingComponent", "type"),
    rules=_errors,
)
SERVED_EVENTS: Final = Kind(
    EVENTS,
    fields={_SERVED_NAMES.get(name, name): shape for name, shape in _FIELDS.items()},
    rules=_served_errors,
    storage=CORE_EVENTS,
    to_stored=_as_stored,
    from_stored=_as_served,
)
