"""Domain failures: what is wrong, with which object and field, and whether trying again can help."""

from dataclasses import dataclass

from hedgerow.machinery.fields import Problem
from hedgerow.machinery.objects import ObjectKey, Resource


@dataclass(frozen=True, slots=True)
class Failure:
    """A decision that could not be made, or not in full, as a value."""

    resource: Resource
    key: ObjectKey
    """Without a name and a field: all objects of the resource, those of one namespace if that is given."""
    problem: Problem
    """What is wrong; without a path, with the object as a whole. Annotations are `metadata.annotations[...]`."""
    retryable: bool = False
    """Whether the same inputs may succeed later. Bad input is not retried: its correction is an event of its own."""

    def __str__(self) -> str:
        """One sentence: object, field, problem."""
        return f"{self._where()}: {self.problem}"

    def _where(self) -> str:
        if self.key.name:
            return f"{self.resource.kind} {self.key}"
        if self.problem.path:
            return f"{self.resource.kind} without a name"
        within = f" in namespace {self.key.namespace}" if self.key.namespace else ""
        return f"{self.resource.kind} objects{within}"
