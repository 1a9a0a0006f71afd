"""Members that controllers and webhooks add to a live object, and that an update has to send back.

Controllers bind a volume to a claim, and webhooks inject CA bundles. An update without these would take them away, even
if it is due to something else, and start a tug-of-war. Members that the manifest sets stay as the manifest has them.

* A CA bundle stays if an annotation asks for its injection, or if another field manager has set it. A bundle that the
  manifest has set goes with the manifest: the authority was taken out of use.
* Most of a Pod is immutable, and the scheduler and admission add much to it: volumes, tolerations, containers. An
  update without these would always be refused, so everything stays that the manifest does not mention.

Source: decision "steady state"; cert-manager documentation, "CA Injector"; OpenShift documentation, "Securing service
traffic using service serving certificates".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hedgerow.api.references import group_kind_of
from hedgerow.machinery.objects import FIELD_MANAGER, Manifest, annotations_of, field, item, managers_of
from hedgerow.machinery.reading import UnreadableError, object_at, objects_at, text_at, with_each, with_value

_CA_BUNDLE: Final = "caBundle"
_INJECTORS: Final = (
    "cert-manager.io/inject-apiserver-ca",
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "service.alpha.openshift.io/inject-cabundle",
    "service.beta.openshift.io/inject-cabundle",
)
"""Annotations that ask for an injection, unless they are `false`."""
_APPLIERS: Final = frozenset({FIELD_MANAGER, "gardener-resource-manager"})
"""Field managers that apply manifests: this project and the reference, which may have run in the cluster before."""
_TAINTS_OF_CONTROLLERS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")


def with_additions(merged: Manifest, live: Manifest) -> Manifest:
    """The merged object with what others have added to the live one; unchanged if the server would refuse it."""
    completion = _COMPLETIONS.get(group_kind_of(merged))
    try:
        return merged if completion is None else completion(merged, live)
    except UnreadableError:
        return merged


def _is_injected(merged: Manifest, live: Manifest, *path: str) -> bool:
    """True if the CA bundle of a live object was injected; the path is one in `fieldsV1`."""
    annotations = annotations_of(merged)
    is_asked_for = any(annotations.get(name) not in {None, "", "false"} for name in _INJECTORS)
    return is_asked_for or bool(managers_of(live, (*path, field(_CA_BUNDLE))) - _APPLIERS)


def _with_live(wanted: Manifest, live: Manifest, path: tuple[str, ...], *names: str) -> Manifest:
    """The object with those members of the live one, at a path, that it lacks."""
    members, found = object_at(wanted, *path), object_at(live, *path)
    added = {name: found[name] for name in names if not members.get(name) and found.get(name)}
    if not added:
        return wanted
    return with_value(wanted, path, {**members, **added}) if path else {**wanted, **added}


def _completed_volume(wanted: Manifest, live: Manifest) -> Manifest:
    claim, found = object_at(wanted, "spec", "claimRef"), object_at(live, "spec", "claimRef")
    if not claim:
        return _with_live(wanted, live, ("spec",), "claimRef")
    if any(claim.get(name) != found.get(name) for name in ("namespace", "name")):
        return wanted
    return _with_live(wanted, live, ("spec", "claimRef"), "apiVersion", "kind", "resourceVersion", "uid")


def _completed_claim(wanted: Manifest, live: Manifest) -> Manifest:
    return _with_live(wanted, live, ("spec",), "dataSource", "dataSourceRef", "storageClassName", "volumeName")


def _completed_webhooks(wanted: Manifest, live: Manifest) -> Manifest:
    found = {text_at(webhook, "name"): webhook for webhook in objects_at(live, "webhooks")}

    def completed(webhook: Manifest) -> Manifest:
        name = text_at(webhook, "name") or ""
        if not _is_injected(wanted, live, field("webhooks"), item(name=name), field("clientConfig")):
            return webhook
        return _with_live(webhook, found.get(name, {}), ("clientConfig",), _CA_BUNDLE)

    return with_each(wanted, ("webhooks",), completed)


def _completed_bundle(wanted: Manifest, live: Manifest, *path: str) -> Manifest:
    """The object with the bundle at a path, unless it has nothing there or skips the verification of servers."""
    config = object_at(wanted, *path)
    if not config or config.get("insecureSkipTLSVerify") or not _is_injected(wanted, live, *map(field, path)):
        return wanted
    return _with_live(wanted, live, path, _CA_BUNDLE)


def _completed_definition(wanted: Manifest, live: Manifest) -> Manifest:
    return _completed_bundle(wanted, live, "spec", "conversion", "webhook", "clientConfig")


def _completed_node(wanted: Manifest, live: Manifest) -> Manifest:
    """Controllers set the spec of a Node, and taint it when it is unhealthy."""
    node = _with_live(wanted, live, ("spec",), "podCIDR", "podCIDRs", "providerID", "unschedulable")
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
"""Lists of objects that others add to, and the members that identify an item."""


def _completed_pod(wanted: Manifest, live: Manifest) -> Manifest:
    """The Pod with all that was added since its creation; a scheduling gate that was removed stays removed."""
    asked = {
        name: value for name, value in object_at(wanted, "spec").items() if value != "" and name != "schedulingGates"
    }
    return {**wanted, "spec": _completed(asked, object_at(live, "spec"), "spec")}


def _completed(wanted: Any, found: Any, name: str) -> Any:
    """The value of a member, with what the live value has beyond it."""
    if wanted is None:
        return found
    if isinstance(wanted, (dict, Mapping)) and isinstance(found, (dict, Mapping)):
        return {**found, **{member: _completed(value, found.get(member), member) for member, value in wanted.items()}}
    if isinstance(wanted, list) and isinstance(found, list):
        return _completed_list(wanted, found, name)
    return wanted


def _completed_list(wanted: Sequence[Any], found: Sequence[Any], name: str) -> Sequence[Any]:
    """The live items, each completed, and after them the wanted ones that are missing there."""
    asked, present = _by_key(wanted, name), _by_key(found, name)
    if asked is not None and present is not None:
        completed = [_completed(asked.get(key), item, name) for key, item in present.items()]
        return [*completed, *(item for key, item in asked.items() if key not in present)]
    if len(wanted) != len(found):
        return wanted
    return [_completed(one, other, name) for one, other in zip(wanted, found, strict=True)]


def _by_key(items: Sequence[Any], name: str) -> dict[tuple[str, ...], Any] | None:
    """The items of a list by their key; none if keys are unknown or not unique."""
    members = _KEYS.get(name)
    if members is None or not all(isinstance(item, (dict, Mapping)) for item in items):
        return None
    by_key = {tuple(str(item.get(member) or "") for member in members): item for item in items}
    return by_key if len(by_key) == len(items) else None


_COMPLETIONS: Final[Mapping[tuple[str, str], Callable[[Manifest, Manifest], Manifest]]] = {
    ("", "Node"): _completed_node,
    ("", "PersistentVolume"): _completed_volume,
    ("", "PersistentVolumeClaim"): _completed_claim,
    ("", "Pod"): _completed_pod,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _completed_webhooks,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _completed_webhooks,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _completed_definition,
    ("apiregistration.k8s.io", "APIService"): lambda wanted, live: _completed_bundle(wanted, live, "spec"),
}
