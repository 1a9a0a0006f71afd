"""Which tolerations are a match for which taints of a node.

Source: network-and-nodes §5.6.
"""

from dataclasses import dataclass, field
from typing import Final

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import text_at

NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"
EXISTS: Final = "Exists"
EQUAL: Final = "Equal"


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
        """A taint as it stands in a Node.

        Raises:
            UnreadableError: something in it has another shape.
        """
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
        """A toleration as it stands in a pod or its template.

        Raises:
            UnreadableError: something in it has another shape.
        """
        key, operator, value, effect = (
            text_at(manifest, name) or "" for name in ("key", "operator", "value", "effect")
        )
        return cls(key, operator or EQUAL, value, effect)

    def tolerates(self, taint: Taint) -> bool:
        """Whether a pod with this toleration can live with a taint."""
        if self.effect not in {"", taint.effect} or self.key not in {"", taint.key}:
            return False
        return self.operator == EXISTS or (self.operator == EQUAL and self.value == taint.value)
