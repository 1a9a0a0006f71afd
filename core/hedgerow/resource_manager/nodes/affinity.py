"""Which nodes a required node affinity admits.

Decides as the scheduler does: a term that cannot be understood matches nothing, and takes nothing from the others.

Source: network-and-nodes §5.6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hedgerow.machinery.go_syntax import parse_int
from hedgerow.machinery.names import label_key_problem, label_value_problem
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import list_at, objects_at, text_at
from hedgerow.machinery.selectors import Labels, parse_label_selector

_INTEGER_BITS: Final = 64
_NAME_FIELD: Final = "metadata.name"
_GREATER: Final = "Gt"
_COMPARISONS: Final = (_GREATER, "Lt")


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a term asks of one label, or of one field."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    @classmethod
    def of(cls, manifest: Manifest) -> "Requirement":
        """A requirement as it stands in a term; nothing says yet that it can be understood.

        Raises:
            UnreadableError: something in it has another shape.
        """
        values = tuple(text_at({"values": value}, "values") or "" for value in list_at(manifest, "values"))
        return cls(text_at(manifest, "key") or "", text_at(manifest, "operator") or "", values)


@dataclass(frozen=True, slots=True)
class Term:
    """Requirements of labels and fields that have to hold together."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    @classmethod
    def of(cls, manifest: Manifest) -> "Term":
        """A term as it stands in an affinity.

        Raises:
            UnreadableError: something in it has another shape.
        """
        return cls(
            tuple(map(Requirement.of, objects_at(manifest, "matchExpressions"))),
            tuple(map(Requirement.of, objects_at(manifest, "matchFields"))),
        )

    def matches(self, name: str, labels: Labels) -> bool:
        """Whether the node of that name and these labels is as the term asks; one that asks nothing matches none.

        A requirement that cannot be understood holds for no node.
        """
        if not self.labels and not self.fields:
            return False
        return all(_label_is_right(each, labels) for each in self.labels) and all(
            _name_is_right(each, name) for each in self.fields
        )


def any_matches(terms: Sequence[Term], name: str, labels: Labels) -> bool:
    """Whether at least one of several terms matches a node; no terms match none."""
    return any(term.matches(name, labels) for term in terms)


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
