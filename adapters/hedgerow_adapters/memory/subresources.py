"""Subresources that are objects of another kind: the Scale of a workload, and the token of a ServiceAccount.

Tokens have the form of real ones. Each token is given once. Nothing verifies tokens, or reads the objects that they are
bound to.
"""

import base64
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.selectors import parse_label_selector, selector_query
from hedgerow_adapters.memory.clock import timestamp
from hedgerow_adapters.memory.field_rules import at_least
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.shapes import nonzero
from hedgerow_adapters.protocol import json_codec

_SCALED: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_kind(workload: Kind) -> Kind:
    """The type of the Scale of a workload: another object in the place of the workload."""
    resource = workload.resource
    return Kind(
        Resource("autoscaling", "v1", resource.plural, "Scale", namespaced=resource.namespaced),
        fields={"spec": {"replicas": nonzero}, "status": {}},
        field_rules={"spec.replicas": at_least(0)},
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


def with_token(request: Manifest, account: Manifest, now: datetime, identity: str) -> dict[str, Any]:
    """A complete and valid TokenRequest with its token.

    Args:
        request: for the token.
        account: whose token it is.
        now: when it is made.
        identity: what tells it apart from all others.
    """
    metadata, spec = account["metadata"], request["spec"]
    namespace, name = metadata["namespace"], metadata["name"]
    begin, end = now, now + timedelta(seconds=spec["expirationSeconds"])
    claims = {
        "aud": spec["audiences"],
        "exp": int(end.timestamp()),
        "iat": int(begin.timestamp()),
        "iss": "https://kubernetes.default.svc",
        "jti": identity,
        "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": name, "uid": metadata["uid"]}},
        "nbf": int(begin.timestamp()),
        "sub": f"system:serviceaccount:{namespace}:{name}",
    }
    header = {"alg": "RS256", "kid": "in-memory"}
    signed = ".".join(_encoded(json_codec.encode(part)) for part in (header, claims))
    token = f"{signed}.{_encoded(sha256(signed.encode()).digest())}"
    return {**request, "status": {"token": token, "expirationTimestamp": timestamp(end)}}


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
