"""What others have added to an object where its manifest says nothing, and what would be lost if it were not sent.

Controllers and webhooks complete some objects: a volume is bound to a claim, a webhook learns whom to trust. To take
this away, even on the way of another change, would start a tug-of-war, so it is written back as it was found. What the
manifest does say, or the merge has decided, stays.

A certificate authority bundle stays if an annotation asks an injector for it, or if another field manager has set it.
What a manifest has set goes with the manifest: to keep it would be to trust an authority that was taken out of use.

Source: decision "steady state"; cert-manager documentation, "CA Injector"; OpenShift documentation, "Securing service
traffic using service serving certificates".
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from hedgerow.api.references import group_of
from hedgerow.machinery.managed_fields import FIELD_MANAGER, field, item, managers_of
from hedgerow.machinery.objects import Manifest, annotations_of
from hedgerow.machinery.reading import UnreadableError, object_at, objects_at, text_at, with_each, with_value
from hedgerow.resource_manager.managed_resources.merge.pods import completed_pod

CA_BUNDLE: Final = "caBundle"

_INJECTORS: Final = frozenset(
    {
        "cert-manager.io/inject-apiserver-ca",
        "cert-manager.io/inject-ca-from",
        "cert-manager.io/inject-ca-from-secret",
        "service.alpha.openshift.io/inject-cabundle",
        "service.beta.openshift.io/inject-cabundle",
    }
)
"""Annotations that ask for an injection; `false` asks for none."""

_WRITE_MANIFESTS: Final = frozenset({FIELD_MANAGER, "gardener-resource-manager"})
"""Field managers that write what manifests say: this project, and the reference, from which a cluster may have been
taken over."""


def is_injected(merged: Manifest, live: Manifest, *path: str) -> bool:
    """Whether the bundle of a live object was injected.

    Args:
        merged: the object to write, with the annotations that it is to have.
        live: the object as it is in the cluster.
        path: steps of `managed_fields` to the object that holds the bundle.
    """
    return _asks_for_injection(merged) or bool(managers_of(live, (*path, field(CA_BUNDLE))) - _WRITE_MANIFESTS)


def _asks_for_injection(merged: Manifest) -> bool:
    annotations = annotations_of(merged)
    return any(annotations.get(name) not in {None, "", "false"} for name in _INJECTORS)


_Completion: TypeAlias = Callable[[Manifest, Manifest], Manifest]

_CONVERSION: Final = ("spec", "conversion", "webhook", "clientConfig")
_NODE_MEMBERS: Final = ("podCIDR", "podCIDRs", "providerID", "unschedulable")
_TAINTS_OF_CONTROLLERS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")


def with_additions(merged: Manifest, live: Manifest) -> Manifest:
    """The object to write with what others have added to the live one.

    What has an unexpected shape is left for the API server to refuse.

    Args:
        merged: what the manifest and the rules of the merge come to.
        live: the object as it is in the cluster.
    """
    completion = _COMPLETIONS.get((group_of(str(merged.get("apiVersion") or "")), str(merged.get("kind") or "")))
    if completion is None:
        return merged
    try:
        return completion(merged, live)
    except UnreadableError:
        return merged


def _with_live(wanted: Manifest, live: Manifest, path: tuple[str, ...], *names: str) -> Manifest:
    """The object with the members of the live one that it has not itself, at a path that both have."""
    here, there = object_at(wanted, *path), object_at(live, *path)
    added = {name: there[name] for name in names if not here.get(name) and there.get(name)}
    if not added:
        return wanted
    return with_value(wanted, path, {**here, **added}) if path else {**wanted, **added}


def _completed_volume(wanted: Manifest, live: Manifest) -> Manifest:
    """A controller binds a volume to a claim, or completes how the manifest names the claim."""
    claim, found = object_at(wanted, "spec", "claimRef"), object_at(live, "spec", "claimRef")
    if not claim:
        return _with_live(wanted, live, ("spec",), "claimRef")
    if any(claim.get(name) != found.get(name) for name in ("namespace", "name")):
        return wanted
    return _with_live(wanted, live, ("spec", "claimRef"), "apiVersion", "kind", "resourceVersion", "uid")


def _completed_claim(wanted: Manifest, live: Manifest) -> Manifest:
    """A claim that is bound cannot be given back."""
    return _with_live(wanted, live, ("spec",), "dataSource", "dataSourceRef", "storageClassName", "volumeName")


def _completed_webhooks(wanted: Manifest, live: Manifest) -> Manifest:
    found = {text_at(webhook, "name"): webhook for webhook in objects_at(live, "webhooks")}

    def completed(webhook: Manifest) -> Manifest:
        name = text_at(webhook, "name") or ""
        if not is_injected(wanted, live, field("webhooks"), item(name=name), field("clientConfig")):
            return webhook
        return _with_live(webhook, found.get(name, {}), ("clientConfig",), CA_BUNDLE)

    return with_each(wanted, ("webhooks",), completed)


def _completed_definition(wanted: Manifest, live: Manifest) -> Manifest:
    is_converted = bool(object_at(wanted, *_CONVERSION))
    if not is_converted or not is_injected(wanted, live, *map(field, _CONVERSION)):
        return wanted
    return _with_live(wanted, live, _CONVERSION, CA_BUNDLE)


def _completed_api_service(wanted: Manifest, live: Manifest) -> Manifest:
    """Whoever trusts any server cannot name one to trust."""
    careless = object_at(wanted, "spec").get("insecureSkipTLSVerify")
    if careless or not is_injected(wanted, live, field("spec")):
        return wanted
    return _with_live(wanted, live, ("spec",), CA_BUNDLE)


def _completed_node(wanted: Manifest, live: Manifest) -> Manifest:
    """Nodes are described by controllers, which also keep pods away from those that are not well."""
    node = _with_live(wanted, live, ("spec",), *_NODE_MEMBERS)
    taints = objects_at(node, "spec", "taints")
    asked = {_identity(taint) for taint in taints}
    added = [
        taint for taint in objects_at(live, "spec", "taints") if _is_added(taint) and _identity(taint) not in asked
    ]
    return with_value(node, ("spec", "taints"), [*taints, *added]) if added else node


def _identity(taint: Mapping[str, Any]) -> tuple[str, str]:
    return str(taint.get("key")), str(taint.get("effect"))


def _is_added(taint: Mapping[str, Any]) -> bool:
    return str(taint.get("key")).startswith(_TAINTS_OF_CONTROLLERS)


_WEBHOOKS: Final = "admissionregistration.k8s.io"

_COMPLETIONS: Final[Mapping[tuple[str, str], _Completion]] = {
    ("", "Node"): _completed_node,
    ("", "PersistentVolume"): _completed_volume,
    ("", "PersistentVolumeClaim"): _completed_claim,
    ("", "Pod"): completed_pod,
    (_WEBHOOKS, "MutatingWebhookConfiguration"): _completed_webhooks,
    (_WEBHOOKS, "ValidatingWebhookConfiguration"): _completed_webhooks,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _completed_definition,
    ("apiregistration.k8s.io", "APIService"): _completed_api_service,
}
