"""Which changes of Services, policies and Ingresses concern which Services, and what of them is worth keeping.

Source: network-and-nodes §2.2, and the update-predicate examples of §2.9.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.api.network_policies import (
    FROM_WORLD_TO_PORTS,
    NAMESPACE_ALIAS,
    NAMESPACE_SELECTORS,
    SERVICE_NAME,
    SERVICE_NAMESPACE,
    allowed_ports_alias,
    identity_of,
)
from hedgerow.machinery.deletion_guard import ALLOW_DELETIONS, kept_of_allowance
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, is_terminating, labels_of

_NOTHING: Mapping[str, Any] = {}
_SINGLE_ANNOTATIONS: Final = (NAMESPACE_SELECTORS, NAMESPACE_ALIAS, FROM_WORLD_TO_PORTS)


def service_changed(old: Manifest, new: Manifest) -> bool:
    """Whether an update of a Service may change its policies.

    It does when deletion was asked for, or the selector, the ports or one of our annotations changed; an absent
    annotation equals an empty one, except for the set of allowed-ports annotations. The annotation that allows held
    deletions counts as one of ours.
    """
    return (
        (is_terminating(new) and not is_terminating(old))
        or _spec_of(old, "selector") != _spec_of(new, "selector")
        or _spec_of(old, "ports") != _spec_of(new, "ports")
        or _annotations_changed(annotations_of(old), annotations_of(new))
    )


def _spec_of(manifest: Manifest, field: str) -> object:
    return (manifest.get("spec") or _NOTHING).get(field) or None


def _annotations_changed(old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    if any(old.get(name, "") != new.get(name, "") for name in (*_SINGLE_ANNOTATIONS, ALLOW_DELETIONS)):
        return True
    return _allowed_ports(old) != _allowed_ports(new)


def _allowed_ports(annotations: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in annotations.items() if allowed_ports_alias(name)}


def ingress_changed(old: Manifest, new: Manifest) -> bool:
    """Whether an update of an Ingress may change which Services it leads to."""
    return _spec_of(old, "rules") != _spec_of(new, "rules")


def service_of_policy(policy: Manifest) -> tuple[ObjectKey, ...]:
    """The key of the Service that a policy's labels name; empty unless both labels exist."""
    labels = labels_of(policy)
    name, namespace = labels.get(SERVICE_NAME), labels.get(SERVICE_NAMESPACE)
    if name is None or namespace is None:
        return ()
    return (ObjectKey(namespace, name),)


def kept_of_service(service: Manifest) -> Manifest:
    """What the rules read of a Service: identity, our annotations, selector and ports."""
    annotations = annotations_of(service)
    ours = {name: annotations[name] for name in annotations if name in _SINGLE_ANNOTATIONS or allowed_ports_alias(name)}
    ours |= kept_of_allowance(service)
    spec = service.get("spec") or _NOTHING
    if isinstance(spec, Mapping):
        spec = {name: spec[name] for name in ("selector", "ports") if spec.get(name)}
    return {"metadata": {**identity_of(service), "annotations": ours}, "spec": spec}


def kept_of_namespace(namespace: Manifest) -> Manifest:
    """What the rules read of a Namespace: identity, what the guard reads, and all labels: any may be selected by."""
    metadata = identity_of(namespace)
    metadata["labels"] = {**labels_of(namespace), METADATA_NAME: metadata.get("name", "")}
    if allowance := kept_of_allowance(namespace):
        metadata["annotations"] = allowance
    return {"metadata": metadata}


def kept_of_ingress(ingress: Manifest) -> Manifest:
    """What the rules read of an Ingress: identity and rules."""
    spec = ingress.get("spec") or _NOTHING
    if isinstance(spec, Mapping):
        spec = {"rules": spec.get("rules") or []}
    return {"metadata": identity_of(ingress), "spec": spec}
