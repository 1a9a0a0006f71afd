"""Domain failures: what is wrong, with which object and field, and whether trying again can help."""

from dataclasses import dataclass

from hedgerow.machinery.objects import ObjectKey, Resource


@dataclass(frozen=True, slots=True)
class DomainFailure:
    """A decision that could not be made, or not in full, as a value."""

    resource: Resource
    key: ObjectKey
    field: str
    """Path of the field as users write it, `metadata.annotations[...]` for an annotation; empty: the whole object."""
    problem: str
    """One clause without a full stop, starting in lower case."""
    retryable: bool = False
    """Whether the same inputs may succeed later. Bad input is not retried: its correction is an event of its own."""

    def __str__(self) -> str:
        """One sentence: object, field, problem."""
        where = f"{self.resource.kind} {self.key}"
        return f"{where}: {self.field}: {self.problem}" if self.field else f"{where}: {self.problem}"
