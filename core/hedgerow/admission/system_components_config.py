"""Where pods of system components run: on the nodes that are meant for them, whatever taints those have at the moment.

Decides from the pod, the configuration and the Nodes. Taints of Kubernetes itself, and of a node about to go, keep
their meaning for these pods too.

Source: webhooks-and-tokens §6.4.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.admission.config import SystemComponentsConfig
from hedgerow.admission.decision import Allowed, Decision
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook, apply_rules, mutating
from hedgerow.api.kubernetes import NODES, PODS
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, labels_of
from hedgerow.machinery.reading import (
    each_at,
    integer_at,
    list_at,
    object_at,
    objects_at,
    text_at,
    with_value,
)
from hedgerow.machinery.remembering import latest_remembered
from hedgerow.machinery.snapshot import Index, Snapshot

NAME: Final = "system-components-config"
KUBERNETES: Final = "kubernetes.io/"
"""What the keys of taints contain that belong to Kubernetes itself, or to what cares for its nodes."""
TO_BE_DELETED: Final = "ToBeDeletedByClusterAutoscaler"
TAINTED: Final = "tainted"
"""What the index files a Node under whose taints matter."""

Identity: TypeAlias = tuple[str, str, str, str, int | None]
"""All that tells one toleration from another, literally: no operator and the operator `Equal` are two things."""


class Taint(NamedTuple):
    """What keeps pods off a Node; an absent field is the empty text."""

    key: str
    value: str
    effect: str

    @classmethod
    def of(cls, manifest: Manifest) -> "Taint":
        """A taint as it stands in a Node."""
        return cls(*(text_at(manifest, name) or "" for name in cls._fields))


def decide(request: AdmissionRequest, nodes: Iterable[Manifest], config: SystemComponentsConfig) -> Decision:
    """Send a pod to the nodes of system components and let it tolerate their taints.

    Pods of DaemonSets are left alone: their nodes are chosen already.

    Args:
        request: the creation of a Pod.
        nodes: the Nodes of the cluster, in any order; those that the configuration does not select do not count.
        config: which Nodes those are, and what the pods get besides.

    Source: webhooks-and-tokens §6.4.
    """
    return _decide(request, lambda: tolerations_of_taints(nodes, config), config)


def _decide(
    request: AdmissionRequest, of_taints: Callable[[], Sequence[Manifest]], config: SystemComponentsConfig
) -> Decision:
    """The decision, for which tolerations of taints are only worked out where a pod may need them."""
    if belongs_to_a_daemon_set(request.object):
        return Allowed()
    wanted = [*config.pod_tolerations, *of_taints()]
    return apply_rules(
        request.object,
        [
            ("node-selector", lambda pod: with_node_selector(pod, config.pod_node_selector)),
            ("tolerations", lambda pod: with_tolerations(pod, wanted)),
        ],
    )


def belongs_to_a_daemon_set(pod: Manifest) -> bool:
    """Whether a DaemonSet controls a pod."""
    return any(
        owner.get("kind") == "DaemonSet" and owner.get("apiVersion") == "apps/v1" and owner.get("controller") is True
        for owner in objects_at(pod, "metadata", "ownerReferences")
    )


def with_node_selector(pod: Manifest, wanted: Mapping[str, str]) -> Manifest:
    """The pod with these labels among those that its node must have, whatever it asks of the same labels itself."""
    asked = object_at(pod, "spec", "nodeSelector")
    if all(asked.get(key) == value for key, value in wanted.items()):
        return pod
    return with_value(pod, ("spec", "nodeSelector"), {**asked, **wanted})


def with_tolerations(pod: Manifest, wanted: Sequence[Manifest]) -> Manifest:
    """The pod with its own tolerations, then those that are wanted; of equal ones the first.

    Source: webhooks-and-tokens §6.4 step 4.
    """
    own = list_at(pod, "spec", "tolerations")
    distinct: dict[Identity, Any] = {}
    for raw, told_by in zip(own, each_at(identity, pod, "spec", "tolerations"), strict=True):
        distinct.setdefault(told_by, raw)
    for toleration in wanted:
        distinct.setdefault(identity(toleration), toleration)
    changed = [*distinct.values()]
    if len(changed) == len(own) and all(new is old for new, old in zip(changed, own, strict=True)):
        return pod
    return with_value(pod, ("spec", "tolerations"), changed)


def identity(toleration: Mapping[str, Any]) -> Identity:
    """What tells a toleration from another; an absent text is the empty one, absent seconds are not zero."""
    return (
        text_at(toleration, "key") or "",
        text_at(toleration, "operator") or "",
        text_at(toleration, "value") or "",
        text_at(toleration, "effect") or "",
        integer_at(toleration, "tolerationSeconds"),
    )


def tolerations_of_taints(nodes: Iterable[Manifest], config: SystemComponentsConfig) -> list[Manifest]:
    """One toleration for each taint of the selected Nodes, by name of its first Node, then as they stand there.

    Source: webhooks-and-tokens §6.4 step 3; improvement I-12.
    """
    # Thousands of Nodes may have the same few taints, so it is these that are put in order.
    places: dict[Taint, tuple[ObjectKey, int]] = {}
    for node in nodes:
        if is_selected(node, config):
            key = key_of(node)
            for position, taint in enumerate(effective_taints(node)):
                place = (key, position)
                if places.setdefault(taint, place) > place:
                    places[taint] = place
    return [toleration_of(taint) for taint in sorted(places, key=places.__getitem__)]


def is_selected(node: Manifest, config: SystemComponentsConfig) -> bool:
    """Whether pods of system components may run on a Node."""
    return config.node_selector.matches(object_at(node, "metadata", "labels"))


def effective_taints(node: Manifest) -> Iterator[Taint]:
    """The taints of a Node that are not ignored."""
    for taint in each_at(Taint.of, node, "spec", "taints"):
        if KUBERNETES not in taint.key and taint.key != TO_BE_DELETED:
            yield taint


def toleration_of(taint: Taint) -> Manifest:
    """The toleration of exactly one taint, for as long as it lasts."""
    if not taint.value:
        return {"key": taint.key, "operator": "Exists", "effect": taint.effect}
    return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}


def transform_node(node: Manifest) -> Manifest:
    """What is read of a Node: its name, labels and taints."""
    metadata = {"name": key_of(node).name, "labels": labels_of(node)}
    return {"metadata": metadata, "spec": {"taints": (node.get("spec") or {}).get("taints")}}


def webhook(config: SystemComponentsConfig) -> Webhook:
    """The webhook, which looks up the selected Nodes that have taints; without any, their number does not matter.

    Where they are many, they change less often than pods are made, so what follows from them is remembered.
    """

    def places(node: Manifest) -> Iterator[str]:
        if is_selected(node, config) and any(effective_taints(node)):
            yield TAINTED

    tainted_nodes = Index(f"tainted nodes of {NAME}", NODES, places)

    @latest_remembered
    def of_taints(nodes: Sequence[Manifest]) -> list[Manifest]:
        return tolerations_of_taints(nodes, config)

    def review(request: AdmissionRequest, snapshot: Snapshot) -> Decision:
        return _decide(request, lambda: of_taints(snapshot.by_index(tainted_nodes, TAINTED)), config)

    return Webhook(
        NAME,
        "/webhooks/system-components-config",
        mutating(PODS, review),
        reads=(Read(NODES, transform_node),),
        indexes=(tainted_nodes,),
    )
