"""Pods of system components run on the Nodes for them, whatever taints these have at the moment.

Taints of Kubernetes itself, and of a Node that is about to be deleted, keep these pods away too.

Source: webhooks-and-tokens §6.4; improvement I-12.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.admission.config import SystemComponentsConfig
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Allowed, Decision, MutationRule, Webhook, apply_rules, mutating
from hedgerow.api.kubernetes import NODES, PODS
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.reading import each_at, integer_at, keeping, list_at, object_at, objects_at, text_at, with_value
from hedgerow.machinery.remembering import latest_remembered
from hedgerow.machinery.snapshot import Index, Snapshot

NAME: Final = "system-components-config"
_TAINTED: Final = "tainted"
"""The index value of Nodes with taints that are tolerated."""

_transform_node: Final = keeping("metadata.name", "metadata.labels", "spec.taints")

_Identity: TypeAlias = tuple[str | int | None, ...]
"""All fields of a toleration, literally: no operator and the operator `Equal` differ."""


class Taint(NamedTuple):
    """A taint of a Node; an absent field is the empty text."""

    key: str
    value: str
    effect: str

    @classmethod
    def of(cls, manifest: Manifest) -> "Taint":
        """The taint in a manifest."""
        return cls(*(text_at(manifest, name) or "" for name in cls._fields))


def decide(request: AdmissionRequest, nodes: Iterable[Manifest], config: SystemComponentsConfig) -> Decision:
    """Send a pod to the Nodes of system components and let it tolerate their taints.

    Pods of DaemonSets stay as they are: their Nodes are chosen already. Nodes may be in any order.
    """
    return _decide(request, config, lambda: tolerations_of_taints(nodes, config))


def _decide(
    request: AdmissionRequest, config: SystemComponentsConfig, of_taints: Callable[[], Sequence[Manifest]]
) -> Decision:
    if belongs_to_a_daemon_set(request.object):
        return Allowed()
    wanted = [*config.pod_tolerations, *of_taints()]
    rules: Sequence[MutationRule] = (
        ("node-selector", lambda pod: with_node_selector(pod, config.pod_node_selector)),
        ("tolerations", lambda pod: with_tolerations(pod, wanted)),
    )
    return apply_rules(request.object, rules)


def belongs_to_a_daemon_set(pod: Manifest) -> bool:
    """True if a DaemonSet controls a pod."""
    return any(
        owner.get("kind") == "DaemonSet" and owner.get("apiVersion") == "apps/v1" and owner.get("controller") is True
        for owner in objects_at(pod, "metadata", "ownerReferences")
    )


def with_node_selector(pod: Manifest, wanted: Mapping[str, str]) -> Manifest:
    """The pod whose node selector has these labels, in place of its own values for them."""
    own = object_at(pod, "spec", "nodeSelector")
    if all(own.get(key) == value for key, value in wanted.items()):
        return pod
    return with_value(pod, ("spec", "nodeSelector"), {**own, **wanted})


def with_tolerations(pod: Manifest, wanted: Sequence[Manifest]) -> Manifest:
    """The pod with its own tolerations, then the wanted ones; of equal ones the first (step 4)."""
    own = list_at(pod, "spec", "tolerations")
    distinct: dict[_Identity, Any] = {}
    for identity, raw in zip(each_at(_identity_of, pod, "spec", "tolerations"), own, strict=True):
        distinct.setdefault(identity, raw)
    for toleration in wanted:
        distinct.setdefault(_identity_of(toleration), toleration)
    changed = [*distinct.values()]
    if len(changed) == len(own) and all(new is old for new, old in zip(changed, own, strict=True)):
        return pod
    return with_value(pod, ("spec", "tolerations"), changed)


def _identity_of(toleration: Mapping[str, Any]) -> _Identity:
    """The fields of a toleration; an absent text is the empty one, absent seconds are not zero."""
    texts = (text_at(toleration, name) or "" for name in ("key", "operator", "value", "effect"))
    return (*texts, integer_at(toleration, "tolerationSeconds"))


def tolerations_of_taints(nodes: Iterable[Manifest], config: SystemComponentsConfig) -> list[Manifest]:
    """One toleration for each taint of the selected Nodes, by name of its first Node, then in its order (step 3)."""
    # Thousands of Nodes may have the same few taints, so these are sorted and not the Nodes.
    places: dict[Taint, tuple[ObjectKey, int]] = {}
    for node in nodes:
        if config.node_selector.matches(object_at(node, "metadata", "labels")):
            key = key_of(node)
            for position, taint in enumerate(effective_taints(node)):
                place = (key, position)
                if places.setdefault(taint, place) > place:
                    places[taint] = place
    return [toleration_of(taint) for taint in sorted(places, key=places.__getitem__)]


def effective_taints(node: Manifest) -> Iterator[Taint]:
    """The taints of a Node that are not ignored, as those of Kubernetes and its node controllers are."""
    for taint in each_at(Taint.of, node, "spec", "taints"):
        if "kubernetes.io/" not in taint.key and taint.key != "ToBeDeletedByClusterAutoscaler":
            yield taint


def toleration_of(taint: Taint) -> Manifest:
    """The toleration of exactly one taint, without a time limit."""
    operator = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
    return {"key": taint.key, **operator, "effect": taint.effect}


def webhook(config: SystemComponentsConfig) -> Webhook:
    """The webhook. Its index holds only selected Nodes with taints; the tolerations for them are cached."""

    def values(node: Manifest) -> Iterator[str]:
        if config.node_selector.matches(object_at(node, "metadata", "labels")) and any(effective_taints(node)):
            yield _TAINTED

    tainted_nodes = Index(f"tainted nodes of {NAME}", NODES, values)

    @latest_remembered
    def of_taints(nodes: Sequence[Manifest]) -> list[Manifest]:
        return tolerations_of_taints(nodes, config)

    def review(request: AdmissionRequest, snapshot: Snapshot) -> Decision:
        return _decide(request, config, lambda: of_taints(snapshot.by_index(tainted_nodes, _TAINTED)))

    return Webhook(
        NAME,
        "/webhooks/system-components-config",
        mutating(PODS, review),
        reads=(Read(NODES, _transform_node),),
        indexes=(tainted_nodes,),
    )
