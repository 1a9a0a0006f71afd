"""One kind: its resource, and the types and rules of its fields.

Source: webhooks-and-tokens §9.2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from hedgerow.admission.extension_validation import metadata
from hedgerow.admission.extension_validation.checks import ChangeCheck, Check, Line, all_of, field, required, value_at
from hedgerow.admission.extension_validation.comparison import differences
from hedgerow.admission.extension_validation.shape import TEXT, JsonType, Shape, misfits, shape
from hedgerow.api.gardener import extension_resource
from hedgerow.machinery.failures import Problem, forbidden
from hedgerow.machinery.objects import Manifest, Resource, is_terminating

MOST_DIFFERENCES: Final = 10


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind, complete."""

    resource: Resource
    shape: Shape
    """The types of the fields that the checks read, metadata included."""
    checks: tuple[Check, ...]
    """What must hold for every object, metadata included, in the order of the errors."""
    change_checks: tuple[ChangeCheck, ...]
    """What must hold for every update beside that."""

    def misfits(self, manifest: Any) -> tuple[Problem, ...]:
        """The fields that have another type than the kind gives them; checks must not see such an object."""
        return misfits(manifest, self.shape)

    def errors(self, new: Manifest, old: Manifest | None = None) -> Iterator[Problem]:
        """What the checks find wrong with an object: first with the change of an old one, if there is one."""
        if old is not None:
            for check in self.change_checks:
                yield from check(new, old)
        yield from all_of(self.checks, new)


def kind_of(resource: Resource, lines: Sequence[Line], spec_change: ChangeCheck) -> Kind:
    """A kind out of its table.

    Args:
        resource: what the objects are.
        lines: fields of the spec and their rules. The rules for metadata depend on the scope alone.
        spec_change: what must hold for a change of the spec.
    """
    of_metadata = metadata.NAMESPACED if resource.namespaced else metadata.CLUSTER_SCOPED
    return Kind(
        resource,
        shape(metadata.TYPES | types_of(lines)),
        (*of_metadata, *(check for line in lines for check in line.checks)),
        (*metadata.UPDATE, spec_change),
    )


def types_of(lines: Sequence[Line]) -> dict[str, JsonType]:
    """The types of all fields of a table."""
    return {path: json_type for line in lines for path, json_type in line.types.items()}


def extension(plural: str, kind: str, *lines: Line, namespaced: bool = True) -> Kind:
    """A kind of Gardener's extension API: its specs have a type, which never changes."""
    lines = (field("spec.type", TEXT, required, is_immutable=True), *lines)
    return kind_of(extension_resource(plural, kind, namespaced=namespaced), lines, _spec_change(lines))


def _spec_change(lines: Sequence[Line]) -> ChangeCheck:
    """The spec of an object in deletion does not change; that of another one changes as its table allows."""
    expected = shape(types_of(lines)).inside["spec"]

    def check(new: Manifest, old: Manifest) -> Iterator[Problem]:
        if not is_terminating(new):
            for line in lines:
                for of_field in line.change_checks:
                    yield from of_field(new, old)
            return
        changes = islice(differences(value_at(new, "spec"), value_at(old, "spec"), expected), MOST_DIFFERENCES)
        if listed := ",".join(map(str, changes)):
            yield forbidden("spec", listed)

    return check
