"""Whether a DaemonSet should have a pod on a Node: by name, labels, required affinity, and taints with tolerations.

Decides as the DaemonSet controller and the scheduler do, from the DaemonSet's template and the Node alone: an affinity
term that cannot be understood matches nothing, and takes nothing from the others. What reads an object raises
UnreadableError where it has another shape than an API server stores.

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

_INTEGER_BITS: Final = 64
_NAME_FIELD: Final = "metadata.name"
_GREATER: Final = "Gt"
_COMPARISONS: Final = (_GREATER, "Lt")
NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"
EXISTS: Final = "Exists"
EQUAL: Final = "Equal"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_TERMS: Final = ("spec", "affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms")


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a term asks of one label, or of one field."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, manifest: Manifest) -> "Requirement":
        """A requirement as it stands in a term; nothing says yet that it can be understood."""
        places = ((f"values[{index}]", value) for index, value in enumerate(list_at(manifest, "values")))
        values = tuple(text_at({place: value}, place) or "" for place, value in places)
        return cls(text_at(manifest, "key") or "", text_at(manifest, "operator") or "", values)


@dataclass(frozen=True, slots=True)
class Term:
    """Requirements of labels and fields that have to hold together; one that cannot be understood holds for no node."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    @classmethod
    def of(cls, manifest: Manifest) -> "Term":
        """A term as it stands in an affinity."""
        return cls(
            each_at(Requirement.of, manifest, "matchExpressions"),
            each_at(Requirement.of, manifest, "matchFields"),
        )

    def matches(self, name: str, labels: Labels) -> bool:
        """Whether the node of that name and these labels is as the term asks; one that asks nothing matches none."""
        rightness = (
            *(_label_is_right(each, labels) for each in self.labels),
            *(_name_is_right(each, name) for each in self.fields),
        )
        return bool(rightness) and all(rightness)


def _label_is_right(requirement: Requirement, labels: Labels) -> bool:
    if requirement.operator in _COMPARISONS:
        return _compares(requirement, labels)
    expression = {"key": requirement.key, "operator": requirement.operator, "values": requirement.values}
    selector = parse_label_selector({"matchExpressions": (expression,)})
    return selector.map(lambda understood: understood.matches(labels)).value_or(False)  # noqa: FBT003 -- by position


def _compares(requirement: Requirement, labels: Labels) -> bool:
    """Whether a label is a greater, or a lesser, integer than the one value that is given."""
    if len(requirement.values) != 1 or label_key_problem(requirement.key) or label_value_problem(requirement.values[0]):
        return False
    actual: int | None = parse_int(labels.get(requirement.key, ""), _INTEGER_BITS).value_or(None)
    limit: int | None = parse_int(requirement.values[0], _INTEGER_BITS).value_or(None)
    if actual is None or limit is None:
        return False
    return actual > limit if requirement.operator == _GREATER else actual < limit


def _name_is_right(requirement: Requirement, name: str) -> bool:
    """Whether a node has, or has not, the one name that is given; no other field can be asked about."""
    match requirement:
        case Requirement(key=key, operator="In", values=(value,)) if key == _NAME_FIELD:
            return value == name
        case Requirement(key=key, operator="NotIn", values=(value,)) if key == _NAME_FIELD:
            return value != name
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Taint:
    """What keeps pods away from a node that do not tolerate it."""

    key: str
    value: str = ""
    effect: str = NO_SCHEDULE
    manifest: Manifest = field(default_factory=dict, compare=False, repr=False)
    """As it stands in the Node, with all that nobody reads here."""

    @classmethod
    def of(cls, manifest: Manifest) -> "Taint":
        """A taint as it stands in a Node."""
        key, value, effect = (text_at(manifest, name) or "" for name in ("key", "value", "effect"))
        return cls(key, value, effect, manifest)

    @property
    def keeps_away(self) -> bool:
        """Whether pods have to tolerate it; others are a mere preference."""
        return self.effect in {NO_SCHEDULE, NO_EXECUTE}


