"""What others have added to an object where its manifest says nothing, and what would be lost if it were not sent.

Controllers and webhooks complete some objects: a volume is bound to a claim, a webhook learns whom to trust. To take
this away, even on the way of another change, would start a tug-of-war, so it is written back as it was found. What the
manifest does say, or the merge has decided, stays.

A certificate authority bundle stays if an annotation asks an injector for it, or if another field manager has set it.
What a manifest has set goes with the manifest: to keep it would be to trust an authority that was taken out of use.

Next to nothing of a Pod can be changed, and much is added to it: the scheduler binds it, admission gives it volumes,
tolerations and containers. A manifest that asked for all this to be gone again would be refused for ever. So of a Pod
everything stays that its manifest does not mention.

Source: decision "steady state"; cert-manager documentation, "CA Injector"; OpenShift documentation, "Securing service
traffic using service serving certificates".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hedgerow.api.references import group_kind_of
from hedgerow.machinery.managed_fields import FIELD_MANAGER, field, item, managers_of
from hedgerow.machinery.objects import Manifest, annotations_of
from hedgerow.machinery.reading import UnreadableError, object_at, objects_at, text_at, with_each, with_value

_CA_BUNDLE: Final = "caBundle"
_CONVERSION: Final = ("spec", "conversion", "webhook", "clientConfig")
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
_NODE_MEMBERS: Final = ("podCIDR", "podCIDRs", "providerID", "unschedulable")
_TAINTS_OF_CONTROLLERS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")


def with_additions(merged: Manifest, live: Manifest) -> Manifest:
    """The object to write with what others have added to the live one.

    What has an unexpected shape is left for the API server to refuse.

    Args:
        merged: what the manifest and the rules of the merge come to.
        live: the object as it is in the cluster.
    """
    completion = _COMPLETIONS.get(group_kind_of(merged))
    try:
        return merged if completion is None else completion(merged, live)
    except UnreadableError:
        return merged


def _is_injected(merged: Manifest, live: Manifest, *path: str) -> bool:
    """True if the bundle of a live object was injected; it stands at a path in the terms of `managed_fields`."""
    annotations = annotations_of(merged)
    is_asked_for = any(annotations.get(name) not in {None, "", "false"} for name in _INJECTORS)
    return is_asked_for or bool(managers_of(live, (*path, field(_CA_BUNDLE))) - _WRITE_MANIFESTS)


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
        if not _is_injected(wanted, live, field("webhooks"), item(name=name), field("clientConfig")):
            return webhook
        return _with_live(webhook, found.get(name, {}), ("clientConfig",), _CA_BUNDLE)

    return with_each(wanted, ("webhooks",), completed)


def _completed_definition(wanted: Manifest, live: Manifest) -> Manifest:
    if not object_at(wanted, *_CONVERSION) or not _is_injected(wanted, live, *map(field, _CONVERSION)):
        return wanted
    return _with_live(wanted, live, _CONVERSION, _CA_BUNDLE)


def _completed_api_service(wanted: Manifest, live: Manifest) -> Manifest:
    """An APIService that trusts any server must not name one to trust."""
    trusts_any = object_at(wanted, "spec").get("insecureSkipTLSVerify")
    if trusts_any or not _is_injected(wanted, live, field("spec")):
        return wanted
    return _with_live(wanted, live, ("spec",), _CA_BUNDLE)


def _completed_node(wanted: Manifest, live: Manifest) -> Manifest:
    """Nodes are described by controllers, which also keep pods away from those that are not well."""
    node = _with_live(wanted, live, ("spec",), *_NODE_MEMBERS)
    taints = objects_at(node, "spec", "taints")
    asked = {_taint_key(taint) for taint in taints}
    found = ((_taint_key(taint), taint) for taint in objects_at(live, "spec", "taints"))
    added = [taint for key, taint in found if key[0].startswith(_TAINTS_OF_CONTROLLERS) and key not in asked]
    return with_value(node, ("spec", "taints"), [*taints, *added]) if added else node


def _taint_key(taint: Manifest) -> tuple[str, str]:
    return str(taint.get("key")), str(taint.get("effect"))


_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "containers": ("name",),
    "env": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "tolerations": ("key", "effect"),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
"""Lists of objects that others add to, and by which members an item is told from the others."""


def _completed_pod(wanted: Manifest, live: Manifest) -> Manifest:
    """The Pod with what it has been given since it was created; a gate that somebody has opened stays open."""
    found = object_at(live, "spec")
    asked = {
        name: value for name, value in object_at(wanted, "spec").items() if value != "" and name != "schedulingGates"
    }
    return {**wanted, "spec": _completed(asked, found, "spec")}


def _completed(wanted: Any, found: Any, name: str) -> Any:
    """A member with what the live one has beyond it."""
    if wanted is None:
        return found
    if isinstance(wanted, (dict, Mapping)) and isinstance(found, (dict, Mapping)):
        return {**found, **{each: _completed(value, found.get(each), each) for each, value in wanted.items()}}
    if isinstance(wanted, list) and isinstance(found, list):
        return _completed_list(wanted, found, name)
    return wanted


def _completed_list(wanted: Sequence[Any], found: Sequence[Any], name: str) -> Sequence[Any]:
    """Items as they stand in the cluster, each completed, and after them those that are missing there."""
    asked, there = _by_key(wanted, name), _by_key(found, name)
    if asked is not None and there is not None:
        known = [_completed(asked.get(key), item, name) for key, item in there.items()]
        return [*known, *(item for key, item in asked.items() if key not in there)]
    if len(wanted) != len(found):
        return wanted
    return [_completed(one, other, name) for one, other in zip(wanted, found, strict=True)]


def _by_key(items: Sequence[Any], name: str) -> dict[tuple[str, ...], Any] | None:
    """The items of a list by what tells them apart; none if nothing does."""
    members = _KEYS.get(name)
    if members is None or not all(isinstance(item, (dict, Mapping)) for item in items):
        return None
    by_key = {tuple(str(item.get(member) or "") for member in members): item for item in items}
    return by_key if len(by_key) == len(items) else None


_WEBHOOKS: Final = "admissionregistration.k8s.io"

_COMPLETIONS: Final[Mapping[tuple[str, str], Callable[[Manifest, Manifest], Manifest]]] = {
    ("", "Node"): _completed_node,
    ("", "PersistentVolume"): _completed_volume,
    ("", "PersistentVolumeClaim"): _completed_claim,
    ("", "Pod"): _completed_pod,
    (_WEBHOOKS, "MutatingWebhookConfiguration"): _completed_webhooks,
    (_WEBHOOKS, "ValidatingWebhookConfiguration"): _completed_webhooks,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _completed_definition,
    ("apiregistration.k8s.io", "APIService"): _completed_api_service,
}
