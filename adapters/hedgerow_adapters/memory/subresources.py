"""Subresources that are objects of another kind: the Scale of a workload, and the token of a ServiceAccount.

Tokens have the form of real ones. Each token is given once. Nothing verifies tokens, or reads the objects that they are
bound to.
"""

import base64
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.selectors import parse_label_selector, selector_query
from hedgerow_adapters.memory.clock import timestamp
from hedgerow_adapters.memory.field_errors import FieldError, invalid
from hedgerow_adapters.memory.kinds.core import TOKEN_REQUESTS
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import nonzero
from hedgerow_adapters.protocol import json_codec

_SCALED: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_kind(workload: Kind) -> Kind:
    """The type of the Scale of a workload: another object in the place of the workload."""
    resource = workload.resource
    return Kind(
        Resource("autoscaling", "v1", resource.plural, "Scale", namespaced=resource.namespaced),
        fields={"spec": {"replicas": nonzero}, "status": {}},
    )


def scale_of(workload: Manifest) -> dict[str, Any]:
    """The Scale of a workload."""
    replicas, observed = workload["spec"]["replicas"], workload.get("status", {}).get("replicas", 0)
    selector = parse_label_selector(workload["spec"]["selector"]).map(selector_query).value_or("")
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: value for name, value in workload["metadata"].items() if name in _SCALED},
        "spec": {"replicas": replicas} if replicas else {},
        "status": {"replicas": observed, "selector": selector},
    }


def with_scale(workload: Manifest, scale: Manifest) -> dict[str, Any]:
    """The workload with the replicas of a Scale, which may say for which version it was made."""
    metadata = dict(workload["metadata"])
    if version := scale["metadata"].get("resourceVersion"):
        metadata["resourceVersion"] = version
    replicas = scale.get("spec", {}).get("replicas", 0)
    return {**workload, "metadata": metadata, "spec": {**workload["spec"], "replicas": replicas}}


def scale_errors(scale: Manifest) -> tuple[FieldError, ...]:
    """What is wrong with a Scale."""
    replicas = scale.get("spec", {}).get("replicas", 0)
    return () if replicas >= 0 else (invalid("spec.replicas", replicas, "must be greater than or equal to 0"),)


_ISSUER: Final = "https://kubernetes.default.svc"


def complete_token_request(request: Fields, account: Manifest, now: str) -> None:
    """What the server fills in: whose token it is to be, and what it is asked for as long as nobody says otherwise."""
    key, uid = account["metadata"], account["metadata"]["uid"]
    request["metadata"] = {"name": key["name"]} | request["metadata"] | {"uid": uid, "creationTimestamp": now}
    TOKEN_REQUESTS.complete(request, None)


def name_errors(request: Manifest, key: ObjectKey) -> Iterator[FieldError]:
    """A request that says whose token it asks for says so of the ServiceAccount at hand."""
    name = request["metadata"]["name"]
    if name != key.name:
        yield invalid("metadata.name", name, "must match the service account name if specified")


def answered(request: Manifest, account: Manifest, now: datetime, identity: str) -> dict[str, Any]:
    """A request with its token.

    Args:
        request: complete and valid.
        account: whose token it is.
        now: when it is made.
        identity: what tells it apart from all others.
    """
    end = now + timedelta(seconds=request["spec"]["expirationSeconds"])
    status = {"token": _token(request, account, (now, end), identity), "expirationTimestamp": timestamp(end)}
    return {**request, "status": status}


def _token(request: Manifest, account: Manifest, valid: tuple[datetime, datetime], identity: str) -> str:
    metadata, (begin, end) = account["metadata"], (int(moment.timestamp()) for moment in valid)
    namespace, name = metadata["namespace"], metadata["name"]
    claims = {
        "aud": request["spec"]["audiences"],
        "exp": end,
        "iat": begin,
        "iss": _ISSUER,
        "jti": identity,
        "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": name, "uid": metadata["uid"]}},
        "nbf": begin,
        "sub": f"system:serviceaccount:{namespace}:{name}",
    }
    signed = f"{_HEADER}.{_part(claims)}"
    return f"{signed}.{_encoded(sha256(signed.encode()).digest())}"


def _part(document: Mapping[str, Any]) -> str:
    return _encoded(json_codec.encode(document))


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


_HEADER: Final = _part({"alg": "RS256", "kid": "in-memory"})
