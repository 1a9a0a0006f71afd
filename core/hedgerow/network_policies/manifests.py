"""NetworkPolicies as typed data, in the form in which an API server stores them.

Source: Kubernetes API, NetworkPolicy of networking.k8s.io/v1.
"""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from typing_extensions import ReadOnly

from hedgerow.api.kubernetes import NETWORK_POLICIES
from hedgerow.machinery.objects import ObjectKey


class PortManifest(TypedDict):
    """A port in the spec of a NetworkPolicy."""

    protocol: ReadOnly[str]
    port: NotRequired[ReadOnly[int | str]]
    endPort: NotRequired[ReadOnly[int]]


class SelectorManifest(TypedDict, total=False):
    """A label selector in a policy's spec; empty: everything."""

    matchLabels: ReadOnly[Mapping[str, str]]
    matchExpressions: ReadOnly[list[Mapping[str, Any]]]


class PeerManifest(TypedDict, total=False):
    """One end of the allowed traffic."""

    namespaceSelector: ReadOnly[SelectorManifest]
    podSelector: ReadOnly[SelectorManifest]
    ipBlock: ReadOnly[Mapping[str, str | list[str]]]


IngressRule = TypedDict(
    "IngressRule", {"from": ReadOnly[list[PeerManifest]], "ports": NotRequired[ReadOnly[list[PortManifest]]]}
)


class EgressRule(TypedDict):
    """Traffic that the selected pods may send."""

    to: ReadOnly[list[PeerManifest]]
    ports: NotRequired[ReadOnly[list[PortManifest]]]


class PolicySpec(TypedDict):
    """The spec of a NetworkPolicy, in the form in which the API server stores it."""

    podSelector: ReadOnly[SelectorManifest]
    policyTypes: ReadOnly[list[str]]
    ingress: NotRequired[ReadOnly[list[IngressRule]]]
    egress: NotRequired[ReadOnly[list[EgressRule]]]


def policy_manifest(
    key: ObjectKey, spec: PolicySpec, annotations: Mapping[str, str], labels: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """A policy to send to an API server or to write to a file."""
    metadata = {"name": key.name, "namespace": key.namespace}
    return {
        "apiVersion": NETWORK_POLICIES.api_version,
        "kind": NETWORK_POLICIES.kind,
        "metadata": {**metadata, **({"labels": labels} if labels else {}), "annotations": annotations},
        "spec": spec,
    }
