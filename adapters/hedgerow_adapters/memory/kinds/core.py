"""Secrets, ConfigMaps, Leases, ServiceAccounts and the requests for their tokens.

Source: Kubernetes documentation, "Managing Service Accounts"; TokenRequest of authentication.k8s.io/v1.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import FieldError, at_least, checked, forbidden, invalid
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import (
    ShapeError,
    anything,
    flag,
    long_number,
    micro_time,
    number,
    optional_text,
    text,
    text_map,
    texts,
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
    fields={"data": text_map, "binaryData": encoded_map, "immutable": flag},
    rules=_immutability_errors,
)
SECRETS: Final = Kind(
    kubernetes.SECRETS,
    fields={"data": encoded_map, "stringData": text_map, "type": text, "immutable": flag},
    selectable=("type",),
    completion=_complete,
    rules=_secret_errors,
)
LEASES: Final = Kind(
    kubernetes.LEASES,
    fields={
        "spec": {
            **dict.fromkeys(("holderIdentity", "strategy", "preferredHolder"), optional_text),
            **dict.fromkeys(("leaseDurationSeconds", "leaseTransitions"), number),
            **dict.fromkeys(("acquireTime", "renewTime"), micro_time),
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
    fields={"secrets": anything, "imagePullSecrets": anything, "automountServiceAccountToken": flag},
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
        "spec": {"audiences": texts, "expirationSeconds": long_number, "boundObjectRef": anything},
        "status": {"token": optional_text, "expirationTimestamp": optional_text},
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
