"""NetworkPolicies in the form in which an API server stores them, and what has to change of one that exists.

Shared by all controllers of NetworkPolicies. Decides neither which policies there are to be nor whose they are.

Source: Kubernetes API, NetworkPolicy of networking.k8s.io/v1; network-and-nodes §1.2.
"""

from collections.abc import Mapping
from typing import Any, Final, NotRequired, TypedDict

from typing_extensions import ReadOnly

from hedgerow.api.kubernetes import NETWORK_POLICIES
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, labels_of
from hedgerow.machinery.patches import merge_patch

_NOTHING: Mapping[str, Any] = {}
_RULES: Final = ("ingress", "egress")


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


def correction(
    live: Manifest, *, labels: Mapping[str, str], annotations: Mapping[str, str], spec: PolicySpec
) -> dict[str, Any]:
    """The merge patch that brings the managed fields back; empty if nothing differs.

    What else somebody has added, such as further labels, is not ours. An empty list of rules equals an absent one.
    """
    metadata: dict[str, Any] = {}
    if missing := _missing(labels, labels_of(live)):
        metadata["labels"] = missing
    if missing := _missing(annotations, annotations_of(live)):
        metadata["annotations"] = missing
    patch: dict[str, Any] = {"metadata": metadata} if metadata else {}
    present = _without_empty_rules(live.get("spec"))
    if present != spec:
        patch["spec"] = merge_patch(present, spec)
    return patch


def _missing(wanted: Mapping[str, str], present: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in wanted.items() if present.get(name) != value}


def _without_empty_rules(spec: object) -> Mapping[str, Any]:
    if not isinstance(spec, (dict, Mapping)):
        return _NOTHING
    return {name: value for name, value in spec.items() if value or name not in _RULES}
