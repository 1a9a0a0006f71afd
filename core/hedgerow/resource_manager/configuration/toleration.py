"""Which tolerations a configuration may hold: what a pod says of the taints that it can live with.

The rules are those of kube-apiserver for pods, and so is their order.

Source: managed-resources §3.1, toleration rules.
"""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api.shape import Int64
from hedgerow.machinery.fields import FieldError, invalid, unsupported
from hedgerow.machinery.names import label_key_problem, label_value_problem
from hedgerow.resource_manager.configuration.shape import Purpose, Section

EQUAL: Final = "Equal"
EXISTS: Final = "Exists"
NO_EXECUTE: Final = "NoExecute"
OPERATORS: Final = (EQUAL, EXISTS)
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", NO_EXECUTE)


class TolerationSection(Section):
    """A toleration as written; an empty text is unset."""

    key: str = ""
    """Key of the taint; empty, with the operator `Exists`: every taint."""
    operator: str = ""
    """How its value is compared; empty: `Equal`. One of `Equal`, `Exists`."""
    value: str = ""
    """The value of the taint, where the operator is `Equal`."""
    effect: str = ""
    """The effect of the taint; empty: every one. One of `NoSchedule`, `PreferNoSchedule`, `NoExecute`."""
    toleration_seconds: Int64 | None = None
    """With the effect `NoExecute`: how long pods stay; left out: for good."""

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """What the API server would refuse in a pod."""
        yield from self._problems_of_key(path)
        if self.toleration_seconds is not None and self.effect != NO_EXECUTE:
            yield invalid(f"{path}.effect", self.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
        yield from self._problems_of_operator(f"{path}.operator")
        if self.effect and self.effect not in EFFECTS:
            yield unsupported(f"{path}.effect", self.effect, EFFECTS)

    def manifest(self) -> dict[str, Any]:
        """The toleration as manifests spell it, without what is unset."""
        fields = self.model_dump(by_alias=True, include=set(type(self).model_fields))
        return {name: value for name, value in fields.items() if value not in {"", None}}

    def _problems_of_key(self, path: str) -> Iterator[FieldError]:
        if self.key and (problem := label_key_problem(self.key)):
            yield invalid(f"{path}.key", self.key, problem)
        if not self.key and self.operator != EXISTS:
            every = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield invalid(f"{path}.operator", self.operator, every)

    def _problems_of_operator(self, at: str) -> Iterator[FieldError]:
        """What the operator makes of the value is told at the operator, as the API server does."""
        if self.operator == EXISTS:
            if self.value:
                yield invalid(at, self.value, "value must be empty when `operator` is 'Exists'")
        elif self.operator not in {"", EQUAL}:
            yield unsupported(at, self.operator, OPERATORS)
        elif problem := label_value_problem(self.value):
            yield invalid(at, self.value, problem)
