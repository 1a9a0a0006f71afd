"""Secrets, ConfigMaps, Leases, ServiceAccounts and the requests for their tokens.

Source: Kubernetes documentation, "Managing Service Accounts"; TokenRequest of authentication.k8s.io/v1.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import FieldError, invalid
from hedgerow_adapters.memory.kinds.kind import Fields, Kind, filled
from hedgerow_adapters.memory.shapes import (
    ShapeError,
    anything,
    flag,
    micro_time,
    number,
    optional_text,
    structure,
    text,
    text_map,
    texts,
    whole_number,
)


def encoded(value: Any, path: str) -> str | None:
    """A base64 text, in one line, left out where it is empty."""
    written = text(value, path)
    return None if written is None else _in_one_line(written, path)


def encoded_map(value: Any, path: str) -> Mapping[str, str] | None:
    """Base64 texts by key, each in one line."""
    texts = text_map(value, path)
    return None if texts is None else {key: _in_one_line(written, path) for key, written in texts.items()}


def _in_one_line(written: str, path: str) -> str:
    line = written.replace("\r", "").replace("\n", "")
    try:
        base64.b64decode(line, validate=True)
    except binascii.Error as error:
        raise ShapeError(f"illegal base64 data in {path}: {error}") from None
    return line


def complete(secret: Fields, _old: Manifest | None) -> None:
    """Plain strings are encoded into the data; the type is Opaque."""
    secret["type"] = secret.get("type") or "Opaque"
    plain = secret.pop("stringData", {})
    if plain:
        added = {key: base64.b64encode(value.encode()).decode("ascii") for key, value in plain.items()}
        secret["data"] = {**secret.get("data", {}), **added}


def secret_errors(secret: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    """The type never changes; the data of an immutable Secret neither."""
    if old is None:
        return
    if secret["type"] != old["type"]:
        yield invalid("type", secret["type"], "field is immutable")
    yield from _immutability_errors(secret, old, ("data",))


def config_map_errors(config_map: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    """The data of an immutable ConfigMap never changes."""
    if old is not None:
        yield from _immutability_errors(config_map, old, ("data", "binaryData"))


def _immutability_errors(new: Manifest, old: Manifest, fields: tuple[str, ...]) -> Iterator[FieldError]:
    if not old.get("immutable"):
        return
    for field in ("immutable", *fields):
        if new.get(field) != old.get(field):
            yield FieldError("FieldValueForbidden", field, "Forbidden: field is immutable when `immutable` is set")


CONFIG_MAPS: Final = Kind(
    kubernetes.CONFIG_MAPS,
    fields={"data": text_map, "binaryData": encoded_map, "immutable": flag},
    rules=config_map_errors,
)
SECRETS: Final = Kind(
    kubernetes.SECRETS,
    fields={"data": encoded_map, "stringData": text_map, "type": text, "immutable": flag},
    selectable=("type",),
    defaults=complete,
    rules=secret_errors,
)


_LEASE: Final = structure(
    {
        "holderIdentity": optional_text,
        "leaseDurationSeconds": number,
        "acquireTime": micro_time,
        "renewTime": micro_time,
        "leaseTransitions": number,
        "strategy": optional_text,
        "preferredHolder": optional_text,
    }
)


def lease_errors(lease: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """Durations are positive, transitions are counted."""
    duration = lease["spec"].get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        yield invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")
    transitions = lease["spec"].get("leaseTransitions")
    if transitions is not None and transitions < 0:
        yield invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")


LEASES: Final = Kind(
    kubernetes.LEASES,
    fields={"spec": _LEASE},
    defaults=filled({"spec": {}}),
    rules=lease_errors,
    unconditional_update=False,
)


_SHORTEST_TOKEN: Final = 10 * 60
_LONGEST_TOKEN: Final = 1 << 32
_SERVER_ITSELF: Final = "https://kubernetes.default.svc"


def token_errors(request: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """Tokens are good for ten minutes at least."""
    seconds = request["spec"]["expirationSeconds"]
    if seconds < _SHORTEST_TOKEN:
        yield invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds > _LONGEST_TOKEN:
        yield invalid("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")


SERVICE_ACCOUNTS: Final = Kind(
    kubernetes.SERVICE_ACCOUNTS,
    fields={"secrets": anything, "imagePullSecrets": anything, "automountServiceAccountToken": flag},
    answers_deleted_object=True,
    other_subresources=("token",),
)
TOKEN_REQUESTS: Final = Kind(
    Resource("authentication.k8s.io", "v1", "tokenrequests", "TokenRequest"),
    fields={
        "spec": structure({"audiences": texts, "expirationSeconds": whole_number, "boundObjectRef": anything}),
        "status": structure({"token": optional_text, "expirationTimestamp": optional_text}),
    },
    defaults=filled({"spec": {"audiences": [_SERVER_ITSELF], "expirationSeconds": 60 * 60, "boundObjectRef": None}}),
    rules=token_errors,
)