@dataclass(frozen=True, slots=True)
class Toleration:
    """Taints that a pod can live with, for however long; an empty key or effect stands for all."""

    key: str = ""
    operator: str = EXISTS
    value: str = ""
    effect: str = ""

    @classmethod
    def of(cls, manifest: Manifest) -> "Toleration":
        """A toleration as it stands in a pod or its template."""
        key, operator, value, effect = (
            text_at(manifest, name) or "" for name in ("key", "operator", "value", "effect")
        )
        return cls(key, operator or EQUAL, value, effect)

    def tolerates(self, taint: Taint) -> bool:
        """Whether a pod with this toleration can live with a taint."""
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


@dataclass(frozen=True, slots=True)
class Placement:
    """What a pod template says of the nodes that its pods are for."""

    node_name: str = ""
    node_selector: Mapping[str, str] | None = None
    affinity: tuple[Term, ...] | None = None
    """The terms of the required one; none: there is none, which is not the same as one without terms."""
    tolerations: tuple[Toleration, ...] = ()
    host_network: bool = False

    @classmethod
    def of(cls, template: Manifest) -> "Placement":
        """A pod template as it stands in a DaemonSet."""
        affinity = object_at(template, "spec", "affinity", "nodeAffinity")
        return cls(
            text_at(template, "spec", "nodeName") or "",
            texts_at(template, "spec", "nodeSelector"),
            None if affinity.get(_REQUIRED) is None else each_at(Term.of, template, *_TERMS),
            each_at(Toleration.of, template, "spec", "tolerations"),
            boolean_at(template, "spec", "hostNetwork") or False,
        )


def node_view(node: Manifest) -> NodeView:
    """A Node as it is kept, or whole."""
    return NodeView(
        key_of(node).name,
        texts_at(node, "metadata", "labels"),
        each_at(Taint.of, node, "spec", "taints"),
        uid_of(node),
        resource_version_of(node),
    )


ALWAYS_TOLERATED: Final = (
    Toleration(NOT_READY, effect=NO_EXECUTE),
    Toleration(UNREACHABLE, effect=NO_EXECUTE),
    Toleration("node.kubernetes.io/disk-pressure", effect=NO_SCHEDULE),
    Toleration("node.kubernetes.io/memory-pressure", effect=NO_SCHEDULE),
    Toleration("node.kubernetes.io/pid-pressure", effect=NO_SCHEDULE),
    Toleration("node.kubernetes.io/unschedulable", effect=NO_SCHEDULE),
)
"""What every pod of a DaemonSet is made to tolerate."""
TOLERATED_ON_HOST_NETWORK: Final = Toleration("node.kubernetes.io/network-unavailable", effect=NO_SCHEDULE)


def is_not_bound_to_another_node(placement: Placement, node: NodeView) -> bool:
    """The template names no node, or this one."""
    return placement.node_name in {"", node.name}


def selects_the_labels(placement: Placement, node: NodeView) -> bool:
    """The node has every label of the node selector."""
    return (placement.node_selector or {}).items() <= node.labels.items()


def has_affinity(placement: Placement, node: NodeView) -> bool:
    """A term of the required affinity matches the node, if one is required."""
    terms = placement.affinity
    return terms is None or any(term.matches(node.name, node.labels) for term in terms)


def tolerates_the_taints(placement: Placement, node: NodeView) -> bool:
    """Every taint that keeps pods away is tolerated, the one that this is all about among them."""
    tolerations = (*placement.tolerations, *ALWAYS_TOLERATED)
    if placement.host_network:
        tolerations = (*tolerations, TOLERATED_ON_HOST_NETWORK)
    return all(any(each.tolerates(taint) for each in tolerations) for taint in node.taints if taint.keeps_away)


RULES: Final = (
    is_not_bound_to_another_node,
    selects_the_labels,
    has_affinity,
    tolerates_the_taints,
)


def should_run_on(placement: Placement, node: NodeView) -> bool:
    """Whether pods of a template are for a node: all rules hold."""
    return all(rule(placement, node) for rule in RULES)
