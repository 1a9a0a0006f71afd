"""Whether a DaemonSet should have a pod on a Node: by name, labels, required affinity, and taints with tolerations.

Decides as the DaemonSet controller and the scheduler do: an affinity term that cannot be understood matches nothing.
What reads an object raises UnreadableError for a field of another type.

Source: network-and-nodes §5.6.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hedgerow.api.kubernetes import NOT_READY, UNREACHABLE
from hedgerow.machinery.names import label_key_problem, label_value_problem
from hedgerow.machinery.objects import Manifest, key_of, resource_version_of, uid_of
from hedgerow.machinery.reading import boolean_at, each_at, list_at, object_at, text_at, texts_at
from hedgerow.machinery.scalars import parse_int
from hedgerow.machinery.selectors import Labels, parse_label_selector

NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"
EXISTS: Final = "Exists"
EQUAL: Final = "Equal"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a term asks of one label or field; it may make no sense."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, manifest: Manifest) -> "Requirement":
        """A requirement of a term."""
        values = ((f"values[{index}]", value) for index, value in enumerate(list_at(manifest, "values")))
        texts = tuple(text_at({path: value}, path) or "" for path, value in values)
        return cls(text_at(manifest, "key") or "", text_at(manifest, "operator") or "", texts)

    def allows_labels(self, labels: Labels) -> bool:
        """True if labels meet the requirement; `Gt` and `Lt` compare integers."""
        if self.operator not in {"Gt", "Lt"}:
            expression = {"key": self.key, "operator": self.operator, "values": self.values}
            selector = parse_label_selector({"matchExpressions": (expression,)})
            return selector.map(lambda parsed: parsed.matches(labels)).value_or(False)  # noqa: FBT003 -- by position
        if len(self.values) != 1 or label_key_problem(self.key) or label_value_problem(self.values[0]):
            return False
        actual: int | None = parse_int(labels.get(self.key, ""), 64).value_or(None)
        limit: int | None = parse_int(self.values[0], 64).value_or(None)
        if actual is None or limit is None:
            return False
        return actual > limit if self.operator == "Gt" else actual < limit

    def allows_name(self, name: str) -> bool:
        """True if the name of a node meets the requirement; it takes one value, and no other field."""
        if self.key != "metadata.name" or self.operator not in {"In", "NotIn"} or len(self.values) != 1:
            return False
        return (self.values[0] == name) is (self.operator == "In")


@dataclass(frozen=True, slots=True)
class Term:
    """Requirements that have to hold together."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    @classmethod
    def of(cls, manifest: Manifest) -> "Term":
        """A term of an affinity."""
        labels, fields = (each_at(Requirement.of, manifest, name) for name in ("matchExpressions", "matchFields"))
        return cls(labels, fields)

    def matches(self, name: str, labels: Labels) -> bool:
        """True if a node meets all requirements; a term without any matches none."""
        if not self.labels and not self.fields:
            return False
        return all(each.allows_labels(labels) for each in self.labels) and all(
            each.allows_name(name) for each in self.fields
        )


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node."""

    key: str
    value: str = ""
    effect: str = NO_SCHEDULE
    manifest: Manifest = field(default_factory=dict, compare=False, repr=False)
    """The whole taint."""

    @classmethod
    def of(cls, manifest: Manifest) -> "Taint":
        """A taint of a Node."""
        key, value, effect = (text_at(manifest, name) or "" for name in ("key", "value", "effect"))
        return cls(key, value, effect, manifest)


@dataclass(frozen=True, slots=True)
class Toleration:
    """Taints that a pod tolerates, for however long; an empty key or effect stands for all."""

    key: str = ""
    operator: str = EXISTS
    value: str = ""
    effect: str = ""

    @classmethod
    def of(cls, manifest: Manifest) -> "Toleration":
        """A toleration of a pod."""
        names = ("key", "operator", "value", "effect")
        key, operator, value, effect = (text_at(manifest, name) or "" for name in names)
        return cls(key, operator or EQUAL, value, effect)

    def tolerates(self, taint: Taint) -> bool:
        """True if a pod with this toleration tolerates a taint."""
        if self.effect not in {"", taint.effect} or self.key not in {"", taint.key}:
            return False
        return self.operator == EXISTS or (self.operator == EQUAL and self.value == taint.value)


@dataclass(frozen=True, slots=True)
class NodeView:
    """A Node, with what decides which pods are for it."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    uid: str | None = None
    resource_version: str | None = None

    @classmethod
    def of(cls, node: Manifest) -> "NodeView":
        """The view of a Node."""
        labels, taints = texts_at(node, "metadata", "labels"), each_at(Taint.of, node, "spec", "taints")
        return cls(key_of(node).name, labels, taints, uid_of(node), resource_version_of(node))


@dataclass(frozen=True, slots=True)
class Placement:
    """The nodes that the pods of a template are for."""

    node_name: str = ""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    affinity: tuple[Term, ...] | None = None
    """The terms of the required affinity; none: any node. Without terms it matches no node."""
    tolerations: tuple[Toleration, ...] = ()
    host_network: bool = False

    @classmethod
    def of(cls, template: Manifest) -> "Placement":
        """The placement that a pod template states."""
        path = ("spec", "affinity", "nodeAffinity")
        is_required = object_at(template, *path).get(_REQUIRED) is not None
        return cls(
            text_at(template, "spec", "nodeName") or "",
            texts_at(template, "spec", "nodeSelector"),
            each_at(Term.of, template, *path, _REQUIRED, "nodeSelectorTerms") if is_required else None,
            each_at(Toleration.of, template, "spec", "tolerations"),
            boolean_at(template, "spec", "hostNetwork") or False,
        )


ALWAYS_TOLERATED: Final = (
    Toleration(NOT_READY, effect=NO_EXECUTE),
    Toleration(UNREACHABLE, effect=NO_EXECUTE),
    *(
        Toleration(f"node.kubernetes.io/{condition}", effect=NO_SCHEDULE)
        for condition in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
    ),
)
"""The tolerations of every pod of a DaemonSet."""
_ON_HOST_NETWORK: Final = Toleration("node.kubernetes.io/network-unavailable", effect=NO_SCHEDULE)


def should_run_on(placement: Placement, node: NodeView) -> bool:
    """True if pods are for a node: its name, labels and required affinity fit, and all taints are tolerated."""
    tolerations = (*placement.tolerations, *ALWAYS_TOLERATED, *((_ON_HOST_NETWORK,) if placement.host_network else ()))
    untolerated = (taint for taint in node.taints if not any(each.tolerates(taint) for each in tolerations))
    terms = placement.affinity
    return (
        placement.node_name in {"", node.name}
        and placement.node_selector.items() <= node.labels.items()
        and (terms is None or any(term.matches(node.name, node.labels) for term in terms))
        and not any(taint.effect in {NO_SCHEDULE, NO_EXECUTE} for taint in untolerated)
    )
