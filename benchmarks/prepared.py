"""Requests that only have to be sent: what they say is worked out before anybody looks at a clock.

Written without the product's own, which is what is measured.
"""

import json
from typing import Any, Final, NamedTuple

NETWORK_POLICIES: Final = "/apis/networking.k8s.io/v1/networkpolicies"
COLLECTIONS: Final = {
    "Service": "/api/v1/namespaces/{namespace}/services",
    "Secret": "/api/v1/namespaces/{namespace}/secrets",
    "NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies",
}


class Prepared(NamedTuple):
    """A request."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = "application/json"


def creation(manifest: dict[str, Any]) -> Prepared:
    """The request that makes an object."""
    return Prepared("POST", _collection(manifest), json.dumps(manifest).encode())


def change(manifest: dict[str, Any], patch: dict[str, Any]) -> Prepared:
    """The request that merges something into an object."""
    return Prepared("PATCH", _path(manifest), json.dumps(patch).encode(), "application/merge-patch+json")


def deletion(manifest: dict[str, Any]) -> Prepared:
    """The request that removes an object."""
    return Prepared("DELETE", _path(manifest))


def creation_of_namespace(name: str) -> Prepared:
    """The request that makes a namespace."""
    return Prepared("POST", "/api/v1/namespaces", json.dumps({"metadata": {"name": name}}).encode())


def deletion_of_policies(namespace: str) -> Prepared:
    """The request that removes all policies of a namespace."""
    return Prepared("DELETE", COLLECTIONS["NetworkPolicy"].format(namespace=namespace))


def _collection(manifest: dict[str, Any]) -> str:
    return COLLECTIONS[manifest["kind"]].format(namespace=manifest["metadata"]["namespace"])


def _path(manifest: dict[str, Any]) -> str:
    return f"{_collection(manifest)}/{manifest['metadata']['name']}"
