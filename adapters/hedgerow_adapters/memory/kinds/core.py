"""Secrets, ConfigMaps, Leases, ServiceAccounts and the requests for their tokens, and Events.

Events are served in two API groups from one store. They are stored as core/v1 has them; `events.k8s.io/v1` names fields
differently and demands more of a new Event.

Source: Kubernetes documentation, "Managing Service Accounts"; TokenRequest of authentication.k8s.io/v1.
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.names import label_key_problem
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory import shapes
from hedgerow_adapters.memory.field_errors import FieldError, forbidden, invalid, required
from hedgerow_adapters.memory.field_rules import at_least, checked
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import ShapeError


def encoded(value: Any, path: str) -> str | None:
    """A base64 text, in one line, left out where it is empty."""
    line = (shapes.text(value, path) or "").replace("\r", "").replace("\n", "")
    try:
        base64.b64decode(line, validate=True)
    except binascii.Error as error:
        raise ShapeError(f"illegal base64 data in {path}: {error}") from None
    return line or None


def _encoded_map(value: Any, path: str) -> dict[str, str] | None:
    texts = shapes.text_map(value, path)
    return None if texts is None else {key: encoded(written, path) or "" for key, written in texts.items()}


def _complete(secret: Fields, _old: Manifest | None) -> None:
    secret["type"] = secret.get("type") or "Opaque"
    plain = secret.pop("stringData", {})
    if plain:
        added = {key: base64.b64encode(value.encode()).decode("ascii") for key, value in plain.items()}
        secret["data"] = {**secret.get("data", {}), **added}


def _secret_errors(secret: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    if old is not None and secret["type"] != old["type"]:
        yield invalid("type", secret["type"], "field is immutable")
    yield from _immutability_errors(secret, old)


def _immutability_errors(new: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    if old is None or not old.get("immutable"):
        return
    for field in ("immutable", "data", "binaryData"):
        if new.get(field) != old.get(field):
            yield forbidden(field, "field is immutable when `immutable` is set")


CONFIG_MAPS: Final = Kind(
    kubernetes.CONFIG_MAPS,
    fields={"data": shapes.text_map, "binaryData": _encoded_map, "immutable": shapes.flag},
    rules=_immutability_errors,
)
SECRETS: Final = Kind(
    kubernetes.SECRETS,
    fields={"data": _encoded_map, "stringData": shapes.text_map, "type": shapes.text, "immutable": shapes.flag},
    selectable=("type",),
    completion=_complete,
    rules=_secret_errors,
)
LEASES: Final = Kind(
    kubernetes.LEASES,
    fields={
        "spec": {
            **dict.fromkeys(("holderIdentity", "strategy", "preferredHolder"), shapes.optional_text),
            **dict.fromkeys(("leaseDurationSeconds", "leaseTransitions"), shapes.number),
            **dict.fromkeys(("acquireTime", "renewTime"), shapes.micro_time),
        }
    },
    defaults={"spec": {}},
    field_rules={
        "spec.leaseDurationSeconds": checked(lambda seconds: None if seconds > 0 else "must be greater than 0"),
        "spec.leaseTransitions": at_least(0),
    },
    unconditional_update=False,
)
SERVICE_ACCOUNTS: Final = Kind(
    kubernetes.SERVICE_ACCOUNTS,
    fields={
        "secrets": shapes.anything,
        "imagePullSecrets": shapes.anything,
        "automountServiceAccountToken": shapes.flag,
    },
    answers_deleted_object=True,
    other_subresources=("token",),
)


def _duration_problem(seconds: int) -> str | None:
    if seconds < 10 * 60:
        return "may not specify a duration less than 10 minutes"
    return "may not specify a duration larger than 2^32 seconds" if seconds > 1 << 32 else None


TOKEN_REQUESTS: Final = Kind(
    Resource("authentication.k8s.io", "v1", "tokenrequests", "TokenRequest"),
    fields={
        "spec": {"audiences": shapes.texts, "expirationSeconds": shapes.long_number, "boundObjectRef": shapes.anything},
        "status": {"token": shapes.optional_text, "expirationTimestamp": shapes.optional_text},
    },
    defaults={
        "spec": {
            "audiences": ["https://kubernetes.default.svc"],
            "expirationSeconds": 60 * 60,
            "boundObjectRef": None,
        }
    },
    field_rules={"spec.expirationSeconds": checked(_duration_problem)},
)


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
    ("apiVersion", "kind", "namespace", "name", "uid", "resourceVersion", "fieldPath"), shapes.text
)
_TEXTS: Final = ("reason", "message", "type", "action", "reportingComponent", "reportingInstance")
_EVENT: Final = {
    **dict.fromkeys(("involvedObject", "related"), _REFERENCE),
    **dict.fromkeys((*_TEXTS, "firstTimestamp", "lastTimestamp"), shapes.text),
    "eventTime": shapes.micro_time,
    "series": {"count": shapes.number, "lastObservedTime": shapes.micro_time},
    "source": shapes.anything,
    "count": shapes.number,
}


def _as_served(event: Manifest) -> Manifest:
    fields = {_SERVED_NAMES.get(name, name): value for name, value in event.items()}
    return {**fields, "apiVersion": kubernetes.EVENTS.api_version}


def _as_stored(event: Manifest) -> Manifest:
    fields = {_STORED_NAMES.get(name, name): value for name, value in event.items()}
    return {**fields, "apiVersion": kubernetes.CORE_EVENTS.api_version}


def _served_errors(event: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    yield from _event_errors(_as_stored(event), old, "reportingController")
    if old is not None:
        return
    if "eventTime" not in event:
        yield required("eventTime")
    if event.get("type") not in ("Normal", "Warning"):
        yield invalid("type", "", f"has invalid value: {event.get('type', '')}")


def _event_errors(
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
    kubernetes.CORE_EVENTS,
    fields=_EVENT,
    selectable=(*(f"involvedObject.{field}" for field in _REFERENCE), "reason", "reportingComponent", "type"),
    rules=_event_errors,
)
SERVED_EVENTS: Final = Kind(
    kubernetes.EVENTS,
    fields={_SERVED_NAMES.get(name, name): shape for name, shape in _EVENT.items()},
    rules=_served_errors,
    storage=kubernetes.CORE_EVENTS,
    to_stored=_as_stored,
    from_stored=_as_served,
)
KINDS: Final = (CONFIG_MAPS, SECRETS, LEASES, STORED_EVENTS, SERVED_EVENTS, SERVICE_ACCOUNTS)
