"""NetworkPolicies: the annotations that state who may connect to whom, and policies as an API server stores them.

Shared by all controllers of NetworkPolicies. Decides neither which policies there have to be nor whose they are.

Source: network-and-nodes §1.1, §1.2, §2.8; Kubernetes API, NetworkPolicy of networking.k8s.io/v1.
"""

from collections.abc import Mapping
from typing import Any, Final, NotRequired, TypedDict

from typing_extensions import ReadOnly

from hedgerow.api.kubernetes import NETWORK_POLICIES
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, labels_of
from hedgerow.machinery.patches import merge_patch
from hedgerow.machinery.reading import keeping

DOMAIN: Final = "networking.resources.gardener.cloud"
SERVICE_NAME: Final = f"{DOMAIN}/service-name"
SERVICE_NAMESPACE: Final = f"{DOMAIN}/service-namespace"
"""With SERVICE_NAME on every policy that a Service asks for: the only record of the Service that it belongs to."""
POLICY_DESCRIPTION: Final = "gardener.cloud/description"
ALLOWED: Final = "allowed"

NAMESPACE_SELECTORS: Final = f"{DOMAIN}/namespace-selectors"
"""On a Service: JSON list of label selectors of further namespaces whose pods may connect."""
NAMESPACE_ALIAS: Final = f"{DOMAIN}/pod-label-selector-namespace-alias"
"""On a Service: the alias of its namespace in the pod labels of other namespaces."""
FROM_WORLD_TO_PORTS: Final = f"{DOMAIN}/from-world-to-ports"
"""On a Service: JSON list of the container ports that anyone may connect to; the empty list means every port."""
ALLOWED_PORTS_PREFIX: Final = f"{DOMAIN}/from-"
ALLOWED_PORTS_SUFFIX: Final = "-allowed-ports"

ALL_SCRAPE_TARGETS: Final = "all-scrape-targets"
ALL_SEED_SCRAPE_TARGETS: Final = "all-seed-scrape-targets"
ALL_WEBHOOK_TARGETS: Final = "all-webhook-targets"
"""Aliases that components agree on for `from-<alias>-allowed-ports`."""
ALL_SHOOTS: Final = "all-shoots"
EXTENSIONS: Final = "extensions"
ALL_ISTIO_INGRESSES: Final = "all-istio-ingresses"
"""Namespace aliases that components agree on."""

GARDENER_DOMAIN: Final = "networking.gardener.cloud"
"""Domain of the labels that allow pods to connect to other namespaces."""
TO_DNS: Final = f"{GARDENER_DOMAIN}/to-dns"
TO_RUNTIME_API_SERVER: Final = f"{GARDENER_DOMAIN}/to-runtime-apiserver"
TO_TARGET_API_SERVER: Final = f"{DOMAIN}/to-kube-apiserver-tcp-443"
ACCESS_TARGET_API_SERVER: Final = (f"{GARDENER_DOMAIN}/access-target-apiserver", ALLOWED)
"""Label of namespaces whose components call the API servers of shoots or of the virtual garden."""

_NOTHING: Mapping[str, Any] = {}
_RULES: Final = ("ingress", "egress")
_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "deletionTimestamp")
IDENTITY: Final = tuple(f"metadata.{name}" for name in _METADATA)
"""Paths of the fields that identify an object and its version, and tell of its deletion."""


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


def allowed_ports_alias(annotation: str) -> str | None:
    """The alias of a `from-<alias>-allowed-ports` annotation key; none for any other key or an empty alias."""
    if not (annotation.startswith(ALLOWED_PORTS_PREFIX) and annotation.endswith(ALLOWED_PORTS_SUFFIX)):
        return None
    return annotation[len(ALLOWED_PORTS_PREFIX) : -len(ALLOWED_PORTS_SUFFIX)] or None


def identifying_metadata(manifest: Manifest) -> dict[str, Any]:
    """Identity, version and deletion timestamp of an object."""
    metadata = manifest.get("metadata") or _NOTHING
    return {name: metadata[name] for name in _METADATA if name in metadata}


transform_policy: Final = keeping(
    *IDENTITY, "spec", labels=(SERVICE_NAME, SERVICE_NAMESPACE), annotations=(POLICY_DESCRIPTION,)
)
"""Identity, owner labels, description and spec; one transform, so that controllers share a cache."""


def service_of_policy(policy: Manifest) -> tuple[ObjectKey, ...]:
    """The key of the Service that a policy's labels name; empty unless both labels exist."""
    labels = labels_of(policy)
    name, namespace = labels.get(SERVICE_NAME), labels.get(SERVICE_NAMESPACE)
    if name is None or namespace is None:
        return ()
    return (ObjectKey(namespace, name),)


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
