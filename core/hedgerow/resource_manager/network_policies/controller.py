"""The Service NetworkPolicy controller, declared: what is kept of objects, and which changes concern which Services.

Source: network-and-nodes §2.2, and the update-predicate examples of §2.9.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from hedgerow.api.kubernetes import INGRESSES, METADATA_NAME, NAMESPACES, NETWORK_POLICIES, SERVICES
from hedgerow.api.network_policies import (
    FROM_WORLD_TO_PORTS,
    NAMESPACE_ALIAS,
    NAMESPACE_SELECTORS,
    allowed_ports_alias,
    identifying_metadata,
    service_of_policy,
    transform_policy,
)
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.controller import Controller, Watch, creation_deletion_or, every_change, own_key
from hedgerow.machinery.deletion_guard import ALLOW_DELETIONS, transform_allowance
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, is_terminating, key_of, labels_of
from hedgerow.machinery.selectors import matches_any
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.network_policies.allowed_ports import parse_namespace_selectors, services_of_ingress
from hedgerow.resource_manager.network_policies.reconcile import POLICIES_BY_SERVICE, reconcile
from hedgerow.resource_manager.network_policies.views import NamespaceView, NetworkPolicyConfig, shape_problems

_NOTHING: Mapping[str, Any] = {}
_SINGLE_ANNOTATIONS: Final = (NAMESPACE_SELECTORS, NAMESPACE_ALIAS, FROM_WORLD_TO_PORTS)
NAME: Final = "networkpolicy"
DEFAULT_CONCURRENCY: Final = 5
_SELECTING: Final = Index(
    "services that select namespaces",
    SERVICES,
    lambda service: (True,) if NAMESPACE_SELECTORS in annotations_of(service) else (),
)


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


def transform_service(service: Manifest) -> Manifest:
    """What the rules read of a Service: identity, our annotations, selector and ports."""
    annotations = annotations_of(service)
    ours = {name: annotations[name] for name in annotations if name in _SINGLE_ANNOTATIONS or allowed_ports_alias(name)}
    ours |= transform_allowance(service)
    spec = service.get("spec") or _NOTHING
    if isinstance(spec, Mapping):
        spec = {name: spec[name] for name in ("selector", "ports") if spec.get(name)}
    return {"metadata": {**identifying_metadata(service), "annotations": ours}, "spec": spec}


def transform_namespace(namespace: Manifest) -> Manifest:
    """What the rules read of a Namespace: identity, what the guard reads, and all labels: any may be selected by."""
    metadata = identifying_metadata(namespace)
    metadata["labels"] = {**labels_of(namespace), METADATA_NAME: metadata.get("name", "")}
    if allowance := transform_allowance(namespace):
        metadata["annotations"] = allowance
    return {"metadata": metadata}


def transform_ingress(ingress: Manifest) -> Manifest:
    """What the rules read of an Ingress: identity and rules."""
    spec = ingress.get("spec") or _NOTHING
    if isinstance(spec, Mapping):
        spec = {"rules": spec.get("rules") or []}
    return {"metadata": identifying_metadata(ingress), "spec": spec}


def network_policy_controller(
    config: NetworkPolicyConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[NetworkPolicyConfig]:
    """The controller for a configuration; without an ingress controller it does not watch Ingresses."""
    watches: tuple[Watch, ...] = (
        Watch(
            SERVICES,
            transform_service,
            own_key,
            predicate=creation_deletion_or(service_changed),
            problems=partial(shape_problems, SERVICES),
        ),
        Watch(NETWORK_POLICIES, transform_policy, lambda policy, _: service_of_policy(policy), predicate=every_change),
        Watch(
            NAMESPACES,
            transform_namespace,
            partial(_concerned_services, config=config),
            metadata_only=True,
            problems=partial(shape_problems, NAMESPACES),
        ),
    )
    if config.ingress_controller:
        changed = creation_deletion_or(ingress_changed)
        ingresses = Watch(
            INGRESSES,
            transform_ingress,
            lambda ingress, _: services_of_ingress(ingress),
            changed,
            problems=partial(shape_problems, INGRESSES),
        )
        watches = (*watches, ingresses)
    return Controller(
        name=NAME,
        primary=SERVICES,
        watches=watches,
        indexes=(POLICIES_BY_SERVICE, _SELECTING),
        owned=POLICIES_BY_SERVICE,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(Permission.of(NETWORK_POLICIES, "create", "patch", "delete"),),
    )


def _concerned_services(namespace: Manifest, snapshot: Snapshot, config: NetworkPolicyConfig) -> Iterator[ObjectKey]:
    """The Services whose policies depend on a Namespace: its own, and those that select it.

    The ingress controller's Namespace concerns every Service. If a Namespace allows held deletions, it also concerns
    its deleted Services that still own policies.
    """
    view = NamespaceView.of(namespace)
    controller = config.ingress_controller
    is_everybodys = controller is not None and controller.namespace == view.name
    for service in snapshot.list(SERVICES, namespace=None if is_everybodys else view.name):
        yield key_of(service)
    for service in snapshot.by_index(_SELECTING, True):  # noqa: FBT003 -- a value of the index
        selectors = parse_namespace_selectors(annotations_of(service)[NAMESPACE_SELECTORS]).value_or(())
        if matches_any(selectors, view.labels):
            yield key_of(service)
    if transform_allowance(namespace):
        owners = {owner for policy in snapshot.list(NETWORK_POLICIES) for owner in service_of_policy(policy)}
        yield from (owner for owner in owners if owner.namespace == view.name)
